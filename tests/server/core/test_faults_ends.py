"""Other ends: who quits, the organiser's stop, games that have no zombie's move, and what is told of it.

The opponent is told of none: it sees sixes. Every scene's record passes `verify`.
"""

from __future__ import annotations

import pytest

from arena_protocol.record import FaultRecord
from arena_server.core.events import Overlong

from .stage import faults, finish, seated, text


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
    assert stage.heard("bad")[before:] == ["ERROR flood too many lines that were not asked for"]
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
