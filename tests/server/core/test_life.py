"""How contests end: the table of endings, and which ending a contest without a further game has."""

from __future__ import annotations

import pytest

from arena_server.core.events import Hours, Tick, TimeUp
from arena_server.core.life import ENDINGS, FINAL, NOT_BEGUN, OVER, WHOLE, Hold, reason_of
from arena_server.core.log_events import (
    BotAbsent,
    ContestBegun,
    GameStarted,
    NotDrawn,
    ValidationStarted,
    WalkedOver,
)

from .contest_harness import ONE_PLY, ContestHarness, play_on, restarted, rows, seated

BOTS = ("ann", "bob", "cid", "dan")
#: Two owners of two bots, who never meet: two rounds are possible.
OWNED = {"same_owner": "never", "rounds": 3}


def test_the_table_of_endings() -> None:
    assert set(ENDINGS) == {"finished", "incomplete", "short", "stopped", "aborted"}
    assert FINAL == ("finished", "short", "aborted")
    assert WHOLE == ("finished", "short")
    assert set(OVER) == set(ENDINGS) - {"stopped"}
    assert [word for word in ENDINGS if ENDINGS[word].fails] == ["incomplete", "short", "aborted"]
    assert [word for word in (*ENDINGS, "running", None) if reason_of(word)] == ["short"]


def owned(*bots: str) -> ContestHarness:
    owners = dict(zip(bots, "xxyy", strict=True))
    return seated(
        *bots, format="swiss", format_options=OWNED, owners=owners, options=ONE_PLY, ready=False, logs=True
    )


def test_a_contest_of_which_no_round_can_be_drawn_is_short() -> None:
    """It is no finished contest of two rounds: the games of the third are counted, and missing."""
    harness = owned(*BOTS)
    play_on(harness)
    progress = harness.contest.status.progress()
    assert (harness.finished, progress.done, progress.total) == ("short", 8, 12)
    assert progress.unplayed == {"not drawn": 4}
    assert [event.draw for event in harness.logged(NotDrawn)] == [3]
    assert harness.contest.status.overview().state == "short"
    assert harness.command("extend", "1") == "the contest is over: short"


def test_a_server_that_was_killed_before_the_end_comes_to_the_same() -> None:
    harness = owned(*BOTS)
    play_on(harness)
    again = restarted(harness)
    progress = again.contest.status.progress()
    assert (again.finished, progress.done, progress.total) == ("short", 8, 12)


def test_a_final_that_both_have_left_is_not_played() -> None:
    """No one has won: a contest whose final is missing is not finished."""
    harness = seated(
        "ann", "bob", format="knockout", options=ONE_PLY, ready=False, games_per_pair=2, logs=True
    )
    for order in (("pause",), ("kick", "ann"), ("kick", "bob"), ("resume",)):
        assert harness.command(*order) is None
    assert harness.finished == "incomplete"
    assert harness.logged(WalkedOver)[0].absent == ("ann", "bob")
    for each in (harness, restarted(harness)):
        progress = each.contest.status.progress()
        assert (each.finished, progress.done, progress.total) == ("incomplete", 0, 2)
        assert progress.unplayed == {"removed: ann and bob": 2}
        assert [row.score for row in rows(each).values()] == [0, 0]


def test_games_are_counted_by_cause_in_any_order_of_seats() -> None:
    harness = seated("ann", "bob", "cid", "dan", games_per_pair=2, ready=False)
    missing = {"cid": "removed", "bob": "absent", "ann": "absent"}
    assert harness.contest.status.progress().unplayed == {}
    counted = harness.contest._games.fixtures.unplayed(missing)
    assert sorted(counted) == [
        "absent: ann",
        "absent: ann and bob",
        "absent: ann, removed: cid",
        "absent: bob",
        "absent: bob, removed: cid",
        "removed: cid",
    ]


def test_a_contest_without_a_game_is_not_finished() -> None:
    harness = seated("ann", "bob", format="knockout", options=ONE_PLY, ready=False)
    assert harness.command("kick", "ann") is None
    assert harness.finished == "incomplete"
    assert rows(harness)["bob"].score == 1


@pytest.mark.parametrize(("games", "ended"), [(0, "incomplete"), (1, "finished")])
def test_an_open_contest_is_finished_once_it_has_a_game(games: int, ended: str) -> None:
    harness = seated("ann", "bob", format="ladder", options=ONE_PLY, ready=False)
    for _ in range(games):
        game = harness.contest.status.overview().running[0]
        for name in game.names:
            harness.send(name, f"READY {game.game_id}")
        harness.send(game.names[0], "MOVE 7")
    harness.command("void", harness.contest.status.overview().running[0].game_id)
    harness.event(TimeUp())
    for game in harness.contest.status.overview().running:
        harness.command("void", game.game_id)
    assert harness.finished == ended


@pytest.mark.parametrize("ended", FINAL)
def test_a_contest_that_is_over_is_shown_as_it_ended(ended: str) -> None:
    """A server that is started again journals nothing, refuses all orders, and sends every client away."""
    harness = seated("ann", "bob", options=ONE_PLY, ready=False)
    play_on(harness)
    shown = ContestHarness("ann", "bob", past=harness.durable(), ended=ended, options=ONE_PLY, absent_ms=1)
    for name in ("ann", "bob"):
        shown.log_in(name)
        assert shown.received(name) == ["ARENA 1 insertion-arena/0.1", f"BYE reason={ended}"]
    shown.connect("eye")
    shown.send("eye", "HELLO 1 eye role=spectator")
    assert shown.last_line("eye") == f"BYE reason={ended}"
    shown.wait(60_000)
    assert shown.command("resume") == f"the contest is over: {ended}"
    overview = shown.contest.status.overview()
    assert (overview.state, overview.progress.done) == (ended, 2)
    assert {name: row.games for name, row in rows(shown).items()} == {"ann": 2, "bob": 2}
    assert (shown.entries, shown.records, shown.finished) == ([], {}, None)


FORMATS = ("round-robin", "knockout", "swiss", "groups", "gauntlet", "matches")
NIGHT = 12 * 3_600_000


@pytest.mark.parametrize("form", FORMATS)
def test_no_bot_is_absent_before_the_contest_has_begun(form: str) -> None:
    """With `absent` and no one there a contest was over by walkovers, without a game."""
    harness = ContestHarness(*BOTS, format=form, options=ONE_PLY, absent_ms=8_000, quorum=2, logs=True)
    harness.wait(NIGHT)
    assert (harness.finished, harness.logged(BotAbsent)) == (None, [])
    harness.log_in("ann")
    harness.wait(NIGHT)
    assert (harness.finished, harness.logged(BotAbsent), harness.logged(ContestBegun)) == (None, [], [])
    assert [each.name for each in harness.contest.status.held()[1]] == ["bob", "cid", "dan"]
    for name in BOTS[1:]:
        harness.log_in(name)
    assert harness.logged(ContestBegun) == [ContestBegun(2)]
    play_on(harness)
    assert harness.finished == "finished"
    assert harness.logged(WalkedOver) == []


def test_from_the_beginning_each_has_the_time_of_absent() -> None:
    harness = ContestHarness(*BOTS, format="knockout", options=ONE_PLY, absent_ms=8_000, quorum=2, logs=True)
    harness.wait(NIGHT)
    for name in BOTS[:2]:
        harness.log_in(name)
    harness.wait(7_999)
    assert harness.logged(BotAbsent) == []
    harness.wait(1)
    assert harness.logged(BotAbsent) == [BotAbsent("cid"), BotAbsent("dan")]


def test_no_game_starts_before_the_quorum() -> None:
    harness = ContestHarness(*BOTS, options=ONE_PLY, quorum=4, logs=True)
    for name in BOTS[:3]:
        harness.log_in(name)
    overview = harness.contest.status.overview()
    assert (overview.state, overview.running, harness.contest.status.idle) == ("planned", (), True)
    harness.event(Hours(is_open=False))
    harness.log_in("dan")
    assert (harness.contest.status.overview().state, harness.logged(ContestBegun)) == ("closed", [])
    harness.event(Hours(is_open=True))
    assert harness.logged(ContestBegun) == [ContestBegun(4)]
    assert (harness.contest.status.overview().state, len(harness.contest.status.overview().running)) == (
        "open",
        2,
    )
    play_on(harness)
    again = restarted(harness)
    again.event(Tick())
    assert again.contest.status.overview().state == "finished"


def test_bots_that_are_not_validated_yet_are_the_quorum() -> None:
    """Each needs a game to be paired, and no game began before they were paired."""
    harness = ContestHarness("ann", "bob", options=ONE_PLY, quorum=2, logs=True, validation=True)
    harness.log_in("ann")
    assert harness.contest.status.held()[0][0] == Hold(NOT_BEGUN, here=1, quorum=2)
    harness.log_in("bob")
    assert harness.logged(ContestBegun) == [ContestBegun(2)]
    assert len(harness.logged(ValidationStarted)) == 2
    play_on(harness)
    harness.wait(0)
    assert harness.logged(GameStarted) == [GameStarted("g1", ("ann", "bob"))]


def test_one_that_was_paused_says_so_before_it_has_begun() -> None:
    harness = ContestHarness(*BOTS, options=ONE_PLY, quorum=4)
    assert harness.command("pause") is None
    assert harness.contest.status.overview().state == "paused"


def test_a_contest_whose_time_is_up_before_it_has_begun_is_incomplete() -> None:
    harness = ContestHarness(*BOTS, options=ONE_PLY, quorum=2)
    harness.event(TimeUp())
    assert harness.finished == "incomplete"
