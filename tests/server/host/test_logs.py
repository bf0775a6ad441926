"""Log lines for a reader that may be stuck: bounded, never blocking, one line per event."""

from __future__ import annotations

import json
import os
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.log_events import (
    BotAbsent,
    ConnectionLost,
    GameOver,
    GameVoided,
    LoggedIn,
    LoopStalled,
)
from arena_server.host.log_events import ContestTakenUp
from arena_server.host.logs import LineWriter, Log, format_json, format_text, log_fields


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


def fill(fd: int) -> None:
    """Write until the pipe takes nothing more, with the end of a line last."""
    os.set_blocking(fd, False)
    with suppress(BlockingIOError):
        while True:
            os.write(fd, b"\n" * 4096)
    os.set_blocking(fd, True)


def test_a_stuck_reader_blocks_no_writer_and_gets_the_number_of_dropped_lines() -> None:
    reader, fd = os.pipe()
    fill(fd)
    writer = LineWriter(fd, limit=10)
    for number in range(100):
        writer.write(f"line {number}")
    writer.write("the newest")
    assert not writer.close(timeout=0)  # the thread is stuck in the full pipe; we are not
    lines: list[str] = []
    with os.fdopen(reader) as pipe:
        while not lines or lines[-1] != "the newest":
            lines.append(pipe.readline().rstrip("\n"))
    dropped = [line for line in lines if line.startswith("...")]
    assert dropped
    assert dropped[-1].endswith("lines dropped: the reader was too slow")
    assert lines[-10:] == [*(f"line {number}" for number in range(91, 100)), "the newest"]
    assert writer.close(timeout=150)
    os.close(fd)


def test_a_closed_reader_is_ignored() -> None:
    reader, fd = os.pipe()
    os.close(reader)
    writer = LineWriter(fd)
    writer.write("not read")
    assert writer.close(timeout=150)
    os.close(fd)


def test_the_level_of_a_log_is_a_threshold() -> None:
    reader, fd = os.pipe()
    writer = LineWriter(fd)
    log = Log(writer, "warning")
    log.write(GameOver("g1", "complete", (3, 0)))
    log.write(LoopStalled(250))
    assert writer.close()
    os.close(fd)
    assert read_all(reader).rstrip().split(" ", 1)[1] == "warning stall ms=250"


def test_an_event_reads_like_this() -> None:
    event = LoggedIn(3, "peer", None, "a b\xff", resumed=True, slot=1)
    assert format_text(1_700_000_000.25, event) == (
        r"2023-11-14T22:13:20.250Z info login conn=3 peer=peer bot=None agent='a b\xff' resumed=True slot=1"
    )


def test_the_same_event_for_a_program() -> None:
    event = LoggedIn(3, "peer", None, "a b\xff", resumed=True, slot=1)
    assert format_json(1_700_000_000.25, event) == (
        '{"time": "2023-11-14T22:13:20.250Z", "level": "info", "event": "login", '
        '"conn": 3, "peer": "peer", "bot": null, "agent": "a b\\u00ff", "resumed": true, "slot": 1}'
    )


def test_a_list_is_one_field_and_an_empty_one_is_none() -> None:
    faults = (("ann", "flood"), ("bob", "quit"))
    assert log_fields(GameOver("g1", "complete", (3, 0), faults)) == {
        "game": "g1",
        "end": "complete",
        "totals": "3,0",
        "faults": "ann:flood,bob:quit",
    }
    assert log_fields(GameOver("g1", "complete", (3, 0))) == {
        "game": "g1",
        "end": "complete",
        "totals": "3,0",
    }


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_log_has_the_form_that_is_asked_for(form: str) -> None:
    reader, fd = os.pipe()
    writer = LineWriter(fd)
    Log(writer, form=form).write(BotAbsent("a"))
    assert writer.close()
    os.close(fd)
    line = read_all(reader).rstrip("\n")
    assert line.endswith(" warning absent bot=a") == (form == "text")
    assert line.endswith('"level": "warning", "event": "absent", "bot": "a"}') == (form == "json")


TEXTS = st.text() | st.characters(max_codepoint=255)


@given(TEXTS, TEXTS, st.none() | TEXTS, st.integers(), st.booleans())
def test_an_object_a_line_whatever_a_client_sends(
    peer: str, bot: str, agent: str | None, slot: int, resumed: bool
) -> None:
    line = format_json(0, LoggedIn(1, peer, bot, agent, resumed, slot))
    assert line.isascii()
    assert line.isprintable()
    assert list(json.loads(line).items())[1:] == [
        ("level", "info"),
        ("event", "login"),
        ("conn", 1),
        ("peer", peer),
        ("bot", bot),
        ("agent", agent),
        ("resumed", resumed),
        ("slot", slot),
    ]


@given(TEXTS, TEXTS)
def test_nothing_a_client_sends_breaks_out_of_its_line(peer: str, reason: str) -> None:
    line = format_text(0, ConnectionLost(1, peer, None, reason))
    assert line.isascii()
    assert line.isprintable()


def test_a_line_of_one_contest_of_several_names_it() -> None:
    event = GameVoided("g1", "stalled", again=True)
    assert format_text(0, event, "friday").endswith(
        " warning void contest=friday game=g1 reason=stalled again=True"
    )
    assert json.loads(format_json(0, event, "friday"))["contest"] == "friday"
    assert json.loads(format_json(0, ContestTakenUp(3, 4), "friday"))["contest"] == "friday"
