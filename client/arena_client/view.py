"""A game as one seat sees it: values that follow from the server's lines, never changed in place.

A view can be handed to a thread while the next lines arrive: every line makes a new view.
It must not know: sockets, sessions, clocks of its own, nor any particular game.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from arena_client.errors import ClientError
from arena_protocol import messages as wire
from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Deal, Game, GameError


class _Memo:
    """The last position computed of one game, shared by the views of that game.

    `latest` is read and replaced whole, so a thread that thinks and the thread that reads
    lines may both use it.
    """

    __slots__ = ("latest", "rules")

    def __init__(self) -> None:
        self.rules: Game[Any] | None = None
        self.latest: tuple[int, Any] | None = None


@dataclass(frozen=True, slots=True)
class GameView:
    """Everything a seat knows of its game after the lines received so far.

    Times are milliseconds, seats count from 1, plies from 1. What needs the rules
    (`position`, `legal_moves`) is computed on demand; for a game that this version
    does not have, `rules` and `position` are None, `legal_moves` is empty, and `board` stays
    the text of STATE. A fault of the server against the rules raises ClientError there.
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

    @classmethod
    def of(cls, offer: wire.Game) -> GameView:
        """Begin with the line GAME. Raises ClientError if its seats do not add up."""
        if offer.seats != len(offer.names) or not 1 <= offer.seat <= offer.seats:
            raise ClientError(f"{offer.game_id}: the server sent GAME with seats that do not add up")
        return cls(offer)

    def after(self, message: wire.ServerMessage) -> GameView:
        """Return the view after one more line; lines that say nothing of the game change nothing.

        Raises ClientError for a ply out of order and for values that are not one a seat.
        """
        change = _CHANGES.get(type(message))
        return self if change is None else change(self, message)

    @property
    def game_id(self) -> str:
        """The id that GAME gave this game, for example `g42`."""
        return self.offer.game_id

    @property
    def game(self) -> str:
        """The name of the game, for example `insertion`."""
        return self.offer.game

    @property
    def seat(self) -> int:
        """My seat."""
        return self.offer.seat

    @property
    def seats(self) -> int:
        """How many seats play."""
        return self.offer.seats

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of the seats."""
        return self.offer.names

    @property
    def options(self) -> dict[str, str]:
        """The game's own options as GAME printed them, for example `plies`, `colours`, `lookahead`."""
        return dict(self.offer.options)

    @property
    def zombie_move(self) -> str | None:
        """The move that the server plays for a misbehaving seat; None: such a seat forfeits."""
        return self.offer.zombie

    @property
    def ply(self) -> int:
        """The number of the ply that is to be played now."""
        return len(self.history) + 1

    @property
    def my_turn(self) -> bool:
        """Whether the server waits for my move."""
        return self.turn is not None

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves played so far, in order."""
        return tuple(played.move for played in self.history)

    @property
    def last_move(self) -> wire.Played | None:
        """The last ply as the server told it (seat, move, time, points ...); None at the start."""
        return self.history[-1] if self.history else None

    @property
    def clocks(self) -> tuple[int, ...]:
        """The time left to each seat, as the server's ledger has it."""
        if self.turn is not None:
            return self.turn.clock
        return self.history[-1].clock if self.history else (self.offer.clock,) * self.seats

    @property
    def my_clock(self) -> int:
        """The time left to me."""
        return self.clocks[self.seat - 1]

    @property
    def increment(self) -> int:
        """The time that a move earns its seat."""
        return self.offer.increment

    @property
    def totals(self) -> tuple[int, ...]:
        """The points of each seat."""
        if self.over is not None:
            return self.over.total
        return self.history[-1].total if self.history else (0,) * self.seats

    @property
    def visible(self) -> str:
        """What is known of the hidden sequence from this ply on; a ply uses one picture."""
        return self.shown[len(self.history) :]

    @property
    def rules(self) -> Game[Any] | None:
        """The game's plug-in with the options of GAME, or None for a game that is not known here.

        Raises ClientError if the game is known and its options are refused.
        """
        if self._memo.rules is None and self.game in GAMES:
            try:
                self._memo.rules = make_game(self.game, {**self.offer.options, "seats": str(self.seats)})
            except GameError as error:
                raise ClientError(f"{self.game_id}: GAME has options refused here: {error}") from error
        return self._memo.rules

    @property
    def position(self) -> Any:
        """The game's own position value, or None for a game that is not known here.

        Raises ClientError if the server's lines break the rules as this version knows them.
        """
        rules = self.rules
        if rules is None:
            return None
        known = self._memo.latest
        if known is None or known[0] > len(self.history):
            known = (0, self._start(rules))
        plies, position = known
        for played in self.history[plies:]:
            position = self._play(rules, position, played)
        self._memo.latest = (len(self.history), position)
        return position

    @property
    def board(self) -> str:
        """The position as STATE prints it."""
        rules = self.rules
        return self.state if rules is None else rules.state_text(self.position)

    @property
    def legal_moves(self) -> tuple[str, ...]:
        """Every legal move in the game's natural order; empty for a game that is not known here."""
        rules = self.rules
        return () if rules is None else rules.legal_moves(self.position)

    @property
    def to_move(self) -> int | None:
        """The seat whose turn it is, or None for a game that is not known here."""
        rules = self.rules
        return None if rules is None else rules.to_move(self.position)

    @property
    def hides(self) -> bool:
        """Whether a NEXT belongs to the start of this game, as far as is known here."""
        return self.rules is not None and self.rules.preview(Deal(self.state)) is not None

    def _start(self, rules: Game[Any]) -> Any:
        pictures = sum(len(played.reveal or "") for played in self.history)
        try:
            return rules.start(Deal(self.state, self.shown[: len(self.shown) - pictures]))
        except GameError as error:
            raise ClientError(f"{self.game_id}: STATE or NEXT make no start here: {error}") from error

    def _play(self, rules: Game[Any], position: Any, played: wire.Played) -> Any:
        try:
            position = rules.play(position, played.move).position
            return position if played.reveal is None else rules.extend(position, played.reveal)
        except GameError as error:
            raise ClientError(
                f"{self.game_id} ply {played.ply}: the server's PLAYED breaks the rules known here: {error}"
            ) from error


def _state(view: GameView, message: wire.State) -> GameView:
    return replace(view, state=message.text)


def _next(view: GameView, message: wire.Next) -> GameView:
    return replace(view, shown=message.text)


def _start(view: GameView, message: wire.Start) -> GameView:
    return replace(view, started=True)


def _turn(view: GameView, message: wire.Turn) -> GameView:
    _check(view, "TURN", message.ply, message.clock)
    return replace(view, turn=message)


def _played(view: GameView, message: wire.Played) -> GameView:
    _check(view, "PLAYED", message.ply, message.clock, message.total)
    shown = view.shown + (message.reveal or "")
    return replace(view, turn=None, history=(*view.history, message), shown=shown)


def _check(view: GameView, verb: str, ply: int, *lists: tuple[int, ...]) -> None:
    if ply != view.ply:
        raise ClientError(f"{view.game_id}: the server sent {verb} {ply} where ply {view.ply} is due")
    if any(len(values) != view.seats for values in lists):
        raise ClientError(
            f"{view.game_id}: the server sent {verb} with values for other than {view.seats} seats"
        )


def _zombie(view: GameView, message: wire.Zombie) -> GameView:
    # With announce_zombies everybody is told; only a line about my own seat takes my turns away.
    mine = message.seat is None or message.seat == view.seat
    return replace(view, turn=None, zombie=message) if mine else view


def _over(view: GameView, message: wire.Over) -> GameView:
    _check(view, "OVER", view.ply, message.total)
    return replace(view, turn=None, over=message)


_CHANGES: dict[type, Callable[[GameView, Any], GameView]] = {
    wire.State: _state,
    wire.Next: _next,
    wire.Start: _start,
    wire.Turn: _turn,
    wire.Played: _played,
    wire.Zombie: _zombie,
    wire.Over: _over,
}
