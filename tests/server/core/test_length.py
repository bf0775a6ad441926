"""Orders that make a contest longer or shorter; each survives a restart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core.commands import UNCONFIRMED
from arena_server.core.formats.length import Length
from arena_server.core.journal import JournalError, Past
from arena_server.terms.config import Entrant

from .contest_harness import (
    ONE_PLY,
    ContestHarness,
    play_first,
    play_on,
    restarted,
    rows,
    seated,
)


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
