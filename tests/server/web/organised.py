"""A server with an admin port, and the organiser's hands."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from ..lines import LineClient
from ..programs import PATIENCE_S, Outcome, Server, contest, inside


class Organised(Server):
    """A server with an admin port, and the organiser's hands."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        config: str | None = None,
        before: Callable[[], None] | None = None,
        program: Sequence[str] | None = None,
    ) -> None:
        config = contest("a", "b", "c") if config is None else config
        super().__init__(config, folder, "--admin-port", "0", *options, before=before, program=program)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("admin on http://127.0.0.1:"), self.end()
        self.url = line.removeprefix("admin on ").rstrip()

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of a page."""
        try:
            with urlopen(f"{self.url}{path}", timeout=PATIENCE_S) as response:
                return response.status, response.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def admin(self, *arguments: str) -> Outcome:
        return inside("admin", *arguments, "--database", f"sqlite:///{self.database}")

    def status(self) -> dict[str, object]:
        outcome = self.admin("status", "--json")
        assert outcome.code == 0, outcome.err
        found: dict[str, object] = json.loads(outcome.out)
        return found

    def ready(self) -> None:
        """Wait until the contest has begun: every question before is answered by 503."""
        while self.get("/readyz")[0] != 200:
            assert self.process.poll() is None

    def metrics(self) -> dict[str, float]:
        """Every sample by name and labels."""
        status, text = self.get("/metrics")
        assert status == 200
        return {
            sample.name + "".join(f" {value}" for value in sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }


def log_in(server: Server, name: str) -> LineClient:
    """A bot that has sent HELLO with this name, and what follows it."""
    client = LineClient(server.port)
    client.say(f"HELLO 1 {name}")
    client.until("WELCOME")
    return client


def answer_of(server: Server, hello: str) -> str:
    """What the server says to this HELLO."""
    with LineClient(server.port) as client:
        client.say(hello)
        assert client.line().startswith("ARENA ")
        return client.line()
