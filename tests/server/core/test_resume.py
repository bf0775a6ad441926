"""Lost connections: the clock goes on, and whoever is back before the flag falls plays on."""

from __future__ import annotations

from textwrap import dedent

from arena_server.core.effects import TurnMark
from arena_server.core.events import Flushed

from .stage import MS, Stage, seated


def test_the_whole_game_is_told_again_with_the_turn_and_what_is_left_of_the_clock() -> None:
    stage = seated("ann", "bob")
    stage.wait(5)
    stage.say("ann", "MOVE 7")
    stage.wait(7)
    stage.say("bob", "MOVE 9")
    stage.wait(100)
    stage.hang_up("ann")
    stage.wait(200)
    stage.log_in("ann", " resume=key1", conn="back")
    stage.wait(30)
    stage.say("back", "MOVE 8")
    assert (
        stage.transcript("back")
        == dedent("""
        S  ARENA 1 insertion-arena/0.1
        C  HELLO 1 ann resume=key1
        S  WELCOME ann session=id6 resume=key5
        S  GAME g1 insertion seat=1 seats=2 names=ann,bob ...
        S  STATE ...../...../...../...../.....
        S  NEXT 44
        S  START g1
        S  PLAYED 1 seat=1 move=7 time=5 clock=19995,20000 points=0 total=0,0 reveal=5
        S  PLAYED 2 seat=2 move=9 time=7 clock=19995,19993 points=0 total=0,0 reveal=6
        S  TURN 3 clock=19695,19993 lag=0 credit=0
        C  MOVE 8
        S  PLAYED 3 seat=1 move=8 time=330 clock=19665,19993 points=0 total=0,0
        """).strip()
    )


def test_away_when_the_turn_comes_the_clock_runs_from_that_moment() -> None:
    stage = seated("ann", "bob")
    stage.say("ann", "MOVE 7")
    stage.hang_up("ann")
    stage.wait(10)
    stage.say("bob", "MOVE 9")
    stage.wait(40)
    stage.log_in("ann", conn="back")
    stage.say("back", "MOVE 8")
    assert "PLAYED 3 seat=1 move=8 time=40 clock=19960,19990" in stage.transcript("back")


def test_lost_with_a_turn_that_was_never_handed_over_the_clock_runs_from_when_it_was_said() -> None:
    stage = seated("ann", "bob", ready=False, clock_ms=100)
    stage.hands = False
    stage.say("ann", "READY g1")
    stage.say("bob", "READY g1")
    stage.wait(60)
    stage.hang_up("ann")
    stage.wait(40)
    assert not any(line.startswith("PLAYED") for line in stage.heard("bob"))
    stage.wait(1)
    assert stage.heard("bob")[-2].startswith("PLAYED 1 seat=1 move=6 time=101 clock=0,100")


def test_who_is_taken_over_is_heard_no_more() -> None:
    stage = seated("ann", "bob")
    stage.log_in("ann", " resume=key1", conn="new")
    stage.say("ann", "MOVE 7")
    stage.event(Flushed(stage.conns["ann"], TurnMark(1, 1), stage.now))
    stage.hang_up("ann")
    assert stage.last("bob") == "START g1"
    stage.say("new", "MOVE 8")
    assert stage.last("new").startswith("PLAYED 1 seat=1 move=8")


def test_back_before_the_start_one_says_ready_again() -> None:
    stage = seated("ann", "bob", ready=False)
    stage.say("ann", "READY g1")
    stage.log_in("ann", " resume=key1", conn="back")
    assert stage.transcript("back", since="WELCOME").splitlines()[-1] == "S  NEXT 44"
    stage.say("bob", "READY g1")
    assert stage.last("bob") == "NEXT 44"
    stage.say("back", "READY g1")
    assert stage.last("bob") == "START g1"


def test_ready_once_more_after_the_start_does_no_harm() -> None:
    stage = seated("ann", "bob")
    stage.log_in("ann", " resume=key1", conn="back")
    stage.say("back", "READY g1", "MOVE 7")
    assert stage.last("back").startswith("PLAYED 1 seat=1 move=7")


def test_a_zombie_comes_back_as_a_zombie() -> None:
    stage = seated("zero", "good", announce_zombies=True)
    stage.say("zero", "MOVE 0")
    stage.hang_up("zero")
    stage.say("good", "MOVE 9")
    stage.log_in("zero", conn="back")
    lines = stage.transcript("back", since="START").splitlines()
    assert [line.split()[1] for line in lines] == ["START", "ZOMBIE", "PLAYED", "PLAYED", "PLAYED"]
    stage.log_in("good", " resume=key3", conn="good again")
    lines = stage.transcript("good again", since="START").splitlines()
    assert lines[1] == "S  ZOMBIE ply=1 reason=illegal seat=1"


def test_who_quit_a_game_comes_back_as_a_zombie_of_it_and_plays_the_next() -> None:
    stage = seated("quit", "good")
    stage.say("quit", "QUIT")
    stage.log_in("quit", conn="back")
    assert "S  ZOMBIE ply=1 reason=quit" in stage.transcript("back")
    stage.say("good", "MOVE 9")
    stage.say("good", "MOVE 9")
    assert stage.last("back").startswith("NEXT")


def test_away_at_the_end_the_result_is_not_told_again() -> None:
    stage = seated("ann", "bob", options={"plies": 1, "start": "empty"})
    stage.say("ann", "MOVE 7")
    stage.log_in("bob", " resume=key3", conn="back")
    assert stage.transcript("back", since="WELCOME").splitlines()[1].startswith("S  GAME g2")


def test_back_before_the_result_is_durable_one_hears_the_game_and_then_the_result() -> None:
    stage = seated("ann", "bob", options={"plies": 1, "start": "empty"})
    stage.stores = False
    stage.say("ann", "MOVE 7")
    stage.hang_up("bob")
    stage.log_in("bob", conn="back")
    assert stage.last("back").startswith("PLAYED 1")
    stage.stored("g1")
    assert "OVER g1 total=0,0 end=complete" in stage.transcript("back")


def test_who_is_away_is_offered_no_game() -> None:
    stage = seated("ann", "bob", options={"plies": 1, "start": "empty"})
    stage.hang_up("bob")
    stage.say("ann", "MOVE 7")
    assert stage.last("ann").startswith("OVER g1")
    stage.log_in("bob")
    assert stage.last("ann").startswith("NEXT")


# -- the hand-over of TURN


def test_the_clock_runs_from_the_hand_over() -> None:
    stage = seated("ann", "bob", ready=False)
    stage.hands = False
    stage.say("ann", "READY g1")
    stage.say("bob", "READY g1")
    stage.wait(50)
    stage.hand(stage.conns["ann"])
    stage.wait(3)
    stage.say("ann", "MOVE 7")
    assert "PLAYED 1 seat=1 move=7 time=3 clock=19997,20000" in stage.transcript("ann")


def test_a_move_before_the_hand_over_answers_nothing() -> None:
    """It was on its way before TURN was: out of turn."""
    stage = seated("ann", "bob", ready=False)
    stage.hands = False
    stage.say("ann", "READY g1")
    stage.say("bob", "READY g1")
    stage.say("ann", "MOVE 7")
    assert stage.last("ann").startswith("ERROR not-your-turn")
    stage.hand(stage.conns["ann"])
    stage.say("ann", "MOVE 8")
    assert stage.heard("ann")[-1].startswith("PLAYED 1 seat=1 move=8")


def test_an_arrival_stamp_before_the_hand_over_costs_nothing() -> None:
    """Two clocks made the stamps; the line was read after TURN had been handed over."""
    stage = seated("ann", "bob")
    stage.now += 10 * MS
    stage.say("ann", "MOVE 7", arrived=stage.now - 20 * MS)
    assert "PLAYED 1 seat=1 move=7 time=0" in stage.transcript("ann")
    stage.stop()
    ply = stage.records["g1"].plies[0]
    assert ply.arrived_ns == ply.handed_ns


def test_hand_overs_that_mean_nothing() -> None:
    stage = seated("ann", "bob")
    ann, bob = stage.conns["ann"], stage.conns["bob"]
    marks = [(9, 1, 1), (bob, 1, 1), (ann, 9, 1), (ann, 1, 7), (ann, 1, 1)]
    for conn, mark in [(conn, TurnMark(game, ply)) for conn, game, ply in marks]:
        assert stage.event(Flushed(conn, mark, stage.now + 5 * MS)) == []
    stage.wait(3)
    stage.say("ann", "MOVE 7")
    assert "time=3 " in stage.last("ann")


def test_a_hand_over_that_comes_after_a_fault_opens_nothing() -> None:
    stage = seated("ann", "bob", ready=False)
    stage.hands = False
    stage.say("ann", "READY g1")
    stage.say("bob", "READY g1")
    stage.say("ann", "what?")
    stage.hand(stage.conns["ann"])
    stage.say("ann", "MOVE 7")
    assert stage.last("ann").startswith("PLAYED 1 seat=1 move=6")


def test_a_connection_that_takes_no_turn_is_given_up() -> None:
    """Until then no flag falls; then the clock has run since the TURN was said."""
    stage = seated("deaf", "bob", ready=False, clock_ms=100, handover_ms=2000)
    stage.hands = False
    stage.say("deaf", "READY g1")
    stage.say("bob", "READY g1")
    stage.wait(1999)
    assert stage.last("bob") == "START g1"
    stage.wait(1)
    assert stage.last("deaf") == "BYE reason=slow"
    assert stage.closed("deaf")
    assert stage.heard("bob")[-2].startswith("PLAYED 1 seat=1 move=6 time=101 clock=0,100")
    stage.stop()
    assert stage.records["g1"].faults[0].kind == "disconnect"


def test_several_lines_of_one_chunk_are_judged_in_their_order() -> None:
    """The second MOVE comes before the opponent has moved: it is out of turn, not an answer."""
    stage = seated("ann", "bob")
    stage.say("ann", "MOVE 7", "MOVE 8")
    assert stage.last("ann").startswith("ERROR not-your-turn")
    stage.say("bob", "MOVE 9")
    assert stage.last("ann").startswith("TURN 3")


def test_nothing_happens_at_a_tick_without_a_deadline() -> None:
    stage = Stage("ann", "bob")
    assert stage.contest.deadline is None
    stage.wait(10**9)
    assert stage.effects == []
