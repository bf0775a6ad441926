"""A contest at a moment: where its bots are, which games run, whom games wait for."""

from __future__ import annotations

from arena_server.core.overview import Awaited, BotState, Overview, RunningGame
from arena_server.terms.config import Entrant

from .contest_harness import MS, ONE_PLY, ContestHarness, restarted, seated


def where(harness: ContestHarness) -> dict[str, str]:
    return {bot.name: bot.where for bot in overview(harness).bots}


def overview(harness: ContestHarness) -> Overview:
    return harness.contest.status.overview()


def start_game(harness: ContestHarness) -> RunningGame:
    """Both bots of the running game send READY."""
    (game,) = overview(harness).running
    for name in game.names:
        harness.send(name, f"READY {game.game_id}")
    return game


def test_before_any_bot_has_connected() -> None:
    harness = ContestHarness("ann", "bob", Entrant("eye", plays=False))
    seen = overview(harness)
    assert (seen.state, seen.running) == ("open", ())
    assert seen.bots == (BotState("ann", "away", False, 0), BotState("bob", "away", False, 0))
    assert seen.progress == harness.contest.status.progress()


def test_a_running_game_and_a_free_bot() -> None:
    harness = ContestHarness("ann", "bob", "cid")
    for name in ("ann", "bob", "cid"):
        harness.log_in(name)
    game = start_game(harness)
    harness.send(game.names[0], "MOVE 6")
    assert where(harness) == {"ann": "playing", "bob": "playing", "cid": "free"}
    assert game.names == ("ann", "bob")
    assert overview(harness).running == (RunningGame(game.game_id, game.names, 1),)


def test_a_game_that_only_waits_for_the_disk_still_runs() -> None:
    harness = ContestHarness("ann", "bob", options={"plies": 2, "start": "empty", "lookahead": 1})
    harness.log_in("ann")
    harness.log_in("bob")
    start_game(harness)
    harness.stores = False
    harness.send("ann", "MOVE 6")
    harness.send("bob", "MOVE 6")
    assert [game.plies for game in overview(harness).running] == [2]
    harness.stored("g1")
    assert [game.game_id for game in overview(harness).running] == ["g2"]


def test_absent_for_too_long() -> None:
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
    game = start_game(harness)
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


def waiting(harness: ContestHarness) -> list[Awaited]:
    return list(harness.contest.status.held()[1])


def test_whom_games_wait_for_that_has_never_connected_or_is_away() -> None:
    harness = ContestHarness("ann", "bob", "cid", Entrant("eye", plays=False))
    assert [each.name for each in waiting(harness)] == ["ann", "bob", "cid"]
    harness.log_in("ann")
    harness.log_in("bob")
    harness.wait(1500)
    harness.disconnect("bob")
    assert waiting(harness) == [
        Awaited("bob", "away", 1500 * MS, 0),
        Awaited("cid", "never-connected", None, 0),
    ]
    assert harness.contest.status.progress().waiting == harness.contest.status.held()[1]
    assert not harness.contest.status.idle
    harness.log_in("bob")
    assert [each.name for each in waiting(harness)] == ["cid"]


def test_a_bot_that_watches_is_waited_for() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", "WATCH *")
    assert [(each.name, each.reason) for each in waiting(harness)] == [
        ("ann", "away"),
        ("bob", "never-connected"),
    ]
    assert harness.contest.status.idle
    harness.command("pause")
    assert not harness.contest.status.idle


def test_after_a_restart_it_is_known_who_was_there_before() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    assert waiting(restarted(harness)) == [
        Awaited("ann", "away", None, 0),
        Awaited("bob", "never-connected", None, 0),
    ]


def test_a_bot_without_games_left_is_not_waited_for() -> None:
    harness = ContestHarness("ann", "bob", "cid", "dan", options=ONE_PLY, format="matches")
    for name in ("ann", "bob", "cid"):
        harness.log_in(name)
    harness.send("ann", "READY g1")
    harness.send("bob", "READY g1")
    harness.send("ann", "MOVE 7")
    harness.command("void", last_game(harness, "ann"))
    harness.disconnect("ann")
    assert [each.name for each in waiting(harness)] == ["dan"]


def last_game(harness: ContestHarness, name: str) -> str:
    return next(game.game_id for game in overview(harness).running if name in game.names)


def test_a_bot_on_probation_is_waited_for_and_is_not_missing_while_it_is_connected() -> None:
    harness = seated("ann", "bob", options=ONE_PLY, probation=1)
    harness.send("ann", "what?")
    harness.send("bob", "READY g1", "MOVE 7")
    assert harness.finished == "incomplete"
    progress = harness.contest.status.progress()
    assert (progress.missing, progress.unplayed) == ((), {"on probation: ann": 1})
    assert progress.waiting == ()


def test_the_reasons_probation_and_kicked_go_first() -> None:
    harness = ContestHarness("ann", "bob", "cid", options=ONE_PLY, probation=1)
    harness.log_in("ann")
    harness.log_in("bob")
    start_game(harness)
    harness.send("ann", "what?")
    cid = Awaited("cid", "never-connected", None, 0)
    assert waiting(harness) == [Awaited("ann", "probation", None, 1), cid]
    harness.disconnect("ann")
    assert waiting(harness) == [Awaited("ann", "probation", 0, 1), cid]
    harness.command("kick", "ann")
    assert waiting(harness) == [Awaited("ann", "kicked", 0, 1), cid]
    harness.command("lift", "ann")
    assert waiting(harness) == [Awaited("ann", "away", 0, 0), cid]


def test_at_the_end_a_bot_on_probation_that_has_gone_is_missing() -> None:
    harness = ContestHarness("ann", "bob", "cid", options=ONE_PLY, probation=1)
    harness.log_in("ann")
    harness.log_in("bob")
    start_game(harness)
    harness.send("ann", "what?")
    harness.disconnect("ann")
    harness.command("kick", "bob")
    assert harness.finished == "incomplete"
    assert harness.contest.status.progress().missing == ("ann", "bob")


def test_the_run_state_and_the_end() -> None:
    harness = ContestHarness("ann", "bob", "cid")
    harness.command("pause")
    assert overview(harness).state == "paused"
    harness.command("resume")
    assert overview(harness).state == "open"
    for name in ("ann", "bob"):
        harness.log_in(name)
    harness.command("drain")
    assert overview(harness).state == "draining"
    assert harness.contest.ended is None
    harness.command("kick", "bob")
    assert (overview(harness).state, where(harness)["bob"]) == ("stopped", "kicked")
    assert harness.contest.ended == "stopped"
