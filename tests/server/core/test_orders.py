"""What the organiser may order: each order obeyed is in the journal, each refused has its reason."""

from __future__ import annotations

from itertools import count

import pytest

from arena_server.core.commands import VERBS, Commands, RunState
from arena_server.core.effects import Finished, Reply
from arena_server.core.events import Command, Stalled, Tick
from arena_server.core.journal import Entry
from arena_server.core.standings import Row

from .phoenix import entries_of
from .stage import MS, Stage, seated
from .test_recovery import reborn

ONE: dict[str, object] = {"plies": 1, "start": "empty"}
NUMBERS = count(1)


def order(stage: Stage, verb: str, target: str = "") -> str | None:
    """Give an order and return why it was not obeyed, if so."""
    number = next(NUMBERS)
    effects = stage.event(Command(number, verb, target))
    (reply,) = [effect for effect in effects if isinstance(effect, Reply)]
    assert reply.number == number
    stage.entries = entries_of(effects)  # type: ignore[attr-defined]
    return reply.problem


def entries(stage: Stage) -> list[Entry]:
    return stage.entries  # type: ignore[attr-defined,no-any-return]


def sums(stage: Stage) -> None:
    """Every game that was started is finished, void or running."""
    progress = stage.contest.progress()
    started = [note["game"] for note in stage.notes("game")]
    assert len(started) == progress.done + progress.void + progress.running


def offered(stage: Stage, name: str) -> str:
    """The game that `name` was offered last."""
    return [line.split()[1] for line in stage.heard(name) if line.startswith("GAME")][-1]


def play(stage: Stage, *names: str) -> None:
    """Let these bots play until nobody has anything to answer."""
    busy = True
    while busy:
        busy = False
        for name in names:
            verb = stage.last(name).split()[0]
            if verb in ("NEXT", "TURN"):
                stage.say(name, "MOVE 7" if verb == "TURN" else f"READY {offered(stage, name)}")
                busy = busy or stage.last(name).split()[0] != verb or verb == "TURN"


def rows(stage: Stage) -> dict[str, Row]:
    return {row.name: row for row in stage.contest.progress().standings}


def test_a_paused_contest_begins_no_game_until_it_is_resumed() -> None:
    stage = seated("ann", "bob", options=ONE)
    assert order(stage, "pause") is None
    assert entries(stage) == [(0, "gate", "", "paused")]
    stage.say("ann", "MOVE 7")
    assert stage.last("ann").startswith("OVER g1")
    assert order(stage, "resume") is None
    assert entries(stage)[0] == (0, "gate", "", "open")
    assert stage.last("ann").startswith("NEXT")


def test_all_games_that_can_begin_do_so_at_the_word() -> None:
    stage = Stage("ann", "bob", "cid", "dan")
    order(stage, "pause")
    for name in ("ann", "bob", "cid", "dan"):
        stage.log_in(name)
    order(stage, "resume")
    assert stage.contest.progress().running == 2


def test_a_pause_outlives_the_server_and_a_drain_does_not() -> None:
    for verb, last in [("pause", "WELCOME"), ("drain", "NEXT")]:
        stage = Stage("ann", "bob")
        order(stage, verb)
        again = reborn(stage)
        again.log_in("bob")
        again.log_in("ann")
        assert again.last("ann").startswith(last)


def test_a_drained_contest_stops_after_the_games_that_run() -> None:
    stage = seated("ann", "bob", options=ONE)
    assert order(stage, "drain") is None
    assert stage.finished is None
    stage.say("ann", "MOVE 7")
    assert stage.finished == "stopped"
    assert stage.last("ann") == "BYE reason=stopped"
    assert stage.contest.progress().void == 0
    again = reborn(stage)
    again.log_in("ann")
    again.log_in("bob")
    assert again.heard("ann")[2].startswith("GAME g2")


def test_a_kicked_bot_is_out_and_its_game_void_until_it_is_let_in_again() -> None:
    stage = seated("ann", "bob", "cid", options=ONE, ready=False)
    assert order(stage, "kick", "ann") is None
    assert (0, "conduct", "ann", 0, True) in entries(stage)
    assert stage.last("ann") == "BYE reason=kicked"
    assert stage.closed("ann")
    (record,) = stage.records.values()
    assert record.end == "void"
    assert record.faults[0].line == b"organiser"
    sums(stage)
    stage.log_in("ann", conn="again")
    stage.wait(1000)
    assert stage.last("again").startswith("WELCOME")
    assert order(stage, "lift", "ann") is None
    play(stage, "again", "bob", "cid")
    assert stage.finished == "finished"
    assert rows(stage)["ann"].games == 4
    sums(stage)


def test_a_kick_outlives_the_server_and_so_does_its_lift() -> None:
    stage = seated("ann", "bob", options=ONE, ready=False)
    order(stage, "kick", "ann")
    again = reborn(stage)
    for name in ("ann", "bob"):
        again.log_in(name)
    assert [again.last(name).split()[0] for name in ("ann", "bob")] == ["BYE", "BYE"]
    assert (again.incomplete, again.contest.progress().done) == ("incomplete", 0)
    stage = Stage("ann", "bob", "cid", options=ONE)
    for verb in ("kick", "lift"):
        order(stage, verb, "ann")
    again = reborn(stage)
    for name in ("ann", "bob"):
        again.log_in(name)
    assert again.last("ann").startswith("NEXT")


def test_a_bot_may_be_kicked_that_is_not_there() -> None:
    stage = Stage("ann", "bob")
    assert order(stage, "kick", "ann") is None
    assert stage.finished == "incomplete"  # there is nobody left to play against
    assert stage.contest.progress().done == 0


def test_a_bot_may_be_let_in_again_before_it_is_there() -> None:
    stage = Stage("ann", "bob", "cid")
    assert order(stage, "kick", "ann") is None
    assert order(stage, "lift", "ann") is None
    stage.log_in("ann")
    stage.log_in("bob")
    assert stage.last("ann").startswith("NEXT")


def test_a_bot_that_waits_for_its_result_may_be_kicked_and_keeps_it() -> None:
    stage = seated("ann", "bob", options=ONE)
    stage.stores = False
    stage.say("ann", "MOVE 7")
    order(stage, "kick", "ann")
    stage.stored("g1")
    assert rows(stage)["ann"].games == 1


def test_probation_is_lifted_and_stays_lifted() -> None:
    stage = Stage("ann", "bob", "cid", options=ONE, probation=1)
    stage.log_in("ann")
    stage.log_in("bob")
    for name in ("ann", "bob"):
        stage.say(name, f"READY {offered(stage, name)}")
    stage.say("ann", "what?")
    assert rows(stage)["ann"].faults == {"malformed": 1}
    stage.log_in("cid")
    play(stage, "bob", "cid")
    assert not any(line.startswith("GAME") for line in stage.heard("ann")[6:])
    assert stage.finished == "incomplete"
    stage = Stage("ann", "bob", "cid", options=ONE, probation=1)
    stage.log_in("ann")
    stage.log_in("bob")
    for name in ("ann", "bob"):
        stage.say(name, f"READY {offered(stage, name)}")
    stage.say("ann", "what?")
    order(stage, "lift", "ann")
    assert entries(stage)[0] == (0, "conduct", "ann", 1, False)
    again = reborn(stage)
    again.log_in("ann")
    again.log_in("cid")
    assert again.last("ann").startswith("NEXT")


@pytest.mark.parametrize("verb", VERBS)
def test_a_finished_contest_takes_no_orders(verb: str) -> None:
    """All have been told farewell: an order obeyed would be a promise that nobody keeps."""
    stage = seated("ann", "bob", options=ONE, probation=1)
    stage.say("ann", "what?")
    stage.say("bob", "READY g1", "MOVE 7")
    assert stage.finished == "incomplete"
    target = "ann" if verb in ("kick", "lift") else "g1"
    assert order(stage, verb, target) == f"the contest is over: {stage.finished}"
    assert entries(stage) == []


def test_a_void_game_is_not_played_again_unless_the_organiser_wants_it() -> None:
    stage = seated("ann", "bob", options=ONE)
    assert order(stage, "void", "g1") is None
    assert stage.records["g1"].end == "void"
    assert stage.last("ann").startswith("NEXT")  # of g2
    stage.say("ann", "READY g2")
    stage.say("bob", "READY g2", "MOVE 7")
    assert stage.finished == "incomplete"
    assert stage.contest.progress().done == 1
    sums(stage)


def test_a_void_game_is_played_again_on_the_same_deal_and_seats() -> None:
    stage = seated("ann", "bob", options=ONE, games_per_pair=2)
    assert order(stage, "void", "g1") is None
    assert order(stage, "replay", "g1") is None
    assert entries(stage) == [(0, "again", 3, 1)]
    assert order(stage, "replay", "g1") is not None
    for game in (2, 3):
        for name in ("ann", "bob", "ann"):
            stage.say(name, f"READY g{game}")
        for name in ("ann", "bob"):
            stage.say(name, "MOVE 7")
    assert stage.finished == "finished"
    first, last = stage.records["g1"], stage.records["g3"]
    assert (first.names, first.board, first.sequence) == (last.names, last.board, last.sequence)
    assert first.commit != last.commit
    assert stage.contest.progress().done == 2
    sums(stage)


def play_the_rest(again: Stage) -> None:
    """Let both bots come back and play games 2 and 3 to the end of the contest."""
    for name in ("ann", "bob"):
        again.log_in(name)
    for game in (2, 3):
        for name in ("ann", "bob"):
            again.say(name, f"READY g{game}")
        for name in ("ann", "bob"):
            again.say(name, "MOVE 7")
    assert again.finished == "finished"


def test_a_running_game_is_broken_off_and_played_again_even_after_a_restart() -> None:
    stage = seated("ann", "bob", options=ONE)
    assert order(stage, "replay", "g1") is None
    again = reborn(stage)
    play_the_rest(again)
    assert again.contest.progress().done == 2
    assert again.contest.progress().void == 1


def test_a_game_voided_for_good_stays_so_after_a_restart_and_can_be_replayed_then() -> None:
    stage = seated("ann", "bob", options=ONE)
    order(stage, "void", "g1")
    again = reborn(stage)
    assert order(again, "replay", "g1") is None
    assert (0, "again", 3, 1) in entries(again)
    assert order(reborn(again), "replay", "g1") is not None


def test_a_game_that_was_played_again_can_be_broken_off_and_played_again() -> None:
    stage = seated("ann", "bob", options=ONE)
    order(stage, "replay", "g1")
    for name in ("ann", "bob", "ann"):
        stage.say(name, "READY g2")
    stage.say("bob", "MOVE 7")
    order(stage, "replay", "g3")
    again = reborn(stage)
    for name in ("ann", "bob"):
        again.log_in(name)
        again.say(name, "READY g4")
    again.say("ann", "READY g4", "MOVE 7")
    assert again.finished == "finished"


@pytest.mark.parametrize(
    ("verb", "target", "problem"),
    [
        ("dance", "", f"the commands are {', '.join(VERBS)}, not 'dance'"),
        ("kick", "eve", "no bot of this contest is called 'eve'"),
        ("lift", "", "no bot of this contest is called ''"),
        ("void", "g2", "no game 'g2' is running"),
        ("void", "x", "no game 'x' is running"),
        ("replay", "g2", "no game 'g2' is running or void; the result of any other stands"),
    ],
)
def test_an_order_that_cannot_be_obeyed(verb: str, target: str, problem: str) -> None:
    stage = seated("ann", "bob")
    assert order(stage, verb, target) == problem
    assert entries(stage) == []


def test_a_game_that_waits_for_its_result_cannot_be_broken_off() -> None:
    stage = seated("ann", "bob", options=ONE)
    stage.stores = False
    stage.say("ann", "MOVE 7")
    assert order(stage, "void", "g1") == "no game 'g1' is running"


def test_the_gate_and_the_verbs_are_words_of_their_own() -> None:
    assert [str(state) for state in RunState] == ["open", "paused", "draining"]
    assert Commands.__doc__ is not None
    assert list(VERBS) == ["pause", "resume", "drain", "kick", "lift", "void", "replay"]


# -- stalls


def test_a_short_stall_is_noted_and_costs_nobody_its_game() -> None:
    stage = seated("ann", "bob", stall_ms=500)
    stage.wait(2000)
    stage.event(Stalled(stage.now - 500 * MS, stage.now))
    assert stage.notes("stall") == [{"ms": 500}]
    stage.say("ann", "MOVE 7")
    assert stage.last("ann").startswith("PLAYED 1 seat=1 move=7")


def test_beyond_the_limit_games_whose_clock_ran_are_void_and_played_again() -> None:
    stage = seated("ann", "bob", "cid", "dan", stall_ms=500, options=ONE, ready=False)
    for name in ("ann", "bob"):  # the others are still warming up: no clock runs
        stage.say(name, f"READY {offered(stage, name)}")
    stage.wait(10)
    stage.event(Stalled(stage.now, stage.now + 501 * MS))
    (record,) = stage.records.values()
    assert record.names == ("ann", "bob")
    assert record.end == "void"
    assert record.faults[0].line == b"stalled 501 ms"
    assert "total=0,0 end=void" in stage.transcript("ann")
    sums(stage)
    assert stage.contest.progress().void == 1


def test_a_turn_that_was_handed_over_after_the_stall_is_not_touched() -> None:
    stage = seated("ann", "bob", stall_ms=500)
    stage.event(Stalled(stage.now - 2000 * MS, stage.now))
    assert stage.records == {}


def test_stopped_games_are_played_again_once_the_contest_is_taken_up() -> None:
    stage = seated("ann", "bob", options=ONE)
    stage.stop()
    assert stage.finished == "stopped"
    again = reborn(stage)
    play_the_rest(again)
    assert [row.games for row in again.contest.progress().standings] == [2, 2]
    assert isinstance(again.effects[-1], Finished)
    again.event(Tick())
