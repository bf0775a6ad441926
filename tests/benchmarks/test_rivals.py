"""benchmarks/rivals: players that keep to the rules, and the table of their points."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest
from tests.slices import rows

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "rivals"))

import run
import wrong_memory
from others import OTHERS, Copier
from players import HELD_OUT, TUNED, Half, Rival, first_tier, pairs
from processor_time import CpuTimer, processor_time
from samplers import SAMPLERS

from arena_cli.engine_games import play_game
from arena_engines.insertion.baselines import Greedy
from arena_engines.insertion.evaluation import DELETED, MINE
from arena_engines.insertion.master import engine, planner
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.board import parse_board

PATIENCE_S = 30.0
SHORT = Insertion.from_options({"plies": 20, "lookahead": 5})


def test_no_rival_is_both_tuned_on_and_held_out() -> None:
    assert len(TUNED) >= 3 <= len(HELD_OUT)
    assert not {*TUNED} & {*HELD_OUT}
    assert len(run.ALL) == len((*TUNED, *HELD_OUT, *SAMPLERS, *OTHERS)) == 30, (
        "every name is that of one rival"
    )


@pytest.mark.parametrize("kind", rows([*TUNED, *HELD_OUT, *SAMPLERS, *OTHERS], 4), ids=lambda kind: kind.name)
def test_a_rival_plays_whole_games_and_the_same_again_for_a_seed(kind: type[Rival]) -> None:
    games = []
    for _ in range(2):
        rival = kind(7)
        rival.warm_up()
        games.append(play_game(SHORT, SHORT.deal(1), (Greedy(), rival)))
    assert games[0].faults == (None, None)
    assert games[0].moves == games[1].moves
    # In twenty plies these two make moves of their plan, which gain nothing here.
    assert games[0].totals[1] > 0 or rival.name in ("book", "waking")


def test_the_first_tier_is_that_of_the_packed_value() -> None:
    assert [first_tier(value) for value in (30 * MINE - 5 * DELETED - 7, -DELETED, 0)] == [30, 0, 0]


def test_pairs_are_equal_neighbours() -> None:
    assert pairs(*parse_board("...../...../...../11.../12.22")) == 3


def test_the_table_compares_engines_deal_by_deal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "Insertion", lambda: SHORT)
    command = ["run.py", "--deals", "2", "--rivals", Half.name, "--engines", "greedy", "dummy", "greedy"]
    monkeypatch.setattr(sys, "argv", command)
    run.main()
    titles, _, first, other, again = capsys.readouterr().out.splitlines()
    assert titles.startswith("| rival | engine | points a game |")
    assert first.split("|")[6:] == again.split("|")[6:]
    assert first.endswith("| +0 | +0 to +0 |")
    assert "| half (tuned) | `dummy` |" in other


def test_the_copier_inserts_where_the_other_did() -> None:
    moves = play_game(SHORT, SHORT.deal(1), (Greedy(), Copier())).moves
    assert moves[1::2] == moves[::2]


def test_the_table_of_wrong_memories_has_a_row_for_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wrong_memory, "Insertion", lambda: SHORT)
    few = ["--runs", "1", "--games", "4", "--millis", "1", "--taught", "half", "dummy"]
    monkeypatch.setattr(sys, "argv", ["wrong_memory.py", *few])
    wrong_memory.main()
    _, _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split("|")[1].strip() for row in rows] == ["memory=no", "nothing", "half", "dummy"]
    assert rows[0].endswith("| +0 | +0 to +0 | +0 | +0 to +0 |")


def test_an_engine_may_say_its_own_time() -> None:
    assert run.timed("master", 10) == "master:millis=10"
    assert run.timed("master:model=worst", 10) == "master:model=worst,millis=10"
    assert run.timed("master:millis=20,model=worst", 10) == "master:millis=20,model=worst"
    assert run.timed("champion", 10) == "champion"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--deals", "0"], "expected --deals of 1 or more; got 0"),
        (["--engines", "mister"], "no engine 'mister' for insertion"),
        (["--engines", "master:millis=10,millis=20"], "millis is given twice"),
    ],
)
def test_bad_arguments_end_in_one_line_before_a_game(
    arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", *arguments])
    with pytest.raises(SystemExit, match="2"):
        run.main()
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err.splitlines()[-1]


def clocks() -> list[object]:
    return [vars(engine)["perf_counter"], vars(planner)["perf_counter"], vars(planner)["SearchTimer"]]


def test_the_milliseconds_of_master_are_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[list[object]] = []

    def noted(*_: object) -> tuple[list[float], list[float]]:
        found.append(clocks())
        return [1.0], [2.0]

    monkeypatch.setattr(run, "points", noted)
    monkeypatch.setattr(sys, "argv", ["run.py", "--rivals", Half.name, "--engines", "master"])
    before = clocks()
    run.main()
    assert found == [[time.thread_time, time.thread_time, CpuTimer]]
    assert clocks() == before


def test_master_plays_by_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "Insertion", lambda: SHORT)
    with processor_time():
        mine, _ = run.points("master:millis=5", Half, range(1))
    assert mine[0] > 0


def test_a_timer_waits_for_the_processor_time_of_its_maker() -> None:
    called = threading.Event()
    with CpuTimer(0.05, called.set):
        began = time.thread_time()
        while not called.is_set() and time.thread_time() - began < PATIENCE_S:
            pass
    assert called.is_set()
    assert time.thread_time() - began >= 0.04


def test_a_timer_calls_nothing_after_its_block() -> None:
    called = threading.Event()
    with CpuTimer(3600, called.set) as timer:
        pass
    timer.join(PATIENCE_S)
    assert not timer.is_alive()
    assert not called.is_set()
