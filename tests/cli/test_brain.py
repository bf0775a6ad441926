"""`arena brain`: an engine that is still compiled does not cost a move, and its errors come out."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.slices import all_of

from arena_cli.brain import Preparation, _patience, brain_of, nearest_to_the_middle
from arena_client.bridges.brain import Brain
from arena_engines import registry
from arena_engines.engine import EngineError, Position
from arena_protocol.games import make_game
from arena_protocol.games.mnk import Marks, Xo


class Slow:
    """An engine whose compilation ends when the test says so; it plays a1, b1, ..."""

    spec = "slow"

    def __init__(self) -> None:
        self.compiled = threading.Event()
        self.error: Exception | None = None
        self.asked: list[tuple[int | None, int | None]] = []

    def warm_up(self) -> None:
        self.compiled.wait()
        if self.error is not None:
            raise self.error

    def choose(self, position: Position[Xo, Marks]) -> str:
        self.asked.append((position.clock, position.move_limit))
        return position.rules.legal_moves(position.state)[0]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    made = Slow()
    monkeypatch.setattr(registry, "create", lambda spec, game: made)
    yield made
    made.compiled.set()


def brain(preparation: Preparation) -> Brain:
    return brain_of("slow", preparation, start_s=0)


def test_start_is_answered_before_the_engine_is_ready_and_a_move_within_its_limit(engine: Slow) -> None:
    preparation = Preparation()
    played = brain(preparation)
    assert [played.command(line) for line in ("START 10", "INFO timeout_turn 1", "BEGIN")] == [
        "OK",
        None,
        "4,5",
    ]
    assert played.command("TURN 5,5") == "4,4"
    engine.compiled.set()
    assert preparation.wait(None)
    assert engine.asked == [(800, 100)]  # the move that prepares
    assert played.command("TURN 5,4") == "0,9"
    assert engine.asked[1] == (8, 1)


def test_without_a_limit_a_move_waits_for_the_engine(engine: Slow) -> None:
    played = brain(Preparation())
    assert played.command("START 10") == "OK"
    threading.Timer(0, engine.compiled.set).start()
    assert played.command("BEGIN") == "0,9"
    assert engine.asked == [(800, 100), (None, None)]


def test_two_starts_prepare_one_after_the_other(engine: Slow) -> None:
    preparation = Preparation()
    played = brain(preparation)
    assert [played.command(f"START {size}") for size in (10, 12)] == ["OK", "OK"]
    assert not preparation.wait(0)
    engine.compiled.set()
    assert preparation.wait(None)
    assert len(engine.asked) == 2


def test_what_the_preparation_raises_comes_out_at_the_next_move(engine: Slow) -> None:
    played = brain(Preparation())
    assert played.command("START 10") == "OK"
    engine.error = EngineError("numba is not installed")
    engine.compiled.set()
    with pytest.raises(EngineError, match="numba is not installed"):
        played.command("BEGIN")


@all_of(
    ("clock", "limit", "seconds"),
    [(None, None, None), (8000, None, 0.8), (None, 500, 0.4), (8000, 500, 0.4), (800, 500, 0.08)],
)
def test_how_long_a_move_waits(clock: int | None, limit: int | None, seconds: float | None) -> None:
    assert _patience(clock, limit) == pytest.approx(seconds)


def test_the_cells_nearest_to_the_middle_are_free_and_end_with_the_corners() -> None:
    rules = make_game("xo", {"size": "10"})
    assert isinstance(rules, Xo)
    state, cells = rules.start(rules.deal(0)), []
    while rules.end(state) is None:
        cells.append(nearest_to_the_middle(rules, state))
        state = rules.play(state, cells[-1]).position
    assert cells[:4] == ["e5", "f5", "e6", "f6"]
    assert len(set(cells)) == len(cells)
