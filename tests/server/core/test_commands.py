"""Commands of the organiser: each that is carried out is journaled, each that is refused has its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.slices import all_of

from arena_server.core.deal import deal_seed
from arena_server.core.facts import Order
from arena_server.core.journal import JournalError, Past
from arena_server.core.life import RunState
from arena_server.core.log_events import CommandDone
from arena_server.core.orders import ORDERS, VERBS
from arena_server.host.waiting import barred_line

from .contest_harness import (
    ONE_PLY,
    ContestHarness,
    check_sums,
    play_on,
    play_rematches,
    restarted,
    rows,
    seated,
)


def last_offer(harness: ContestHarness, name: str) -> str:
    """The game that `name` was last_offer last."""
    return [line.split()[1] for line in harness.received(name) if line.startswith("GAME")][-1]


def play_pending(harness: ContestHarness, *names: str) -> None:
    """Let these bots play until none has anything to answer."""
    busy = True
    while busy:
        busy = False
        for name in names:
            verb = harness.last_line(name).split()[0]
            if verb in ("NEXT", "TURN"):
                harness.send(name, "MOVE 7" if verb == "TURN" else f"READY {last_offer(harness, name)}")
                busy = busy or harness.last_line(name).split()[0] != verb or verb == "TURN"


def test_a_paused_contest_begins_no_game_until_it_is_resumed() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    assert harness.command("pause") is None
    assert harness.last_entries == [(0, "run-state", "", "paused")]
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann").startswith("OVER g1")
    assert harness.command("resume") is None
    assert harness.last_entries[0] == (0, "run-state", "", "open")
    assert harness.last_line("ann").startswith("NEXT")


def test_all_games_that_can_start_do_so_at_resume() -> None:
    harness = ContestHarness("ann", "bob", "cid", "dan")
    harness.command("pause")
    for name in ("ann", "bob", "cid", "dan"):
        harness.log_in(name)
    harness.command("resume")
    assert harness.contest.status.progress().running == 2


def test_a_pause_outlives_the_server_and_a_drain_does_not() -> None:
    for verb, last in [("pause", "WELCOME"), ("drain", "NEXT")]:
        harness = ContestHarness("ann", "bob")
        harness.command(verb)
        again = restarted(harness)
        again.log_in("bob")
        again.log_in("ann")
        assert again.last_line("ann").startswith(last)


def test_a_drained_contest_stops_after_the_games_that_run() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    assert harness.command("drain") is None
    assert harness.finished is None
    harness.send("ann", "MOVE 7")
    assert harness.finished == "stopped"
    assert harness.last_line("ann") == "BYE reason=stopped"
    assert harness.contest.status.progress().void == 0
    again = restarted(harness)
    again.log_in("ann")
    again.log_in("bob")
    assert again.received("ann")[2].startswith("GAME g2")


def test_a_kicked_bot_is_paired_no_more_and_its_game_is_void_until_lift() -> None:
    harness = seated("ann", "bob", "cid", options=ONE_PLY, ready=False)
    assert harness.command("kick", "ann") is None
    assert (0, "conduct", "ann", 0, True, 0) in harness.last_entries
    assert harness.last_line("ann") == "BYE reason=kicked"
    assert harness.is_closed("ann")
    (record,) = harness.records.values()
    assert record.end == "void"
    assert record.faults[0].line == b"organiser"
    check_sums(harness)
    harness.log_in("ann", conn="again")
    harness.wait(1000)
    assert harness.last_line("again").startswith("WELCOME")
    status = harness.contest.status
    barred = status.barred("ann")
    assert barred is not None
    assert barred_line(barred) == (
        "no version of ann plays: kicked by the organiser, until `arena admin lift ann`; "
        "ask the organiser for this order"
    )
    assert [status.barred(name) for name in ("bob", "zoe")] == [None, None]
    assert harness.command("lift", "ann") is None
    assert status.barred("ann") is None
    play_pending(harness, "again", "bob", "cid")
    assert harness.finished == "finished"
    assert rows(harness)["ann"].games == 4
    check_sums(harness)


def test_a_kick_outlives_the_server_and_so_does_its_lift() -> None:
    harness = seated("ann", "bob", options=ONE_PLY, ready=False)
    harness.command("kick", "ann")
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
    assert [again.last_line(name).split()[0] for name in ("ann", "bob")] == ["BYE", "BYE"]
    assert (again.finished, again.contest.status.progress().done) == ("incomplete", 0)
    harness = ContestHarness("ann", "bob", "cid", options=ONE_PLY)
    for verb in ("kick", "lift"):
        harness.command(verb, "ann")
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
    assert again.last_line("ann").startswith("NEXT")


def test_an_absent_bot_may_be_kicked() -> None:
    harness = ContestHarness("ann", "bob")
    assert harness.command("kick", "ann") is None
    assert harness.finished == "incomplete"  # no opponent is left
    assert harness.contest.status.progress().done == 0


def test_an_absent_bot_may_be_lifted() -> None:
    harness = ContestHarness("ann", "bob", "cid")
    assert harness.command("kick", "ann") is None
    assert harness.command("lift", "ann") is None
    harness.log_in("ann")
    harness.log_in("bob")
    assert harness.last_line("ann").startswith("NEXT")


def test_a_bot_that_waits_for_its_result_may_be_kicked_and_keeps_it() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    harness.stores = False
    harness.send("ann", "MOVE 7")
    harness.command("kick", "ann")
    harness.stored("g1")
    assert rows(harness)["ann"].games == 1


def test_probation_is_lifted_and_stays_lifted() -> None:
    harness = ContestHarness("ann", "bob", "cid", options=ONE_PLY, probation=1)
    harness.log_in("ann")
    harness.log_in("bob")
    for name in ("ann", "bob"):
        harness.send(name, f"READY {last_offer(harness, name)}")
    harness.send("ann", "what?")
    assert rows(harness)["ann"].faults == {"malformed": 1}
    harness.log_in("cid")
    play_pending(harness, "bob", "cid")
    assert not any(line.startswith("GAME") for line in harness.received("ann")[6:])
    assert harness.finished == "incomplete"
    harness = ContestHarness("ann", "bob", "cid", options=ONE_PLY, probation=1)
    harness.log_in("ann")
    harness.log_in("bob")
    for name in ("ann", "bob"):
        harness.send(name, f"READY {last_offer(harness, name)}")
    harness.send("ann", "what?")
    barred = harness.contest.status.barred("ann")
    assert barred is not None
    assert (barred.reason, barred.faulty_games) == ("probation", 1)
    harness.command("lift", "ann")
    assert harness.last_entries[0] == (0, "conduct", "ann", 1, False, 0)
    again = restarted(harness)
    again.log_in("ann")
    again.log_in("cid")
    assert again.last_line("ann").startswith("NEXT")


def test_without_a_limit_of_faulty_games_a_lifted_bot_is_paired_after_a_restart_too() -> None:
    """Its faulty games are counted again, up to as many as the lift has forgiven."""
    harness = seated("ann", "bob", options=ONE_PLY, probation=0)
    harness.send("ann", "what?")
    harness.stored("g1")
    harness.command("lift", "ann")
    assert harness.last_entries[0] == (0, "conduct", "ann", 1, False, 0)
    again = restarted(harness)
    assert {bot.name: bot.where for bot in again.contest.status.overview().bots} == {
        "ann": "playing",
        "bob": "playing",
    }


@all_of("verb", sorted(set(VERBS) - {"archive"}))
def test_a_finished_contest_takes_no_commands(verb: str) -> None:
    harness = seated("ann", "bob", options=ONE_PLY, probation=1)
    harness.send("ann", "what?")
    harness.send("bob", "READY g1", "MOVE 7")
    assert harness.finished == "incomplete"
    target = "ann" if verb in ("kick", "lift") else "g1"
    assert harness.command(verb, target) == "the contest is over: incomplete"
    assert harness.last_entries == []


def test_a_void_game_is_not_played_again_unless_the_organiser_wants_it() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    assert harness.command("void", "g1") is None
    assert harness.records["g1"].end == "void"
    assert harness.last_line("ann").startswith("NEXT")  # of g2
    harness.send("ann", "READY g2")
    harness.send("bob", "READY g2", "MOVE 7")
    assert harness.finished == "incomplete"
    progress = harness.contest.status.progress()
    assert (progress.done, progress.left) == (1, 1)
    assert replace(progress, total=None).left is None  # an open contest
    check_sums(harness)


@pytest.mark.parametrize(("deals", "deal"), [("fresh", 3), ("paired", 1)])
def test_a_void_game_is_played_again_with_the_same_seats(deals: str, deal: int) -> None:
    """On a deal of its own, unless the deal has to be played from every seat."""
    harness = seated("ann", "bob", options=ONE_PLY, games_per_pair=2, deals=deals)
    assert harness.command("void", "g1") is None
    assert harness.command("replay", "g1") is None
    assert harness.last_entries == [(0, "repeat", 3, 1, deal)]
    assert harness.command("replay", "g1") is not None
    for game in (2, 3):
        for name in ("ann", "bob", "ann"):
            harness.send(name, f"READY g{game}")
        for name in ("ann", "bob"):
            harness.send(name, "MOVE 7")
    assert harness.finished == "finished"
    first, last = harness.records["g1"], harness.records["g3"]
    assert first.names == last.names
    assert (first.seed == last.seed) is (deals == "paired")
    assert last.seed == deal_seed(harness.config.seed, ("ann", "bob"), deal)
    assert first.commit != last.commit
    assert harness.contest.status.progress().done == 2
    check_sums(harness)


def test_no_game_of_a_paired_deal_can_be_played_again_once_its_over_has_opened_it() -> None:
    harness = ContestHarness("ann", "bob", "eve", options=ONE_PLY, deals="paired")
    for name in ("ann", "bob"):
        harness.log_in(name)
    void = last_offer(harness, "ann")
    assert harness.command("replay", void) is None
    play_on(harness)
    overs = [line.split() for line in harness.received("ann") if line.startswith("OVER")]
    assert overs[0][1] == void
    assert [any(word.startswith("nonce=") for word in words) for words in overs] == [False, False, True]
    for _, game, *_ in overs:
        assert harness.command("replay", game) == (
            f"no game '{game}' is running or void; the result of any other stands"
        )


def test_a_running_game_is_broken_off_and_played_again_even_after_a_restart() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    assert harness.command("replay", "g1") is None
    again = restarted(harness)
    play_rematches(again)
    assert again.contest.status.progress().done == 2
    assert again.contest.status.progress().void == 1


def test_a_game_voided_for_good_stays_so_after_a_restart_and_can_be_replayed_then() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    harness.command("void", "g1")
    again = restarted(harness)
    assert again.command("replay", "g1") is None
    assert (0, "repeat", 3, 1, 3) in again.last_entries
    assert restarted(again).command("replay", "g1") is not None


def test_a_game_that_was_played_again_can_be_broken_off_and_played_again() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    harness.command("replay", "g1")
    for name in ("ann", "bob", "ann"):
        harness.send(name, "READY g2")
    harness.send("bob", "MOVE 7")
    harness.command("replay", "g3")
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
        again.send(name, "READY g4")
    again.send("ann", "READY g4", "MOVE 7")
    assert again.finished == "finished"


@all_of(
    ("verb", "target", "problem"),
    [
        ("dance", "", f"the commands are {', '.join(VERBS)}, not 'dance'"),
        ("kick", "eve", "no bot of this contest is called 'eve'"),
        ("lift", "", "no bot of this contest is called ''"),
        ("void", "g2", "no game 'g2' is running"),
        ("void", "x", "no game 'x' is running"),
        ("replay", "g2", "no game 'g2' is running or void; the result of any other stands"),
    ],
)
def test_a_command_that_cannot_be_carried_out(verb: str, target: str, problem: str) -> None:
    harness = seated("ann", "bob")
    assert harness.command(verb, target) == problem
    assert harness.last_entries == []


@all_of("verb", [verb for verb, kind in ORDERS.items() if not kind.about])
def test_an_order_that_is_about_nothing_is_refused_with_a_target(verb: str) -> None:
    harness = seated("ann", "bob")
    if verb == "archive":
        harness.command("abort")
    assert harness.command(verb, "x") == f"{verb}: expected no target, got 'x'"
    assert [entry for entry in harness.last_entries if entry[1] == "order"] == []


def test_a_game_that_waits_for_its_result_cannot_be_broken_off() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    harness.stores = False
    harness.send("ann", "MOVE 7")
    assert harness.command("void", "g1") == "no game 'g1' is running"


def test_the_words_of_the_run_state_and_of_the_commands() -> None:
    assert [str(state) for state in RunState] == ["open", "paused", "draining", "aborted"]
    assert list(VERBS) == [
        *("pause", "resume", "drain", "abort", "start", "archive", "extend", "shorten"),
        *("pair", "forbid", "allow", "kick", "lift"),
        *("validate", "void", "void-worker"),
        *("replay", "add", "remove", "token", "invite", "registration"),
        *("approve", "reject", "forfeit", "correct", "disqualify", "penalty", "undo", "register"),
    ]


def test_who_ordered_what_when_and_why_is_kept() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    assert harness.command("pause", who="jan", at=1_800_000_000_000, reason="lunch") is None
    assert harness.last_orders == [(1, "pause", "", "jan", 1_800_000_000_000, "lunch")]
    assert harness.logged(CommandDone) == [CommandDone("pause", "", "jan", "lunch")]
    assert harness.command("void", "g9") is not None
    assert harness.last_orders == []  # it was not carried out
    again = restarted(harness)
    assert again.command("resume", who="eve", at=7) is None
    assert again.last_orders == [(2, "resume", "", "eve", 7, "")]
    assert list(restarted(again).contest.status.overview().orders) == [
        Order(1, "pause", "", "jan", 1_800_000_000_000, "lunch"),
        Order(2, "resume", "", "eve", 7, ""),
    ]


def test_orders_of_which_one_is_missing_are_a_damaged_journal() -> None:
    past = Past(entries=((0, "order", 2, "pause", "", "jan", 7, ""),))
    with pytest.raises(JournalError, match=r"^order 2 follows order 0$"):
        ContestHarness("ann", "bob", past=past)
