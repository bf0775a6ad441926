"""Matches in one process: pairs, clocks, faults, intervals and the stop rule, with scripted players."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from arena_engines.elo import Sprt
from arena_engines.engine import AnyPosition, Engine, EngineError
from arena_engines.match import (
    Played,
    Scores,
    bootstrap,
    league,
    league_table,
    match,
    play_game,
    seatings,
    sequential_test,
    text_table,
)
from arena_engines.registry import create
from arena_protocol.games import make_game
from arena_protocol.games.base import GameError

SHORT = {"plies": 20}


class Scripted(Engine):
    """Answers with what a function makes of the position."""

    game = "insertion"
    name = "scripted"

    def __init__(self, answer: Callable[[AnyPosition], int]) -> None:
        super().__init__()
        self.answer = answer
        self.seen: list[AnyPosition] = []

    def choose(self, position: AnyPosition) -> int:
        self.seen.append(position)
        return self.answer(position)


class Clock:
    """A clock that players turn on; in seconds."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time

    def slow(self, milliseconds: float, move: int) -> Scripted:
        """A player that takes this long for its move."""

        def answer(position: AnyPosition) -> int:
            self.time += milliseconds / 1000
            return move

        return Scripted(answer)


def test_a_position_holds_the_whole_game() -> None:
    rules = make_game("insertion", {"plies": 12, "lookahead": 5})
    one, other = Scripted(lambda at: len(at.moves) + 1), Scripted(lambda at: 7)
    game = play_game(rules, rules.deal(1), (one, other), 1000)
    assert game.moves == ("1", "7", "3", "7", "5", "7", "7", "7", "9", "7", "11", "7")
    third = one.seen[2]
    assert (third.state.played, third.seat, third.rules.plies, third.bank) == (4, 1, 12, 1000)
    assert third.moves == ("1", "7", "3", "7")
    assert third.state.visible == rules.deal(1).sequence[4:9]
    assert third.start == rules.deal(1).board
    assert len(other.seen[-1].state.visible) == 1


def test_time_is_charged_and_an_overstepped_clock_makes_a_zombie() -> None:
    rules = make_game("insertion", SHORT)
    clock = Clock()
    one, other = clock.slow(4.5, 9), clock.slow(0.9, 8)
    game = play_game(rules, rules.deal(1), (one, other), 10, clock)
    assert game.faults == ("timeout", None)
    assert game.moves[::2] == ("9", "9", *["6"] * 8)
    assert game.moves[1::2] == ("8",) * 10
    assert game.used == (10, 0)
    assert [position.clock for position in one.seen] == [10, 6, 2]


def test_without_a_clock_no_seat_oversteps() -> None:
    rules = make_game("insertion", SHORT)
    clock = Clock()
    players = clock.slow(5000.5, 9), clock.slow(0.5, 8)
    game = play_game(rules, rules.deal(1), players, now=clock)
    assert game.faults == (None, None)
    assert game.used == (50_000, 0)


def test_an_illegal_move_makes_a_zombie() -> None:
    rules = make_game("insertion", SHORT)
    game = play_game(
        rules, rules.deal(1), (Scripted(lambda at: (len(at.moves) + 1) // 2), Scripted(lambda at: 8))
    )
    assert game.faults == ("illegal", None)
    assert game.moves[::2] == ("6",) * 10


def test_where_there_is_no_zombie_move_a_fault_forfeits() -> None:
    rules = make_game("xo", {})
    clock = Clock()
    players = create("random:seed=1", "xo"), create("random:seed=2", "xo")

    def late() -> float:
        clock.time += 1
        return clock.time

    game = play_game(rules, rules.deal(1), players, 100, late)
    assert game.faults == ("timeout", None)
    assert game.totals[0] < game.totals[1]
    assert game.moves == ()


def test_a_match_is_the_same_again_and_pairs_its_deals() -> None:
    notes: list[tuple[list[str], int]] = []
    answers = [
        match(
            ["greedy", "dummy"],
            deals=3,
            clock=None,
            options=SHORT,
            progress=lambda names, _, standing: notes.append((list(names), standing["deals"])),
        )
        for _ in range(2)
    ]
    one, other = ["greedy", "dummy"], ["dummy", "greedy"]
    assert notes == [(one, 0), (other, 1), (one, 1), (other, 2), (one, 2), (other, 3)] * 2
    first = json.loads(json.dumps(answers[0]))
    assert first["points"] == answers[1]["points"]
    assert first["games"] == 6
    low, high = first["interval"][0]
    assert low <= first["points"][0] <= high
    assert first["points"][0] > first["points"][1]
    assert first["faults"] == {}


def test_an_engine_against_itself_scores_the_same_on_both_sides() -> None:
    answer = match(["greedy", "greedy"], deals=3, clock=None, options=SHORT)
    assert answer["points"][0] == answer["points"][1]
    assert (answer["ratio"], answer["deals_drawn"], answer["deals_won"]) == (1.0, 3, 0)


def test_a_match_stops_when_the_test_decides() -> None:
    answer = match(["greedy", "dummy"], deals=40, clock=None, options=SHORT, sprt=0.05)
    assert answer["verdict"] == "better"
    assert answer["deals"] < 40
    assert answer["llr"] >= answer["bounds"][1]
    worse = match(["dummy", "greedy"], deals=40, clock=None, options=SHORT, sprt=0.05)
    assert worse["verdict"] == "no better"


def test_a_match_stops_when_the_elo_test_decides() -> None:
    answer = match(["greedy", "dummy"], deals=60, clock=None, options=SHORT, sprt=Sprt(elo0=0, elo1=100))
    assert answer["verdict"] == "better"
    assert answer["deals"] < 30
    assert sum(answer["pairs"]) == answer["deals"]
    low, high = answer["elo_interval"]
    assert low > 100
    assert high is None


def test_the_pairs_count_games_won_drawn_and_lost() -> None:
    scores = Scores.empty(2)
    played = [Played(totals, (None, None), (0, 0), ()) for totals in ((3, 1), (2, 2), (1, 3))]
    won, drawn, lost = (
        [((0, 1), game), ((1, 0), other)] for game, other in zip(played, played[::-1], strict=True)
    )
    scores.add(("a", "b"), won)  # both games are won by the first engine
    scores.add(("a", "b"), drawn)
    scores.add(("a", "b"), lost)
    scores.add(("a", "b"), [((0, 1), played[0]), ((1, 0), played[1])])
    assert scores.pairs is not None
    assert scores.pairs.counts == [1, 0, 1, 1, 1]


def test_more_than_two_engines_have_no_elo_difference() -> None:
    with pytest.raises(EngineError, match=r"^a test of the Elo difference needs 2 engines; test the lead"):
        Scores.empty(3).standing(["a", "b", "c"], Sprt())
    assert "elo" not in match(["greedy"] * 3, deals=1, clock=None, options={**SHORT, "seats": 3})


def test_a_league_has_a_cross_table_and_standings() -> None:
    done: list[tuple[str, ...]] = []
    table = league(
        ["dummy", "greedy", "random:seed=3"],
        deals=2,
        clock=None,
        options=SHORT,
        progress=lambda names, game, _: done.append(tuple(sorted(names))),
    )
    pairs = [("dummy", "greedy"), ("dummy", "random:seed=3"), ("greedy", "random:seed=3")]
    assert done == [pair for pair in pairs for _ in range(4)]
    assert [table["table"][at][at] for at in range(3)] == [None] * 3
    assert table["standings"][0]["engine"] == "greedy"
    assert table["standings"][0]["points"] == pytest.approx(
        sum(table["table"][1][at] for at in (0, 2)) / 2, abs=0.01
    )


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_games_of_a_deal_give_every_engine_every_seat_as_often(seats: int) -> None:
    games = seatings(seats)
    assert len(set(games)) == len(games) == (2 if seats == 2 else 2 * seats)
    for seat in range(seats):
        assert Counter(game[seat] for game in games) == {
            engine: len(games) // seats for engine in range(seats)
        }


def test_three_engines_play_a_match_of_three_seats() -> None:
    answer = match(["greedy", "dummy", "random:seed=1"], deals=2, clock=None, options={**SHORT, "seats": 3})
    assert (answer["deals"], answer["games"]) == (2, 12)
    assert len(answer["points"]) == len(answer["interval"]) == len(answer["most_ms"]) == 3
    assert max(answer["points"]) == answer["points"][0]
    others = sum(answer["points"][1:]) / 2
    assert answer["ratio"] == pytest.approx(answer["points"][0] / max(others, 1.0), abs=0.01)
    assert answer["deals_won"] == 2
    assert [line.split()[0] for line in text_table(answer).splitlines()] == [
        "engine",
        "greedy",
        "dummy",
        "random:seed=1",
        "ratio",
    ]


def test_equal_engines_in_four_seats_score_the_same() -> None:
    answer = match(["greedy"] * 4, deals=2, clock=None, options={**SHORT, "seats": 4}, sprt=0.05)
    assert len(set(answer["points"])) == 1
    assert (answer["deals_drawn"], answer["ratio"]) == (2, 1.0)
    assert answer["verdict"] == "open"


def test_a_league_of_three_seats_plays_every_three_engines() -> None:
    done: Counter[tuple[str, ...]] = Counter()
    answer = league(
        ["dummy", "greedy", "random:seed=3", "random:seed=4"],
        deals=1,
        clock=None,
        options={**SHORT, "seats": 3},
        progress=lambda names, game, _: done.update([tuple(sorted(names))]),
    )
    assert len(done) == 4
    assert set(done.values()) == {6}
    assert answer["table"] is None
    assert answer["standings"][0]["engine"] == "greedy"
    assert league_table(answer).splitlines()[1].split()[:2] == ["1", "greedy"]


def test_wrong_engines_games_and_seats_are_refused() -> None:
    with pytest.raises(EngineError, match="no engine 'unknown' for insertion"):
        match(["unknown", "greedy"])
    with pytest.raises(GameError, match="no game 'chess'"):
        match(["greedy", "greedy"], game="chess")
    with pytest.raises(EngineError, match="a game of 3 seats needs 3 engines, got 2"):
        match(["greedy", "greedy"], options={"seats": 3})
    with pytest.raises(EngineError, match="a game of 4 seats needs 4 engines, got 3"):
        league(["greedy", "dummy", "random"], options={"seats": 4})


def test_a_match_prints_as_a_table() -> None:
    answer = match(["greedy", "dummy"], deals=4, clock=None, options=SHORT, sprt=0.05)
    lines = text_table(answer).splitlines()
    assert lines[1].startswith("greedy ")
    assert lines[2].startswith("dummy ")
    assert lines[3].startswith(f"ratio {answer['ratio']:.3f} (")
    assert lines[3].endswith(f"in 8 games; verdict: {answer['verdict']}")


def test_a_bootstrap_holds_the_mean_and_narrows() -> None:
    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    few = bootstrap([[1.0, 3.0] * 4], mean)
    many = bootstrap([[1.0, 3.0] * 100], mean)
    assert few[0] < many[0] < 2 < many[1] < few[1]
    assert bootstrap([[5.0] * 9], mean) == [5.0, 5.0]
    assert bootstrap([[]], mean) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.06, 0.05, 0.07] * 10, "better"),
        ([0.01, -0.01, 0.0] * 10, "no better"),
        ([0.05, 0.06, 0.07], "open"),
        ([0.5, -0.4] * 3, "open"),
        ([0.1] * 4, "better"),
    ],
)
def test_the_sequential_test_decides_on_enough_evidence(values: list[float], verdict: str) -> None:
    assert sequential_test(values, 0.05)["verdict"] == verdict
