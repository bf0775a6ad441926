"""What a bot answers, and to what: from its values to messages of the wire.

It must not know: sockets, connections, when anything is sent.

One bot's visit to a contest without any I/O: bytes in, bytes and jobs for the bot out.

The verbs, in the order a shell uses them: `opened`, then for every chunk `receive_data`,
`next_job` / `done`, `data_to_send`; at the end of a connection `lost`, and `opened` again
for the next one. `quit` leaves. The error contract: any bytes of a server lead to lines, jobs
or ClientError, nothing else.
It must not know: sockets, event loops, threads, time, or any particular game.
"""

from __future__ import annotations

import logging
import operator
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, SupportsIndex

from arena_client.bot import Bot, result_of
from arena_client.errors import SILENT, ClientError
from arena_client.view import GameView
from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.session import LOGGED_IN, ClientSession, State

#: What an answer of the bot is an answer to: the game, its start and the moves played.
Moment = tuple[str, str, tuple[str, ...]]


def moment(view: GameView) -> Moment:
    """The very moment of the game that `view` shows."""
    return view.game_id, view.state, view.moves


def is_dealt(view: GameView) -> bool:
    """Whether all that comes before READY has come."""
    return bool(view.state) and (bool(view.shown) or not view.hides)


def move_of(value: object) -> wire.Move:
    """Make the bot's answer a MOVE; any integer type will do, numpy's too. Raises ClientError."""
    text = value if isinstance(value, str) else _number(value)
    try:
        wire.encode(wire.Move(text))
    except LocalProtocolError as error:
        raise ClientError(f"choose() returned {value!r}, which cannot be sent as a move: {error}") from error
    return wire.Move(text)


def _number(value: object) -> str:
    if isinstance(value, SupportsIndex):
        return str(operator.index(value))
    raise ClientError(f"choose() must return a move as an int or a str, not {value!r}")


def check_hello(hello: wire.Hello) -> None:
    """Raise ClientError for a name, token or game list that cannot stand in HELLO."""
    try:
        wire.encode(hello)
    except LocalProtocolError as error:
        raise ClientError(f"the server could not read this log-in: {error}") from error


def shown(line: bytes) -> str:
    """The beginning of a line of the server's, for people."""
    return repr(line[:80])[1:]


AGENT = "arena-client"

logger = logging.getLogger("arena_client")

#: ERRORs before WELCOME that pass by themselves: another try may succeed.
PASSING = frozenset({ErrorCode.FULL, ErrorCode.RATE})


@dataclass(frozen=True, slots=True)
class Job:
    """One question to the bot: run `ask` (it may take long) and give its value to `Player.done`."""

    kind: Literal["new_game", "choose", "game_over"]
    view: GameView
    ask: Callable[[], object]


class Player:
    """The machine of one visit, over as many connections as it takes.

    Sends the bot's answers as MOVE and READY, answers PING at once, keeps the resume token,
    and asks nothing twice: an answer that the old connection may have lost is sent again on
    the new one. At most one job is out at a time.
    Raises ClientError for a name, token or game list that cannot stand in HELLO.
    """

    def __init__(self, bot: Bot, name: str, *, token: str | None = None, agent: str = AGENT) -> None:
        self.bot = bot
        #: Why the server said BYE; None until it does.
        self.farewell: str | None = None
        #: Whether this connection has been logged in.
        self.welcomed = False
        #: Why the server gives this connection up for now, and for how many seconds at least.
        self.refusal: str | None = None
        self.retry_after = 0
        self._hello = wire.Hello(wire.VERSION, name, tuple(bot.games), token, agent=agent)
        check_hello(self._hello)
        self._resume: str | None = None
        self._resuming = False
        self._known = False
        self._session: ClientSession | None = None
        self._lines = LineReader(SERVER_LINE_LIMIT)
        self._out = bytearray()
        self._view: GameView | None = None
        self._job: Job | None = None
        self._ended: deque[GameView] = deque()
        self._prepared: str | None = None
        self._answer: tuple[Moment, wire.Move] | None = None
        self._said_ready = False
        self._said_move = False

    @property
    def name(self) -> str:
        """The bot's name on the wire."""
        return self._hello.name

    @property
    def view(self) -> GameView | None:
        """The game at hand as the last line left it, or None before the first."""
        return self._view

    @property
    def settling(self) -> bool:
        """Whether the bot is yet to be told, or is just being told, how a game ended."""
        return bool(self._ended) if self._job is None else self._job.kind == "game_over"

    def opened(self) -> None:
        """Begin a new connection; the server speaks first."""
        self._session = ClientSession()
        self._lines = LineReader(SERVER_LINE_LIMIT)
        self._out.clear()
        self.welcomed = False
        self.refusal = None
        self.retry_after = 0

    def lost(self) -> None:
        """Note the end of the connection: nothing is sent, and no new move thought of, before `opened`."""
        self._session = None
        # A game that goes on is told anew after the next WELCOME; one that ended is not.
        self._view = None
        self._out.clear()

    def why(self, lost: str) -> str:
        """Why the connection ended that was `lost` so; what the server itself said goes before that."""
        assert self._session is not None, "ask before lost()"
        silent = self._session.state is State.OPENED
        return self.refusal or (f"{lost}; {SILENT}" if silent else lost)

    def quit(self) -> None:
        """Say QUIT if there is anybody who would understand it."""
        if self._session is not None and self._session.state in LOGGED_IN:
            self._send(wire.Quit())

    def data_to_send(self) -> bytes:
        """Take the bytes that are to be sent now."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def receive_data(self, data: bytes) -> None:
        """Act on bytes of the server. Raises ClientError when the visit is over for good."""
        for line in self._lines.feed(data):
            if self.farewell is not None:
                return
            if isinstance(line, Overlong):
                raise ClientError(
                    f"the server sent a line of more than {SERVER_LINE_LIMIT} bytes: {shown(line.head)}"
                )
            self._receive(line)
        self._answer_game()

    def next_job(self) -> Job | None:
        """Return what the bot is to be asked now, or None; `done` must follow before the next one."""
        if self._job is not None:
            return None
        self._job = self._due()
        return self._job

    def done(self, job: Job, value: object) -> None:
        """Take the bot's answer. Raises ClientError for a value that cannot be a move."""
        assert job is self._job, "one job at a time, and each is done once"
        self._job = None
        if job.kind == "new_game":
            self._prepared = job.view.game_id
        elif job.kind == "choose":
            self._answer = moment(job.view), move_of(value)
        self._answer_game()

    def _due(self) -> Job | None:
        """Return the most urgent question to the bot, derived from the state rather than queued."""
        if self._ended:
            ended = self._ended.popleft()
            return Job("game_over", ended, lambda: self.bot.game_over(ended, result_of(ended)))
        view = self._view
        if view is None or view.over is not None or self.farewell is not None:
            return None
        if self._prepared != view.game_id:
            return Job("new_game", view, lambda: self.bot.new_game(view)) if is_dealt(view) else None
        if view.my_turn and not self._answers(view):
            return Job("choose", view, lambda: self.bot.choose(view))
        return None

    def _answers(self, view: GameView) -> bool:
        """Whether the bot has already been asked for its move at this very moment of the game."""
        return self._answer is not None and self._answer[0] == moment(view)

    def _answer_game(self) -> None:
        """Send READY or MOVE if the server waits for it and the bot has given it.

        Called at the end of a chunk rather than of a line, so that a catch-up that comes in one
        piece is read to its end before anything is said.
        """
        view = self._view
        if view is None or view.over is not None or self.farewell is not None:
            return
        awaited = not view.started and view.zombie is None and not self._said_ready
        if awaited and self._prepared == view.game_id and is_dealt(view):
            self._said_ready = True
            self._send(wire.Ready(view.game_id))
        if self._answer is not None and view.my_turn and not self._said_move and self._answers(view):
            self._said_move = True
            self._send(self._answer[1])

    def _send(self, message: wire.ClientMessage) -> None:
        assert self._session is not None, "nothing is sent between two connections"
        try:
            self._out += self._session.send(message)
        except LocalProtocolError as error:
            # A game id, say, that is too long for the line of a client.
            raise ClientError(f"the server said what cannot be answered: {error}") from error

    def _receive(self, line: bytes) -> None:
        """Act on one line."""
        assert self._session is not None, "call opened() first"
        try:
            message = self._session.receive(line)
        except ProtocolError as error:
            hint = "; is it an arena server?" * (self._session.state is State.OPENED)
            raise ClientError(f"the server broke the protocol: {error.text}: {shown(line)}{hint}") from error
        if message is None:
            return
        handler = _HANDLERS.get(type(message))
        if handler is not None:
            handler(self, message)
        if self._view is not None:
            self._view = self._view.after(message)
        if isinstance(message, wire.Over):
            self._end(message.game_id)

    def _end(self, game_id: str) -> None:
        """Queue the news for a bot that knew of the game; a game of the same id would be a new one."""
        if self._prepared == game_id and self._view is not None:
            self._ended.append(self._view)
        self._prepared = self._answer = None

    def _on_arena(self, message: wire.Arena) -> None:
        if message.version != wire.VERSION:
            raise ClientError(
                f"the server speaks version {message.version} of the protocol, this client {wire.VERSION}",
                code=ErrorCode.VERSION,
            )
        self._resuming = self._resume is not None
        if self._resuming:
            self._send(replace(self._hello, token=None, resume=self._resume))
        else:
            self._send(self._hello)

    def _on_welcome(self, message: wire.Welcome) -> None:
        self.welcomed = self._known = True
        self._resume = message.resume

    def _on_game(self, message: wire.Game) -> None:
        self._view = GameView.of(message)
        self._said_ready = self._said_move = False

    def _on_turn(self, message: wire.Turn) -> None:
        self._said_move = False

    def _on_zombie(self, message: wire.Zombie) -> None:
        view = self._view
        if view is not None and message.seat in (None, view.seat):
            logger.warning(
                "%s: %s is a zombie from ply %d on (%s): the server plays in its place until the game ends",
                view.game_id,
                self.name,
                message.ply,
                message.reason,
            )

    def _on_ping(self, message: wire.Ping) -> None:
        self._send(wire.Pong(message.token))

    def _on_bye(self, message: wire.Bye) -> None:
        if message.reason == ByeReason.SLOW:
            self.refusal = f"the server said BYE: {ByeReason.SLOW.meaning}"  # the contest goes on: come back
        else:
            self.farewell = message.reason

    def _on_error(self, message: wire.Error) -> None:
        if self.welcomed:
            logger.warning("%s: the server says ERROR %s: %s", self.name, message.code, message.text)
            return
        if not self._passes(message.code):
            raise ClientError(
                f"the server refuses {self.name}: {message.code}: {message.text}", code=message.code
            )
        self.refusal = f"{message.code}: {message.text}"
        self.retry_after = message.retry_after or 0

    def _passes(self, code: str) -> bool:
        """Whether a refused log-in is worth another try."""
        if self._resuming and code == ErrorCode.TOKEN:
            self._resume = None  # spent or forgotten: log in by name and token instead
            return True
        # Once known, a taken name is our own old connection that the server has yet to miss.
        return code in PASSING or (self._known and code == ErrorCode.NAME_TAKEN)


_HANDLERS: dict[type, Callable[[Player, Any], None]] = {
    wire.Arena: Player._on_arena,
    wire.Welcome: Player._on_welcome,
    wire.Game: Player._on_game,
    wire.Turn: Player._on_turn,
    wire.Zombie: Player._on_zombie,
    wire.Ping: Player._on_ping,
    wire.Bye: Player._on_bye,
    wire.Error: Player._on_error,
}
