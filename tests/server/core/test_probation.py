"""Probation that ends by itself after a good test game, also when the server is started again meanwhile."""

from __future__ import annotations

from arena_server.core.config import Entrant
from arena_server.core.log_events import BotOnProbation, BotTried, ProbationOver

from .contest_harness import ONE_PLY, ContestHarness, restarted, seated


def where(harness: ContestHarness, name: str = "ann") -> str:
    return next(bot.where for bot in harness.contest.overview().bots if bot.name == name)


def play(harness: ContestHarness, move: str) -> None:
    """The running game: seat 1 moves so; if it is ann it may be at fault."""
    (game,) = harness.contest.overview().running
    for name in game.names:
        harness.send(name, f"READY {game.game_id}")
    harness.send(game.names[0], f"MOVE {move if game.names[0] == 'ann' else 7}")


def on_probation(limit: int = 1) -> ContestHarness:
    harness = seated(
        *("ann", "bob"),
        options=ONE_PLY,
        games_per_pair=20,
        probation=limit,
        probation_for_ms=60_000,
        ready=False,
    )
    while where(harness) != "probation":
        play(harness, "99")
    return harness


def test_a_game_without_a_fault_ends_it() -> None:
    harness = on_probation(limit=2)
    assert harness.finished is None, "the contest waits for the test game"
    assert harness.contest.overview().running == ()
    harness.wait(59_999)
    assert harness.logged(BotTried) == []
    harness.wait(1)
    assert harness.logged(BotTried) == [BotTried("ann")]
    play(harness, "7")
    assert harness.logged(ProbationOver) == [ProbationOver("ann")]
    assert harness.contest.overview().bots[0].faulty_games == 0
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
    while where(again) != "probation":
        play(again, "99")
    assert again.contest.overview().bots[0].faulty_games == 2, "it has as many as before the first time"


def test_one_more_faulty_game_begins_it_again() -> None:
    harness = on_probation()
    harness.wait(60_000)
    assert where(harness) == "playing"
    (game,) = harness.contest.overview().running
    harness.send("bob", f"READY {game.game_id}")
    harness.wait(30_000)  # ann is not ready: a fault
    harness.send("bob", "MOVE 7")
    assert where(harness) == "probation"
    assert len(harness.logged(BotOnProbation)) == 2
    harness.wait(60_000)
    assert len(harness.logged(BotTried)) == 2


def test_after_a_restart_the_trial_goes_on_and_the_time_begins_again() -> None:
    harness = on_probation()
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
    again.wait(59_000)
    assert where(again) == "probation"
    again.wait(1_000)
    assert where(again) == "playing"
    third = restarted(again)
    for name in ("ann", "bob"):
        third.log_in(name)
    play(third, "7")
    assert third.logged(ProbationOver) == [ProbationOver("ann")]


def test_the_organiser_goes_first() -> None:
    lifted = on_probation()
    assert lifted.command("lift", "ann") is None
    lifted.wait(60_000)
    assert lifted.logged(BotTried) == []
    kicked = on_probation()
    assert kicked.command("kick", "ann") is None
    kicked.wait(60_000)
    assert where(kicked) == "kicked"
    assert kicked.finished == "incomplete"


def test_a_bot_of_many_slots_plays_its_test_game_alone() -> None:
    harness = ContestHarness(
        *(Entrant(name, concurrency=2) for name in ("ann", "bob")),
        options=ONE_PLY,
        probation=1,
        probation_for_ms=60_000,
        games_per_pair=8,
    )
    for name in ("ann", "bob"):
        harness.log_in(name)
        harness.log_in(name, " slot=2", conn=f"{name}-2")
    assert len(harness.contest.overview().running) == 2
    harness.wait(30_000)  # no seat is ready: each game is a fault of both
    assert harness.contest.overview().running == ()
    harness.wait(60_000)
    assert len(harness.contest.overview().running) == 1
