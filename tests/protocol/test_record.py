"""Records as bytes: one encoding each, and no changed byte gets through."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from hashlib import sha256
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_protocol.record import (
    FORMAT,
    FaultRecord,
    GameRecord,
    InfoRecord,
    PlyRecord,
    RecordError,
    commitment,
    decode,
    encode,
    to_json,
)
from arena_protocol.verify import verify

from .records import a_record

RECORD = a_record(faults={5: (2, "malformed")})
DATA = encode(RECORD)
DAMAGED = r"^damaged record: its bytes do not match its SHA-256 digest$"

whole = st.integers(-(2**63), 2**63 - 1)
text = st.text(st.characters(codec="utf-8"), max_size=12)
wholes = st.lists(whole, max_size=4).map(tuple)
ply_records = st.builds(
    PlyRecord, whole, text, whole, whole, whole, wholes, whole, wholes, st.booleans(), whole, whole
)
info_records = st.builds(
    InfoRecord,
    whole,
    whole,
    *(st.none() | whole,) * 3,
    *(st.none() | text,) * 2,
)
fault_records = st.builds(FaultRecord, whole, whole, text, st.binary(max_size=40))
game_records = st.builds(
    GameRecord,
    format=st.just(FORMAT),
    software=text,
    contest=text,
    game_id=text,
    game=text,
    options=st.dictionaries(text, text, max_size=3),
    names=st.lists(text, max_size=4).map(tuple),
    seed=st.integers(-(2**256), 2**256),
    nonce=text,
    commit=text,
    board=text,
    sequence=text,
    clock_ms=whole,
    increment_ms=whole,
    margin_ms=whole,
    move_limit_ms=whole,
    byoyomi_ms=whole,
    lag_quota_ms=whole,
    plies=st.lists(ply_records, max_size=3).map(tuple),
    faults=st.lists(fault_records, max_size=2).map(tuple),
    final=text,
    totals=wholes,
    end=text,
    infos=st.lists(info_records, max_size=2).map(tuple),
)


def signed(payload: bytes) -> bytes:
    return payload + sha256(payload).digest()


def forged(**changes: Any) -> bytes:
    """The record's map with some values changed, packed and signed as it should be."""
    plain = msgpack.unpackb(DATA[:-32])
    return signed(msgpack.packb({**plain, **changes}))


@given(game_records)
def test_every_record_reads_back(record: GameRecord) -> None:
    assert decode(encode(record)) == record


@given(game_records)
def test_equal_records_have_equal_bytes(record: GameRecord) -> None:
    shuffled = replace(record, options=dict(reversed(record.options.items())))
    assert encode(shuffled) == encode(record)


def test_a_played_record_reads_back_and_is_true() -> None:
    verify(decode(DATA))
    assert decode(DATA) == RECORD


def test_the_payload_is_a_map_that_any_msgpack_reader_understands() -> None:
    plain = msgpack.unpackb(DATA[:-32])
    assert list(plain)[:3] == ["format", "software", "contest"]
    assert plain["seed"] == "7d6"
    ply = RECORD.plies[0]
    assert plain["plies"][0] == [
        1, ply.move, ply.time_ms, 0, ply.arrived_ns, list(ply.clock), ply.points, list(ply.total), False, 0, 0
    ]  # fmt: skip
    assert plain["faults"] == [[2, 5, "malformed", b"\xff malformed"]]
    assert DATA[-32:] == sha256(DATA[:-32]).digest()


def test_every_single_changed_byte_is_refused() -> None:
    """Every place of the record; each bit of it in turn over the run, and all bits at once."""
    for place in range(len(DATA)):
        for change in (1 << place % 8, 0xFF):
            changed = bytearray(DATA)
            changed[place] ^= change
            with pytest.raises(RecordError, match=DAMAGED):
                decode(bytes(changed))


@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
@settings(max_examples=300, deadline=None)
def test_any_other_value_of_any_byte_is_refused(place: int, change: int) -> None:
    changed = bytearray(DATA)
    changed[place] ^= change
    with pytest.raises(RecordError, match=DAMAGED):
        decode(bytes(changed))


def test_every_missing_byte_is_refused() -> None:
    for place in range(len(DATA)):
        for left in (DATA[:place], DATA[:place] + DATA[place + 1 :]):
            with pytest.raises(RecordError, match=DAMAGED):
                decode(left)


@given(st.integers(0, len(DATA)), st.binary(min_size=1, max_size=40))
def test_added_bytes_are_refused(place: int, more: bytes) -> None:
    with pytest.raises(RecordError, match=DAMAGED):
        decode(DATA[:place] + more + DATA[place:])


@given(st.binary(max_size=100))
def test_arbitrary_bytes_are_refused_in_one_line(payload: bytes) -> None:
    """Also with a right digest: whatever comes, it is a RecordError of one line."""
    for data in (payload, signed(payload)):
        with pytest.raises(RecordError) as refused:
            decode(data)
        assert str(refused.value).isprintable()


@given(st.integers(0, len(DATA) - 33), st.integers(1, 255))
@settings(max_examples=300, deadline=None)
def test_a_changed_payload_with_a_right_digest_is_refused_or_is_another_record(
    place: int, change: int
) -> None:
    payload = bytearray(DATA[:-32])
    payload[place] ^= change
    data = signed(bytes(payload))
    found = decoded_or_refusal(data)
    if isinstance(found, RecordError):
        assert str(found).isprintable()
    else:
        assert found != RECORD
        assert encode(found) == data


def decoded_or_refusal(data: bytes) -> GameRecord | RecordError:
    try:
        return decode(data)
    except RecordError as refusal:
        return refusal


PLY = ["x"] * 11


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (signed(b""), "damaged record: not msgpack ("),
        (signed(b"\xc1"), "damaged record: not msgpack ("),
        (signed(msgpack.packb(7)), "damaged record: expected a map, found int"),
        (signed(msgpack.packb({})), "a record of format None; this version reads format 2"),
        (forged(format=1), "a record of format 1; this version reads format 2"),
        (forged(format=2.0), "damaged record: format: expected a whole number, found float"),
        (forged(later=1), "damaged record: expected the fields format, software, contest, game_id, game,"),
        (forged(contest=1), "damaged record: contest: expected text, found int"),
        (forged(contest=b"x"), "damaged record: contest: expected text, found bytes"),
        (forged(clock_ms=True), "damaged record: clock_ms: expected a whole number, found bool"),
        (forged(options=[]), "damaged record: options: expected a map, found tuple"),
        (forged(options={"plies": 12}), "damaged record: options: plies: expected text, found int"),
        (forged(options={b"plies": "12"}), "damaged record: options: expected text, found bytes"),
        (forged(names="ann"), "damaged record: names: expected an array, found str"),
        (forged(names=["ann", 2]), "damaged record: names 2: expected text, found int"),
        (forged(seed=2006), "damaged record: seed: expected text, found int"),
        (forged(seed="x"), "damaged record: seed: expected hex digits, found 'x'"),
        (forged(seed="1" * 300), "damaged record: seed: expected hex digits, found '11111111111111111111'"),
        (forged(seed="007d6"), "damaged record: it is not in the canonical form"),
        (forged(plies=[[1]]), "damaged record: plies 1: expected 11 values, found 1"),
        (forged(plies=[PLY]), "damaged record: plies 1: seat: expected a whole number, found str"),
        (
            forged(plies=[[1, "6", 0, 0, 0, ["x"], *PLY[6:]]]),
            "damaged record: plies 1: clock 1: expected a whole",
        ),
        (
            forged(plies=[[1, "6", 0, 0, 0, [], 0, [], 0, 0, 0]]),
            "damaged record: plies 1: zombie: expected true or false, found int",
        ),
        (
            forged(faults=[[1, 2, "quit", "text"]]),
            "damaged record: faults 1: line: expected bytes, found str",
        ),
        (
            forged(infos=[[1, 2, "9", None, None, None, None]]),
            "damaged record: infos 1: depth: expected a whole number, found str",
        ),
        (forged(infos=[]), "damaged record: it is not in the canonical form"),
        (forged(totals=None), "damaged record: totals: expected an array, found NoneType"),
    ],
)
def test_a_signed_payload_that_is_no_record_is_refused(data: bytes, line: str) -> None:
    with pytest.raises(RecordError) as refused:
        decode(data)
    assert str(refused.value).startswith(line)
    assert str(refused.value).isprintable()


def test_fields_in_another_order_are_refused() -> None:
    plain = msgpack.unpackb(DATA[:-32])
    with pytest.raises(RecordError, match=r"^damaged record: expected the fields format, software,"):
        decode(signed(msgpack.packb(dict(reversed(plain.items())))))


def test_a_longer_spelling_of_the_same_numbers_is_refused() -> None:
    """One record has one encoding: 12 as a 64-bit number is not it."""
    payload = DATA[:-32]
    assert payload.endswith(b"\xa8complete")
    longer = payload.removesuffix(b"\xa8complete") + b"\xd9\x08complete"
    with pytest.raises(RecordError, match=r"^damaged record: it is not in the canonical form$"):
        decode(signed(longer))


def test_the_commitment_is_the_hash_of_the_text_that_the_protocol_names() -> None:
    expected = sha256(b"ab:...../...../...../...../.....:123").hexdigest()
    assert commitment("ab", "...../...../...../...../.....", "123") == expected


@given(game_records)
def test_the_json_of_a_record_has_every_field(record: GameRecord) -> None:
    plain = json.loads(json.dumps(to_json(record)))
    assert list(plain) == [field.name for field in fields(GameRecord)]
    assert [PlyRecord(**ply)._replace(clock=(), total=()) for ply in plain["plies"]] == [
        ply._replace(clock=(), total=()) for ply in record.plies
    ]
    assert [bytes.fromhex(fault["line"]) for fault in plain["faults"]] == [
        each.line for each in record.faults
    ]
    assert tuple(InfoRecord(**info) for info in plain["infos"]) == record.infos
