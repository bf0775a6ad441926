"""What the pages choose: hints for a person, and the game that /tv shows."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocol import oracle
from tests.protocol.records import ZOMBIE, a_record

from arena_protocol.games import make_game
from arena_protocol.record import GameRecord
from arena_server.web.documents import record_json

from .node import Node

#: Enough for the search to end by itself.
LONG_MS = 20_000
LONG = a_record(options={"plies": 120})


class TestHint:
    @settings(max_examples=5, deadline=None)
    @given(st.integers(0, 2**32))
    def test_it_looks_ahead_as_far_as_the_pictures_are_known(self, node: Node, seed: int) -> None:
        options = {"plies": "3", "lookahead": "3", "colours": "3"}
        rules = make_game("insertion", {**options, "seats": 2})
        deal = rules.deal(seed)
        plain = {"board": deal.board, "sequence": deal.sequence}
        move = node("hint", game="insertion", options=options, seats=2, deal=plain, moves=[], limit=LONG_MS)
        values = {
            each: _value(rules, rules.play(rules.start(deal), each).position)
            for each in rules.legal_moves(rules.start(deal))
        }
        assert values[move] == max(values.values())

    @settings(max_examples=10)
    @given(st.integers(0, 2**32))
    def test_with_one_picture_in_sight_it_takes_the_most_points(self, node: Node, seed: int) -> None:
        options = {"plies": "9", "lookahead": "1"}
        deal = make_game("insertion", {**options, "seats": 2}).deal(seed)
        plain = {"board": deal.board, "sequence": deal.sequence[:1]}
        move = node("hint", game="insertion", options=options, seats=2, deal=plain, moves=[], limit=LONG_MS)
        points = {
            number: oracle.play(deal.board, number, int(deal.sequence[0]))[1] for number in range(1, 16)
        }
        assert points[int(move)] == max(points.values())

    def test_a_move_is_found_at_once_where_a_search_takes_long(self, node: Node) -> None:
        rules = make_game("insertion", {"seats": 2})
        deal = rules.deal(3)
        plain = {"board": deal.board, "sequence": deal.sequence}
        move = node("hint", game="insertion", options={}, seats=2, deal=plain, moves=[], limit=0)
        assert rules.is_legal(rules.start(deal), move)


def _value(rules: Any, position: Any) -> int:
    """The points of seat 1 less those of seat 2 with best play, by trying everything."""
    if rules.end(position) is not None:
        first, second = rules.totals(position)
        return int(first - second)
    best = max if rules.to_move(position) == 1 else min
    return best(_value(rules, rules.play(position, move).position) for move in rules.legal_moves(position))


class TestTv:
    GAME: ClassVar[dict[str, Any]] = {"totals": [100, 100], "ply": 50, "end": None}

    def test_a_close_game_far_on_with_points_is_interesting(self, node: Node) -> None:
        def score(gains: object = (), **changes: object) -> float:
            found = node("interest", game=self.GAME | changes, gains=gains, now=20_000, plies=100)
            return float(found)

        assert score() > score(totals=[500, 100]) > 0
        assert score(ply=90) > score(ply=10)
        assert score([[19_000, 60]]) > score()
        assert score([[1_000, 60]]) == score(), "long ago"
        assert score(end="complete") == 0

    @given(st.lists(st.floats(0.1, 3), min_size=1, max_size=6), st.integers(0, 100_000))
    def test_hysteresis(self, node: Node, values: list[float], now: int) -> None:
        """A game stays 20 s, and then until another one is 1.3 times as interesting."""
        scores = [[f"g{number}", value] for number, value in enumerate(values)]
        found = node("choose", shown={"id": "g0", "since": 0}, scores=scores, now=now)
        best = max(values)
        if now < 20_000 or best <= 1.3 * values[0]:
            assert found == "g0"
        else:
            assert found == f"g{values.index(best)}"

    def test_a_game_that_is_over_is_left_for_the_best_one(self, node: Node) -> None:
        scores = [["g1", 1.0], ["g2", 2.0]]
        assert node("choose", shown={"id": "g0", "since": 0}, scores=scores, now=1) == "g2"
        assert node("choose", shown=None, scores=scores, now=1) == "g2"
        assert node("choose", shown=None, scores=[], now=1) is None

    @given(st.lists(st.integers(1, 40), max_size=4), st.integers(0, 30))
    def test_the_next_of_the_schedule_is_behind_all_that_run(
        self, node: Node, running: list[int], planned: int
    ) -> None:
        rows = [[f"g{number}", [0, 1]] for number in range(1, planned + 1)]
        # Validation games have no place in the schedule.
        found = node("planned", rows=rows, ids=["v1", *(f"g{number}" for number in running)])
        following = max(running, default=0) + 1
        assert found == ([f"g{following}", [0, 1]] if following <= planned else None)

    @given(
        st.sampled_from(["upset", "swing", "cascade", "day", "fault"]),
        st.integers(0, 300),
        st.integers(1, 300),
    )
    def test_a_moment_has_its_ply_or_the_end(self, node: Node, kind: str, ply: int, length: int) -> None:
        first, last = node("moment", highlight={"kind": kind, "ply": ply}, length=length)
        assert 0 <= first <= last <= length
        assert last - first <= 12
        assert last == length if kind in ("upset", "day") or not ply else first <= min(ply, length) <= last


def test_a_ply_is_a_sentence(node: Node) -> None:
    def texts(record: GameRecord, *plies: int) -> list[str]:
        found: list[str] = node("sentences", record=json.dumps(record_json(record)), plies=plies)
        return found

    first = LONG.plies[0]
    assert texts(LONG, 1) == [f"{LONG.names[0]} plays {first.move}, {first.points} points"]
    played = next(number for number, ply in enumerate(ZOMBIE.plies, 1) if ply.zombie)
    assert "plays 6 (played by the server), " in texts(ZOMBIE, played)[0]
    scored = next(number for number, ply in enumerate(LONG.plies, 1) if ply.points)
    assert f", {LONG.plies[scored - 1].points} points" in texts(LONG, scored)[0]
