"""Probation that ends by itself after a good validation game, also when the server is started again."""

from __future__ import annotations

from arena_server.core.log_events import BotOnProbation, ProbationOver, ValidationStarted
from arena_server.terms.config import Entrant

from .contest_harness import ONE_PLY, ContestHarness, restarted, seated


def where(harness: ContestHarness, name: str = "ann") -> str:
    return next(bot.where for bot in harness.contest.status.overview().bots if bot.name == name)


def play(harness: ContestHarness, move: str) -> None:
    """The running game: seat 1 moves so; if it is ann it may be at fault."""
    (game,) = harness.contest.status.overview().running
    for name in set(game.names) - {"referee"}:
        harness.send(name, f"READY {game.game_id}")
    if game.names[0] != "referee":
        harness.send(game.names[0], f"MOVE {move if game.names[0] == 'ann' else 7}")
    harness.wait(0)


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


def test_a_validation_game_without_a_fault_ends_it() -> None:
    harness = on_probation(limit=2)
    assert harness.finished is None, "the contest waits for the test game"
    assert harness.contest.status.barred("ann") is None, "it needs no order"
    assert harness.contest.status.overview().running == ()
    harness.wait(59_999)
    assert harness.logged(ValidationStarted) == []
    harness.wait(1)
    assert harness.logged(ValidationStarted) == [ValidationStarted("ann", "v1")]
    done = harness.contest.status.progress().done
    play(harness, "7")
    assert harness.logged(ProbationOver) == [ProbationOver("ann")]
    assert harness.contest.status.progress().done == done
    assert harness.contest.status.overview().bots[0].faulty_games == 0
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
    while where(again) != "probation":
        play(again, "99")
    assert again.contest.status.overview().bots[0].faulty_games == 2, (
        "it has as many as before the first time"
    )


def test_a_faulty_one_begins_it_again() -> None:
    harness = on_probation()
    harness.wait(60_000)
    assert where(harness) == "playing"
    harness.wait(30_000)  # ann is not ready: a fault
    assert where(harness) == "probation"
    assert harness.last_line("ann") == (
        "ERROR validation v1 had a fault (never-ready, ply 1): "
        "you are not paired until you have played one without after the time of your probation, "
        "or the organiser lets you"
    )
    harness.wait(60_000)
    assert len(harness.logged(ValidationStarted)) == 2
    assert len(harness.logged(BotOnProbation)) == 1, "it was on probation already"
    harness.send("ann", "READY v2")
    harness.wait(0)
    assert harness.logged(ProbationOver) == [ProbationOver("ann")]


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


def test_a_trial_that_has_not_begun_is_due_after_a_restart() -> None:
    harness = on_probation()
    harness.disconnect("ann")
    harness.wait(60_000)
    assert harness.logged(ValidationStarted) == []
    again = restarted(harness)
    again.log_in("ann")
    assert again.logged(ValidationStarted) == [ValidationStarted("ann", "v1")]


def test_the_organiser_goes_first() -> None:
    lifted = on_probation()
    assert lifted.command("lift", "ann") is None
    lifted.wait(60_000)
    assert lifted.logged(ValidationStarted) == []
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
    assert len(harness.contest.status.overview().running) == 2
    harness.wait(30_000)  # no seat is ready: each game is a fault of both
    assert harness.contest.status.overview().running == ()
    harness.wait(60_000)
    assert [(game.game_id, game.names) for game in harness.contest.status.overview().running] == [
        ("v1", ("ann", "referee")),
        ("v2", ("referee", "bob")),
    ]
