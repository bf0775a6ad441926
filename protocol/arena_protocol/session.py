"""One connection as each side must see it: which message may come next, and from whom.

The transitions are data: what a table does not list is an error. Both sides walk through the
same states; the tables also hold what a line that crosses another on the way may find.

    OPENED -ARENA-> CONNECTED -HELLO-> GREETED -WELCOME-> LOBBY -WATCH-> WATCHING
    LOBBY -GAME-> OFFERED -READY-> READY -START-> PLAYING -TURN-> TURN -MOVE-> PLAYING
    in a game -ZOMBIE-> ZOMBIE      in a game -OVER-> LOBBY      anywhere -BYE-> CLOSED

It must not know: sockets, time, the rules of any game, or what a refused line costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, Generic, TypeVar

from arena_protocol.codec import shown
from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.messages import (
    TABLE,
    VERSION,
    ClientMessage,
    Error,
    Game,
    Message,
    Over,
    Ready,
    ServerMessage,
    Start,
    Zombie,
    encode,
    of_another_version,
    parse_client,
    parse_server,
)


class State(Enum):
    """Where a connection stands; the value completes "it has no meaning ..."."""

    OPENED = "before ARENA"
    CONNECTED = "before HELLO"
    GREETED = "before WELCOME"
    LOBBY = "in the lobby"
    OFFERED = "before READY"
    READY = "before START"
    PLAYING = "while no TURN is open"
    TURN = "while a TURN is open"
    ZOMBIE = "from a zombie"
    WATCHING = "while watching"
    CLOSED = "after the end"


BEFORE_LOGIN: Final = (State.OPENED, State.CONNECTED, State.GREETED)
IN_GAME: Final = (State.OFFERED, State.READY, State.PLAYING, State.TURN, State.ZOMBIE)
LOGGED_IN: Final = (State.LOBBY, *IN_GAME, State.WATCHING)

Moves = Mapping[State, State]
#: A message as the tables know it: its verb, or its verb with what sets it apart.
GAME_WATCHED: Final = "GAME seat=0"
ZOMBIE_OTHER: Final = "ZOMBIE of another seat"
ERROR_FATAL: Final = "ERROR and close"


def _stay(*states: State) -> dict[State, State]:
    return {state: state for state in states}


def _lead(states: tuple[State, ...], to: State) -> dict[State, State]:
    return dict.fromkeys(states, to)


CLIENT_SAYS: Final[Mapping[str, Moves]] = {
    "HELLO": {State.CONNECTED: State.GREETED},
    # Once START is out a READY is late and harmless: the client may have resumed a running game.
    "READY": {State.OFFERED: State.READY, **_stay(State.READY, State.PLAYING, State.TURN, State.ZOMBIE)},
    "MOVE": {State.TURN: State.PLAYING},
    "WATCH": _lead((State.LOBBY, State.WATCHING), State.WATCHING),
    "QUIT": _stay(*LOGGED_IN),
    "PING": _stay(*LOGGED_IN),
    "PONG": _stay(*LOGGED_IN),
}

SERVER_SAYS: Final[Mapping[str, Moves]] = {
    "ARENA": {State.OPENED: State.CONNECTED},
    "WELCOME": {State.GREETED: State.LOBBY},
    # A GAME that crosses a WATCH on the way wins.
    "GAME": _lead((State.LOBBY, State.WATCHING), State.OFFERED),
    GAME_WATCHED: _stay(State.WATCHING),
    "STATE": _stay(State.OFFERED, State.READY, State.WATCHING),
    "NEXT": _stay(State.OFFERED, State.READY, State.WATCHING),
    # START without READY: the game that is taken up again has started long ago.
    "START": {
        **_lead((State.OFFERED, State.READY), State.PLAYING),
        **_stay(State.ZOMBIE, State.WATCHING),
    },
    "TURN": {State.PLAYING: State.TURN, **_stay(State.WATCHING)},
    "PLAYED": _stay(State.PLAYING, State.ZOMBIE, State.WATCHING),
    "ZOMBIE": _lead(IN_GAME, State.ZOMBIE),
    ZOMBIE_OTHER: _stay(*IN_GAME, State.WATCHING),
    "OVER": {**_lead(IN_GAME, State.LOBBY), **_stay(State.WATCHING)},
    "PING": _stay(*LOGGED_IN),
    "PONG": _stay(*LOGGED_IN),
    "ERROR": _stay(*LOGGED_IN),
    ERROR_FATAL: _lead((*BEFORE_LOGIN, State.LOBBY, State.WATCHING), State.CLOSED),
    "BYE": _lead((*BEFORE_LOGIN, *LOGGED_IN), State.CLOSED),
}

_VERBS: Final = {shape.type: shape.verb for shape in TABLE}
_NAMING: Final = (Ready, Start, Over)

Heard = TypeVar("Heard", ClientMessage, ServerMessage)
Said = TypeVar("Said", ClientMessage, ServerMessage)


def is_fatal(state: State, code: str) -> bool:
    """Whether the server closes the connection after an ERROR of this code in this state."""
    return state in BEFORE_LOGIN or (code == ErrorCode.FLOOD and state in (State.LOBBY, State.WATCHING))


class _Session(Generic[Heard, Said]):
    """What both sides share: a state, and the two tables, one to hear by and one to say by."""

    __slots__ = ("_hears", "_says", "game_id", "seat", "state")

    def __init__(self, hears: Mapping[str, Moves], says: Mapping[str, Moves]) -> None:
        self._hears = hears
        self._says = says
        self.state = State.OPENED
        #: The game at hand and the client's seat in it; None and 0 without a game.
        self.game_id: str | None = None
        self.seat = 0

    def _heard(self, message: Message) -> None:
        """Advance by a message of the peer's. Raises ProtocolError if it may not come now."""
        state = self._hears[self._event(message)].get(self.state)
        if state is None:
            raise self._refusal(_VERBS[type(message)])
        self._check_game(message)
        self._enter(state, message)

    def send(self, message: Said, line: bytes | None = None) -> bytes:
        """Advance by a message of our own and give its line, to be sent as it is.

        `line` is the message as `encode` printed it, for one that goes to many peers. Raises
        LocalProtocolError if the message may not be said now or has no form on the wire.
        """
        state = self._says.get(self._event(message), {}).get(self.state)
        if state is None:
            raise LocalProtocolError(f"{_VERBS[type(message)]} has no meaning {self.state.value}")
        try:
            self._check_game(message)
        except ProtocolError as problem:
            raise LocalProtocolError(problem.text) from None
        line = encode(message) if line is None else line
        self._enter(state, message)
        return line

    def _event(self, message: Message) -> str:
        """Give the row of the tables that a message belongs to."""
        if isinstance(message, Game) and message.seat == 0:
            return GAME_WATCHED
        if isinstance(message, Zombie) and message.seat not in (None, self.seat):
            return ZOMBIE_OTHER
        if isinstance(message, Error) and is_fatal(self.state, message.code):
            return ERROR_FATAL
        return _VERBS[type(message)]

    def _check_game(self, message: Message) -> None:
        """Refuse a message on another game than the one at hand. A spectator has many at hand."""
        if not isinstance(message, _NAMING) or self.state is State.WATCHING:
            return
        if message.game_id != self.game_id:
            verb = _VERBS[type(message)]
            raise ProtocolError(
                ErrorCode.NO_SUCH_GAME, f"{verb} must name {self.game_id}, not {shown(message.game_id)}"
            )

    def _enter(self, state: State, message: Message) -> None:
        """Go to a state, and keep which game is at hand."""
        self.state = state
        if isinstance(message, Game) and message.seat:
            self.game_id, self.seat = message.game_id, message.seat
        elif state not in IN_GAME:
            self.game_id, self.seat = None, 0

    def _refusal(self, verb: str) -> ProtocolError:
        """Say why a verb of the peer's may not come now."""
        return ProtocolError(ErrorCode.UNEXPECTED, f"{verb} has no meaning {self.state.value}")


class ServerSession(_Session[ClientMessage, ServerMessage]):
    """The server's end of one connection; begin with `send(Arena(...))`.

    After `receive` or `send`, `state` says where the connection stands.
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(CLIENT_SAYS, SERVER_SAYS)

    def receive(self, line: bytes) -> ClientMessage | None:
        """Read a line of the client's; None for a blank line, and for any line after the end.

        Any bytes give a message, None or ProtocolError, and nothing else. A refused line
        leaves the state as it was; its code is what ERROR should say.
        """
        if self.state is State.CLOSED:
            return None
        try:
            message = parse_client(line)
        except ProtocolError:
            if self.state is State.CONNECTED and of_another_version(line):
                raise ProtocolError(ErrorCode.VERSION, f"this server speaks version {VERSION}") from None
            raise
        if message is not None:
            self._heard(message)
        return message

    def enter(self, state: State, game_id: str, seat: int) -> None:
        """Advance by lines of a game's transcript, which lead to `state`; `send` is for all other lines."""
        self.state = state
        self.game_id, self.seat = (game_id, seat) if state in IN_GAME else (None, 0)

    def _refusal(self, verb: str) -> ProtocolError:
        if verb == "MOVE" and self.state in LOGGED_IN:
            return ProtocolError(ErrorCode.NOT_YOUR_TURN, "MOVE answers a TURN, and none is open")
        if self.state is State.CONNECTED:
            return ProtocolError(ErrorCode.LOGIN, f"the first line must be HELLO, not {verb}")
        return super()._refusal(verb)


class ClientSession(_Session[ServerMessage, ClientMessage]):
    """The client's end of one connection; begin with `receive` of the ARENA line.

    After `receive` or `send`, `state` says where the connection stands.
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(SERVER_SAYS, CLIENT_SAYS)

    def receive(self, line: bytes) -> ServerMessage | None:
        """Read a line of the server's; None for a blank line, an unknown verb, or after the end.

        Before ARENA an unknown verb is refused: whatever is there is no server of this protocol.
        Any bytes give a message, None or ProtocolError, and nothing else. A refused line
        leaves the state as it was.
        """
        if self.state is State.CLOSED:
            return None
        try:
            message = parse_server(line)
        except ProtocolError as problem:
            if self.state is State.OPENED and not line.startswith(b"ARENA "):
                raise ProtocolError(ErrorCode.UNEXPECTED, "a server says ARENA first") from None
            if problem.code is ErrorCode.UNKNOWN_VERB:
                return None  # a newer server may say more than this version knows
            raise
        if message is not None:
            self._heard(message)
        return message
