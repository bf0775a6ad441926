"""`slip=N` of every engine: some moves are random ones, the same again."""

from __future__ import annotations

import pytest
from tests.engines.positions import game

from arena_cli.match_run import MatchPlan, MatchRun
from arena_engines.engine import AnyPosition, EngineError, Position
from arena_engines.registry import create
from arena_protocol.games import make_game


def moves_of(spec: str, positions: list[AnyPosition]) -> list[str]:
    engine = create(spec)
    return [str(engine.choose(position)) for position in positions]


def test_as_many_moves_of_a_hundred_differ_and_the_same_again() -> None:
    positions: list[AnyPosition] = list(game(2, "greedy", "random:seed=3", plies=200))
    best = moves_of("greedy", positions)
    found = {slip: moves_of(f"greedy:slip={slip}", positions) for slip in (0, 30, 100)}
    assert found[0] == best
    assert found[30] == moves_of("greedy:slip=30", positions)
    other = {slip: sum(a != b for a, b in zip(best, moves, strict=True)) for slip, moves in found.items()}
    assert 0.15 < other[30] / len(best) < 0.4
    assert other[100] / len(best) > 0.8
    slipped = [at for at, move in enumerate(found[30]) if move != best[at]]
    assert all(found[100][at] == found[30][at] for at in slipped), "more slips are other ones beside these"


@pytest.mark.parametrize("name", ["tictactoe", "xo", "disc", "lastcoin"])
def test_every_game_has_it(name: str) -> None:
    rules = make_game(name, {})
    position: AnyPosition = Position(rules=rules, state=rules.start(rules.deal(1)))
    engine = create("random:seed=1,slip=100", name)
    assert engine.spec == "random:seed=1,slip=100"
    assert str(engine.choose(position)) in rules.legal_moves(position.state)


@pytest.mark.parametrize("text", ["101", "-1", "some", ""])
def test_a_wrong_number_gets_one_line(text: str) -> None:
    with pytest.raises(EngineError, match=rf"^engine greedy: slip={text}: expected slip=0\.\.100$"):
        create(f"greedy:slip={text}")


def test_more_slips_make_a_weaker_player() -> None:
    plan = MatchPlan(game="insertion", options={"plies": 60}, deals=6, clock_ms=60_000, seed=2006)
    leads = []
    for slip in (20, 60, 90):
        run = MatchRun(plan, ["greedy", f"greedy:slip={slip}"])
        run.play_here()
        mine, theirs = run.answer()["points"]
        leads.append((mine - theirs) / (mine + theirs))
    assert leads == sorted(leads)
    assert leads[0] > 0
