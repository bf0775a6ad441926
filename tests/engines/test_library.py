"""Engines with a library: they play its moves, turned to fit, and extend it with what they find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_engines.engine import Analysis, AnyPosition, EngineError, Position
from arena_engines.library import LAST_PLY, Library, turned
from arena_engines.registry import create
from arena_protocol.games import make_game

BOARD = "53351/34233/13552/44215/44526"


def at(name: str, state: str, sequence: str = "", **options: object) -> AnyPosition:
    return Position.at(make_game(name, options), state, sequence)


def written(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


boards = st.lists(st.sampled_from("xo.."), min_size=9, max_size=9).map(
    lambda cells: "/".join("".join(cells[row : row + 3]) for row in (0, 3, 6))
)


@given(boards, st.integers(0, 7))
def test_a_symmetry_keeps_rows_columns_and_diagonals(board: str, symmetry: int) -> None:
    def lines(text: str) -> set[tuple[str, str]]:
        rows = text.split("/")
        columns = ["".join(row[at] for row in rows) for at in range(3)]
        diagonals = ["".join(rows[at][at] for at in range(3)), "".join(rows[at][2 - at] for at in range(3))]
        return {
            (kind, min(line, line[::-1]))
            for kind, found in (("row or column", (*rows, *columns)), ("diagonal", diagonals))
            for line in found
        }

    assert lines(turned(board, symmetry)) == lines(board)
    assert len({turned("x.o/.../...", each) for each in range(8)}) == 8


@given(st.integers(0, 7), st.integers(0, 7), st.data())
def test_a_move_is_found_in_every_symmetry(stored: int, asked: int, data: st.DataObject) -> None:
    """The position after the move is the same one, turned: a slow check that needs no inverse."""
    rules = make_game("tictactoe", {"size": 4, "win": 3})
    state = "x.o./..../.x../...."
    start: Position[Any, Any] = Position.at(rules, turned(state, stored))
    move = data.draw(st.sampled_from(rules.legal_moves(start.state)))
    library = Library(Path("nowhere.jsonl"))
    assert library.add(start, Analysis(move, (7,), 1, 2), "test")
    position: Position[Any, Any] = Position.at(rules, turned(state, asked))
    found = library.find(position)
    assert found is not None
    assert found.move is not None
    assert (found.value, found.depth, found.state) == (7, 2, turned(state, asked))
    after = [
        rules.state_text(rules.play(each.state, made).position)
        for each, made in ((start, move), (position, found.move))
    ]
    assert after[1] in {turned(after[0], symmetry) for symmetry in range(8)}


def test_the_deeper_of_two_entries_stays() -> None:
    library = Library(Path("nowhere.jsonl"))
    position = at("tictactoe", "x../.../...")
    assert library.add(position, Analysis("b2", (0,), 1, 3), "a")
    assert not library.add(at("tictactoe", "..x/.../..."), Analysis("a1", (0,), 1, 3), "b")
    assert library.add(at("tictactoe", ".../.../..x"), Analysis("a1", (0,), 1, 4), "c")
    assert len(library) == 1
    found = library.find(position)
    assert found is not None
    assert found.engine == "c"
    assert found.move in {"a1", "c3"}  # the corners next to x are the same by symmetry


def test_an_entry_of_insertion_serves_every_position_with_its_pictures() -> None:
    library = Library(Path("nowhere.jsonl"))
    assert library.add(at("insertion", BOARD, "123456"), Analysis(7, (30, 0, 0), 1, 2), "champion")
    for sequence in ("12", "1265", "123456123456"):
        found = library.find(at("insertion", BOARD, sequence))
        assert found is not None
        assert (found.move, found.value, found.sequence) == ("7", 30, "12")
    for sequence in ("1", "13", ""):
        assert library.find(at("insertion", BOARD, sequence)) is None
    assert library.add(at("insertion", BOARD, "123456"), Analysis(8, (), 1, 4), "champion")
    found = library.find(at("insertion", BOARD, "123456"))
    assert found is not None
    assert found.move == "8"


@pytest.mark.parametrize(
    ("game", "engine", "state", "options", "move"),
    [
        ("tictactoe", "openlines", "x../.../...", {}, "c1"),
        ("xo", "xo", "/".join(["." * 10] * 10), {}, "a1"),
        ("xo", "xo1970", "/".join(["." * 12] * 12), {"size": 12}, "a1"),
        ("insertion", "greedy", BOARD, {}, "15"),
        ("insertion", "random:seed=1", BOARD, {}, "15"),
    ],
)
def test_an_engine_plays_the_move_of_the_library(
    game: str, engine: str, state: str, options: dict[str, object], move: str, tmp_path: Path
) -> None:
    path = tmp_path / "library.jsonl"
    entry: dict[str, object] = {"game": game, "state": state, "move": move}
    if game == "insertion":
        entry["sequence"] = "12"
    entry["options"] = {key: str(value) for key, value in options.items()}
    path.write_text(json.dumps(entry) + "\n", encoding="utf-8")
    player = create(f"{engine}{',' if ':' in engine else ':'}library={path}", game)
    position = at(game, state, "123456" if game == "insertion" else "", **options)
    assert str(player.choose(position)) == move
    assert written(path) == [entry]
    assert create(player.spec, game).spec == player.spec


def test_an_engine_extends_the_library_by_its_moves_and_analyses(tmp_path: Path) -> None:
    path = tmp_path / "library.jsonl"
    player = create(f"openlines:depth=2,library={path},extend=yes", "tictactoe")
    position = at("tictactoe", "x../.../...")
    move = player.choose(position)
    assert written(path) == [
        {
            "game": "tictactoe",
            "options": {"size": "3", "win": "3"},
            "state": "x../.../...",
            "move": move,
            "engine": "openlines:depth=2",
        }
    ]
    answer = player.analyse(position, 4)
    (entry,) = written(path)
    assert (entry["move"], entry["depth"], entry["value"]) == (answer.move, 4, answer.eval[0])
    player.analyse(position, 3)
    assert written(path) == [entry]
    assert player.choose(position) == answer.move
    assert create(player.spec, "tictactoe").spec == player.spec


@pytest.mark.parametrize(
    ("game", "engine", "state", "depth"),
    [
        ("insertion", "champion:depth=3", BOARD, 3),
        ("xo", "xo:depth=2", "/".join(["." * 10] * 9 + [".....x...."]), 2),
    ],
)
def test_what_a_search_reports_is_kept_and_reported_again(
    game: str, engine: str, state: str, depth: int, tmp_path: Path
) -> None:
    path = tmp_path / "library.jsonl"
    player = create(f"{engine},library={path},extend=yes", game)
    player.warm_up()
    position = at(game, state, "123456" if game == "insertion" else "")
    move = player.choose(position)
    (entry,) = written(path)
    found = player.report
    assert found is not None
    assert (entry["depth"], entry.get("sequence", "")) == (
        depth,
        "123456"[:depth] if game == "insertion" else "",
    )
    assert entry.get("value") == (None if game == "insertion" else found.eval)
    again = create(f"{engine},library={path}", game)
    assert str(again.choose(position)) == str(move)
    assert again.report is not None
    assert tuple(again.report) == (depth, entry.get("value"), None, (str(move),), "")


def test_late_moves_are_not_added(tmp_path: Path) -> None:
    path = tmp_path / "library.jsonl"
    player = create(f"greedy:library={path},extend=yes")
    position = at("insertion", BOARD, "123456")
    late = Position(rules=position.rules, state=position.state, start=BOARD, moves=("6",) * LAST_PLY)
    player.choose(late)
    assert not path.exists()


def test_two_engines_extend_one_file(tmp_path: Path) -> None:
    path = tmp_path / "library.jsonl"
    players = [create(f"openlines:depth=2,library={path},extend=yes", "tictactoe") for _ in range(2)]
    for player, state in zip(players, ("x../.../...", ".x./.../..."), strict=True):
        player.choose(at("tictactoe", state))
    players[0].choose(at("tictactoe", ".../.x./..."))
    assert list(tmp_path.iterdir()) == [path]
    states = {entry["state"] for entry in written(path)}
    assert states == {"x../.../...", ".x./.../...", ".../.x./..."}


@all_of(
    ("spec", "text"),
    [
        ("greedy:library=", "engine greedy: expected library=FILE and extend=yes|no"),
        ("greedy:extend=yes", "engine greedy: expected library=FILE and extend=yes|no"),
        ("greedy:library=x.jsonl,extend=maybe", "engine greedy: expected library=FILE and extend=yes|no"),
        ("greedy:library=x,library=y", "library is given twice"),
        ("greedy:library=.", "cannot read the library .: Is a directory"),
    ],
)
def test_a_wrong_library_is_one_line(spec: str, text: str) -> None:
    with pytest.raises(EngineError) as refused:
        create(spec)
    assert text in str(refused.value)


def test_a_file_that_is_no_library_or_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"\xff")
    with pytest.raises(EngineError, match=r"bad\.jsonl: it is not text"):
        Library(bad)
    bad.write_text("{}\n", encoding="utf-8")
    with pytest.raises(EngineError, match="line 1 of the library: expected the keys game and state"):
        Library(bad)
    with pytest.raises(EngineError, match=r"cannot write the library .*: No such file or directory"):
        Library(tmp_path / "nowhere" / "library.jsonl").save()
