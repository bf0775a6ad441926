"""A contest whose games are handed out one by one: what a worker plays with bots that stay."""

from __future__ import annotations

import pytest

from arena_server.core.events import HandOut, Tick
from arena_server.core.formats.base import Pairing, PairingError
from arena_server.core.formats.matches import Handed
from arena_server.terms.config import HANDED
from arena_server.terms.formats import Terms

from ..contest_harness import MS, ONE_PLY, ContestHarness

DEALT = (5, "ab" * 16)
OTHER = (6, "cd" * 16)


def handed() -> Handed:
    return Handed(Terms(("ann", "bob"), 2, 1))


def test_a_game_starts_when_it_is_handed_out_and_its_players_are_free() -> None:
    form = handed()
    for name in ("ann", "bob"):
        form.enter(name)
        form.free(name, 1)
    assert (form.next(), form.total, form.next_number, [*form.planned(1, 9)]) == (None, None, 1, [])
    form.hand_out(("bob", "ann"), DEALT)
    assert [*form.unplayed()] == [(("bob", "ann"), 1)]
    assert form.next() == Pairing(1, ("bob", "ann"), 1, DEALT)
    form.hand_out(("ann", "bob"), OTHER)
    assert form.next() is None
    form.free("ann", 1)
    form.withdraw("bob")
    assert form.next() is None
    assert (form.has_games("bob"), form.exhausted(["bob"]), form.exhausted([])) == (True, True, False)
    form.enter("bob", late=True)
    form.free("bob", 1)
    assert form.next() == Pairing(2, ("ann", "bob"), 2, OTHER)
    assert (form.has_games("bob"), form.exhausted(["bob"]), [*form.unplayed()]) == (False, False, [])


def test_a_game_that_was_handed_out_before_is_not_known() -> None:
    with pytest.raises(PairingError, match="g1 was handed out, and is not known any more"):
        handed().started(Pairing(1, ("ann", "bob"), 1))
    assert not handed().may_repeat(1)
    with pytest.raises(AssertionError, match="no void game is played again"):
        handed().again(Pairing(2, ("ann", "bob"), 2), 1)


def harness_of(*present: str) -> ContestHarness:
    harness = ContestHarness(
        "ann", "bob", format=HANDED, games_per_pair=1, options=ONE_PLY, absent_ms=1000, quorum=2
    )
    for name in present:
        harness.log_in(name)
    return harness


def play(harness: ContestHarness, number: int, names: tuple[str, ...], dealt: tuple[int, str]) -> None:
    harness.event(HandOut(names, dealt))
    for name in names:
        harness.send(name, f"READY g{number}")
    for name in names:
        harness.send(name, "MOVE 7")


def test_bots_stay_connected_from_game_to_game() -> None:
    harness = harness_of("ann", "bob")
    play(harness, 1, ("ann", "bob"), DEALT)
    play(harness, 2, ("bob", "ann"), OTHER)
    found = [harness.records[game] for game in ("g1", "g2")]
    assert [(record.names, record.seed, record.nonce, record.end) for record in found] == [
        (("ann", "bob"), *DEALT, "complete"),
        (("bob", "ann"), *OTHER, "complete"),
    ]
    assert (harness.contest.ended, harness.contest.status.progress().connected) == (None, 2)


def test_a_bot_that_stays_away_ends_the_contest_without_its_game() -> None:
    harness = harness_of("ann", "bob")
    play(harness, 1, ("ann", "bob"), DEALT)
    harness.disconnect("bob")
    harness.event(HandOut(("ann", "bob"), OTHER))
    harness.now += 1001 * MS
    harness.event(Tick())
    assert (harness.contest.ended, sorted(harness.records)) == ("finished", ["g1"])
