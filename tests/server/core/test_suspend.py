"""A server that ends by a signal: running games are left to the next one, and clients come back to it."""

from __future__ import annotations

import pytest

from arena_server.core.effects import CloseConnection, Finished
from arena_server.core.events import Stalled, Stop, Suspend, Tick, TimeUp
from arena_server.core.life import ContestPhase

from .contest_harness import MS, ONE_PLY, ContestHarness, play_on, restarted, seated


def ended(harness: ContestHarness) -> tuple[str | None, ContestPhase, int]:
    return harness.finished, harness.contest.life.phase, harness.contest.status.progress().running


SUSPENDED = ("stopped", ContestPhase.SUSPENDED, 1)


@pytest.mark.parametrize("ready", [True, False], ids=["played", "offered"])
def test_a_running_game_goes_on_with_the_next_server(ready: bool) -> None:
    harness = seated("ann", "bob", ready=ready, options=ONE_PLY)
    harness.connect("greeted")
    harness.event(Suspend())
    assert ended(harness) == SUSPENDED
    assert isinstance(harness.effects[-1], Finished)
    assert (harness.records, harness.contest.deadline) == ({}, None)
    for name in ("ann", "bob", "greeted"):
        assert not any(line.startswith("BYE") for line in harness.received(name))
    assert [harness.is_closed(name) for name in ("ann", "bob", "greeted")] == [True, True, False]
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
        assert [line.split()[1] for line in again.received(name) if line.startswith("GAME")] == ["g1"]
    play_on(again)
    assert {record.end for record in again.records.values()} == {"complete"}
    assert [row.games for row in again.contest.status.progress().standings] == [2, 2]


def test_a_bot_whose_program_ends_with_the_server_gets_bye() -> None:
    harness = seated("ann", "bob")
    harness.event(Suspend(frozenset({"bob"})))
    assert harness.last_line("bob") == "BYE reason=stopped"
    assert not harness.last_line("ann").startswith("BYE")


def test_a_result_that_is_being_stored_is_announced_before() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    harness.log_in("eve", " role=spectator")
    harness.stores = False
    harness.send("ann", "MOVE 7")
    harness.event(Suspend())
    assert [harness.is_closed(name) for name in ("ann", "bob", "eve")] == [False, False, True]
    assert ended(harness)[0] is None
    harness.stored("g1")
    for name in ("ann", "bob"):
        assert harness.last_line(name).startswith("OVER g1 ")
        assert harness.is_closed(name)
    assert ended(harness) == ("stopped", ContestPhase.SUSPENDED, 0)
    assert restarted(harness).contest.status.progress().done == 1


def test_one_that_leaves_before_its_result_is_stored_is_not_awaited() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    harness.stores = False
    harness.send("ann", "MOVE 7")
    harness.event(Suspend())
    harness.disconnect("ann")
    harness.disconnect("bob")
    assert ended(harness)[0] == "stopped"
    harness.stored("g1")
    assert len([each for each in harness.effects if isinstance(each, Finished)]) == 1


def test_nothing_is_judged_any_more() -> None:
    """Neither a stall, a flag, the end of the time nor a late stop ends a game that another server has."""
    harness = seated("ann", "bob")
    harness.event(Suspend())
    before = len(harness.effects)
    for event in (Stalled(0, 10**12), TimeUp(), Stop(), Suspend()):
        harness.event(event)
    harness.now += 10**6 * MS
    harness.event(Tick())
    assert (ended(harness), harness.effects[before:]) == (SUSPENDED, [])


def test_a_log_in_meanwhile_is_closed_without_bye() -> None:
    harness = seated("ann", "bob")
    harness.connect("late")
    harness.event(Suspend())
    harness.send("late", "HELLO 1 late")
    harness.connect("later")
    assert harness.received("late") == harness.received("later") == ["ARENA 1 insertion-arena/0.1"]
    assert (harness.is_closed("late"), harness.is_closed("later")) == (True, False)


@pytest.mark.parametrize("verb", ["kick", "remove"])
def test_an_order_holds_for_the_next_server(verb: str) -> None:
    harness = seated("ann", "bob")
    harness.event(Suspend())
    closed = sum(isinstance(effect, CloseConnection) for effect in harness.effects)
    assert harness.command(verb, "ann") is None
    assert harness.records["g1"].end == "void"
    assert sum(isinstance(effect, CloseConnection) for effect in harness.effects) == closed
    assert [harness.finished, harness.contest.ended] == ["stopped", "stopped"]
    again = restarted(harness)
    again.log_in("bob")
    assert again.contest.status.progress().void == 1


@pytest.mark.parametrize("ending", ["stopped", "finished"])
def test_an_end_that_waits_for_spectators_is_not_lost(ending: str) -> None:
    """Their last lines are due later: the server ends at the signal, and not behind them, or never."""
    harness = seated("ann", "bob", options=ONE_PLY, spectator_delay_ms=20_000)
    harness.log_in("eve", " role=spectator")
    harness.send("eve", "WATCH *")
    if ending == "stopped":
        harness.event(Stop())
    else:
        play_on(harness)
    assert (harness.contest.ended, harness.finished) == (ending, None)
    harness.event(Suspend())
    assert (harness.finished, harness.is_closed("eve")) == (ending, True)
    harness.event(Suspend())
    assert len([each for each in harness.effects if isinstance(each, Finished)]) == 1


def test_one_that_is_aborted_ends_as_aborted() -> None:
    harness = seated("ann", "bob")
    harness.stores = False
    assert harness.command("abort") is None
    harness.event(Suspend())
    assert harness.finished is None
    harness.stored("g1")
    assert harness.finished == "aborted"
    assert harness.last_line("ann") == "BYE reason=aborted"


def test_an_abort_after_it_is_for_the_next_server() -> None:
    harness = seated("ann", "bob")
    harness.event(Suspend())
    assert harness.command("abort") is None
    assert harness.finished == "stopped"
    again = restarted(harness)
    assert again.finished == "aborted"
