"""An author who sends one version of a bot after the other, to a server that may be away."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from arena_server.submissions.archive import pack
from arena_server.terms.submissions import ArchiveLimits

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0
TOKEN = "an-author-s-token"
#: Of how many versions of a bot one is bad.
BAD = 4


class Author(threading.Thread):
    """Sends one version of a bot after the other until `ends`.

    `told` has what it reads, `news` gets the words of that.
    """

    def __init__(self, name: str, port: int, folder: Path, news: SimpleQueue[str], *, real: bool) -> None:
        super().__init__(name=name, daemon=True)
        self._port = port
        self._folder = folder / f"versions-{name}"
        self._real = real
        self.ends = threading.Event()
        self.told: list[dict[str, Any]] = []
        self._news = news
        self.problem = ""

    def run(self) -> None:
        number = 0
        try:
            while not self.ends.is_set():
                number += 1
                self._send(self._pack(number))
                while not self.ends.is_set() and self._waits():
                    self.ends.wait(0.1)
        except Exception as error:
            self.problem = f"{self.name}: {error!r}"

    def _pack(self, number: int) -> bytes:
        folder = self._folder / str(number)
        folder.mkdir(parents=True)
        bad = number % BAD == 0
        text = (ROOT / "client/starters/python/bot.py").read_text()
        (folder / "bot.py").write_text(f"{text}\n# {self.name} {number}{' BROKEN' if bad else ''}\n")
        step = "RUN false\n" if bad and self._real else ""
        (folder / "Dockerfile").write_text(
            f'FROM python:3.12-slim\nCOPY bot.py /bot.py\n{step}CMD ["python", "-u", "/bot.py"]\n'
        )
        return pack(folder, ArchiveLimits())

    def _ask(self, method: str, body: bytes | None = None) -> Iterator[dict[str, Any]]:
        """What the server says. Raises OSError and HTTPException while it is away."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        try:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            path = f"/api/v1/submissions?contest=soak&bot={self.name}"
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            assert answer.status in (200, 409, 503), answer.read()
            while line := answer.readline():
                if line.strip():
                    yield json.loads(line)
        finally:
            connection.close()

    def _send(self, data: bytes) -> None:
        with suppress(OSError, HTTPException, ValueError):  # it was killed, perhaps within a line
            for fact in self._ask("POST", data):
                self.told.append(fact)
                if "fact" in fact:
                    self._news.put(str(fact.get("stage") if fact["fact"] == "stage" else fact["fact"]))

    def _waits(self) -> bool:
        """Whether a version is in admission, as far as is known."""
        return self.pending() != 0

    def pending(self) -> int | None:
        """How many versions are in admission; None: the server is away."""
        with suppress(OSError, HTTPException, ValueError):
            for document in self._ask("GET"):
                if "versions" in document:
                    open_ = [
                        each for each in document["versions"] if each["state"] not in ("admitted", "failed")
                    ]
                    return len(open_)
        return None
