"""Printing: what has no form on the wire is never sent, and is named."""

import pytest
from hypothesis import given

from arena_protocol.codec import REQUIRED, Direction, Printer, Reader, Shape
from arena_protocol.errors import LocalProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT
from arena_protocol.messages import (
    Error,
    Game,
    Hello,
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
        "ERROR: this would read back as another message: "
        "Error(code='full', text='wait, or give retry_after=5', retry_after=None)",
    ),
]


@pytest.mark.parametrize(("message", "text"), UNPRINTABLE)
def test_a_value_without_a_form_on_the_wire_is_never_sent(message, text):
    with pytest.raises(LocalProtocolError) as caught:
        encode(message)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "options", [{"clock": "5"}, {"zombie": "6"}, {"Plies": "5"}, {"a": "1 b=2"}, {"a": ""}]
)
def test_a_games_own_option_must_read_back_as_such(options):
    with pytest.raises(LocalProtocolError, match="GAME: this would read back as another message: Game"):
        encode(Game("g1", "xo", 1, 2, ("a", "b"), 1, 0, options=options))


def test_a_line_that_would_be_too_long_is_never_sent():
    assert len(encode(Move("x" * 1019))) == CLIENT_LINE_LIMIT + 1
    with pytest.raises(LocalProtocolError, match="MOVE: a line may have 1024 bytes, not 1025"):
        encode(Move("x" * 1020))
    with pytest.raises(LocalProtocolError, match="NEXT: a line may have 65536 bytes, not 65537"):
        encode(Next("x" * 65532))


def test_an_empty_offending_line_has_a_form():
    assert encode(Zombie(1, "flood", 1, b"", "g1")) == b"ZOMBIE ply=1 reason=flood seat=1 line= game=g1\n"


def test_a_shape_with_nothing_to_say_prints_its_verb():
    shape = Shape("QUIT", Quit, Direction.CLIENT)
    assert Printer(shape, Reader(shape)).print(Quit()) == b"QUIT\n"


# -- generated printers -------------------------------------------------------------------


@given(messages())
def test_printers_agree_with_a_loop_over_the_table_and_with_the_checked_encoder(drawn):
    shape, message = drawn
    line = naive_print(shape, message)
    assert encode(message) == line
    assert printer(shape.type)(*[getattr(message, name) for name in shape.type.__dataclass_fields__]) == line


@given(messages())
def test_a_printer_needs_no_option_that_has_its_default(drawn):
    shape, message = drawn
    defaults = shape.defaults | ({"options": {}} if shape.own_after else {})
    values = {name: getattr(message, name) for name in shape.type.__dataclass_fields__}
    given_values = {name: value for name, value in values.items() if value != defaults.get(name, REQUIRED)}
    assert printer(shape.type)(**given_values) == naive_print(shape, message)


def test_a_printer_takes_the_attributes_in_the_order_of_the_table():
    played = printer(Played)
    assert played(1, 1, "4", 3, (19997, 20000), 30, (30, 0)) == (
        b"PLAYED 1 seat=1 move=4 time=3 clock=19997,20000 points=30 total=30,0\n"
    )
    assert played(2, 2, "6", 0, (1, 2, 3), -5, (1, -5, 2), "1", "g7") == (
        b"PLAYED 2 seat=2 move=6 time=0 clock=1,2,3 points=-5 total=1,-5,2 reveal=1 game=g7\n"
    )
    assert printer(Turn)(3, (5,), 0, 0) == b"TURN 3 clock=5 lag=0 credit=0\n"
