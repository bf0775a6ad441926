"""A receiver of webhooks on 127.0.0.1 with scripted answers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE_S = 150.0
SECRET = "a secret of the receiver"


@dataclass
class Receiver:
    """Answers with `script`, then always with the last of it: a status, `slow`, `close`, or plain bytes."""

    script: list[int | str | bytes]
    messages: list[dict[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    asked: int = 0
    url: str = ""
    released: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def next(self) -> int | str | bytes:
        self.asked += 1
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def take(self, identity: str, body: bytes) -> None:
        with self.changed:
            self.ids.append(identity)
            self.messages.append(json.loads(body))
            self.changed.notify_all()

    def wait_for(self, count: int) -> None:
        """Wait for this many different messages."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(set(self.ids)) >= count, PATIENCE_S), self.ids

    def wait_for_attempts(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.asked >= count, PATIENCE_S)


def verify(secret: str, headers: Any, body: bytes) -> None:
    """As the specification has it, without our code."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(secret.encode(), signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"


@contextmanager
def receiver(script: Sequence[int | str | bytes] = (200,), secret: str = SECRET) -> Iterator[Receiver]:
    found = Receiver(list(script))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            verify(secret, self.headers, body)
            with found.changed:
                answer = found.next()
                found.changed.notify_all()
            if answer == "slow":
                found.released.wait(PATIENCE_S)
            elif isinstance(answer, bytes):
                self.wfile.write(answer)
            elif isinstance(answer, int):
                if 200 <= answer < 300:
                    found.take(self.headers["webhook-id"], body)
                self.send_response(answer)
                self.send_header("location", found.url)
                self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_address[1]}/hook/t0ken?key=k3y"
    try:
        yield found
    finally:
        found.released.set()
        server.shutdown()
        server.server_close()
