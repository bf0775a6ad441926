"""The life of a contest: hours, end, freeze, abort; each survives a restart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.cut import shown_until
from arena_server.core.events import DrawDone, Freeze, Hours, Tick, TimeUp
from arena_server.core.facts import Drawn
from arena_server.core.log_events import BotAbsent
from arena_server.terms.config import Entrant

from .contest_harness import (
    MS,
    ONE_PLY,
    ContestHarness,
    check_sums,
    play_first,
    play_on,
    restarted,
    rows,
    seated,
)

EYE = Entrant("eye", plays=False)
CLOSED, OPEN = Hours(is_open=False, until=1_000), Hours(is_open=True, until=2_000)


def state(harness: ContestHarness) -> str:
    return harness.contest.status.overview().state


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
