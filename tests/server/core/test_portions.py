"""A long game is told a portion at a time, so that it fits what the shell keeps for a slow reader."""

from __future__ import annotations

from arena_server.core.effects import Send
from arena_server.core.table import PORTION, REST

from .stage import MS, Stage, seated

LONG: dict[str, object] = {"plies": 2000, "lookahead": 2}


def sizes(stage: Stage, name: str) -> list[int]:
    conn = stage.conns[name]
    return [len(effect.data) for effect in stage.effects if isinstance(effect, Send) and effect.conn == conn]


def long_game(plies: int) -> Stage:
    stage = seated("ann", "bob", options=LONG)
    for ply in range(plies):
        stage.say(("ann", "bob")[ply % 2], "MOVE 6")
    return stage


def test_who_comes_back_late_is_told_all_in_portions_and_its_turn_last() -> None:
    stage = long_game(1000)
    stage.hang_up("bob")
    stage.log_in("bob")
    assert len(stage.heard("bob")) < 700
    stage.wait(REST / MS * 10)
    assert max(sizes(stage, "bob")) < PORTION + 200
    assert [line.split()[1] for line in stage.heard("bob") if line.startswith("PLAYED")] == [
        str(ply) for ply in range(1, 1001)
    ]
    stage.say("ann", "MOVE 6")
    assert stage.last("bob").startswith("TURN 1002")


def test_its_turn_waits_until_it_has_heard_all() -> None:
    stage = long_game(1000)
    stage.hang_up("ann")
    stage.wait(40)
    stage.log_in("ann")
    assert stage.last("ann").startswith("PLAYED")
    stage.wait(REST / MS * 10)
    assert stage.last("ann").startswith("TURN 1001")


def test_what_is_played_meanwhile_waits_its_turn() -> None:
    stage = long_game(1000)
    stage.hang_up("bob")
    stage.log_in("bob")
    stage.say("ann", "MOVE 6")
    assert not stage.last("bob").startswith("PLAYED 1001")
    stage.wait(REST / MS * 10)
    assert [line.split()[1] for line in stage.heard("bob")[-2:]] == ["1001", "1002"]


def test_a_result_is_heard_after_the_whole_game_and_the_next_one_after_that() -> None:
    stage = long_game(1000)
    stage.hang_up("bob")
    stage.log_in("bob")
    stage.say("ann", "QUIT")
    stage.hang_up("bob")
    stage.log_in("bob", conn="again")
    stage.say("again", "what?")  # two zombies: the other thousand plies come at once
    assert stage.contest.progress().done == 1
    assert stage.contest.progress().running == 0
    stage.log_in("ann")
    assert not any(line.startswith("GAME g2") for line in stage.heard("ann"))
    stage.wait(REST / MS * 20)
    heard = stage.heard("again")
    over = next(place for place, line in enumerate(heard) if line.startswith("OVER g1"))
    assert heard[over - 1].startswith("PLAYED 2000")
    assert heard[over + 1].startswith("GAME g2")
    assert max(sizes(stage, "again")) < PORTION + 200


def test_who_leaves_before_it_has_heard_all_is_not_waited_for() -> None:
    stage = seated("zero", "void", options=LONG)
    stage.say("zero", "MOVE 0")
    stage.say("void", "MOVE 0")
    stage.hang_up("zero")
    stage.hang_up("void")
    stage.log_in("zero")
    stage.log_in("void")
    assert stage.last("zero").startswith("NEXT")
