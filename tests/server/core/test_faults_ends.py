"""Other ends: who quits, the organiser's stop, games that have no zombie's move, and what is told of it.

The opponent is told of none: it sees sixes. Every scene's record passes `verify`.
"""

from __future__ import annotations

import pytest

from arena_protocol.record import FaultRecord
from arena_server.core.events import Overlong

from .contest_harness import faults, finish, seated, text


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


def test_the_organiser_stops_the_contest() -> None:
    """Nobody's fault: no result, and the deal stays hidden, for it may be played again."""
    harness = seated("ann", "bob")
    harness.send("ann", "MOVE 7")
    harness.stop()
    assert harness.transcript("ann", since="PLAYED") == text("""
        S  PLAYED 1 seat=1 move=7 time=0 clock=20000,20000 points=0 total=0,0 reveal=5
        S  OVER g1 total=0,0 end=void
        S  BYE reason=stopped
    """)
    assert faults(harness) == (FaultRecord(0, 2, "void", b"stopped"),)
    assert harness.finished == "stopped"
    assert harness.contest.progress().void == 1
    assert [row.games for row in harness.contest.progress().standings] == [0, 0]


def test_the_first_fault_is_the_only_one() -> None:
    harness = seated("bad", "good", flood_limit=8, out_of_turn_limit=1)
    harness.send("bad", "MOVE 0", "what?", "MOVE 7", "MOVE 7", "MOVE 7", "GAME", "WATCH *")
    before = len(harness.received("bad"))
    harness.send("bad", "what?")
    assert harness.received("bad")[before:] == []  # a zombie is told nothing more
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


def test_forfeits_by_time_and_by_both_never_getting_ready() -> None:
    harness = seated("slow", "good", game="tictactoe", options={}, clock_ms=100)
    harness.wait(101)
    assert (harness.records["g1"].end, harness.records["g1"].totals) == ("forfeit", (0, 2))
    harness = seated("cold", "icy", ready=False, game="tictactoe", options={})
    harness.wait(30_000)
    assert (harness.records["g1"].end, harness.records["g1"].totals) == ("forfeit", (0, 0))
    assert [fault.seat for fault in faults(harness)] == [1, 2]


def test_an_event_of_a_connection_that_is_gone_means_nothing() -> None:
    harness = seated("ann", "bob")
    harness.disconnect("ann")
    assert harness.event(Overlong(harness.conns["ann"], 0)) == []
    harness.send("ann", "MOVE 7")
    harness.disconnect("ann")
    assert "PLAYED" not in harness.game("bob")
