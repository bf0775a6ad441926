"""Every starter, built and run as its README says, plays real contests: whole, cut off, refused, debugged."""

from __future__ import annotations

import re
import socket
import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .contest import TOKEN, Contest, run
from .relay import Cut, Relay
from .toolchains import FOLDER, LANGUAGES, build, starter

ROOT = FOLDER.parents[1]
ISSUE = {"bash", "c", "cpp", "go", "java", "javascript", "python", "rust"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=LANGUAGES)
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return build(request.param, tmp_path_factory.mktemp("starter"))


def test_it_plays_a_contest_to_its_end(command: list[str], tmp_path: Path) -> None:
    with Contest(tmp_path) as contest, Relay(contest.port) as relay:
        ended = run(command, "127.0.0.1", str(relay.port), "starter", ARENA_TOKEN=TOKEN)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == printed(relay)
    assert [line.split()[3] for line in printed(relay)[:2]] == ["end=complete", "end=complete"]
    assert printed(relay)[2:] == ["BYE reason=finished"]
    moves = [line for line in relay.lines("C") if line.startswith("MOVE ")]
    assert moves == [f"MOVE {6 + ply % 5}" for seat in seats(relay) for ply in range(seat - 1, 20, 2)]


def printed(relay: Relay) -> list[str]:
    return [line for line in relay.lines("S") if line.split()[0] in ("ZOMBIE", "OVER", "ERROR", "BYE")]


def seats(relay: Relay) -> list[int]:
    """The starter's seat in each game."""
    return [int(line.split(" seat=")[1][0]) for line in relay.lines("S") if line.startswith("GAME ")]


#: A connection is lost in every state: before ARENA, unanswered, in the lobby, on offer, in the midst of a
#: line, off move and on move, by FIN and by RST.
CUTS = (
    Cut("ARENA", keep=0),
    Cut("ARENA"),
    Cut("WELCOME", keep=30),
    Cut("WELCOME"),
    Cut("GAME", reset=True),
    Cut("STATE"),
    Cut("NEXT"),
    Cut("START"),
    Cut("TURN", keep=7),
    Cut("TURN", reset=True),
    Cut("PLAYED 2", keep=20),
    Cut("PLAYED 7"),
)


def test_it_takes_its_seat_up_again_after_every_cut(command: list[str], tmp_path: Path) -> None:
    with Contest(tmp_path) as contest, Relay(contest.port, CUTS) as relay:
        ended = run(command, "127.0.0.1", str(relay.port), "starter", ARENA_TOKEN=TOKEN)
    assert ended.returncode == 0, ended.stderr
    overs = [line.split() for line in relay.lines("S") if line.startswith("OVER")]
    assert [words[3] for words in overs] == ["end=complete", "end=complete"]
    assert not [line for line in relay.lines("S") if line.startswith("ZOMBIE")]
    hellos = [line for line in relay.lines("C") if line.startswith("HELLO")]
    assert len(hellos) >= len(CUTS) - 1
    assert sum(" resume=" in line for line in hellos) >= len(CUTS) - 4


def test_it_takes_everything_from_the_environment(command: list[str], tmp_path: Path) -> None:
    with Contest(tmp_path, games=2, plies=4) as contest, Relay(contest.port) as relay:
        where = {"ARENA_HOST": "127.0.0.1", "ARENA_PORT": str(relay.port), "ARENA_NAME": "starter"}
        ended = run(command, ARENA_TOKEN=TOKEN, ARENA_SLOT="1", ARENA_DEBUG="1", **where)
    assert ended.returncode == 0
    assert " slot=1 " in f"{relay.lines('C')[0]} "
    stamped = [re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} ([<>]) (.*)", line) for line in ended.stderr.splitlines()]
    assert all(stamped), ended.stderr
    for side, mark in (("S", "<"), ("C", ">")):
        assert [found[2] for found in stamped if found and found[1] == mark] == relay.lines(side)


def test_it_explains_what_it_needs(command: list[str]) -> None:
    ended = run(command)
    assert ended.returncode == 1
    assert "HOST PORT NAME" in ended.stderr


@pytest.fixture
def one_server() -> Iterator[Callable[[bytes], int]]:
    """Start a server of one connection, which sends these bytes and waits for the end; gives its port."""
    listeners: list[socket.socket] = []

    def serve(said: bytes) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def answer() -> None:
            connection = listener.accept()[0]
            connection.sendall(said)
            while connection.recv(4096):
                pass
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        return int(listener.getsockname()[1])

    yield serve
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize(
    ("said", "output", "complaint"),
    [
        (
            "ARENA 1 x/1\nERROR token this name or token is wrong\n",
            "ERROR token this name or token is wrong\n",
            "",
        ),
        ("ARENA 2 x/1\n", "", "no server of version 1 of the arena protocol: ARENA 2 x/1"),
        ("SSH-2.0-x\r\n", "", "no server of version 1 of the arena protocol: SSH-2.0-x"),
    ],
)
def test_it_leaves_a_server_that_refuses_it_or_is_none(
    command: list[str], one_server: Callable[[bytes], int], said: str, output: str, complaint: str
) -> None:
    ended = run(command, "127.0.0.1", str(one_server(said.encode())), "starter")
    assert (ended.returncode, ended.stdout) == (1, output)
    assert complaint in ended.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_readme_needs_three_commands_and_a_tournament_can_start_it(language: str) -> None:
    text = (FOLDER / language / "README.md").read_text(encoding="utf-8")
    assert len(starter(language).builds) <= 1
    table = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert table is not None
    (bot,) = tomllib.loads(table[1])["bot"]
    sources = [word for word in bot["command"] if word.startswith("client/starters/")]
    assert sources
    assert all((ROOT / word).exists() or word.endswith("/starter") for word in sources)


def test_every_language_of_the_issue_has_one_file() -> None:
    assert set(LANGUAGES) == ISSUE
    for language in LANGUAGES:
        sources = [
            path for path in (FOLDER / language).iterdir() if path.stem.lower() == "starter" and path.suffix
        ]
        assert len(sources) == 1, language
        assert "choose" in sources[0].read_text(encoding="utf-8")


def test_starters_are_not_installed() -> None:
    discovery = pytest.importorskip("setuptools")
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    find = table["tool"]["setuptools"]["packages"]["find"]
    found = {
        package.partition(".")[0]
        for where in find["where"]
        for package in discovery.find_namespace_packages(str(ROOT / where), include=find["include"])
    }
    assert found == {"arena_protocol", "arena_client", "arena_engines", "arena_server", "arena_cli"}
