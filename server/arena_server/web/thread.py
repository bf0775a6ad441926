"""The web server's threads. This module is light: it is imported before the referee listens.

The site and the organiser's port have a thread each, with an event loop of its own. A thread sleeps
until the first connection comes, and only then imports starlette and uvicorn (0.1 s, 15 MB): a
contest that no browser looks at pays nothing.
"""

from __future__ import annotations

import asyncio
import select
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from arena_server.host.log_events import PageError, WebFault
from arena_server.host.logs import Log
from arena_server.host.loop_link import LoopLink
from arena_server.web.bridge import LoopBridge
from arena_server.web.host_view import HostView, ServedHost
from arena_server.web.ports import ORGANISER_CONNECTIONS, WebPorts

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from arena_server.web.server import BoundedServer


@contextmanager
def serve_web(ports: WebPorts, referee: ServedHost, log: Log) -> Iterator[None]:
    """Serve the ports while the referee runs. Enter it on the referee's loop, before it runs."""
    bridge = LoopBridge(asyncio.get_running_loop())
    view = HostView(referee.host, bridge, referee.configs, referee.submissions)

    def make_organiser() -> ASGIApp:
        from arena_server.web.app import adder_of, organiser_app

        assert ports.token is not None
        adder = adder_of(referee, bridge)
        return organiser_app(bridge, view, ports.token, ports.names, ports.address, adder, ports.roles)

    def make_site() -> ASGIApp:
        from arena_server.web.app import site_app

        token = ports.token if ports.organiser is None else None
        return site_app(referee, bridge, view, token, ports, lambda error: log.write(PageError(error)))

    with ExitStack() as stack:
        if ports.organiser is not None:
            stack.enter_context(WebThread(ports.organiser, make_organiser, ORGANISER_CONNECTIONS, log))
        if ports.site is not None:
            stack.enter_context(WebThread(ports.site, make_site, ports.connections, log))
        stack.callback(LoopLink(bridge.loop).post, bridge.end)
        yield


class WebThread:
    """Serves the application that `make` returns on the listening `sock`, inside a `with` statement.

    `make` runs on the thread when the first connection comes. At the end requests under way get a
    second to end. A failure is logged; the contest goes on.
    """

    def __init__(
        self,
        sock: socket.socket,
        make: Callable[[], ASGIApp],
        cap: int,
        log: Log,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        """`failed` is called on the thread after a failure."""
        self._failed = failed
        self._sock = sock
        self._make = make
        self._cap = cap
        self._log = log
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: BoundedServer | None = None
        self._closing = False
        self._lock = threading.Lock()
        self._wake, self._waker = socket.socketpair()
        # A daemon: a process that ends without `close` has crashed, and must not hang as well.
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    def __enter__(self) -> WebThread:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closing = True
            self._waker.send(b"\0")
            if self._loop is not None and self._server is not None:
                LoopLink(self._loop).post(self._server.stop.set)
        self._thread.join()
        self._wake.close()
        self._waker.close()

    def _run(self) -> None:
        try:
            select.select([self._sock, self._wake], [], [])
            if not self._closing:
                asyncio.run(self._serve())
        except Exception as error:  # the thread's boundary: the log is the only place to report it
            for line in traceback.format_exception(error):
                for part in line.rstrip().splitlines():
                    self._log.write(WebFault(part))
            self._failed()
        finally:
            self._sock.close()

    async def _serve(self) -> None:
        from arena_server.web.server import BoundedServer, serve

        try:
            app = self._make()
        except Exception:
            if self._closing:  # what it is made of ends meanwhile: sockets, database
                return
            raise
        server = BoundedServer(app, self._cap)
        with self._lock:
            self._loop, self._server = asyncio.get_running_loop(), server
            if self._closing:
                return
        await serve(server, self._sock, self._log)
