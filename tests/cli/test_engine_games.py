"""Engines at the table of the referee in this process: positions, clocks, faults, matches and leagues."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from arena_cli.engine_games import play, play_game, seatings
from arena_cli.match_league import league
from arena_cli.match_run import MatchPlan, MatchRun
from arena_engines.engine import AnyPosition, Engine
from arena_engines.registry import create
from arena_protocol.games import make_game
from arena_protocol.verify import verify
from arena_server.core.deal import Setting
from arena_server.core.formats.base import Pairing
from arena_server.stats.elo import Sprt
from arena_server.stats.scores import LeadTest, league_table, text_table
from arena_server.terms.config import ContestConfig
from arena_server.terms.terms import LONGEST_MS

SHORT = {"plies": 20}
MS = 1_000_000
PLAN = MatchPlan(game="insertion", options=SHORT, deals=3, clock_ms=LONGEST_MS, seed=2006)


def match(players: Sequence[str], **plan: Any) -> dict[str, Any]:
    """The answer of a match without a clock."""
    run = MatchRun(replace(PLAN, **plan), players)
    run.play_here()
    return run.answer()


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
    """A clock that players turn on; in nanoseconds."""

    def __init__(self) -> None:
        self.time = 100_000 * MS

    def __call__(self) -> int:
        return self.time

    def slow(self, milliseconds: float, move: int) -> Scripted:
        """A player that takes this long for its move."""

        def answer(position: AnyPosition) -> int:
            self.time += round(milliseconds * MS)
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
    assert game.used == (11, 0), "the first charge too high, as by the referee"
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

    def late() -> int:
        clock.time += 1000 * MS
        return clock.time

    game = play_game(rules, rules.deal(1), players, 100, late)
    assert game.faults == ("timeout", None)
    assert game.totals[0] < game.totals[1]
    assert game.moves == ()


def test_a_match_is_the_same_again_and_pairs_its_deals(capsys: pytest.CaptureFixture[str]) -> None:
    answers = [match(["greedy", "dummy"]) for _ in range(2)]
    shown = [line.partition(" | ") for line in capsys.readouterr().err.splitlines()]
    names = [[word.split()[0] for word in line[0].partition(": ")[2].split(", ")] for line in shown]
    assert names == [["greedy", "dummy"], ["dummy", "greedy"]] * 6
    assert [line[2][:11] for line in shown] == [f"{deals} of 3 deal" for deals in (0, 1, 1, 2, 2, 3)] * 2
    first = json.loads(json.dumps(answers[0]))
    assert first["points"] == answers[1]["points"]
    assert first["games"] == 6
    low, high = first["interval"][0]
    assert low <= first["points"][0] <= high
    assert first["points"][0] > first["points"][1]
    assert first["faults"] == {}


def test_an_engine_against_itself_scores_the_same_on_both_sides() -> None:
    answer = match(["greedy", "greedy"], deals=3)
    assert answer["points"][0] == answer["points"][1]
    assert (answer["ratio"], answer["deals_drawn"], answer["deals_won"]) == (1.0, 3, 0)


def test_a_match_stops_when_the_test_decides() -> None:
    answer = match(["greedy", "dummy"], deals=40, test=LeadTest(0.05))
    assert answer["verdict"] == "better"
    assert answer["deals"] < 40
    assert answer["llr"] >= answer["bounds"][1]
    worse = match(["dummy", "greedy"], deals=40, test=LeadTest(0.05))
    assert worse["verdict"] == "no better"


def test_a_match_stops_when_the_elo_test_decides() -> None:
    answer = match(["greedy", "dummy"], deals=60, test=Sprt(elo0=0, elo1=100))
    assert answer["verdict"] == "better"
    assert answer["deals"] < 30
    assert sum(answer["pairs"]) == answer["deals"]
    low, high = answer["elo_interval"]
    assert low > 100
    assert high is None


def played(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, ...]]:
    """The engines of each game that was printed, sorted."""
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"g{at}" for at in range(1, len(lines) + 1)]
    games = [line.partition(": ")[2].partition(" | ")[0].split(", ") for line in lines]
    return [tuple(sorted(player.split()[0] for player in game)) for game in games]


def test_a_league_has_a_cross_table_and_standings(capsys: pytest.CaptureFixture[str]) -> None:
    table, _ = league(["dummy", "greedy", "random:seed=3"], 2, replace(PLAN, deals=2))
    pairs = [("dummy", "greedy"), ("dummy", "random:seed=3"), ("greedy", "random:seed=3")]
    assert played(capsys) == [pair for pair in pairs for _ in range(4)]
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
    answer = match(["greedy", "dummy", "random:seed=1"], deals=2, options={**SHORT, "seats": 3})
    assert (answer["deals"], answer["games"]) == (2, 6)
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
    answer = match(["greedy"] * 4, deals=2, options={**SHORT, "seats": 4}, test=LeadTest(0.05))
    assert len(set(answer["points"])) == 1
    assert (answer["deals_drawn"], answer["ratio"]) == (2, 1.0)
    assert answer["verdict"] == "open"


def test_a_league_of_three_seats_plays_every_three_engines(capsys: pytest.CaptureFixture[str]) -> None:
    plan = replace(PLAN, deals=1, options={**SHORT, "seats": 3})
    answer, _ = league(["dummy", "greedy", "random:seed=3", "random:seed=4"], 3, plan)
    done = Counter(played(capsys))
    assert len(done) == 4
    assert set(done.values()) == {3}
    assert answer["table"] is None
    assert answer["standings"][0]["engine"] == "greedy"
    assert league_table(answer).splitlines()[1].split()[:2] == ["1", "greedy"]


def test_a_record_is_that_of_the_referee() -> None:
    """It follows from the rules, with faults of both seats, and its times never run backwards."""
    config = ContestConfig(name="match", seed=7, clock_ms=10, options=SHORT, deals="paired")
    setting = Setting.of(config, make_game("insertion", SHORT), Pairing(2, ("ann", "bob"), 1))
    clock = Clock()
    record = play(setting, (clock.slow(4.5, 9), clock.slow(1, 99)), clock)
    verify(record)
    assert (record.contest, record.game_id, record.seed) == ("match", "g2", setting.seed)
    assert [(fault.seat, fault.kind) for fault in record.faults] == [(2, "illegal"), (1, "timeout")]
    assert len(record.plies) == 20


def test_an_engine_sees_no_hidden_part_of_the_deal() -> None:
    rules = make_game("insertion", {"plies": 12, "lookahead": 2})
    player = Scripted(lambda at: 7)
    play_game(rules, rules.deal(3), (player, player))
    assert [len(each.state.visible) for each in player.seen] == [2] * 11 + [1]
