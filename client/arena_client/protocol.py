"""The client's side of a contest without I/O: bytes in; bytes to send and jobs for the bot out.

A shell calls, in this order: `connection_made`, then for every chunk `receive_data`, `next_job`
and `complete`, `data_to_send`; at the end of a connection `connection_lost`; then
`connection_made` for the next one, until `bye_reason` is set.

Error contract: any bytes of a server lead to lines, jobs or ClientError, nothing else.
"""

from __future__ import annotations

import logging
import operator
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, SupportsIndex

from arena_client.bot import AnyBot
from arena_client.errors import SILENT, ClientError
from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.record import describe_fault
from arena_protocol.session import LOGGED_IN, ClientSession, State
from arena_protocol.view import GameView, Result

AGENT = "arena-client"

logger = logging.getLogger("arena_client")

#: ERRORs before WELCOME after which another try may succeed.
TEMPORARY = frozenset({ErrorCode.FULL, ErrorCode.RATE})

#: Called with `<` (received) or `>` (sent) and a line without its line end.
Trace = Callable[[str, bytes], None]

#: Notes that wait to be sent; of more the oldest are dropped. The server keeps as many a ply.
MAX_NOTES = 32

#: A point in a game: its id, its start and the moves played.
Moment = tuple[str, str, tuple[str, ...]]


def moment(view: GameView) -> Moment:
    return view.game_id, view.state, view.moves


def move_message(value: object) -> wire.Move:
    """Return MOVE for a bot's answer: a str or any integer type. Raises ClientError."""
    text = value
    # A bool is an int to Python: `return found` for `return move` would play 0 or 1.
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        text = str(operator.index(value))
    if not isinstance(text, str):
        raise ClientError(f"the bot's move must be an int or a str, not {value!r}")
    move = wire.Move(text)
    try:
        wire.encode(move)
    except LocalProtocolError as error:
        raise ClientError(f"the bot's move {value!r} cannot be sent: {error}") from error
    return move


def quote_line(line: bytes) -> str:
    """Return the beginning of a line of the server for an error text."""
    return repr(line[:80])[1:]


@dataclass(frozen=True, slots=True)
class Job:
    """One call of the bot: run `call` and pass its value, awaited for an AsyncBot, to `complete`."""

    kind: Literal["new_game", "choose", "game_over"]
    view: GameView
    call: Callable[[], object]


class ClientProtocol:
    """One bot in one contest, over any number of connections.

    It sends the bot's answers as READY and MOVE, answers PING at once and keeps the resume key.
    The bot is asked once per moment of a game: an answer that may have been lost with a connection is
    sent again on the next one. At most one job is out at a time. `trace` receives every line.
    Raises ClientError if HELLO cannot carry name, token or games.
    """

    def __init__(
        self,
        bot: AnyBot,
        name: str,
        *,
        token: str | None = None,
        slot: int | None = None,
        contest: str | None = None,
        agent: str = AGENT,
        trace: Trace | None = None,
    ) -> None:
        self.bot = bot
        #: The reason of BYE, or None before it.
        self.bye_reason: str | None = None
        #: Whether this connection is logged in.
        self.welcomed = False
        #: Why the server refused this connection for now, and the wait that it asked for.
        self.refusal: str | None = None
        self.retry_after_s = 0.0
        self._hello = wire.Hello(
            wire.VERSION, name, tuple(bot.games), token, agent=agent, slot=slot, contest=contest
        )
        try:
            wire.encode(self._hello)
        except LocalProtocolError as error:
            raise ClientError(f"this log-in cannot be sent: {error}") from error
        #: Called, by the thread of the bot, when a note waits in `data_to_send`.
        self.on_note: Callable[[], object] | None = None
        self._notes: deque[wire.Info] = deque(maxlen=MAX_NOTES)
        self._trace = trace
        self._resume: str | None = None
        self._resuming = False
        self._known = False
        self._leaving = False
        self._session: ClientSession | None = None
        self._lines = LineReader(SERVER_LINE_LIMIT)
        self._out = bytearray()
        self._view: GameView | None = None
        self._job: Job | None = None
        self._ended: deque[tuple[GameView, Result]] = deque()
        self._prepared: str | None = None
        self._answer: tuple[Moment, wire.Move] | None = None
        self._ready_sent = False
        self._move_sent = False

    @property
    def name(self) -> str:
        return self._hello.name

    @property
    def view(self) -> GameView | None:
        """The current game after the last line, or None."""
        return self._view

    @property
    def results_pending(self) -> bool:
        """Whether a `game_over` of the bot is still to be called or to return."""
        return bool(self._ended) if self._job is None else self._job.kind == "game_over"

    def connection_made(self) -> None:
        """Begin a new connection; the server sends the first line."""
        self._session = ClientSession()
        self._lines = LineReader(SERVER_LINE_LIMIT)
        self._out.clear()
        self.welcomed = False
        self.refusal = None
        self.retry_after_s = 0.0

    def connection_lost(self) -> None:
        """End the connection: until the next one nothing is sent and no move is asked for."""
        self._session = None
        # A running game is sent again after the next WELCOME; a finished one is not.
        self._view = None
        self._out.clear()
        if self._leaving and self.bye_reason is None:
            self.bye_reason = ByeReason.QUIT

    def end_reason(self, text: str) -> str:
        """Return why the connection ended, for a connection error `text`: the server's words go first."""
        assert self._session is not None, "call it before connection_lost()"
        silent = self._session.state is State.OPENED
        return self.refusal or (f"{text}; {SILENT}" if silent else text)

    def quit(self) -> None:
        """Leave the contest: send QUIT if logged in. BYE or the end of the connection completes it."""
        self._leaving = True
        if self._session is not None and self._session.state in LOGGED_IN:
            self._send(wire.Quit())
        else:
            self.bye_reason = ByeReason.QUIT

    def data_to_send(self) -> bytes:
        """Return the bytes to send now, and forget them."""
        self._send_notes()
        data = bytes(self._out)
        self._out.clear()
        return data

    def receive_data(self, data: bytes) -> None:
        """Act on bytes of the server. Raises ClientError if the client cannot go on."""
        for line in self._lines.feed(data):
            if self.bye_reason is not None:
                return
            if isinstance(line, Overlong):
                raise ClientError(
                    f"the server sent a line of more than {SERVER_LINE_LIMIT} bytes: {quote_line(line.head)}"
                )
            if self._trace is not None:
                self._trace("<", line)
            self._receive(line)
        self._send_answers()

    def next_job(self) -> Job | None:
        """Return the next call of the bot, or None; `complete` comes before the next one."""
        if self._job is not None:
            return None
        self._job = self._due()
        return self._job

    def complete(self, job: Job, value: object) -> None:
        """Take the value of a job. Raises ClientError for a value that is not a move."""
        assert job is self._job, "one job at a time, and each is completed once"
        self._job = None
        if job.kind == "new_game":
            self._prepared = job.view.game_id
        elif job.kind == "choose":
            self._answer = moment(job.view), move_message(value)
        self._send_answers()

    def _due(self) -> Job | None:
        """Return the most urgent job, derived from the state instead of queued."""
        if self._ended:
            ended, result = self._ended.popleft()
            return Job("game_over", ended, lambda: self.bot.game_over(ended, result))
        view = self._view
        if view is None or view.over is not None or self._leaving or self.bye_reason is not None:
            return None
        if self._prepared != view.game_id:
            return Job("new_game", view, lambda: self.bot.new_game(view)) if view.is_dealt else None
        if view.my_turn and not self._is_answered(view):
            return Job("choose", view, lambda: self.bot.choose(view))
        return None

    def _is_answered(self, view: GameView) -> bool:
        return self._answer is not None and self._answer[0] == moment(view)

    def _send_answers(self) -> None:
        """Send READY or MOVE if the server waits for it and the bot has given it.

        Called at the end of a chunk, not of a line, so that the lines of a resumed game in one
        chunk are all read before anything is sent.
        """
        view = self._view
        if view is None or view.over is not None or self._leaving or self.bye_reason is not None:
            return
        ready_due = not view.started and view.zombie is None and not self._ready_sent
        if ready_due and self._prepared == view.game_id and view.is_dealt:
            self._ready_sent = True
            self._send(wire.Ready(view.game_id))
        if self._answer is not None and view.my_turn and not self._move_sent and self._is_answered(view):
            self._move_sent = True
            self._send_notes()  # before its MOVE
            self._send(self._answer[1])

    def _take_note(self, note: wire.Info) -> None:
        self._notes.append(note)
        if self.on_note is not None:
            self.on_note()

    def _send_notes(self) -> None:
        """Send the notes about the game that is played; drop all others."""
        view = self._view
        playing = view is not None and view.started and view.over is None and view.zombie is None
        playing = playing and not self._leaving and self.bye_reason is None
        while self._notes:
            note = self._notes.popleft()
            if playing and view is not None and view.game_id == note.game:
                self._send(note)

    def _send(self, message: wire.ClientMessage) -> None:
        assert self._session is not None, "nothing is sent between two connections"
        try:
            line = self._session.send(message)
        except LocalProtocolError as error:
            # For example a game id that is too long for the line of a client.
            raise ClientError(f"no answer to the server is possible: {error}") from error
        if self._trace is not None:
            self._trace(">", line[:-1])
        self._out += line

    def _receive(self, line: bytes) -> None:
        assert self._session is not None, "call connection_made() first"
        try:
            message = self._session.receive(line)
        except ProtocolError as error:
            hint = "; is it an arena server?" if self._session.state is State.OPENED else ""
            raise ClientError(
                f"the server broke the protocol: {error.text}: {quote_line(line)}{hint}"
            ) from error
        if message is None:
            return
        self._handle(message)
        if self._view is not None:
            self._view = self._view.after(message)
        if isinstance(message, wire.Over):
            self._end_game(message.game_id)

    def _handle(self, message: wire.ServerMessage) -> None:
        """Act on a message, apart from its effect on the view."""
        match message:
            case wire.Arena(version):
                self._log_in(version)
            case wire.Welcome(resume=resume):
                self.welcomed = self._known = True
                self._resume = resume
            case wire.Game():
                self._view = GameView.of(message, self._take_note)
                self._ready_sent = self._move_sent = False
            case wire.Turn():
                self._move_sent = False
            case wire.Zombie():
                self._warn_zombie(message)
            case wire.Ping(token):
                self._send(wire.Pong(token))
            case wire.Bye(ByeReason.SLOW):
                # The contest goes on without this connection: come back.
                self.refusal = f"the server sent BYE: {ByeReason.SLOW.meaning}"
            case wire.Bye(reason):
                self.bye_reason = reason
            case wire.Error():
                self._handle_error(message)

    def _log_in(self, version: int) -> None:
        if version != wire.VERSION:
            raise ClientError(
                f"the server has version {version} of the protocol, this client {wire.VERSION}",
                code=ErrorCode.VERSION,
            )
        self._resuming = self._resume is not None
        if self._resuming:
            self._send(replace(self._hello, token=None, resume=self._resume))
        else:
            self._send(self._hello)

    def _end_game(self, game_id: str) -> None:
        """Queue the result if the bot knows of the game. A later game with the same id is a new one."""
        if self._prepared == game_id and self._view is not None:
            result = self._view.result
            assert result is not None, "the view has OVER"
            self._ended.append((self._view, result))
        self._prepared = self._answer = None

    def _warn_zombie(self, message: wire.Zombie) -> None:
        view = self._view
        if view is not None and message.seat in (None, view.seat):
            # The server quotes the line only to spectators; an illegal move was the last answer.
            sent = self._answer is not None and self._move_sent
            line = wire.encode(self._answer[1]).rstrip() if sent and self._answer is not None else b""
            fault = describe_fault(self.name, message.reason, message.ply, line, zombie_move=view.zombie_move)
            logger.warning("%s: %s", view.game_id, fault)

    def _handle_error(self, message: wire.Error) -> None:
        if self.welcomed:
            logger.warning("%s: the server sent ERROR %s: %s", self.name, message.code, message.text)
            return
        if not self._may_retry(message.code):
            raise ClientError(
                f"the server refuses {self.name}: {message.code}: {message.text}", code=message.code
            )
        self.refusal = f"{message.code}: {message.text}"
        self.retry_after_s = (message.retry_after or 0) / 1000

    def _may_retry(self, code: str) -> bool:
        """Whether another try may succeed after a refused log-in."""
        if self._resuming and code == ErrorCode.TOKEN:
            self._resume = None  # used or expired: log in by name and token
            return True
        # After a log-in, a taken name is our own old connection, which the server has not closed yet.
        return code in TEMPORARY or (self._known and code == ErrorCode.NAME_TAKEN)
