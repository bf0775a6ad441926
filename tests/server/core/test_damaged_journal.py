"""A journal that no contest wrote is refused in one line, whatever it has."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.record import FaultRecord, InfoRecord, PlyRecord
from arena_server.core.contest import Contest
from arena_server.core.events import Stop, Stored, Tick
from arena_server.core.facts import Repeat
from arena_server.core.game_facts import Away, Ended, GameFact, Offered, Ready, Started
from arena_server.core.journal import (
    Entry,
    JournalError,
    Past,
    entry_of,
)
from arena_server.core.replay import restore
from arena_server.stats.results import PastGame
from arena_server.terms.config import ContestConfig, Entrant

from .contest_harness import MS
from .match_runner import a_match
from .test_journal import CONTEST_FACTS, GAME_FACTS

DIGEST = "0" * 64
OFFERED = ("offer", ("ann", "bob"))
OFFER = Offered(("ann", "bob"), 1)
READY: list[GameFact] = [Ready(1), Ready(2), Started()]
PLY = PlyRecord(1, "7", 5, 0, 5 * MS, (19_995, 20_000), 0, (0, 0), False)
FORFEIT_GAME: dict[str, Any] = {"game": "tictactoe", "options": {}}


def contest(*entries: Entry, results: tuple[PastGame, ...] = (), **more: Any) -> Contest:
    """A contest of ann and bob that goes on with these entries; an insertion game has two plies."""
    given = {"name": "c", "seed": 1, "games_per_pair": 4, "options": {"plies": 2, "start": "empty"}} | more
    a_plan = ContestConfig(**given)  # type: ignore[arg-type]
    return Contest(a_plan, [Entrant("ann"), Entrant("bob")], str, 0, Past(results, entries))


def of_g1(*facts: GameFact) -> list[Entry]:
    return [entry_of(1, fact) for fact in (OFFER, *facts)]


def a_result(number: int, end: str = "complete", names: tuple[str, ...] = ("ann", "bob")) -> PastGame:
    return PastGame(number, names if number % 2 else names[::-1], number, (0, 0), end, 2)


@all_of(
    ("entry", "text"),
    [
        ((1, "dance"), "expected a fact of the journal, found (1, 'dance')"),
        ((1, "ready", True), "expected the values of a 'ready' fact, found (1, 'ready', True)"),
        ((1, "keys", "ann", (None,)), "expected the number of no game, found (1, 'keys', 'ann', (None,))"),
        ((5, "offer", ("ann", "bob"), 5, ()), "g5 is not a game of this contest"),
        (
            (2, "offer", ("bob", "ann"), 2, ()),
            "g2 was started twice, or before an earlier game of the same bots",
        ),
        (
            (1, "offer", ("ann", "eve"), 1, ()),
            "g1 was played by ann, eve, and the schedule has ann, bob",
        ),
        (
            (1, "offer", ("ann", "bob"), 2, ()),
            "g1 was played on deal 2, and the schedule has deal 1",
        ),
        ((0, "keys", "eve", (None,)), "no bot of this contest is called 'eve'"),
        ((0, "conduct", "eve", 0, True), "no bot of this contest is called 'eve'"),
        ((0, "keys", "ann", ("s\xe9same",)), "the resume key of 'ann' is not a SHA-256 digest"),
        ((0, "run-state", "", "ajar"), "expected one of open, paused, draining, aborted, found 'ajar'"),
        ((0, "repeat", 5, 99, 5), "g99 is not a game of this contest"),
        ((0, "repeat", 6, 1, 6), "g6 repeats g1, and is not the next number"),
        ((0, "joined", "ann", 3, 1, "", "", "", ""), "two bots are called ann"),
        ((0, "joined", "cid", 4, 1, "", "", "", ""), "cid joined at g4, which is not the next number"),
        ((0, "left", "eve", True), "no bot of this contest is called 'eve'"),
        ((0, "token", "eve", DIGEST), "no bot of this contest is called 'eve'"),
        ((0, "token", "ann", "secret"), "the token of 'ann' is not a SHA-256 digest"),
        ((0, "redeemed", 1, "cid"), "'cid' was registered without an invitation"),
        ((0, "invited", 1, "jan", "code", 5), "the code of invitation 1 is not a SHA-256 digest"),
        (
            (0, "registration", "", "code", 5, 1, False),
            "the code of the registration is not a SHA-256 digest",
        ),
        (
            (0, "applied", "j1", True, "jan", "", "", "", "code", False, True),
            "the token of 'j1' is not a SHA-256 digest",
        ),
    ],
)
def test_a_journal_that_no_contest_wrote_is_refused_in_one_line(entry: Entry, text: str) -> None:
    with pytest.raises(JournalError) as caught:
        contest(entry)
    assert str(caught.value) == text


def test_a_repeat_of_a_paired_deal_on_another_deal() -> None:
    with pytest.raises(JournalError, match=r"^g5 repeats g1 of deal 1 on deal 5$"):
        contest((0, "repeat", 5, 1, 5), results=(a_result(1, "void"),), deals="paired")


@all_of(
    ("results", "entries", "text"),
    [
        ([a_result(9)], [], "g9 is not a game of this contest"),
        ([a_result(2)], [], "g2 was started twice, or before an earlier game of the same bots"),
        ([a_result(1), a_result(1)], [], "g1 was started twice, or before an earlier game of the same bots"),
        (
            [a_result(1, names=("ann", "eve"))],
            [],
            "g1 was played by ann, eve, and the schedule has ann, bob",
        ),
        (
            [a_result(1)],
            [(0, "repeat", 5, 1, 5)],
            "g1 is repeated, and has a result or is repeated already",
        ),
        (
            [a_result(1, "void")],
            [(0, "repeat", 5, 1, 5), (0, "repeat", 6, 1, 6)],
            "g1 is repeated, and has a result or is repeated already",
        ),
        ([], [(1, *OFFERED, 1, ()), (0, "repeat", 5, 1, 5)], "g1 is repeated, and not void"),
        ([replace(a_result(1), totals=(5,))], [], "the result of g1 does not fit its 2 seats"),
        ([replace(a_result(1), faults=(("eve", "quit"),))], [], "the result of g1 does not fit its 2 seats"),
        (
            [a_result(1)],
            [(2, "offer", ("bob", "ann"), 2, ()), (3, *OFFERED, 3, ())],
            "ann plays g2 and g3 at once in slot 1",
        ),
    ],
)
def test_results_and_games_that_contradict_the_schedule(
    results: list[PastGame], entries: list[Entry], text: str
) -> None:
    with pytest.raises(JournalError) as caught:
        contest(*entries, results=tuple(results))
    assert str(caught.value) == text


QUIT = FaultRecord(1, 1, "quit", b"QUIT")
VOID = FaultRecord(0, 1, "void", b"stopped")


@all_of(
    ("facts", "text"),
    [
        ([Ready(3)], "g1, ply 1: Ready cannot be there: there is no such seat"),
        ([Ready(0)], "g1, ply 1: Ready cannot be there: there is no such seat"),
        ([FaultRecord(0, 1, "quit", b"")], "g1, ply 1: FaultRecord cannot be there: there is no such seat"),
        ([Ready(1), Ready(1)], "g1, ply 1: Ready cannot be there: the seat need not be ready"),
        ([QUIT, Ready(1)], "g1, ply 1: Ready cannot be there: the seat need not be ready"),
        ([*READY, Ready(1)], "g1, ply 1: Ready cannot be there: the seat need not be ready"),
        ([Away(1)], "g1, ply 1: Away cannot be there: the seat was not ready"),
        ([*READY, Away(1)], "g1, ply 1: Away cannot be there: the seat was not ready"),
        ([Ready(1), Started()], "g1, ply 1: Started cannot be there: the game cannot start"),
        ([*READY, Started()], "g1, ply 1: Started cannot be there: the game cannot start"),
        ([PLY], "g1, ply 1: PlyRecord cannot be there: no ply is to be played"),
        ([InfoRecord(1, 1)], "g1, ply 1: InfoRecord cannot be there: it is not a note about this game"),
        (
            [*READY, InfoRecord(3, 1)],
            "g1, ply 1: InfoRecord cannot be there: there is no such seat",
        ),
        ([QUIT, QUIT], "g1, ply 1: FaultRecord cannot be there: the seat is at fault already"),
        ([VOID, QUIT], "g1, ply 1: FaultRecord cannot be there: the game is over"),
        ([VOID, Ended((0, 0), "void"), Ready(1)], "g1, ply 1: Ready cannot be there: the game is over"),
        ([Ended((0, 0), "complete")], "g1, ply 1: Ended cannot be there: the game goes on"),
        (
            [VOID, Ended((0, 9), "void")],
            "g1, ply 1: Ended cannot be there: the end is void, of other totals",
        ),
    ],
)
def test_facts_that_a_match_would_not_decide_there(facts: list[GameFact], text: str) -> None:
    with pytest.raises(JournalError) as caught:
        contest(*of_g1(*facts))
    assert str(caught.value) == text


@all_of(
    ("change", "why"),
    [
        ({"seat": 2}, "it is not a legal move of the seat to move"),
        ({"move": "16"}, "it is not a legal move of the seat to move"),
        ({"zombie": True}, "a seat at fault, and no other, plays the zombie move"),
        ({"points": 10}, "the rules give other points"),
        ({"total": (0, 0, 0)}, "the rules give other points"),
        ({"time_ms": 6}, "the charge leaves other clocks"),
        ({"clock": (19_995,)}, "the charge leaves other clocks"),
        ({"clock": (19_995, 19_999)}, "the charge leaves other clocks"),
    ],
)
def test_a_ply_that_the_rules_would_not_give(change: dict[str, Any], why: str) -> None:
    contest(*of_g1(*READY, PLY))
    with pytest.raises(JournalError) as caught:
        contest(*of_g1(*READY, PLY._replace(**change)))
    assert str(caught.value) == f"g1, ply 1: PlyRecord cannot be there: {why}"


@pytest.mark.parametrize(
    ("ply", "why"),
    [
        (PLY._replace(zombie=True, time_ms=0, clock=(20_000, 20_000)), "plays the zombie move"),
        (PLY, "plays the zombie move"),
        (PLY._replace(zombie=True, move="6"), "leaves other clocks"),
        (PLY._replace(zombie=True, move="6", time_ms=0), "leaves other clocks"),
    ],
)
def test_a_ply_that_a_seat_at_fault_would_not_play(ply: PlyRecord, why: str) -> None:
    flag = ply._replace(zombie=True, move="6", time_ms=20_001, clock=(0, 20_000))
    for right in (flag, flag._replace(time_ms=0, clock=(20_000, 20_000))):
        contest(*of_g1(*READY, QUIT, right))
    with pytest.raises(JournalError, match=f"^g1, ply 1: PlyRecord cannot be there: .* {why}$"):
        contest(*of_g1(*READY, QUIT, ply))


@pytest.mark.parametrize(
    "fault", [(1, 2, "quit", b""), (1, 1, "sleep", b""), (1, 1, "void", b""), (0, 2, "void", b"")]
)
def test_a_fault_of_another_ply_or_of_no_kind(fault: tuple[int, int, str, bytes]) -> None:
    with pytest.raises(
        JournalError, match=r"^g1, ply 1: FaultRecord cannot be there: it is not a fault of this ply$"
    ):
        contest(*of_g1(FaultRecord(*fault)))


def test_after_a_forfeit_only_other_forfeits_and_the_end_may_follow() -> None:
    other = FaultRecord(2, 1, "quit", b"")
    first: list[GameFact] = [QUIT, Ended((0, 2), "forfeit")]
    both: list[GameFact] = [QUIT, other, Ended((0, 0), "forfeit")]
    for facts in (first, both):
        assert contest(*of_g1(*READY, *facts), **FORFEIT_GAME).status.progress().running == 1
    for wrong in (Ready(2), PLY):
        with pytest.raises(JournalError, match="the game is over"):
            contest(*of_g1(QUIT, wrong), **FORFEIT_GAME)
    with pytest.raises(JournalError, match=r"the end is forfeit, of other totals$"):
        contest(*of_g1(QUIT, Ended((2, 0), "forfeit")), **FORFEIT_GAME)


def test_after_the_last_ply_there_is_none() -> None:
    second = PLY._replace(seat=2, clock=(19_995, 19_995))
    over: list[GameFact] = [*READY, PLY, second]
    with pytest.raises(JournalError, match="PlyRecord cannot be there: no ply is to be played"):
        contest(*of_g1(*over, PLY))
    with pytest.raises(JournalError, match="Ended cannot be there: the end is complete, of other totals"):
        contest(*of_g1(*over, Ended((0, 0), "win")))


def test_a_game_without_its_offer() -> None:
    for entries in ([(1, "ready", 1)], [(1, "start"), (1, "ready", 1)]):
        with pytest.raises(JournalError, match=r"cannot be there: a game begins with its offer$"):
            contest(*entries)


def test_an_offer_in_the_middle_of_a_game() -> None:
    """`Live` never gives one: it drops what came before."""
    match = a_match()
    with pytest.raises(
        JournalError, match=r"^g1, ply 1: Offered cannot be there: a game begins with its offer$"
    ):
        restore(match, [OFFER, OFFER], 0)


ANY_FACT = st.one_of(
    st.sampled_from(
        [*READY, Away(1), OFFER, QUIT, VOID, PLY, Ended((0, 0), "void"), Ended((0, 0), "complete")]
    ),
    GAME_FACTS,
)
ANY_ENTRY = st.one_of(
    st.builds(entry_of, st.integers(1, 6), ANY_FACT),
    st.builds(entry_of, st.just(1), ANY_FACT),
    st.builds(entry_of, st.just(0), CONTEST_FACTS),
    st.builds(
        entry_of, st.just(0), st.builds(Repeat, st.integers(4, 7), st.integers(0, 6), st.integers(0, 7))
    ),
    st.lists(st.integers() | st.text(max_size=3) | st.none() | st.just("ready")).map(tuple),
)
ANY_RESULT = st.builds(
    PastGame, st.integers(0, 6), st.sampled_from([("ann", "bob"), ("bob", "ann"), ("ann",)]),
    st.sampled_from([(0, 0), (5, 0), (5,)]), st.sampled_from(["complete", "void"]), st.integers(0, 2),
    st.sampled_from([(), (("ann", "quit"),), (("eve", "quit"),)]),
)  # fmt: skip


@settings(max_examples=500)
@given(
    st.lists(ANY_ENTRY, max_size=8),
    st.lists(ANY_RESULT, max_size=2),
    st.sampled_from(["insertion", "tictactoe"]),
)
def test_any_journal_gives_a_contest_that_goes_on_or_one_clear_line(
    entries: list[Entry], results: list[PastGame], forfeit: bool
) -> None:
    try:
        again = contest(*entries, results=tuple(results), **(FORFEIT_GAME if forfeit else {}))
    except JournalError as error:
        assert re.fullmatch(r".+", str(error))  # noqa: PT017 - most are refused, each for its own reason
        return
    again.handle(Tick(), 0)
    again.handle(Stop(), 0)
    for number in range(8):
        again.handle(Stored(f"g{number}"), 0)
    # One whose first bots are separated is finished as soon as no game runs.
    separated = any(entry[1:2] == ("separated",) for entry in entries)
    assert again.ended == "stopped" or (separated and again.ended == "finished")
