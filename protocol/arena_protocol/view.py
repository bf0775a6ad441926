"""The state of a game as one seat knows it, immutable: every line makes a new view.

Bots, spectators, the checker and the site fold the lines of a game by it. A view may be read by another
thread while the next lines arrive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, cast

from arena_protocol import messages as wire
from arena_protocol.errors import ClientError, LocalProtocolError
from arena_protocol.games import GAMES, printed_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_protocol.record import commitment

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # known to type checkers; the default is not in Python 3.11

    P = TypeVar("P", default=Any)
else:
    from typing import TypeVar

    P = TypeVar("P")

#: What a note keeps of its text and of its expected moves: a line of a client has at most 1,024 bytes.
NOTE_TEXT, NOTE_MOVES = 400, 40

_UNPRINTABLE = re.compile("[^ -~]")

#: Takes a note that is to be sent; may be called by any thread.
NoteSink = Callable[[wire.Info], None]


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a game: `totals` in the order of the seats, `mine` of the own seat, `end` from OVER.

    `fair`: whether board and sequence are those of GAME's commit, and the sequence the one that
    was shown; None if OVER did not open the commit.
    """

    totals: tuple[int, ...]
    mine: int
    end: str
    fair: bool | None


class _Memo:
    """The rules and the last computed position of one game, shared by its views.

    `latest` is read and replaced as a whole, so several threads may use it.
    """

    __slots__ = ("latest", "rules")

    def __init__(self) -> None:
        self.rules: Game[Any] | None = None
        self.latest: tuple[int, Any] | None = None


@dataclass(frozen=True, slots=True)
class GameView(Generic[P]):
    """What a seat knows of its game. P is the type of `position`, for example insertion's `Position`.

    Times are milliseconds; seats and plies count from 1. `position`, `board` and `legal_moves` are
    computed on demand from the rules of the game. For a game that this version does not have,
    `rules` and `position` are None, `legal_moves` is empty and `board` is the text of STATE.
    They raise ClientError if the lines of the server contradict the rules.
    """

    offer: wire.Game
    state: str = ""
    shown: str = ""
    started: bool = False
    turn: wire.Turn | None = None
    history: tuple[wire.Played, ...] = ()
    zombie: wire.Zombie | None = None
    over: wire.Over | None = None
    _memo: _Memo = field(default_factory=_Memo, repr=False, compare=False)
    _sink: NoteSink | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, offer: wire.Game, sink: NoteSink | None = None) -> GameView[P]:
        """Return the view after GAME; `sink` takes its notes.

        Raises ClientError if its seats are inconsistent.
        """
        if offer.seats != len(offer.names) or not 1 <= offer.seat <= offer.seats:
            raise ClientError(f"{offer.game_id}: the server sent GAME with seats that do not add up")
        return cls(offer, _sink=sink)

    def note(
        self,
        text: str = "",
        *,
        depth: int | None = None,
        eval: int | None = None,  # noqa: A002 - the name in INFO
        nodes: int | None = None,
        line: Iterable[int | str] = (),
    ) -> None:
        """Send a note about this ply by INFO: for the record and for spectators, never for an opponent.

        `eval` is the value for this bot, in its own units; `line` the moves that it expects; of `line` and of
        `text` the beginning is sent. May be called at any time and by any thread, also during a
        search. A note is dropped after the end of the game, for a zombie, and without a connection; the
        server keeps 32 a ply. Raises ClientError for numbers that INFO cannot carry.
        """
        words = _UNPRINTABLE.sub("?", " ".join(text.split()))[:NOTE_TEXT].rstrip()
        moves = ",".join(str(move) for move in islice(line, NOTE_MOVES))
        info = wire.Info(
            self.game_id,
            self.ply,
            depth=depth,
            eval=eval,
            nodes=nodes,
            line=moves or None,
            text=words or None,
        )
        try:
            wire.encode(info)
        except LocalProtocolError as error:
            raise ClientError(f"the bot's note cannot be sent: {error}") from error
        if self._sink is not None:
            self._sink(info)

    def after(self, message: wire.ServerMessage) -> GameView[P]:
        """Return the view after one more message; messages not about the game change nothing.

        Raises ClientError for a ply out of order, and for a list without one value per seat.
        """
        match message:
            case wire.State(text):
                return replace(self, state=text)
            case wire.Next(text):
                return replace(self, shown=text)
            case wire.Start():
                return replace(self, started=True)
            case wire.Turn(ply, clock):
                self._check("TURN", ply, clock)
                return replace(self, turn=message)
            case wire.Played(ply, clock=clock, total=total):
                self._check("PLAYED", ply, clock, total)
                shown = self.shown + (message.reveal or "")
                return replace(self, turn=None, history=(*self.history, message), shown=shown)
            case wire.Zombie(seat=seat) if seat in (None, self.seat):
                return replace(self, turn=None, zombie=message)  # one of another seat is an announcement
            case wire.Over(total=total):
                self._check("OVER", self.ply, total)
                return replace(self, turn=None, over=message)
        return self

    def _check(self, verb: str, ply: int, *lists: tuple[int, ...]) -> None:
        if ply != self.ply:
            raise ClientError(f"{self.game_id}: the server sent {verb} {ply} where ply {self.ply} is due")
        if any(len(values) != self.seats for values in lists):
            raise ClientError(
                f"{self.game_id}: the server sent {verb} with values for other than {self.seats} seats"
            )

    @property
    def game_id(self) -> str:
        """The id from GAME, for example `g42`."""
        return self.offer.game_id

    @property
    def game(self) -> str:
        """The name of the game, for example `insertion`."""
        return self.offer.game

    @property
    def seat(self) -> int:
        return self.offer.seat

    @property
    def seats(self) -> int:
        return self.offer.seats

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of the seats."""
        return self.offer.names

    @property
    def options(self) -> dict[str, str]:
        """The game's own options in GAME, for example `plies`, `colours`, `lookahead`."""
        return dict(self.offer.options)

    @property
    def zombie_move(self) -> str | None:
        """The move that the server plays for a zombie; None if such a seat forfeits."""
        return self.offer.zombie

    @property
    def ply(self) -> int:
        """The number of the next ply."""
        return len(self.history) + 1

    @property
    def my_turn(self) -> bool:
        """Whether a TURN is open."""
        return self.turn is not None

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves played so far, in order."""
        return tuple(played.move for played in self.history)

    @property
    def last_move(self) -> wire.Played | None:
        """The last PLAYED, or None at the start."""
        return self.history[-1] if self.history else None

    @property
    def clocks(self) -> tuple[int, ...]:
        """The clocks of all seats as last sent by the server."""
        if self.turn is not None:
            return self.turn.clock
        return self.history[-1].clock if self.history else (self.offer.clock,) * self.seats

    @property
    def my_clock(self) -> int:
        return self.clocks[self.seat - 1]

    @property
    def increment(self) -> int:
        """What a ply in time adds to the clock of its seat."""
        return self.offer.increment

    @property
    def move_limit(self) -> int | None:
        """The longest time for this ply, whatever the clock has; None where only the clock counts."""
        first = self.offer.first_move_limit
        if first is not None and all(played.seat != self.seat for played in self.history):
            return first
        return self.offer.move_limit

    @property
    def totals(self) -> tuple[int, ...]:
        """The points of each seat."""
        if self.over is not None:
            return self.over.total
        return self.history[-1].total if self.history else (0,) * self.seats

    @property
    def result(self) -> Result | None:
        """The result after OVER, else None."""
        if self.over is None:
            return None
        return Result(self.totals, self.totals[self.seat - 1], self.over.end, self._fair())

    def _fair(self) -> bool | None:
        over, commit = self.over, self.offer.commit
        if over is None or over.nonce is None or commit is None:
            return None
        sequence = over.sequence or ""
        return commitment(over.nonce, self.state, sequence) == commit and sequence.startswith(self.shown)

    @property
    def visible(self) -> str:
        """The known part of the hidden sequence from this ply on; a ply uses one picture."""
        return self.shown[len(self.history) :]

    @property
    def rules(self) -> Game[P] | None:
        """The plug-in of the game with its options, or None for an unknown game.

        Raises ClientError if the options are refused.
        """
        if self._memo.rules is None and self.game in GAMES:
            try:
                self._memo.rules = printed_game(self.game, self.offer.options, self.seats)
            except GameError as error:
                raise ClientError(f"{self.game_id}: GAME has options refused here: {error}") from error
        return self._memo.rules

    @property
    def position(self) -> P:
        """The position as a value of the game's plug-in; None for an unknown game."""
        rules = self.rules
        if rules is None:
            return cast("P", None)
        known = self._memo.latest
        if known is None or known[0] > len(self.history):
            known = (0, self._start_position(rules))
        plies, position = known
        for played in self.history[plies:]:
            position = self._play(rules, position, played)
        self._memo.latest = (len(self.history), position)
        return cast("P", position)

    @property
    def board(self) -> str:
        """The position as STATE prints it."""
        rules = self.rules
        return self.state if rules is None else rules.state_text(self.position)

    @property
    def legal_moves(self) -> tuple[str, ...]:
        """All legal moves in the game's natural order."""
        rules = self.rules
        return () if rules is None else rules.legal_moves(self.position)

    @property
    def to_move(self) -> int | None:
        """The seat to move, or None for an unknown game."""
        rules = self.rules
        return None if rules is None else rules.to_move(self.position)

    @property
    def is_dealt(self) -> bool:
        """Whether STATE has arrived, and NEXT if the game has one."""
        if not self.state:
            return False
        return bool(self.shown) or self.rules is None or self.rules.preview(Deal(self.state)) is None

    def _start_position(self, rules: Game[Any]) -> Any:
        revealed = sum(len(played.reveal or "") for played in self.history)
        try:
            return rules.start(Deal(self.state, self.shown[: len(self.shown) - revealed]))
        except GameError as error:
            raise ClientError(f"{self.game_id}: STATE or NEXT are refused here: {error}") from error

    def _play(self, rules: Game[Any], position: Any, played: wire.Played) -> Any:
        try:
            position = rules.play(position, played.move).position
            return position if played.reveal is None else rules.extend(position, played.reveal)
        except GameError as error:
            raise ClientError(
                f"{self.game_id} ply {played.ply}: the server's PLAYED breaks the rules known here: {error}"
            ) from error
