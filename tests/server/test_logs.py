"""Log lines for a reader that may be stuck: bounded, never blocking, one line per event."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.logs import LineWriter, Log, format_event, format_json


def read_all(fd: int) -> str:
    chunks = []
    while chunk := os.read(fd, 65536):
        chunks.append(chunk)
    os.close(fd)
    return b"".join(chunks).decode()


def test_lines_come_out_in_order() -> None:
    reader, fd = os.pipe()
    writer = LineWriter(fd)
    for number in range(100):
        writer.write(f"line {number}")
    assert writer.close()
    os.close(fd)
    assert read_all(reader).splitlines() == [f"line {number}" for number in range(100)]


def test_a_stuck_reader_blocks_no_writer_and_gets_the_number_of_dropped_lines() -> None:
    reader, fd = os.pipe()
    writer = LineWriter(fd, limit=10)
    big = "x" * 1000
    # The pipe takes 64 KiB, the queue ten lines: five thousand would block any plain write.
    for _ in range(5000):
        writer.write(big)
    writer.write("the newest")
    assert not writer.close(timeout=0)  # the thread is stuck in the full pipe; we are not
    lines = []
    with os.fdopen(reader) as pipe:
        while not lines or lines[-1] != "the newest":
            lines.append(pipe.readline().rstrip("\n"))
    dropped = [line for line in lines if line.startswith("...")]
    assert dropped
    assert dropped[-1].endswith("lines dropped: the reader was too slow")
    assert writer.close(timeout=10)
    os.close(fd)


def test_a_closed_reader_is_ignored() -> None:
    reader, fd = os.pipe()
    os.close(reader)
    writer = LineWriter(fd)
    writer.write("not read")
    assert writer.close(timeout=10)
    os.close(fd)


def test_the_level_of_a_log_is_a_threshold() -> None:
    reader, fd = os.pipe()
    writer = LineWriter(fd)
    log = Log(writer, "warning")
    log.note("info", "quiet")
    log.note("warning", "loud", {"game": "g1"})
    assert writer.close()
    os.close(fd)
    assert read_all(reader).rstrip().split(" ", 1)[1] == "warning loud game=g1"


def test_an_event_reads_like_this() -> None:
    line = format_event(1_700_000_000.25, "info", "zombie", {"game": "g1", "line": b"MOVE 0\xff"})
    assert line == r"2023-11-14T22:13:20.250Z info zombie game=g1 line='MOVE 0\xff'"


def test_the_same_event_for_a_program() -> None:
    fields: dict[str, object] = {"game": "g1", "line": b"MOVE 0\xff", "ms": 250, "again": True, "bot": None}
    line = format_json(1_700_000_000.25, "info", "zombie", fields)
    assert line == (
        '{"time": "2023-11-14T22:13:20.250Z", "level": "info", "event": "zombie", '
        '"game": "g1", "line": "MOVE 0\\u00ff", "ms": 250, "again": true, "bot": null}'
    )


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_log_has_the_form_that_is_asked_for(form: str) -> None:
    reader, fd = os.pipe()
    writer = LineWriter(fd)
    Log(writer, form=form).note("info", "login", {"bot": "a"})
    assert writer.close()
    os.close(fd)
    line = read_all(reader).rstrip("\n")
    assert line.endswith(" info login bot=a") == (form == "text")
    assert line.endswith('"level": "info", "event": "login", "bot": "a"}') == (form == "json")


VALUES = st.one_of(st.text(), st.binary(), st.integers(), st.none(), st.booleans())


@given(st.dictionaries(st.text(), VALUES))
def test_an_object_a_line_whatever_a_client_sends(fields: dict[str, object]) -> None:
    line = format_json(0, "info", "event", {f"x{key}": value for key, value in fields.items()})
    assert line.isascii()
    assert line.isprintable()
    read = json.loads(line)
    assert len(read) == 3 + len(fields)
    for key, value in fields.items():
        assert read[f"x{key}"] == (value.decode("latin-1") if isinstance(value, bytes) else value)


@given(st.dictionaries(st.just("key"), VALUES))
def test_nothing_a_client_sends_breaks_out_of_its_line(fields: dict[str, object]) -> None:
    line = format_event(0, "info", "event", fields)
    assert line.isascii()
    assert line.isprintable()
