"""Each way to become a zombie by being late, as the bot at fault and its opponent saw it.

The opponent is told of none: it sees sixes. Every scene's record passes `verify`.
"""

from __future__ import annotations

from arena_protocol.record import FaultRecord

from .stage import MS, faults, finish, seated, text


def test_the_flag_falls() -> None:
    """The clock stood at 100 ms with a margin of 20: the first charge too high is 121."""
    stage = seated("slow", "good", clock_ms=100, increment_ms=10, margin_ms=20)
    stage.wait(120)
    assert stage.last("slow") == "TURN 1 clock=100,100 lag=0 credit=0"
    stage.wait(1)
    finish(stage)
    assert stage.game("slow") == text("""
        S  START g1
        S  TURN 1 clock=100,100 lag=0 credit=0
        S  ZOMBIE ply=1 reason=timeout
        S  PLAYED 1 seat=1 move=6 time=121 clock=0,100 points=0 total=0,0 reveal=6
        S  PLAYED 2 seat=2 move=9 time=5 clock=0,105 points=0 total=0,0 reveal=2
        S  PLAYED 3 seat=1 move=6 time=0 clock=0,105 points=0 total=0,0
        S  PLAYED 4 seat=2 move=9 time=5 clock=0,110 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=6562
    """)
    assert "ZOMBIE" not in stage.game("good")
    assert faults(stage) == (FaultRecord(1, 1, "timeout", b""),)


def test_the_margin_saves_a_move_and_gives_no_time() -> None:
    stage = seated("slow", "good", clock_ms=100, margin_ms=20)
    stage.wait(120)
    stage.say("slow", "MOVE 7")
    assert "PLAYED 1 seat=1 move=7 time=120 clock=0,100" in stage.game("slow")
    stage.say("good", "MOVE 9")
    stage.wait(20)
    stage.say("slow", "MOVE 8")
    assert "PLAYED 3 seat=1 move=8 time=20 clock=0,100" in stage.game("slow")


def test_a_line_that_was_there_before_the_flag_counts_although_it_is_read_after() -> None:
    stage = seated("late", "good", clock_ms=100)
    stage.now = 500 * MS  # the referee was busy; nobody has ticked
    stage.say("late", "MOVE 7", arrived=101 * MS - 1)
    assert "PLAYED 1 seat=1 move=7 time=100 clock=0,100" in stage.game("late")


def test_a_line_that_came_after_the_flag_does_not_count_although_nobody_ticked() -> None:
    stage = seated("late", "good", clock_ms=100)
    stage.now = 500 * MS
    stage.say("late", "MOVE 7", arrived=101 * MS)
    finish(stage)
    assert "PLAYED 1 seat=1 move=6 time=101 clock=0,100" in stage.game("late")
    assert faults(stage) == (FaultRecord(1, 1, "timeout", b""),)


def test_the_flag_falls_while_the_bot_is_away() -> None:
    stage = seated("gone", "good", clock_ms=100)
    stage.say("gone", "MOVE 7")
    stage.hang_up("gone")
    stage.wait(50)
    stage.say("good", "MOVE 9")  # it is the turn of the absent: its clock runs from here
    stage.wait(100)
    assert stage.last("good").startswith("PLAYED 2")
    stage.wait(1)
    stage.say("good", "MOVE 9")
    assert stage.game("good") == text("""
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
    assert faults(stage) == (FaultRecord(1, 3, "disconnect", b""),)


def test_never_ready() -> None:
    stage = seated("cold", "good", ready=False, ready_ms=500)
    stage.say("good", "READY g1")
    stage.wait(500)
    finish(stage)
    assert stage.game("cold", since="NEXT") == text("""
        S  NEXT 15
        S  ZOMBIE ply=1 reason=never-ready
        S  START g1
        S  PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=2
        S  PLAYED 2 seat=2 move=9 time=5 clock=20000,19995 points=0 total=0,0 reveal=5
        S  PLAYED 3 seat=1 move=6 time=0 clock=20000,19995 points=0 total=0,0
        S  PLAYED 4 seat=2 move=9 time=5 clock=20000,19990 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=1525
    """)
    assert "ZOMBIE" not in stage.game("good", since="GAME")
    assert faults(stage) == (FaultRecord(1, 1, "never-ready", b""),)


def test_ready_counts_by_its_arrival_too() -> None:
    for arrived, kinds in ((500 * MS - 1, []), (500 * MS, ["never-ready"])):
        stage = seated("cold", "good", ready=False, ready_ms=500)
        stage.say("good", "READY g1")
        stage.now = 600 * MS
        stage.say("cold", "READY g1", arrived=arrived)
        stage.wait(0)
        assert stage.heard("good").count("START g1") == 1
        stage.stop()
        assert [fault.kind for fault in faults(stage)] == [*kinds, "void"]


def test_away_when_the_limit_for_ready_passes_is_a_disconnect() -> None:
    stage = seated("gone", "good", ready=False, ready_ms=500)
    stage.say("gone", "READY g1")
    stage.hang_up("gone")
    stage.say("good", "READY g1")
    assert "START g1" not in stage.heard("good")  # who comes back has to warm up again
    stage.wait(500)
    finish(stage)
    assert faults(stage) == (FaultRecord(1, 1, "disconnect", b""),)


def test_malformed_before_the_start_does_not_hold_up_the_others() -> None:
    stage = seated("bad", "good", ready=False)
    stage.say("bad", "REDY g1")
    stage.say("good", "READY g1")
    finish(stage)
    assert stage.game("bad", since="NEXT").splitlines()[1:6] == [
        "C  REDY g1",
        "S  ERROR unknown-verb there is no verb 'REDY'",
        "S  ZOMBIE ply=1 reason=malformed",
        "S  START g1",
        "S  PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=4",
    ]
    assert faults(stage) == (FaultRecord(1, 1, "malformed", b"REDY g1"),)
