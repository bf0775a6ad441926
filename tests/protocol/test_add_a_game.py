"""docs/add-a-game.md, executed: its code becomes a game that obeys the laws and plays a contest."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_engines import registry
from arena_engines.bot import bot_of
from arena_engines.engine import RandomMover
from arena_engines.registry import playing
from arena_protocol import games
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, GameError
from arena_protocol.messages import encode, parse_client, parse_server
from arena_protocol.verify import verify
from arena_server.core.config import ContestConfig

from ..client.test_with_the_referee import Loopback, PlayerEnd, ScriptEnd
from .add_a_game import FILES, PAGE, PLAYER, PLUG_IN, POSITION, ROOT, ROW, TRANSCRIPT, copy, follow
from .laws import LAWS, Law

#: One ply of search wins 98 of 100 games against random moves, so the test fixes the seed.
SEEDED = {"random": "random:seed=1"}


def module(name: str, source: str, folder: Path) -> ModuleType:
    file = folder / f"{name}.py"
    file.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"page_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made  # dataclasses look their module up
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module", autouse=True)
def connectfour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The game and the player of the page in this process; `random` needs no entry in a real one."""
    folder = tmp_path_factory.mktemp("page")
    game = module("connectfour", POSITION + "\n\n" + PLUG_IN, folder)
    player = module("nosy", PLAYER, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(games.GAMES, "connectfour", game.ConnectFour)
        seated = (playing("connectfour", RandomMover), player.Nosy)
        patch.setattr(registry, "ENGINES", (*registry.ENGINES, *seated))
        yield game


@pytest.mark.parametrize("columns", [4, 7, 9])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_game_of_the_page_obeys_the_laws(law: Law, columns: int) -> None:
    game = make_game("connectfour", {"columns": columns})

    @settings(max_examples=8, deadline=None)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        law(game, data)

    holds()


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
    page = tomllib.loads(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0])
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


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources in which the page was followed to the letter."""
    folder = tmp_path_factory.mktemp("followed")
    copy(folder)
    follow(folder)
    return folder


def test_the_files_of_the_page_are_all_that_it_changes(followed: Path) -> None:
    changed = {
        name
        for each in sorted(followed.rglob("*"))
        if each.is_file() and "__pycache__" not in each.parts
        for name in [each.relative_to(followed).as_posix()]
        if not (ROOT / name).exists() or (ROOT / name).read_bytes() != each.read_bytes()
    }
    assert len(FILES) == 3
    assert all(f"| `{name}` |" in PAGE for name in FILES)
    assert changed - {*FILES} == {
        "engines/arena_engines/small/nosy.py",
        "engines/arena_engines/registry.py",
    }, "a player of its own"


@pytest.mark.real
def test_a_game_of_the_page_has_its_players_where_it_says(followed: Path) -> None:
    places = os.pathsep.join(str(followed / part) for part in ("protocol", "engines"))
    ran = subprocess.run(
        [sys.executable, "-m", "arena_cli", "engines", "--game", "connectfour", "--json"],
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ran.stdout) == {"connectfour": ["random", "nosy"]}


def test_the_row_of_the_rules_has_the_options_of_the_game() -> None:
    cells = [cell.strip(" `") for cell in ROW.strip().strip("|").split("|")]
    game = make_game("connectfour", {})
    assert cells[0] == game.name
    assert {*re.findall(r"(\w+)=", cells[1])} == game.OPTIONS - {"seats"}
    assert (cells[4] == "none: forfeit") == (game.zombie_move is None)


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
def test_the_code_of_the_page_is_in_the_style_of_the_house() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    for source in (POSITION + "\n\n" + PLUG_IN, PLAYER):
        for command in (["check", "--quiet"], ["format", "--check", "--quiet"]):
            name = ["--stdin-filename", "protocol/arena_protocol/games/page.py", "-"]
            ran = subprocess.run([ruff, *command, *name], input=source, text=True, cwd=ROOT, check=False)
            assert ran.returncode == 0
