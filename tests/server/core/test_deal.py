"""Deals, nonces, commitments and ids of games."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core import deal
from arena_server.core.contest import Contest
from arena_server.core.deal import GAME_DIGITS, RESUME_BYTES, game_id, number_of
from arena_server.terms.config import ContestConfig, Entrant

from .contest_harness import ONE_PLY, ContestHarness, play_on, restarted, seated


def test_boards_and_sequences_are_paired_with_the_seats_swapped() -> None:
    harness = ContestHarness("ann", "bob", options=ONE_PLY, games_per_pair=4, deals="paired")
    harness.log_in("ann")
    harness.log_in("bob")
    play_on(harness)
    overs = [line for line in harness.received("ann") if line.startswith("OVER")]
    assert ["sequence=" in line for line in overs] == [False, True, False, True], "opened when it is closed"
    records = [harness.records[f"g{number}"] for number in range(1, 5)]
    assert [record.names for record in records] == [("ann", "bob"), ("bob", "ann")] * 2
    assert records[0].seed == records[1].seed != records[2].seed == records[3].seed
    assert len({record.nonce for record in records}) == 4


def test_every_game_has_its_own_deal_by_default() -> None:
    harness = ContestHarness("ann", "bob", options=ONE_PLY, games_per_pair=4)
    harness.log_in("ann")
    harness.log_in("bob")
    play_on(harness)
    records = [harness.records[f"g{number}"] for number in range(1, 5)]
    assert [record.names for record in records] == [("ann", "bob"), ("bob", "ann")] * 2
    assert len({record.seed for record in records}) == 4
    assert all("sequence=" in line for line in harness.received("ann") if line.startswith("OVER"))


def test_a_paired_deal_is_closed_by_its_last_game_also_after_a_restart() -> None:
    harness = seated("ann", "bob", options=ONE_PLY, deals="paired")
    harness.send("ann", "MOVE 7")
    assert "OVER g1 total=0,0 end=complete" in harness.received("ann")
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
    play_on(again)
    (over,) = [line for line in again.received("ann") if line.startswith("OVER g2")]
    assert "sequence=" in over


@pytest.mark.parametrize(("deals", "opened"), [("fresh", True), ("paired", False)])
def test_a_void_game_opens_its_deal_unless_it_is_played_again_on_it(deals: str, opened: bool) -> None:
    harness = seated("ann", "bob", options=ONE_PLY, deals=deals)
    harness.stop()
    over = next(line for line in harness.received("ann") if line.startswith("OVER g1"))
    assert "end=void" in over
    assert ("nonce=" in over, "sequence=" in over) == (opened, opened)
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
    play_on(again)
    seeds = [record.seed for record in again.records.values()]
    assert seeds.count(harness.records["g1"].seed) == (2 if deals == "paired" else 0)
    assert len(seeds) == 2


@given(st.booleans(), st.integers(2, 4), st.data())
def test_a_deal_is_shown_when_nobody_will_play_it_any_more(
    final: bool, seats: int, data: st.DataObject
) -> None:
    results = data.draw(st.integers(0, seats))
    assert deal.may_show_deal(paired=False, results=results, seats=seats, final=final)
    assert deal.may_show_deal(paired=True, results=results, seats=seats, final=final) is (
        final or results == seats
    )


def test_deals_come_from_the_seed_the_players_and_the_number_of_the_deal() -> None:
    seeds = {deal.deal_seed(*args) for args in [(1, "ab", 1), (2, "ab", 1), (1, "ac", 1), (1, "ab", 2)]}
    assert len(seeds) == 4
    assert deal.deal_seed(1, ["b", "a"], 1) == deal.deal_seed(1, ["a", "b"], 1)
    assert len({deal.nonce(seed, game) for seed in (1, 2) for game in ("g1", "g2")}) == 4


def test_deal_and_nonce_follow_from_the_secret_as_operating_md_has_it() -> None:
    harness = ContestHarness("bob", "ann", options=ONE_PLY, games_per_pair=2, seed=987654321)
    harness.log_in("ann")
    harness.log_in("bob")
    play_on(harness)
    for number in (1, 2):
        record = harness.records[f"g{number}"]
        assert record.nonce == sha256(f"nonce:987654321:g{number}".encode()).hexdigest()[:32]
        drawn = sha256(f"deal:987654321:ann,bob:{number}".encode()).digest()
        assert record.seed == int.from_bytes(drawn[:16], "big")


def test_over_opens_the_commitment() -> None:
    harness = seated("ann", "bob")
    game = next(line for line in harness.received("ann") if line.startswith("GAME"))
    commit = game.split("commit=")[1]
    play_on(harness)
    over = dict(
        option.split("=")
        for option in next(line for line in harness.received("ann") if line.startswith("OVER")).split()[2:]
    )
    board = next(line for line in harness.received("ann") if line.startswith("STATE")).split()[1]
    opened = f"{over['nonce']}:{board}:{over['sequence']}"
    assert sha256(opened.encode()).hexdigest() == commit


def test_secrets_are_drawn_long_and_never_from_the_seed() -> None:
    drawn = []

    def secret(length: int) -> str:
        drawn.append(length)
        return "ab" * length

    config = ContestConfig(name="c", seed=1)
    Contest(config, [Entrant("ann"), Entrant("bob")], secret, 0)
    assert drawn == []
    assert RESUME_BYTES * 8 >= 128


@given(st.integers(1, 10**GAME_DIGITS - 1))
def test_an_id_gives_its_number_back(number: int) -> None:
    assert number_of(game_id(number)) == number


@all_of("word", ["", "g", "x1", "1", "g-1", "g 1", "g\xb2", "g1.0", "g" + "9" * 5000])
def test_a_word_that_is_no_id_has_no_number(word: str) -> None:
    """int() would raise ValueError for the longest of them."""
    assert number_of(word) == 0


@all_of("token", ["s3cret", "s3cret.2", "a.b", "."])
@all_of("slot", [2, 9, 10, 64])
def test_the_token_of_a_slot_gives_token_and_slot_back(token: str, slot: int) -> None:
    assert deal.split_token(deal.slot_token(token, slot)) == (token, slot)
    assert deal.slot_token(token, 1) == token
