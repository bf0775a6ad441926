"""What the organiser sees of a contest: where each bot is, what runs, what may begin."""

from __future__ import annotations

from arena_server.core.config import Entrant
from arena_server.core.events import Command
from arena_server.core.standings import BotState, Overview, RunningGame

from .stage import Stage


def order(stage: Stage, verb: str, target: str = "") -> None:
    stage.event(Command(1, verb, target))


def where(stage: Stage) -> dict[str, str]:
    return {bot.name: bot.where for bot in overview(stage).bots}


def overview(stage: Stage) -> Overview:
    return stage.contest.overview()


def begin(stage: Stage) -> RunningGame:
    """Whoever is offered a game is ready for it."""
    (game,) = overview(stage).running
    for name in game.names:
        stage.say(name, f"READY {game.game_id}")
    return game


def test_before_anybody_came() -> None:
    stage = Stage("ann", "bob", Entrant("eye", plays=False))
    seen = overview(stage)
    assert (seen.gate, seen.running) == ("open", ())
    assert seen.bots == (BotState("ann", "away", False, 0), BotState("bob", "away", False, 0))
    assert seen.progress == stage.contest.progress()


def test_a_running_game_and_who_waits() -> None:
    stage = Stage("ann", "bob", "cid")
    for name in ("ann", "bob", "cid"):
        stage.log_in(name)
    game = begin(stage)
    stage.say(game.names[0], "MOVE 6")
    assert where(stage) == {"ann": "playing", "bob": "playing", "cid": "free"}
    assert game.names == ("ann", "bob")
    assert overview(stage).running == (RunningGame(game.game_id, game.names, 1),)


def test_a_game_that_only_waits_for_the_disk_still_runs() -> None:
    stage = Stage("ann", "bob", options={"plies": 2, "start": "empty", "lookahead": 1})
    stage.log_in("ann")
    stage.log_in("bob")
    begin(stage)
    stage.stores = False
    stage.say("ann", "MOVE 6")
    stage.say("bob", "MOVE 6")
    assert [game.plies for game in overview(stage).running] == [2]
    stage.stored("g1")
    assert [game.game_id for game in overview(stage).running] == ["g2"]


def test_away_for_too_long() -> None:
    stage = Stage("ann", "bob", "cid", absent_ms=1000)
    stage.log_in("ann")
    stage.log_in("bob")
    stage.wait(1001)
    assert where(stage)["cid"] == "gone"


def test_a_connection_that_broke_in_a_game() -> None:
    stage = Stage("ann", "bob")
    stage.log_in("ann")
    stage.log_in("bob")
    stage.hang_up("bob")
    states = {bot.name: (bot.where, bot.connected) for bot in overview(stage).bots}
    assert states == {"ann": ("playing", True), "bob": ("playing", False)}


def test_probation_and_what_is_forgiven() -> None:
    stage = Stage("ann", "bob", "cid", probation=1)
    for name in ("ann", "bob"):
        stage.log_in(name)
    game = begin(stage)
    for mover in game.names * 2:
        stage.say(mover, "MOVE 0" if mover == "bob" else "MOVE 6")
    assert {bot.name: (bot.where, bot.faulty_games) for bot in overview(stage).bots} == {
        "ann": ("free", 0),
        "bob": ("probation", 1),
        "cid": ("away", 0),
    }
    order(stage, "lift", "bob")
    bobs = next(bot for bot in overview(stage).bots if bot.name == "bob")
    assert (bobs.where, bobs.faulty_games) == ("playing", 0)


def test_the_gate_and_its_end() -> None:
    stage = Stage("ann", "bob", "cid")
    order(stage, "pause")
    assert overview(stage).gate == "paused"
    order(stage, "resume")
    assert overview(stage).gate == "open"
    for name in ("ann", "bob"):
        stage.log_in(name)
    order(stage, "drain")
    assert overview(stage).gate == "draining"
    assert stage.contest.ended is None
    order(stage, "kick", "bob")
    assert (overview(stage).gate, where(stage)["bob"]) == ("stopped", "kicked")
    assert stage.contest.ended == "stopped"
