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
from arena_client.retry import RetryState
from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, LocalProtocolError
from arena_protocol.link import Link, Trace
from arena_protocol.record import describe_fault
from arena_protocol.view import GameView, Result

AGENT = "arena-client"

logger = logging.getLogger("arena_client")

#: Notes that wait to be sent; of more the oldest are dropped. The server keeps as many a ply.
MAX_NOTES = 32

#: The bytes of a STORE; twice as many digits fit into a line.
PART = 400

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
        hello = wire.Hello(
            wire.VERSION, name, tuple(bot.games), token, agent=agent, slot=slot, contest=contest
        )
        if bot.kept is not None:
            hello = replace(hello, storage=1)
        #: The log-in, over all connections.
        self.link = Link(hello, trace=trace)
        #: Called, by the thread of the bot, when a note waits in `data_to_send`.
        self.on_note: Callable[[], object] | None = None
        self._notes: deque[wire.Info] = deque(maxlen=MAX_NOTES)
        self._view: GameView | None = None
        self._job: Job | None = None
        self._ended: deque[tuple[GameView, Result]] = deque()
        self._prepared: str | None = None
        self._answer: tuple[Moment, wire.Move] | None = None
        self._ready_sent = False
        self._move_sent = False
        #: How much the server keeps for the bot; and what it has got, None before the first WELCOME.
        self._quota = 0
        self._stored: bytes | None = None

    @property
    def name(self) -> str:
        return self.link.name

    @property
    def bye_reason(self) -> str | None:
        """The reason of BYE, or None before it."""
        return self.link.bye

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
        self.link.opened()

    def connection_lost(self) -> None:
        """End the connection: until the next one nothing is sent and no move is asked for."""
        self.link.closed()
        # A running game is sent again after the next WELCOME; a finished one is not.
        self._view = None
        if self.link.leaving and self.link.bye is None:
            self.link.bye = ByeReason.QUIT

    def end_reason(self, text: str) -> str:
        """Return why the connection ends, for a connection error `text`: the server's words go first.

        Call it before `connection_lost`.
        """
        return self.link.refusal or (text if self.link.is_greeted else f"{text}; {SILENT}")

    def wait_after(self, retry: RetryState, server: str, reason: str, lasted: float) -> float:
        """Return the seconds until the next connection, after one of this many that ended for `reason`.

        Raises ClientError if there is to be none.
        """
        link = self.link
        taken = link.welcomed or link.awaits_next
        wait = retry.after(reason, welcomed=taken, at_least=link.retry_after_s, lasted=lasted)
        if link.awaits_next:  # as the server wants it, for as long as another contest lasts
            logger.info("%s: %s, next log-in in %.1f s", self.name, reason, wait)
        else:
            logger.warning(
                "%s: no connection to %s (%s), next try in %.1f s", self.name, server, reason, wait
            )
        return wait

    def quit(self) -> None:
        """Leave the contest: send QUIT if logged in. BYE or the end of the connection completes it."""
        self.link.quit()
        if not self.link.is_logged_in:
            self.link.bye = ByeReason.QUIT

    def data_to_send(self) -> bytes:
        """Return the bytes to send now, and forget them."""
        self._send_notes()
        return self.link.data_to_send()

    def receive_data(self, data: bytes) -> None:
        """Act on bytes of the server. Raises ClientError if the client cannot go on."""
        for _, message in self.link.receive(data):
            if message is not None:
                self._receive(message)
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
        self._store(None if job.kind == "game_over" else job.view.game_id)
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
        if view is None or view.over is not None or self._is_leaving:
            return None
        if self._prepared != view.game_id:
            return Job("new_game", view, lambda: self.bot.new_game(view)) if view.is_dealt else None
        if view.my_turn and not self._is_answered(view):
            return Job("choose", view, lambda: self.bot.choose(view))
        return None

    @property
    def _is_leaving(self) -> bool:
        return self.link.leaving or self.link.bye is not None

    def _is_answered(self, view: GameView) -> bool:
        return self._answer is not None and self._answer[0] == moment(view)

    def _send_answers(self) -> None:
        """Send READY or MOVE if the server waits for it and the bot has given it.

        Called at the end of a chunk, not of a line, so that the lines of a resumed game in one
        chunk are all read before anything is sent.
        """
        view = self._view
        if view is None or view.over is not None or self._is_leaving:
            return
        ready_due = not view.started and view.zombie is None and not self._ready_sent
        if ready_due and self._prepared == view.game_id and view.is_dealt:
            self._ready_sent = True
            self.link.send(wire.Ready(view.game_id))
        if self._answer is not None and view.my_turn and not self._move_sent and self._is_answered(view):
            self._move_sent = True
            self._send_notes()  # before its MOVE
            self.link.send(self._answer[1])

    def _store(self, game: str | None) -> None:
        """Send what the bot has set, to be kept with the result of `game`; None: at once."""
        kept = self.bot.kept
        if kept is None or not self._quota or kept == self._stored or not self.link.is_logged_in:
            return
        if len(kept) > self._quota:
            raise ClientError(f"the bot keeps {len(kept)} bytes, and the server {self._quota} at most")
        for at in range(0, max(1, len(kept)), PART):
            self.link.send(wire.Keep(len(kept), kept[at : at + PART], at or None, game))
        self._stored = kept

    def _welcomed(self, message: wire.Welcome) -> None:
        """Take what the server has kept; on a later connection the bot has what is newer."""
        first, self._stored = self._stored is None, message.stored
        self._quota = message.storage or 0
        if first and self.bot.kept is not None and message.stored is not None:
            self.bot.kept = message.stored

    def _take_note(self, note: wire.Info) -> None:
        self._notes.append(note)
        if self.on_note is not None:
            self.on_note()

    def _send_notes(self) -> None:
        """Send the notes about the game that is played; drop all others."""
        view = self._view
        playing = view is not None and view.started and view.over is None and view.zombie is None
        playing = playing and not self._is_leaving
        while self._notes:
            note = self._notes.popleft()
            if playing and view is not None and view.game_id == note.game:
                self.link.send(note)

    def _receive(self, message: wire.ServerMessage) -> None:
        self._handle(message)
        if self._view is not None:
            self._view = self._view.after(message)
        if isinstance(message, wire.Over):
            self._end_game(message.game_id)

    def _handle(self, message: wire.ServerMessage) -> None:
        """Act on a message, apart from its effect on the view."""
        match message:
            case wire.Welcome():
                self._welcomed(message)
            case wire.Game():
                self._view = GameView.of(message, self._take_note)
                self._ready_sent = self._move_sent = False
            case wire.Turn():
                self._move_sent = False
            case wire.Zombie():
                self._warn_zombie(message)
            case wire.Error(code, text) if self.link.welcomed:
                logger.warning("%s: the server sent ERROR %s: %s", self.name, code, text)

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
