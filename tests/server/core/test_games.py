"""Faults of a seat as it and its opponent see them, and what the record has of them.

The opponent is not informed: it sees the zombie move 6. `Harness` verifies every record.
"""

from __future__ import annotations

import pytest
from tests.slices import all_of

from arena_protocol.record import FaultRecord
from arena_server.core.events import Abandoned, LineTooLong

from .contest_harness import faults, finish, seated, text

# -- faults by lines


def test_an_illegal_move() -> None:
    harness = seated("zero", "good")
    harness.wait(5)
    harness.send("zero", "MOVE 0")
    finish(harness)
    assert harness.game("zero") == text("""
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
    assert harness.game("good") == text("""
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
    assert faults(harness) == (FaultRecord(1, 1, "illegal", b"MOVE 0"),)


def test_a_malformed_line_is_answered_before_it_costs_the_game() -> None:
    harness = seated("bad", "good")
    harness.send("bad", "MOVE 7 please")
    finish(harness)
    assert harness.game("bad") == text("""
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
    assert "ZOMBIE" not in harness.game("good")
    assert faults(harness) == (FaultRecord(1, 1, "malformed", b"MOVE 7 please"),)


@all_of(
    ("line", "code"),
    [
        ("JUMP", "unknown-verb"),
        ("MOVE", "syntax"),
        ("MOVE  7", "syntax"),
        ("MOVE \xe9", "syntax"),
        ("HELLO 1 -bad-", "name"),
    ],
)
def test_a_line_that_cannot_be_read_is_malformed(line: str, code: str) -> None:
    harness = seated("bad", "good")
    harness.send("bad", line)
    finish(harness)
    assert [said.split()[1] for said in harness.received("bad") if said.startswith("ERROR")] == [code]
    assert faults(harness) == (FaultRecord(1, 1, "malformed", line.encode("latin-1")),)


def test_a_line_too_long_is_malformed_and_its_head_is_recorded() -> None:
    harness = seated("bad", "good")
    harness.send_overlong("bad", b"MOVE 77777")
    finish(harness)
    assert harness.game("bad").splitlines()[2:5] == [
        "C  (a line too long)",
        "S  ERROR too-long a line may have 1024 bytes at most",
        "S  ZOMBIE ply=1 reason=malformed",
    ]
    assert faults(harness) == (FaultRecord(1, 1, "malformed", b"MOVE 77777"),)


def test_malformed_in_the_opponents_turn_costs_the_own_next_ply() -> None:
    harness = seated("bad", "good")
    harness.send("bad", "MOVE 7", "what?")
    finish(harness)
    assert faults(harness) == (FaultRecord(1, 2, "malformed", b"what?"),)
    assert [ply.zombie for ply in harness.records["g1"].plies] == [False, False, True, False]


def test_a_flood() -> None:
    harness = seated("bad", "good", flood_limit=5)
    harness.send("bad", "MOVE 7", *["READY g1"] * 4)
    assert not harness.is_muted("bad")
    harness.send("bad", "READY g1")
    assert harness.is_muted("bad")
    harness.send("bad", "READY g1", "READY g1")  # read together with the others, before the mute
    finish(harness)
    assert harness.game("bad", since="PLAYED 1") == text("""
        S  PLAYED 1 seat=1 move=7 time=0 clock=20000,20000 points=0 total=0,0 reveal=4
        C  READY g1
        C  READY g1
        C  READY g1
        C  READY g1
        C  READY g1
        S  ERROR flood too many lines that were not asked for
        S  ZOMBIE ply=2 reason=flood
        C  READY g1
        C  READY g1
        S  PLAYED 2 seat=2 move=9 time=5 clock=20000,19995 points=0 total=0,0 reveal=4
        S  PLAYED 3 seat=1 move=6 time=0 clock=20000,19995 points=0 total=0,0
        S  PLAYED 4 seat=2 move=9 time=5 clock=20000,19990 points=0 total=0,0
        S  OVER g1 total=0,0 end=complete nonce=... sequence=4144
    """)
    assert faults(harness) == (FaultRecord(1, 2, "flood", b"READY g1"),)
    assert not harness.is_muted("bad")  # in the next game it is read again


def test_a_hundred_lines_are_a_flood_and_ninety_nine_are_none() -> None:
    harness = seated("bad", "good")
    harness.send("bad", "MOVE 7", *["READY g1"] * 99)
    assert not harness.is_muted("bad")
    assert "ZOMBIE" not in harness.game("bad")
    harness.send("bad", "READY g1")
    assert harness.is_muted("bad")
    assert harness.last_line("bad") == "ZOMBIE ply=2 reason=flood"


def test_a_flooder_that_comes_back_is_mute_again_after_one_line() -> None:
    harness = seated("bad", "good", flood_limit=5)
    harness.send("bad", *["READY g1"] * 5)
    harness.disconnect("bad")
    harness.log_in("bad")
    assert not harness.is_muted("bad")
    harness.send("bad", "MOVE 8")
    assert harness.is_muted("bad")
    finish(harness)
    assert [fault.kind for fault in faults(harness)] == ["flood"]


def test_the_answer_to_a_game_that_is_sent_again_is_no_unasked_line() -> None:
    harness = seated("bad", "good", flood_limit=2)
    for _ in range(5):
        harness.disconnect("bad")
        harness.log_in("bad")
        harness.send("bad", "READY g1")
    assert not harness.is_muted("bad")
    harness.send("bad", "READY g1", "READY g1")  # asked for once a connection
    assert harness.is_muted("bad")
    finish(harness)
    assert [fault.seat for fault in faults(harness)] == [1]


def test_moves_out_of_turn() -> None:
    harness = seated("bad", "good", out_of_turn_limit=2)
    harness.send("bad", "MOVE 7", "MOVE 8", "MOVE 8", "MOVE 9", "MOVE 10")
    finish(harness)
    assert harness.game("bad", since="PLAYED 1") == text("""
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
    assert "ZOMBIE" not in harness.game("good")
    assert faults(harness) == (FaultRecord(1, 2, "out-of-turn", b"MOVE 9"),)


def test_ten_moves_out_of_turn_are_dropped_without_a_fault() -> None:
    harness = seated("hasty", "good")
    harness.send("hasty", "MOVE 7", *["MOVE 8"] * 10)
    harness.send("good", "MOVE 9")
    harness.send("hasty", "MOVE 8")
    harness.send("good", "MOVE 9")
    assert faults(harness) == ()
    assert [ply.move for ply in harness.records["g1"].plies] == ["7", "9", "8", "9"]


# -- other ends


def test_quit() -> None:
    harness = seated("quit", "good")
    harness.send("quit", "MOVE 7", "QUIT")
    finish(harness)
    assert harness.game("quit", since="TURN") == text("""
        S  TURN 1 clock=20000,20000 lag=0 credit=0
        C  MOVE 7
        S  PLAYED 1 seat=1 move=7 time=0 clock=20000,20000 points=0 total=0,0 reveal=4
        C  QUIT
        S  BYE reason=quit
    """)
    assert harness.is_closed("quit")
    assert "ZOMBIE" not in harness.game("good")
    assert faults(harness) == (FaultRecord(1, 2, "quit", b"QUIT"),)


def test_quit_in_the_own_turn_and_before_the_start() -> None:
    harness = seated("quit", "good")
    harness.send("quit", "QUIT")
    assert harness.last_line("good") == "TURN 2 clock=20000,20000 lag=0 credit=0"
    harness = seated("quit", "good", ready=False)
    harness.send("good", "READY g1")
    harness.send("quit", "QUIT")
    assert harness.last_line("good") == "TURN 2 clock=20000,20000 lag=0 credit=0"


def test_a_crashed_program_that_is_not_restarted_keeps_nobody_waiting() -> None:
    harness = seated("crash", "good")
    harness.disconnect("crash")
    harness.event(Abandoned("crash", 1, "g1"))
    assert harness.last_line("good") == "TURN 2 clock=20000,20000 lag=0 credit=0"
    harness.event(Abandoned("crash", 1, "g1"))
    finish(harness)
    assert faults(harness) == (FaultRecord(1, 1, "disconnect", b""),)


def test_a_program_that_was_stopped_by_a_limit_is_at_fault_for_that() -> None:
    harness = seated("large", "good")
    harness.disconnect("large")
    harness.event(Abandoned("large", 1, "g1", "more than 64 MB of memory"))
    finish(harness)
    assert faults(harness) == (FaultRecord(1, 1, "resource", b"more than 64 MB of memory"),)


@pytest.mark.parametrize("who", [("crash", 2, "g1"), ("eve", 1, "g1"), ("crash", 1, "g2"), ("crash", 1, "x")])
def test_only_the_game_that_is_named_is_abandoned(who: tuple[str, int, str]) -> None:
    harness = seated("crash", "good")
    harness.disconnect("crash")
    assert harness.event(Abandoned(*who)) == []


def test_the_organiser_stops_the_contest() -> None:
    """No bot is at fault: there is no result. The deal is opened, as it is not played again."""
    harness = seated("ann", "bob")
    harness.send("ann", "MOVE 7")
    harness.stop()
    assert harness.transcript("ann", since="PLAYED") == text("""
        S  PLAYED 1 seat=1 move=7 time=0 clock=20000,20000 points=0 total=0,0 reveal=5
        S  OVER g1 total=0,0 end=void nonce=... sequence=4456
        S  BYE reason=stopped
    """)
    assert faults(harness) == (FaultRecord(0, 2, "void", b"stopped"),)
    assert harness.finished == "stopped"
    assert harness.contest.status.progress().void == 1
    assert [row.games for row in harness.contest.status.progress().standings] == [0, 0]


def test_the_first_fault_is_the_only_one() -> None:
    harness = seated("bad", "good", flood_limit=8, out_of_turn_limit=1)
    harness.send("bad", "MOVE 0", "what?", "MOVE 7", "MOVE 7", "MOVE 7", "GAME", "WATCH *")
    before = len(harness.received("bad"))
    harness.send("bad", "what?")
    assert harness.received("bad")[before:] == []  # a zombie is sent nothing more
    harness.send("bad", "what?")
    assert harness.received("bad")[before:] == ["ERROR flood too many lines that were not asked for"]
    harness.send("bad", "QUIT")
    finish(harness)
    assert faults(harness) == (FaultRecord(1, 1, "illegal", b"MOVE 0"),)


def test_a_contest_may_announce_zombies() -> None:
    harness = seated("zero", "good", announce_zombies=True)
    harness.send("zero", "MOVE 0")
    assert "ZOMBIE ply=1 reason=illegal" in harness.received("zero")
    assert "ZOMBIE ply=1 reason=illegal seat=1" in harness.received("good")


def test_zombie_against_zombie_ends_at_once() -> None:
    options: dict[str, object] = {"plies": 5000}
    harness = seated("zero", "void", options=options)
    harness.send("zero", "MOVE 0")
    harness.send("void", "MOVE 0")
    assert len(harness.records["g1"].plies) == 5000
    assert harness.last_line("void").startswith("NEXT")  # the next game is on already


@pytest.mark.parametrize("game", ["xo", "tictactoe"])
def test_without_an_always_legal_move_a_fault_forfeits_the_game(game: str) -> None:
    harness = seated("bad", "good", game=game, options={})
    harness.send("bad", "MOVE z99")
    assert harness.game("bad", since="TURN").splitlines()[-2:] == [
        "S  ZOMBIE ply=1 reason=illegal",
        "S  OVER g1 total=0,2 end=forfeit nonce=...",
    ]
    assert harness.game("good").splitlines() == ["S  START g1", "S  OVER g1 total=0,2 end=forfeit nonce=..."]


def test_forfeits_by_time_and_by_seats_that_are_never_ready() -> None:
    harness = seated("slow", "good", game="tictactoe", options={}, clock_ms=100)
    harness.wait(101)
    assert (harness.records["g1"].end, harness.records["g1"].totals) == ("forfeit", (0, 2))
    harness = seated("cold", "icy", ready=False, game="tictactoe", options={})
    harness.wait(30_000)
    assert (harness.records["g1"].end, harness.records["g1"].totals) == ("forfeit", (0, 0))
    assert [fault.seat for fault in faults(harness)] == [1, 2]


def test_events_of_a_closed_connection_have_no_effect() -> None:
    harness = seated("ann", "bob")
    harness.disconnect("ann")
    assert harness.event(LineTooLong(harness.conns["ann"], 0)) == []
    harness.send("ann", "MOVE 7")
    harness.disconnect("ann")
    assert "PLAYED" not in harness.game("bob")
