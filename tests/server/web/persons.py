"""A server with its site, and persons that play on it by requests, as the page does."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from ..programs import PATIENCE_S, Server, contest

if TYPE_CHECKING:
    from playwright.sync_api import Page

PERSONS = "".join(f'[[bot]]\nname = "{name}"\nperson = true\n' for name in ("ann", "bob"))


class Web(Server):
    """A server with the site; `links` are those of its persons."""

    def __init__(self, config: str, folder: Path, persons: int = 0, more: Sequence[Path] = ()) -> None:
        """`more` are the files of further contests."""
        super().__init__(config, folder, "--web-port", "0", *map(str, more))
        assert self.process.stdout is not None
        # A page that others reach has an admin port beside it, which is named first.
        line = next(line for line in self.process.stdout if line.startswith("web on "))
        self.url = line.split()[2]
        lines = [self.process.stdout.readline().rstrip() for _ in range(persons)]
        self.links = dict(line.split(" plays at ") for line in lines)
        try:
            self.contest = self._number()
        except BaseException as error:
            error.add_note(str(self.end(signal.SIGKILL)))  # what the server said of it
            raise

    def _number(self) -> int:
        """The number of the contest, once it is in the database."""
        while True:
            try:
                with urlopen(f"{self.url}/api/v1/site.json", timeout=PATIENCE_S) as response:
                    number = json.load(response)["contest"]
            except HTTPError as error:
                with error:
                    if error.code != 503:
                        raise
            else:
                if number is not None:
                    return int(number)

    def token(self) -> str:
        (file,) = self.database.parent.glob("*.admin")
        return str(json.loads(file.read_text())["token"])

    def page(self, name: str, **parameters: object) -> str:
        query = "&".join(f"{key}={value}" for key, value in parameters.items())
        return f"{self.url}/{name}?{query}"

    def post(self, verb: str, **body: object) -> tuple[int, dict[str, Any]]:
        request = Request(f"{self.url}/api/v1/play/{verb}", json.dumps(body).encode(), method="POST")
        try:
            with urlopen(request, timeout=PATIENCE_S) as response:
                return response.status, json.load(response)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)


class Person:
    """Plays by requests, as the page does."""

    def __init__(self, server: Web, name: str) -> None:
        self._server = server
        self.seen = ""
        status, answer = server.post("take", key=server.links[name].partition("#")[2])
        assert (status, answer["name"]) == (200, name)
        self.session = answer["session"]
        self._events = urlopen(f"{server.url}/api/v1/play/events?session={self.session}", timeout=PATIENCE_S)

    def close(self) -> None:
        self._events.close()

    def until(self, **wanted: object) -> dict[str, Any]:
        """The next seat event with these values."""
        kind = ""
        for line in self._events:
            text = line.decode().rstrip("\n")
            self.seen += f"{text}\n"
            if text.startswith("event: "):
                kind = text.removeprefix("event: ")
            elif kind == "seat" and text.startswith("data: "):
                seat: dict[str, Any] = json.loads(text.removeprefix("data: "))
                if wanted.items() <= seat.items():
                    return seat
        raise EOFError(wanted)

    def ready(self) -> None:
        self.until(state="invited")
        assert self._server.post("ready", session=self.session) == (200, {"done": True})

    def play(self, ply: int, move: str) -> None:
        self.until(turn=ply)
        body = {"session": self.session, "ply": ply, "move": move}
        assert self._server.post("move", **body) == (200, {"done": True})


@contextmanager
def two_persons(folder: Path, game: str, options: str, more: str = "", delay: str = "0s") -> Iterator[Web]:
    text = contest(
        contest=f'game = "{game}"\nready = "10m"\nspectator_delay = "{delay}"\nprobation = 0',
        game=f'clock = "10m"\n{options}',
        bots=PERSONS + more,
    )
    with Web(text, folder, 2) as server:
        yield server


@contextmanager
def game_of_two(folder: Path, plies: int = 40, more: str = "") -> Iterator[tuple[Web, list[Person]]]:
    with two_persons(folder, "insertion", f"plies = {plies}", more) as server:
        persons = [Person(server, "ann"), Person(server, "bob")]
        for person in persons:
            person.ready()
        yield server, persons
        for person in persons:
            person.close()


Table = tuple[Web, list[Person]]


def play(persons: list[Person], plies: range) -> None:
    for ply in plies:
        persons[(ply - 1) % 2].play(ply, str(1 + ply % 15))


def wait_for_ply(page: Page, ply: int) -> None:
    page.locator(".counter", has_text=re.compile(f"^ply {ply} of {ply}$")).wait_for()


def wait_for_turn(page: Page, ply: int) -> None:
    """Wait until the page asks for this ply: until an event comes it shows the text of the turn before."""
    if ply > 1:
        wait_for_ply(page, ply - 1)
    page.get_by_text("It is your turn.").wait_for()
