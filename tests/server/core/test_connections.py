"""Lost connections and resumed seats, when a TURN counts as sent, and how long absent bots are awaited."""

from __future__ import annotations

from arena_server.core.effects import TurnMark
from arena_server.core.events import Flushed
from arena_server.core.log_events import BotAbsent

from .contest_harness import MS, ONE_PLY, ContestHarness, play_on, seated, text


def test_a_resumed_seat_gets_the_whole_game_its_turn_and_what_is_left_of_its_clock() -> None:
    harness = seated("ann", "bob")
    harness.wait(5)
    harness.send("ann", "MOVE 7")
    harness.wait(7)
    harness.send("bob", "MOVE 9")
    harness.wait(100)
    harness.disconnect("ann")
    harness.wait(200)
    harness.log_in("ann", " resume=key1", conn="back")
    harness.wait(30)
    harness.send("back", "MOVE 8")
    assert harness.transcript("back") == text("""
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
        """)


def test_without_a_connection_the_clock_runs_from_the_begin_of_the_turn() -> None:
    harness = seated("ann", "bob")
    harness.send("ann", "MOVE 7")
    harness.disconnect("ann")
    harness.wait(10)
    harness.send("bob", "MOVE 9")
    harness.wait(40)
    harness.log_in("ann", conn="back")
    harness.send("back", "MOVE 8")
    assert "PLAYED 3 seat=1 move=8 time=40 clock=19960,19990" in harness.transcript("back")


def test_a_turn_that_never_reached_the_socket_is_charged_from_its_begin_once_the_connection_is_lost() -> None:
    harness = seated("ann", "bob", ready=False, clock_ms=100)
    harness.flushes = False
    harness.send("ann", "READY g1")
    harness.send("bob", "READY g1")
    harness.wait(60)
    harness.disconnect("ann")
    harness.wait(40)
    assert not any(line.startswith("PLAYED") for line in harness.received("bob"))
    harness.wait(1)
    assert harness.received("bob")[-2].startswith("PLAYED 1 seat=1 move=6 time=101 clock=0,100")


def test_a_replaced_connection_has_no_effect_any_more() -> None:
    harness = seated("ann", "bob")
    harness.log_in("ann", " resume=key1", conn="new")
    harness.send("ann", "MOVE 7")
    harness.event(Flushed(harness.conns["ann"], TurnMark(1, 1), harness.now))
    harness.disconnect("ann")
    assert harness.last_line("bob") == "START g1"
    harness.send("new", "MOVE 8")
    assert harness.last_line("new").startswith("PLAYED 1 seat=1 move=8")


def test_a_seat_that_resumes_before_the_start_has_to_send_ready_again() -> None:
    harness = seated("ann", "bob", ready=False)
    harness.send("ann", "READY g1")
    harness.log_in("ann", " resume=key1", conn="back")
    assert harness.transcript("back", since="WELCOME").splitlines()[-1] == "S  NEXT 44"
    harness.send("bob", "READY g1")
    assert harness.last_line("bob") == "NEXT 44"
    harness.send("back", "READY g1")
    assert harness.last_line("bob") == "START g1"


def test_a_second_ready_after_the_start_has_no_effect() -> None:
    harness = seated("ann", "bob")
    harness.log_in("ann", " resume=key1", conn="back")
    harness.send("back", "READY g1", "MOVE 7")
    assert harness.last_line("back").startswith("PLAYED 1 seat=1 move=7")


def test_a_zombie_resumes_as_a_zombie() -> None:
    harness = seated("zero", "good", announce_zombies=True)
    harness.send("zero", "MOVE 0")
    harness.disconnect("zero")
    harness.send("good", "MOVE 9")
    harness.log_in("zero", conn="back")
    lines = harness.transcript("back", since="START").splitlines()
    assert [line.split()[1] for line in lines] == ["START", "ZOMBIE", "PLAYED", "PLAYED", "PLAYED"]
    harness.log_in("good", " resume=key3", conn="good again")
    lines = harness.transcript("good again", since="START").splitlines()
    assert lines[1] == "S  ZOMBIE ply=1 reason=illegal seat=1"


def test_a_bot_that_quit_a_game_resumes_it_as_a_zombie_and_plays_the_next() -> None:
    harness = seated("quit", "good")
    harness.send("quit", "QUIT")
    harness.log_in("quit", conn="back")
    assert "S  ZOMBIE ply=1 reason=quit" in harness.transcript("back")
    harness.send("good", "MOVE 9")
    harness.send("good", "MOVE 9")
    assert harness.last_line("back").startswith("NEXT")


def test_a_result_is_not_sent_again_to_a_bot_that_was_away() -> None:
    harness = seated("ann", "bob", options={"plies": 1, "start": "empty"})
    harness.send("ann", "MOVE 7")
    harness.log_in("bob", " resume=key3", conn="back")
    assert harness.transcript("back", since="WELCOME").splitlines()[1].startswith("S  GAME g2")


def test_a_bot_that_resumes_before_the_result_is_durable_gets_the_game_and_then_the_result() -> None:
    harness = seated("ann", "bob", options={"plies": 1, "start": "empty"})
    harness.stores = False
    harness.send("ann", "MOVE 7")
    harness.disconnect("bob")
    harness.log_in("bob", conn="back")
    assert harness.last_line("back").startswith("PLAYED 1")
    harness.stored("g1")
    assert "OVER g1 total=0,0 end=complete" in harness.transcript("back")


def test_an_absent_bot_is_offered_no_game() -> None:
    harness = seated("ann", "bob", options={"plies": 1, "start": "empty"})
    harness.disconnect("bob")
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann").startswith("OVER g1")
    harness.log_in("bob")
    assert harness.last_line("ann").startswith("NEXT")


# -- when a TURN counts as sent


def test_the_clock_runs_from_the_moment_that_turn_reached_the_socket() -> None:
    harness = seated("ann", "bob", ready=False)
    harness.flushes = False
    harness.send("ann", "READY g1")
    harness.send("bob", "READY g1")
    harness.wait(50)
    harness.flush_next("ann")
    harness.wait(3)
    harness.send("ann", "MOVE 7")
    assert "PLAYED 1 seat=1 move=7 time=3 clock=19997,20000" in harness.transcript("ann")


def test_a_move_before_turn_reached_the_socket_is_out_of_turn() -> None:
    """It was on its way before TURN was: out of turn."""
    harness = seated("ann", "bob", ready=False)
    harness.flushes = False
    harness.send("ann", "READY g1")
    harness.send("bob", "READY g1")
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann").startswith("ERROR not-your-turn")
    harness.flush_next("ann")
    harness.send("ann", "MOVE 8")
    assert harness.received("ann")[-1].startswith("PLAYED 1 seat=1 move=8")


def test_an_arrival_stamp_before_that_moment_costs_nothing() -> None:
    """Two clocks made the stamps; the line was read after TURN had been handed over."""
    harness = seated("ann", "bob")
    harness.now += 10 * MS
    harness.send("ann", "MOVE 7", arrived=harness.now - 20 * MS)
    assert "PLAYED 1 seat=1 move=7 time=0" in harness.transcript("ann")
    harness.stop()
    ply = harness.records["g1"].plies[0]
    assert ply.arrived_ns == ply.handed_ns


def test_markers_of_no_open_turn_have_no_effect() -> None:
    harness = seated("ann", "bob")
    ann, bob = harness.conns["ann"], harness.conns["bob"]
    marks = [(9, 1, 1), (bob, 1, 1), (ann, 9, 1), (ann, 1, 7), (ann, 1, 1)]
    for conn, mark in [(conn, TurnMark(game, ply)) for conn, game, ply in marks]:
        assert harness.event(Flushed(conn, mark, harness.now + 5 * MS)) == []
    harness.wait(3)
    harness.send("ann", "MOVE 7")
    assert "time=3 " in harness.last_line("ann")


def test_a_marker_of_a_game_that_is_over_has_no_effect() -> None:
    """The last TURN may reach the socket once the slot is free again."""
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    assert harness.event(Flushed(harness.conns["ann"], TurnMark(1, 1), harness.now)) == []


def test_a_marker_of_a_former_game_opens_no_turn() -> None:
    """Its TURN had the same ply, and reached the socket when the one of this game still waited."""
    harness = seated("ann", "bob", ready=False)
    harness.flushes = False
    harness.send("ann", "READY g1")
    harness.send("bob", "READY g1")
    harness.event(Flushed(harness.conns["ann"], TurnMark(9, 1), harness.now))
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann").startswith("ERROR not-your-turn")
    harness.flush_next("ann")
    harness.send("ann", "MOVE 8")
    assert harness.received("ann")[-1].startswith("PLAYED 1 seat=1 move=8")


def test_a_turn_that_reaches_the_socket_after_a_fault_is_not_open() -> None:
    harness = seated("ann", "bob", ready=False)
    harness.flushes = False
    harness.send("ann", "READY g1")
    harness.send("bob", "READY g1")
    harness.send("ann", "what?")
    harness.flush_next("ann")
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann").startswith("PLAYED 1 seat=1 move=6")


def test_a_connection_that_takes_no_turn_is_closed() -> None:
    """Until then no flag falls; then the clock has run since the turn began."""
    harness = seated("deaf", "bob", ready=False, clock_ms=100, handover_ms=2000)
    harness.flushes = False
    harness.send("deaf", "READY g1")
    harness.send("bob", "READY g1")
    harness.wait(1999)
    assert harness.last_line("bob") == "START g1"
    harness.wait(1)
    assert harness.last_line("deaf") == "BYE reason=slow"
    assert harness.is_closed("deaf")
    assert harness.received("bob")[-2].startswith("PLAYED 1 seat=1 move=6 time=101 clock=0,100")
    harness.stop()
    assert harness.records["g1"].faults[0].kind == "disconnect"


def test_several_lines_of_one_chunk_are_judged_in_their_order() -> None:
    """The second MOVE comes before the opponent has moved: it is out of turn, not an answer."""
    harness = seated("ann", "bob")
    harness.send("ann", "MOVE 7", "MOVE 8")
    assert harness.last_line("ann").startswith("ERROR not-your-turn")
    harness.send("bob", "MOVE 9")
    assert harness.last_line("ann").startswith("TURN 3")


def test_nothing_happens_at_a_tick_without_a_deadline() -> None:
    harness = ContestHarness("ann", "bob")
    assert harness.contest.deadline is None
    harness.wait(10**9)
    assert harness.effects == []


# -- absent bots


def test_a_bot_that_never_connects_is_awaited_until_the_limit() -> None:
    harness = ContestHarness("ann", "bob", "ghost", options=ONE_PLY, absent_ms=5000)
    harness.log_in("ann")
    harness.log_in("bob")
    play_on(harness)
    assert harness.finished is None
    harness.wait(4999)
    assert harness.finished is None
    harness.wait(1)
    assert harness.finished == "incomplete"
    assert harness.logged(BotAbsent) == [BotAbsent("ghost")]
    assert harness.contest.status.progress().done == 2


def test_after_the_end_no_bot_is_absent() -> None:
    harness = ContestHarness("ann", "bob", options=ONE_PLY, absent_ms=5000)
    harness.log_in("ann")
    harness.log_in("bob")
    play_on(harness)
    assert harness.finished == "finished"
    harness.disconnect("ann")
    harness.disconnect("bob")
    harness.wait(10_000)
    assert harness.logged(BotAbsent) == []


def test_a_late_bot_plays_if_the_contest_still_goes_on() -> None:
    harness = ContestHarness("ann", "bob", "late", options=ONE_PLY, absent_ms=5000)
    harness.log_in("ann")
    harness.wait(4000)
    harness.log_in("bob")
    harness.wait(3000)
    harness.log_in("late")
    play_on(harness)
    assert harness.contest.status.progress().done == 6
    assert harness.logged(BotAbsent) == [BotAbsent("late")]


def test_a_late_bot_is_awaited_again() -> None:
    """The contest does not end between its games because it was once too late."""
    harness = ContestHarness("ann", "bob", "late", options=ONE_PLY, absent_ms=5000)
    harness.log_in("ann")
    harness.wait(4000)
    harness.log_in("bob")
    harness.wait(1000)
    assert harness.logged(BotAbsent) == [BotAbsent("late")]
    harness.log_in("late")
    harness.disconnect("late")
    play_on(harness)
    assert (harness.contest.status.progress().done, harness.finished) == (2, None)
    harness.wait(5000)
    assert harness.finished == "incomplete"


def test_absence_begins_again_with_each_loss() -> None:
    harness = ContestHarness("ann", "bob", options=ONE_PLY, absent_ms=5000)
    harness.log_in("ann")
    harness.wait(4000)
    for _ in range(3):
        harness.log_in("bob")
        harness.wait(4000)
        harness.disconnect("bob")
        harness.wait(4000)
    assert harness.logged(BotAbsent) == []
    harness.wait(1000)
    assert harness.logged(BotAbsent) == [BotAbsent("bob")]


def test_after_quit_a_bot_is_not_awaited_unless_the_limit_is_disabled() -> None:
    for absent_ms, finished in ((5000, "incomplete"), (None, None)):
        harness = seated("ann", "bob", options=ONE_PLY, absent_ms=absent_ms, games_per_pair=4)
        harness.send("ann", "MOVE 7", "QUIT")
        harness.send("bob", "READY g2", "MOVE 7")
        assert len(harness.records) == 2
        assert harness.finished == finished


def test_without_a_limit_the_contest_waits() -> None:
    harness = ContestHarness("ann", "bob", options=ONE_PLY)
    harness.log_in("ann")
    harness.wait(10**9)
    assert harness.finished is None
    harness.log_in("bob")
    play_on(harness)
    assert harness.finished == "finished"
