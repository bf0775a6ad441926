"""Values have one form, values without a form are refused by name, and printers agree with a slow twin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.codec import REQUIRED, Direction, Encoder, Parser, Schema
from arena_protocol.errors import LocalProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT
from arena_protocol.kinds import KINDS, FieldError, Kind
from arena_protocol.messages import (
    Error,
    Game,
    Hello,
    Message,
    Move,
    Next,
    Played,
    Quit,
    Turn,
    Zombie,
    encode,
    printer,
)

from .wire import messages, naive_print

UNPRINTABLE = [
    (Move("a b"), "MOVE: move must be printable ASCII without spaces, not 'a b'"),
    (Move(""), "MOVE: move must be printable ASCII without spaces, not ''"),
    (Move("é"), "MOVE: move must be printable ASCII without spaces, not 'é'"),
    (Move("4\nQUIT"), "MOVE: move must be printable ASCII without spaces, not '4\\nQUIT'"),
    (
        Hello(1, "mybot", token="x agent=y"),
        "HELLO: token must be printable ASCII without spaces, not 'x agent=y'",
    ),
    (
        Hello(1, "my bot"),
        "HELLO: name must be 1 to 32 letters, digits, `_`, `.`, `-`, a letter or digit first, not 'my bot'",
    ),
    (
        Hello(1, "mybot", ("a,b",)),
        "HELLO: games must be words of printable ASCII with commas between them, not ('a,b',)",
    ),
    (
        Hello(1, "mybot", ("",)),
        "HELLO: games must be words of printable ASCII with commas between them, not ('',)",
    ),
    (Hello(-1, "mybot"), "HELLO: version must be a whole number of at most 12 digits, not -1"),
    (
        Turn(10**12, (1,), 0, 0),
        "TURN: ply must be a whole number of at most 12 digits, not 1000000000000",
    ),
    (
        Turn(1, (), 0, 0),
        "TURN: clock must be whole numbers of at most 12 digits with commas between them, not ()",
    ),
    (
        Game("g1", "xo", 1, 2, ("a,b",), 1, 0),
        "GAME: names must be names with commas between them, not ('a,b',)",
    ),
    (Move("\ud800"), "MOVE: move must be printable ASCII without spaces, not '\\ud800'"),
    (
        Error("full", "two  spaces"),
        "ERROR: text must be words of printable ASCII with single spaces between them, not 'two  spaces'",
    ),
    (
        Error("full", ""),
        "ERROR: text must be words of printable ASCII with single spaces between them, not ''",
    ),
    (
        Error("full", "wait, or give retry_after=5"),
        "ERROR: this would parse as another message: "
        "Error(code='full', text='wait, or give retry_after=5', retry_after=None)",
    ),
]


@all_of(("message", "text"), UNPRINTABLE)
def test_a_value_without_a_form_on_the_wire_is_never_sent(message: Message, text: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        encode(message)
    assert str(caught.value) == text


@all_of("options", [{"clock": "5"}, {"zombie": "6"}, {"Plies": "5"}, {"a": "1 b=2"}, {"a": ""}])
def test_a_games_own_option_must_read_back_as_such(options: dict[str, str]) -> None:
    with pytest.raises(LocalProtocolError, match="GAME: this would parse as another message: Game"):
        encode(Game("g1", "xo", 1, 2, ("a", "b"), 1, 0, options=options))


def test_a_line_that_would_be_too_long_is_never_sent() -> None:
    assert len(encode(Move("x" * 1019))) == CLIENT_LINE_LIMIT + 1
    with pytest.raises(LocalProtocolError, match="MOVE: a line may have 1024 bytes, not 1025"):
        encode(Move("x" * 1020))
    with pytest.raises(LocalProtocolError, match="NEXT: a line may have 65536 bytes, not 65537"):
        encode(Next("x" * 65532))


def test_an_empty_offending_line_has_a_form() -> None:
    assert encode(Zombie(1, "flood", 1, b"", "g1")) == b"ZOMBIE ply=1 reason=flood seat=1 line= game=g1\n"


def test_a_schema_without_values_prints_its_verb() -> None:
    schema = Schema("QUIT", Quit, Direction.CLIENT)
    assert Encoder(schema, Parser(schema)).encode(Quit()) == b"QUIT\n"


# -- generated printers -------------------------------------------------------------------


@given(messages())
def test_printers_agree_with_a_loop_over_the_table_and_with_the_checked_encoder(
    drawn: tuple[Schema, Message],
) -> None:
    schema, message = drawn
    line = naive_print(schema, message)
    assert encode(message) == line
    assert (
        printer(schema.type)(*[getattr(message, name) for name in schema.type.__dataclass_fields__]) == line
    )


@given(messages())
def test_a_printer_needs_no_option_that_has_its_default(drawn: tuple[Schema, Message]) -> None:
    schema, message = drawn
    defaults = schema.defaults | ({"options": {}} if schema.game_options_after else {})
    values = {name: getattr(message, name) for name in schema.type.__dataclass_fields__}
    given_values = {name: value for name, value in values.items() if value != defaults.get(name, REQUIRED)}
    assert printer(schema.type)(**given_values) == naive_print(schema, message)


def test_a_printer_takes_the_attributes_in_the_order_of_the_table() -> None:
    played = printer(Played)
    assert played(1, 1, "4", 3, (19997, 20000), 30, (30, 0)) == (
        b"PLAYED 1 seat=1 move=4 time=3 clock=19997,20000 points=30 total=30,0\n"
    )
    assert played(2, 2, "6", 0, (1, 2, 3), -5, (1, -5, 2), "1", "g7") == (
        b"PLAYED 2 seat=2 move=6 time=0 clock=1,2,3 points=-5 total=1,-5,2 reveal=1 game=g7\n"
    )
    assert printer(Turn)(3, (5,), 0, 0) == b"TURN 3 clock=5 lag=0 credit=0\n"


@given(messages())
def test_both_ways_of_parsing_agree(drawn: tuple[Schema, Message]) -> None:
    schema, message = drawn
    text = encode(message)[:-1].decode()
    assert Parser(schema).parse_slowly(text) == Parser(schema).parse(text) == message


@given(st.sampled_from(KINDS), st.text(max_size=20) | st.text("0123456789-,ab ", max_size=20))
def test_a_value_has_one_form_only(kind: Kind, text: str) -> None:
    if kind.fits(text):
        assert kind.print(kind.parse(text)) == text
    else:
        with pytest.raises(FieldError, match=f"^it must be {kind.meaning.split()[0]}"):
            kind.parse(text)
