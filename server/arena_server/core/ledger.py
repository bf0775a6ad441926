"""Which games of a contest have been started, have a result, are void, or are played again.

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
from arena_server.core.config import ContestConfig
from arena_server.core.deal import may_show_deal
from arena_server.core.journal import JournalError, PastGame, Repeat
from arena_server.core.pairer import Pairer
from arena_server.core.peers import Bot, Outbox
from arena_server.core.schedule import Pairing, schedule_of
from arena_server.core.standings import Results

#: A bot that comes after more than this does not catch up: while it did, the whole field would wait for
#: each bot that was down for a night. After less it does, so that a contest whose bots take seconds to
#: start, or whose server is started again, has them level.
LATE_NS: Final = 60_000 * NS_PER_MS


class Ledger:
    """The games of one contest, which begins or goes on `now`, by number, and their results.

    Raises ValueError for a configuration that makes no schedule.
    """

    def __init__(
        self, config: ContestConfig, bots: Mapping[str, Bot], seats: int, out: Outbox, now: int
    ) -> None:
        names = [bot.name for bot in bots.values() if bot.plays]
        self._schedule = schedule_of(config, names, seats)
        self._pairer = Pairer(self._schedule)
        #: Since when each bot that is not present cannot be paired.
        self._away = dict.fromkeys(names, now)
        self._seats = seats
        self._paired = config.deals == "paired"
        #: The games that each bot plays: a schedule is fair.
        self._games_each = self.total * seats // len(names)
        self._out = out
        self.results = Results(config, bots, out)
        #: The games that are played again, each by the number of the void one.
        self._repeats: dict[int, Pairing] = {}
        #: The void games that are not played again.
        self._void_only: dict[int, Pairing] = {}
        #: Results of each deal, by its players and number.
        self._deal_results: Counter[tuple[frozenset[str], int]] = Counter()

    @property
    def total(self) -> int:
        """How many games the schedule has."""
        return self._schedule.total

    def pairing(self, number: int) -> Pairing:
        """Game `number`, of the schedule or after it. Raises JournalError if there is none."""
        if 0 < number <= self.total:
            return self._schedule.pairing(number)
        for pairing in self._repeats.values():
            if pairing.number == number:
                return pairing
        raise JournalError(f"g{number} is not a game of this contest")

    # -- games that start

    def update(self, bot: Bot, now: int) -> None:
        """The slots of `bot` have changed, or whether it may be paired."""
        if not bot.present:
            self._away.setdefault(bot.name, now)
            self._pairer.withdraw(bot.name)
            return
        away = self._away.pop(bot.name, now)
        self._pairer.enter(bot.name, late=now - away > LATE_NS)
        self._pairer.free(bot.name, bot.free_slots)

    def take(self) -> Pairing | None:
        """The next game that can start, or None; it has been started from now on."""
        return self._pairer.take()

    def exhausted(self, missing: Collection[str]) -> bool:
        """Whether no game is left that could be played without the players of `missing`."""
        return self._pairer.exhausted(missing)

    def unplayed(self, causes: Mapping[str, str]) -> Counter[str]:
        """The games without a result, by cause; `causes` has a word for each bot that is missing."""
        counts: Counter[str] = Counter()
        for names, games in self._pairer.unplayed():
            counts[_cause(names, causes)] += games
        if self._void_only:
            counts["void, not played again"] += len(self._void_only)
        return counts

    def has_games_left(self, name: str) -> bool:
        """Whether a game of `name` has no result, and may still have one."""
        void = sum(name in pairing.names for pairing in self._void_only.values())
        return self.results.standings.games(name) + void < self._games_each

    # -- games that end

    def add(self, game: PastGame) -> None:
        """The record of a game is durable: count its result."""
        self._count_deal(game)
        self.results.add(game)

    def _count_deal(self, game: PastGame) -> None:
        if game.end != VOID:
            self._deal_results[frozenset(game.names), self.pairing(game.number).deal] += 1

    def may_show_deal(self, game: PastGame) -> bool:
        """Whether OVER may open the commit."""
        deal = frozenset(game.names), self.pairing(game.number).deal
        return may_show_deal(paired=self._paired, results=self._deal_results[deal], seats=self._seats)

    def set_void(self, number: int) -> None:
        """Game `number` is broken off, and not played again unless `play_again` says so."""
        self._void_only[number] = self.pairing(number)

    def play_again(self, number: int) -> bool:
        """Have a void game played again. Returns False if it is not void, or is so already."""
        if number not in self._void_only:
            return False
        new = self.total + len(self._repeats) + 1
        repeat = Repeat(new, number, self._void_only[number].deal if self._paired else new)
        self._out.fact(repeat)
        self._repeat(repeat)
        return True

    def is_repeated(self, number: int) -> bool:
        """Whether another game repeats game `number`."""
        return number in self._repeats

    def _repeat(self, repeat: Repeat) -> None:
        names = self._void_only.pop(repeat.void).names
        self._repeats[repeat.void] = again = Pairing(repeat.number, names, repeat.deal)
        self._pairer.again(again)

    # -- an interrupted contest

    def recall(
        self, results: Sequence[PastGame], repeats: Collection[Repeat], unfinished: Collection[int]
    ) -> None:
        """Bring back results, and the games that repeat void ones.

        `unfinished` games have been started and have no result; `GameManager.open` seats their
        players. Raises JournalError for what cannot be of this contest.
        """
        self._recall_repeats(repeats, results, {*unfinished, *(game.number for game in results)})
        # Two games of the same bots may have run at once, and the later one may have ended first.
        for number in sorted([*unfinished, *(game.number for game in results)]):
            pairing = self.pairing(number)
            if not self._pairer.may_start(pairing):
                raise JournalError(f"g{number} was started twice, or before an earlier game of the same bots")
            self._pairer.started(pairing)
        self._pairer.recalled()
        for game in results:
            pairing = self.pairing(game.number)
            if game.names != pairing.names:
                raise JournalError(
                    f"g{game.number} was played by {', '.join(game.names)},"
                    f" and the schedule has {', '.join(pairing.names)}"
                )
            if len(game.totals) != len(game.names) or any(name not in game.names for name, _ in game.faults):
                raise JournalError(f"the result of g{game.number} does not fit its {len(game.names)} seats")
            if game.end == VOID and game.number not in self._repeats:
                self._void_only[game.number] = pairing
            self.add(game)

    def _recall_repeats(
        self, repeats: Collection[Repeat], results: Sequence[PastGame], begun: Collection[int]
    ) -> None:
        played = {game.number for game in results if game.end != VOID}
        for repeat in sorted(repeats):
            number, void, deal = repeat
            if void in played or void in self._repeats:
                raise JournalError(f"g{void} is repeated, and has a result or is repeated already")
            if number != self.total + len(self._repeats) + 1:
                raise JournalError(f"g{number} repeats g{void}, and is not the next number")
            self._void_only[void] = old = self.pairing(void)
            if not deal:
                # An earlier version would repeat the old deal. Where that was offered already it stays.
                deal = old.deal if self._paired or number in begun else number
                repeat = Repeat(number, void, deal)
                self._out.fact(repeat)
            if self._paired and deal != old.deal:
                raise JournalError(f"g{number} repeats g{void} of deal {old.deal} on deal {deal}")
            self._repeat(repeat)


def _cause(names: Sequence[str], causes: Mapping[str, str]) -> str:
    """Why a game of these players was not played."""
    found = [f"{causes[name]}: {name}" for name in names if name in causes]
    return ", ".join(found) or "the contest was stopped"
