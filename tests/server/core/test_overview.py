"""What the organiser sees of a contest: where each bot is, what runs, what may begin."""

from __future__ import annotations

from arena_server.core.config import Entrant
from arena_server.core.standings import BotState, Overview, RunningGame

from .contest_harness import ContestHarness


def where(harness: ContestHarness) -> dict[str, str]:
    return {bot.name: bot.where for bot in overview(harness).bots}


def overview(harness: ContestHarness) -> Overview:
    return harness.contest.overview()


def begin(harness: ContestHarness) -> RunningGame:
    """Whoever is offered a game is ready for it."""
    (game,) = overview(harness).running
    for name in game.names:
        harness.send(name, f"READY {game.game_id}")
    return game


def test_before_anybody_came() -> None:
    harness = ContestHarness("ann", "bob", Entrant("eye", plays=False))
    seen = overview(harness)
    assert (seen.gate, seen.running) == ("open", ())
    assert seen.bots == (BotState("ann", "away", False, 0), BotState("bob", "away", False, 0))
    assert seen.progress == harness.contest.progress()


def test_a_running_game_and_who_waits() -> None:
    harness = ContestHarness("ann", "bob", "cid")
    for name in ("ann", "bob", "cid"):
        harness.log_in(name)
    game = begin(harness)
    harness.send(game.names[0], "MOVE 6")
    assert where(harness) == {"ann": "playing", "bob": "playing", "cid": "free"}
    assert game.names == ("ann", "bob")
    assert overview(harness).running == (RunningGame(game.game_id, game.names, 1),)


def test_a_game_that_only_waits_for_the_disk_still_runs() -> None:
    harness = ContestHarness("ann", "bob", options={"plies": 2, "start": "empty", "lookahead": 1})
    harness.log_in("ann")
    harness.log_in("bob")
    begin(harness)
    harness.stores = False
    harness.send("ann", "MOVE 6")
    harness.send("bob", "MOVE 6")
    assert [game.plies for game in overview(harness).running] == [2]
    harness.stored("g1")
    assert [game.game_id for game in overview(harness).running] == ["g2"]


def test_away_for_too_long() -> None:
    harness = ContestHarness("ann", "bob", "cid", absent_ms=1000)
    harness.log_in("ann")
    harness.log_in("bob")
    harness.wait(1001)
    assert where(harness)["cid"] == "gone"


def test_a_connection_that_broke_in_a_game() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.log_in("bob")
    harness.disconnect("bob")
    states = {bot.name: (bot.where, bot.connected) for bot in overview(harness).bots}
    assert states == {"ann": ("playing", True), "bob": ("playing", False)}


def test_probation_and_what_is_forgiven() -> None:
    harness = ContestHarness("ann", "bob", "cid", probation=1)
    for name in ("ann", "bob"):
        harness.log_in(name)
    game = begin(harness)
    for mover in game.names * 2:
        harness.send(mover, "MOVE 0" if mover == "bob" else "MOVE 6")
    assert {bot.name: (bot.where, bot.faulty_games) for bot in overview(harness).bots} == {
        "ann": ("free", 0),
        "bob": ("probation", 1),
        "cid": ("away", 0),
    }
    harness.command("lift", "bob")
    bobs = next(bot for bot in overview(harness).bots if bot.name == "bob")
    assert (bobs.where, bobs.faulty_games) == ("playing", 0)


def test_the_gate_and_its_end() -> None:
    harness = ContestHarness("ann", "bob", "cid")
    harness.command("pause")
    assert overview(harness).gate == "paused"
    harness.command("resume")
    assert overview(harness).gate == "open"
    for name in ("ann", "bob"):
        harness.log_in(name)
    harness.command("drain")
    assert overview(harness).gate == "draining"
    assert harness.contest.ended is None
    harness.command("kick", "bob")
    assert (overview(harness).gate, where(harness)["bob"]) == ("stopped", "kicked")
    assert harness.contest.ended == "stopped"
