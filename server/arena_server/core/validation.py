"""Validation games: a bot plays one against the server itself before it is paired.

    `require`, or the time of a probation is over -> due -> `take`: the bot has a free slot
    -> game v1, v2, ... by rules and clock of the contest -> `judge`: the bot is paired, or not yet

Such a game counts nowhere. The server plays the other seats itself, by the contest's secret
(`deal.own_move`). Its record is in the fact `Validated`. Which bot needs one: `probation.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_protocol.record import VOID, FaultRecord, GameRecord
from arena_protocol.record_codec import encode
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.deal import REFEREE, number_of, own_move
from arena_server.core.facts import Conduct, TrialSet, Validated
from arena_server.core.formats.base import Pairing
from arena_server.core.log_events import BotOnProbation, BotValidated, ProbationOver, ValidationFailed
from arena_server.core.peers import REFEREE_KEY, Bot, LiveGame, Outbox, Slot
from arena_server.terms.terms import HouseTerms


class Validations:
    """The validation games of one contest of a game for `seats`, and the time that a probation takes."""

    def __init__(
        self, terms: HouseTerms, seats: int, bots: Iterable[Bot], out: Outbox, deadlines: Deadlines
    ) -> None:
        self._validation: Final = terms.validation
        self._limit: Final = terms.probation
        self._time: Final = terms.probation_for_ms
        self._seats: Final = seats
        self._out = out
        self._deadlines = deadlines
        #: The number of the last game.
        self._last = 0
        #: The bots that may be able to play one now, in the order in which they became so.
        self._due: dict[str, Bot] = {}
        for bot in bots:
            self.enter(bot)

    def enter(self, bot: Bot) -> None:
        """A new bot."""
        if self._validation and bot.plays:
            bot.try_out()

    def require(self, bot: Bot) -> None:
        """`bot` plays a game before it is paired again."""
        bot.try_out()
        self._out.fact(TrialSet(bot.name, trial=True))

    def renew(self, bot: Bot) -> None:
        """Another program plays for `bot`."""
        if self._validation:
            self.require(bot)

    # -- games

    def update(self, bot: Bot) -> None:
        """The slots of `bot` have changed, or whether it needs such a game."""
        if bot.trial and not (bot.failed or bot.removed):
            self._due[bot.name] = bot
        else:
            self._due.pop(bot.name, None)

    def take(self) -> Pairing | None:
        """The next game that can start, or None; it has been started from now on."""
        while self._due:
            bot = self._due.pop(next(iter(self._due)))
            playing = any(slot.game is not None and slot.game.is_validation for slot in bot.slots)
            if not playing and bot.free_slots:
                self._last += 1
                own = (self._last - 1) % self._seats  # a bot that plays several has different seats
                names = tuple(bot.name if seat == own else REFEREE for seat in range(self._seats))
                return Pairing(-self._last, names, self._last)
        return None

    def judge(self, bot: Bot, record: GameRecord, now: int) -> None:
        """A game of `bot` is over."""
        number, game = -number_of(record.game_id), record.game_id
        fault = next((each for each in record.faults if each.seat), None)
        self._out.fact(Validated(bot.name, number, encode(record)))
        # A game that was broken off is played again, and so is that of an earlier version of the bot.
        if record.end == VOID or not bot.trial:
            return
        if fault is None:
            self._succeeded(bot, game)
        else:
            self._failed(bot, fault, game, now)
        self._out.fact(bot.conduct)
        if not bot.trial:
            self._out.fact(TrialSet(bot.name, trial=False))

    def _succeeded(self, bot: Bot, game: str) -> None:
        self._out.effects.append(BotValidated(bot.name, game))
        if bot.on_probation:
            self._out.effects.append(ProbationOver(bot.name))
        bot.prove()

    def _failed(self, bot: Bot, fault: FaultRecord, game: str, now: int) -> None:
        self._out.effects.append(ValidationFailed(bot.name, game, str(fault.kind), fault.ply))
        if bot.fail(self._limit):
            self._out.effects.append(BotOnProbation(bot.name, bot.faulty_trials))
        self.begin([bot], now)

    @staticmethod
    def refusal(bot: Bot, record: GameRecord) -> ProtocolError | None:
        """The line that the bot gets after its game; None if it is paired now."""
        fault = next((each for each in record.faults if each.seat), None)
        if fault is None or not bot.barred:
            return None
        again = "the organiser lets you" if bot.on_probation else "you connect again and play one without"
        what = f"{record.game_id} had a fault ({fault.kind}, ply {fault.ply})"
        return ProtocolError(ErrorCode.VALIDATION, f"{what}: you are not paired until {again}")

    # -- time

    def begin(self, bots: Iterable[Bot], now: int) -> None:
        """Let the time of each that is on probation run, as after a restart."""
        for bot in bots:
            if self._time is not None and bot.on_probation and not bot.trial:
                self._deadlines.set((DeadlineKind.PROBATION, bot.number), now + self._time * NS_PER_MS)

    def expire(self, bot: Bot) -> None:
        """The time of `bot` is over: unless it was lifted or removed meanwhile, it gets a game."""
        if bot.on_probation and not bot.removed:
            self.require(bot)

    # -- an interrupted contest

    def restore(self, bot: Bot, fact: Conduct | TrialSet | Validated) -> None:
        """Take what the journal says of `bot`."""
        if isinstance(fact, Validated):
            self.restore_number(fact.number)
        else:
            bot.restore(fact, self._limit)

    def restore_number(self, number: int) -> None:
        """Game `number` has been played, or was being played."""
        self._last = max(self._last, number)


def other_move(record: GameRecord, contest_seed: int) -> int:
    """The first ply of the server in a game, whose record is true, that it would not have played; 0: none."""
    game = make_game(record.game, {**record.options, "seats": len(record.names)})
    position: Any = game.start(Deal(record.board, record.sequence))
    for number, ply in enumerate(record.plies, start=1):
        if record.names[ply.seat - 1] == REFEREE:
            moves = game.legal_moves(position)
            if ply.move != own_move(contest_seed, record.game_id, number, moves):
                return number
        position = game.play(position, ply.move).position
    return 0


def tried(game: LiveGame) -> Bot:
    """The bot that plays a validation game."""
    return next(slot.bot for slot in game.seated if slot.key != REFEREE_KEY)


def referee_slot() -> Slot:
    """A seat that the server plays itself."""
    return Slot(REFEREE_KEY, Bot(REFEREE_KEY, REFEREE, None, plays=False))
