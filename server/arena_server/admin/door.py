"""The admin port: a small HTTP server, for a thread of its own.

The standard library's, which prometheus-client has loaded anyhow. It may be slow and its
clients may be slower: nobody waits for it. It must not know: contests, metrics, orders; only
which path leads to which call.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Final

#: Requests answered at once; whoever comes beyond that is closed.
MOST_REQUESTS: Final = 16
#: What a client may take over each read and write.
PATIENCE_S: Final = 5.0
#: The longest body of a request: an order is far shorter.
LONGEST_BODY: Final = 4096

TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client gets; `kind` is the content type."""

    status: int
    body: bytes
    kind: str = TEXT

    @classmethod
    def text(cls, status: int, line: str) -> Answer:
        """One line of text."""
        return cls(status, f"{line}\n".encode())

    @classmethod
    def json(cls, status: int, value: object) -> Answer:
        """One JSON document."""
        return cls(status, json.dumps(value).encode(), JSON)


@dataclass(frozen=True, slots=True)
class Page:
    """What is at a path: `call` gets the body of the request. A `guarded` one asks for the token."""

    call: Callable[[bytes], Answer]
    guarded: bool = False


#: Pages by method and path.
Pages = Mapping[tuple[str, str], Page]


class Door(ThreadingTCPServer):
    """Serves `pages` on a listening socket, by `run`, until somebody writes to the other end of `bell`.

    `failed` is told of a page that raised: its client gets no answer.
    """

    daemon_threads = True

    def __init__(
        self,
        sock: socket.socket,
        pages: Pages,
        token: str,
        bell: socket.socket,
        failed: Callable[[BaseException], None],
    ) -> None:
        super().__init__(("", 0), _handler(pages, token.encode("ascii")), bind_and_activate=False)
        self.socket.close()
        self.socket = sock
        self._bell = bell
        self._failed = failed
        self._room = threading.BoundedSemaphore(MOST_REQUESTS)

    def run(self) -> None:
        """Answer until the bell rings, then free the port; `serve_forever` would look twice a second."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.socket, selectors.EVENT_READ)
            selector.register(self._bell, selectors.EVENT_READ)
            while all(key.fileobj is not self._bell for key, _ in selector.select()):
                self._accept()
        self.socket.close()  # requests at hand end by themselves

    def _accept(self) -> None:
        try:
            request, address = self.get_request()
        except OSError:
            return  # that client gave up, or no descriptor is left
        request.setblocking(True)
        if self._room.acquire(blocking=False):
            self.process_request(request, address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one request, on a thread of its own."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tell of a fault of ours; a client that broke off is nobody's concern."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self._failed(error)


def _handler(pages: Pages, token: bytes) -> type[BaseHTTPRequestHandler]:
    """The class that the standard library wants, bound to what it shall serve."""

    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE_S
        server_version, sys_version = "insertion-arena", ""

        def do_GET(self) -> None:
            self._reply(self._answer("GET"))

        def do_POST(self) -> None:
            self._reply(self._answer("POST"))

        def _answer(self, method: str) -> Answer:
            page = pages.get((method, self.path.partition("?")[0]))
            if page is None:
                known = ", ".join(f"{verb} {path}" for verb, path in pages)
                return Answer.text(404, f"nothing is here; there is {known}")
            if page.guarded and not self._holds_token():
                return Answer.json(401, {"error": "a wrong token, or none"})
            length = self.headers.get("Content-Length", "0")
            if not (length.isascii() and length.isdigit() and int(length[:9]) <= LONGEST_BODY):
                return Answer.text(413, f"a request may have {LONGEST_BODY} bytes at most")
            return page.call(self.rfile.read(int(length)))

        def _holds_token(self) -> bool:
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            return compare_digest(given.encode("latin-1", "replace"), token)

        def _reply(self, answer: Answer) -> None:
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Say nothing: orders are noted by the contest, and scrapes by nobody."""

    return Handler
