"""docs/add-a-game.md, executed: its code becomes a game that obeys the laws and plays a contest."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from configparser import ConfigParser
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from arena_engines.bot import bot_of
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, GameError
from arena_protocol.messages import encode, parse_client, parse_server
from arena_protocol.testing import LAWS, Law, check
from arena_protocol.verify import verify
from arena_server.terms.config import ContestConfig

from ..client.test_with_the_referee import Loopback, PlayerEnd, ScriptEnd
from ..plugged import plugged
from ..slices import rows
from .add_a_game import CONTEST, FILES, PAGE, ROOT, TRANSCRIPT, WORDS, follow, write

#: Whether pip can build a package with what is installed: setuptools makes wheels itself since 70.1.
CAN_BUILD = find_spec("setuptools") is not None and (
    find_spec("wheel") is not None or tuple(map(int, version("setuptools").split(".")[:2])) >= (70, 1)
)
#: One ply of search wins 98 of 100 games against random moves, so the test fixes the seed.
SEEDED = {"random": "random:seed=1"}


@pytest.fixture(scope="module", autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package of the page, installed for this process."""
    folder = tmp_path_factory.mktemp("page")
    follow(folder)
    with plugged(folder):
        yield folder


@pytest.mark.parametrize("columns", rows((7, 4, 9), 3))
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_game_of_the_page_obeys_the_laws(law: Law, columns: int) -> None:
    check(law, make_game("connectfour", {"columns": columns}), 2 if columns == 7 else 8)


@pytest.mark.parametrize(
    ("moves", "end", "totals"),
    [
        ("a b a b a b a", "win", (2, 0)),
        ("a b b c d c c d e d d", "win", (2, 0)),
        ("g a a b b c c d", "win", (0, 2)),
        ("a a a a a a", None, (0, 0)),
    ],
)
def test_four_in_a_line_win(moves: str, end: str | None, totals: tuple[int, int]) -> None:
    game = make_game("connectfour", {})
    position = game.start(game.deal(0))
    for move in moves.split():
        position = game.play(position, move).position
    assert (game.end(position), game.totals(position)) == (end, totals)


@pytest.mark.parametrize(
    ("board", "text"),
    [
        ("......./.......", "a board is 6 rows of 7 cells joined by '/'"),
        ("/".join(["......."] * 4 + ["x......", "......."]), "lies on another or on the bottom"),
        ("/".join(["......."] * 5 + ["z......"]), "a disc is 'x' or 'o'"),
        ("/".join(["......."] * 5 + ["o......"]), "x has as many discs as o or one more, not 0 and 1"),
    ],
)
def test_the_game_of_the_page_refuses_a_position(board: str, text: str) -> None:
    with pytest.raises(GameError, match=text):
        make_game("connectfour", {}).start(Deal(board))


@pytest.mark.parametrize(
    ("moves", "move", "text"),
    [
        ("", "h", "a move of connectfour is a column from a to g, not 'h'"),
        ("a a a a a a", "a", "column a is full"),
        ("a b a b a b a", "b", "the game is over"),
    ],
)
def test_the_game_of_the_page_refuses_a_move(moves: str, move: str, text: str) -> None:
    game = make_game("connectfour", {})
    position = game.start(game.deal(0))
    for each in moves.split():
        position = game.play(position, each).position
    with pytest.raises(GameError) as refused:
        game.play(position, move)
    assert str(refused.value) == text


def test_the_contest_of_the_page_is_played_recorded_and_verified() -> None:
    page = tomllib.loads(CONTEST)
    options = {key: value for key, value in page["game"].items() if key != "clock"}
    ends: dict[str, PlayerEnd | ScriptEnd] = {
        bot["name"]: PlayerEnd(bot_of(SEEDED.get(bot["engine"], bot["engine"]), "connectfour"), bot["name"])
        for bot in page["bot"]
    }
    config = ContestConfig(seed=3, options=options, clock_ms=20_000, **page["contest"])
    world = Loopback(config, ends).run()
    assert world.finished == "finished"
    assert len(world.records) == 4
    for record in world.records.values():
        verify(record)
        assert record.totals[record.names.index("nosy")] == 2


def test_the_files_of_the_page_are_those_of_its_table() -> None:
    assert re.findall(r"^\| `([^`]+\.\w+)` \|", PAGE, re.MULTILINE) == list(FILES)


@pytest.mark.real
def test_the_package_has_its_players_and_its_own_tests_pass(package: Path) -> None:
    places = os.pathsep.join(filter(None, (str(package), os.environ.get("PYTHONPATH"))))
    env = {**os.environ, "PYTHONPATH": places}

    def output(*command: str) -> str:
        program = [sys.executable, "-m", *command]
        return subprocess.run(
            program, env=env, cwd=package, capture_output=True, text=True, check=True
        ).stdout

    listed = json.loads(output("arena_cli", "engines", "--game", "connectfour", "--json"))
    assert listed == {"connectfour": ["random", "nosy"]}
    passed = output("pytest", "-p", "no:cacheprovider", "-k", "four_in or brief", "tests")
    assert re.search(r" 4 passed, \d+ deselected", passed)


@pytest.mark.real
@pytest.mark.skipif(not CAN_BUILD, reason="pip builds a package with setuptools 70.1 or with wheel")
@pytest.mark.soak
def test_pip_installs_the_package_as_the_other_tests_do(package: Path, tmp_path: Path) -> None:
    write(tmp_path / "source")
    offline = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation")
    command = [sys.executable, "-m", "pip", "install", *offline, "--target", "installed", "./source"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    def entries(folder: Path) -> dict[str, dict[str, str]]:
        (file,) = folder.glob("arena_connectfour-*.dist-info/entry_points.txt")
        parser = ConfigParser()
        parser.read(file)
        return {group: dict(parser[group]) for group in parser.sections()}

    assert entries(tmp_path / "installed") == entries(package)
    installed = tmp_path / "installed/arena_connectfour"
    assert {path.name for path in installed.glob("*.py")} == {"__init__.py", "game.py", "nosy.py"}


def test_the_words_of_the_page_have_the_options_of_the_game() -> None:
    game = make_game("connectfour", {})
    assert f"The game `{game.name}`" in WORDS
    assert {*re.findall(r"`(\w+)=`", WORDS)} == game.OPTIONS - {"seats"}
    assert ("no zombie move" in WORDS) == (game.zombie_move is None)


def test_the_places_of_a_game_of_arena_itself_are_there() -> None:
    named = re.findall(r"`(\w+/[\w/.]+)`", PAGE.partition("## 8. ")[2])
    assert len(named) == 6
    new = "protocol/arena_protocol/games/connectfour.py"
    assert [name for name in named if not (ROOT / name).exists()] == [new]


def test_the_transcript_of_the_page_is_what_the_wire_says() -> None:
    game = make_game("connectfour", {})
    for line in TRANSCRIPT.splitlines():
        side, text = line.split(maxsplit=1)
        message = (parse_server if side == "S" else parse_client)(text.encode("ascii"))
        assert message is not None
        assert encode(message) == text.encode("ascii") + b"\n"
    assert f"STATE {game.deal(0).board}" in TRANSCRIPT


def test_the_commands_of_the_page_exist() -> None:
    commands = re.findall(r"^arena (\w+)", PAGE, re.MULTILINE)
    assert commands == ["tournament", "replay", "verify", "play", "play", "explain"]


@pytest.mark.real
@pytest.mark.soak
def test_the_code_of_the_page_is_in_the_style_of_the_house() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    for source in (text for name, text in FILES.items() if name.endswith(".py")):
        for command in (["check", "--quiet"], ["format", "--check", "--quiet"]):
            name = ["--stdin-filename", "protocol/arena_protocol/games/page.py", "-"]
            ran = subprocess.run([ruff, *command, *name], input=source, text=True, cwd=ROOT, check=False)
            assert ran.returncode == 0
