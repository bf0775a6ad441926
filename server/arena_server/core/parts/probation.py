"""Whether a bot may be paired, by what it has done and what the organiser has ordered.

    a faulty game -> counted; `probation` of them that are not forgiven -> on probation
    `trial`: it plays a validation game before it is paired
        without a fault of its own -> its faulty games are forgiven
        with one -> `failed` until it connects again, or on probation: the `probation`-th in a row, or it was
    `kicked` by the organiser, until it is lifted

It is new to a contest with `validation`, or has been on probation for `probation_for_ms`, or the organiser
orders it: then it has a trial. Without `probation_for_ms` only the organiser ends a probation.

A validation game (v1, v2, ...) has rules and clock of the contest and counts nowhere. The server plays the
other seats itself, by the contest's secret (`deal.own_move`). Its record is in the fact `Validated`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.record import VOID, FaultRecord, GameRecord
from arena_protocol.record_codec import encode
from arena_server.core.clock import NS_PER_MS
from arena_server.core.connections import Connections
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.deal import REFEREE, game_id
from arena_server.core.events import Command, Event
from arena_server.core.facts import Conduct, ContestFact, TrialSet, Validated
from arena_server.core.formats.base import Pairing
from arena_server.core.games import REASON, GameManager
from arena_server.core.log_events import (
    BotOnProbation,
    BotValidated,
    ProbationOver,
    ValidationFailed,
    ValidationStarted,
)
from arena_server.core.news import (
    Arrived,
    Begins,
    CameBack,
    Changed,
    Counted,
    Expired,
    NewProgram,
    News,
    TakenBack,
)
from arena_server.core.overview import KICKED, PROBATION, VALIDATION
from arena_server.core.parts.part import Part, Unpaired, bot_of_fact, bot_of_order
from arena_server.core.peers import REFEREE_KEY, Bot, LiveGame, Outbox
from arena_server.stats.results import PastGame
from arena_server.terms.terms import HouseTerms


@dataclass(slots=True, eq=False)
class _State:
    """What is known of one bot, which may have `limit` faulty games; 0 is no limit.

    `faults` counts those of all bots; of its own, `forgiven` do not count any more. `faulty_trials` are its
    latest validation games, as far back as each had a fault.
    """

    name: str
    limit: int
    faults: Mapping[str, int]
    forgiven: int = 0
    faulty_trials: int = 0
    kicked: bool = False
    trial: bool = False
    failed: bool = False

    @property
    def faulty_games(self) -> int:
        """How many are not forgiven."""
        return self.faults[self.name] - self.forgiven

    @property
    def too_many(self) -> bool:
        return self.faulty_games >= self.limit > 0

    @property
    def on_probation(self) -> bool:
        return self.too_many or self.faulty_trials >= self.limit > 0

    @property
    def conduct(self) -> Conduct:
        return Conduct(self.name, self.forgiven, self.kicked, self.faulty_trials)

    def try_out(self) -> None:
        """It plays a validation game before it is paired."""
        self.trial, self.failed = True, False

    def fail(self) -> bool:
        """Its validation game had a fault. Returns whether it is on probation by that."""
        was_on_probation = self.on_probation
        self.faulty_trials += 1
        self.trial = self.failed = not self.on_probation
        return self.on_probation and not was_on_probation

    def forgive(self) -> None:
        """What it has done does not count any more."""
        self.forgiven, self.faulty_trials = self.faults[self.name], 0
        self.trial = self.failed = False


class Probation(Part):
    """Probation, validation games and kicks of one contest."""

    def __init__(
        self,
        terms: HouseTerms,
        seats: int,
        bots: Mapping[str, Bot],
        games: GameManager,
        connections: Connections,
        out: Outbox,
        deadlines: Deadlines,
    ) -> None:
        self._validation: Final = terms.validation
        self._limit: Final = terms.probation
        self._time: Final = terms.probation_for_ms
        self._seats: Final = seats
        self._bots = bots
        self._games = games
        self._connections = connections
        self._out = out
        self._deadlines = deadlines
        self._faults = games.fixtures.results.faulty_games
        #: The number of the last validation game.
        self._last = 0
        #: The bots that may be able to play one now, in the order in which they became so.
        self._due: dict[str, Bot] = {}
        self._states: dict[str, _State] = {}

    def _of(self, bot: Bot) -> _State:
        """The state of `bot`, which may be new."""
        if (state := self._states.get(bot.name)) is None:
            trial = self._validation and bot.plays
            state = self._states[bot.name] = _State(bot.name, self._limit, self._faults, trial=trial)
        return state

    def faulty_games(self, bot: Bot) -> int:
        """How many faulty games of `bot` are not forgiven."""
        return self._of(bot).faulty_games

    def faulty_trials(self, bot: Bot) -> int:
        """How many validation games of `bot` in a row, up to now, had a fault."""
        return self._of(bot).faulty_trials

    # -- what is asked of a `Part`

    def tries(self, bot: Bot) -> bool:
        """Whether it plays a validation game as soon as there can be one."""
        state = self._of(bot)
        return state.trial and not (state.failed or state.kicked or bot.withdrawn)

    def may_pair(self, bot: Bot) -> bool:
        state = self._of(bot)
        return not (state.kicked or state.trial or state.on_probation)

    def take(self, event: Event | News, now: int) -> bool:
        match event:
            case Changed(bot):
                self._update(bot)
            case Counted(game):
                self._counted(game, now)
            case TakenBack(game):
                self._taken_back(game)
            case Arrived(slot):
                if (state := self._of(slot.bot)).failed:
                    state.try_out()
            case CameBack(bot, True):  # by an undo it comes as it was
                self._readmit(bot)
            case NewProgram(bot):
                if self._validation:
                    self._require(bot)
            case Begins():
                self._begin(now)
            case Expired(DeadlineKind.PROBATION, number):
                self._time_over(number)
            case Expired(DeadlineKind.VALIDATION, number):
                self._over(number, now)
            case Command(_, "kick" | "lift" | "validate"):
                self._obey(event, now)
                return True
        return False

    def due(self, now: int, *, may_start: bool) -> None:
        while may_start and self._due:
            bot = self._due.pop(next(iter(self._due)))
            playing = any(slot.game is not None and not slot.game.counts for slot in bot.slots)
            if not playing and bot.free_slots:
                self._start(bot, now)

    def restore(self, fact: ContestFact) -> bool:
        match fact:
            case Validated(name, number):
                bot_of_fact(self._bots, name)
                self._last = max(self._last, number)
            case TrialSet(name, trial):
                self._of(bot_of_fact(self._bots, name)).trial = trial
            case Conduct(name, forgiven, kicked, faulty_trials):
                state = self._of(bot_of_fact(self._bots, name))
                state.forgiven, state.kicked, state.faulty_trials = forgiven, kicked, faulty_trials
            case _:
                return False
        return True

    def shown(self, bot: Bot) -> Unpaired:
        state = self._of(bot)
        if state.kicked:
            return Unpaired(KICKED, "removed", barred=True)
        if state.on_probation:
            where = "" if state.trial else PROBATION
            return Unpaired(where, "on probation", barred=True, returns=self._time is not None)
        if state.failed:
            return Unpaired(VALIDATION if bot.connected else "", "not validated", absent=True)
        return Unpaired()

    # -- faulty games, and the time that a probation takes

    def _counted(self, game: PastGame, now: int) -> None:
        for name in game.names:
            bot = self._bots[name]
            state = self._of(bot)
            if state.on_probation:
                if name in dict(game.faults) and state.faulty_games == self._limit:
                    self._out.effects.append(BotOnProbation(name, self._faults[name]))
                self._run_time(bot, now)
                self._games.notes.bot(bot)  # it may have other slots, which are free

    def _taken_back(self, game: PastGame) -> None:
        for name, _ in game.faults:
            bot = self._bots[name]
            state = self._of(bot)
            # What was forgiven is gone: a later fault is not forgiven in its place.
            if state.forgiven > self._faults[name]:
                state.forgiven = self._faults[name]
                self._out.fact(state.conduct)
            self._games.notes.bot(bot)

    def _begin(self, now: int) -> None:
        """Let the time of each that is on probation run; numbers of games are not used twice."""
        self._last = max(self._last, *(-number for number in self._games.by_number), 0)
        for bot in self._bots.values():
            if self._of(bot).too_many:
                self._out.effects.append(BotOnProbation(bot.name, self._faults[bot.name]))
            self._run_time(bot, now)

    def _run_time(self, bot: Bot, now: int) -> None:
        state = self._of(bot)
        if self._time is not None and state.on_probation and not state.trial:
            self._deadlines.set((DeadlineKind.PROBATION, bot.number), now + self._time * NS_PER_MS)

    def _time_over(self, number: int) -> None:
        """The time of a bot is over: unless it was lifted or removed meanwhile, it gets a game."""
        bot = next(bot for bot in self._bots.values() if bot.number == number)
        state = self._of(bot)
        if state.on_probation and not (state.kicked or bot.withdrawn):
            self._require(bot)

    # -- validation games

    def _require(self, bot: Bot) -> None:
        """`bot` plays a game before it is paired again."""
        self._of(bot).try_out()
        self._out.fact(TrialSet(bot.name, trial=True))
        self._games.notes.bot(bot)

    def _update(self, bot: Bot) -> None:
        """The slots of `bot` have changed, or whether it needs such a game."""
        if self.tries(bot):
            self._due[bot.name] = bot
        else:
            self._due.pop(bot.name, None)

    def _start(self, bot: Bot, now: int) -> None:
        self._last += 1
        own = (self._last - 1) % self._seats  # a bot that plays several has different seats
        names = tuple(bot.name if seat == own else REFEREE for seat in range(self._seats))
        self._out.effects.append(ValidationStarted(bot.name, game_id(-self._last)))
        self._games.start(Pairing(-self._last, names, self._last), now)

    def _over(self, number: int, now: int) -> None:
        """Validation game `number` is over."""
        # After a restart it may be over before the contest begins again.
        self._last = max(self._last, number)
        live = self._games.by_number[-number]
        bot, record = _tried(live), live.match.record()
        self._judge(bot, number, record, now)
        peer = next(slot.peer for slot in live.seated if slot.bot is bot)
        self._games.announce(live, now, opened=True)
        if peer is not None and (refusal := self._refusal(bot, record)) is not None:
            self._out.error(peer, refusal)
        self._games.notes.bot(bot)
        if self._of(bot).failed:
            self._connections.absent_from(bot, now)

    def _judge(self, bot: Bot, number: int, record: GameRecord, now: int) -> None:
        fault, state = _fault_of(record), self._of(bot)
        self._out.fact(Validated(bot.name, number, encode(record)))
        # A game that was broken off is played again, and so is that of an earlier version of the bot.
        if record.end == VOID or not state.trial:
            return
        if fault is None:
            self._out.effects.append(BotValidated(bot.name, record.game_id))
            if state.on_probation:
                self._out.effects.append(ProbationOver(bot.name))
            state.forgive()
        else:
            self._out.effects.append(ValidationFailed(bot.name, record.game_id, str(fault.kind), fault.ply))
            if state.fail():
                self._out.effects.append(BotOnProbation(bot.name, state.faulty_trials))
            self._run_time(bot, now)
        self._out.fact(state.conduct)
        if not state.trial:
            self._out.fact(TrialSet(bot.name, trial=False))

    def _refusal(self, bot: Bot, record: GameRecord) -> ProtocolError | None:
        """The line that the bot gets after its game; None if it is paired now."""
        fault = _fault_of(record)
        if fault is None or (self.may_pair(bot) and not bot.withdrawn):
            return None
        if not self._of(bot).on_probation:
            again = "you connect again and play one without"
        elif self._time is not None:
            again = "you have played one without after the time of your probation, or the organiser lets you"
        else:
            again = "the organiser lets you"
        what = f"{record.game_id} had a fault ({fault.kind}, ply {fault.ply})"
        return ProtocolError(ErrorCode.VALIDATION, f"{what}: you are not paired until {again}")

    # -- orders

    def _obey(self, order: Command, now: int) -> None:
        bot = bot_of_order(self._bots, order.target)
        match order.verb:
            case "kick":
                state = self._of(bot)
                state.kicked = True
                self._out.fact(state.conduct)
                self._connections.send_away(bot, now, ends_games=True)
            case "lift":
                self._lift(bot)
                self._let_in(bot, now)
            case _:
                self._require(bot)
                self._let_in(bot, now)

    def _lift(self, bot: Bot) -> None:
        """Forgive a bot what it has done: it can be paired, without a validation game, too."""
        state = self._of(bot)
        if state.trial:
            self._out.fact(TrialSet(bot.name, trial=False))
        state.forgive()
        state.kicked = False
        self._out.fact(state.conduct)

    def _let_in(self, bot: Bot, now: int) -> None:
        # One that was connected and could not be paired is not absent any more.
        if bot.connected:
            self._connections.arrived(bot)
        for slot in bot.slots:  # a validation game would decide nothing any more
            if slot.game is not None and not slot.game.counts:
                self._games.void(slot.game, REASON, now, again=self._of(bot).trial)
        self._games.notes.bot(bot)

    def _readmit(self, bot: Bot) -> None:
        """It has left and comes again: faults and kick are forgiven."""
        state = self._of(bot)
        state.forgive()
        state.kicked, state.trial = False, self._validation
        self._out.fact(state.conduct)
        self._out.fact(TrialSet(bot.name, state.trial))


def _fault_of(record: GameRecord) -> FaultRecord | None:
    """The first fault of a bot."""
    return next((each for each in record.faults if each.seat), None)


def _tried(game: LiveGame) -> Bot:
    """The bot that plays a validation game."""
    return next(slot.bot for slot in game.seated if slot.key != REFEREE_KEY)
