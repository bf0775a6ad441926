"""Durations and sizes: the texts people write, the round trip, and what is refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.errors import ConfigError
from arena_server.terms.file import parse_contest
from arena_server.terms.tables import format_duration, parse_duration

from .test_config_file import toml


@all_of(
    ("text", "milliseconds"),
    [
        ("20s", 20_000),
        ("500ms", 500),
        ("2m", 120_000),
        ("1h", 3_600_000),
        ("0s", 0),
        ("1.5s", 1500),
        ("0.25m", 15_000),
    ],
)
def test_reads_what_people_write(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@given(st.integers(min_value=0, max_value=10**9 - 1))
def test_what_is_printed_reads_back(milliseconds: int) -> None:
    assert parse_duration(format_duration(milliseconds)) == milliseconds


@all_of("text", ["", "20", "s", "-1s", "1 0s", "20 sec", "1e3s", "1.2345s", "٣s", "20S"])
def test_refuses_anything_else(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected a duration such as '500ms', '20s', '2m' or '1h'$"):
        parse_duration(text)


def test_refuses_a_part_of_a_millisecond() -> None:
    with pytest.raises(ValueError, match=r"^expected a whole number of milliseconds$"):
        parse_duration("1.5ms")


@given(st.text(alphabet="0123456789.msh ٣", max_size=12))
def test_any_text_gives_a_number_or_value_error(text: str) -> None:
    with suppress(ValueError):
        assert parse_duration(text) >= 0


@all_of(
    ("size", "line"),
    [
        ("3", 'expected a size such as "20MB", got 3'),
        ('"101MB"', 'expected "1MB" to "100MB", got \'101MB\''),
        ('"0MB"', 'expected "1MB" to "100MB", got \'0MB\''),
    ],
)
def test_what_is_no_size_of_a_submission(size: str, line: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_contest(toml(more=f"[submissions]\nsize = {size}"), "c.toml")
    assert str(refused.value) == f"c.toml: submissions.size: {line}"


def test_a_size_is_read() -> None:
    file = parse_contest(toml(more='[submissions]\nsize = "2MB"'), "c.toml")
    assert file.submissions.rules().limits.packed == 2_000_000
