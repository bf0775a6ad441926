"""Each way to become a zombie, as the bot at fault and its opponent saw it.

The opponent is told of none: it sees sixes. Every scene's record passes `verify`.
"""

from __future__ import annotations

from textwrap import dedent

import pytest

from arena_protocol.record import FaultRecord
from arena_server.core.events import Overlong

from .stage import MS, Stage, seated


def text(literal: str) -> str:
    return dedent(literal).strip()


def faults(stage: Stage, game_id: str = "g1") -> tuple[FaultRecord, ...]:
    return stage.records[game_id].faults


def finish(stage: Stage, milliseconds: int = 5) -> None:
    """The good bot, in seat 2, plays both its plies."""
    for _ in range(2):
        stage.wait(milliseconds)
        stage.say("good", "MOVE 9")


def test_an_illegal_move() -> None:
    stage = seated("zero", "good")
    stage.wait(5)
    stage.say("zero", "MOVE 0")
    finish(stage)
    assert stage.game("zero") == text("""
        S  START g1
        S  TURN 1 clock=20000,20000 lag=0 credit=0
        C  MOVE 0
        S  ZOMBIE ply=1 reason=illegal
        S  PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=1
        S  PLAYED 2 seat=2 move=9 time=5 clock=20000,19995 points=0 total=0,0 reveal=3
        S  PLAYED 3 seat=1 move=6 time=0 clock=20000,19995 points=0 total=0,0
        S  PLAYED 4 seat=2 move=9 time=5 clock=20000,19990 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=3513
    """)
    assert stage.game("good") == text("""
        S  START g1
        S  PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=1
        S  TURN 2 clock=20000,20000 lag=0 credit=0
        C  MOVE 9
        S  PLAYED 2 seat=2 move=9 time=5 clock=20000,19995 points=0 total=0,0 reveal=3
        S  PLAYED 3 seat=1 move=6 time=0 clock=20000,19995 points=0 total=0,0
        S  TURN 4 clock=20000,19995 lag=0 credit=0
        C  MOVE 9
        S  PLAYED 4 seat=2 move=9 time=5 clock=20000,19990 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=3513
    """)
    assert faults(stage) == (FaultRecord(1, 1, "illegal", b"MOVE 0"),)


def test_a_malformed_line_is_answered_before_it_costs_the_game() -> None:
    stage = seated("bad", "good")
    stage.say("bad", "MOVE 7 please")
    finish(stage)
    assert stage.game("bad") == text("""
        S  START g1
        S  TURN 1 clock=20000,20000 lag=0 credit=0
        C  MOVE 7 please
        S  ERROR syntax MOVE: expected key=value, not 'please'
        S  ZOMBIE ply=1 reason=malformed
        S  PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=4
        S  PLAYED 2 seat=2 move=9 time=5 clock=20000,19995 points=0 total=0,0 reveal=4
        S  PLAYED 3 seat=1 move=6 time=0 clock=20000,19995 points=0 total=0,0
        S  PLAYED 4 seat=2 move=9 time=5 clock=20000,19990 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=4144
    """)
    assert "ZOMBIE" not in stage.game("good")
    assert faults(stage) == (FaultRecord(1, 1, "malformed", b"MOVE 7 please"),)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("JUMP", "unknown-verb"),
        ("MOVE", "syntax"),
        ("MOVE  7", "syntax"),
        ("MOVE \xe9", "syntax"),
        ("HELLO 1 -bad-", "name"),
    ],
)
def test_whatever_cannot_be_read_is_malformed(line: str, code: str) -> None:
    stage = seated("bad", "good")
    stage.say("bad", line)
    finish(stage)
    assert [said.split()[1] for said in stage.heard("bad") if said.startswith("ERROR")] == [code]
    assert faults(stage) == (FaultRecord(1, 1, "malformed", line.encode("latin-1")),)


def test_a_line_too_long_is_malformed_and_its_head_is_the_evidence() -> None:
    stage = seated("bad", "good")
    stage.overlong("bad", b"MOVE 77777")
    finish(stage)
    assert stage.game("bad").splitlines()[2:5] == [
        "C  (a line too long)",
        "S  ERROR too-long a line may have 1024 bytes at most",
        "S  ZOMBIE ply=1 reason=malformed",
    ]
    assert faults(stage) == (FaultRecord(1, 1, "malformed", b"MOVE 77777"),)


def test_malformed_in_the_opponents_turn_costs_the_own_next_ply() -> None:
    stage = seated("bad", "good")
    stage.say("bad", "MOVE 7", "what?")
    finish(stage)
    assert faults(stage) == (FaultRecord(1, 2, "malformed", b"what?"),)
    assert [ply.zombie for ply in stage.records["g1"].plies] == [False, False, True, False]


def test_a_flood() -> None:
    stage = seated("bad", "good", flood_limit=5)
    stage.say("bad", "MOVE 7", *["READY g1"] * 4)
    assert not stage.muted("bad")
    stage.say("bad", "READY g1")
    assert stage.muted("bad")
    stage.say("bad", "READY g1", "READY g1")  # read together with the others, before the mute
    finish(stage)
    assert stage.game("bad", since="PLAYED 1") == text("""
        S  PLAYED 1 seat=1 move=7 time=0 clock=20000,20000 points=0 total=0,0 reveal=4
        C  READY g1
        C  READY g1
        C  READY g1
        C  READY g1
        C  READY g1
        S  ERROR flood too many lines that nothing asked for
        S  ZOMBIE ply=2 reason=flood
        C  READY g1
        C  READY g1
        S  PLAYED 2 seat=2 move=9 time=5 clock=20000,19995 points=0 total=0,0 reveal=4
        S  PLAYED 3 seat=1 move=6 time=0 clock=20000,19995 points=0 total=0,0
        S  PLAYED 4 seat=2 move=9 time=5 clock=20000,19990 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=4144
    """)
    assert faults(stage) == (FaultRecord(1, 2, "flood", b"READY g1"),)
    assert not stage.muted("bad")  # the next game begins afresh


def test_a_hundred_lines_are_a_flood_and_ninety_nine_are_none() -> None:
    stage = seated("bad", "good")
    stage.say("bad", "MOVE 7", *["READY g1"] * 99)
    assert not stage.muted("bad")
    assert "ZOMBIE" not in stage.game("bad")
    stage.say("bad", "READY g1")
    assert stage.muted("bad")
    assert stage.last("bad") == "ZOMBIE ply=2 reason=flood"


def test_a_flooder_that_comes_back_is_mute_again_after_one_line() -> None:
    stage = seated("bad", "good", flood_limit=5)
    stage.say("bad", *["READY g1"] * 5)
    stage.hang_up("bad")
    stage.log_in("bad")
    assert not stage.muted("bad")
    stage.say("bad", "READY g1")
    assert stage.muted("bad")
    finish(stage)
    assert [fault.kind for fault in faults(stage)] == ["flood"]


def test_moves_out_of_turn() -> None:
    stage = seated("bad", "good", out_of_turn_limit=2)
    stage.say("bad", "MOVE 7", "MOVE 8", "MOVE 8", "MOVE 9", "MOVE 10")
    finish(stage)
    assert stage.game("bad", since="PLAYED 1") == text("""
        S  PLAYED 1 seat=1 move=7 time=0 clock=20000,20000 points=0 total=0,0 reveal=4
        C  MOVE 8
        S  ERROR not-your-turn MOVE answers a TURN, and none is open
        C  MOVE 8
        S  ERROR not-your-turn MOVE answers a TURN, and none is open
        C  MOVE 9
        S  ERROR not-your-turn MOVE answers a TURN, and none is open
        S  ZOMBIE ply=2 reason=out-of-turn
        C  MOVE 10
        S  PLAYED 2 seat=2 move=9 time=5 clock=20000,19995 points=0 total=0,0 reveal=4
        S  PLAYED 3 seat=1 move=6 time=0 clock=20000,19995 points=0 total=0,0
        S  PLAYED 4 seat=2 move=9 time=5 clock=20000,19990 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=4144
    """)
    assert "ZOMBIE" not in stage.game("good")
    assert faults(stage) == (FaultRecord(1, 2, "out-of-turn", b"MOVE 9"),)


def test_ten_moves_out_of_turn_are_dropped_and_forgiven() -> None:
    stage = seated("hasty", "good")
    stage.say("hasty", "MOVE 7", *["MOVE 8"] * 10)
    stage.say("good", "MOVE 9")
    stage.say("hasty", "MOVE 8")
    stage.say("good", "MOVE 9")
    assert faults(stage) == ()
    assert [ply.move for ply in stage.records["g1"].plies] == ["7", "9", "8", "9"]


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


def test_quit() -> None:
    stage = seated("quit", "good")
    stage.say("quit", "MOVE 7", "QUIT")
    finish(stage)
    assert stage.game("quit", since="TURN") == text("""
        S  TURN 1 clock=20000,20000 lag=0 credit=0
        C  MOVE 7
        S  PLAYED 1 seat=1 move=7 time=0 clock=20000,20000 points=0 total=0,0 reveal=4
        C  QUIT
        S  BYE reason=quit
    """)
    assert stage.closed("quit")
    assert "ZOMBIE" not in stage.game("good")
    assert faults(stage) == (FaultRecord(1, 2, "quit", b"QUIT"),)


def test_quit_in_the_own_turn_and_before_the_start() -> None:
    stage = seated("quit", "good")
    stage.say("quit", "QUIT")
    assert stage.last("good") == "TURN 2 clock=20000,20000 lag=0 credit=0"
    stage = seated("quit", "good", ready=False)
    stage.say("good", "READY g1")
    stage.say("quit", "QUIT")
    assert stage.last("good") == "TURN 2 clock=20000,20000 lag=0 credit=0"


def test_the_organiser_stops_the_contest() -> None:
    """Nobody's fault: no result, and the deal stays hidden, for it may be played again."""
    stage = seated("ann", "bob")
    stage.say("ann", "MOVE 7")
    stage.stop()
    assert stage.transcript("ann", since="PLAYED") == text("""
        S  PLAYED 1 seat=1 move=7 time=0 clock=20000,20000 points=0 total=0,0 reveal=5
        S  OVER g1 total=0,0 end=void
        S  BYE reason=stopped
    """)
    assert faults(stage) == (FaultRecord(0, 2, "void", b"stopped"),)
    assert stage.finished == "stopped"
    assert stage.contest.progress().void == 1
    assert [row.games for row in stage.contest.progress().standings] == [0, 0]


def test_the_first_fault_is_the_only_one() -> None:
    stage = seated("bad", "good", flood_limit=8, out_of_turn_limit=1)
    stage.say("bad", "MOVE 0", "what?", "MOVE 7", "MOVE 7", "MOVE 7", "GAME", "WATCH *")
    before = len(stage.heard("bad"))
    stage.say("bad", "what?")
    assert stage.heard("bad")[before:] == []  # a zombie is told nothing more
    stage.say("bad", "what?")
    assert stage.heard("bad")[before:] == ["ERROR flood too many lines that nothing asked for"]
    stage.say("bad", "QUIT")
    finish(stage)
    assert faults(stage) == (FaultRecord(1, 1, "illegal", b"MOVE 0"),)


def test_a_contest_may_announce_zombies() -> None:
    stage = seated("zero", "good", announce_zombies=True)
    stage.say("zero", "MOVE 0")
    assert "ZOMBIE ply=1 reason=illegal" in stage.heard("zero")
    assert "ZOMBIE ply=1 reason=illegal seat=1" in stage.heard("good")


def test_zombie_against_zombie_ends_at_once() -> None:
    options: dict[str, object] = {"plies": 5000}
    stage = seated("zero", "void", options=options)
    stage.say("zero", "MOVE 0")
    stage.say("void", "MOVE 0")
    assert len(stage.records["g1"].plies) == 5000
    assert stage.last("void").startswith("NEXT")  # the next game is on already


@pytest.mark.parametrize("game", ["xo", "tictactoe"])
def test_without_an_always_legal_move_a_fault_forfeits_the_game(game: str) -> None:
    stage = seated("bad", "good", game=game, options={})
    stage.say("bad", "MOVE z99")
    assert stage.game("bad", since="TURN").splitlines()[-2:] == [
        "S  ZOMBIE ply=1 reason=illegal",
        "S  OVER g1 total=0,2 end=forfeit nonce=...",
    ]
    assert stage.game("good").splitlines() == ["S  START g1", "S  OVER g1 total=0,2 end=forfeit nonce=..."]


def test_forfeits_by_time_and_by_both_never_getting_ready() -> None:
    stage = seated("slow", "good", game="tictactoe", options={}, clock_ms=100)
    stage.wait(101)
    assert (stage.records["g1"].end, stage.records["g1"].totals) == ("forfeit", (0, 2))
    stage = seated("cold", "icy", ready=False, game="tictactoe", options={})
    stage.wait(30_000)
    assert (stage.records["g1"].end, stage.records["g1"].totals) == ("forfeit", (0, 0))
    assert [fault.seat for fault in faults(stage)] == [1, 2]


def test_an_event_of_a_connection_that_is_gone_means_nothing() -> None:
    stage = seated("ann", "bob")
    stage.hang_up("ann")
    assert stage.event(Overlong(stage.conns["ann"], 0)) == []
    stage.say("ann", "MOVE 7")
    stage.hang_up("ann")
    assert "PLAYED" not in stage.game("bob")
