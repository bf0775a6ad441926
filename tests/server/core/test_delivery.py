"""Sending in chunks, so that a slow reader keeps within what the shell buffers for it; and spectators."""

from __future__ import annotations

from arena_server.core.delivery import CHUNK
from arena_server.core.effects import ChunkMark, Send
from arena_server.core.events import Flushed
from arena_server.terms.config import Entrant

from .contest_harness import ContestHarness, seated

LONG: dict[str, object] = {"plies": 2000, "lookahead": 2}


EYE = Entrant("eye", plays=False)


def sizes(harness: ContestHarness, name: str) -> list[int]:
    conn = harness.conns[name]
    return [
        len(effect.data) for effect in harness.effects if isinstance(effect, Send) and effect.conn == conn
    ]


def plies(harness: ContestHarness, name: str) -> list[int]:
    """The plies that were sent to `name`."""
    return [int(line.split()[1]) for line in harness.received(name) if line.startswith("PLAYED")]


def long_game(moves: int, *watchers: str) -> ContestHarness:
    """A game of many plies; no socket takes a chunk before `take_chunks`."""
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


def reconnect(harness: ContestHarness, name: str) -> None:
    harness.disconnect(name)
    harness.log_in(name)


def test_a_bot_that_resumes_late_gets_the_game_in_chunks_and_its_turn_last() -> None:
    harness = long_game(1000)
    reconnect(harness, "bob")
    assert CHUNK <= sum(sizes(harness, "bob")[2:]) < CHUNK + 200
    harness.take_chunks("bob")
    assert max(sizes(harness, "bob")) < CHUNK + 200
    assert plies(harness, "bob") == [*range(1, 1001)]
    harness.send("ann", "MOVE 6")
    assert harness.last_line("bob").startswith("TURN 1002")


def test_turn_follows_the_last_chunk() -> None:
    harness = long_game(1000)
    reconnect(harness, "ann")
    assert harness.last_line("ann").startswith("PLAYED")
    harness.take_chunks("ann")
    assert harness.last_line("ann").startswith("TURN 1001")


def test_plies_played_meanwhile_follow_the_chunks() -> None:
    harness = long_game(1000)
    reconnect(harness, "bob")
    before = sizes(harness, "bob")
    harness.send("ann", "MOVE 6")
    assert sizes(harness, "bob") == before
    harness.take_chunks("bob")
    assert harness.last_line("bob").startswith("TURN 1002")
    assert plies(harness, "bob") == [*range(1, 1002)]


def test_the_result_follows_the_whole_game_and_the_next_game_follows_the_result() -> None:
    harness = long_game(1000)
    reconnect(harness, "bob")
    harness.send("ann", "QUIT")
    harness.disconnect("bob")
    harness.log_in("bob", conn="again")
    harness.send("again", "what?")  # two zombies: the other thousand plies come at once
    assert harness.contest.status.progress().done == 1
    assert harness.contest.status.progress().running == 0
    harness.log_in("ann")
    assert not any(line.startswith("GAME g2") for line in harness.received("ann"))
    harness.take_chunks("again")
    lines = harness.received("again")
    over = next(place for place, line in enumerate(lines) if line.startswith("OVER g1"))
    assert lines[over - 1].startswith("PLAYED 2000")
    assert lines[over + 1].startswith("GAME g2")
    assert max(sizes(harness, "again")) < CHUNK + 200


def test_a_bot_that_leaves_before_its_last_chunk_is_free() -> None:
    harness = seated("zero", "void", options=LONG)
    harness.takes = False
    harness.send("zero", "MOVE 0")
    harness.send("void", "MOVE 0")
    harness.disconnect("zero")
    harness.disconnect("void")
    harness.log_in("zero")
    harness.log_in("void")
    assert harness.last_line("zero").startswith("NEXT")


def test_a_chunk_that_is_not_taken_in_time_closes_the_connection_alone() -> None:
    harness = long_game(1000)
    reconnect(harness, "bob")
    harness.wait(9_999)
    assert not harness.is_closed("bob")
    harness.wait(1)
    assert harness.last_line("bob") == "BYE reason=slow"
    assert harness.is_closed("bob")
    assert not harness.is_closed("ann")


def test_a_chunk_that_is_taken_within_the_limit_is_no_fault() -> None:
    harness = long_game(1000)
    reconnect(harness, "bob")
    harness.wait(9_999)
    harness.take_chunks("bob")
    harness.wait(5_000)
    assert plies(harness, "bob") == [*range(1, 1001)]
    assert not harness.is_closed("bob")


def test_a_late_spectator_gets_a_long_game_in_chunks_and_then_live() -> None:
    harness = long_game(1000)
    harness.log_in("eye", conn="late")
    harness.send("late", "WATCH g1")
    assert CHUNK <= sum(sizes(harness, "late")[2:]) < CHUNK + 200
    before = sizes(harness, "late")
    harness.send("ann", "MOVE 6")  # it is behind, and receives this in its turn
    harness.send("late", "WATCH *")
    assert sizes(harness, "late") == before
    harness.take_chunks("late")
    harness.send("bob", "MOVE 6")
    assert plies(harness, "late") == [*range(1, 1003)]
    assert max(sizes(harness, "late")) < CHUNK + 200


def test_a_large_event_reaches_every_spectator_in_chunks() -> None:
    """Two zombies play to the end: a hundred thousand bytes in one event."""
    harness = long_game(1000, "one", "two")
    for name in ("ann", "bob"):
        harness.send(name, "QUIT")
    assert harness.contest.status.progress().done == 1
    assert [plies(harness, name)[-1] < 2000 for name in ("one", "two")] == [True, True]
    for name in ("one", "two"):
        harness.take_chunks(name)
        assert plies(harness, name) == [*range(1, 2001)]
        assert max(sizes(harness, name)) < CHUNK + 200
        assert any(line.startswith("OVER g1") for line in harness.received(name))


def test_at_the_end_a_spectator_that_takes_nothing_is_awaited_until_the_limit() -> None:
    harness = long_game(1000, "one", "two")
    harness.send("ann", "QUIT")
    harness.send("bob", "QUIT")
    harness.stop()
    assert (harness.contest.ended, harness.finished) == ("stopped", None)
    harness.take_chunks("one")
    assert harness.last_line("one").startswith("OVER g1")
    harness.wait(10_000)
    assert (harness.last_line("one"), harness.last_line("two")) == ("BYE reason=stopped", "BYE reason=slow")
    assert harness.contest.deadline is None
    assert harness.finished == "stopped"


def test_a_chunk_of_a_closed_connection_has_no_effect() -> None:
    harness = long_game(1000)
    reconnect(harness, "bob")
    gone = harness.conns["bob"]
    harness.disconnect("bob")
    before = len(harness.effects)
    harness.event(Flushed(gone, ChunkMark(), harness.now))
    assert harness.effects[before:] == []
