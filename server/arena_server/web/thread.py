"""The web server's thread. This module is light: it is imported before the referee listens."""

from __future__ import annotations

import asyncio
import socket
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from arena_server.core.config import ContestPlan
from arena_server.logs import Log
from arena_server.server import Service
from arena_server.web.bridge import LoopBridge, ServerView

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from arena_server.web.server import BoundedServer

#: Connections of the organiser's port: a scraper, a probe and a few commands need fewer than ten.
ORGANISER_CONNECTIONS = 64


@contextmanager
def organiser_port(
    sock: socket.socket, token: str, names: Sequence[str], service: Service, plan: ContestPlan, log: Log
) -> Iterator[None]:
    """Serve the organiser's API on the listening `sock` while `service` runs.

    `names` are the host names by which it is reached, beside addresses and localhost. Enter it
    on the service's loop, before the service runs.
    """
    bridge = LoopBridge(asyncio.get_running_loop())
    view = ServerView(service, plan)
    service.observe(bridge)

    def make() -> ASGIApp:
        from arena_server.web.app import organiser_app

        return organiser_app(bridge, view, token, names)

    thread = WebThread(sock, make, ORGANISER_CONNECTIONS, log)
    thread.start()
    try:
        yield
    finally:
        thread.close()


class WebThread:
    """Serves the application that `make` returns on the listening `sock`, on a thread of its own.

    `make` runs on the thread, so that what it imports (starlette and uvicorn: 0.1 s) delays
    nothing. Call `start`, and `close` at the end. A failure is logged; the contest goes on.
    """

    def __init__(self, sock: socket.socket, make: Callable[[], ASGIApp], cap: int, log: Log) -> None:
        self._sock = sock
        self._make = make
        self._cap = cap
        self._log = log
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: BoundedServer | None = None
        self._closing = False
        self._lock = threading.Lock()
        # A daemon: a process that ends without `close` has crashed, and must not hang as well.
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    def start(self) -> None:
        """Begin to serve; returns at once."""
        self._thread.start()

    def close(self) -> None:
        """Stop serving and free the port; requests under way get a second to end."""
        with self._lock:
            self._closing = True
            if self._loop is not None and self._server is not None:
                with suppress(RuntimeError):  # the loop has ended by itself
                    self._loop.call_soon_threadsafe(self._server.stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:  # the thread's boundary: the log is the only place to report it
            for line in traceback.format_exception(error):
                for part in line.rstrip().splitlines():
                    self._log.note("error", "web-fault", {"trace": part})
        finally:
            self._sock.close()

    async def _serve(self) -> None:
        from arena_server.web.server import BoundedServer, serve

        server = BoundedServer(self._make(), self._cap)
        with self._lock:
            self._loop, self._server = asyncio.get_running_loop(), server
            if self._closing:
                return
        await serve(server, self._sock, self._log)
