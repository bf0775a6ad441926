"""Lines do not depend on the chunks of the stream, and memory is bounded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.framing import CLIENT_LINE_LIMIT, OVERLONG_HEAD, SERVER_LINE_LIMIT, LineReader, Overlong

LIMIT = 8


def fed(*chunks: bytes, limit: int = LIMIT) -> list[bytes | Overlong]:
    reader = LineReader(limit)
    return [line for chunk in chunks for line in reader.feed(chunk)]


def slow_lines(data: bytes, limit: int) -> list[bytes | Overlong]:
    """The definition, applied to the whole stream: the text before each line end, and an over-long rest."""
    *ended, rest = data.split(b"\n")
    lines = [cut(line.removesuffix(b"\r"), line, limit) for line in ended]
    if len(rest.removesuffix(b"\r")) > limit or len(rest) > limit + 1:
        lines.append(cut(rest, rest, limit))
    return lines


def cut(line: bytes, raw: bytes, limit: int) -> bytes | Overlong:
    return line if len(line) <= limit else Overlong(raw[: min(limit, OVERLONG_HEAD)])


def test_the_limits_of_both_sides_are_those_of_the_protocol() -> None:
    assert (CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT) == (1024, 65536)


def test_a_line_comes_without_its_line_end() -> None:
    assert fed(b"MOVE 4\nMOVE 5\r\n") == [b"MOVE 4", b"MOVE 5"]


def test_blank_lines_are_lines() -> None:
    assert fed(b"\n\r\n") == [b"", b""]


def test_only_one_carriage_return_belongs_to_the_line_end() -> None:
    assert fed(b"A\r\r\n") == [b"A\r"]


def test_a_line_may_come_in_pieces() -> None:
    assert fed(b"MO", b"", b"VE 4", b"\r", b"\nQUIT") == [b"MOVE 4"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_of_just_the_limit_is_a_line(end: bytes) -> None:
    assert fed(b"12345678" + end) == [b"12345678"]


def test_a_longer_line_is_reported_once_and_discarded_to_its_end() -> None:
    assert fed(b"123456789", b"0123", b"456\nMOVE 4\n") == [Overlong(b"12345678"), b"MOVE 4"]


def test_a_longer_line_in_one_chunk_is_reported_too() -> None:
    assert fed(b"123456789\nMOVE 4\n") == [Overlong(b"12345678"), b"MOVE 4"]


def test_a_longer_line_is_reported_before_its_end_comes() -> None:
    reader = LineReader(LIMIT)
    assert reader.feed(b"123456789") == [Overlong(b"12345678")]
    assert reader.feed(b"more of it") == []
    assert reader.pending == 0


def test_one_byte_more_than_the_limit_may_be_a_carriage_return() -> None:
    assert fed(b"12345678\r", b"\n") == [b"12345678"]
    assert fed(b"12345678\r", b"9\n") == [Overlong(b"12345678")]


def test_the_head_of_an_overlong_line_is_short() -> None:
    assert fed(b"x" * 2000 + b"\n", limit=CLIENT_LINE_LIMIT) == [Overlong(b"x" * OVERLONG_HEAD)]


def test_pending_counts_the_bytes_of_an_unfinished_line() -> None:
    reader = LineReader(LIMIT)
    reader.feed(b"MOVE 4\nMO")
    assert reader.pending == 2
    reader.feed(b"VE 5\n")
    assert reader.pending == 0


streams = st.lists(
    st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bc", b"1234567", b"12345678", b"x" * 30])
).map(b"".join)


@given(streams | st.binary(max_size=200), st.integers(1, 12), st.data())
def test_any_bytes_in_any_chunks_give_the_lines_of_the_definition(
    stream: bytes, limit: int, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    reader = LineReader(limit)
    lines = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        lines += reader.feed(stream[start:end])
        assert reader.pending <= limit + 1
    assert lines == slow_lines(stream, limit)
    assert lines == fed(stream, limit=limit)
    assert lines == fed(*(stream[i : i + 1] for i in range(len(stream))), limit=limit)
