"""Engines by name: what is right makes a player, what is wrong is one clear line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_cli.engines import command as list_engines
from arena_engines.engine import EngineError
from arena_engines.registry import OUTSIDE, create, engine_class, engines_of, problems, usual_opponent
from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import GameError

from ..plugged import install, plugged
from .positions import at

ENGINES = [kind for game in GAMES for kind in engines_of(game).values()]
BOARD = "53351/34233/13552/44215/44526"


def test_every_engine_is_made_from_its_name_and_from_its_spec() -> None:
    for kind in ENGINES:
        engine = create(kind.name, kind.game)
        assert type(engine) is kind
        assert create(engine.spec, kind.game).spec == engine.spec


def test_a_parameter_is_set_and_the_rest_keeps_its_default() -> None:
    assert create("minimax").spec == "minimax:depth=4,strategy=cooperative,switch=85,wildcards=0"
    assert create("champion:depth=3").values["depth"] == 3
    assert create("random:seed=7").spec == "random:seed=7"
    assert repr(create("dummy")) == "create('dummy')"


@all_of(
    ("spec", "texts"),
    [
        ("alphazero", ["no engine 'alphazero' for insertion", "dummy", "greedy", "minimax", "champion"]),
        ("", ["no engine ''", "champion"]),
        ("champion:deep=5", ["engine champion has no parameter 'deep'", "depth=1..20"]),
        ("champion:", ["engine champion has no parameter ''", "depth=1..20"]),
        ("dummy:depth=5", ["engine dummy has no parameter 'depth'", "it takes none"]),
        ("champion:depth=five", ["engine champion: depth=five: expected depth=1..20"]),
        ("champion:depth=0", ["depth=0: expected depth=1..20"]),
        ("champion:depth=21", ["depth=21: expected depth=1..20"]),
        ("champion:depth=", ["depth=: expected depth=1..20"]),
        ("champion:depth=-1", ["depth=-1: expected depth=1..20"]),
        ("champion:depth=4,depth=5", ["engine champion:depth=4,depth=5: depth is given twice"]),
    ],
)
def test_a_wrong_specification_is_one_line_with_the_right_ones(spec: str, texts: list[str]) -> None:
    with pytest.raises(EngineError) as caught:
        create(spec)
    text = str(caught.value)
    assert "\n" not in text
    for part in texts:
        assert part in text


def test_an_unknown_game_is_refused_with_the_known_ones() -> None:
    with pytest.raises(EngineError, match=r"no engine plays 'go'; engines play: .*disc, insertion, lastcoin"):
        engine_class("champion", "go")


@pytest.mark.real
def test_engines_are_listed_made_and_the_simple_ones_play_without_numba() -> None:
    program = (
        "import sys\n"
        "from arena_engines.registry import create\n"
        "from arena_engines.engine import Position\n"
        "from arena_protocol.games.insertion import Insertion\n"
        f"position = Position.at(Insertion(), {BOARD!r}, '61634')\n"
        "create('champion')\n"
        "for name in ('dummy', 'random', 'greedy'):\n"
        "    create(name).choose(position)\n"
        "sys.exit('numba' in sys.modules or 'numpy' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("name", [kind.name for kind in ENGINES if kind.game == "insertion"])
@all_of("seats", [2, 3, 4])
@all_of("visible", ["6", "61", "61634", "61634513435625445315616345134356"])
def test_every_engine_plays_a_legal_move_with_any_seats_and_any_lookahead(
    name: str, seats: int, visible: str
) -> None:
    engine = create(f"{name}:depth=2" if "depth" in create(name).values else name)
    for plies in (200, 2, 1):
        assert 1 <= int(engine.choose(at(BOARD, visible[:plies], plies=plies, seats=seats))) <= 15


@all_of("name", [kind.name for kind in ENGINES if kind.game == "insertion" and kind.max_depth])
@all_of(
    ("visible", "depth", "text"),
    [("", 2, "no picture is visible"), ("61", 0, "depth=0: expected at least 1")],
)
def test_an_analysis_without_a_picture_or_a_depth_is_refused_by_every_engine(
    name: str, visible: str, depth: int, text: str
) -> None:
    with pytest.raises(EngineError, match=text):
        create(name).analyse(at(BOARD, visible), depth)


@all_of(
    ("board", "visible", "text"),
    [
        ("nonsense", "61", "a board is five rows of five cells"),
        ("1..../...../...../...../.....", "61", "hangs over an empty cell"),
        ("...../...../...../...../.111.", "61", "no run of three or more"),
        (BOARD, "68", "a picture of the sequence is a colour"),
        (BOARD, "6a", "a picture of the sequence is a colour"),
    ],
)
def test_a_text_that_is_no_position_is_refused(board: str, visible: str, text: str) -> None:
    with pytest.raises(GameError, match=text):
        at(board, visible)


def test_a_person_has_an_opponent_in_every_game() -> None:
    assert all(create(usual_opponent(game), game) for game in GAMES)
    usual = [usual_opponent(game) for game in ("insertion", "xo", "tictactoe", "disc")]
    assert usual == ["greedy", "xo", "perfect", "perfect"]
    with pytest.raises(EngineError, match="no engine plays 'chess'; engines play: "):
        usual_opponent("chess")


NOSY = """
from arena_engines.engine import Engine, RandomMover

class Nosy(RandomMover):
    game, name = "xo", "nosy"

class Keen(RandomMover):
    game, name, stronger_than = "tictactoe", "keen", "random"

class Taken(RandomMover):
    game, name = "lastcoin", "perfect"

class Unfinished(Engine):
    name = "unfinished"

ALL = [Nosy, Keen, Taken]
"""


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[None]:
    """A package with engines, of which some cannot be used."""
    (tmp_path / "nosypack.py").write_text(NOSY)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "nosy-pack"\nversion = "1"\n[project.entry-points."arena.engines"]\n'
        'all = "nosypack:ALL"\nunfinished = "nosypack:Unfinished"\n'
        'text = "nosypack:NO"\nnumber = "sys:maxsize"\n'
    )
    install(tmp_path, tmp_path / "pyproject.toml")
    with plugged(tmp_path):
        yield


@pytest.mark.usefixtures("installed")
def test_a_package_adds_engines_where_they_say() -> None:
    assert list(engines_of("tictactoe"))[:2] == ["random", "keen"]
    assert list(engines_of("xo"))[-1] == "nosy"
    assert create("nosy:seed=3", "xo").spec == "nosy:seed=3"
    assert usual_opponent("xo") == "nosy"
    assert type(create("perfect", "lastcoin")).__module__.startswith("arena_engines.")


@pytest.mark.usefixtures("installed")
def test_engines_that_cannot_be_used_are_a_line_each_and_the_rest_loads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    what, expected = "cannot be used", "expected a subclass of arena_engines.engine.Engine, or a list of them"
    lines = [
        f"arena.engines: number = sys:maxsize of nosy-pack {what}: TypeError: {sys.maxsize} is no subclass of"
        f" Engine; {expected}",
        f"arena.engines: text = nosypack:NO of nosy-pack {what}: AttributeError: module 'nosypack' has no"
        f" attribute 'NO'; {expected}",
        f"arena.engines: unfinished = nosypack:Unfinished of nosy-pack {what}: TypeError: Unfinished does not"
        f" define: choose, game; {expected}",
        "arena.engines: nosypack.Taken is left out: lastcoin has another engine named perfect",
    ]
    assert problems() == lines
    list_engines(game="lastcoin")
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [f"arena: {line}" for line in lines]
    assert printed.out.splitlines()[0] == "lastcoin"
    with pytest.raises(EngineError) as refused:
        create("unfinished", "xo")
    assert str(refused.value).endswith("; ".join(["", *lines]))


def test_an_engine_that_is_built_in_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    OUTSIDE.search()
    GAMES.search()
    monkeypatch.setattr(metadata, "entry_points", None)
    assert create("champion:depth=3").name == "champion"
    assert create("random", "xo").name == "random"
    assert make_game("disc", {}).name == "disc"
