"""`arena web`: the site as a process of its own, over a database and the servers that play into it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from tests.ports import quiet_port

from arena_server.web.security import PAGES

from ...forked import Arena
from ..postgres import Cluster
from ..programs import PATIENCE_S, Server, contest, inside


class Site:
    """A site of its own; use it in a `with` statement."""

    def __init__(self, database: Path | str, *ports: int, options: Sequence[str] = ()) -> None:
        servers = [word for port in ports for word in ("--connect", f"127.0.0.1:{port}")]
        url = database if isinstance(database, str) else f"sqlite:///{database}"
        command = ["web", "--database", url, "--port", "0", "--json", *servers, *options]
        self.process = Arena(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()
        self.url = json.loads(line)["web"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def get(self, path: str) -> Any:
        """A document; its status if there is none."""
        try:
            with urlopen(f"{self.url}/api/v1/{path}", timeout=PATIENCE_S) as response:
                return json.load(response)
        except HTTPError as error:
            with error:
                return error.code

    def events(self, path: str) -> Iterator[tuple[str, Any]]:
        """The events of a stream, until it ends."""
        kind = ""
        with urlopen(f"{self.url}/api/v1/live/{path}", timeout=PATIENCE_S) as stream:
            for line in stream:
                name, _, text = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    kind = text
                elif name == "data":
                    yield kind, json.loads(text)

    def until(self, path: str, **wanted: object) -> dict[str, Any]:
        """The first event of a stream with these values."""
        for _, data in self.events(path):
            if wanted.items() <= data.items():
                assert isinstance(data, dict)
                return data
        raise EOFError(wanted)

    def moves(self, count: int, contest: int = 1) -> list[str]:
        """The first moves of g1: a site learns of a move a moment after the players do."""
        moves: list[str] = []
        for kind, data in self.events(f"games/g1?contest={contest}"):
            if kind == "snapshot":
                moves = [ply["move"] for ply in data["plies"]]
            elif kind == "played":
                moves.append(data["move"])
            if len(moves) >= count:
                return moves
        raise EOFError(moves)


class Player:
    """A bot by hand."""

    def __init__(self, port: int, name: str, resume: str = "") -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._file = self._socket.makefile("rb")
        self.say(f"HELLO 1 {name}{resume}")
        self.key = self.until("WELCOME").rpartition(" resume=")[2]

    def say(self, line: str) -> None:
        self._socket.sendall(line.encode() + b"\n")

    def until(self, verb: str) -> str:
        for line in self._file:
            text = line.decode().rstrip("\n")
            if text.startswith(f"{verb} "):
                return text
        raise EOFError(verb)

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def a_contest(delay: str = "0s", name: str = "trial") -> str:
    text = contest("ann", "bob", contest=f'spectator_delay = "{delay}"', game='plies = 6\nclock = "10m"')
    return text.replace('"trial"', f'"{name}"')


def two_players(port: int) -> tuple[Player, Player]:
    """Both in a game that has begun; ann is to move."""
    ann, bob = Player(port, "ann"), Player(port, "bob")
    for player in (ann, bob):
        player.until("GAME")
        player.say("READY g1")
    ann.until("TURN")
    return ann, bob


@pytest.mark.real
def test_two_sites_over_one_server_show_the_same_game(tmp_path: Path) -> None:
    with Server(a_contest(), tmp_path) as server, ExitStack() as stack:
        ann, bob = two_players(server.port)
        sites = [stack.enter_context(Site(server.database, server.port)) for _ in range(2)]
        ann.say("MOVE 7")
        bob.until("TURN")
        for site in sites:
            assert site.get("site.json")["running"] == [1]
            assert site.moves(1) == ["7"]
            assert site.get("contests/1/state/g1.json") == {"state": "running"}
        streams = [site.events("games/g1?contest=1") for site in sites]
        assert [len(next(stream)[1]["plies"]) for stream in streams] == [1, 1]
        bob.say("MOVE 8")
        for stream in streams:
            kind, played = next(event for event in stream if event[0] != "sync")
            assert (kind, played["ply"], played["move"]) == ("played", 2, "8")
        for site in sites:
            site.process.send_signal(signal.SIGINT)
            assert site.process.communicate(timeout=PATIENCE_S)[1] == ""
            assert site.process.returncode == 0
        for player in (ann, bob):
            player.close()


@pytest.mark.real
@pytest.mark.soak
def test_a_server_that_is_killed_and_started_again(tmp_path: Path) -> None:
    """The site says that it is gone, shows none of its games as running, and then goes on."""
    port = str(quiet_port())
    with Server(a_contest(), tmp_path, "--port", port) as server, ExitStack() as stack:
        ann, bob = two_players(server.port)
        site = stack.enter_context(Site(server.database, server.port))
        ann.say("MOVE 7")
        bob.until("TURN")
        assert site.until("boards?contest=1", shown=["g1"])["live"] is None
        boards = site.events("boards?contest=1")
        server.end(signal.SIGKILL)
        gone = f"127.0.0.1:{server.port}: cannot be reached: Connection refused"
        assert next(data for _, data in boards if data.get("live") == gone)["shown"] == []
        assert site.until("contest?contest=1", live=gone)["running"] == []
        assert site.get("live/games/g1.json?contest=1") == 404
        assert site.get("contests/1/state/g1.json") == {"state": "unknown"}
        for player in (ann, bob):
            player.close()
        with Server(a_contest(), tmp_path, "--port", port) as again:
            bob = Player(again.port, "bob", f" resume={bob.key}")
            bob.until("TURN")
            assert next(data for _, data in boards if data.get("shown") == ["g1"])["live"] is None
            assert site.moves(1) == ["7"]
            bob.close()


@pytest.mark.real
@pytest.mark.soak
def test_two_servers_of_one_database(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    url = f"sqlite:///{tmp_path / 'both.db'}"
    with Server(a_contest(name="one"), folders[0], url=url) as first, ExitStack() as stack:
        players = [*two_players(first.port)]
        second = stack.enter_context(Server(a_contest(name="two"), folders[1], url=url))
        players += two_players(second.port)
        site = stack.enter_context(Site(tmp_path / "both.db", first.port, second.port))
        numbers = {each["name"]: each["id"] for each in site.get("contests.json")["contests"]}
        assert sorted(site.get("site.json")["running"]) == sorted(numbers.values())
        players[2].say("MOVE 9")
        assert players[3].until("TURN")
        assert site.moves(1, numbers["two"]) == ["9"]
        assert site.moves(0, numbers["one"]) == []
        for player in players:
            player.close()


@pytest.mark.real
@pytest.mark.soak
def test_two_servers_and_two_sites_over_postgresql(tmp_path: Path, postgres: Cluster) -> None:
    """Each of the four is killed while a game of each server runs: the others do not notice."""
    url = postgres.database().url
    folders = {name: tmp_path / name for name in ("one", "two")}
    for folder in folders.values():
        folder.mkdir()

    def server(name: str, *options: str) -> Server:
        return Server(a_contest(name=name), folders[name], *options, url=url)

    with ExitStack() as stack:
        port = str(quiet_port())
        one = stack.enter_context(server("one", "--port", port))
        ann, bob = two_players(one.port)
        two = stack.enter_context(server("two"))
        carl, dora = two_players(two.port)
        sites = [stack.enter_context(Site(url, one.port, two.port)) for _ in range(2)]
        numbers = {each["name"]: each["id"] for each in sites[0].get("contests.json")["contests"]}
        ann.say("MOVE 7")
        bob.until("TURN")
        sites[0].process.kill()
        carl.say("MOVE 9")
        dora.until("TURN")
        other = sites[1]
        assert (other.moves(1, numbers["one"]), other.moves(1, numbers["two"])) == (["7"], ["9"])
        one.end(signal.SIGKILL)
        gone = f"127.0.0.1:{one.port}: cannot be reached: Connection refused"
        shown = next(
            data for _, data in other.events(f"contest?contest={numbers['one']}") if data.get("live") == gone
        )
        assert shown["running"] == []
        dora.say("MOVE 10")
        carl.until("TURN")
        assert other.moves(2, numbers["two"]) == ["9", "10"]
        for player in (ann, bob):
            player.close()
        again = stack.enter_context(server("one", "--port", port))
        fresh = stack.enter_context(Site(url, one.port, two.port))
        ann, bob = (
            Player(again.port, name, f" resume={player.key}") for name, player in (("ann", ann), ("bob", bob))
        )
        bob.until("TURN")
        two.end(signal.SIGKILL)
        bob.say("MOVE 8")
        ann.until("TURN")
        other.process.kill()
        assert fresh.until(f"contest?contest={numbers['one']}", live=None)["running"] != []
        assert fresh.moves(2, numbers["one"]) == ["7", "8"]
        assert fresh.get(f"contests/{numbers['two']}/state/g1.json") == {"state": "unknown"}
        for player in (ann, bob, carl, dora):
            player.close()


@pytest.mark.real
def test_nothing_is_shown_before_the_delay(tmp_path: Path) -> None:
    with Server(a_contest(delay="1h"), tmp_path) as server, ExitStack() as stack:
        ann, bob = two_players(server.port)
        site = stack.enter_context(Site(server.database, server.port))
        ann.say("INFO game=g1 ply=1 text=hidden")
        ann.say("MOVE 7")
        bob.until("TURN")
        assert site.until("boards?contest=1") == {"changed": [], "shown": [], "live": None}
        assert site.until("contest?contest=1")["running"] == []
        assert site.get("live/games/g1.json?contest=1") == 404
        assert site.get("contests/1/records/g1.json") == 404
        for player in (ann, bob):
            player.close()


@pytest.mark.real
@pytest.mark.soak
def test_a_site_without_servers_has_what_is_over(tmp_path: Path) -> None:
    with Server(a_contest(), tmp_path) as server, ExitStack() as stack:
        ann, bob = two_players(server.port)
        site = stack.enter_context(Site(server.database))
        for ply in range(6):
            player = (ann, bob)[ply % 2]
            if ply:
                player.until("TURN")
            player.say("MOVE 7")
        ann.until("OVER")
        here = site.get("site.json")
        assert (here["live"], here["running"]) == (False, [])
        assert site.get("contests/1.json")["games_played"] == 1
        assert site.get("contests/1/records/g1.json")["game_id"] == "g1"
        assert site.get("live/games/g1.json?contest=1") == 404
        for player in (ann, bob):
            player.close()


@pytest.mark.real
@pytest.mark.parametrize("proxy", ["127.0.0.0/8", "192.0.2.0/24"])
@pytest.mark.soak
def test_a_proxy_that_is_named_says_which_client_asks(tmp_path: Path, proxy: str) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(Server(contest("ann", "bob"), tmp_path, "--no-web"))
        Player(server.port, "ann").close()  # the contest has begun
        site = stack.enter_context(Site(tmp_path / "arena.db", options=["--proxy", proxy]))
        address = site.url.removeprefix("http://")
        connection = stack.enter_context(closing(HTTPConnection(address, timeout=PATIENCE_S)))

        def status(client: str) -> int:
            connection.request("GET", "/nothing.html", headers={"X-Forwarded-For": client})
            answer = connection.getresponse()
            answer.read()
            return answer.status

        asked = (status("198.51.100.7") for _ in range((10 if proxy[:3] == "127" else 2) * PAGES.burst))
        assert (429 in asked) is proxy.startswith("127")
        assert status("198.51.100.8") == 404


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (("--database", "sqlite:///no.db"), 1, "no.db: no such database; has a contest been played here?"),
        (("--database", "no"), 2, "--database: expected a URL such as"),
        (("--connect", "nowhere"), 2, "--connect: expected HOST:PORT, got 'nowhere'"),
        (("--embed", "example.org"), 2, "--embed: expected an origin such as"),
        (
            ("--proxy", "nginx"),
            2,
            '--proxy: expected addresses or networks such as "127.0.0.1", "10.0.0.0/8", got \'nginx\'',
        ),
    ],
)
def test_a_wrong_command_line(tmp_path: Path, arguments: tuple[str, ...], code: int, line: str) -> None:
    outcome = inside("web", *arguments, cwd=tmp_path)
    assert outcome.code == code
    assert line in outcome.line
