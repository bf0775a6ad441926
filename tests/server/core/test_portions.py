"""What is told late is told in portions, so that it fits what the shell keeps for a slow reader."""

from __future__ import annotations

from arena_server.core.config import Entrant
from arena_server.core.delivery import CHUNK
from arena_server.core.effects import ChunkMark, Send
from arena_server.core.events import Flushed

from .contest_harness import ContestHarness, seated

LONG: dict[str, object] = {"plies": 2000, "lookahead": 2}
EYE = Entrant("eye", plays=False)


def sizes(harness: ContestHarness, name: str) -> list[int]:
    conn = harness.conns[name]
    return [
        len(effect.data) for effect in harness.effects if isinstance(effect, Send) and effect.conn == conn
    ]


def plies(harness: ContestHarness, name: str) -> list[int]:
    """The plies that `name` was told of."""
    return [int(line.split()[1]) for line in harness.received(name) if line.startswith("PLAYED")]


def long_game(moves: int, *watchers: str) -> ContestHarness:
    """A game that has come far; nobody takes a portion before the scene says so."""
    harness = ContestHarness("ann", "bob", EYE, options=LONG)
    for name in ("ann", "bob"):
        harness.log_in(name)
    for conn in watchers:
        harness.log_in("eye", conn=conn)
        harness.send(conn, "WATCH *")
    for name in ("ann", "bob"):
        harness.send(name, "READY g1")
    for ply in range(moves):
        harness.send(("ann", "bob")[ply % 2], "MOVE 6")
    harness.takes = False
    return harness


def come_back(harness: ContestHarness, name: str) -> None:
    harness.disconnect(name)
    harness.log_in(name)


def test_who_comes_back_late_is_told_all_in_portions_and_its_turn_last() -> None:
    harness = long_game(1000)
    come_back(harness, "bob")
    assert CHUNK <= sum(sizes(harness, "bob")[2:]) < CHUNK + 200
    harness.take_chunks("bob")
    assert max(sizes(harness, "bob")) < CHUNK + 200
    assert plies(harness, "bob") == [*range(1, 1001)]
    harness.send("ann", "MOVE 6")
    assert harness.last_line("bob").startswith("TURN 1002")


def test_its_turn_waits_until_it_has_heard_all() -> None:
    harness = long_game(1000)
    come_back(harness, "ann")
    assert harness.last_line("ann").startswith("PLAYED")
    harness.take_chunks("ann")
    assert harness.last_line("ann").startswith("TURN 1001")


def test_what_is_played_meanwhile_waits_its_turn() -> None:
    harness = long_game(1000)
    come_back(harness, "bob")
    before = sizes(harness, "bob")
    harness.send("ann", "MOVE 6")
    assert sizes(harness, "bob") == before
    harness.take_chunks("bob")
    assert harness.last_line("bob").startswith("TURN 1002")
    assert plies(harness, "bob") == [*range(1, 1002)]


def test_a_result_is_heard_after_the_whole_game_and_the_next_one_after_that() -> None:
    harness = long_game(1000)
    come_back(harness, "bob")
    harness.send("ann", "QUIT")
    harness.disconnect("bob")
    harness.log_in("bob", conn="again")
    harness.send("again", "what?")  # two zombies: the other thousand plies come at once
    assert harness.contest.progress().done == 1
    assert harness.contest.progress().running == 0
    harness.log_in("ann")
    assert not any(line.startswith("GAME g2") for line in harness.received("ann"))
    harness.take_chunks("again")
    heard = harness.received("again")
    over = next(place for place, line in enumerate(heard) if line.startswith("OVER g1"))
    assert heard[over - 1].startswith("PLAYED 2000")
    assert heard[over + 1].startswith("GAME g2")
    assert max(sizes(harness, "again")) < CHUNK + 200


def test_who_leaves_before_it_has_heard_all_is_not_waited_for() -> None:
    harness = seated("zero", "void", options=LONG)
    harness.takes = False
    harness.send("zero", "MOVE 0")
    harness.send("void", "MOVE 0")
    harness.disconnect("zero")
    harness.disconnect("void")
    harness.log_in("zero")
    harness.log_in("void")
    assert harness.last_line("zero").startswith("NEXT")


def test_a_portion_that_nobody_takes_ends_the_connection_and_not_the_contest() -> None:
    harness = long_game(1000)
    come_back(harness, "bob")
    harness.wait(9_999)
    assert not harness.is_closed("bob")
    harness.wait(1)
    assert harness.last_line("bob") == "BYE reason=slow"
    assert harness.is_closed("bob")
    assert not harness.is_closed("ann")


def test_a_portion_that_is_taken_late_but_not_too_late_is_nobodys_fault() -> None:
    harness = long_game(1000)
    come_back(harness, "bob")
    harness.wait(9_999)
    harness.take_chunks("bob")
    harness.wait(5_000)
    assert plies(harness, "bob") == [*range(1, 1001)]
    assert not harness.is_closed("bob")


def test_a_late_spectator_gets_a_long_game_in_portions_and_then_live() -> None:
    harness = long_game(1000)
    harness.log_in("eye", conn="late")
    harness.send("late", "WATCH g1")
    assert CHUNK <= sum(sizes(harness, "late")[2:]) < CHUNK + 200
    before = sizes(harness, "late")
    harness.send("ann", "MOVE 6")  # it is behind, and hears of this in its turn
    harness.send("late", "WATCH *")
    assert sizes(harness, "late") == before
    harness.take_chunks("late")
    harness.send("bob", "MOVE 6")
    assert plies(harness, "late") == [*range(1, 1003)]
    assert max(sizes(harness, "late")) < CHUNK + 200


def test_when_much_is_said_at_once_all_who_watch_get_it_in_portions() -> None:
    """Two zombies play to the end: a hundred thousand bytes in one event."""
    harness = long_game(1000, "one", "two")
    for name in ("ann", "bob"):
        harness.send(name, "QUIT")
    assert harness.contest.progress().done == 1
    assert [plies(harness, name)[-1] < 2000 for name in ("one", "two")] == [True, True]
    for name in ("one", "two"):
        harness.take_chunks(name)
        assert plies(harness, name) == [*range(1, 2001)]
        assert max(sizes(harness, name)) < CHUNK + 200
        assert any(line.startswith("OVER g1") for line in harness.received(name))


def test_at_the_end_a_spectator_that_takes_nothing_is_waited_for_only_so_long() -> None:
    harness = long_game(1000, "one", "two")
    harness.send("ann", "QUIT")
    harness.send("bob", "QUIT")
    harness.stop()
    assert harness.finished == "stopped"
    harness.take_chunks("one")
    assert harness.last_line("one").startswith("OVER g1")
    harness.wait(10_000)
    assert (harness.last_line("one"), harness.last_line("two")) == ("BYE reason=stopped", "BYE reason=slow")
    assert harness.contest.deadline is None


def test_a_portion_that_went_to_a_connection_that_is_gone_means_nothing() -> None:
    harness = long_game(1000)
    come_back(harness, "bob")
    gone = harness.conns["bob"]
    harness.disconnect("bob")
    before = len(harness.effects)
    harness.event(Flushed(gone, ChunkMark(), harness.now))
    assert harness.effects[before:] == []
