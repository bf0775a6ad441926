"""A bot whose versions the server starts: the author's token, and one version after the other."""

from __future__ import annotations

from arena_server.core.deal import token_digest
from arena_server.core.events import Replace
from arena_server.core.log_events import BotReplaced, BotValidated, ValidationStarted
from arena_server.terms.config import Entrant

from .contest_harness import ONE_PLY, ContestHarness, offers, play_on, restarted, rows

AUTHOR = token_digest("author")
ANN = Entrant("ann", token_digest("unknown"), author_sha256=AUTHOR.upper())


def contest(**more: object) -> ContestHarness:
    harness = ContestHarness(ANN, "bob", logs=True, **more)  # type: ignore[arg-type]
    harness.log_in("bob")
    return harness


def replace(harness: ContestHarness, number: int) -> None:
    harness.event(Replace("ann", token_digest(f"run-{number}"), f"v{number}"))


def waiting(harness: ContestHarness) -> list[tuple[str, str]]:
    return [(each.name, each.reason) for each in harness.contest.status.held()[1]]


def agents(harness: ContestHarness) -> list[tuple[str | None, ...]]:
    """What each game that was offered says of the programs."""
    return [entry[5] for entry in harness.entries if entry[1] == "offer" and len(entry) > 5]


def log_in(harness: ContestHarness, number: int, more: str = "") -> None:
    harness.log_in("ann", f" token=run-{number}{more}")


def test_without_a_version_nobody_logs_in() -> None:
    harness = contest()
    assert waiting(harness) == [("ann", "no-version")]
    for token in ("author", "another"):
        harness.log_in("ann", f" token={token}")
        assert harness.last_line("ann").startswith("ERROR token")


def test_the_token_of_the_author_opens_the_log_alone() -> None:
    harness = contest()
    for number, token in enumerate(("run-1", "unknown", "author")):
        harness.log_in("ann", f" token={token} role=log", conn=f"reader {number}")
    replace(harness, 1)
    harness.log_in("ann", " token=run-1 role=log", conn="program")
    refused = [name for name in harness.conns if any("ERROR" in line for line in harness.received(name))]
    assert refused == ["reader 0", "reader 1", "program"]


def test_each_version_plays_a_validation_game_first_and_a_restart_is_none() -> None:
    def tried(harness: ContestHarness) -> list[tuple[str, str]]:
        return [(event.bot, event.game) for event in harness.logged(ValidationStarted)]

    harness = contest(options={"plies": 2, "start": "empty"}, validation=True, games_per_pair=4)
    replace(harness, 1)
    log_in(harness, 1)
    assert tried(harness) == [("bob", "v1"), ("ann", "v2")]
    play_on(harness)
    harness.wait(0)
    assert [event.bot for event in harness.logged(BotValidated)] == ["bob", "ann"]
    again = restarted(harness)
    again.log_in("bob")
    replace(again, 1)
    log_in(again, 1)
    assert tried(again) == []
    replace(harness, 2)
    play_on(harness)  # the game that began before
    log_in(harness, 2)
    assert tried(harness)[2:] == [("ann", "v3")]


def test_the_first_version_plays_at_once_under_its_name() -> None:
    harness = contest(options=ONE_PLY)
    replace(harness, 1)
    assert harness.logged(BotReplaced) == [BotReplaced("ann", "v1")]
    assert waiting(harness) == [("ann", "never-connected")]
    log_in(harness, 1, " agent=other/7")
    play_on(harness)
    assert harness.finished == "finished"
    assert agents(harness) == [("v1", None), (None, "v1")] or agents(harness) == [("v1", None)] * 2


def test_a_game_that_runs_ends_with_the_version_that_began_it() -> None:
    harness = contest(games_per_pair=4, options=ONE_PLY)
    replace(harness, 1)
    log_in(harness, 1)
    first = harness.conns["ann"]
    assert offers(harness, "ann") == ["g1"]
    replace(harness, 2)
    assert harness.logged(BotReplaced) == [BotReplaced("ann", "v1")], "a game runs"
    log_in(harness, 2)
    assert harness.last_line("ann").startswith("ERROR token"), "the present version goes on"
    harness.conns["ann"] = first
    replace(harness, 3)  # before it has begun: it is skipped
    play_on(harness)
    assert harness.logged(BotReplaced)[1:] == [BotReplaced("ann", "v3")]
    assert offers(harness, "ann") == ["g1"], "no second game begins with it"
    assert harness.last_line("ann") == "BYE reason=replaced"
    for number, right in ((1, False), (2, False), (3, True)):
        log_in(harness, number)
        assert harness.last_line("ann").startswith("ERROR token") is not right
    play_on(harness)
    assert harness.finished == "finished"
    assert rows(harness)["ann"].games == 4
    assert [set(each) - {None} for each in agents(harness)] == [{"v1"}, {"v3"}, {"v3"}, {"v3"}]
    assert sum(row.faults.get("time", 0) for row in rows(harness).values()) == 0


def test_after_a_restart_the_version_goes_on_with_its_game() -> None:
    harness = contest()
    replace(harness, 1)
    log_in(harness, 1)
    harness.send("ann", "READY g1")
    harness.send("bob", "READY g1")
    again = restarted(harness)
    assert waiting(again) == [("ann", "no-version"), ("bob", "away")]
    replace(again, 1)
    assert again.logged(BotReplaced) == [BotReplaced("ann", "v1")], "at once, though a game runs"
    replace(again, 2)
    assert len(again.logged(BotReplaced)) == 1
    again.log_in("bob")
    log_in(again, 1)
    assert offers(again, "ann") == ["g1"]
    play_on(again)
    assert again.logged(BotReplaced)[1:] == [BotReplaced("ann", "v2")]


def test_a_new_token_is_the_author_s() -> None:
    harness = contest()
    replace(harness, 1)
    log_in(harness, 1)
    assert harness.command("token", "ann", entrant=Entrant("ann", token_digest("fresh"))) is None
    log_in(harness, 1)
    assert not harness.last_line("ann").startswith("ERROR"), "the program's own token stays"
    again = restarted(harness)
    for token, right in (("author", False), ("fresh", True)):
        again.log_in("ann", f" token={token} role=log")
        assert any("ERROR" in line for line in again.received("ann")) is not right
