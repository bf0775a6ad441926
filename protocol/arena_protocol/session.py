"""The state of one connection, as each side keeps it, and the messages that each state allows.

The transitions are data: a message that a table does not list in a state is an error there. Both
sides go through the same states. The tables also allow what a message finds that crosses
another one on the way.

    OPENED -ARENA-> CONNECTED -HELLO-> GREETED -WELCOME-> LOBBY -WATCH-> WATCHING
    LOBBY -GAME-> OFFERED -READY-> READY -START-> PLAYING -TURN-> TURN -MOVE-> PLAYING
    in a game -ZOMBIE-> ZOMBIE      in a game -OVER-> LOBBY      anywhere -BYE-> CLOSED

Both classes have the same two verbs: `receive(line)` for a line of the peer and `send(message)`
for one's own, in the order in which they pass. `state` is where the connection stands after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, Generic, TypeVar

from arena_protocol.codec import quote
from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.messages import (
    TABLE,
    VERSION,
    ClientMessage,
    Error,
    Game,
    Message,
    Move,
    Over,
    Ready,
    ServerMessage,
    Start,
    Zombie,
    encode,
    is_other_version,
    parse_client,
    parse_server,
)


class State(Enum):
    """The states of a connection; the value completes "it has no meaning ..."."""

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

    # A member is one object; that of Enum is a Python function, and a MOVE looks up two states.
    __hash__ = object.__hash__


BEFORE_LOGIN: Final = (State.OPENED, State.CONNECTED, State.GREETED)
IN_GAME: Final = (State.OFFERED, State.READY, State.PLAYING, State.TURN, State.ZOMBIE)
LOGGED_IN: Final = (State.LOBBY, *IN_GAME, State.WATCHING)

#: The states in which a message is allowed, each with the state that follows.
Transitions = Mapping[State, State]

#: Rows of the tables that are not a verb alone.
GAME_WATCHED: Final = "GAME seat=0"
ZOMBIE_OTHER: Final = "ZOMBIE of another seat"
ERROR_FATAL: Final = "ERROR and close"


def _stay(*states: State) -> dict[State, State]:
    return {state: state for state in states}


def _lead(states: tuple[State, ...], to: State) -> dict[State, State]:
    return dict.fromkeys(states, to)


CLIENT_TRANSITIONS: Final[Mapping[str, Transitions]] = {
    "HELLO": {State.CONNECTED: State.GREETED},
    # After START a READY is late and harmless: the client may have resumed a running game.
    "READY": {State.OFFERED: State.READY, **_stay(State.READY, State.PLAYING, State.TURN, State.ZOMBIE)},
    "MOVE": {State.TURN: State.PLAYING},
    "WATCH": _lead((State.LOBBY, State.WATCHING), State.WATCHING),
    "QUIT": _stay(*LOGGED_IN),
    "INFO": _stay(*LOGGED_IN),
    "STORE": _stay(State.LOBBY, *IN_GAME),
    "PING": _stay(*LOGGED_IN),
    "PONG": _stay(*LOGGED_IN),
}

SERVER_TRANSITIONS: Final[Mapping[str, Transitions]] = {
    "ARENA": {State.OPENED: State.CONNECTED},
    "WELCOME": {State.GREETED: State.LOBBY},
    # A GAME that crosses a WATCH on the way takes precedence.
    "GAME": _lead((State.LOBBY, State.WATCHING), State.OFFERED),
    GAME_WATCHED: _stay(State.WATCHING),
    "STATE": _stay(State.OFFERED, State.READY, State.WATCHING),
    "NEXT": _stay(State.OFFERED, State.READY, State.WATCHING),
    # START without READY: a resumed game may have started before.
    "START": {
        **_lead((State.OFFERED, State.READY), State.PLAYING),
        **_stay(State.ZOMBIE, State.WATCHING),
    },
    "TURN": {State.PLAYING: State.TURN, **_stay(State.WATCHING)},
    "PLAYED": _stay(State.PLAYING, State.ZOMBIE, State.WATCHING),
    "INFO": _stay(State.WATCHING),
    "ZOMBIE": _lead(IN_GAME, State.ZOMBIE),
    ZOMBIE_OTHER: _stay(*IN_GAME, State.WATCHING),
    "OVER": {**_lead(IN_GAME, State.LOBBY), **_stay(State.WATCHING)},
    "PING": _stay(*LOGGED_IN),
    "PONG": _stay(*LOGGED_IN),
    "ERROR": _stay(*LOGGED_IN),
    ERROR_FATAL: _lead((*BEFORE_LOGIN, State.LOBBY, State.WATCHING), State.CLOSED),
    "LOG": _stay(State.LOBBY),
    "BYE": _lead((*BEFORE_LOGIN, *LOGGED_IN), State.CLOSED),
}

#: The move of each canonical MOVE line that has been parsed and allowed; no contest has as many moves.
_MOVES: Final[dict[bytes, str]] = {}
_MOST_MOVES: Final = 4096
_AFTER_MOVE: Final = CLIENT_TRANSITIONS["MOVE"][State.TURN]
_AFTER_TURN: Final = SERVER_TRANSITIONS["TURN"]
#: A member by its class costs as much as a call, each time.
_TURN: Final = State.TURN

_VERBS: Final = {shape.type: shape.verb for shape in TABLE}
_WITH_GAME_ID: Final = (Ready, Start, Over)

Received = TypeVar("Received", ClientMessage, ServerMessage)
Sent = TypeVar("Sent", ClientMessage, ServerMessage)


def is_fatal(state: State, code: str) -> bool:
    """Whether the server closes the connection after an ERROR with this code in this state."""
    return state in BEFORE_LOGIN or (code == ErrorCode.FLOOD and state in (State.LOBBY, State.WATCHING))


class _Session(Generic[Received, Sent]):
    """What both sides share: a state, and the tables of the peer's messages and of one's own."""

    __slots__ = ("_own", "_peer", "game_id", "seat", "state")

    def __init__(self, peer: Mapping[str, Transitions], own: Mapping[str, Transitions]) -> None:
        self._peer = peer
        self._own = own
        self.state = State.OPENED
        #: The current game and the client's seat in it; None and 0 without a game.
        self.game_id: str | None = None
        self.seat = 0

    def _receive(self, message: Message) -> None:
        """Advance by a message of the peer. Raises ProtocolError if it is not allowed now."""
        state = self._peer[self._row(message)].get(self.state)
        if state is None:
            raise self._refusal(_VERBS[type(message)])
        self._check_game(message)
        self._enter(state, message)

    def send(self, message: Sent, line: bytes | None = None) -> bytes:
        """Advance by one's own message and return its line, to be sent as it is.

        `line` is the message as already printed, for one that goes to several peers. Raises
        LocalProtocolError if the message is not allowed now or has no form on the wire.
        """
        state = self._own.get(self._row(message), {}).get(self.state)
        if state is None:
            raise LocalProtocolError(f"{_VERBS[type(message)]} has no meaning {self.state.value}")
        try:
            self._check_game(message)
        except ProtocolError as problem:
            raise LocalProtocolError(problem.text) from None
        line = encode(message) if line is None else line
        self._enter(state, message)
        return line

    def _row(self, message: Message) -> str:
        if isinstance(message, Game) and message.seat == 0:
            return GAME_WATCHED
        if isinstance(message, Zombie) and message.seat not in (None, self.seat):
            return ZOMBIE_OTHER
        if isinstance(message, Error) and is_fatal(self.state, message.code):
            return ERROR_FATAL
        return _VERBS[type(message)]

    def _check_game(self, message: Message) -> None:
        """Raise ProtocolError for a message about another game; a spectator may have several."""
        # The other messages name no game: their session has one at most.
        if not isinstance(message, _WITH_GAME_ID) or self.state is State.WATCHING:
            return
        if message.game_id != self.game_id:
            verb = _VERBS[type(message)]
            raise ProtocolError(
                ErrorCode.NO_SUCH_GAME, f"{verb} must name {self.game_id}, not {quote(message.game_id)}"
            )

    def _enter(self, state: State, message: Message) -> None:
        self.state = state
        if isinstance(message, Game) and message.seat:
            self.game_id, self.seat = message.game_id, message.seat
        # A resumed seat keeps its game over ZOMBIE and START; OVER and BYE end it.
        elif state not in IN_GAME:
            self.game_id, self.seat = None, 0

    def _refusal(self, verb: str) -> ProtocolError:
        return ProtocolError(ErrorCode.UNEXPECTED, f"{verb} has no meaning {self.state.value}")


class ServerSession(_Session[ClientMessage, ServerMessage]):
    """The server's end of one connection; begin with `send(Arena(...))`."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(CLIENT_TRANSITIONS, SERVER_TRANSITIONS)

    def receive(self, line: bytes) -> ClientMessage | None:
        """Parse a line of the client; None for a blank line, and for any line after the end.

        Any bytes give a message, None or ProtocolError, and nothing else. A refused line
        leaves the state unchanged; the exception has the code for ERROR.
        """
        # Lines that were under way when the connection was closed.
        if self.state is State.CLOSED:
            return None
        try:
            message = parse_client(line)
        except ProtocolError:
            # A HELLO of another version may have another form: its author needs the version,
            # not the syntax.
            if self.state is State.CONNECTED and is_other_version(line):
                raise ProtocolError(ErrorCode.VERSION, f"this server speaks version {VERSION}") from None
            raise
        if message is not None:
            self._receive(message)
            if type(message) is Move and len(_MOVES) < _MOST_MOVES:
                # Any other form of the line goes through the parser every time.
                _MOVES[b"MOVE " + message.move.encode("ascii")] = message.move
        return message

    def moved(self, line: bytes) -> str | None:
        """Advance by a MOVE that answers the open TURN, without a parser, and return its move.

        Returns None, with nothing changed, for any line that `receive` has to take.
        """
        if self.state is _TURN and (move := _MOVES.get(line)) is not None:
            self.state = _AFTER_MOVE
            return move
        return None

    def opened_turn(self) -> None:
        """Advance by a TURN that has reached the client: a MOVE that came before it cannot be its answer."""
        self.state = _AFTER_TURN.get(self.state, self.state)

    def sent_lines(self, verbs: Sequence[str], game_id: str, seat: int) -> None:
        """Advance by lines of a game that were printed before; `verbs` are those that may change the state.

        Raises LocalProtocolError if one of them is not allowed now. `send` is for all other lines.
        """
        for verb in verbs:
            state = self._own[verb].get(self.state)
            if state is None:
                raise LocalProtocolError(f"{verb} has no meaning {self.state.value}")
            self.state = state
        self.game_id, self.seat = (game_id, seat) if self.state in IN_GAME else (None, 0)

    def _refusal(self, verb: str) -> ProtocolError:
        if verb == "MOVE" and self.state in LOGGED_IN:
            return ProtocolError(ErrorCode.NOT_YOUR_TURN, "MOVE answers a TURN, and none is open")
        if self.state is State.CONNECTED:
            return ProtocolError(ErrorCode.LOGIN, f"the first line must be HELLO, not {verb}")
        return super()._refusal(verb)


class ClientSession(_Session[ServerMessage, ClientMessage]):
    """The client's end of one connection; begin with `receive` of the ARENA line."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(SERVER_TRANSITIONS, CLIENT_TRANSITIONS)

    def receive(self, line: bytes) -> ServerMessage | None:
        """Parse a line of the server; None for a blank line, an unknown verb, or after the end.

        Before ARENA an unknown verb is refused: the peer is not a server of this protocol.
        Any bytes give a message, None or ProtocolError, and nothing else. A refused line
        leaves the state unchanged.
        """
        if self.state is State.CLOSED:
            return None
        try:
            message = parse_server(line)
        except ProtocolError as problem:
            # Another service greets with its own words, such as SSH-2.0: that is no syntax
            # error of ours.
            if self.state is State.OPENED and not line.startswith(b"ARENA "):
                raise ProtocolError(ErrorCode.UNEXPECTED, "the first line of a server is ARENA") from None
            if problem.code is ErrorCode.UNKNOWN_VERB:
                return None  # a newer server may have more verbs
            raise
        if message is not None:
            self._receive(message)
        return message
