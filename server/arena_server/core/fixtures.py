"""The games of a contest: which have been started, have a result, are void, or are played again.

Which games there are, and which of them is next, is up to the format (`formats/`).
A game that is broken off is void and counts for nothing; it is played again under a new number with
the same seats, unless the organiser does not want it. With paired deals its deal stays, because the
other games of the deal have to be played on it too; else the repeat has a deal of its own, because of
the old one the players have seen a part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from arena_protocol.record import VOID
from arena_server.core.clock import NS_PER_MS
from arena_server.core.config import ContestConfig, format_of
from arena_server.core.deal import may_show_deal
from arena_server.core.formats.base import Pairing, PairingError
from arena_server.core.journal import JournalError, PastGame, Repeat
from arena_server.core.peers import Bot, Outbox
from arena_server.core.standings import Results

#: A bot that comes after more than this does not catch up: while it did, the whole field would wait for
#: each bot that was down for a night. After less it does, so that a contest whose bots take seconds to
#: start, or whose server is started again, has them level.
LATE_NS: Final = 60_000 * NS_PER_MS


class Fixtures:
    """The games of one contest, which begins or goes on `now`, by number, and their results.

    Raises ContestConfigError for a configuration of which no games can be made.
    """

    def __init__(
        self, config: ContestConfig, bots: Mapping[str, Bot], seats: int, out: Outbox, now: int
    ) -> None:
        names = [bot.name for bot in bots.values() if bot.plays]
        self._format = format_of(config, names, seats)
        #: Since when each bot that is not present cannot be paired.
        self._away = dict.fromkeys(names, now)
        self._seats = seats
        self._paired = config.deals == "paired"
        self._out = out
        self.results = Results(config, bots, out)
        #: The games that have been started, and have no result and are not void.
        self._open: dict[int, Pairing] = {}
        #: The void games that are played again, and those that are not.
        self._repeated: set[int] = set()
        self._void_only: dict[int, Pairing] = {}
        #: Results of each deal, by its players and number.
        self._deal_results: Counter[tuple[frozenset[str], int]] = Counter()

    @property
    def total(self) -> int:
        """How many games there are, without those that are played again."""
        return self._format.total

    # -- games that start

    def update(self, bot: Bot, now: int) -> None:
        """The slots of `bot` have changed, or whether it may be paired."""
        if not bot.present:
            self._away.setdefault(bot.name, now)
            self._format.withdraw(bot.name)
            return
        away = self._away.pop(bot.name, now)
        self._format.enter(bot.name, late=now - away > LATE_NS)
        self._format.free(bot.name, bot.free_slots)

    def take(self) -> Pairing | None:
        """The next game that can start, or None; it has been started from now on."""
        pairing = self._format.next()
        if pairing is not None:
            self._open[pairing.number] = pairing
        return pairing

    def exhausted(self, missing: Collection[str]) -> bool:
        """Whether no game is left that could be played without the players of `missing`."""
        return self._format.exhausted(missing)

    def unplayed(self, causes: Mapping[str, str]) -> Counter[str]:
        """The games without a result, by cause; `causes` has a word for each bot that is missing."""
        counts: Counter[str] = Counter()
        for names, games in self._format.unplayed():
            counts[_cause(names, causes)] += games
        if self._void_only:
            counts["void, not played again"] += len(self._void_only)
        return counts

    def has_games_left(self, name: str) -> bool:
        """Whether a game of `name` has no result, and may still have one."""
        return self._format.has_games(name) or any(name in pairing.names for pairing in self._open.values())

    # -- games that end

    def add(self, game: PastGame) -> None:
        """The record of a game is durable: count its result."""
        self._open.pop(game.number, None)
        if game.end != VOID:
            self._deal_results[frozenset(game.names), game.deal] += 1
        self.results.add(game)

    def may_show_deal(self, game: PastGame) -> bool:
        """Whether OVER may open the commit."""
        results = self._deal_results[frozenset(game.names), game.deal]
        return may_show_deal(paired=self._paired, results=results, seats=self._seats)

    def set_void(self, number: int) -> None:
        """Game `number`, which is running, is broken off. Only `play_again` has it played again."""
        self._void_only[number] = self._open.pop(number)

    def play_again(self, number: int) -> bool:
        """Have a void game played again. Returns False if it is not void, or is so already."""
        if number not in self._void_only:
            return False
        new = self._format.next_repeat
        repeat = Repeat(new, number, self._void_only[number].deal if self._paired else new)
        self._out.fact(repeat)
        self._repeat(repeat)
        return True

    def is_repeated(self, number: int) -> bool:
        """Whether another game repeats game `number`."""
        return number in self._repeated

    def _repeat(self, repeat: Repeat) -> None:
        names = self._void_only.pop(repeat.void).names
        self._repeated.add(repeat.void)
        self._format.again(Pairing(repeat.number, names, repeat.deal))

    # -- an interrupted contest

    def recall(
        self, results: Sequence[PastGame], repeats: Collection[Repeat], unfinished: Collection[Pairing]
    ) -> None:
        """Bring back results, and the games that repeat void ones.

        `unfinished` games have been started and have no result; `GameManager.open` seats their
        players. Raises JournalError for what cannot be of this contest.
        """
        begun = [Pairing(game.number, game.names, game.deal) for game in results]
        self._recall_repeats(repeats, results, [*begun, *unfinished])
        # Two games of the same bots may have run at once, and the later one may have ended first.
        try:
            for pairing in sorted([*begun, *unfinished], key=lambda pairing: pairing.number):
                self._format.started(pairing)
        except PairingError as error:
            raise JournalError(str(error)) from error
        self._format.recalled()
        self._open = {pairing.number: pairing for pairing in unfinished}
        for game, pairing in zip(results, begun, strict=True):
            if len(game.totals) != len(game.names) or any(name not in game.names for name, _ in game.faults):
                raise JournalError(f"the result of g{game.number} does not fit its {len(game.names)} seats")
            if game.end == VOID and game.number not in self._repeated:
                self._void_only[game.number] = pairing
            self.add(game)

    def _recall_repeats(
        self, repeats: Collection[Repeat], results: Sequence[PastGame], begun: Collection[Pairing]
    ) -> None:
        games = {pairing.number: pairing for pairing in begun}
        played = {game.number for game in results if game.end != VOID}
        for number, void, deal in sorted(repeats):
            if void in played or void in self._repeated:
                raise JournalError(f"g{void} is repeated, and has a result or is repeated already")
            if number != self._format.next_repeat:
                raise JournalError(f"g{number} repeats g{void}, and is not the next number")
            if void not in games:
                raise JournalError(f"g{void} is not a game of this contest")
            self._void_only[void] = old = games[void]
            if self._paired and deal != old.deal:
                raise JournalError(f"g{number} repeats g{void} of deal {old.deal} on deal {deal}")
            self._repeat(Repeat(number, void, deal))


def _cause(names: Sequence[str], causes: Mapping[str, str]) -> str:
    """Why a game of these players was not played."""
    found = [f"{causes[name]}: {name}" for name in names if name in causes]
    return ", ".join(found) or "the contest was stopped"
