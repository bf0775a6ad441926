"""The browser's reader and checker of records against those of `arena_protocol`."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.protocol.records import FLAGGED, FORFEIT, RECORD, ZOMBIE, a_record

from arena_protocol.record import FaultRecord, GameRecord, PlyRecord, RecordError, describe_result
from arena_protocol.record_codec import encode, to_json
from arena_protocol.verify import verify
from arena_server.store.chain import GENESIS, extend
from arena_server.web.documents import record_json
from arena_server.web.scenes import IN_PAGES

from .node import Node, Refused

NONE_READY = (FaultRecord(1, 1, "never-ready", b""), FaultRecord(2, 1, "never-ready", b""))
RECORDS = [
    RECORD,
    ZOMBIE,
    FLAGGED,
    FORFEIT,
    a_record(stop=5),
    a_record(stop=0),
    a_record(seed=2**128 - 1, options={"plies": 30, "seats": 3}),
    a_record(options={"plies": 30, "seats": 4, "colours": 7, "start": "empty"}),
    a_record("lastcoin", {"coins": 9}, faults={2: (2, "quit")}),
    a_record("xo", {"opening": 4}),
    a_record("tictactoe", {}),
    replace(a_record("disc", {}, stop=0), faults=NONE_READY, end="forfeit", totals=(0, 0)),
    replace(RECORD, faults=(FaultRecord(2, 9, "quit", b"QUIT\xff"),)),
]
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def as_json(record: GameRecord) -> str:
    return json.dumps(to_json(record), indent=2)


def judged(record: GameRecord) -> str | None:
    """What `arena verify` finds, without the id of the game."""
    try:
        verify(record)
    except RecordError as error:
        return str(error).split(", ", 1)[1]
    return None


def judged_by_browser(node: Node, text: str) -> str | None:
    try:
        node("verify", record=text)
    except Refused as refused:
        return str(refused)
    return None


def agree(record: GameRecord, found: str | None, expected: str | None) -> bool:
    """Whether the browser finds fault where `arena verify` does; without rules it may find none."""
    return (found is None) == (expected is None) or (record.game not in IN_PAGES and found is None)


@pytest.mark.parametrize("record", RECORDS)
def test_verdicts(node: Node, record: GameRecord) -> None:
    assert agree(record, judged_by_browser(node, as_json(record)), judged(record))


@pytest.mark.parametrize(
    ("forgery", "place"),
    [
        ({"nonce": "ff"}, "start: commit"),
        ({"totals": (2, 2)}, "end: totals"),
        ({"clock_ms": 77}, "ply 1: clock: expected"),
        ({"faults": (FaultRecord(9, 1, "quit", b""),)}, "ply 1: seat of fault quit"),
    ],
)
def test_what_needs_no_rules_is_checked_without_them(node: Node, forgery: dict[str, Any], place: str) -> None:
    record = a_record("xo", {"opening": 4})
    assert judged_by_browser(node, as_json(record)) is None
    found = judged_by_browser(node, as_json(replace(record, **forgery)))
    assert found is not None
    assert found.startswith(place)


def test_scenes_that_end_at_an_illegal_move_are_not_a_whole_game(node: Node) -> None:
    record = a_record("xo", {})
    forged = replace(
        record, plies=(*record.plies[:2], record.plies[2]._replace(move="a99"), *record.plies[3:])
    )
    text = json.dumps(record_json(forged))
    assert judged_by_browser(node, json.dumps(record_json(record))) is None
    assert judged_by_browser(node, text) == "ply 3: move: expected a legal move, found a99"


SCENES = record_json(a_record("lastcoin", {"coins": 9}))["scenes"]


@pytest.mark.parametrize(
    "forgery",
    [
        {"layout": None},
        {"layout": {}},
        {"layout": SCENES["layout"] | {"width": -1}},
        {"layout": SCENES["layout"] | {"width": 1e9, "cells": None}},
        {"layout": SCENES["layout"] | {"cells": [[0]]}},
        {"layout": SCENES["layout"] | {"labels": [[0, 0, "x"]]}},
        {"layout": SCENES["layout"] | {"styles": {"x": 1}}},
        {"layout": SCENES["layout"] | {"moves": [7]}},
        {"layout": {"width": 1000, "height": 1000, "form": "square", "styles": {}}},
        {"scene": None},
        {"scene": {"pieces": 7}},
        {"scene": {"marks": {"last": ["x"]}}},
        {"scene": {"marks": {"two words": [1]}}},
        {"scene": {"bar": [1]}},
        {"to_move": "1"},
        {"after": None},
        {"after": [{}]},
        {"after": SCENES["after"] * 99},
    ],
)
def test_scenes_of_another_shape_are_refused(node: Node, forgery: dict[str, Any]) -> None:
    record = record_json(a_record("lastcoin", {"coins": 9}))
    assert node("read", data=json.dumps(record).encode().hex())["scenes"] == record["scenes"]
    record["scenes"] = record["scenes"] | forgery
    with pytest.raises(Refused, match="not a record: scenes are not positions"):
        node("read", data=json.dumps(record).encode().hex())


NUMBER = st.integers(-1, 40) | st.sampled_from([999, 10**6, 2**53 - 1])
TEXT = st.sampled_from(
    ["", "1", "6", "7", "15", "16", "a1", "c3", "2/3/1", "complete", "void", "forfeit", "win"]
)
VALUES: dict[type, st.SearchStrategy[Any]] = {
    int: NUMBER,
    str: TEXT,
    bool: st.booleans(),
    bytes: st.binary(max_size=3),
}


def changed(draw: st.DrawFn, value: Any) -> Any:
    """A value of the same type; a tuple with one item changed, dropped or repeated."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        place = draw(st.integers(0, len(value) - 1))
        return type(value)(
            *(changed(draw, item) if index == place else item for index, item in enumerate(value))
        )
    if isinstance(value, tuple):
        if not value:
            return value
        place = draw(st.integers(0, len(value) - 1))
        how = draw(st.sampled_from(["change", "change", "change", "drop", "repeat"]))
        middle = {"change": (changed(draw, value[place]),), "drop": (), "repeat": (value[place],) * 2}[how]
        return (*value[:place], *middle, *value[place + 1 :])
    return draw(VALUES[type(value)])


#: What is forged; plies more often than the rest.
KEYS = [
    *["plies"] * 3,
    *("faults", "board", "sequence", "clock_ms", "increment_ms", "margin_ms", "move_limit_ms"),
    *("byoyomi_ms", "lag_quota_ms", "final", "totals", "end", "seed", "nonce"),
]


@st.composite
def forged(draw: st.DrawFn) -> GameRecord:
    record = draw(st.sampled_from(RECORDS))
    for _ in range(draw(st.integers(1, 2))):
        key = draw(st.sampled_from(KEYS))
        record = replace(record, **{key: changed(draw, getattr(record, key))})
    return record


@given(forged())
@settings(relaxed, max_examples=500)
def test_verdicts_on_forged_records(node: Node, record: GameRecord) -> None:
    """Both find fault with the same records; the browser refuses rows of the wrong length earlier."""
    seats = len(record.names)
    rows = [ply.clock for ply in record.plies] + [ply.total for ply in record.plies] + [record.totals]
    found = judged_by_browser(node, as_json(record))
    if any(len(row) != seats for row in rows) or any(not 1 <= ply.seat <= seats for ply in record.plies):
        assert found is not None
    else:
        expected = judged(record)
        assert agree(record, found, expected), (found, expected)
        if expected is not None and found is not None and record.game in IN_PAGES:
            assert found.split(": ")[0] == expected.split(": ")[0]


@pytest.mark.parametrize("record", RECORDS)
def test_exported_bytes_are_read_as_the_json_is(node: Node, record: GameRecord) -> None:
    expected = json.loads(as_json(record))
    expected["seed"] = str(expected["seed"])
    assert node("read", data=encode(record).hex()) == expected
    assert node("read", data=as_json(record).encode().hex()) == expected


@given(st.sampled_from(RECORDS), st.integers(0, 10**6), st.integers(1, 255))
@relaxed
def test_a_changed_byte_of_an_exported_file(node: Node, record: GameRecord, place: int, flip: int) -> None:
    data = bytearray(encode(record))
    data[place % len(data)] ^= flip
    with pytest.raises(Refused, match=r"^(not a record|damaged record)"):
        node("read", data=data.hex())


@given(
    st.binary(max_size=300)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(repr).map(str.encode)
)
@relaxed
def test_any_file_is_a_record_or_refused(node: Node, data: bytes) -> None:
    for whole in (data, data + sha256(data).digest()):
        with pytest.raises(Refused, match=r"^(not a record|damaged record)"):
            node("read", data=whole.hex())


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53) + 1, 2**53 - 1)
        | st.text(max_size=40)
        | st.binary(max_size=300),
        lambda inner: (
            st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=40), inner, max_size=20)
        ),
        max_leaves=20,
    )
)
@relaxed
def test_any_msgpack_is_refused_as_a_record(node: Node, value: object) -> None:
    data = msgpack.packb(value)
    with pytest.raises(Refused, match=r"^(not a record|damaged record)"):
        node("read", data=(data + sha256(data).digest()).hex())


@given(st.data())
@settings(relaxed, max_examples=200)
def test_json_with_a_value_of_another_type_is_refused(node: Node, data: st.DataObject) -> None:
    record = json.loads(as_json(RECORD))
    whole = copy.deepcopy(record)
    key = data.draw(st.sampled_from(sorted(whole)))
    value: object = data.draw(st.sampled_from([None, [], {}, "", 1.5, [None], [[]], {"a": 1}]))
    if type(value) is type(whole[key]):
        value = None
    whole[key] = value
    with pytest.raises(Refused):
        node("verify", record=json.dumps(whole))


def test_the_columns_are_those_of_the_program(node: Node) -> None:
    found = node("read", data=encode(ZOMBIE).hex())
    assert list(found["plies"][0]) == list(PlyRecord._fields)
    assert list(found["faults"][0]) == list(FaultRecord._fields)


LISTED: dict[str, Any] = {
    "contest": "test",
    "game_id": "g7",
    "names": ["ann", "bob"],
    "totals": list(ZOMBIE.totals),
    "end": ZOMBIE.end,
    "plies": len(ZOMBIE.plies),
    "faults": [[fault.seat, fault.ply, fault.kind] for fault in ZOMBIE.faults],
}


def test_a_record_is_as_its_contest_lists_it(node: Node) -> None:
    assert node("listed", record=as_json(ZOMBIE), listed=LISTED) is None


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("contest", "other"),
        ("game_id", None),
        ("names", ["bob", "ann"]),
        ("names", ["ann,bob"]),
        ("totals", [0, 0]),
        ("end", "void"),
        ("plies", 1),
        ("faults", []),
    ],
)
def test_a_record_that_its_contest_lists_otherwise(node: Node, what: str, value: object) -> None:
    with pytest.raises(Refused, match=rf"^list of the contest: {what}: expected .*, found "):
        node("listed", record=as_json(ZOMBIE), listed=LISTED | {what: value})


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=9, unique=True), st.data())
@settings(relaxed, max_examples=50)
def test_the_chain_is_that_of_the_store(node: Node, records: list[bytes], data: st.DataObject) -> None:
    """By its own `extend`; and no digest, record, place or head may differ."""
    head = GENESIS
    for record in records:
        head = extend(head, record)
    place = data.draw(st.integers(0, len(records) - 1))
    chain: dict[str, Any] = {
        "digests": [sha256(record).hexdigest() for record in records],
        "place": place,
        "head": head.hex(),
    }
    assert node("chain", data=records[place].hex(), chain=chain) is None
    with pytest.raises(Refused, match=r"^place \d+ of the chain: expected a record of digest "):
        node("chain", data=(records[place] + b"x").hex(), chain=chain)
    other = data.draw(
        st.integers(0, len(records) - 1).filter(lambda each: each != place or len(records) == 1)
    )
    if other != place:
        with pytest.raises(Refused, match=rf"^place {other + 1} of the chain"):
            node("chain", data=records[place].hex(), chain=chain | {"place": other})
        changed = [digest if i != other else "00" * 32 for i, digest in enumerate(chain["digests"])]
        with pytest.raises(Refused, match=rf"^head of the chain: expected {head.hex()}, found "):
            node("chain", data=records[place].hex(), chain=chain | {"digests": changed})
    with pytest.raises(Refused, match=r"^head of the chain: expected 00"):
        node("chain", data=records[place].hex(), chain=chain | {"head": "00" * 32})


@given(
    st.lists(st.integers(0, 3) | st.integers(0, 10**7), min_size=2, max_size=4),
    st.sampled_from(["complete", "win", "draw", "forfeit", "void", "other"]),
)
@settings(relaxed, max_examples=200)
def test_a_result_has_the_words_of_the_program(node: Node, totals: list[int], end: str) -> None:
    names = ["ann", "bob", "cid", "dan"][: len(totals)]
    assert node("result", names=names, totals=totals, end=end) == describe_result(names, totals, end)
