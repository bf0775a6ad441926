"""What engines report of a move (INFO): it fits the move that was chosen, and a line of the protocol."""

from __future__ import annotations

import pytest

from arena_engines import registry
from arena_engines.engine import Position
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal

SPECS = [
    ("insertion", "champion:depth=4"),
    ("insertion", "champion:depth=2,wildcards=1"),
    ("insertion", "maxn:depth=2"),
    ("xo", "xo:nodes=2000"),
    ("xo", "xo1970"),
    ("disc", "perfect"),
    ("lastcoin", "perfect"),
]


@pytest.mark.parametrize(("game", "spec"), SPECS)
def test_a_report_begins_with_the_move_and_counts_what_was_searched(game: str, spec: str) -> None:
    rules = make_game(game, {})
    deal = rules.deal(5)
    shown = rules.preview(deal)
    start = rules.start(Deal(deal.board, shown or ""))
    state = start
    engine = registry.create(spec, game)
    moves: list[str] = []
    for _ in range(6):
        if rules.end(state) is not None:
            break
        position = Position(rules=rules, state=state, start=rules.state_text(start), moves=tuple(moves))
        engine.report = None
        move = str(engine.choose(position))
        if engine.report is not None:
            line = [str(each) for each in engine.report.line]
            assert line[:1] in ([], [move])
            assert engine.report.depth is None or engine.report.depth >= 1
            assert engine.report.nodes is None or engine.report.nodes >= 0
        moves.append(move)
        state = rules.play(state, move).position
    assert engine.report is not None, "a search of the last move"
