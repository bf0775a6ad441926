"""Bots that do not ponder: their programs are frozen while the others move, and no clock runs meanwhile."""

from __future__ import annotations

from arena_protocol.record import FaultRecord
from arena_server.core.effects import SetFrozen
from arena_server.core.events import Thawed
from arena_server.terms.config import Entrant

from .contest_harness import ContestHarness, offers, seated

ANN, BOB = Entrant("ann", ponders=False), Entrant("bob")
BOTH = Entrant("ann", ponders=False), Entrant("bob", ponders=False)


def begun(*entrants: Entrant, ready: bool = True, **more: object) -> ContestHarness:
    """A game of these bots, which is offered to them, or has begun; ann, then bob, is to move."""
    harness = ContestHarness(*entrants, **more)  # type: ignore[arg-type]
    names = [entrant.name for entrant in entrants]
    for name in names:
        harness.log_in(name)
    for name in names if ready else ():
        harness.send(name, "READY g1")
    return harness


def thawed(order: SetFrozen) -> Thawed:
    return Thawed(order.bot, order.slot, order.number)


def orders(harness: ContestHarness) -> list[str]:
    """What was frozen and thawed, in order."""
    return [
        f"{'Freeze' if effect.frozen else 'Thaw'} {effect.bot}"
        for effect in harness.effects
        if isinstance(effect, SetFrozen)
    ]


def test_who_ponders_is_never_frozen() -> None:
    harness = seated("ann", "bob")
    for _ in range(2):
        harness.send("ann", "MOVE 7")
        harness.send("bob", "MOVE 9")
    assert (len(harness.records), orders(harness)) == (1, [])


def test_all_run_until_the_start_and_after_the_end() -> None:
    harness = begun(*BOTH, ready=False)
    harness.send("ann", "READY g1")
    assert orders(harness) == []
    harness.send("bob", "READY g1")
    assert orders(harness) == ["Freeze bob"]
    harness.send("ann", "MOVE 7")
    harness.send("bob", "MOVE 9")
    harness.send("ann", "MOVE 7")
    bobs, anns = ["Freeze ann", "Thaw bob"], ["Thaw ann", "Freeze bob"]
    assert orders(harness)[1:] == [*bobs, *anns, *bobs]
    harness.send("bob", "MOVE 9")
    assert orders(harness)[7:] == ["Thaw ann"]
    assert harness.frozen == set()
    assert len(harness.records) == 1


def test_the_time_of_thawing_is_not_charged() -> None:
    harness = begun(BOB, ANN, clock_ms=1000)
    harness.thaws = False
    harness.wait(10)
    harness.send("bob", "MOVE 9")
    # It has the ply, and its TURN when it can answer.
    assert harness.last_line("ann").startswith("PLAYED 1 ")
    harness.wait(5000)
    harness.thaw_next()
    assert harness.last_line("ann").startswith("TURN 2 ")
    harness.wait(100)
    harness.send("ann", "MOVE 7")
    assert harness.last_line("bob").startswith("TURN 3 clock=990,900 ")


def test_a_game_whose_program_is_not_thawed_is_void_and_the_bot_waits_for_its_engine() -> None:
    harness = begun(BOB, ANN, clock_ms=1000, handover_ms=400)
    harness.thaws = False
    harness.send("bob", "MOVE 9")
    harness.wait(399)
    assert not harness.records
    harness.wait(1)
    record = harness.records["g1"]
    assert (record.end, [fault.seat for fault in record.faults]) == ("void", [0])
    assert record.faults[0].line == b"the container of ann was not thawed within 400 ms"
    # Its connection stands, no clock runs, and no game is offered to a program that cannot answer.
    harness.wait(100_000)
    assert harness.last_line("ann").startswith("OVER g1")
    assert (offers(harness, "ann"), harness.frozen) == (["g1"], {("ann", 1)})
    assert [(each.name, each.reason) for each in harness.contest.status.held()[1]] == [("ann", "frozen")]
    assert harness.contest.status.overview().bots[1].where == "frozen"
    harness.thaw_next()
    assert offers(harness, "ann") == ["g1", "g2"]
    assert harness.contest.status.held()[1] == ()


def test_who_is_not_thawed_for_too_long_is_absent_until_it_is() -> None:
    harness = begun(BOB, ANN, handover_ms=400, absent_ms=1000)
    harness.thaws = False
    harness.send("bob", "MOVE 9")
    harness.wait(400)
    harness.wait(999)
    assert harness.contest.ended is None
    harness.wait(1)
    assert harness.contest.ended == "incomplete"
    assert harness.contest.status.progress().missing == ("ann",)


def test_who_is_thawed_in_time_is_not_absent() -> None:
    harness = begun(BOB, ANN, handover_ms=400, absent_ms=1000)
    harness.thaws = False
    harness.send("bob", "MOVE 9")
    harness.wait(1399)
    harness.thaw_next()
    harness.wait(1000)
    assert (harness.contest.ended, offers(harness, "ann")) == (None, ["g1", "g2"])


def test_the_time_to_take_a_turn_begins_when_the_program_runs() -> None:
    harness = begun(BOB, ANN, clock_ms=1000, handover_ms=400)
    harness.thaws = harness.flushes = False
    harness.send("bob", "MOVE 9")
    harness.wait(399)
    harness.thaw_next()
    harness.wait(399)
    assert harness.last_line("ann").startswith("TURN 2 ")
    harness.wait(1)
    assert harness.last_line("ann") == "BYE reason=slow"


def test_a_connection_that_is_lost_while_its_program_is_thawed_pays_from_there() -> None:
    harness = begun(BOB, ANN, clock_ms=1000, handover_ms=400)
    harness.thaws = False
    harness.send("bob", "MOVE 9")
    harness.wait(399)
    harness.disconnect("ann")
    harness.wait(500)
    harness.log_in("ann")
    assert harness.last_line("ann").startswith("TURN 2 clock=1000,500 ")


def test_a_program_that_is_not_thawed_at_the_end_of_its_game_is_not_paired_before() -> None:
    harness = begun(*BOTH, handover_ms=400)
    for name, move in ("ann", "7"), ("bob", "9"), ("ann", "7"):
        harness.send(name, f"MOVE {move}")
    harness.thaws = False
    harness.send("bob", "MOVE 9")
    harness.wait(400)
    assert (harness.records["g1"].end, offers(harness, "ann")) == ("complete", ["g1"])
    assert [each.name for each in harness.contest.status.held()[1]] == ["ann"]
    harness.thaw_next()
    assert offers(harness, "ann") == ["g1", "g2"]


def test_the_connection_of_a_program_that_is_not_thawed_may_end() -> None:
    harness = begun(BOB, ANN, handover_ms=400)
    harness.thaws = False
    harness.send("bob", "MOVE 9")
    harness.wait(400)
    harness.disconnect("ann")
    assert [each.reason for each in harness.contest.status.held()[1]] == ["away"]
    harness.frozen.clear()
    harness.log_in("ann")
    assert offers(harness, "ann")[-1] == "g2"


def faults_so_far(harness: ContestHarness) -> list[FaultRecord]:
    return [FaultRecord(*entry[2:]) for entry in harness.entries if entry[1] == "fault"]


def test_a_program_whose_connection_is_lost_runs_and_a_new_one_is_frozen_again() -> None:
    harness = begun(BOB, ANN)
    harness.disconnect("ann")
    assert orders(harness) == ["Freeze ann", "Thaw ann"]
    harness.log_in("ann")
    assert orders(harness) == ["Freeze ann", "Thaw ann", "Freeze ann"]
    harness.send("bob", "MOVE 9")
    assert harness.last_line("ann").startswith("TURN 2 ")


def test_only_the_answer_to_the_last_order_counts() -> None:
    harness = begun(BOB, ANN)
    harness.thaws = False
    harness.send("bob", "MOVE 9")
    harness.disconnect("ann")
    first, second = harness.thawing
    harness.frozen.clear()
    # The next program of the slot has its TURN at once, and is frozen behind its move.
    harness.log_in("ann")
    harness.send("ann", "MOVE 7")
    assert harness.frozen == {("ann", 1)}
    harness.event(thawed(second))
    harness.send("bob", "MOVE 9")
    harness.event(thawed(first))
    harness.event(thawed(second))
    assert not harness.last_line("ann").startswith("TURN")
    harness.event(thawed(harness.thawing[-1]))
    assert harness.last_line("ann").startswith("TURN 4 ")


def test_a_seat_at_fault_is_frozen_to_the_end() -> None:
    harness = begun(*BOTH)
    harness.send("ann", "MOVE 0")
    assert orders(harness) == ["Freeze bob", "Freeze ann", "Thaw bob"]
    harness.send("bob", "MOVE 9")
    harness.send("bob", "MOVE 9")
    assert orders(harness)[3:] == ["Thaw ann"]


def test_a_void_game_leaves_nothing_frozen() -> None:
    harness = begun(*BOTH)
    harness.stop()
    assert (orders(harness), harness.frozen) == (["Freeze bob", "Thaw bob"], set())


def test_a_program_that_is_thawed_after_its_game_is_offered_the_next_one() -> None:
    harness = begun(*BOTH)
    harness.thaws = False
    for name, move in ("ann", "7"), ("bob", "9"), ("ann", "7"):
        harness.send(name, f"MOVE {move}")
        harness.thaw_next()
    harness.send("bob", "MOVE 9")
    # It could not answer: its READY would come late.
    assert offers(harness, "ann") == ["g1"]
    harness.thaw_next()
    assert offers(harness, "ann") == ["g1", "g2"]


def test_no_lag_is_measured_of_a_program_that_cannot_answer() -> None:
    harness = begun(BOB, ANN, lag_quota_ms=1000)
    for _ in range(2):
        harness.wait(2000)
        harness.send("bob", "MOVE 9")
        harness.wait(2000)
        harness.send("ann", "MOVE 7")
    assert "PING" in [line.split()[0] for line in harness.received("bob")]
    assert "PING" not in [line.split()[0] for line in harness.received("ann")]


def test_each_slot_is_frozen_for_its_own_game() -> None:
    harness = ContestHarness(Entrant("ann", concurrency=2, ponders=False), "bob", "cyd")
    for name, conn, options in (
        ("ann", "ann", ""), ("ann", "ann/2", " slot=2"), ("bob", "bob", ""), ("cyd", "cyd", "")
    ):  # fmt: skip
        harness.log_in(name, options, conn)
    for name in ("ann", "ann/2", "bob", "cyd"):
        harness.send(name, f"READY {offers(harness, name)[-1]}")
    # Slot 1 moves first in its game, slot 2 second.
    assert harness.frozen == {("ann", 2)}
    harness.send("ann", "MOVE 7")
    assert harness.frozen == {("ann", 1), ("ann", 2)}
    harness.send("cyd", "MOVE 9")
    assert harness.frozen == {("ann", 1)}


def test_of_two_slots_one_that_is_not_thawed_makes_no_bot_absent() -> None:
    ann = Entrant("ann", concurrency=2, ponders=False)
    harness = ContestHarness(ann, "bob", "cyd", handover_ms=400, absent_ms=1000)
    for conn, options in (("ann", ""), ("ann/2", " slot=2"), ("bob", ""), ("cyd", "")):
        harness.log_in(conn.partition("/")[0], options, conn)
    for name in ("ann", "ann/2", "bob", "cyd"):
        harness.send(name, f"READY {offers(harness, name)[-1]}")
    harness.thaws = False
    harness.send("cyd", "MOVE 9")
    harness.wait(5000)
    assert (harness.records["g2"].end, harness.contest.ended) == ("void", None)
    assert [each.name for each in harness.contest.status.held()[1]] == []


def test_who_is_not_thawed_in_a_pause_is_not_absent_before_its_end() -> None:
    harness = begun(BOB, ANN, handover_ms=400, absent_ms=1000)
    harness.thaws = False
    harness.send("bob", "MOVE 9")
    harness.command("pause")
    harness.wait(5000)
    assert (harness.records["g1"].end, harness.contest.ended) == ("void", None)
    harness.command("resume")
    harness.wait(999)
    assert harness.contest.ended is None
    harness.wait(1)
    assert harness.contest.ended == "incomplete"


def test_a_program_whose_game_went_on_without_it_voids_nothing() -> None:
    harness = begun(BOB, ANN, handover_ms=400)
    harness.thaws = False
    harness.send("bob", "MOVE 9")
    harness.send("ann", *["MOVE 7"] * 102)
    assert [fault.kind for fault in faults_so_far(harness)] == ["out-of-turn"]
    harness.wait(400)
    assert "g1" not in harness.records
