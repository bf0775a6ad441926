"""Watching: a snapshot, then the live lines, as late as the contest says, and nothing hidden."""

from __future__ import annotations

from textwrap import dedent

import pytest

from arena_server.core import delivery
from arena_server.core.config import Entrant

from .stage import Stage

EYE = Entrant("eye", plays=False)


def watched(*, target: str = "g1", **plan: object) -> Stage:
    """A game between ann and bob, and a spectator that has just said WATCH."""
    stage = Stage("ann", "bob", EYE, **plan)  # type: ignore[arg-type]
    for name in ("ann", "bob", "eye"):
        stage.log_in(name)
    stage.say("eye", f"WATCH {target}")
    return stage


def start(stage: Stage, game_id: str = "g1") -> None:
    for name in ("ann", "bob"):
        stage.say(name, f"READY {game_id}")


def seen(stage: Stage, name: str = "eye") -> list[str]:
    return stage.transcript(name, since="WATCH").splitlines()[1:]


def verbs(stage: Stage, name: str = "eye") -> list[str]:
    return [line.split()[1] for line in seen(stage, name)]


@pytest.mark.parametrize("target", ["g1", "*"])
def test_a_spectator_sees_the_game_and_its_faults(target: str) -> None:
    stage = watched(target=target, options={"plies": 2, "start": "empty", "lookahead": 1})
    start(stage)
    stage.wait(3)
    stage.say("ann", "MOVE 0")
    stage.stores = False
    stage.wait(4)
    stage.say("bob", "MOVE 9")
    expected = dedent("""
        S  GAME g1 insertion seat=0 seats=2 names=ann,bob ...
        S  STATE ...../...../...../...../..... game=g1
        S  NEXT 4 game=g1
        S  START g1
        S  ZOMBIE ply=1 reason=illegal seat=1 line=4d4f56452030 game=g1
        S  PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=4 game=g1
        S  PLAYED 2 seat=2 move=9 time=4 clock=20000,19996 points=0 total=0,0 game=g1
    """).strip().splitlines()  # fmt: skip
    assert seen(stage) == expected
    stage.stored("g1")
    assert seen(stage)[len(expected)] == "S  OVER g1 total=0,0 end=complete nonce=... sequence=44"


def test_a_latecomer_gets_the_same_as_a_snapshot() -> None:
    stage = watched()
    stage.log_in("eye", conn="late")
    start(stage)
    stage.say("ann", "MOVE 7")
    stage.say("late", "WATCH g1")
    assert seen(stage, "late") == seen(stage)
    stage.say("bob", "MOVE 7")
    assert seen(stage, "late") == seen(stage)


def test_the_delay() -> None:
    stage = watched(spectator_delay_ms=1000)
    start(stage)
    stage.say("ann", "MOVE 7")
    stage.wait(999)
    assert verbs(stage) == []
    stage.wait(1)
    assert verbs(stage) == ["GAME", "STATE", "NEXT", "START", "PLAYED"]
    stage.say("bob", "MOVE 7")
    stage.wait(500)
    stage.say("ann", "MOVE 7")
    stage.wait(500)
    assert verbs(stage)[5:] == ["PLAYED"]
    stage.wait(500)
    assert verbs(stage)[5:] == ["PLAYED", "PLAYED"]


def test_a_snapshot_is_delayed_too() -> None:
    stage = Stage("ann", "bob", EYE, spectator_delay_ms=1000)
    for name in ("ann", "bob", "eye"):
        stage.log_in(name)
    start(stage)
    stage.wait(600)
    stage.say("ann", "MOVE 7")
    stage.wait(600)
    stage.say("eye", "WATCH *")
    assert verbs(stage) == ["GAME", "STATE", "NEXT", "START"]
    stage.wait(400)
    assert verbs(stage)[4:] == ["PLAYED"]


def test_a_delayed_game_is_shown_to_its_end_after_the_contest_has_ended() -> None:
    stage = watched(spectator_delay_ms=1000, options={"plies": 1, "start": "empty"})
    for number in (1, 2):
        start(stage, f"g{number}")
        for name in ("ann", "bob"):
            stage.say(name, "MOVE 7")
        if number == 1:
            stage.say("eye", "WATCH g2", "WATCH *")
    assert stage.finished == "finished"
    assert not stage.closed("eye")
    stage.open("another")
    assert stage.last("another") == "BYE reason=finished"
    stage.wait(1000)
    assert [line[3:11] for line in seen(stage) if line.startswith("S  OVER")] == ["OVER g1 ", "OVER g2 "]
    assert stage.last("eye") == "BYE reason=finished"
    assert stage.closed("eye")
    assert stage.contest.deadline is None


def test_a_finished_game_nobody_watches_is_forgotten() -> None:
    stage = Stage("ann", "bob", EYE, spectator_delay_ms=1000, options={"plies": 1})
    for name in ("ann", "bob", "eye"):
        stage.log_in(name)
    start(stage)
    stage.say("ann", "MOVE 7")
    stage.wait(999)
    stage.say("eye", "WATCH g1")
    assert verbs(stage) == []
    stage.wait(1)
    assert verbs(stage)[-1] == "OVER"
    stage.say("eye", "WATCH g1")
    assert stage.last("eye") == "ERROR no-such-game no such game is being played"


def test_everything_includes_the_games_that_start_later() -> None:
    stage = watched(target="*", options={"plies": 1, "start": "empty"})
    start(stage)
    stage.say("ann", "MOVE 7")
    assert [line.split()[2] for line in seen(stage) if line.startswith("S  GAME")] == ["g1", "g2"]


def test_one_game_does_not_include_the_next() -> None:
    stage = watched(target="g1", options={"plies": 1, "start": "empty"})
    start(stage)
    stage.say("ann", "MOVE 7")
    assert verbs(stage)[-1] == "OVER"


def test_watching_twice_shows_nothing_twice() -> None:
    stage = watched()
    before = seen(stage)
    stage.say("eye", "WATCH g1", "WATCH *", "WATCH *")
    assert [line for line in seen(stage) if line.startswith("S")] == before


@pytest.mark.parametrize("target", ["g2", "g", "all", "**"])
def test_no_such_game(target: str) -> None:
    stage = watched(target=target)
    assert stage.last("eye") == "ERROR no-such-game no such game is being played"
    assert not stage.closed("eye")
    stage.say("eye", "WATCH g1")
    assert stage.last("eye").startswith("NEXT")


def test_asking_for_a_hundred_games_that_are_not_there_is_a_flood() -> None:
    stage = watched(target="g9")
    stage.say("eye", *["WATCH g9"] * 99)
    assert stage.last("eye") == "ERROR flood too many lines that were not asked for"
    assert stage.closed("eye")


def test_many_may_watch_by_one_name_and_none_of_them_plays() -> None:
    stage = Stage("ann", "bob", EYE)
    for conn in ("one", "two"):
        stage.log_in("eye", conn=conn)
        assert stage.last(conn).startswith("WELCOME eye ")
    stage.log_in("ann")
    assert len(stage.heard("ann")) == 2
    stage.say("one", "QUIT")
    stage.say("two", "MOVE 7", "PING 1")
    assert stage.last("one") == "BYE reason=quit"
    assert stage.last("two") == "PONG 1"
    stage.hang_up("two")
    stage.log_in("eye", " resume=key1", conn="three")
    assert stage.last("three").startswith("ERROR token ")


def test_a_bot_that_watches_is_away() -> None:
    stage = Stage("ann", "bob", absent_ms=5000)
    stage.log_in("ann")
    stage.say("ann", "WATCH *")
    stage.log_in("bob")
    assert len(stage.heard("bob")) == 2
    stage.wait(5000)
    assert stage.finished == "incomplete"


def test_who_leaves_is_sent_nothing_more() -> None:
    stage = watched(target="*")
    stage.hang_up("eye")
    before = seen(stage)
    start(stage)
    assert seen(stage) == before


def long_games(*, pairs: int = 4, plies: int = 60) -> Stage:
    """Many games at once that have come far, of zombies against bots in thought."""
    names = [f"b{number}" for number in range(2 * pairs)]
    stage = Stage(*names, EYE, options={"plies": plies})
    for name in [*names, "eye"]:
        stage.log_in(name)
    for name in names:
        game_id = next(line.split()[1] for line in stage.heard(name) if line.startswith("GAME"))
        stage.say(name, f"READY {game_id}")
    for _ in range(plies):
        for name in names:
            if stage.last(name).startswith("TURN") and int(stage.last(name).split()[1]) < plies - 1:
                stage.say(name, "MOVE 7")
    return stage


def shown(stage: Stage, name: str = "eye") -> list[str]:
    return [line.split()[1] for line in stage.heard(name) if line.startswith("GAME")]


@pytest.fixture
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "CHUNK", 8000)


@pytest.mark.usefixtures("small_portions")
def test_many_snapshots_come_a_few_at_a_time() -> None:
    stage = long_games()
    stage.takes = False
    stage.say("eye", "WATCH *")
    first = shown(stage)
    games = {line.split()[1] for name in stage.conns for line in stage.heard(name) if line.startswith("GAME")}
    assert 1 <= len(first) < len(games) == 4
    other = min(games - {*first})
    stage.say("eye", "WATCH *", f"WATCH {other}")  # asking again brings nothing sooner
    assert shown(stage) == first
    stage.hand(stage.conns["eye"])
    assert len(shown(stage)) > len(first)
    stage.take("eye")
    assert len(shown(stage)) == 4
    assert {*shown(stage)} == games


@pytest.mark.usefixtures("small_portions")
def test_a_game_that_ends_before_a_newcomer_has_seen_it_waits_for_it() -> None:
    stage = long_games()
    stage.takes = False
    stage.say("eye", "WATCH *")
    before = shown(stage)
    stage.stop()
    assert stage.finished == "stopped"
    assert not stage.closed("eye")
    stage.take("eye")
    assert len(before) < len(shown(stage)) == 4
    assert sum(line.startswith("OVER") for line in stage.heard("eye")) == 4
    assert stage.last("eye") == "BYE reason=stopped"


@pytest.mark.usefixtures("small_portions")
def test_a_newcomer_that_leaves_is_not_waited_for() -> None:
    stage = long_games()
    stage.takes = False
    stage.log_in("eye", conn="other")
    stage.say("eye", "WATCH *")
    stage.say("other", "WATCH g1")
    stage.stop()
    stage.hang_up("eye")
    assert stage.last("other") == "BYE reason=stopped"
    assert stage.contest.deadline is None


def test_stop_says_farewell_to_spectators_too() -> None:
    stage = watched()
    start(stage)
    stage.stop()
    assert seen(stage)[-2:] == ["S  OVER g1 total=0,0 end=void", "S  BYE reason=stopped"]
