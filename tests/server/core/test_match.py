"""A match alone: a function of its commands, and of its facts."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from arena_protocol.record import FaultKind, InfoRecord, PlyRecord
from arena_protocol.verify import verify
from arena_server.core.game_facts import Away, Ended, GameFact, Offered, Ready, Started
from arena_server.core.game_state import Phase
from arena_server.core.journal import entry_of, fact_of
from arena_server.core.match import (
    Abort,
    Annotate,
    Blame,
    Command,
    Disconnect,
    Expire,
    Match,
    PlayMove,
    SayReady,
)
from arena_server.core.replay import restore
from arena_server.store.journal import pack, unpack

from .match_runner import CLOCKS, GAMES, MS, STEPS, Runner, Steps, a_match


def started(game: str = "insertion", **config: Any) -> Match:
    match = a_match(game, **config)
    match.execute(SayReady(1, 0), 0)
    match.execute(SayReady(2, 0), 0)
    return match


def play(match: Match, seat: int, after_ms: int = 0, move: str = "7") -> list[GameFact]:
    """The TURN of `seat` is sent at once, and answered `after_ms` later; returns the facts."""
    sent = match.timer.asked
    if seat == match.timer.seat and match.timer.sent is None:
        match.run(sent)
    at = sent + after_ms * MS
    return match.execute(PlayMove(seat, move, b"MOVE", at), at)


# -- phases


def test_the_phases() -> None:
    match = a_match()
    assert (match.phase, match.timer.deadline, match.ply) == (Phase.OFFERED, 200 * MS, 1)
    assert match.execute(SayReady(1, 0), 0) == [Ready(1)]
    assert match.execute(SayReady(2, 0), 0) == [Ready(2), Started()]
    assert (match.phase, match.timer.deadline, match.timer.seat) == (Phase.PLAYING, 10_000 * MS, 1)
    match.execute(Blame(1, FaultKind.QUIT, b""), 0)
    facts = match.execute(Blame(2, FaultKind.QUIT, b""), 0)
    assert facts[-1] == Ended((0, 30), "complete")
    assert (match.phase, match.timer.deadline, match.end) == (Phase.OVER, None, "complete")


def test_a_note_of_a_zombie_is_no_fact() -> None:
    match = started()
    note = InfoRecord(2, 1, text="a note")
    assert match.execute(Annotate(note), 0) == [note]
    match.execute(Blame(2, FaultKind.ILLEGAL, b"MOVE 0"), 0)
    assert match.execute(Annotate(note), 0) == []
    assert match.infos == [note]


def test_commands_without_effect_give_no_facts() -> None:
    match = started()
    nothing: list[Command] = [
        SayReady(1, 0),  # the game has started
        Disconnect(1),  # that counts before START only
        PlayMove(1, "7", b"", 0),  # the TURN has not reached the socket
        PlayMove(2, "7", b"", 0),  # not its turn
        Expire(),  # no clock runs
    ]
    assert [match.execute(command, 0) for command in nothing] == [[]] * 5
    match.run(0)
    assert match.plies == []
    assert match.timer.deadline == 101 * MS
    match.execute(Abort("stopped"), 0)
    nothing = [Blame(1, FaultKind.QUIT, b""), PlayMove(1, "7", b"", 0), Abort("again"), Expire()]
    assert [match.execute(command, 0) for command in nothing] == [[]] * 4
    assert [fault.kind for fault in match.faults] == ["void"]
    assert match.timer.deadline is None


def test_a_seat_is_ready_once_and_at_fault_once() -> None:
    match = a_match()
    match.execute(SayReady(1, 0), 0)
    assert match.execute(SayReady(1, 0), 0) == []
    match.execute(Blame(2, FaultKind.MALFORMED, b"x"), 0)
    assert match.phase is Phase.PLAYING
    assert match.execute(Blame(2, FaultKind.QUIT, b"QUIT"), 0) == []
    match = a_match()
    match.execute(Blame(2, FaultKind.MALFORMED, b"x"), 0)
    assert match.execute(SayReady(2, 0), 0) == []


def test_a_connection_lost_before_the_start_takes_its_ready_along() -> None:
    match = a_match()
    assert match.depart(1, 0) == []
    assert match.depart(1, 0) == []  # twice is once
    match.arrive(1, 0)
    match.execute(SayReady(1, 0), 0)
    assert match.depart(1, 0) == [Away(1)]
    assert match.execute(SayReady(2, 0), 0) == [Ready(2)]


def test_a_ready_after_the_limit_does_not_count() -> None:
    match = a_match()
    assert match.execute(SayReady(1, 200 * MS), 200 * MS) == []
    assert match.execute(SayReady(1, 200 * MS - 1), 200 * MS) == [Ready(1)]


# -- the clocks of a game


def test_a_ply_is_charged_to_its_seat_alone_and_earns_the_increment() -> None:
    match = started(clock_ms=1000, increment_ms=50)
    play(match, 1)
    (ply,) = play(match, 2, 300)
    assert isinstance(ply, PlyRecord)
    assert (ply.time_ms, ply.clock) == (300, (1050, 750))


def test_the_fallen_flag_is_charged_the_first_charge_too_high_and_leaves_nothing() -> None:
    match = started(margin_ms=50, increment_ms=5)
    play(match, 1)
    match.run(0)
    assert match.timer.deadline == 151 * MS
    _, facts = match.expire(151 * MS)
    fault, ply = facts[:2]
    assert isinstance(ply, PlyRecord)
    assert fault.kind == "timeout"  # type: ignore[union-attr]
    assert (ply.move, ply.time_ms, ply.clock, ply.zombie) == ("6", 151, (105, 0), True)


def test_a_reading_is_what_is_left_now() -> None:
    match = started(margin_ms=50)
    assert match.reading(30 * MS) == (100, 100)
    match.run(0)
    assert match.reading(30 * MS) == (70, 100)
    assert match.reading(130 * MS) == (0, 100)
    assert match.clocks == (100, 100)
    assert [match.clock_ran(at) for at in (0, 1)] == [False, True]


def test_a_credit_is_taken_off_the_charge_and_gives_no_time() -> None:
    match = started(lag_quota_ms=100)
    match.lag = [20, 0]
    match.begin_turn(1, 0)
    match.run(0)
    assert match.reading(30 * MS) == (90, 100)
    play(match, 1, 30)
    play(match, 2)
    play(match, 1, 5)
    assert [(ply.time_ms, ply.credit_ms) for ply in match.plies] == [(10, 20), (0, 0), (0, 20)]
    assert match.clocks == (90, 100)
    play(match, 2)
    assert match.timer.credit == 20  # of the quota of 100 it has needed 20 and 5


def test_a_turn_that_its_connection_does_not_take_names_the_seat() -> None:
    match = started(handover_ms=300)
    assert match.expire(300 * MS) == (1, [])
    assert match.depart(1, 300 * MS) == []
    assert (match.timer.sent, match.timer.deadline) == (0, 101 * MS)  # it runs since the TURN was due


# -- decide and apply


def state(match: Match) -> dict[str, object]:
    """All that `apply` writes, and the timer."""
    names = ("phase", "position", "ready", "zombies", "clocks", "plies", "faults", "totals", "end", "ply")
    timer = {name: getattr(match.timer, name) for name in match.timer.__slots__}
    return {name: repr(getattr(match, name)) for name in names} | timer


@given(STEPS, GAMES)
def test_decide_changes_nothing(steps: Steps, game: str) -> None:
    runner = Runner(game, **CLOCKS).run(steps)
    match, now = runner.match, runner.now
    before = state(match)
    commands: list[Command] = [
        SayReady(1, now), PlayMove(1, "7", b"", now), PlayMove(2, "0", b"", now), PlayMove(1, "a2", b"", now),
        Blame(2, FaultKind.FLOOD, b"x"), Expire(), Disconnect(1), Abort("stopped"),
    ]  # fmt: skip
    decided = [match.decide(command, now) for command in commands]
    assert decided == [match.decide(command, now) for command in commands]
    assert state(match) == before


@given(STEPS, GAMES)
def test_the_same_commands_give_the_same_facts_and_a_true_record(steps: Steps, game: str) -> None:
    runners = [Runner(game, **CLOCKS).run(steps).finish() for _ in range(2)]
    assert runners[0].facts == runners[1].facts
    assert runners[0].match.record() == runners[1].match.record()
    verify(runners[0].match.record())


@given(STEPS, GAMES)
def test_the_time_stamps_of_a_record_never_run_backwards(steps: Steps, game: str) -> None:
    last = 0
    for ply in Runner(game, **CLOCKS).run(steps).match.plies:
        assert last <= ply.handed_ns <= ply.arrived_ns
        last = ply.arrived_ns


def restored(runner: Runner, facts: list[GameFact], now: int = 10**15) -> Match:
    """The match that a server finds in its journal, on another clock."""
    match = Match(runner.setting, now)
    restore(match, facts, now)
    return match


def remaining_credit(match: Match, seat: int) -> int:
    """What is left of the lag quota of a seat."""
    match.lag[seat - 1] = 10**6
    match.begin_turn(seat, 0)
    return match.timer.credit


@given(STEPS, GAMES)
def test_the_facts_of_any_commands_restore_the_match(steps: Steps, game: str) -> None:
    """The state, what is left of each lag quota, and in the end the record are the same."""
    runner = Runner(game, **CLOCKS).run(steps)
    again = restored(runner, runner.facts)
    turn = dict.fromkeys(again.timer.__slots__)
    assert state(again) | turn == state(runner.match) | turn
    assert again.timer.seat == 0
    runner.finish()
    again = restored(runner, runner.facts)
    assert again.record() == runner.match.record()
    for seat in (1, 2):
        assert remaining_credit(again, seat) == remaining_credit(runner.match, seat)


@given(STEPS, GAMES)
def test_facts_survive_their_entries_and_their_bytes(steps: Steps, game: str) -> None:
    facts = Runner(game, **CLOCKS).run(steps).finish().facts
    entries = [entry_of(7, fact) for fact in facts]
    assert [fact_of(entry) for entry in unpack(pack(entries))] == facts


@given(STEPS, GAMES)
def test_a_restart_adds_no_fact_but_away(steps: Steps, game: str) -> None:
    """The facts of a command are complete: nothing else is left to follow by itself."""
    runner = Runner(game, **CLOCKS).run(steps)
    again = restored(runner, runner.facts)
    assert again.restart(10**15) == [Away(seat) for seat in (1, 2) if runner.match.ready[seat - 1]] * (
        runner.match.phase is Phase.OFFERED
    )
    assert again.present == [False, False]


# -- after a restart


def test_the_time_that_the_server_was_down_is_charged_to_no_seat() -> None:
    runner = Runner()
    runner.run([("ready", 1, 0), ("ready", 2, 0), ("sent", 1, 0), ("move", 1, 5), ("sent", 2, 0)])
    runner.step("crash", 1, 50)
    match = runner.match
    match.arrive(2, runner.now)
    assert (match.clocks, match.timer.seat) == ((95, 100), 2)
    play(match, 2, 3)
    assert [(ply.handed_ns // MS, ply.arrived_ns // MS) for ply in match.plies] == [(0, 5), (5, 8)]


def test_a_seat_that_is_asked_after_the_grace_has_its_clock_run_at_once() -> None:
    match = started(clock_ms=1000, ready_ms=200)
    match.restart(0)
    match.arrive(1, 10 * MS)
    match.run(10 * MS)
    match.execute(PlayMove(1, "7", b"MOVE 7", 300 * MS), 300 * MS)
    assert match.timer.deadline == 1301 * MS
    slow, facts = match.expire(1301 * MS)
    assert (slow, [type(fact).__name__ for fact in facts[:2]]) == (0, ["FaultRecord", "PlyRecord"])


def test_a_seat_that_does_not_come_back_within_the_grace_has_its_clock_run() -> None:
    match = started(ready_ms=200)
    match.restart(0)
    assert match.timer.deadline == 200 * MS
    assert match.expire(200 * MS) == (0, [])
    assert match.timer.deadline == 301 * MS


def test_before_the_start_every_seat_has_to_be_ready_again_after_a_restart() -> None:
    match = a_match()
    match.execute(SayReady(1, 0), 0)
    assert match.restart(5 * MS) == [Away(1)]
    assert (match.ready, match.timer.deadline) == ([False, False], 205 * MS)


def test_an_offer_annuls_all_that_came_before_it() -> None:
    match = started()
    play(match, 1)
    match.apply(Offered(("ann", "bob"), 1), 7)
    fresh = a_match(now=7)
    assert (match.phase, match.plies, match.clocks) == (fresh.phase, fresh.plies, fresh.clocks)


def test_a_fact_has_as_many_values_as_its_record() -> None:
    """The journal's row of a ply is the row of its record."""
    (ply,) = play(started(), 1)
    assert entry_of(1, ply)[2:] == tuple(ply)
