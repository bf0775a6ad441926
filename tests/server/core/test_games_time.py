"""Faults by time: the flag, the limit for READY, and what counts as in time."""

from __future__ import annotations

from fractions import Fraction

import pytest

from arena_protocol.record import FaultRecord
from arena_server.core.log_events import BotSilent

from .contest_harness import MS, ContestHarness, faults, finish, offers, seated, text


def test_the_flag_falls() -> None:
    """The clock stood at 100 ms with a margin of 20: the first charge too high is 121."""
    harness = seated("slow", "good", clock_ms=100, increment_ms=10, margin_ms=20)
    harness.wait(120)
    assert harness.last_line("slow") == "TURN 1 clock=100,100 lag=0 credit=0"
    harness.wait(1)
    finish(harness)
    assert harness.game("slow") == text("""
        S  START g1
        S  TURN 1 clock=100,100 lag=0 credit=0
        S  ZOMBIE ply=1 reason=timeout
        S  PLAYED 1 seat=1 move=6 time=121 clock=0,100 points=0 total=0,0 reveal=6
        S  PLAYED 2 seat=2 move=9 time=5 clock=0,105 points=0 total=0,0 reveal=2
        S  PLAYED 3 seat=1 move=6 time=0 clock=0,105 points=0 total=0,0
        S  PLAYED 4 seat=2 move=9 time=5 clock=0,110 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=6562
    """)
    assert "ZOMBIE" not in harness.game("good")
    assert faults(harness) == (FaultRecord(1, 1, "timeout", b""),)


@pytest.mark.parametrize(("late", "silent"), [((), [BotSilent("slow", 1, "g1")]), (("MOVE 6",), [])])
def test_a_bot_that_sends_nothing_after_its_time_out_is_silent(
    late: tuple[str, ...], silent: list[BotSilent]
) -> None:
    harness = seated("slow", "good", clock_ms=100, logs=True)
    harness.wait(101)
    harness.send("slow", *late)
    finish(harness)
    assert faults(harness) == (FaultRecord(1, 1, "timeout", b""),)
    assert harness.logged(BotSilent) == silent


def test_a_bot_that_is_away_is_not_silent() -> None:
    harness = seated("slow", "good", clock_ms=100, logs=True)
    harness.disconnect("slow")
    harness.wait(101)
    finish(harness)
    assert harness.logged(BotSilent) == []


def test_time_used_breaks_ties_and_outlives_a_crash() -> None:
    """Two games of two plies each a bot; what was charged in a void game does not count."""
    harness = seated("slow", "good", tie_breaks=("time-used",), logs=True)
    harness.wait(90)
    harness.send("slow", "MOVE 6")
    assert harness.command("replay", "g1") is None
    while harness.contest.ended is None:
        for name, milliseconds in (("slow", 7), ("good", 3)):
            line = harness.last_line(name)
            if line.startswith("TURN"):
                harness.wait(milliseconds)
                harness.send(name, "MOVE 9")
            elif "NEXT" in line or "STATE" in line:
                harness.send(name, f"READY {offers(harness, name)[-1]}")
    again = ContestHarness(*harness.entrants, past=harness.durable(), tie_breaks=("time-used",))
    for contest in (harness.contest, again.contest):
        used = {row.name: row.tie_breaks["time-used"] for row in contest.status.progress().standings}
        assert used == {"slow": Fraction("-0.028"), "good": Fraction("-0.012")}


def test_the_margin_saves_a_move_and_gives_no_time() -> None:
    harness = seated("slow", "good", clock_ms=100, margin_ms=20)
    harness.wait(120)
    harness.send("slow", "MOVE 7")
    assert "PLAYED 1 seat=1 move=7 time=120 clock=0,100" in harness.game("slow")
    harness.send("good", "MOVE 9")
    harness.wait(20)
    harness.send("slow", "MOVE 8")
    assert "PLAYED 3 seat=1 move=8 time=20 clock=0,100" in harness.game("slow")


def test_a_line_that_arrived_before_the_flag_counts_if_it_is_read_after_it() -> None:
    harness = seated("late", "good", clock_ms=100)
    harness.now = 500 * MS  # the loop was busy, and no Tick came
    harness.send("late", "MOVE 7", arrived=101 * MS - 1)
    assert "PLAYED 1 seat=1 move=7 time=100 clock=0,100" in harness.game("late")


def test_a_line_that_arrived_after_the_flag_does_not_count_if_it_is_read_before_the_tick() -> None:
    harness = seated("late", "good", clock_ms=100)
    harness.now = 500 * MS
    harness.send("late", "MOVE 7", arrived=101 * MS)
    finish(harness)
    assert "PLAYED 1 seat=1 move=6 time=101 clock=0,100" in harness.game("late")
    assert faults(harness) == (FaultRecord(1, 1, "timeout", b""),)


def test_the_flag_falls_while_the_bot_is_away() -> None:
    harness = seated("gone", "good", clock_ms=100)
    harness.send("gone", "MOVE 7")
    harness.disconnect("gone")
    harness.wait(50)
    harness.send("good", "MOVE 9")  # it is the turn of the absent: its clock runs from here
    harness.wait(100)
    assert harness.last_line("good").startswith("PLAYED 2")
    harness.wait(1)
    harness.send("good", "MOVE 9")
    assert harness.game("good") == text("""
        S  START g1
        S  PLAYED 1 seat=1 move=7 time=0 clock=100,100 points=0 total=0,0 reveal=1
        S  TURN 2 clock=100,100 lag=0 credit=0
        C  MOVE 9
        S  PLAYED 2 seat=2 move=9 time=50 clock=100,50 points=0 total=0,0 reveal=2
        S  PLAYED 3 seat=1 move=6 time=101 clock=0,50 points=0 total=0,0
        S  TURN 4 clock=0,50 lag=0 credit=0
        C  MOVE 9
        S  PLAYED 4 seat=2 move=9 time=0 clock=0,50 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=6612
    """)
    assert faults(harness) == (FaultRecord(1, 3, "disconnect", b""),)


def test_never_ready() -> None:
    harness = seated("cold", "good", ready=False, ready_ms=500)
    harness.send("good", "READY g1")
    harness.wait(500)
    finish(harness)
    assert harness.game("cold", since="NEXT") == text("""
        S  NEXT 15
        S  ZOMBIE ply=1 reason=never-ready
        S  START g1
        S  PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=2
        S  PLAYED 2 seat=2 move=9 time=5 clock=20000,19995 points=0 total=0,0 reveal=5
        S  PLAYED 3 seat=1 move=6 time=0 clock=20000,19995 points=0 total=0,0
        S  PLAYED 4 seat=2 move=9 time=5 clock=20000,19990 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=1525
    """)
    assert "ZOMBIE" not in harness.game("good", since="GAME")
    assert faults(harness) == (FaultRecord(1, 1, "never-ready", b""),)


def test_ready_counts_by_its_arrival_too() -> None:
    for arrived, kinds in ((500 * MS - 1, []), (500 * MS, ["never-ready"])):
        harness = seated("cold", "good", ready=False, ready_ms=500)
        harness.send("good", "READY g1")
        harness.now = 600 * MS
        harness.send("cold", "READY g1", arrived=arrived)
        harness.wait(0)
        assert harness.received("good").count("START g1") == 1
        harness.stop()
        assert [fault.kind for fault in faults(harness)] == [*kinds, "void"]


def test_away_when_the_limit_for_ready_passes_is_a_disconnect() -> None:
    harness = seated("gone", "good", ready=False, ready_ms=500)
    harness.send("gone", "READY g1")
    harness.disconnect("gone")
    harness.send("good", "READY g1")
    assert "START g1" not in harness.received("good")  # a bot that comes back has to get ready again
    harness.wait(500)
    finish(harness)
    assert faults(harness) == (FaultRecord(1, 1, "disconnect", b""),)


def test_malformed_before_the_start_does_not_hold_up_the_others() -> None:
    harness = seated("bad", "good", ready=False)
    harness.send("bad", "REDY g1")
    harness.send("good", "READY g1")
    finish(harness)
    assert harness.game("bad", since="NEXT").splitlines()[1:6] == [
        "C  REDY g1",
        "S  ERROR unknown-verb there is no verb 'REDY'",
        "S  ZOMBIE ply=1 reason=malformed",
        "S  START g1",
        "S  PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=4",
    ]
    assert faults(harness) == (FaultRecord(1, 1, "malformed", b"REDY g1"),)


def test_a_bot_rests_after_a_game() -> None:
    harness = seated("ann", "bob", rest_ms=500, options={"plies": 1, "start": "empty"})
    harness.send("ann", "MOVE 7")
    assert offers(harness, "ann") == ["g1"]
    harness.disconnect("bob")
    harness.wait(100)
    harness.log_in("bob", conn="again")
    harness.wait(399)
    assert offers(harness, "ann") == ["g1"]
    harness.wait(1)
    assert offers(harness, "ann") == ["g1", "g2"]


def test_a_bot_that_is_away_at_the_end_of_its_rest_plays_when_it_is_back() -> None:
    harness = seated("ann", "bob", rest_ms=500, options={"plies": 1, "start": "empty"})
    harness.send("ann", "MOVE 7")
    harness.disconnect("bob")
    harness.wait(600)
    assert offers(harness, "ann") == ["g1"]
    harness.log_in("bob", conn="again")
    assert offers(harness, "again") == ["g2"]
