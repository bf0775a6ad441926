"""The life of a contest: hours, end, freeze, abort, extensions; each survives a restart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core.commands import UNCONFIRMED
from arena_server.core.cut import shown_until
from arena_server.core.events import DrawDone, Freeze, Hours, Tick, TimeUp
from arena_server.core.facts import Drawn
from arena_server.core.formats.length import Length
from arena_server.core.journal import JournalError, Past
from arena_server.core.log_events import BotAbsent
from arena_server.terms.config import Entrant

from .contest_harness import MS, ONE_PLY, ContestHarness, check_sums, play_on, restarted, rows, seated

EYE = Entrant("eye", plays=False)
CLOSED, OPEN = Hours(is_open=False, until=1_000), Hours(is_open=True, until=2_000)


def state(harness: ContestHarness) -> str:
    return harness.contest.status.overview().state


def play_first(harness: ContestHarness) -> str:
    """Play the first of the games that run; returns its id."""
    game = harness.contest.status.overview().running[0]
    for name in game.names:
        harness.send(name, f"READY {game.game_id}")
    harness.send(game.names[0], "MOVE 7")
    return game.game_id


def test_the_mean_time_of_a_move_is_that_of_all_its_plies_also_after_a_restart() -> None:
    harness = seated("ann", "bob", options={"plies": 3, "start": "empty", "lookahead": 1})
    for name, ms, column in (("ann", 10, "7"), ("bob", 50, "8"), ("ann", 20, "9")):
        harness.wait(ms)
        harness.send(name, f"MOVE {column}")
    for each in (harness, restarted(harness)):
        times = {bot.name: bot.move_ms for bot in each.contest.status.overview().bots}
        assert times == {"ann": 15, "bob": 50}


class TestAbort:
    def test_the_contest_ends_at_once_with_the_table_as_it_is(self) -> None:
        harness = seated("ann", "bob", "cid", options=ONE_PLY)
        first = play_first(harness)
        assert harness.contest.status.progress().done == 1
        assert harness.command("abort", who="jan", reason="no power") is None
        assert harness.finished == "aborted"
        assert harness.last_entries[0] == (0, "run-state", "", "aborted")
        assert harness.last_orders == [(1, "abort", "", "jan", 0, "no power")]
        assert sum(row.games for row in rows(harness).values()) == 2
        assert all(record.end == "void" for name, record in harness.records.items() if name != first)
        assert harness.last_line("ann") == "BYE reason=aborted"
        assert harness.command("resume") == "the contest is over: aborted"
        check_sums(harness)

    def test_after_a_drain_it_ends_the_contest_for_good(self) -> None:
        """The drained contest has stopped, and another server would go on with it."""
        harness = seated("ann", "bob", options=ONE_PLY)
        assert harness.command("drain") is None
        play_on(harness)
        assert harness.finished == "stopped"
        assert harness.command("abort") is None
        assert harness.finished == "aborted"
        assert harness.contest.status.overview().state == "aborted"
        assert harness.command("resume") == "the contest is over: aborted"
        assert restarted(harness).finished == "aborted"

    def test_while_its_games_are_stored_no_order_undoes_it(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        harness.stores = False
        assert harness.command("abort") is None
        assert harness.command("resume") == "the contest is over: aborted"
        harness.stop()
        harness.stored("g1")
        assert harness.finished == "aborted"

    def test_a_server_that_was_killed_ends_it(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        harness.stores = False
        assert harness.command("abort") is None
        again = restarted(harness)
        assert again.finished == "aborted"
        assert again.contest.status.progress().done == 0


class TestExtend:
    def test_each_pair_plays_more(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        assert harness.command("extend", "2") is None
        assert harness.last_entries == [(0, "extended", 1, 3, 2), (0, "games", "", 4)]
        again = restarted(harness)
        assert again.command("extend", "2") is None
        assert again.last_entries == [(0, "extended", 2, 5, 2), (0, "games", "", 6)]
        again = restarted(again)
        for name in ("ann", "bob"):
            again.log_in(name)
        play_on(again)
        assert again.finished == "finished"
        assert {row.games for row in rows(again).values()} == {6}
        assert sorted(again.records) == ["g1", "g2", "g3", "g4", "g5", "g6"]
        deals = {entry[3] for entry in (*harness.entries, *again.entries) if entry[1] == "offer"}
        assert deals == {1, 2, 3, 4, 5, 6}, "no deal is played twice"

    def test_a_late_entrant_plays_as_many_as_all_others(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        digest = "ab" * 32
        for entrant, games in (("cid", "2"), ("dan", "4")):
            assert harness.command("add", entrant, entrant=Entrant(entrant, digest)) is None
            assert harness.command("extend", games) is None
        assert harness.contest.status.progress().total == 6 * 8
        assert harness.command("remove", "dan") is None
        assert harness.contest.status.progress().total == 3 * 8
        assert restarted(harness).contest.status.progress().total == 3 * 8

    def test_a_ladder_has_more_games_and_an_open_one_has_no_number(self) -> None:
        ladder: dict[str, Any] = {"format": "ladder", "options": ONE_PLY}
        harness = seated("ann", "bob", format_options={"games": 1}, **ladder)
        assert harness.command("extend", "1") is None
        play_on(harness)
        assert (harness.finished, harness.contest.status.progress().done) == ("finished", 2)
        assert seated("ann", "bob", **ladder).command("extend", "1") == (
            "contest.games: this ladder is open, and has no number of games to extend"
        )

    @all_of(
        ("games", "config", "problem"),
        [
            ("3", {}, "expected a multiple of 2 games, got 3"),
            ("0", {}, "extend: expected a number of games up to 1,000,000, got '0'"),
            ("two", {}, "extend: expected a number of games up to 1,000,000, got 'two'"),
            ("2", {"format": "knockout"}, 'contest.format: "knockout" cannot be extended or shortened'),
            (
                "1000000",
                {},
                "expected to extend by at most 999,998 games for each group, "
                "as a contest has at most 1,000,000 games, got 1,000,000",
            ),
            ("22", {}, "extend by 22: more than 10 times the 2 games for each group of now; confirm it"),
        ],
    )
    def test_what_is_refused(self, games: str, config: dict[str, Any], problem: str) -> None:
        harness = seated("ann", "bob", **config)
        assert harness.command("extend", games) == problem
        assert harness.last_entries == []

    def test_what_is_asked_once_more(self) -> None:
        harness = seated("ann", "bob")
        assert harness.command("extend", "20") is None
        problem = harness.command("extend", "222")
        assert problem is not None
        assert problem.endswith(UNCONFIRMED)
        assert harness.command("extend", "222", confirmed=True) is None
        assert harness.contest.status.progress().total == 244

    def test_a_damaged_journal(self) -> None:
        past = Past(entries=((0, "extended", 1, 9, 2),))
        with pytest.raises(JournalError, match=r"^extended at g9, which is not the next number$"):
            ContestHarness("ann", "bob", past=past)


class TestShorten:
    def test_it_takes_back_an_extension_and_the_next_one_has_new_numbers_and_the_same_deals(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        assert harness.command("extend", "4") is None
        assert harness.command("shorten", "2") is None
        assert harness.last_entries == [(0, "shortened", 1, 7, 2), (0, "games", "", 4)]
        again = restarted(harness)
        assert again.contest.status.overview().length == Length(4, 2, 1_000_000, "games for each group", 2)
        assert again.command("extend", "2") is None
        assert again.last_entries == [(0, "extended", 2, 7, 2), (0, "games", "", 6)]
        again = restarted(again)
        for name in ("ann", "bob"):
            again.log_in(name)
        play_on(again)
        assert again.finished == "finished"
        assert sorted(again.records) == ["g1", "g2", "g3", "g4", "g7", "g8"]
        deals = [entry[3] for entry in (*harness.entries, *again.entries) if entry[1] == "offer"]
        assert sorted(set(deals)) == [1, 2, 3, 4, 5, 6]

    def test_a_contest_ends_once_nothing_is_left(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY, games_per_pair=4)
        play_first(harness)
        assert harness.command("shorten", "2") is None, "the second game runs"
        play_first(harness)
        assert (harness.finished, harness.contest.status.progress().total) == ("finished", 2)
        assert harness.contest.status.overview().length is None

    def test_the_length_stays_while_a_round_is_being_drawn(self) -> None:
        harness = ContestHarness("ann", "bob", "cid", "dan", format="swiss", format_options={"rounds": 2})
        assert harness.contest.status.overview().length == Length(
            2, 1, 3, "rounds", why="no two bots meet twice"
        )
        harness.contest._games.fixtures.drawing = True
        problem = "a round is being drawn: change the number of games once it is"
        assert [harness.command(verb, "1") for verb in ("shorten", "extend")] == [problem, problem]

    @all_of(
        ("games", "config", "problem"),
        [
            ("3", {}, "expected a multiple of 2 games, got 3"),
            ("0", {}, "shorten: expected a number of games up to 1,000,000, got '0'"),
            (
                "2",
                {},
                "expected to shorten by at most 0 games for each group, as 2 have begun or are the least, "
                "got 2",
            ),
            ("2", {"format": "knockout"}, 'contest.format: "knockout" cannot be extended or shortened'),
        ],
    )
    def test_what_is_refused(self, games: str, config: dict[str, Any], problem: str) -> None:
        harness = seated("ann", "bob", **config)
        assert harness.command("shorten", games) == problem
        assert harness.last_entries == []

    def test_a_damaged_journal(self) -> None:
        past = Past(entries=((0, "shortened", 1, 9, 2),))
        with pytest.raises(JournalError, match=r"^shortened at g9, which is not the next number$"):
            ContestHarness("ann", "bob", past=past)

    def test_an_extension_beyond_the_bound_of_today_is_taken_up(self) -> None:
        past = Past(entries=((0, "extended", 1, 3, 1_000_000),))
        assert ContestHarness("ann", "bob", past=past).contest.status.progress().total == 1_000_002


#: A contest of each format whose length changes, and its order of N games or rounds.
LENGTHS: dict[str, dict[str, Any]] = {
    "round-robin": {"games_per_pair": 4},
    "paired": {"games_per_pair": 4, "deals": "paired"},
    "gauntlet": {"format": "gauntlet", "format_options": {"challengers": 1}, "games_per_pair": 4},
    "ladder": {"format": "ladder", "format_options": {"games": 6}},
    "ladder of paired deals": {"format": "ladder", "format_options": {"games": 6}, "deals": "paired"},
}


@pytest.mark.parametrize("name", LENGTHS)
@settings(max_examples=40, deadline=None)
@given(
    orders=st.lists(st.tuples(st.sampled_from(["extend", "shorten", "play", "restart"]), st.integers(1, 5)))
)
def test_a_contest_is_as_long_as_the_orders_make_it(name: str, orders: list[tuple[str, int]]) -> None:
    """Whatever is extended, shortened, played and killed: one length, also after a restart."""
    harness = seated("ann", "bob", "cid", options=ONE_PLY, **LENGTHS[name])

    def length() -> Length | None:
        return harness.contest.status.overview().length

    def restart() -> None:
        nonlocal harness
        expected = length()
        harness = restarted(harness)
        assert length() == expected
        for bot in ("ann", "bob", "cid"):
            harness.log_in(bot)

    for verb, number in orders:
        before = length()
        if before is None:
            break
        if verb == "restart":
            restart()
        elif verb == "play":
            for _ in range(number):
                if harness.contest.status.overview().running:
                    play_first(harness)
        else:
            problem = harness.command(verb, str(number))
            to = before.now + (number if verb == "extend" else -number)
            allowed = number % before.step == 0 and to >= before.least
            assert (problem is None) == allowed
            after = length()
            assert after is None or after.now == (to if allowed else before.now)
    if harness.finished is None:
        last = length()
        play_on(harness)
        assert last is not None
        groups = {"gauntlet": 2}.get(name, 3) if "ladder" not in name else 1
        assert harness.finished == "finished"
        progress = harness.contest.status.progress()
        assert progress.done == progress.total == last.now * groups


class TestHours:
    def test_outside_of_them_no_game_starts_and_those_that_run_go_on(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        harness.event(CLOSED)
        overview = harness.contest.status.overview()
        assert (overview.state, overview.until) == ("closed", 1_000)
        harness.send("ann", "MOVE 7")
        assert harness.contest.status.progress().done == 1
        assert harness.contest.status.overview().running == ()
        assert not harness.contest.status.idle
        harness.event(OPEN)
        assert (state(harness), harness.contest.status.overview().until) == ("open", 2_000)
        play_on(harness)
        assert harness.finished == "finished"

    def test_a_bot_may_sleep_as_long_as_the_contest(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY, absent_ms=1000)
        harness.send("ann", "MOVE 7")
        harness.disconnect("ann")
        harness.event(CLOSED)
        harness.send("bob", "QUIT")
        harness.wait(5_000)
        assert harness.logged(BotAbsent) == []
        assert harness.finished is None
        harness.event(OPEN)
        harness.wait(999)
        assert harness.finished is None
        harness.log_in("ann")
        harness.log_in("bob")
        play_on(harness)
        assert harness.finished == "finished"

    def test_who_stays_away_in_the_morning_is_absent(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY, absent_ms=1000)
        harness.event(CLOSED)
        harness.send("ann", "MOVE 7")
        harness.disconnect("ann")
        harness.event(OPEN)
        harness.wait(1000)
        assert harness.logged(BotAbsent) == [BotAbsent("ann")]
        assert harness.finished == "incomplete"

    def test_a_pause_is_a_night_too(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY, absent_ms=1000)
        harness.send("ann", "MOVE 7")
        assert harness.command("pause") is None
        harness.disconnect("ann")
        harness.wait(5_000)
        again = restarted(harness, 5_000)
        for each in (harness, again):
            assert each.finished is None
            assert each.logged(BotAbsent) == []
        assert state(again) == "paused"
        again.event(CLOSED)
        assert state(again) == "paused", "the organiser's word goes first"

    def test_a_bot_that_is_kicked_in_a_pause_can_be_lifted(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        assert harness.command("pause") is None
        harness.send("ann", "MOVE 7")
        assert harness.command("kick", "bob") is None
        assert harness.finished is None, "it is the last opponent, and the contest is not over yet"
        assert harness.command("lift", "bob") is None
        assert harness.command("resume") is None
        harness.log_in("bob")
        play_on(harness)
        assert harness.finished == "finished"


class TestEnd:
    def test_a_ladder_is_finished_when_its_time_is_up(self) -> None:
        harness = seated("ann", "bob", format="ladder", options=ONE_PLY)
        harness.event(TimeUp())
        assert harness.finished is None
        harness.send("ann", "MOVE 7")
        assert harness.finished == "finished"
        assert harness.contest.status.progress().done == 1

    def test_other_contests_may_be_incomplete_and_go_on_when_they_have_more_time(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        harness.send("ann", "MOVE 7")
        for name in ("ann", "bob"):
            harness.send(name, "READY g2")
        harness.event(TimeUp())
        harness.send("bob", "MOVE 7")
        assert harness.finished == "finished", "all had been played"
        harness = seated("ann", "bob", "cid", options=ONE_PLY)
        harness.event(TimeUp())
        play_first(harness)
        assert harness.finished == "incomplete"
        again = restarted(harness)
        assert again.finished is None
        again.event(TimeUp())
        again.event(Tick())
        assert again.finished == "incomplete"

    def test_a_draw_that_comes_after_the_end_changes_nothing(self) -> None:
        harness = seated("ann", "bob", format="knockout", options=ONE_PLY)
        harness.event(TimeUp())
        play_first(harness)
        before = harness.contest.status.progress()
        assert (before.ended, before.done, before.total) == ("incomplete", 1, 2)
        assert harness.event(DrawDone(Drawn(2, 3, 2, (("ann", "bob"),)))) == []
        assert harness.contest.status.progress() == before


class TestFreeze:
    def test_spectators_see_what_was_before_and_nothing_since(self) -> None:
        harness = ContestHarness("ann", "bob", EYE, options=ONE_PLY, spectator_delay_ms=1000)
        for name in ("ann", "bob", "eye"):
            harness.log_in(name)
        harness.send("eye", "WATCH *")
        for name in ("ann", "bob"):
            harness.send(name, "READY g1")
        harness.wait(500)
        harness.event(Freeze())
        harness.wait(1)
        harness.send("ann", "MOVE 7")
        assert harness.received("eye")[-1].startswith("WELCOME")
        harness.wait(10_000)
        assert any(line.startswith("START g1") for line in harness.received("eye"))
        harness.connect("late")
        harness.send("late", "HELLO 1 late role=spectator", "WATCH *")
        for name in ("ann", "bob"):
            harness.send(name, "READY g2")
        harness.send("bob", "MOVE 7")
        harness.wait(10_000)
        for name in ("eye", "late"):
            assert not any(line.startswith(("PLAYED", "OVER")) for line in harness.received(name))
            assert not any("g2" in line for line in harness.received(name))
        assert harness.finished == "finished", "nothing is kept for spectators"
        assert any(line.startswith("OVER g2") for line in harness.received("ann"))
        assert harness.contest.status.progress().done == 2

    def test_after_a_restart_nothing_is_shown(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        again = restarted(harness)
        again.event(Freeze(ago=1 * MS))
        again.connect("eye")
        again.send("eye", "HELLO 1 eye role=spectator", "WATCH *")
        again.wait(10_000)
        assert again.last_line("eye").startswith("WELCOME")

    @given(st.integers(0, 99), st.integers(0, 9), st.none() | st.integers(0, 99))
    def test_the_rule(self, now: int, delay: int, frozen_at: int | None) -> None:
        shown = [at for at in range(now + 1) if at <= shown_until(now, delay, frozen_at)]
        assert shown == [at for at in range(now - delay + 1) if frozen_at is None or at <= frozen_at]
