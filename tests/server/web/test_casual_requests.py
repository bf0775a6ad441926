"""Games that visitors start by requests, as the page does: refusals, places, and the end of the processes."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from ..programs import PATIENCE_S, inside
from .persons import Person, Web
from .visitors import play_database, played, running, server_of, verified

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.real

WANTED = {"game": "tictactoe", "opponent": "perfect", "clock": False, "seat": 1, "hints": True}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with server_of(tmp_path_factory.mktemp("casual")) as server:
        yield server


class TestRequests:
    @pytest.mark.parametrize(
        ("change", "error"),
        [
            ({"game": "chess"}, "no game 'chess'; there are: insertion, disc, lastcoin, tictactoe, xo"),
            (
                {"opponent": "greedy:library=x"},
                "no engine 'greedy:library=x' for tictactoe; there are: random, weighted, openlines, perfect",
            ),
            ({"seat": 3}, "expected a seat from 1 to 2, got 3"),
            ({"seat": True}, "expected seat, a whole number, got true"),
            ({"clock": None}, "expected clock, true or false, got null"),
            ({"name": "perfect-2"}, "another player is called perfect-2: choose another name"),
        ],
    )
    def test_wishes_that_are_refused(self, web: Web, change: dict[str, object], error: str) -> None:
        assert web.post("start", **(WANTED | change)) == (409, {"error": error})

    def test_a_foreign_page_starts_no_game(self, web: Web) -> None:
        body = json.dumps(WANTED).encode()
        for origin in ("http://evil.example", "null", f"{web.url}0"):
            request = Request(f"{web.url}/api/v1/play/start", body, {"Origin": origin}, method="POST")
            with pytest.raises(HTTPError, match="403") as refused, urlopen(request, timeout=PATIENCE_S):
                pass
            refused.value.close()

    def test_the_deal_of_a_game_that_is_played_again_stays_hidden(self, web: Web) -> None:
        _, answer = web.post("start", **(WANTED | {"name": "maria"}))
        web.links = {link["name"]: f"#{link['key']}" for link in answer["links"]}
        person = Person(web, "maria")
        person.ready()
        person.play(1, "b2")
        person.until(turn=3)
        assert web.post("undo", session=person.session) == (200, {"done": True})
        person.until(turn=1, game="g2")
        path = f"{web.url}/api/v1/contests/{answer['contest']}/records/g1.json"
        with pytest.raises(HTTPError, match="404") as refused, urlopen(path, timeout=PATIENCE_S):
            pass
        with refused.value:
            assert "all games on its deal have a result" in json.load(refused.value)["error"]
        assert web.post("quit", session=person.session)[0] == 200
        while played(web)[0]["status"] == "running":
            pass
        person.close()
        with urlopen(path, timeout=PATIENCE_S) as response:
            assert json.load(response)["end"] == "void"
        assert web.post("undo", session=person.session)[0] == 409
        assert web.post("rematch", session="0")[0] == 401

    @pytest.mark.soak
    def test_what_is_not_there(self, web: Web) -> None:
        many = "9" * 5000
        for path in (
            *("contests/play-1.json", "contests/99999999999999999999.json", "contests/٣.json"),
            *(f"contests/{many}.json", f"contests/1/games-{many}.json", f"contests/1/schedule-{many}.json"),
        ):
            with (
                pytest.raises(HTTPError, match="404") as refused,
                urlopen(f"{web.url}/api/v1/{path.replace('٣', '%D9%A3')}", timeout=PATIENCE_S),
            ):
                pass
            assert json.load(refused.value)["error"].startswith(("no contest ", "no chunk "))
            refused.value.close()


def test_as_many_games_as_may_be_and_all_end_with_the_server(tmp_path: Path) -> None:
    with server_of(tmp_path, "play = 1") as server:
        # With hints the deal of a void game could be played again, and stays hidden.
        status, answer = server.post("start", **(WANTED | {"hints": False}))
        assert status == 200
        server.links = {link["name"]: f"#{link['key']}" for link in answer["links"]}
        person = Person(server, "person-1")
        assert server.post("start", **WANTED) == (
            409,
            {"error": "1 games are being played here, as many as may be; try later"},
        )
        person.ready()
        person.play(1, "b2")
        person.until(turn=3)
        children = _descendants(server.process.pid)
        assert len(children) == 1, "the engine"
        assert running(server) == 1
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE_S) == 0
        person.close()
    for child in children:  # it has been killed; who takes its status is the system
        while Path(f"/proc/{child}").exists():
            time.sleep(0.01)
    replay = inside("replay", "g1", "--json", "--database", f"sqlite:///{play_database(server)}")
    void = json.loads(replay.out)
    assert void["end"] == "void"


@pytest.mark.soak
def test_a_seat_that_is_given_up_frees_its_place(tmp_path: Path) -> None:
    with server_of(tmp_path, "play = 1") as server:
        _, answer = server.post("start", **WANTED)
        server.links = {link["name"]: f"#{link['key']}" for link in answer["links"]}
        person = Person(server, "person-1")
        person.ready()
        person.until(turn=1)
        assert server.post("quit", session=person.session)[0] == 200
        seat = person.until(state="finished")
        assert (seat["contest"], seat["problem"]) == (answer["contest"], None)
        while played(server)[0]["status"] == "running":
            pass
        person.close()
        while running(server):  # until the processes have ended
            pass
        assert server.post("start", **WANTED)[0] == 200


@pytest.mark.parametrize("waits", [False, pytest.param(True, marks=pytest.mark.soak)])
@pytest.mark.soak
def test_the_games_of_a_server_that_was_killed_are_stopped(tmp_path: Path, waits: bool) -> None:
    with server_of(tmp_path) as server:
        _, answer = server.post("start", **WANTED)
        server.links = {link["name"]: f"#{link['key']}" for link in answer["links"]}
        person = Person(server, "person-1")
        person.ready()
        person.until(turn=1)
        children = _descendants(server.process.pid)
        server.process.kill()
        person.close()
    for child in children:  # the engine ends by itself, after half a minute without a server
        while waits and Path(f"/proc/{child}").exists():
            time.sleep(0.05)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    with server_of(tmp_path) as server:
        assert [each["status"] for each in played(server)] == ["stopped"]
        assert verified(server, answer["contest"]) == "verified: 0 games\n"


@pytest.mark.parametrize(
    ("more", "start"),
    [("", True), ("play = 0", False), ('web_names = ["arena.example"]', False), ("play = 1", True)],
)
@pytest.mark.soak
def test_where_a_game_may_be_started(tmp_path: Path, more: str, start: bool) -> None:
    with (
        server_of(tmp_path, more) as server,
        urlopen(f"{server.url}/api/v1/site.json", timeout=PATIENCE_S) as response,
    ):
        assert json.load(response)["start"] is start


def _descendants(pid: int) -> list[int]:
    """The processes that `pid` has started, in sessions of their own."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            stat = Path(f"/proc/{entry}/stat").read_text() if entry.isdigit() else ""
        except OSError:
            continue
        if stat and int(stat.rpartition(")")[2].split()[1]) == pid:
            found.append(int(entry))
    return found
