"""What is read of messages and pickles that a worker or a scheduler has sent."""

from __future__ import annotations

import asyncio
import pickle
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.places.workers import plain
from arena_server.places.workers.plain import NotPlain, plain_error, plain_loads, plain_message


@all_of("value", [None, True, 7, 0.5, "text", b"bytes", bytes, (b"", "", False, "w1", "host"), {"a": [1]}])
def test_plain_values_are_read(value: object) -> None:
    for protocol in range(3, pickle.HIGHEST_PROTOCOL + 1):
        assert plain_loads(pickle.dumps(value, protocol)) == value


class Touch:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return exec, (f"open({str(self._path)!r}, 'w')",)


def test_nothing_is_called_for_any_other_value(tmp_path: Path) -> None:
    # An exception is named in two ways: an import of distributed changes how this process pickles one.
    for value, what in (
        (Touch(tmp_path / "file"), r"a builtins\.exec"),
        ([Touch(tmp_path / "file")], r"a builtins\.exec"),
        (tmp_path, r"a pathlib\S*PosixPath"),
        (ValueError("text"), r"(a builtins\.ValueError|an exception)"),
    ):
        found = plain_loads(memoryview(pickle.dumps(value)))
        assert isinstance(found, NotPlain)
        assert re.fullmatch(f"a worker has sent {what}, which is not read here", str(found))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"\x80", b"no pickle", pickle.dumps(7)[:-1]])
def test_a_damaged_pickle_raises_nothing(data: bytes) -> None:
    found = plain_loads(data)
    assert isinstance(found, NotPlain)
    assert str(found) == "a worker has sent what cannot be read"


@all_of(
    ("sent", "said"),
    [
        ({"exception": None}, None),
        ({"exception": pickle.dumps(7), "traceback": pickle.dumps(8)}, "7"),
        ({"exception": "ValueError: no"}, "ValueError: no"),
        ({"exception": b"ctblib.x\ny\n."}, "a worker has sent an exception, which is not read here"),
        ({"exception": b"ctblib.x\ny\n.", "exception_text": "OSError('full')"}, "OSError('full')"),
        ({"exception": NotPlain("refused"), "traceback": NotPlain("refused")}, "refused"),
        ({"exception": "x" * 1000, "status": "error"}, "x" * 200),
    ],
)
def test_an_exception_is_its_text_and_a_traceback_nothing(sent: dict[str, Any], said: str | None) -> None:
    kind, found, traceback = plain_error(**sent)
    assert (found is None) == (said is None)
    assert said is None or (isinstance(found, NotPlain) and str(found) == said)
    assert (kind, traceback) == (type(found), None)


def message(header: dict[str, Any], *parts: bytes, kind: str = "__Serialized__") -> Any:
    """A message with one part that was serialized by itself, as it is read."""
    packed = msgpack.packb({"num-sub-frames": len(parts), **header})
    return plain_message([msgpack.packb({"op": "x", "value": {kind: 1}}), packed, *parts])["value"]


BYTES = {"serializer": "dask", "type": "bytes", "type-serialized": b"never read"}
PICKLE = {"serializer": "pickle", "writeable": ()}


def test_the_parts_of_a_message_are_read() -> None:
    assert message(PICKLE, pickle.dumps((b"record", "w1"))) == (b"record", "w1")
    assert message(BYTES, b"rec", b"ord") == b"record"
    assert message({**BYTES, "compression": (None,)}, b"record") == b"record"
    assert message({"pickled-obj": pickle.dumps([7])}, kind="__Pickled__") == [7]
    split = {"split-num-sub-frames": (2,), "split-offsets": (0,), **PICKLE}
    pickled = pickle.dumps("text")
    assert message(split, pickled[:5], pickled[5:]) == "text"
    tuple_of = {"is-collection": True, "type-serialized": "tuple", "frame-lengths": (2, 1)}
    assert message({**tuple_of, "sub-headers": (BYTES, PICKLE)}, b"rec", b"ord", pickle.dumps(7)) == (
        b"record",
        7,
    )
    keyed = {"type-serialized": "dict", "frame-lengths": (1,), "sub-headers": ({"key": "a", **BYTES},)}
    assert message({**tuple_of, **keyed}, b"b") == {"a": b"b"}
    assert plain_message([msgpack.packb({"keys": {"__Set__": True, "as-list": [1, 1]}})]) == {"keys": {1}}


@all_of(
    ("header", "parts", "said"),
    [
        (PICKLE, [b"cbuiltins\nexec\n."], "a worker has sent a builtins.exec, which is not read here"),
        ({"pickled-obj": b"cos\nsystem\n."}, [], "a worker has sent a os.system, which is not read here"),
        ({**BYTES, "type": "numpy.ndarray"}, [b""], "a worker has sent data of the serializer dask"),
        ({"serializer": "error"}, [b""], "a worker has sent data of the serializer error"),
        (
            {**PICKLE, "compression": ("zlib",)},
            [b""],
            "a worker has sent compressed data, which are not read here",
        ),
        ({}, [b""], "a worker has sent what cannot be read"),
        ({"is-collection": True}, [], "a worker has sent what cannot be read"),
    ],
)
def test_any_other_part_is_named(header: dict[str, Any], parts: list[bytes], said: str) -> None:
    found = message(header, *parts)
    assert isinstance(found, NotPlain)
    assert str(found) == said


def test_nested_collections_have_a_bound() -> None:
    header: dict[str, Any] = PICKLE
    for _ in range(20):
        header = {
            "is-collection": True,
            "type-serialized": "list",
            "frame-lengths": (1,),
            "sub-headers": (header,),
        }
    assert isinstance(message(header, pickle.dumps(1)), NotPlain)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_a_damaged_part_raises_nothing(header: bytes, part: bytes) -> None:
    plain_message([msgpack.packb({"value": {"__Serialized__": 1}}), header, part])
    plain_message([msgpack.packb({"value": {"__Pickled__": 1}}), header, part])


def test_a_message_imports_nothing() -> None:
    pytest.importorskip("distributed")
    from distributed.core import Status

    for module, name, value in (("distributed.core", "Status", "running"), ("this", "s", "running")):
        enum = {"__Enum__": True, "name": value, "__module__": module, "__name__": name}
        assert plain_message([msgpack.packb({"status": enum})]) == {"status": Status.running}
    odd = plain_message([msgpack.packb({"__Enum__": True, "name": "mro"})])
    assert not callable(odd)


@pytest.mark.asyncio
async def test_a_message_has_a_bound() -> None:
    async def read(_stream: object, size: int) -> int:
        await asyncio.sleep(0)
        return size

    bounded = plain._bounded_read(read)
    assert await bounded(None, plain.MOST_BYTES) == plain.MOST_BYTES
    with pytest.raises(OSError, match="a message of 67108865 bytes, expected at most 67108864"):
        await bounded(None, plain.MOST_BYTES + 1)
    unpack = plain._bounded_frames(lambda frames, partial=False: (frames, [plain.MOST_BYTES, 1]))
    assert unpack([b""])[0] == [b""]
    with pytest.raises(OSError, match="expected at most"):
        unpack([b""], partial=True)


#: All that Dask reads by: `read_plainly` in a process of its own, as it is never undone.
NAMES = """
import pickle, sys
from arena_server.places.workers import plain
plain.read_plainly()
plain.read_plainly()  # a scheduler that was found again
from distributed import client, core, protocol
from distributed.comm import tcp, utils
from distributed.protocol import pickle as theirs
serialize = sys.modules["distributed.protocol.serialize"]
assert client.loads is theirs.loads is serialize.pickle.loads is plain.plain_loads
assert theirs.pickle.loads is client.pickle.loads is plain.plain_loads
assert utils.protocol.loads is protocol.core.loads is plain.plain_message
assert client.clean_exception is core.clean_exception is plain.plain_error
assert tcp.read_bytes_rw.__module__ == tcp.unpack_frames.__module__ == plain.__name__
ours = [vars(module) for name, module in sys.modules.items() if name.startswith("distributed")]
left = [values["__name__"] for values in ours if pickle in values.values()]
assert not left, left
"""


@pytest.mark.soak
@pytest.mark.real
@pytest.mark.skipif(find_spec("distributed") is None, reason="the extra [cluster] is not installed")
def test_every_reader_of_dask_is_replaced() -> None:
    subprocess.run([sys.executable, "-c", NAMES], check=True)


def test_an_outcome_has_bytes_by_names_alone() -> None:
    from arena_server.places.workers.plain import plain_outcome

    outcome, host = plain_outcome((b"record", "", False, "box", {"ann": b"kept"}))
    assert (outcome.record, outcome.stored, host) == (b"record", {"ann": b"kept"}, "box")
    for stored in ({1: b"kept"}, {"ann": "kept"}, [("ann", b"kept")], None):
        with pytest.raises(NotPlain, match="a worker has sent what is no outcome of a game"):
            plain_outcome((b"record", "", False, "box", stored))
