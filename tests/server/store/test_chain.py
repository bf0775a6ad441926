"""The hash chain: every single change of what is stored is found, and called by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.store.chain import GENESIS, MANY, ChainLink, Flaw, audit, changed_bytes, extend

RECORDS = [f"the record of game {number}".encode() for number in range(1, 8)]


def chained(records: Sequence[bytes]) -> list[ChainLink]:
    """The chain as the specification has it, said once more in its own words."""
    value, links = b"\0" * 32, []
    for place, record in enumerate(records, start=1):
        value = sha256(value + sha256(record).digest()).digest()
        links.append(ChainLink(place, f"g{place}", sha256(record).digest(), value))
    return links


def found(links: Sequence[ChainLink], head: bytes | None = None) -> list[tuple[str, str]]:
    return [(flaw.kind, flaw.game_id) for flaw in audit(links, head)]


def digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_an_unchanged_chain_holds_with_its_head_and_without(records: list[bytes]) -> None:
    links = chained(records)
    head = links[-1].chain if links else GENESIS
    assert audit(links) == []
    assert audit(links, head) == []
    value = GENESIS
    for each, record in zip(links, records, strict=True):
        value = extend(value, record)
        assert value == each.chain


@pytest.mark.parametrize("place", range(7))
class TestEveryPlace:
    """One thing is done to one row, with the head known as of a contest that is over."""

    links = chained(RECORDS)
    head = links[-1].chain

    def test_a_changed_record(self, place: int) -> None:
        links = list(self.links)
        links[place] = replace(links[place], digest=digest("forged"))
        (flaw,) = audit(links, self.head)
        assert (flaw.kind, flaw.text) == ("record", f"game g{place + 1}: its record was changed, or replaced")
        assert flaw.chain == self.links[place].chain
        assert flaw.previous == (self.links[place - 1].chain if place else GENESIS)

    def test_a_changed_value(self, place: int) -> None:
        links = list(self.links)
        links[place] = replace(links[place], chain=digest("forged"))
        (flaw,) = audit(links, self.head)
        assert (flaw.kind, flaw.text) == ("chain", f"game g{place + 1}: its chain value was changed")

    def test_a_missing_row(self, place: int) -> None:
        links = [each for each in self.links if each.place != place + 1]
        (flaw,) = audit(links, self.head)
        if place == 6:
            assert (flaw.kind, flaw.text) == (
                "head",
                "games missing after g6: the chain ended with another head",
            )
        else:
            where = f"after g{place}" if place else "at the beginning"
            assert (flaw.kind, flaw.text) == (
                "missing",
                f"1 game missing {where}: place {place + 1} of the chain",
            )

    def test_a_row_put_in_between(self, place: int) -> None:
        extra = ChainLink(place + 1, "g99", digest("extra"), digest("made up"))
        later = [replace(each, place=each.place + 1) for each in self.links[place:]]
        (flaw,) = audit([*self.links[:place], extra, *later], self.head)
        assert (flaw.kind, flaw.text) == ("extra", "game g99: it was added to the chain later")

    def test_a_row_at_a_taken_place(self, place: int) -> None:
        extra = ChainLink(place + 1, "g99", digest("extra"), digest("made up"))
        (flaw,) = audit([*self.links, extra], self.head)
        assert (flaw.kind, flaw.text) == ("extra", f"game g99: place {place + 1} is taken twice")


@given(st.permutations(range(7)).filter(lambda order: list(order) != sorted(order)))
def test_records_in_another_order_are_reported_by_game(order: list[int]) -> None:
    """The records change places; values and places stay, as an UPDATE would do it."""
    true = chained(RECORDS)
    links = [
        ChainLink(place, f"g{index + 1}", true[index].digest, true[place - 1].chain)
        for place, index in enumerate(order, start=1)
    ]
    moved = [each for each in links if each.game_id != f"g{each.place}"]
    flaws = audit(links, true[-1].chain)
    assert [flaw.text for flaw in flaws] == [
        f"game {each.game_id}: at place {each.place} of the chain the record of g{each.place} was stored"
        for each in moved
    ]
    assert {flaw.kind for flaw in flaws} == {"order"}


def test_several_missing_rows_are_reported_once() -> None:
    links = [each for each in chained(RECORDS) if each.place not in (3, 4, 5)]
    (flaw,) = audit(links)
    assert flaw.text == "3 games missing after g2: place 3 of the chain to 5"


def test_nothing_left_of_a_contest_that_had_games() -> None:
    (flaw,) = audit([], chained(RECORDS)[-1].chain)
    assert flaw.text == "games missing at the beginning: the chain ended with another head"


def test_a_rewritten_chain_has_another_head() -> None:
    forged = chained([*RECORDS[:3], b"forged", *RECORDS[4:]])
    assert audit(forged) == []
    assert found(forged, chained(RECORDS)[-1].chain) == [("head", "g7")]


def test_without_a_head_a_changed_last_value_is_reported_as_a_changed_record() -> None:
    links = chained(RECORDS)
    links[-1] = replace(links[-1], chain=digest("forged"))
    assert found(links) == [("record", "g7")]


def test_a_chain_that_is_wrong_everywhere_is_audited_in_linear_time() -> None:
    links = [
        ChainLink(place, f"g{place}", digest(f"{place}"), digest(f"x{place}")) for place in range(1, 3 * MANY)
    ]
    assert len(found(links)) == 3 * MANY - 1


class TestBytes:
    """Records end with the digest of their payload, as the record's codec has it."""

    payload = bytes(range(60)) + b"moves and clocks"
    record = payload + sha256(payload).digest()
    previous = digest("before")
    flaw = Flaw("record", "g1", "", previous, extend(previous, record))

    @given(st.integers(0, len(record) - 1), st.integers(1, 255))
    @settings(max_examples=60, deadline=None)
    def test_any_changed_byte_is_found(self, place: int, mask: int) -> None:
        changed = bytearray(self.record)
        changed[place] ^= mask
        assert changed_bytes(bytes(changed), self.flaw, thorough=True) == ((place, self.record[place]),)

    @given(st.integers(0, len(payload) - 1), st.integers(1, 255))
    @settings(max_examples=20, deadline=None)
    def test_a_digest_that_was_made_to_fit_hides_nothing(self, place: int, mask: int) -> None:
        payload = bytearray(self.payload)
        payload[place] ^= mask
        changed = bytes(payload) + sha256(payload).digest()
        assert changed_bytes(changed, self.flaw, thorough=True) == ((place, self.payload[place]),)

    @all_of("bit", range(8))
    def test_a_single_bit_is_found_at_once(self, bit: int) -> None:
        changed = bytearray(self.record)
        changed[33] ^= 1 << bit
        assert changed_bytes(bytes(changed), self.flaw, thorough=False) == ((33, 33),)

    def test_a_byte_is_looked_for_only_if_there_is_time(self) -> None:
        changed = bytearray(self.record)
        changed[33] ^= 0xFF
        assert changed_bytes(bytes(changed), self.flaw, thorough=False) == ()

    def test_several_bytes_of_the_digest_are_found(self) -> None:
        changed = bytearray(self.record)
        for place in (len(self.payload), len(self.record) - 1):
            changed[place] ^= 0xFF
        found = changed_bytes(bytes(changed), self.flaw, thorough=False)
        assert found == tuple((at, self.record[at]) for at in (len(self.payload), len(self.record) - 1))

    def test_two_changed_bytes_are_not_put_down_to_one(self) -> None:
        changed = bytearray(self.record)
        changed[3] ^= 1
        changed[40] ^= 1
        assert changed_bytes(bytes(changed), self.flaw, thorough=True) == ()

    @pytest.mark.parametrize("record", [b"", b"short", bytes(32)])
    def test_what_is_no_record_at_all(self, record: bytes) -> None:
        assert changed_bytes(record, self.flaw, thorough=True) == ()
