"""Watching: a snapshot, then the live lines, delayed as the contest has it, with faults, without secrets."""

from __future__ import annotations

import pytest

from arena_server.core import delivery
from arena_server.terms.config import Entrant

from .contest_harness import ContestHarness, text
from .harness import MS

EYE = Entrant("eye", plays=False)


def watched(*, target: str = "g1", **config: object) -> ContestHarness:
    """A game between ann and bob, and a spectator that has just sent WATCH."""
    harness = ContestHarness("ann", "bob", EYE, **config)  # type: ignore[arg-type]
    for name in ("ann", "bob", "eye"):
        harness.log_in(name)
    harness.send("eye", f"WATCH {target}")
    return harness


def start(harness: ContestHarness, game_id: str = "g1") -> None:
    for name in ("ann", "bob"):
        harness.send(name, f"READY {game_id}")


def seen(harness: ContestHarness, name: str = "eye") -> list[str]:
    return harness.transcript(name, since="WATCH").splitlines()[1:]


def verbs(harness: ContestHarness, name: str = "eye") -> list[str]:
    return [line.split()[1] for line in seen(harness, name)]


def test_a_spectator_sees_notes_after_the_delay() -> None:
    harness = watched(spectator_delay_ms=2000)
    start(harness)
    harness.send("ann", "INFO game=g1 ply=1 eval=30 text=a secret")
    harness.wait(1999)
    assert not any("INFO" in line for line in seen(harness))
    harness.wait(1)
    assert seen(harness)[-1] == "S  INFO game=g1 ply=1 seat=1 eval=30 text=a secret"
    assert not any("INFO" in line for line in harness.received("bob"))


@pytest.mark.parametrize("target", ["g1", "*"])
def test_a_spectator_sees_the_game_and_its_faults(target: str) -> None:
    options = {"plies": 2, "start": "empty", "lookahead": 1}
    harness = watched(target=target, options=options, announce_zombies=True)
    start(harness)
    harness.wait(3)
    harness.send("ann", "MOVE 0")
    harness.stores = False
    harness.wait(4)
    harness.send("bob", "MOVE 9")
    expected = text("""
        S  GAME g1 insertion seat=0 seats=2 names=ann,bob ...
        S  STATE ...../...../...../...../..... game=g1
        S  NEXT 4 game=g1
        S  START g1
        S  ZOMBIE ply=1 reason=illegal seat=1 line=4d4f56452030 game=g1
        S  PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=4 game=g1
        S  PLAYED 2 seat=2 move=9 time=4 clock=20000,19996 points=0 total=0,0 game=g1
    """).splitlines()  # fmt: skip
    assert seen(harness) == expected
    harness.stored("g1")
    assert seen(harness)[len(expected)] == "S  OVER g1 total=0,0 end=complete nonce=... sequence=44"


def test_a_fault_that_is_not_announced_is_shown_after_the_game() -> None:
    harness = watched(options={"plies": 2, "start": "empty"})
    start(harness)
    harness.stores = False
    harness.send("ann", "MOVE 0")
    harness.send("bob", "MOVE 9")
    before = seen(harness)
    assert verbs(harness) == ["GAME", "STATE", "NEXT", "START", "PLAYED", "PLAYED"]
    harness.stored("g1")
    zombie = "S  ZOMBIE ply=1 reason=illegal seat=1 line=4d4f56452030 game=g1"
    assert seen(harness)[len(before)] == zombie
    assert verbs(harness)[-1] == "OVER"


def test_a_latecomer_gets_the_same_as_a_snapshot() -> None:
    harness = watched()
    harness.log_in("eye", conn="late")
    start(harness)
    harness.send("ann", "MOVE 7")
    harness.send("late", "WATCH g1")
    assert seen(harness, "late") == seen(harness)
    harness.send("bob", "MOVE 7")
    assert seen(harness, "late") == seen(harness)


def test_the_delay() -> None:
    harness = watched(spectator_delay_ms=1000)
    start(harness)
    harness.send("ann", "MOVE 7")
    harness.wait(999)
    assert verbs(harness) == []
    harness.wait(1)
    assert verbs(harness) == ["GAME", "STATE", "NEXT", "START", "PLAYED"]
    harness.send("bob", "MOVE 7")
    harness.wait(500)
    harness.send("ann", "MOVE 7")
    harness.wait(500)
    assert verbs(harness)[5:] == ["PLAYED"]
    harness.wait(500)
    assert verbs(harness)[5:] == ["PLAYED", "PLAYED"]


def test_a_snapshot_is_delayed_too() -> None:
    harness = ContestHarness("ann", "bob", EYE, spectator_delay_ms=1000)
    for name in ("ann", "bob", "eye"):
        harness.log_in(name)
    start(harness)
    harness.wait(600)
    harness.send("ann", "MOVE 7")
    harness.wait(600)
    harness.send("eye", "WATCH *")
    assert verbs(harness) == ["GAME", "STATE", "NEXT", "START"]
    harness.wait(400)
    assert verbs(harness)[4:] == ["PLAYED"]


def test_a_delayed_game_is_shown_to_its_end_after_the_contest_has_ended() -> None:
    harness = watched(spectator_delay_ms=1000, options={"plies": 1, "start": "empty"})
    for number in (1, 2):
        start(harness, f"g{number}")
        for name in ("ann", "bob"):
            harness.send(name, "MOVE 7")
        if number == 1:
            harness.send("eye", "WATCH g2", "WATCH *")
    assert (harness.contest.ended, harness.finished) == ("finished", None)
    assert not harness.is_closed("eye")
    harness.connect("another")
    assert harness.last_line("another").startswith("ARENA "), "all may connect"
    harness.wait(1000)
    assert [line[3:11] for line in seen(harness) if line.startswith("S  OVER")] == ["OVER g1 ", "OVER g2 "]
    assert harness.last_line("eye") == "BYE reason=finished"
    assert harness.is_closed("eye")
    assert harness.contest.deadline is None
    assert harness.finished == "finished"


def test_a_finished_game_without_viewers_is_forgotten_after_the_delay() -> None:
    harness = ContestHarness("ann", "bob", EYE, spectator_delay_ms=1000, options={"plies": 1})
    for name in ("ann", "bob", "eye"):
        harness.log_in(name)
    start(harness)
    harness.send("ann", "MOVE 7")
    harness.wait(999)
    harness.send("eye", "WATCH g1")
    assert verbs(harness) == []
    harness.wait(1)
    assert verbs(harness)[-1] == "OVER"
    harness.send("eye", "WATCH g1")
    assert harness.last_line("eye") == "ERROR no-such-game no such game is being played"


def test_a_finished_game_without_viewers_wakes_the_contest_once() -> None:
    """When its last line may be shown; who comes before gets the other lines at their moments."""
    harness = ContestHarness(
        "ann", "bob", EYE, spectator_delay_ms=1000, ready_ms=60_000, options={"plies": 3, "start": "empty"}
    )
    for name in ("ann", "bob", "eye"):
        harness.log_in(name)
    start(harness)
    for name in ("ann", "bob", "ann"):
        harness.wait(100)
        harness.send(name, "MOVE 7")
    assert harness.contest.deadline == harness.now + 1000 * MS
    harness.wait(850)  # the second ply is 950 ms old
    harness.send("eye", "WATCH g1")
    assert verbs(harness)[-2:] == ["START", "PLAYED"]
    harness.wait(50)
    assert verbs(harness)[-2:] == ["PLAYED", "PLAYED"]
    harness.wait(99)
    assert verbs(harness)[-2:] == ["PLAYED", "PLAYED"]
    harness.wait(1)
    assert verbs(harness)[-4:] == ["PLAYED", "PLAYED", "PLAYED", "OVER"]


def test_everything_includes_the_games_that_start_later() -> None:
    harness = watched(target="*", options={"plies": 1, "start": "empty"})
    start(harness)
    harness.send("ann", "MOVE 7")
    assert [line.split()[2] for line in seen(harness) if line.startswith("S  GAME")] == ["g1", "g2"]


def test_one_game_does_not_include_the_next() -> None:
    harness = watched(target="g1", options={"plies": 1, "start": "empty"})
    start(harness)
    harness.send("ann", "MOVE 7")
    assert verbs(harness)[-1] == "OVER"


def test_watching_twice_shows_nothing_twice() -> None:
    harness = watched()
    before = seen(harness)
    harness.send("eye", "WATCH g1", "WATCH *", "WATCH *")
    assert [line for line in seen(harness) if line.startswith("S")] == before


@pytest.mark.parametrize("target", ["g2", "g", "all", "**"])
def test_no_such_game(target: str) -> None:
    harness = watched(target=target)
    assert harness.last_line("eye") == "ERROR no-such-game no such game is being played"
    assert not harness.is_closed("eye")
    harness.send("eye", "WATCH g1")
    assert harness.last_line("eye").startswith("NEXT")


def test_asking_for_a_hundred_games_that_are_not_there_is_a_flood() -> None:
    harness = watched(target="g9")
    harness.send("eye", *["WATCH g9"] * 99)
    assert harness.last_line("eye") == "ERROR flood too many lines that were not asked for"
    assert harness.is_closed("eye")


def test_many_may_watch_by_one_name_and_none_of_them_plays() -> None:
    harness = ContestHarness("ann", "bob", EYE)
    for conn in ("one", "two"):
        harness.log_in("eye", conn=conn)
        assert harness.last_line(conn).startswith("WELCOME eye ")
    harness.log_in("ann")
    assert len(harness.received("ann")) == 2
    harness.send("one", "QUIT")
    harness.send("two", "MOVE 7", "PING 1")
    assert harness.last_line("one") == "BYE reason=quit"
    assert harness.last_line("two") == "PONG 1"
    harness.disconnect("two")
    harness.log_in("eye", " resume=key1", conn="three")
    assert harness.last_line("three").startswith("ERROR token ")


def test_a_bot_that_watches_counts_as_absent() -> None:
    harness = ContestHarness("ann", "bob", absent_ms=5000)
    harness.log_in("ann")
    harness.send("ann", "WATCH *")
    harness.log_in("bob")
    assert len(harness.received("bob")) == 2
    harness.wait(5000)
    assert harness.finished == "incomplete"


def test_a_spectator_that_leaves_is_sent_nothing_more() -> None:
    harness = watched(target="*")
    harness.disconnect("eye")
    before = seen(harness)
    start(harness)
    assert seen(harness) == before


def long_games(*, pairs: int = 4, plies: int = 60) -> ContestHarness:
    """Many games at once that have come far, of zombies against bots in thought."""
    names = [f"b{number}" for number in range(2 * pairs)]
    harness = ContestHarness(*names, EYE, options={"plies": plies})
    for name in [*names, "eye"]:
        harness.log_in(name)
    for name in names:
        game_id = next(line.split()[1] for line in harness.received(name) if line.startswith("GAME"))
        harness.send(name, f"READY {game_id}")
    for _ in range(plies):
        for name in names:
            if (
                harness.last_line(name).startswith("TURN")
                and int(harness.last_line(name).split()[1]) < plies - 1
            ):
                harness.send(name, "MOVE 7")
    return harness


def shown(harness: ContestHarness, name: str = "eye") -> list[str]:
    return [line.split()[1] for line in harness.received(name) if line.startswith("GAME")]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "CHUNK", 8000)


@pytest.mark.usefixtures("small_chunks")
def test_many_snapshots_come_a_few_at_a_time() -> None:
    harness = long_games()
    harness.takes = False
    harness.send("eye", "WATCH *")
    first = shown(harness)
    games = {
        line.split()[1]
        for name in harness.conns
        for line in harness.received(name)
        if line.startswith("GAME")
    }
    assert 1 <= len(first) < len(games) == 4
    other = min(games - {*first})
    harness.send("eye", "WATCH *", f"WATCH {other}")  # asking again brings nothing sooner
    assert shown(harness) == first
    harness.flush_next("eye")
    assert len(shown(harness)) > len(first)
    harness.take_chunks("eye")
    assert len(shown(harness)) == 4
    assert {*shown(harness)} == games


@pytest.mark.usefixtures("small_chunks")
def test_a_game_that_ends_is_kept_until_a_newcomer_has_received_it() -> None:
    harness = long_games()
    harness.takes = False
    harness.send("eye", "WATCH *")
    before = shown(harness)
    harness.stop()
    assert (harness.contest.ended, harness.finished) == ("stopped", None)
    assert not harness.is_closed("eye")
    harness.take_chunks("eye")
    assert len(before) < len(shown(harness)) == 4
    assert sum(line.startswith("OVER") for line in harness.received("eye")) == 4
    assert harness.last_line("eye") == "BYE reason=stopped"
    assert harness.finished == "stopped"


@pytest.mark.usefixtures("small_chunks")
def test_a_newcomer_that_leaves_is_not_awaited() -> None:
    harness = long_games()
    harness.takes = False
    harness.log_in("eye", conn="other")
    harness.send("eye", "WATCH *")
    harness.send("other", "WATCH g1")
    harness.stop()
    harness.disconnect("eye")
    assert harness.last_line("other") == "BYE reason=stopped"
    assert harness.contest.deadline is None


def test_stop_sends_bye_to_spectators_too() -> None:
    harness = watched()
    start(harness)
    harness.stop()
    assert seen(harness)[-2:] == [
        "S  OVER g1 total=0,0 end=void nonce=... sequence=4456",
        "S  BYE reason=stopped",
    ]
