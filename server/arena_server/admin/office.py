"""The admin port's life on a thread of its own; light enough to be loaded by the loop's.

It must not know: what is behind the port (`pages`), how HTTP is spoken (`door`).
"""

from __future__ import annotations

import asyncio
import socket
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from arena_server.admin.desk import Desk
from arena_server.admin.view import ServerView
from arena_server.core.config import ContestPlan
from arena_server.logs import Log
from arena_server.server import ServerObserver, Service


@contextmanager
def open_office(
    sock: socket.socket, token: str, service: Service, plan: ContestPlan, log: Log
) -> Iterator[None]:
    """Answer on the listening `sock` while `service` runs; to be entered on its loop, before it runs."""
    desk = Desk(asyncio.get_running_loop())
    view = ServerView(service, plan)
    service.observe(_Replies(desk))
    office = Office(sock, token, desk, view, log)
    office.open()
    try:
        yield
    finally:
        office.close()


class Office:
    """Answers on the listening socket `sock`; `open`, and `close` at the end, which waits for nobody."""

    def __init__(self, sock: socket.socket, token: str, desk: Desk, view: ServerView, log: Log) -> None:
        self._sock = sock
        self._token = token
        self._desk = desk
        self._view = view
        self._log = log
        self._bell, self._rope = socket.socketpair()
        # A daemon: whoever ends without `close` has crashed, and must not hang on top of that.
        self._thread = threading.Thread(target=self._run, name="admin", daemon=True)

    def open(self) -> None:
        """Begin to answer, once all is loaded that is needed for it; returns at once."""
        self._thread.start()

    def close(self) -> None:
        """Answer no more, and free the port."""
        self._rope.send(b"\0")
        self._thread.join()
        self._rope.close()
        self._bell.close()

    def _run(self) -> None:
        try:
            self._serve()
        except Exception as error:  # the thread's boundary: nobody else would hear of it
            self._failed(error)

    def _serve(self) -> None:
        # Imported here, on the thread: 170 ms that the referee need not wait for.
        from arena_server.admin.door import Door
        from arena_server.admin.pages import Desktop

        Door(self._sock, Desktop(self._desk, self._view).pages(), self._token, self._bell, self._failed).run()

    def _failed(self, error: BaseException) -> None:
        """Log a fault of our own; the contest goes on, for it does not depend on any page."""
        for line in traceback.format_exception(error):
            for part in line.rstrip().splitlines():
                self._log.note("error", "admin-fault", {"trace": part})


class _Replies(ServerObserver):
    """Passes the answers to commands on to the desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def replied(self, number: int, problem: str | None) -> None:
        self._desk.reply(number, problem)
