"""The laws of reading and printing, and the fuzz: any bytes give a message, None or ProtocolError."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol import codec
from arena_protocol.codec import Reader
from arena_protocol.errors import ProtocolError
from arena_protocol.framing import LineBuffer, Overlong
from arena_protocol.messages import Error, encode

from .wire import BAD_LINES, TRANSCRIPT, messages, parse, sides


@given(messages())
def test_every_message_reads_back_as_it_was_printed(drawn):
    shape, message = drawn
    line = encode(message)
    assert line.endswith(b"\n")
    for side in sides(shape):
        assert parse(side, line[:-1]) == message


@given(messages())
def test_the_quick_reading_is_the_slow_reading(drawn):
    shape, message = drawn
    text = encode(message)[:-1].decode()
    assert Reader(shape).read_slowly(text) == Reader(shape).read(text) == message


@given(messages(), st.randoms())
def test_the_order_of_options_does_not_matter(drawn, random):
    shape, message = drawn
    if not shape.is_regular:
        return
    tokens = encode(message)[:-1].decode().split(" ")
    options = tokens[1 + len(shape.positionals) :]
    random.shuffle(options)
    line = " ".join([*tokens[: 1 + len(shape.positionals)], *options, "unknown-key=1"]).encode()
    for side in sides(shape):
        assert parse(side, line) == message


@given(st.sampled_from(codec.KINDS), st.text(max_size=20) | st.text("0123456789-,ab ", max_size=20))
def test_a_value_has_one_form_only(kind, text):
    if kind.fits(text):
        assert kind.print(kind.read(text)) == text
    else:
        with pytest.raises(codec.FieldError, match=f"^it must be {kind.meaning.split()[0]}"):
            kind.read(text)


# -- fuzz: any bytes give a message, None or ProtocolError, and nothing else ----------------


def outcome(side: str, line: bytes):
    """What a line leads to; a message must print, read back and be the same."""
    try:
        message = parse(side, line)
    except ProtocolError as error:
        # The referee tells the text to the peer: it must have a form on the wire.
        encode(Error(error.code, error.text))
        return error.code, error.text
    if message is not None:
        assert parse(side, encode(message)[:-1]) == message
    return message


LINES = [line for _, line, _ in TRANSCRIPT] + [line for _, line, _ in BAD_LINES]
PIECES = [
    b" ",
    b"=",
    b",",
    b"\r",
    b"\t",
    b"\x00",
    b"\xff",
    b"-",
    b"0",
    b"game=g1",
    b"lag=0",
    b"retry_after=1",
]


@st.composite
def mangled(draw) -> bytes:
    """A good line with a few cuts, doublings and foreign pieces."""
    line = draw(st.sampled_from(LINES))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(line)))
        end = draw(st.integers(start, min(len(line), start + 8)))
        piece = draw(st.sampled_from(PIECES) | st.just(line[start:end] * 2) | st.binary(max_size=3))
        line = line[:start] + piece + line[end:]
    return line


@given(st.sampled_from("CS"), mangled() | st.binary(max_size=100))
def test_any_bytes_give_a_message_or_none_or_a_protocol_error(side, line):
    outcome(side, line)


@given(st.sampled_from("CS"), st.integers(0, 70_000), st.sampled_from(LINES))
def test_long_lines_do_too(side, length, line):
    outcome(side, (line + b" ") * (length // (len(line) + 1)))
    outcome(side, line + b"1," * (length // 2))


@given(
    st.sampled_from("CS"),
    st.lists(mangled() | st.binary(max_size=40), max_size=6),
    st.sampled_from([b"\n", b"\r\n"]),
)
def test_a_stream_leads_to_the_same_whole_and_byte_by_byte(side, lines, end):
    stream = end.join(lines)
    assert outcomes(side, [stream]) == outcomes(side, [stream[i : i + 1] for i in range(len(stream))])


def outcomes(side: str, chunks: list[bytes]):
    buffer = LineBuffer(60)
    lines = [line for chunk in chunks for line in buffer.feed(chunk)]
    return [line if isinstance(line, Overlong) else outcome(side, line) for line in lines]
