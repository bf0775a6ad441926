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
from dataclasses import replace
from typing import Final

from arena_protocol.record import VOID
from arena_server.core.changes import Changes
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deal import may_show_deal
from arena_server.core.effects import StartDraw
from arena_server.core.facts import (
    Annulled,
    Drawn,
    Extended,
    Forbidden,
    Joined,
    Left,
    Paired,
    Penalised,
    Repeat,
    Ruled,
    Separated,
    Shortened,
    TotalSet,
    Walkover,
)
from arena_server.core.formats import format_of
from arena_server.core.formats.base import Pairing, PairingError
from arena_server.core.formats.length import Length
from arena_server.core.formats.matches import Handed
from arena_server.core.formats.rounds import Rounds, is_short
from arena_server.core.formats.swiss import Swiss
from arena_server.core.journal import JournalError
from arena_server.core.life import FINISHED, INCOMPLETE, SHORT, reason_of
from arena_server.core.log_events import FieldSeparated, NotDrawn, RoundDrawn, WalkedOver
from arena_server.core.peers import Bot, Outbox
from arena_server.core.recall import FixtureFact, check_repeat, decided_at, recall_length, recall_round
from arena_server.core.results import ResultCounter
from arena_server.core.rulings import Rulings
from arena_server.stats.results import PastGame
from arena_server.terms.config import ContestConfig, early_stop_of
from arena_server.terms.formats import FormatError

#: A bot that comes after more than this does not catch up: while it did, the whole field would wait for
#: each bot that was down for a night. After less it does, so that a contest whose bots take seconds to
#: start, or whose server is started again, has them level.
LATE_NS: Final = 60_000 * NS_PER_MS


class Fixtures(Changes):
    """The games of one contest, which begins or goes on `now`, by number, and their results.

    Raises ContestConfigError for a configuration of which no games can be made.
    """

    def __init__(
        self, config: ContestConfig, bots: Mapping[str, Bot], seats: int, out: Outbox, now: int
    ) -> None:
        names = [bot.name for bot in bots.values() if bot.plays]
        self._format = format_of(config, names, seats)
        #: The format itself, where the organiser may pair its rounds by hand.
        self.swiss = self._format if isinstance(self._format, Swiss) else None
        self.handed = self._format if isinstance(self._format, Handed) else None
        #: How often it was extended, and shortened.
        self._resized: Counter[type] = Counter()
        #: What readers know of the number of games.
        #: Raises FormatError if the format takes no late entrants.
        self.check_late = self._format.check_late
        self._noted = self._format.total
        #: Since when each bot that is not present cannot be paired.
        self.away = dict.fromkeys(names, now)
        self._seats = seats
        self._paired = config.deals == "paired"
        self._out = out
        self.results = ResultCounter(config, bots, self._format)
        #: That the contest ends early, once it is certain who is first.
        self.separated: Separated | None = None
        self._early_stop = early_stop_of(config, names, self._format.total, seats)
        #: The games that have been started, and have no result and are not void.
        self._open: dict[int, Pairing] = {}
        #: The void games that are played again, and those that are not.
        self.repeated: set[int] = set()
        self._void_only: dict[int, Pairing] = {}
        #: The games whose stored results do not count.
        self.annulled: set[int] = set()
        self.rulings = Rulings()
        #: Whether a draw is under way.
        self.drawing = False
        #: Results of each deal, by its players and number, if the deals are paired.
        self._deal_results: Counter[tuple[frozenset[str], int]] = Counter()

    @property
    def total(self) -> int | None:
        """How many games there are, without those that are played again; None: it is open."""
        total = self._format.total
        return None if total is None else total - self.rulings.struck

    def note_total(self) -> None:
        """Have readers know how many games there are, if that has changed.

        From a format that draws they have it themselves (`formats/history.py`).
        """
        if self.total not in (None, self._noted) and not isinstance(self._format, Rounds):
            self._noted = self.total
            self._out.fact(TotalSet("", self.total))

    @property
    def length(self) -> Length:
        """What `extend` and `shorten` change. Raises FormatError if nothing can."""
        if self.separated is not None:
            raise FormatError("the contest ends early: it is certain who is first (contest.stop)")
        return self._format.length

    def resize(self, kind: type[Extended | Shortened], by: int) -> None:
        """There are more or fewer games: see `Length`. Raises FormatError, with nothing changed."""
        length, first = self.length, self._format.next_number
        to = length.longer(by) if kind is Extended else length.shorter(by)
        if self.drawing:  # it may fall away, or was drawn for the rounds that there were to be after it
            raise FormatError("a round is being drawn: change the number of games once it is")
        self._format.resize(to)
        self._resized[kind] += 1
        self._out.fact(kind(self._resized[kind], first, by))
        self.note_total()

    # -- who takes part

    @property
    def next_number(self) -> int:
        """The number of the next game that is not planned yet."""
        return self._format.next_number

    def join(self, name: str, owner: str, now: int) -> None:
        """A late entrant. Raises FormatError, with nothing changed, if the format takes none."""
        self._format.join(name, owner)
        self.results.standings.join(name)
        self.away[name] = now - LATE_NS - 1  # the others do not wait until it has caught up

    def come_back(self, name: str, now: int) -> None:
        """A bot that has left takes part again."""
        self._format.come_back(name)
        self.away[name] = now - LATE_NS - 1

    def leave(self, name: str, now: int) -> None:
        """`name` takes part no more: no game of it starts."""
        self.away.setdefault(name, now)
        self._format.withdraw(name)
        self._format.leave(name)

    # -- games that start

    def update(self, bot: Bot, now: int, *, present: bool) -> None:
        """The slots of `bot` have changed, or whether it is `present`: it can be paired, now or later."""
        if not present:
            self.away.setdefault(bot.name, now)
            self._format.withdraw(bot.name)
            return
        away = self.away.pop(bot.name, now)
        self._format.enter(bot.name, late=now - away > LATE_NS)
        self._format.free(bot.name, bot.free_slots)

    def take(self) -> Pairing | None:
        """The next game that can start, or None; it has been started from now on."""
        pairing = self._format.next() if self.separated is None else None
        if pairing is not None:
            self._open[pairing.number] = pairing
        return pairing

    def ending(self, missing: Collection[str], *, time_up: bool) -> str | None:
        """How the contest ends; None while a game could be played without the players of `missing`."""
        if not time_up and self.separated is None and not self._format.exhausted(missing):
            return None
        if is_short(self._format):
            return SHORT
        # An open contest is complete whenever it is closed; nothing is complete without a game.
        is_complete = self.total is None or not self.unplayed({})
        return FINISHED if is_complete and self.results.done > 0 else INCOMPLETE

    # -- rounds

    def next_round(self, absent: Collection[str]) -> None:
        """End a round that cannot go on without those of `absent`, and have the next one drawn.

        Call it while no game runs.
        """
        if (due := self._format.walkover_due(absent)) is not None:
            walkover = due._replace(stored=self.results.stored)
            self._out.fact(walkover)
            self._out.effects.append(WalkedOver(walkover.draw, walkover.absent))
            self._format.walk_over(walkover)
        if not self.drawing and (draw := self._format.draw_due(absent)) is not None:
            self.drawing = True
            self._out.effects.append(StartDraw(draw))

    def drawn(self, drawn: Drawn) -> None:
        """Take what was drawn; no game of it is offered before it is durable."""
        self.drawing = False
        self._out.fact(drawn)
        self._format.drawn(drawn)
        if not drawn.groups:
            self._out.effects.append(NotDrawn(drawn.draw, reason_of(SHORT)))
        else:
            self._out.effects.append(RoundDrawn(drawn.draw, len(drawn.pairs), len(drawn.byes)))

    def unplayed(self, causes: Mapping[str, str]) -> Counter[str]:
        """The games without a result, by cause; `causes` has a word for each bot that is missing."""
        counts: Counter[str] = Counter()
        if self.separated is not None:
            return counts
        for names, games in self._format.unplayed():
            counts[_cause(names, causes)] += games
        if self._void_only:
            counts["void, not played again"] += len(self._void_only)
        return counts

    def has_games_left(self, name: str) -> bool:
        """Whether a game of `name` has no result, and may still have one."""
        waits = self.separated is None and self._format.has_games(name)
        return waits or any(name in pairing.names for pairing in self._open.values())

    # -- games that end

    def add(self, game: PastGame) -> None:
        """The record of a game is durable: count its result."""
        if game.number in self._open:
            # The server may have been killed after the game was broken off.
            if game.end == VOID and game.number not in self.repeated:
                self.set_void(game.number)
            else:
                del self._open[game.number]
        if game.end != VOID:
            if self._paired:
                self._deal_results[frozenset(game.names), game.deal] += 1
            self._format.result(game)
        self.results.add(game)
        if self._early_stop is not None and self.separated is None and game.end != VOID:
            first = self._early_stop.add(game)
            if first:  # no game starts any more; those that run are played to their end
                self.separated = Separated(self.results.done, first)
                self._out.fact(self.separated)
                self._out.effects.append(FieldSeparated(self.results.done, first))

    def may_show_deal(self, game: PastGame) -> bool:
        """Whether OVER may open the commit."""
        results = self._deal_results[frozenset(game.names), game.deal]
        return may_show_deal(paired=self._paired, results=results, seats=self._seats)

    def has_result(self, number: int) -> bool:
        """Whether a game that has been started has a result that counts, or did."""
        return number not in self._open and number not in self._void_only and number not in self.repeated

    def set_void(self, number: int) -> None:
        """Game `number`, which is running, is broken off. Only `play_again` has it played again."""
        self._void_only[number] = self._open.pop(number)
        self._format.void(number)

    def annul(self, game: PastGame, worker: str) -> bool:
        """The stored result of a game does not count any more; `play_again` has it played again.

        Returns False, with nothing changed, for one that counts for nothing already, or has to stand: a round
        that follows from it is drawn, or results decide when the contest ends.
        """
        if game.end == VOID or game.number in self.annulled or self.drawing or self._early_stop is not None:
            return False
        if not self._format.void(game.number, game):
            return False
        self._out.fact(Annulled(game.number, worker))
        self.annulled.add(game.number)
        if self._paired:
            self._deal_results[frozenset(game.names), game.deal] -= 1
        self.results.take_back(game)
        self._void_only[game.number] = Pairing(game.number, game.names, game.deal)
        return True

    def play_again(self, number: int) -> bool:
        """Have a void game played again. Returns False if it is not void, or is so already.

        So it does if it cannot be played any more: a later round has been drawn.
        """
        if self.separated is not None or number not in self._void_only or self.drawing:
            return False
        if not self._format.may_repeat(number):
            return False
        new = self._format.next_number
        repeat = Repeat(new, number, self._void_only[number].deal if self._paired else new)
        self._out.fact(repeat)
        self._repeat(repeat)
        return True

    def _repeat(self, repeat: Repeat) -> None:
        names = self._void_only.pop(repeat.void).names
        self.repeated.add(repeat.void)
        self._format.again(Pairing(repeat.number, names, repeat.deal), repeat.void)

    # -- an interrupted contest

    def recall(
        self,
        results: Sequence[PastGame],
        facts: Collection[FixtureFact],
        unfinished: Collection[Pairing],
        now: int,
    ) -> None:
        """Bring back results, rounds, who has joined and left, and the games that repeat void ones.

        `unfinished` games have been started and have no result; `GameManager.open` seats their
        players. Raises JournalError for what cannot be of this contest.
        """
        self.annulled = {fact.number for fact in facts if isinstance(fact, Annulled)}
        # The rows of the newest of them may still have the result.
        self.rulings.restore(fact for fact in facts if isinstance(fact, Ruled))
        results = [
            replace(game, end=VOID) if game.number in self.annulled else self.rulings.apply(game)
            for game in results
        ]
        begun = [Pairing(game.number, game.names, game.deal) for game in results]
        try:
            self._recall_facts(facts, results, [*begun, *unfinished], now)
        except (PairingError, FormatError) as error:
            raise JournalError(str(error)) from error
        self._open = {pairing.number: pairing for pairing in unfinished}
        for game, pairing in zip(results, begun, strict=True):
            if len(game.totals) != len(game.names) or any(name not in game.names for name, _ in game.faults):
                raise JournalError(f"the result of g{game.number} does not fit its {len(game.names)} seats")
            if game.end == VOID and game.number not in self.repeated and not self.rulings.strikes(game):
                self._open[game.number] = pairing
            self.add(game)

    def _recall_facts(
        self,
        facts: Collection[FixtureFact],
        results: Sequence[PastGame],
        begun: Collection[Pairing],
        now: int,
    ) -> None:
        """Give the format its past, but for results. Raises PairingError, FormatError and JournalError."""
        games = {pairing.number: pairing for pairing in begun}
        played = {game.number for game in results if game.end != VOID}
        # The later one of two games may have ended first.
        for each in sorted((*facts, *begun), key=decided_at):
            if isinstance(each, Drawn | Paired | Forbidden):
                recall_round(self._format, each)
            elif isinstance(each, Joined):
                if each.first != self._format.next_number:
                    raise JournalError(f"{each.name} joined at g{each.first}, which is not the next number")
                self.join(each.name, each.owner, now)
            elif isinstance(each, Extended | Shortened):
                recall_length(self._format, each)
                self._resized[type(each)] += 1
            elif isinstance(each, Repeat):
                done = each.void in played or each.void in self.repeated
                check_repeat(each, games, self._format.next_number, done=done, paired=self._paired)
                self._void_only[each.void] = games[each.void]
                self._format.void(each.void)
                self._repeat(each)
            elif isinstance(each, Pairing):
                self._format.started(each)
        for fact in facts:
            if isinstance(fact, Walkover):
                self._format.walk_over(fact)
            elif isinstance(fact, Left) and fact.left:
                self._format.leave(fact.name)
            elif isinstance(fact, Penalised):
                self.take_penalty(fact)
            elif isinstance(fact, TotalSet):
                self._noted = fact.games
            elif isinstance(fact, Separated):
                self.separated = fact
        self._format.recalled()


def _cause(names: Sequence[str], causes: Mapping[str, str]) -> str:
    """Why a game of these players was not played."""
    missing: dict[str, list[str]] = {}
    # In one order, not that of the seats: they are counted together.
    for name in sorted(names):
        if name in causes:
            missing.setdefault(causes[name], []).append(name)
    found = [f"{cause}: {' and '.join(missing[cause])}" for cause in sorted(missing)]
    # What has not been drawn has no names yet.
    return ", ".join(found) or ("the contest was stopped" if names else "not drawn")
