"""`arena tune`: the search finds a known optimum, goes on after its end, and says what is wrong."""

from __future__ import annotations

import json
import math
import random
import re
import signal
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from arena_cli.app import app
from arena_cli.drawing import svg_text
from arena_cli.program import user_message
from arena_cli.tune import tune
from arena_cli.tune_picture import chart
from arena_cli.tune_search import Param, Point, Spsa, filled, read_params, step_seed
from arena_cli.tune_state import TuneFile, TuneStep
from arena_server.errors import ConfigError, StoreError

SHORT = ("--option", "plies=8", "--clock", "60s")
ENGINE = "champion:depth={d}"


def arena(*arguments: str) -> tuple[str, str, int, str | None]:
    done = CliRunner().invoke(app, ["tune", *arguments])
    error = done.exception
    message = user_message(error) if isinstance(error, Exception) else None
    return done.stdout, done.stderr, done.exit_code, message


def scripted(
    params: tuple[Param, ...], best: tuple[float, ...], noise: float, seed: int
) -> Callable[[int, Point, Point], TuneStep]:
    """A player whose strength falls with the square of the distance to `best`; a match of it has noise."""
    draws = random.Random(seed)

    def strength(point: Point) -> float:
        values = [param.value(place) for param, place in zip(params, point, strict=True)]
        return -sum(
            ((value - mid) / (param.high - param.low)) ** 2
            for param, value, mid in zip(params, values, best, strict=True)
        )

    def measure(number: int, plus: Point, minus: Point) -> TuneStep:
        lead = math.tanh(4 * (strength(plus) - strength(minus))) + draws.gauss(0, noise)
        return TuneStep({}, {}, lead, 8)

    return measure


K = Param.of("k=0.1:2.0")
N = Param.of("n=1:9:int@2")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("params", "best", "noise", "band"),
    [
        ((K,), (0.5,), 0.2, 0.25),
        ((K,), (2.0,), 0.2, 0.25),  # at the end of the range
        ((N,), (7.0,), 0.2, 1.0),
        ((K, N), (1.6, 3.0), 0.1, 1.0),
        ((Param.of("k=1e-3:1e-2"),), (4e-3,), 0.2, 1.5e-3),  # the unit does not matter
    ],
)
def test_it_finds_the_best_values_of_a_scripted_player(
    params: tuple[Param, ...], best: tuple[float, ...], noise: float, band: float, seed: int
) -> None:
    search, done = Spsa(params, 150, seed), list[TuneStep]()
    assert not tune(search, params, 150, scripted(params, best, noise, seed), done, lambda _: None)
    assert (search.told, len(done)) == (150, 150)
    for param, place, value in zip(params, search.best(), best, strict=True):
        assert abs(param.value(place) - value) <= band


def test_a_run_that_goes_on_is_the_run_that_was_not_ended() -> None:
    whole, measured = Spsa((K, N), 40, 1), list[TuneStep]()
    tune(whole, (K, N), 40, scripted((K, N), (1.0, 5.0), 0.3, 2), measured, lambda _: None)
    again = Spsa((K, N), 40, 1)
    for step in measured[:17]:
        again.tell(step.lead)
    later = iter(measured[17:])
    tune(again, (K, N), 40, lambda number, plus, minus: next(later), [], lambda _: None)
    assert again.path == whole.path


def test_a_signal_ends_it_between_two_steps_and_in_one() -> None:
    done: list[TuneStep] = []
    kept: list[int] = []

    def measure(number: int, plus: Point, minus: Point) -> TuneStep | None:
        if number == 3:
            signal.raise_signal(signal.SIGINT)
        return TuneStep({}, {}, 0.1, 8)

    assert tune(Spsa((K,), 9, 1), (K,), 9, measure, done, lambda steps: kept.append(len(steps)))
    assert (len(done), kept) == (3, [1, 2, 3])
    assert tune(Spsa((K,), 9, 1), (K,), 9, lambda *_: None, done, lambda _: None)
    assert len(done) == 3


@given(
    whole=st.booleans(),
    low=st.integers(-50, 50),
    wide=st.integers(1, 100),
    seed=st.integers(0, 2**32),
    leads=st.lists(st.floats(-2, 2), max_size=30),
)
def test_both_points_are_in_the_range_and_differ(
    whole: bool, low: int, wide: int, seed: int, leads: list[float]
) -> None:
    param = Param("p", low, low + wide, low + wide / 2, whole)
    search = Spsa((param,), 30, seed)
    for lead in [*leads, 0.0]:
        points = search.ask()
        assert points == search.ask()
        values = [param.value(point[0]) for point in points]
        assert values[0] != values[1]
        assert all(low <= value <= low + wide for value in values)
        search.tell(lead)
        assert all(0 <= place <= 1 for place in (*search.path[-1], *search.best()))


def test_no_two_steps_have_equal_deals() -> None:
    seeds = {step_seed(seed, step) for seed in range(3) for step in range(1, 200)}
    assert len(seeds) == 3 * 199


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k=0.1:2.0", Param("k", 0.1, 2.0, 1.05)),
        ("k=-1:1@0.5", Param("k", -1, 1, 0.5)),
        ("n=1:8:int", Param("n", 1, 8, 4.5, True)),
        ("n=1:8:int@3", Param("n", 1, 8, 3, True)),
    ],
)
def test_parameters(text: str, expected: Param) -> None:
    assert Param.of(text) == expected


def test_other_braces_stay() -> None:
    bot = "bot '{\"a\": 1}' {k} {n} {k}"
    params = read_params(["k=0:1", "n=1:10000000:int@10000000"], bot)
    assert filled(bot, params, (0.25, 1.0)) == "bot '{\"a\": 1}' 0.25 10000000 0.25"


@pytest.mark.parametrize(
    ("texts", "bot", "message"),
    [
        (["k"], "b {k}", "--param: expected NAME=LOW:HIGH, NAME=LOW:HIGH:int or ...@START, got 'k'"),
        (["k=1:x"], "b {k}", "--param: expected a number in 'k=1:x', got 'x'"),
        (["k=1:inf"], "b {k}", "--param: expected a number in 'k=1:inf', got 'inf'"),
        (["k=1:2.5:int"], "b {k}", "--param: expected a whole number in 'k=1:2.5:int', got '2.5'"),
        (["k=2:1"], "b {k}", "--param k: expected LOW less than HIGH, got 'k=2:1'"),
        (["k=1:2@3"], "b {k}", "--param k: expected a start from 1 to 2, got 3"),
        (["k=1:2", "k=1:3"], "b {k}", "--param k: expected each parameter once"),
        (["k=1:2"], "b", "--param k: expected {k} in the command of the bot, got 'b'"),
        (["k=1:2"], "b {k} {m}", "'b {k} {m}' has {m}: expected --param m=LOW:HIGH"),
        ([], "b", "expected --param NAME=LOW:HIGH, and {NAME} in the command of the bot"),
    ],
)
def test_wrong_parameters_get_one_line(texts: list[str], bot: str, message: str) -> None:
    words = [word for text in texts for word in ("--param", text)]
    assert arena(bot, *words)[3] == message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--games", "7"), "--games: expected at least 8, the games of a step, got 7"),
        (
            ("--games", "15", "--against", "greedy"),
            "--games: expected at least 16, the games of a step, got 15",
        ),
        (("--option", "seats=3"), "tune: expected a game of two seats, insertion has 3 here"),
        (("--plot", "no/t.svg"), "--plot: no/t.svg: the folder 'no' does not exist"),
        (("--keep", "no/t.json"), "--keep: no/t.json: the folder 'no' does not exist"),
        (("--keep", "/"), "--keep: expected a file, got the folder '/'"),
    ],
)
def test_what_cannot_be_tuned(words: tuple[str, ...], message: str) -> None:
    assert arena(ENGINE, "--param", "d=1:3:int", *words)[3] == message


def test_a_tuning_of_an_engine_that_goes_on(tmp_path: Path) -> None:
    keep, plot = tmp_path / "t.json", tmp_path / "t.svg"
    words = (ENGINE, "--param", "d=1:3:int", *SHORT, "--deals", "1", "--keep", str(keep))
    whole = arena(*words, "--games", "8", "--json", "--plot", str(plot))
    assert whole[2] == 0
    lines = whole[1].splitlines()
    assert [line.split(":")[0] for line in lines] == [f"step {step} of 4" for step in range(1, 5)]
    answer = json.loads(whole[0])
    assert (answer["steps"], answer["games"], len(answer["history"])) == (4, 8, 4)
    assert [row["name"] for row in answer["parameters"]] == ["d"]
    assert all(step["plus"] != step["minus"] for step in answer["history"])
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
    # As it was when the third step ended.
    kept = json.loads(keep.read_text())
    keep.write_text(json.dumps(kept | {"steps": kept["steps"][:2]}))
    again = arena(*words, "--games", "8", "--json")
    assert again[1].splitlines()[0] == f"tune: {keep} has 2 of 4 steps; it goes on"
    assert again[1].splitlines()[1:] == lines[2:]
    assert again[0] == whole[0]
    table = arena(*words, "--games", "8")[0].splitlines()
    assert table[0].split() == ["parameter", "range", "start", "best", "later", "steps"]
    assert table[1].split()[:5] == ["d", "1", "to", "3", "2"]
    assert table[2] == "4 steps, 8 games"
    other = arena(*words, "--games", "8", "--seed", "7")
    assert other[3] == f"{keep}: has a tuning with seed 2006, not 7; give another file, or remove it"


def test_against_a_third_player_each_point_plays_it() -> None:
    words = ("--param", "d=1:3:int", *SHORT, "--deals", "1", "--games", "8", "--against", "greedy", "--json")
    answer = json.loads(arena(ENGINE, *words)[0])
    assert (answer["steps"], answer["games"]) == (2, 8)


def test_a_player_that_does_not_exist_gets_the_line_of_match() -> None:
    words = ("--param", "d=1:3:int", *SHORT, "--games", "8")
    assert str(arena("nosuch:depth={d}", *words)[3]).startswith("no engine 'nosuch'")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 9}', '{"format": 1, "steps": [1], "same": {}}'])
def test_a_file_that_no_tuning_has_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(StoreError, match=r"t\.json: expected what arena tune has kept \("):
        TuneFile(path, {}).read()


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be read: Is a directory"):
        TuneFile(tmp_path, {}).read()
    with pytest.raises(StoreError, match="cannot be written: No such file or directory"):
        missing(tmp_path).write([])


def test_the_file_is_replaced_at_once(tmp_path: Path) -> None:
    same: dict[str, Any] = {"bot": "b {k}", "env": [("A", "1")]}
    file, steps = TuneFile(tmp_path / "t.json", same), [TuneStep({"k": 1.0}, {"k": 2.0}, 0.25, 8, 1)]
    assert file.read() == []
    file.write(steps)
    assert file.read() == steps
    assert [each.name for each in tmp_path.iterdir()] == ["t.json"]
    with pytest.raises(
        ConfigError, match=r't\.json: has a tuning with bot "b {k}", not "c {k}"; give another'
    ):
        TuneFile(file.path, {**same, "bot": "c {k}"}).read()
    assert TuneFile(None, same).read() == []


def test_one_tuning_writes_a_file_at_a_time(tmp_path: Path) -> None:
    keep = tmp_path / "t.json"
    words = (ENGINE, "--param", "d=1:3:int", *SHORT, "--deals", "1", "--games", "2", "--keep", str(keep))
    with TuneFile(keep, {}).locked():
        assert arena(*words)[3] == f"{keep}: another arena tune writes it; give another file"
    assert arena(*words)[2] == 0
    with pytest.raises(StoreError, match="lock: cannot be written: No such file"), missing(tmp_path).locked():
        pass


def missing(folder: Path) -> TuneFile:
    return TuneFile(folder / "no" / "t.json", {})


def test_the_first_difference_of_a_tuning_is_named(tmp_path: Path) -> None:
    def params(*highs: float) -> dict[str, Any]:
        return {"param": [asdict(Param("k", 0.0, high, 0.0)) for high in highs]}

    TuneFile(tmp_path / "t.json", params(3.0, 4.0)).write([])
    for highs, said in {(3.0, 5.0): "param 2 high 4.0, not 5.0;", (3.0,): "param [{"}.items():
        with pytest.raises(ConfigError, match=re.escape(f"t.json: has a tuning with {said}")):
            TuneFile(tmp_path / "t.json", params(*highs)).read()


def test_the_chart_has_a_panel_for_each_parameter() -> None:
    text = svg_text(
        chart((K, N), [(0.5, 0.1), (0.6, 0.2), (0.7, 0.9)], (0.65, 0.5), "arena tune: b {k} {n} é")
    )
    root = ElementTree.fromstring(text)
    words = [each.text for each in root.iter() if each.tag.endswith("text")]
    assert {"k", "n", "0.1", "2", "1", "9", K.text(0.65), "5", "step 2"} <= set(words)
