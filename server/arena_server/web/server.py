"""The HTTP server of the web thread: uvicorn, with a limit for everything a client can hold.

    connection   at most `cap`; a new one beyond that replaces the one that has owed its request for longest
    head         16 KiB, complete within IDLE_S of the connection or of the last response
    body         as much as the endpoint allows (`security.read_body`)
    request      REQUEST_S from its head to the last byte of the response; streams set their own
    response     a client that takes no byte of it for IDLE_S is disconnected

A slow client therefore costs a few kilobytes for a few seconds and delays no other request.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, cast

import h11
import uvicorn
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from arena_server.host.log_events import WebFault
from arena_server.host.logs import Log

HEAD_BYTES = 16 * 1024
IDLE_S = 5.0
REQUEST_S = 20.0
#: What responses that are under way at the end may still take.
SHUTDOWN_S = 1
#: The key of a request's deadline (an `asyncio.Timeout`) among the extensions of its scope.
DEADLINE = "arena.deadline"
#: And the key of the connection's transport, for streams.
TRANSPORT = "arena.transport"


class _WebState(ServerState):
    """Shared by all connections; `idle` are those without a whole request, the oldest first."""

    def __init__(self, cap: int) -> None:
        super().__init__()
        self.cap = cap
        self.idle: dict[BoundedProtocol, None] = {}


class BoundedProtocol(H11Protocol):
    """One connection, within the limits above."""

    def __init__(self, config: uvicorn.Config, server_state: ServerState, **rest: Any) -> None:
        super().__init__(config, server_state, **rest)
        self._state = cast(_WebState, server_state)
        self._timer: asyncio.TimerHandle | None = None
        self._unsent = 0
        self._deadline: asyncio.Timeout | None = None
        self._input_ended = False
        self._application = cast(ASGIApp, self.app)
        self.app = cast(Any, self._run)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        if len(self.connections) > self._state.cap:
            # If all wait for an answer, within REQUEST_S, or stream: this one has to come again.
            next(iter(self._state.idle), self).transport.abort()
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._state.idle.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # h11 looks at the length of a head only while it is incomplete, and asyncio reads 256 KiB at once.
        for start in range(0, len(data), HEAD_BYTES):
            if not self.transport.is_closing():
                super().data_received(data[start : start + HEAD_BYTES])

    def handle_events(self) -> None:
        super().handle_events()
        if self._is_under_way:
            self._state.idle.pop(self, None)

    @property
    def _is_under_way(self) -> bool:
        """Whether a request has come whole that has not been answered."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; of the answer to a request whose body it is, no more is sent."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        elif self.conn.our_state is h11.SEND_BODY:
            self.transport.abort()  # in the middle of an answer no other one can begin
        else:
            self.transport.close()  # the answer is written, and sent first

    def eof_received(self) -> bool:  # type: ignore[override]  # as of asyncio.Protocol
        """Whether the connection stays: the client has ended its input, and gets the answer to its request.

        A stream has no end, so its client has to keep the connection open; half a request gets no answer.
        """
        streams = self._deadline is not None and self._deadline.when() is None
        self._input_ended = self._is_under_way and not streams
        return self._input_ended

    def on_response_complete(self) -> None:
        if self._input_ended:
            self.transport.close()  # what is written is sent first
            return
        self._stop_waiting()
        self._wait_for_request()
        super().on_response_complete()

    def end_stream(self) -> None:
        """Disconnect the client of a stream, which has no deadline and would not end by itself."""
        if self._deadline is not None and self._deadline.when() is None:
            self.transport.close()

    def _wait_for_request(self) -> None:
        self._state.idle[self] = None
        self._timer = self.loop.call_later(IDLE_S, self._check_idle)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check_idle(self) -> None:
        """Disconnect, unless the client has read some of the last response meanwhile."""
        unsent = self.transport.get_write_buffer_size()
        if unsent and unsent != self._unsent:
            self._unsent = unsent
            self._timer = self.loop.call_later(IDLE_S, self._check_idle)
        else:
            self.transport.abort()

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._stop_waiting()
        try:
            async with asyncio.timeout(REQUEST_S) as deadline:
                self._deadline = deadline
                scope["extensions"] = {DEADLINE: deadline, TRANSPORT: self.transport}
                await self._application(scope, receive, send)
        except (TimeoutError, ClientDisconnect) as error:
            # A client that goes before its body has come whole is no fault of the server.
            if isinstance(error, TimeoutError) and not deadline.expired():
                raise
            self.transport.abort()
            if self.cycle is not None:
                self.cycle.disconnected = True


class BoundedServer(uvicorn.Server):
    """Serves one application on a listening socket until `stop` is set."""

    def __init__(self, app: ASGIApp, cap: int) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="asyncio",
                http=BoundedProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                headers=[("Server", "insertion-arena")],
                h11_max_incomplete_event_size=HEAD_BYTES,
                timeout_graceful_shutdown=SHUTDOWN_S,
            )
        )
        self.server_state = _WebState(cap)
        self.stop = asyncio.Event()

    async def main_loop(self) -> None:
        """Wait for `stop`; uvicorn's own loop wakes ten times a second to look for signals."""
        self.server_state.default_headers = self.config.encoded_headers
        await self.stop.wait()
        for listener in self.servers:
            for sock in listener.sockets:
                asyncio.get_running_loop().remove_reader(sock.fileno())
        for connection in list(self.server_state.connections):
            cast(BoundedProtocol, connection).end_stream()
        # What was accepted a moment ago gets its transport; asyncio would lose it after `close`.
        await asyncio.sleep(0)


class LogHandler(logging.Handler):
    """Passes errors of the web libraries to the server's log; the contest goes on."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.ERROR)
        self._log = log
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        for line in self.format(record).splitlines():
            self._log.write(WebFault(line))


async def serve(server: BoundedServer, sock: socket.socket, log: Log) -> None:
    """Serve on the listening socket `sock` until `server.stop` is set, then free the port."""
    handler = LogHandler(log)
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
    await server.serve([sock])
    for connection in list(server.server_state.connections):
        connection.transport.abort()  # responses that their clients do not read
    await asyncio.sleep(0)  # the loop closes what was aborted
