"""Records as bytes: one encoding each, and no changed byte gets through."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import fields, replace
from hashlib import sha256
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of, rows

from arena_protocol.kinds import KEY, NAME, WORD
from arena_protocol.record import (
    FORMAT,
    FaultRecord,
    GameRecord,
    InfoRecord,
    PlyRecord,
    RecordError,
    UsageRecord,
)
from arena_protocol.record_codec import MAX_BYTES, decode, encode, to_json
from arena_protocol.verify import verify

from .records import a_record

#: Bytes of the notes of a seat that the referee keeps.
INFO_BYTES = 65_536
RECORD = a_record(faults={5: (2, "malformed")})
DATA = encode(RECORD)
DAMAGED = r"^damaged record: its bytes do not match its SHA-256 digest$"

#: Values of the forms that PROTOCOL.md has for them.
stamp = st.integers(-(2**63), 2**63 - 1)
count = st.integers(0, 10**12 - 1)
whole = st.integers(1 - 10**12, 10**12 - 1)
word = st.from_regex(WORD.pattern, fullmatch=True).filter(lambda word: len(word) < 40)
words = st.lists(word, min_size=1, max_size=3).map(" ".join)
name = st.from_regex(NAME.pattern, fullmatch=True)


@st.composite
def game_records(draw: st.DrawFn) -> GameRecord:
    """Any record whose values have the forms that the protocol has for them, one of each kind per seat."""
    seats = draw(st.integers(1, 4))
    seat, counts = st.integers(1, seats), st.tuples(*[count] * seats)
    numbers = st.tuples(*[whole] * seats)
    plies = st.builds(
        PlyRecord,
        *(seat, word, count, stamp, stamp, counts, whole, numbers, st.booleans(), count, count),
    )
    infos = st.builds(
        InfoRecord,
        *(seat, count, st.none() | count, st.none() | whole, st.none() | count),
        *(st.none() | word, st.none() | words),
    )
    usage = st.builds(UsageRecord, seat, *[st.none() | count] * 3)
    faults = st.builds(FaultRecord, st.integers(0, seats), count, word, st.binary(max_size=40))
    return GameRecord(
        format=FORMAT,
        software=draw(word),
        contest=draw(name),
        game_id=draw(word),
        game=draw(word),
        options=draw(st.dictionaries(st.from_regex(KEY, fullmatch=True), word, max_size=3)),
        names=draw(st.tuples(*[name] * seats)),
        seed=draw(st.integers(-(2**256), 2**256)),
        nonce=draw(word),
        commit=draw(word),
        board=draw(word),
        sequence=draw(st.just("") | word),
        clock_ms=draw(count),
        increment_ms=draw(count),
        margin_ms=draw(count),
        move_limit_ms=draw(count),
        byoyomi_ms=draw(count),
        lag_quota_ms=draw(count),
        plies=draw(st.lists(plies, max_size=3).map(tuple)),
        faults=draw(st.lists(faults, max_size=2).map(tuple)),
        final=draw(word),
        totals=draw(numbers),
        end=draw(word),
        first_move_limit_ms=draw(count),
        infos=draw(st.lists(infos, max_size=2).map(tuple)),
        usage=draw(st.lists(usage, max_size=2).map(tuple)),
        images=draw(st.just(()) | st.tuples(*[word] * seats)),
    )


def signed(payload: bytes) -> bytes:
    return payload + sha256(payload).digest()


def forged(**changes: Any) -> bytes:
    """The record's map with some values changed, packed and signed as it should be."""
    plain = msgpack.unpackb(DATA[:-32])
    return signed(msgpack.packb({**plain, **changes}))


@given(game_records())
def test_every_record_reads_back(record: GameRecord) -> None:
    assert decode(encode(record)) == record


@given(game_records())
def test_equal_records_have_equal_bytes(record: GameRecord) -> None:
    shuffled = replace(record, options=dict(reversed(list(record.options.items()))))
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


PLY: list[Any] = [1, "6", 0, 0, 0, [9, 9], 0, [0, 0], False, 0, 0]


@all_of(
    ("data", "line"),
    [
        (signed(b""), "damaged record: not msgpack ("),
        (signed(b"\xc1"), "damaged record: not msgpack ("),
        (signed(msgpack.packb(7)), "damaged record: expected a map, found int"),
        (signed(msgpack.packb({})), "damaged record: expected the fields format, software,"),
        (signed(msgpack.packb([])), "damaged record: expected a map, found Array"),
        (forged(format=1), "a record of format 1; this version reads format 2"),
        (forged(format=2.0), "damaged record: format: expected a whole number, found float"),
        (forged(later=1), "damaged record: expected the fields format, software, contest, game_id, game,"),
        (forged(contest=1), "damaged record: contest: expected text, found int"),
        (forged(contest=b"x"), "damaged record: contest: expected text, found bytes"),
        (forged(clock_ms=True), "damaged record: clock_ms: expected a whole number, found bool"),
        (forged(options=[]), "damaged record: options: expected a map, found Array"),
        (forged(options={"plies": 12}), "damaged record: options: plies: expected text, found int"),
        (forged(options={b"plies": "12"}), "damaged record: options: expected text, found bytes"),
        (forged(names="ann"), "damaged record: names: expected an array, found str"),
        (forged(names=["ann", 2]), "damaged record: names 2: expected text, found int"),
        (forged(seed=2006), "damaged record: seed: expected text, found int"),
        (forged(seed="x"), "damaged record: seed: expected hex digits, found 'x'"),
        (
            forged(seed="1" * 300),
            "damaged record: seed: expected hex digits, found '1111111111111111111111111",
        ),
        (forged(seed="007d6"), "damaged record: it is not in the canonical form"),
        (forged(plies=[[1]]), "damaged record: plies 1: expected 11 values, found 1"),
        (forged(plies=[[0] * 16] * 16), "damaged record: plies 1: expected 11 values, found 16"),
        (forged(plies=[{}]), "damaged record: plies 1: expected an array, found Map"),
        (forged(totals=[0] * 65_537), "damaged record: totals: expected at most 65536 items, found 65537"),
        (
            forged(plies=[["x", *PLY[1:]]]),
            "damaged record: plies 1: seat: expected a whole number, found str",
        ),
        (
            forged(plies=[[*PLY[:5], ["x"], *PLY[6:]]]),
            "damaged record: plies 1: clock 1: expected a whole",
        ),
        (forged(plies=[[0, *PLY[1:]]]), "damaged record: plies 1: expected a seat of 2, found 0"),
        (forged(plies=[PLY, [3, *PLY[1:]]]), "damaged record: plies 2: expected a seat of 2, found 3"),
        (forged(faults=[[3, 1, "quit", b""]]), "damaged record: faults 1: expected a seat of 2, found 3"),
        (forged(infos=[[0, 1, *[None] * 5]]), "damaged record: infos 1: expected a seat of 2, found 0"),
        (
            forged(plies=[[*PLY[:5], [9], *PLY[6:]]]),
            "damaged record: plies 1: clock: expected 2 numbers, found 1",
        ),
        (
            forged(plies=[[*PLY[:7], [0, 0, 0], *PLY[8:]]]),
            "damaged record: plies 1: total: expected 2 numbers, found 3",
        ),
        (forged(totals=[]), "damaged record: totals: expected 2 numbers, found 0"),
        (
            forged(plies=[[*PLY[:8], 0, 0, 0]]),
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
        (forged(usage=[[3, 1, 1, 1]]), "damaged record: usage 1: expected a seat of 2, found 3"),
        (forged(usage=[[1, -1, 1, 1]]), "damaged record: usage 1: used_ms: expected a whole number"),
        (forged(images=["-"]), "damaged record: images: expected one of each seat, found 1"),
        (forged(images=["-", 1]), "damaged record: images 2: expected text, found int"),
        (forged(infos=[]), "damaged record: it is not in the canonical form"),
        (forged(totals=None), "damaged record: totals: expected an array, found NoneType"),
    ],
)
def test_a_signed_payload_that_is_no_record_is_refused(data: bytes, line: str) -> None:
    with pytest.raises(RecordError) as refused:
        decode(data)
    assert str(refused.value).startswith(line)
    assert str(refused.value).isprintable()


#: Texts that PROTOCOL.md has no form for; a terminal would obey the first three.
UNFIT = ["\x1b[2J", "a\nb", "\x9b2J", "a\u202eb", "\x7f", "é", " a", "a  b", ""]
#: A place in a record, its value with something unfit in it, and what is expected there.
PLACES: list[tuple[str, str, Any]] = [
    ("names 2", "1 to 32 letters", lambda text: {"names": ["ann", text]}),
    ("contest", "1 to 32 letters", lambda text: {"contest": text}),
    ("game_id", "printable ASCII without spaces", lambda text: {"game_id": text}),
    ("software", "printable ASCII without spaces", lambda text: {"software": text}),
    ("end", "printable ASCII without spaces", lambda text: {"end": text}),
    ("options: plies", "printable ASCII without spaces", lambda text: {"options": {"plies": text}}),
    ("options", "the key of an option", lambda text: {"options": {text: "1"}}),
    (
        "plies 1: move",
        "printable ASCII without spaces",
        lambda text: {"plies": [[1, text, *PLY[2:]]]},
    ),
    (
        "faults 1: kind",
        "printable ASCII without spaces",
        lambda text: {"faults": [[1, 1, text, b"MOVE"]]},
    ),
    ("infos 1: text", "words of printable ASCII", lambda text: {"infos": [[1, 1, *[None] * 4, text]]}),
    (
        "infos 1: line",
        "printable ASCII without spaces",
        lambda text: {"infos": [[1, 1, None, None, None, text, None]]},
    ),
]


@all_of("text", UNFIT)
@all_of(("where", "meaning", "changes"), PLACES)
def test_a_text_without_the_form_of_the_protocol_is_refused(
    where: str, meaning: str, changes: Any, text: str
) -> None:
    with pytest.raises(RecordError) as refused:
        decode(forged(**changes(text)))
    line = str(refused.value)
    assert line.startswith(f"damaged record: {where}: expected {meaning}")
    assert line.endswith(f", found {text!a}")
    assert line.isascii()
    assert line.isprintable()


def test_a_number_that_no_line_can_have_is_refused() -> None:
    for changes, line in (
        ({"clock_ms": 10**12}, "clock_ms: expected a whole number of at most 12 digits, found 1000000000000"),
        ({"clock_ms": -1}, "clock_ms: expected a whole number of at most 12 digits, found -1"),
        (
            {"totals": [0, -(10**12)]},
            "totals 2: expected a whole or negative number of at most 12 digits, found -1000000000000",
        ),
    ):
        with pytest.raises(RecordError, match=f"^damaged record: {line}$"):
            decode(forged(**changes))


def announced(count: int) -> bytes:
    """The beginning of an array with this number of items."""
    return b"\xdd" + count.to_bytes(4, "big")


#: What makes much of few bytes, in the place of a value.
BOMBS = {
    "empty maps": announced(MAX_BYTES // 2) + b"\x80" * (MAX_BYTES // 2),
    "arrays in arrays": b"\x91" * (MAX_BYTES // 2) + b"\xc0",
    "long arrays in long arrays": announced(2**32 - 1) * 500,
    "long maps in long maps": (b"\xdf" + b"\xff" * 4) * 500,
    "small arrays": announced(MAX_BYTES // 4) + b"\x91\xc0" * (MAX_BYTES // 4),
}


@all_of("bomb", BOMBS.values())
@all_of("field", ["software", "names", "options", "plies"])
def test_bytes_that_announce_more_than_a_record_has_take_no_memory(field: str, bomb: bytes) -> None:
    plain = msgpack.unpackb(DATA[:-32])
    before = list(plain)[: list(plain).index(field) + 1]
    head = b"".join(msgpack.packb(part) for name in before[:-1] for part in (name, plain[name]))
    data = signed(b"\xde\x00\x20" + head + msgpack.packb(field) + bomb)
    tracemalloc.start()
    try:
        with pytest.raises(RecordError) as refused:
            decode(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(refused.value).isprintable()
    assert peak < 3 * MAX_BYTES, "the payload, and the copy of it that msgpack reads"


def test_a_record_that_is_too_long_is_refused_unread() -> None:
    with pytest.raises(RecordError, match=r"^not a game record: a record has at most 8388608 bytes$"):
        decode(bytes(MAX_BYTES + 1))


@pytest.mark.parametrize("plies", rows([6_000, 60_000], 2))
def test_the_longest_game_is_a_record(plies: int) -> None:
    """60,000 plies of insertion with four seats, numbers of the most digits, and all notes; or a tenth."""
    ply = PlyRecord(
        4, "15", 864_000_000, 2**60, 2**60, (864_000_000,) * 4, -20, (-6_000_000,) * 4, False, 500, 500
    )
    notes = (InfoRecord(1, 60_000, 9, 9, 9, None, "x" * (INFO_BYTES - 60)),) * 4
    names = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)
    record = replace(
        RECORD, names=names, totals=(0,) * 4, plies=(ply,) * plies, infos=notes, sequence="6" * plies
    )
    data = encode(record)
    assert 80 * plies < len(data) < 92 * plies + 200_000 < MAX_BYTES
    assert decode(data) == record


@pytest.mark.parametrize("field", ["format", "seed", "plies", "end"])
def test_a_payload_without_a_field_is_refused(field: str) -> None:
    plain = msgpack.unpackb(DATA[:-32])
    del plain[field]
    with pytest.raises(RecordError, match=r"^damaged record: expected the fields format, software,"):
        decode(signed(msgpack.packb(plain)))


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


@given(game_records())
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
    assert tuple(UsageRecord(**usage) for usage in plain["usage"]) == record.usage
