"""The table (scoring by points and by wins, shared ranks, faults by kind) and the organiser's view."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.config import Entrant
from arena_server.core.standings import (
    Awaited,
    BotState,
    GameResult,
    Overview,
    Row,
    RunningGame,
    Standings,
    plain_row,
    standings,
)
from arena_server.core.tiebreaks import Meetings

from .contest_harness import MS, ONE_PLY, ContestHarness, restarted, seated

#: The seed's table of ten programs (seed 001): row i, column j is what i scored against j.
PARADOX = [
    [None, 100, 100, 100, 100, 100, 100, 100, 100, 100],
    *([200] + [None if i == j else 60 for j in range(2, 10)] + [40] for i in range(2, 10)),
    [200, 50, 50, 50, 50, 50, 50, 50, 50, None],
]


NAMES = [str(number) for number in range(1, 11)]


def paradox() -> list[GameResult]:
    pairs = combinations(range(10), 2)
    return [GameResult((NAMES[i], NAMES[j]), (PARADOX[i][j], PARADOX[j][i])) for i, j in pairs]  # type: ignore[arg-type]


def test_a_bot_that_loses_every_game_may_win_on_points() -> None:
    rows = standings(NAMES, paradox(), "points")
    assert (rows[0].rank, rows[0].name, rows[0].points, rows[0].wins) == (1, "1", 900, 0)
    assert (rows[-1].rank, rows[-1].name, rows[-1].points, rows[-1].wins) == (10, "10", 600, 9)
    assert [(row.rank, row.points) for row in rows[1:-1]] == [(2, 660)] * 8


def test_the_games_against_each_opponent() -> None:
    table = Standings(NAMES)
    for result in paradox():
        table.add(result)
    won, lost, drawn = Meetings(1, 2), Meetings(1, 0), Meetings(1, 1)
    assert table.against("10") == dict.fromkeys(NAMES[:9], won)
    assert table.against("2") == {"1": won, **dict.fromkeys(NAMES[2:9], drawn), "10": lost}


def test_a_bot_that_wins_every_game_wins_on_wins() -> None:
    rows = standings(NAMES, paradox(), "wins")
    assert (rows[0].rank, rows[0].name, rows[0].wins, rows[0].points) == (1, "10", 9, 600)
    assert (rows[-1].rank, rows[-1].name, rows[-1].wins, rows[-1].points) == (10, "1", 0, 900)
    assert [(row.rank, row.wins) for row in rows[1:-1]] == [(2, 1)] * 8


def test_within_a_shared_rank_the_other_measure_and_then_the_name_decide_the_order() -> None:
    results = [
        GameResult(("d", "w"), (10, 20)),
        GameResult(("c", "x"), (10, 0)),
        GameResult(("b", "y"), (10, 20)),
        GameResult(("a", "z"), (0, 0)),
    ]
    rows = standings("dcbawxyz", results)
    ranks = [(row.rank, row.name) for row in rows]
    assert ranks == [(1, "w"), (1, "y"), (3, "c"), (3, "b"), (3, "d"), (6, "a"), (6, "x"), (6, "z")]


@pytest.mark.parametrize("scoring", ["points", "wins"])
def test_the_score_a_game_decides_while_the_numbers_of_games_differ(scoring: str) -> None:
    table = Standings("abc", scoring)
    assert not table.by_mean
    for _ in range(3):
        table.add(GameResult(("a", "b"), (10, 5)))
    table.add(GameResult(("b", "a"), (11, 0)))
    table.add(GameResult(("c", "b"), (20, 0)))
    assert table.by_mean
    assert [(row.rank, row.name) for row in table.rows()] == [(1, "c"), (2, "a"), (3, "b")]


@given(st.lists(st.tuples(st.sampled_from(["ab", "bc", "ca"]), st.tuples(*[st.integers(0, 9)] * 2))))
def test_ranks_follow_the_means_while_the_numbers_of_games_differ(
    games: list[tuple[str, tuple[int, int]]],
) -> None:
    table = Standings("abc")
    for names, totals in games:
        table.add(GameResult(tuple(names), totals))
    rows = table.rows()
    score = [Fraction(row.points, max(1, row.games)) if table.by_mean else row.points for row in rows]
    assert score == sorted(score, reverse=True)
    assert [row.rank for row in rows] == [1 + score.index(each) for each in score]


def test_a_draw_is_no_win() -> None:
    rows = standings("ab", [GameResult(("a", "b"), (30, 30))], "wins")
    assert [row.wins for row in rows] == [0, 0]


def test_three_seats_have_one_winner() -> None:
    rows = standings("abc", [GameResult(("a", "b", "c"), (30, 40, 10))], "wins")
    assert [(row.name, row.wins) for row in rows] == [("b", 1), ("a", 0), ("c", 0)]


def test_faults_are_counted_by_kind() -> None:
    table = Standings(["a", "b"])
    table.add(GameResult(("a", "b"), (0, 5), (("a", "timeout"),)))
    table.add(GameResult(("b", "a"), (0, 5), (("a", "illegal"), ("b", "quit"))))
    table.add(GameResult(("a", "b"), (0, 5), (("a", "timeout"),)))
    assert table.rows()[1] == Row(2, "a", 5, 3, 1, {"illegal": 1, "timeout": 2})


def test_the_mean_of_no_game_is_zero() -> None:
    first, second = standings("ab", [])
    assert (first.mean, second.rank) == (0.0, 1)
    assert standings("ab", [GameResult(("a", "b"), (5, 0)), GameResult(("b", "a"), (0, 4))])[0].mean == 4.5


def test_a_row_as_json_types() -> None:
    (row, _) = standings("ab", [GameResult(("a", "b"), (5, 0), (("a", "quit"),))])
    assert plain_row(row) == {
        "rank": 1, "bot": "a", "points": 5, "games": 1, "mean": 5.0, "wins": 1,
        "faults": {"quit": 1},
    }  # fmt: skip


def test_tie_breaks_separate_and_what_they_leave_equal_shares_a_rank() -> None:
    """Three bots with one win and one loss each: by points a, then b and c together."""
    table = Standings("abc", "wins", ["points"])
    for names, totals in ((("a", "b"), (9, 1)), (("b", "c"), (4, 2)), (("c", "a"), (3, 2))):
        table.add(GameResult(tuple(names), totals))
    rows = table.rows()
    shown = [(row.rank, row.name, int(row.tie_breaks["points"])) for row in rows]
    assert shown == [(1, "a", 11), (2, "b", 5), (2, "c", 5)]
    assert plain_row(rows[0])["tie_breaks"] == {"points": 11}
    plain = Standings("abc", "wins")
    assert [row.rank for row in plain.rows()] == [1, 1, 1]
    assert "tie_breaks" not in plain_row(plain.rows()[0])


def test_a_half_is_a_number_of_json() -> None:
    table = Standings("ab", "points", ["sonneborn-berger"])
    table.add(GameResult(("a", "b"), (1, 1)))
    assert plain_row(table.rows()[0])["tie_breaks"] == {"sonneborn-berger": 0.25}


@given(st.lists(st.tuples(st.permutations("abcd"), st.tuples(*[st.integers(0, 3)] * 3))), st.integers(0, 9))
def test_sums_of_two_parts_are_those_of_the_whole(
    games: list[tuple[list[str], tuple[int, ...]]], cut: int
) -> None:
    results = [GameResult(tuple(names[:3]), totals, ((names[0], "quit"),), totals) for names, totals in games]
    breaks = ("time-used", "sonneborn-berger", "fewest-faults")
    whole, first, second = (Standings("abcd", tie_breaks=breaks) for _ in range(3))
    for number, result in enumerate(results):
        whole.add(result)
        (first if number < cut else second).add(result)
    first.merge(second.games, second.players)
    assert (first.games, first.players, first.rows()) == (whole.games, whole.players, whole.rows())


def test_no_such_tie_break() -> None:
    with pytest.raises(ValueError, match=r"^a tie-break is one of points, .*, lot, not 'luck'$"):
        Standings("ab", "wins", ["luck"])


def test_no_such_scoring() -> None:
    with pytest.raises(ValueError, match="scoring is one of points, wins, not 'goals'"):
        Standings("ab", "goals")


@given(st.lists(st.tuples(st.permutations("abcd"), st.tuples(*[st.integers(-50, 50)] * 4))))
def test_the_order_of_the_results_does_not_matter(games: list[tuple[list[str], tuple[int, ...]]]) -> None:
    results = [GameResult(tuple(names), totals) for names, totals in games]
    rows = standings("abcd", results)
    assert rows == standings("dcba", reversed(results))
    assert sum(row.points for row in rows) == sum(sum(result.totals) for result in results)
    assert [row.points for row in rows] == sorted((row.points for row in rows), reverse=True)


# -- the organiser's view


def where(harness: ContestHarness) -> dict[str, str]:
    return {bot.name: bot.where for bot in overview(harness).bots}


def overview(harness: ContestHarness) -> Overview:
    return harness.contest.overview()


def start_game(harness: ContestHarness) -> RunningGame:
    """Both bots of the running game send READY."""
    (game,) = overview(harness).running
    for name in game.names:
        harness.send(name, f"READY {game.game_id}")
    return game


def test_before_any_bot_has_connected() -> None:
    harness = ContestHarness("ann", "bob", Entrant("eye", plays=False))
    seen = overview(harness)
    assert (seen.state, seen.running) == ("open", ())
    assert seen.bots == (BotState("ann", "away", False, 0), BotState("bob", "away", False, 0))
    assert seen.progress == harness.contest.progress()


def test_a_running_game_and_a_free_bot() -> None:
    harness = ContestHarness("ann", "bob", "cid")
    for name in ("ann", "bob", "cid"):
        harness.log_in(name)
    game = start_game(harness)
    harness.send(game.names[0], "MOVE 6")
    assert where(harness) == {"ann": "playing", "bob": "playing", "cid": "free"}
    assert game.names == ("ann", "bob")
    assert overview(harness).running == (RunningGame(game.game_id, game.names, 1),)


def test_a_game_that_only_waits_for_the_disk_still_runs() -> None:
    harness = ContestHarness("ann", "bob", options={"plies": 2, "start": "empty", "lookahead": 1})
    harness.log_in("ann")
    harness.log_in("bob")
    start_game(harness)
    harness.stores = False
    harness.send("ann", "MOVE 6")
    harness.send("bob", "MOVE 6")
    assert [game.plies for game in overview(harness).running] == [2]
    harness.stored("g1")
    assert [game.game_id for game in overview(harness).running] == ["g2"]


def test_absent_for_too_long() -> None:
    harness = ContestHarness("ann", "bob", "cid", absent_ms=1000)
    harness.log_in("ann")
    harness.log_in("bob")
    harness.wait(1001)
    assert where(harness)["cid"] == "gone"


def test_a_connection_that_broke_in_a_game() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.log_in("bob")
    harness.disconnect("bob")
    states = {bot.name: (bot.where, bot.connected) for bot in overview(harness).bots}
    assert states == {"ann": ("playing", True), "bob": ("playing", False)}


def test_probation_and_what_is_forgiven() -> None:
    harness = ContestHarness("ann", "bob", "cid", probation=1)
    for name in ("ann", "bob"):
        harness.log_in(name)
    game = start_game(harness)
    for mover in game.names * 2:
        harness.send(mover, "MOVE 0" if mover == "bob" else "MOVE 6")
    assert {bot.name: (bot.where, bot.faulty_games) for bot in overview(harness).bots} == {
        "ann": ("free", 0),
        "bob": ("probation", 1),
        "cid": ("away", 0),
    }
    harness.command("lift", "bob")
    bobs = next(bot for bot in overview(harness).bots if bot.name == "bob")
    assert (bobs.where, bobs.faulty_games) == ("playing", 0)


def waiting(harness: ContestHarness) -> list[Awaited]:
    return list(harness.contest.waiting())


def test_whom_games_wait_for_that_has_never_connected_or_is_away() -> None:
    harness = ContestHarness("ann", "bob", "cid", Entrant("eye", plays=False))
    assert [each.name for each in waiting(harness)] == ["ann", "bob", "cid"]
    harness.log_in("ann")
    harness.log_in("bob")
    harness.wait(1500)
    harness.disconnect("bob")
    assert waiting(harness) == [
        Awaited("bob", "away", 1500 * MS, 0),
        Awaited("cid", "never-connected", None, 0),
    ]
    assert harness.contest.progress().waiting == harness.contest.waiting()
    assert not harness.contest.idle
    harness.log_in("bob")
    assert [each.name for each in waiting(harness)] == ["cid"]


def test_a_bot_that_watches_is_waited_for() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", "WATCH *")
    assert [(each.name, each.reason) for each in waiting(harness)] == [
        ("ann", "away"),
        ("bob", "never-connected"),
    ]
    assert harness.contest.idle
    harness.command("pause")
    assert not harness.contest.idle


def test_after_a_restart_it_is_known_who_was_there_before() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    assert waiting(restarted(harness)) == [
        Awaited("ann", "away", None, 0),
        Awaited("bob", "never-connected", None, 0),
    ]


def test_a_bot_without_games_left_is_not_waited_for() -> None:
    harness = ContestHarness("ann", "bob", "cid", "dan", options=ONE_PLY, format="matches")
    for name in ("ann", "bob", "cid"):
        harness.log_in(name)
    harness.send("ann", "READY g1")
    harness.send("bob", "READY g1")
    harness.send("ann", "MOVE 7")
    harness.command("void", last_game(harness, "ann"))
    harness.disconnect("ann")
    assert [each.name for each in waiting(harness)] == ["dan"]


def last_game(harness: ContestHarness, name: str) -> str:
    return next(game.game_id for game in overview(harness).running if name in game.names)


def test_a_bot_on_probation_is_waited_for_and_is_not_missing_while_it_is_connected() -> None:
    harness = seated("ann", "bob", options=ONE_PLY, probation=1)
    harness.send("ann", "what?")
    harness.send("bob", "READY g1", "MOVE 7")
    assert harness.finished == "incomplete"
    progress = harness.contest.progress()
    assert (progress.missing, progress.unplayed) == ((), {"on probation: ann": 1})
    assert progress.waiting == ()


def test_the_reasons_probation_and_kicked_go_first() -> None:
    harness = ContestHarness("ann", "bob", "cid", options=ONE_PLY, probation=1)
    harness.log_in("ann")
    harness.log_in("bob")
    start_game(harness)
    harness.send("ann", "what?")
    cid = Awaited("cid", "never-connected", None, 0)
    assert waiting(harness) == [Awaited("ann", "probation", None, 1), cid]
    harness.disconnect("ann")
    assert waiting(harness) == [Awaited("ann", "probation", 0, 1), cid]
    harness.command("kick", "ann")
    assert waiting(harness) == [Awaited("ann", "kicked", 0, 1), cid]
    harness.command("lift", "ann")
    assert waiting(harness) == [Awaited("ann", "away", 0, 0), cid]


def test_at_the_end_a_bot_on_probation_that_has_gone_is_missing() -> None:
    harness = ContestHarness("ann", "bob", "cid", options=ONE_PLY, probation=1)
    harness.log_in("ann")
    harness.log_in("bob")
    start_game(harness)
    harness.send("ann", "what?")
    harness.disconnect("ann")
    harness.command("kick", "bob")
    assert harness.finished == "incomplete"
    assert harness.contest.progress().missing == ("ann", "bob")


def test_the_run_state_and_the_end() -> None:
    harness = ContestHarness("ann", "bob", "cid")
    harness.command("pause")
    assert overview(harness).state == "paused"
    harness.command("resume")
    assert overview(harness).state == "open"
    for name in ("ann", "bob"):
        harness.log_in(name)
    harness.command("drain")
    assert overview(harness).state == "draining"
    assert harness.contest.ended is None
    harness.command("kick", "bob")
    assert (overview(harness).state, where(harness)["bob"]) == ("stopped", "kicked")
    assert harness.contest.ended == "stopped"


def test_scores_of_a_format_rank_before_points() -> None:
    """The loser of a final may have more points a game than its winner; a bye counts without a game."""
    scores = {"ann": Fraction(2), "bob": Fraction(1), "cid": Fraction(1), "dan": Fraction(0)}
    table = Standings(scores, ranked_by=lambda: scores)
    table.add(GameResult(("ann", "dan"), (2, 1)))
    table.add(GameResult(("bob", "dan"), (90, 0)))
    table.add(GameResult(("ann", "bob"), (2, 1)))
    rows = table.rows()
    assert [(row.rank, row.name) for row in rows] == [(1, "ann"), (2, "bob"), (2, "cid"), (4, "dan")]
    assert [plain_row(row)["score"] for row in rows] == [2, 1, 1, 0]
    assert [plain_row(row)["rank"] for row in rows] == [1, 2, 2, 4]
    assert "score" not in plain_row(Standings(("ann",)).rows()[0])


def test_buchholz_adds_up_the_scores_of_the_format() -> None:
    """ann's opponents have 1 and 2 points of the rounds (cid had a bye), and by their games 0 and 1."""
    scores = {"ann": Fraction(1), "bob": Fraction(1), "cid": Fraction(2)}
    for ranked_by, expected in ((lambda: scores, 3), (lambda: None, 1)):
        table = Standings(scores, "wins", ("buchholz",), ranked_by=ranked_by)
        table.add(GameResult(("ann", "bob"), (1, 0)))
        table.add(GameResult(("cid", "ann"), (1, 0)))
        (row,) = (row for row in table.rows() if row.name == "ann")
        assert row.tie_breaks == {"buchholz": expected}
