"""What is read of pickles that a worker has sent."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from arena_server.places.workers.plain import NotPlain, plain_loads


@pytest.mark.parametrize(
    "value", [None, True, 7, 0.5, "text", b"bytes", bytes, (b"", "", False, "w1", "host"), {"a": [1]}]
)
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


def test_a_traceback_is_none_and_an_exception_stands_where_it_was() -> None:
    assert plain_loads(b"ctblib.pickling_support\nunpickle_traceback\n.") is None
    found = plain_loads(b"ctblib.pickling_support\nunpickle_exception\n.")
    assert str(found) == "a worker has sent an exception, which is not read here"


@pytest.mark.parametrize("data", [b"", b"\x80", b"no pickle", pickle.dumps(7)[:-1]])
def test_a_damaged_pickle_raises_nothing(data: bytes) -> None:
    found = plain_loads(data)
    assert isinstance(found, NotPlain)
    assert str(found) == "a worker has sent what cannot be read"
