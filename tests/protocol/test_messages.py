"""Every message parses as the table says, each refusal has its text, and any bytes have an outcome."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.codec import Schema
from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.kinds import valid_name
from arena_protocol.messages import (
    TABLE,
    Error,
    Game,
    Hello,
    Info,
    Message,
    Move,
    Ping,
    Quit,
    Turn,
    encode,
    parse_client,
    parse_server,
)

from .wire import BAD_LINES, TRANSCRIPT, messages, parse, sides


def refused(side: str, line: bytes) -> tuple[ErrorCode, str]:
    with pytest.raises(ProtocolError) as caught:
        parse(side, line)
    assert str(caught.value) == f"{caught.value.code}: {caught.value.text}"
    return caught.value.code, caught.value.text


@all_of(("side", "line", "message"), TRANSCRIPT)
def test_the_transcript_of_the_design_reads_and_prints(side: str, line: bytes, message: Message) -> None:
    assert parse(side, line) == message
    assert encode(message) == line + b"\n"


def test_an_option_that_is_absent_is_its_default() -> None:
    assert parse_client(b"HELLO 1 mybot") == Hello(1, "mybot")
    assert parse_server(b"GAME g1 xo seat=0 seats=2 names=a,b clock=1 increment=0") == Game(
        "g1", "xo", 0, 2, ("a", "b"), 1, 0
    )


def test_a_blank_line_is_a_keep_alive() -> None:
    assert parse_client(b"") is None
    assert parse_server(b"") is None


def test_of_two_carriage_returns_the_first_belongs_to_the_line() -> None:
    ended, doubled = LineReader(CLIENT_LINE_LIMIT).feed(b"MOVE 4\r\nMOVE 4\r\r\n")
    assert isinstance(ended, bytes)
    assert isinstance(doubled, bytes)
    assert parse_client(ended) == Move("4")
    assert refused("C", doubled)[0] is ErrorCode.SYNTAX


def test_options_come_in_any_order() -> None:
    assert parse_server(b"TURN 3 credit=1 clock=5,6 lag=2") == Turn(3, (5, 6), 2, 1)


def test_unknown_options_are_ignored() -> None:
    assert parse_server(b"TURN 3 extra=good clock=5,6 lag=2 credit=1 x-ray=a=b") == Turn(3, (5, 6), 2, 1)
    assert parse_client(b"QUIT politely=yes") == Quit()


def test_the_value_of_an_option_is_everything_after_the_first_equals_sign() -> None:
    assert parse_client(b"HELLO 1 mybot token=a=b=") == Hello(1, "mybot", token="a=b=")


def test_a_positional_may_look_like_an_option() -> None:
    assert parse_client(b"MOVE e8=Q") == Move("e8=Q")


def test_options_of_game_that_the_table_does_not_list_are_the_games_own_in_order() -> None:
    line = b"GAME g1 xo seat=1 z=1 seats=2 a=2 names=a,b clock=1 increment=0 b=3"
    game = parse_server(line)
    assert isinstance(game, Game)
    assert list(game.options.items()) == [("z", "1"), ("a", "2"), ("b", "3")]
    assert encode(game) == b"GAME g1 xo seat=1 seats=2 names=a,b z=1 a=2 b=3 clock=1 increment=0\n"


def test_the_text_of_an_error_runs_up_to_the_options_that_are_known() -> None:
    assert parse_server(b"ERROR full come later x=1") == Error("full", "come later x=1")
    assert parse_server(b"ERROR rate wait x=1 retry_after=5") == Error("rate", "wait x=1", 5)
    assert parse_server(b"ERROR rate retry_after=5") == Error("rate", "retry_after=5")


def test_a_code_of_a_newer_server_is_kept_as_it_is() -> None:
    assert parse_server(b"ERROR weather it rains") == Error("weather", "it rains")


def test_names_are_short_and_plain() -> None:
    assert all(valid_name(name) for name in ("a", "7", "champion-2006", "a_b.C", "x" * 32))
    assert not any(valid_name(name) for name in ("", "-a", ".a", "_a", "a b", "a,b", "é", "a\n", "x" * 33))


@all_of(("side", "line", "text"), BAD_LINES)
def test_a_line_that_cannot_be_read_is_a_syntax_error(side: str, line: bytes, text: str) -> None:
    assert refused(side, line) == (ErrorCode.SYNTAX, text)


@pytest.mark.parametrize("name", [b"my/bot", b"-bot", b"x" * 33, b"token=s3cret"])
def test_a_name_of_a_wrong_form_has_a_code_of_its_own(name: bytes) -> None:
    shown = name.decode()
    assert refused("C", b"HELLO 1 " + name) == (
        ErrorCode.NAME,
        f"HELLO: name must be 1 to 32 letters, digits, `_`, `.`, `-`, a letter or digit first, not '{shown}'",
    )


@pytest.mark.parametrize(
    ("side", "line", "verb"),
    [("C", b"JUMP 4", "JUMP"), ("C", b"move 4", "move"), ("C", b"TURN 1", "TURN"), ("S", b"MOVE 4", "MOVE")],
)
def test_a_verb_of_the_other_direction_or_of_none_is_unknown(side: str, line: bytes, verb: str) -> None:
    assert refused(side, line) == (ErrorCode.UNKNOWN_VERB, f"there is no verb '{verb}'")


@pytest.mark.parametrize(("side", "limit"), [("C", CLIENT_LINE_LIMIT), ("S", SERVER_LINE_LIMIT)])
def test_a_line_longer_than_its_limit_is_refused_unread(side: str, limit: int) -> None:
    assert refused(side, b"x" * (limit + 1)) == (ErrorCode.TOO_LONG, f"a line may have {limit} bytes")
    assert refused(side, b"x" * limit)[0] is ErrorCode.UNKNOWN_VERB


def test_a_ping_that_no_pong_could_answer_is_refused() -> None:
    token = b"x" * (CLIENT_LINE_LIMIT - 5)
    assert parse_server(b"PING " + token) == Ping(token.decode())
    assert refused("S", b"PING x" + token) == (ErrorCode.TOO_LONG, "PING: a line may have 1024 bytes")


# -- the table ----------------------------------------------------------------------------


def test_every_message_is_one_row_and_its_attributes_stand_in_the_order_of_the_row() -> None:
    assert len({schema.verb for schema in TABLE}) == len({schema.type for schema in TABLE}) == len(TABLE)
    for schema in TABLE:
        names = [*schema.positionals, *schema.options, *(["options"] if schema.game_options_after else [])]
        assert list(schema.type.__dataclass_fields__) == names


def test_no_option_of_a_game_is_an_option_of_the_table() -> None:
    own = {"plies", "colours", "lookahead", "start", "board", "size", "win", "m", "coins", "opening"}
    (game,) = [schema for schema in TABLE if schema.game_options_after]
    assert own.isdisjoint(game.options)


@given(messages())
def test_every_message_reads_back_as_it_was_printed(drawn: tuple[Schema, Message]) -> None:
    schema, message = drawn
    line = encode(message)
    assert line.endswith(b"\n")
    for side in sides(schema):
        assert parse(side, line[:-1]) == message


@given(messages(), st.randoms())
def test_the_order_of_options_does_not_matter(drawn: tuple[Schema, Message], random: Random) -> None:
    schema, message = drawn
    if not schema.is_regular:
        return
    tokens = encode(message)[:-1].decode().split(" ")
    options = tokens[1 + len(schema.positionals) :]
    text = []
    if (place := next((i for i, each in enumerate(options) if each.startswith("text=")), None)) is not None:
        options, text = options[:place], options[place:]  # it extends to the end of the line
    options.append("unknown-key=1")
    random.shuffle(options)
    line = " ".join([*tokens[: 1 + len(schema.positionals)], *options, *text]).encode()
    for side in sides(schema):
        assert parse(side, line) == message


# -- fuzz: any bytes give a message, None or ProtocolError, and nothing else ----------------


Outcome = Message | tuple[ErrorCode, str] | None


def outcome(side: str, line: bytes) -> Outcome:
    """What a line leads to; a message must print, read back and be the same."""
    try:
        message = parse(side, line)
    except ProtocolError as error:
        # The server sends the text to the peer: it must have a form on the wire.
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
def mangled(draw: st.DrawFn) -> bytes:
    """A good line with a few cuts, doublings and foreign pieces."""
    line: bytes = draw(st.sampled_from(LINES))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(line)))
        end = draw(st.integers(start, min(len(line), start + 8)))
        piece = draw(st.sampled_from(PIECES) | st.just(line[start:end] * 2) | st.binary(max_size=3))
        line = line[:start] + piece + line[end:]
    return line


@given(st.sampled_from("CS"), mangled() | st.binary(max_size=100))
def test_any_bytes_give_a_message_or_none_or_a_protocol_error(side: str, line: bytes) -> None:
    outcome(side, line)


@given(st.sampled_from("CS"), st.integers(0, 70_000), st.sampled_from(LINES))
def test_long_lines_do_too(side: str, length: int, line: bytes) -> None:
    outcome(side, (line + b" ") * (length // (len(line) + 1)))
    outcome(side, line + b"1," * (length // 2))


@given(
    st.sampled_from("CS"),
    st.lists(mangled() | st.binary(max_size=40), max_size=6),
    st.sampled_from([b"\n", b"\r\n"]),
)
def test_a_stream_leads_to_the_same_whole_and_byte_by_byte(side: str, lines: list[bytes], end: bytes) -> None:
    stream = end.join(lines)
    assert outcomes(side, [stream]) == outcomes(side, [stream[i : i + 1] for i in range(len(stream))])


def outcomes(side: str, chunks: list[bytes]) -> list[Overlong | Outcome]:
    reader = LineReader(60)
    lines = [line for chunk in chunks for line in reader.feed(chunk)]
    return [line if isinstance(line, Overlong) else outcome(side, line) for line in lines]


def test_the_text_of_a_note_extends_to_the_end_of_the_line() -> None:
    line = b"INFO later=1 ply=3 game=g1 text=on ply=4 more"
    expected = Info("g1", 3, text="on ply=4 more")
    assert (parse_client(line), parse_server(line)) == (expected, expected)
