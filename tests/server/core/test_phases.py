"""The phases of a contest: what leads from one to another, which orders each has, what holds the games."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_server.core.deal import token_digest
from arena_server.core.events import Hours, Stop, TimeUp
from arena_server.core.facts import Archived, Begun, RunStateSet
from arena_server.core.journal import Past, entry_of
from arena_server.core.life import (
    ARCHIVE,
    BEGIN,
    END,
    ENDINGS,
    HOLDS,
    MOVES,
    SUSPEND,
    ContestPhase,
    Hold,
    Life,
    RunState,
)
from arena_server.core.orders import ORDERS, REFUSED, VERBS, refusal
from arena_server.terms.config import Entrant

from .contest_harness import ONE_PLY, ContestHarness, play_on, seated

PAGE = (Path(__file__).parents[3] / "docs" / "operating.md").read_text(encoding="utf-8")


def planned() -> ContestHarness:
    return ContestHarness("ann", "bob", options=ONE_PLY, games_per_pair=4, quorum=2)


def playing() -> ContestHarness:
    return seated("ann", "bob", options=ONE_PLY, games_per_pair=4, quorum=2)


def suspended() -> ContestHarness:
    harness = playing()
    assert harness.command("void", "g1") is None
    assert harness.command("drain") is None
    play_on(harness)
    assert harness.finished == "stopped"
    return harness


def over() -> ContestHarness:
    harness = playing()
    assert harness.command("abort") is None
    assert harness.finished == "aborted"
    return harness


def archived() -> ContestHarness:
    harness = over()
    assert harness.command("archive") is None
    return harness


SCENES: dict[ContestPhase, Callable[[], ContestHarness]] = {
    ContestPhase.PLANNED: planned,
    ContestPhase.PLAYING: playing,
    ContestPhase.SUSPENDED: suspended,
    ContestPhase.OVER: over,
    ContestPhase.ARCHIVED: archived,
}
TARGETS = {
    "extend": "2", "shorten": "2", "void": "g1", "replay": "g1", "void-worker": "w", "invite": "x",
    "forfeit": "g1 ann", "correct": "g1 1-0", "disqualify": "ann lost", "penalty": "ann 1",
    "registration": "2", "pair": "ann:bob", "forbid": "ann:bob", "allow": "ann:bob",
    **dict.fromkeys(("kick", "lift", "validate", "remove", "token"), "ann"),
    **dict.fromkeys(("add", "register", "approve", "reject"), "eve"),
}  # fmt: skip
#: Orders that exist, and cannot be carried out in these contests.
IMPOSSIBLE: dict[str, str | tuple[str, ...]] = {
    "void-worker": "no worker plays games of this contest: it has no --on",
    "register": "this link",
    **{verb: f"{verb}: expected a Swiss" for verb in ("pair", "forbid", "allow")},
    **dict.fromkeys(("approve", "reject"), "no bot called 'eve' waits for approval"),
    "forfeit": "forfeit: expected a reason",
    "correct": "correct: expected a reason",
    "disqualify": "disqualify: expected a reason",
    "penalty": "penalty: expected a reason",
    "undo": ("no order stands that could be undone", "the contest has stopped"),
}


NO_GAME = "no game 'g1' is running"


def give(harness: ContestHarness, verb: str) -> str | None:
    target = TARGETS.get(verb, "")
    needs_token = verb in ("add", "register", "token")
    entrant = Entrant(target, token_digest("t" * 20)) if needs_token else None
    code = "c" * 64 if verb in ("invite", "registration", "register") else None
    return harness.command(verb, target, entrant=entrant, code=code, until=1_000)


@pytest.mark.parametrize("phase", ContestPhase)
@all_of("verb", VERBS)
def test_an_order_exists_in_its_phases_and_is_refused_with_one_line_in_every_other(
    verb: str, phase: ContestPhase
) -> None:
    harness = SCENES[phase]()
    assert harness.contest.status.overview().phase is phase
    problem, target = give(harness, verb), TARGETS.get(verb)
    if phase not in ORDERS[verb].phases:
        own = ORDERS[verb].refused.format(phase)
        assert problem == (own or REFUSED[phase].format("aborted"))
        assert (harness.last_entries, harness.last_orders) == ([], [])
    elif problem is not None:
        assert problem.startswith(
            NO_GAME if phase is ContestPhase.PLANNED and target == "g1" else IMPOSSIBLE[verb]
        )
        assert harness.last_orders == []
    elif phase is ContestPhase.ARCHIVED:  # its answer was lost, and it is given again
        assert (verb, harness.last_entries, harness.last_orders) == ("archive", [], [])
    else:
        assert [order[1] for order in harness.last_orders] == [verb]


def test_the_table_of_orders_and_phases() -> None:
    absent = {
        phase: {verb for verb, kind in ORDERS.items() if phase not in kind.phases} for phase in ContestPhase
    }
    assert absent == {
        ContestPhase.PLANNED: {"archive"},
        ContestPhase.PLAYING: {"archive"},
        ContestPhase.SUSPENDED: {"pause", "resume", "drain", "void", "void-worker", "start", "archive"},
        ContestPhase.OVER: set(VERBS) - {"archive"},
        ContestPhase.ARCHIVED: set(VERBS) - {"archive"},
    }
    assert set(SCENES) == set(ContestPhase)
    own = {verb for verb, kind in ORDERS.items() if kind.refused}
    assert set(REFUSED) == {phase for phase in SCENES if absent[phase] - own}
    assert refusal("dance", ContestPhase.OVER, None) == f"the commands are {', '.join(VERBS)}, not 'dance'"
    assert refusal("pause", ContestPhase.OVER, None) == "the contest is over: aborted"


def test_the_page_has_the_phases_and_the_holds() -> None:
    def rows(heading: str) -> list[str]:
        table = PAGE.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
        return re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)

    assert rows("phase") == [str(phase) for phase in ContestPhase]
    assert rows("hold") == list(HOLDS)


def test_what_leads_from_one_phase_to_another() -> None:
    assert {(str(phase), what): str(to) for (phase, what), to in MOVES.items()} == {
        ("planned", "begin"): "playing",
        ("planned", "suspend"): "suspended",
        ("planned", "end"): "over",
        ("playing", "suspend"): "suspended",
        ("playing", "end"): "over",
        ("suspended", "end"): "over",
        ("over", "archive"): "archived",
    }
    assert {what for _, what in MOVES} == {BEGIN, SUSPEND, END, ARCHIVE}


@all_of("quorum", [0, 2])
@all_of("ending", ENDINGS)
def test_an_ending_leads_to_the_phase_in_which_it_is_the_last(ending: str, quorum: int) -> None:
    life = Life(quorum)
    life.end(ending)
    assert (life.phase, life.ended) == (
        ContestPhase.SUSPENDED if ending == "stopped" else ContestPhase.OVER,
        ending,
    )
    assert (life.holds(), life.may_start, life.shown_state) == ((), False, ending)
    with pytest.raises(KeyError):
        life.begin()


def test_an_aborted_contest_is_over_while_its_games_are_stored() -> None:
    harness = playing()
    harness.stores = False
    assert harness.command("abort") is None
    overview = harness.contest.status.overview()
    assert (overview.phase, overview.state, overview.progress.ended) == ("over", "aborted", None)
    assert overview.progress.holds == ()


def test_no_contest_is_archived_while_its_last_games_are_stored() -> None:
    harness = playing()
    harness.stores = False
    assert harness.command("abort") is None
    assert harness.command("archive") == "archive: the last games are being stored; give the order again"
    assert harness.contest.status.overview().phase is ContestPhase.OVER


@pytest.mark.parametrize("end", ["finished", "incomplete", "aborted"])
def test_that_it_is_archived_is_a_fact_which_outlives_its_server(end: str) -> None:
    """One that could go on is aborted: else the same command would play a contest that is archived."""
    harness = playing()
    if end == "aborted":
        assert harness.command("abort") is None
    elif end == "incomplete":
        for number in range(1, 5):
            assert harness.command("void", f"g{number}") is None
    else:
        play_on(harness)
    assert harness.finished == end
    assert harness.command("archive") is None
    final = "aborted" if end == "incomplete" else end
    assert (harness.contest.ended, harness.finished) == (final, final)
    assert (0, "archived", "") in harness.last_entries
    # Also where the server was killed before the ending was stored.
    for ended in (final, None) if end == "incomplete" else (final,):
        again = ContestHarness(
            "ann", "bob", past=harness.durable(), ended=ended, options=ONE_PLY, games_per_pair=4, quorum=2
        )
        again.wait(1)
        overview = again.contest.status.overview()
        assert (overview.phase, overview.state, again.contest.life.is_archived) == ("archived", final, True)
        assert again.command("resume") == REFUSED[ContestPhase.ARCHIVED]
        again.connect("ann")
        again.send("ann", "HELLO 1 ann")
        assert again.last_line("ann") == f"BYE reason={final}"


def test_one_that_is_over_may_be_archived_by_a_later_server() -> None:
    past = over().durable()
    later = ContestHarness("ann", "bob", past=past, ended="aborted", options=ONE_PLY, games_per_pair=4)
    assert later.command("archive", who="jan") is None
    assert later.contest.status.overview().phase is ContestPhase.ARCHIVED
    assert [order[1] for order in later.last_orders] == ["archive"]


def test_a_contest_that_is_played_and_archived_is_a_damaged_journal() -> None:
    past = Past(entries=(entry_of(0, Archived("")),))
    with pytest.raises(ValueError, match=r"^a contest that is playing cannot be archived$"):
        ContestHarness("ann", "bob", past=past)


def test_the_organiser_begins_it_without_its_quorum_and_before_its_moment() -> None:
    soon = Hours(is_open=True, starts_at=7)
    harness = ContestHarness("ann", "bob", "cid", options=ONE_PLY, quorum=3, absent_ms=8_000)
    harness.event(soon)
    for name in ("ann", "bob"):
        harness.log_in(name)
    overview = harness.contest.status.overview()
    assert (overview.phase, overview.state, overview.until) == ("planned", "closed", 7)
    assert harness.command("start") is None
    assert (0, "begun", "", 2) in harness.entries
    assert (harness.contest.status.overview().state, len(harness.contest.status.overview().running)) == (
        "open",
        1,
    )
    # The answer was lost: the same order again changes nothing.
    assert harness.command("start") is None
    assert (harness.last_entries, harness.last_orders[0][:2]) == ([], (2, "start"))
    again = ContestHarness(
        "ann", "bob", "cid", past=harness.durable(), options=ONE_PLY, quorum=3, absent_ms=8_000
    )
    again.event(soon)
    assert (again.contest.status.overview().phase, again.contest.status.overview().state) == (
        "playing",
        "open",
    )


def test_one_without_a_quorum_waits_for_its_moment_alone() -> None:
    harness = seated("ann", "bob", options=ONE_PLY, ready=False)
    assert harness.command("pause") is None
    play_on(harness)
    harness.event(Hours(is_open=True, starts_at=7))
    assert harness.command("resume") is None
    assert held(harness) == ["closed"]
    assert harness.command("start") is None
    assert held(harness) == []
    harness.event(Hours(is_open=False, until=9))  # its daily hours stay
    assert harness.contest.status.progress().holds == (Hold("closed", until=9),)


def test_that_it_has_begun_is_a_fact_which_outlives_its_server() -> None:
    """A server that was killed before a game was offered let its contest wait for the quorum once more."""
    assert (0, "begun", "", 2) in playing().entries
    begun = Past(entries=(entry_of(0, Begun("", 3)),))
    alone = ContestHarness("ann", "bob", "cid", past=begun, quorum=3, absent_ms=8_000)
    alone.wait(8_000)
    assert alone.finished == "incomplete", "it has begun, so it misses its bots"


def test_a_contest_of_an_earlier_version_whose_games_have_begun_has_begun() -> None:
    harness = playing()
    entries = tuple(entry for entry in harness.durable().entries if entry[1] != "begun")
    assert len(entries) < len(harness.durable().entries)
    again = ContestHarness("ann", "bob", past=Past(entries=entries), options=ONE_PLY, quorum=2)
    assert again.contest.status.overview().phase is ContestPhase.PLAYING
    assert (0, "begun", "", 2) not in again.entries


def test_a_state_of_no_contest_is_a_damaged_journal() -> None:
    past = Past(entries=(entry_of(0, RunStateSet("", "odd")),))
    with pytest.raises(ValueError, match=r"^expected one of open, paused, draining, aborted, found 'odd'$"):
        ContestHarness("ann", "bob", past=past)


def held(harness: ContestHarness) -> list[str]:
    return [hold.kind for hold in harness.contest.status.progress().holds]


def test_every_hold_is_shown_while_it_lasts() -> None:
    harness = ContestHarness("ann", "bob", "cid", "dan", format="swiss", options=ONE_PLY, quorum=4)
    assert held(harness) == ["not-begun", "waiting"]
    for name in ("ann", "bob", "cid", "dan"):
        assert harness.contest.status.progress().holds[0] == Hold(
            "not-begun", here=len(harness.conns), quorum=4
        )
        harness.log_in(name)
    assert held(harness) == []
    assert harness.command("pause") is None
    harness.event(Hours(is_open=False, until=7))
    assert harness.contest.status.progress().holds == (Hold("paused"), Hold("closed", until=7))
    assert harness.command("drain") is None
    harness.event(TimeUp())
    assert held(harness) == ["draining", "closed", "time-up"]
    harness.disconnect("ann")
    assert held(harness)[-1] == "waiting"
    harness.event(Stop())
    assert harness.finished == "stopped"
    assert held(harness) == []


def test_a_draw_that_is_under_way_is_a_hold() -> None:
    harness = ContestHarness("ann", "bob", format="swiss", options=ONE_PLY)
    harness.contest._games.fixtures.drawing = True
    assert held(harness) == ["drawing", "waiting"]


@pytest.mark.parametrize("state", RunState)
def test_no_game_starts_in_a_state_other_than_open(state: RunState) -> None:
    life = Life()
    life.order(state)
    assert life.may_start is (state is RunState.OPEN)
    assert (life.phase is ContestPhase.OVER) is (state is RunState.ABORTED)
