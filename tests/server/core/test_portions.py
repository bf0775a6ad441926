"""What is told late is told in portions, so that it fits what the shell keeps for a slow reader."""

from __future__ import annotations

from arena_server.core.config import Entrant
from arena_server.core.delivery import CHUNK
from arena_server.core.effects import Send

from .stage import Stage, seated

LONG: dict[str, object] = {"plies": 2000, "lookahead": 2}
EYE = Entrant("eye", plays=False)


def sizes(stage: Stage, name: str) -> list[int]:
    conn = stage.conns[name]
    return [len(effect.data) for effect in stage.effects if isinstance(effect, Send) and effect.conn == conn]


def plies(stage: Stage, name: str) -> list[int]:
    """The plies that `name` was told of."""
    return [int(line.split()[1]) for line in stage.heard(name) if line.startswith("PLAYED")]


def long_game(moves: int, *watchers: str) -> Stage:
    """A game that has come far; nobody takes a portion before the scene says so."""
    stage = Stage("ann", "bob", EYE, options=LONG)
    for name in ("ann", "bob"):
        stage.log_in(name)
    for conn in watchers:
        stage.log_in("eye", conn=conn)
        stage.say(conn, "WATCH *")
    for name in ("ann", "bob"):
        stage.say(name, "READY g1")
    for ply in range(moves):
        stage.say(("ann", "bob")[ply % 2], "MOVE 6")
    stage.takes = False
    return stage


def come_back(stage: Stage, name: str) -> None:
    stage.hang_up(name)
    stage.log_in(name)


def test_who_comes_back_late_is_told_all_in_portions_and_its_turn_last() -> None:
    stage = long_game(1000)
    come_back(stage, "bob")
    assert CHUNK <= sum(sizes(stage, "bob")[2:]) < CHUNK + 200
    stage.take("bob")
    assert max(sizes(stage, "bob")) < CHUNK + 200
    assert plies(stage, "bob") == [*range(1, 1001)]
    stage.say("ann", "MOVE 6")
    assert stage.last("bob").startswith("TURN 1002")


def test_its_turn_waits_until_it_has_heard_all() -> None:
    stage = long_game(1000)
    come_back(stage, "ann")
    assert stage.last("ann").startswith("PLAYED")
    stage.take("ann")
    assert stage.last("ann").startswith("TURN 1001")


def test_what_is_played_meanwhile_waits_its_turn() -> None:
    stage = long_game(1000)
    come_back(stage, "bob")
    before = sizes(stage, "bob")
    stage.say("ann", "MOVE 6")
    assert sizes(stage, "bob") == before
    stage.take("bob")
    assert stage.last("bob").startswith("TURN 1002")
    assert plies(stage, "bob") == [*range(1, 1002)]


def test_a_result_is_heard_after_the_whole_game_and_the_next_one_after_that() -> None:
    stage = long_game(1000)
    come_back(stage, "bob")
    stage.say("ann", "QUIT")
    stage.hang_up("bob")
    stage.log_in("bob", conn="again")
    stage.say("again", "what?")  # two zombies: the other thousand plies come at once
    assert stage.contest.progress().done == 1
    assert stage.contest.progress().running == 0
    stage.log_in("ann")
    assert not any(line.startswith("GAME g2") for line in stage.heard("ann"))
    stage.take("again")
    heard = stage.heard("again")
    over = next(place for place, line in enumerate(heard) if line.startswith("OVER g1"))
    assert heard[over - 1].startswith("PLAYED 2000")
    assert heard[over + 1].startswith("GAME g2")
    assert max(sizes(stage, "again")) < CHUNK + 200


def test_who_leaves_before_it_has_heard_all_is_not_waited_for() -> None:
    stage = seated("zero", "void", options=LONG)
    stage.takes = False
    stage.say("zero", "MOVE 0")
    stage.say("void", "MOVE 0")
    stage.hang_up("zero")
    stage.hang_up("void")
    stage.log_in("zero")
    stage.log_in("void")
    assert stage.last("zero").startswith("NEXT")


def test_a_portion_that_nobody_takes_ends_the_connection_and_not_the_contest() -> None:
    stage = long_game(1000)
    come_back(stage, "bob")
    stage.wait(9_999)
    assert not stage.closed("bob")
    stage.wait(1)
    assert stage.last("bob") == "BYE reason=slow"
    assert stage.closed("bob")
    assert not stage.closed("ann")


def test_a_portion_that_is_taken_late_but_not_too_late_is_nobodys_fault() -> None:
    stage = long_game(1000)
    come_back(stage, "bob")
    stage.wait(9_999)
    stage.take("bob")
    stage.wait(5_000)
    assert plies(stage, "bob") == [*range(1, 1001)]
    assert not stage.closed("bob")


def test_a_late_spectator_gets_a_long_game_in_portions_and_then_live() -> None:
    stage = long_game(1000)
    stage.log_in("eye", conn="late")
    stage.say("late", "WATCH g1")
    assert CHUNK <= sum(sizes(stage, "late")[2:]) < CHUNK + 200
    before = sizes(stage, "late")
    stage.say("ann", "MOVE 6")  # it is behind, and hears of this in its turn
    stage.say("late", "WATCH *")
    assert sizes(stage, "late") == before
    stage.take("late")
    stage.say("bob", "MOVE 6")
    assert plies(stage, "late") == [*range(1, 1003)]
    assert max(sizes(stage, "late")) < CHUNK + 200


def test_when_much_is_said_at_once_all_who_watch_get_it_in_portions() -> None:
    """Two zombies play to the end: a hundred thousand bytes in one event."""
    stage = long_game(1000, "one", "two")
    for name in ("ann", "bob"):
        stage.say(name, "QUIT")
    assert stage.contest.progress().done == 1
    assert [plies(stage, name)[-1] < 2000 for name in ("one", "two")] == [True, True]
    for name in ("one", "two"):
        stage.take(name)
        assert plies(stage, name) == [*range(1, 2001)]
        assert max(sizes(stage, name)) < CHUNK + 200
        assert any(line.startswith("OVER g1") for line in stage.heard(name))


def test_at_the_end_a_spectator_that_takes_nothing_is_waited_for_only_so_long() -> None:
    stage = long_game(1000, "one", "two")
    stage.say("ann", "QUIT")
    stage.say("bob", "QUIT")
    stage.stop()
    assert stage.finished == "stopped"
    stage.take("one")
    assert stage.last("one").startswith("OVER g1")
    stage.wait(10_000)
    assert (stage.last("one"), stage.last("two")) == ("BYE reason=stopped", "BYE reason=slow")
    assert stage.contest.deadline is None


def test_a_portion_that_went_to_a_connection_that_is_gone_means_nothing() -> None:
    stage = long_game(1000)
    come_back(stage, "bob")
    gone = stage.conns["bob"]
    stage.hang_up("bob")
    before = len(stage.effects)
    stage.hand(gone)
    assert stage.effects[before:] == []
