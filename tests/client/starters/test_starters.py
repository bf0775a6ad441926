"""Every starter, built and run as its README says, plays real contests: whole, cut off, refused, debugged."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.slices import all_of

from .contest import TOKEN, Contest, run
from .relay import Cut, Relay
from .toolchains import FOLDER, LANGUAGES, build, starter

ROOT = FOLDER.parents[1]
ISSUE = {"bash", "c", "cpp", "go", "java", "javascript", "python", "rust"}


HERE = [language for language in LANGUAGES if starter(language).missing is None]
#: What a starter did in a contest of all of them: how it ended, and the lines of both sides.
Played = dict[str, tuple[subprocess.CompletedProcess[str], Relay]]


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The commands that run the starters whose toolchain is here, built."""
    folder = tmp_path_factory.mktemp("starters")
    return {language: build(language, folder) for language in HERE}


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    missing = starter(request.param).missing
    if missing is not None:
        pytest.skip(f"{request.param}: {missing} is not installed")
    return str(request.param)


#: A game goes on behind the last cut: a starter gets no OVER of one that ends while it is away.
PLIES = 12


def play(
    folder: Path,
    commands: dict[str, list[str]],
    start: Callable[[list[str], str, Relay], subprocess.CompletedProcess[str]],
    *,
    plies: int = PLIES,
    cuts: Sequence[Cut] = (),
) -> Played:
    """A contest of all starters at once; `start(command, name, relay)` runs one to its end."""
    with (
        Contest(folder, list(commands), plies=plies) as contest,
        ExitStack() as stack,
        ThreadPoolExecutor(len(commands)) as threads,
    ):
        relays = {name: stack.enter_context(Relay(contest.port, cuts)) for name in commands}
        running = {
            name: threads.submit(start, command, name, relays[name]) for name, command in commands.items()
        }
        ended = {name: each.result() for name, each in running.items()}
    return {name: (ended[name], relays[name]) for name in commands}


def by_arguments(command: list[str], name: str, relay: Relay) -> subprocess.CompletedProcess[str]:
    return run(command, "127.0.0.1", str(relay.port), name, ARENA_TOKEN=TOKEN)


def by_environment(command: list[str], name: str, relay: Relay) -> subprocess.CompletedProcess[str]:
    where = {"ARENA_HOST": "127.0.0.1", "ARENA_PORT": str(relay.port), "ARENA_NAME": name}
    own = ("--depth", "3", "mine", "other")  # the arguments of a program are its own where ARENA_HOST is set
    return run(command, *own, ARENA_TOKEN=TOKEN, ARENA_SLOT="1", ARENA_DEBUG="1", **where)


@pytest.fixture(scope="module")
def whole(commands: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("whole"), commands, by_arguments)


@pytest.fixture(scope="module")
def cut_off(commands: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("cut"), commands, by_arguments, cuts=CUTS)


@pytest.fixture(scope="module")
def debugged(commands: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("debugged"), commands, by_environment, plies=4)


#: Two games with every other starter.
GAMES = 2 * (len(HERE) - 1)


@pytest.mark.real
def test_it_plays_a_contest_to_its_end(whole: Played, language: str) -> None:
    ended, relay = whole[language]
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == printed(relay)
    assert [line.split()[3] for line in printed(relay)[:GAMES]] == ["end=complete"] * GAMES
    assert printed(relay)[GAMES:] == ["BYE reason=finished"]
    moves = [line for line in relay.lines("C") if line.startswith("MOVE ")]
    assert moves == [f"MOVE {6 + ply % 5}" for seat in seats(relay) for ply in range(seat - 1, PLIES, 2)]


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


@pytest.mark.real
def test_it_takes_its_seat_up_again_after_every_cut(cut_off: Played, language: str) -> None:
    ended, relay = cut_off[language]
    assert ended.returncode == 0, ended.stderr
    overs = [line.split() for line in relay.lines("S") if line.startswith("OVER")]
    assert [words[3] for words in overs] == ["end=complete"] * GAMES
    assert not [line for line in relay.lines("S") if line.startswith("ZOMBIE")]
    hellos = [line for line in relay.lines("C") if line.startswith("HELLO")]
    assert len(hellos) >= len(CUTS) - 1
    assert sum(" resume=" in line for line in hellos) >= len(CUTS) - 4


@pytest.mark.real
@pytest.mark.soak
def test_it_takes_everything_from_the_environment(debugged: Played, language: str) -> None:
    ended, relay = debugged[language]
    assert ended.returncode == 0
    assert " slot=1 " in f"{relay.lines('C')[0]} "
    stamped = [re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} ([<>]) (.*)", line) for line in ended.stderr.splitlines()]
    assert all(stamped), ended.stderr
    for side, mark in (("S", "<"), ("C", ">")):
        assert [found[2] for found in stamped if found and found[1] == mark] == relay.lines(side)


@pytest.mark.real
@pytest.mark.soak
def test_it_explains_what_it_needs(commands: dict[str, list[str]], language: str) -> None:
    ended = run(commands[language])
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


@pytest.mark.real
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
    commands: dict[str, list[str]],
    language: str,
    one_server: Callable[[bytes], int],
    said: str,
    output: str,
    complaint: str,
) -> None:
    ended = run(commands[language], "127.0.0.1", str(one_server(said.encode())), "starter")
    assert (ended.returncode, ended.stdout) == (1, output)
    assert complaint in ended.stderr


#: What the server says to each log-in: a contest that ends, one that has not begun yet, the last one.
AFTER_EACH = (
    f"WELCOME starter session=s1 resume={'0' * 31}1\nBYE reason=finished again=30\n",
    *["BYE reason=finished again=10\n"] * 14,
    f"WELCOME starter session=s2 resume={'0' * 31}2\nBYE reason=finished\n",
)


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.parametrize("named", [False, True], ids=["any contest", "one contest"])
def test_it_comes_back_for_the_next_contest(
    commands: dict[str, list[str]], language: str, named: bool
) -> None:
    hellos: list[bytes] = []
    answers = AFTER_EACH[:1] if named else AFTER_EACH

    def serve(listener: socket.socket) -> None:
        for said in answers:
            with listener.accept()[0] as connection, connection.makefile("rb") as lines:
                connection.sendall(b"ARENA 1 x/1\n")
                hellos.append(lines.readline())
                connection.sendall(said.encode())
                lines.read()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        port = str(listener.getsockname()[1])
        contest = {"ARENA_CONTEST": "main"} if named else {}
        ended = run(commands[language], "127.0.0.1", port, "starter", ARENA_TOKEN=TOKEN, **contest)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(hellos) == len(answers)
    assert all(f" token={TOKEN}".encode() in hello for hello in hellos), hellos


@all_of("language", LANGUAGES)
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


def test_starters_are_files_of_the_client_and_no_packages() -> None:
    discovery = pytest.importorskip("setuptools")
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    find = table["tool"]["setuptools"]["packages"]["find"]
    found = {
        package
        for where in find["where"]
        for package in discovery.find_namespace_packages(
            str(ROOT / where), include=find["include"], exclude=find["exclude"]
        )
    }
    assert not [package for package in found if "starters" in package]
    installed = ROOT / "client" / "arena_client"
    (pattern,) = table["tool"]["setuptools"]["package-data"]["arena_client"]
    shipped = {path.relative_to(installed).parts[1] for path in installed.glob(pattern)}
    assert shipped == ISSUE
    names = ("protocol", "client", "check", "engines", "server", "cli")
    assert {package.partition(".")[0] for package in found} == {"arena", *(f"arena_{name}" for name in names)}
