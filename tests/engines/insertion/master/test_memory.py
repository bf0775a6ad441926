"""What master keeps of its opponents: weights, names, the file, and what it brings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_cli.engine_games import play_game
from arena_engines.engine import Engine, EngineError
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.master import engine
from arena_engines.insertion.master.memory import MOST_NAMES, NEW, NO, YES, OpponentMemory, read
from arena_engines.insertion.master.opponent import (
    CARRIED,
    MODELS,
    OpponentModel,
    OpponentModels,
    Score,
    Shortfall,
)
from arena_engines.registry import create
from arena_protocol.games.insertion import Insertion

from .games import AnyOfEquals, Plain, master

BEST = MODELS[3]


def met(moves: int, right: OpponentModel = BEST) -> dict[OpponentModel, Score]:
    """The scores after a game in which one model predicted every move and no other any."""
    models = OpponentModels()
    for _ in range(moves):
        models.update(lambda model: float(model == right))
    return models.scores


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """All models are scored after every move, however busy the machine is."""
    monkeypatch.setattr(engine, "perf_counter", lambda: 0.0)


def games(one: Engine, others: Mapping[str, Engine], plies: int = 40) -> list[str]:
    """Play a game against each; return what `one` said at its first move and its last."""
    one.warm_up()
    notes = []
    rules = Insertion.from_options({"plies": plies, "lookahead": 5})
    for number, (name, other) in enumerate(others.items()):
        said: list[str] = []
        choose = one.choose

        def noted(position: Any, choose: Any = choose, said: list[str] = said) -> int | str:
            move: int | str = choose(position)
            said.append(one.report.text if one.report else "")
            return move

        one.choose = noted  # type: ignore[method-assign]
        play_game(rules, rules.deal(number), (one, other), names=("one", name.partition("/")[0]))
        one.choose = choose  # type: ignore[method-assign]
        notes += [said[0], said[-1]]
    return notes


@given(st.integers(1, 300), st.sampled_from(MODELS))
def test_what_was_learnt_weighs_at_most_as_some_moves(moves: int, right: OpponentModel) -> None:
    scores = met(moves, right)
    models = OpponentModels()
    models.restart(scores)
    for model, score in models.scores.items():
        assert score.moves <= CARRIED + 1e-9
        assert score.hits / score.moves == pytest.approx(scores[model].hits / scores[model].moves)
    assert models.best == right or moves == 1


@pytest.mark.parametrize("moves", [20, 200])
def test_a_program_that_has_changed_behind_its_name_is_noticed_within_a_game(moves: int) -> None:
    models = OpponentModels()
    models.restart(met(moves))
    assert models.best == BEST
    changed = MODELS[40]
    noticed = 0
    while models.best != changed:
        models.update(lambda model: float(model == changed))
        noticed += 1
    assert noticed <= CARRIED


#: The moves of one seat in two games of 200 plies.
TWO_GAMES = 200


@pytest.mark.parametrize("less", [0.2, 0.31, 0.75])  # of two tree searches (docs/engines.md); far more
def test_a_shortfall_learnt_from_another_program_is_given_up_within_two_games(less: float) -> None:
    shortfall = Shortfall()
    for _ in range(10 * TWO_GAMES):
        shortfall = shortfall.after(less)
    assert shortfall.mean > engine.MOST_SHORTFALL
    noticed = 0
    while shortfall.mean > engine.MOST_SHORTFALL:
        shortfall = shortfall.after(0.0)
        noticed += 1
    assert noticed <= TWO_GAMES


@pytest.mark.usefixtures("patient")
def test_a_known_opponent_is_planned_against_from_the_first_move(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    others = {"plain": Plain(0, False), "plain/2": Plain(0, False), "other": Champion({"depth": 1})}
    first, _, second, _, other, _ = games(master(memory=str(path)), others)
    assert first == "against the worst reply"
    assert second.startswith("against the reply of ")
    assert second.endswith("; plain is known from 1 game")
    assert "known" not in other
    again, last = games(master(memory=str(path)), {"plain": Plain(0, False)})
    assert again.startswith("against the reply of ")
    assert again.endswith("; plain is known from 2 games")
    assert last.endswith("; plain is known from 2 games")
    assert {name: each.games for name, each in read(path).items()} == {"other": 1, "plain": 3}


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("opponent", "shortfall", "says"),
    [
        (
            AnyOfEquals(0),
            [50.0, 50.0],
            "against the worst reply, which it prefers among equals; rival is known",
        ),
        (AnyOfEquals(0), [0.0, 50.0], "against the reply of "),
        (AnyOfEquals(0), None, "against the reply of "),  # a file of an earlier version
        (Plain(0, False), [50.0, 50.0], "against the reply of "),  # its moves are predicted one by one
    ],
)
@pytest.mark.soak  # master thinks by the clock: on a busy machine its moves, and so the game, are others
def test_who_chooses_the_worse_of_equals_is_not_planned_against(
    opponent: Plain, shortfall: list[float] | None, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "known.json"
    games(master(memory=str(path)), {"rival": opponent}, plies=100)
    data = json.loads(path.read_text())
    data["opponents"]["rival"].pop("shortfall")
    if shortfall:
        data["opponents"]["rival"]["shortfall"] = shortfall
    path.write_text(json.dumps(data))
    first, _ = games(master(memory=str(path)), {"rival": opponent})
    assert first.startswith(says)


@pytest.mark.usefixtures("patient")
def test_without_memory_every_opponent_is_new() -> None:
    others = {"plain": Plain(0, False), "plain/2": Plain(0, False)}
    assert not any("known" in note for note in games(master(memory=NO), others))


def test_opponents_without_a_name_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    one = master(memory=str(path))
    rules = Insertion.from_options({"plies": 10})
    for number in (1, 2):
        play_game(rules, rules.deal(number), (one, Plain(0, False)))
    assert not path.exists()


@given(st.dictionaries(st.text("abc-", min_size=1, max_size=9), st.integers(1, 50), max_size=5))
def test_a_file_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, int]
) -> None:
    path = tmp_path_factory.mktemp("memory") / "known.json"
    memory = OpponentMemory(str(path))
    for name, moves in given.items():
        memory.keep(name, met(moves), Shortfall(moves / 7, moves))
    again = OpponentMemory(str(path))
    for name in given:
        ours, theirs = again.recall(name), memory.recall(name)
        assert ours.games == theirs.games == 1
        assert ours.scores.keys() == theirs.scores.keys()
        assert ours.shortfall == pytest.approx(theirs.shortfall, abs=1e-4)
        for model, score in ours.scores.items():
            assert score == pytest.approx(theirs.scores[model], abs=1e-4)
    assert [each.name for each in path.parent.iterdir()] == (["known.json"] if given else [])


def test_the_opponents_met_last_are_kept() -> None:
    memory = OpponentMemory(YES)
    for number in range(MOST_NAMES + 1):
        memory.keep(f"bot{number}", {}, Shortfall())
        memory.keep("bot0", {}, Shortfall())
    assert memory.recall("bot0").games == MOST_NAMES + 2
    assert memory.recall("bot1") == NEW
    assert memory.recall("bot2").games == 1


GOOD = {"games": 1, "models": [[*MODELS[0][:3], 2.0, 3.0, 0.0]]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        "[]",
        "{}",
        json.dumps({"format": "other", "opponents": {}}),
        json.dumps({"format": "master memory 1", "opponents": []}),
        *(
            json.dumps({"format": "master memory 1", "opponents": {"a": {**GOOD, **wrong}}})
            for wrong in (
                {"games": 0},
                {"games": "1"},
                {"models": 5},
                {"models": [[1, 2]]},
                {"models": [[99, 5, 1, 2.0, 3.0, 0.0]]},
                {"models": [[*MODELS[0][:3], 4.0, 3.0, 0.0]]},
                {"models": [[*MODELS[0][:3], 0.0, 0.0, 0.0]]},
                {"models": [[*MODELS[0][:3], 2.0, 3.0, float("nan")]]},
                {"shortfall": 5},
                {"shortfall": [1.0]},
                {"shortfall": [1.0, 2.0, 3.0]},
                {"shortfall": [1.0, -2.0]},
                {"shortfall": [float("nan"), 2.0]},
                {"shortfall": ["many", 2.0]},
            )
        ),
    ],
)
def test_a_file_of_something_else_is_set_aside(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "known.json"
    path.write_text(text)
    memory = OpponentMemory(str(path))
    assert [each.getMessage() for each in caplog.records] == [
        f"memory={path}: no file that master wrote; it is known.json.damaged now; every opponent is new"
    ]
    assert memory.recall("rival").games == 0
    assert (tmp_path / "known.json.damaged").read_text() == text
    memory.keep("rival", met(3), Shortfall())
    assert OpponentMemory(str(path)).recall("rival").games == 1


def test_a_file_that_cannot_be_set_aside_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "known.json"
    path.write_text("mine")
    (tmp_path / "known.json.damaged").mkdir()
    memory = OpponentMemory(str(path))
    assert [each.getMessage() for each in caplog.records] == [
        f"memory={path}: no file that master wrote; it stays as it is (Is a directory), and nothing is kept; "
        "every opponent is new"
    ]
    memory.keep("rival", met(3), Shortfall())
    assert (path.read_text(), memory.recall("rival").games) == ("mine", 1)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"^memory=.*: there is no folder .*none$"):
        create(f"master:memory={tmp_path}/none/known.json")
    with pytest.raises(EngineError, match=r"^memory=.*: Is a directory$"):
        create(f"master:memory={tmp_path}")
    with pytest.raises(EngineError, match=r"memory=: expected memory=yes\|no\|FILE$"):
        create("master:memory=")


def test_a_file_that_cannot_be_written_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    memory = OpponentMemory(str(folder / "known.json"))
    folder.rmdir()
    memory.keep("rival", met(3), Shortfall())
    assert [each.getMessage() for each in caplog.records] == [
        f"memory={folder}/known.json cannot be written: No such file or directory"
    ]
    assert memory.recall("rival").games == 1
