"""The kinds of values of the wire and of records: the form of each, and how it is converted and printed.

A value has exactly one form, so what is printed parses back to the same value, and what parses prints back to
the same text. A message (`messages.py`) names the kind of each of its attributes by the aliases at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from arena_protocol.text import numbers_text

#: Digits of the longest number: 30 years in milliseconds. Bounds the cost of int().
NUMBER_DIGITS: Final = 12


class FieldError(ValueError):
    """A text that is not of its kind; the text of the error is "it must be ..."."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value. `pattern` is its form, a regular expression without groups.

    `convert` makes a value of any text of that form. `source` is the Python expression that
    prints the value named `{0}`, quoted with `'` only, because generated printers inline it. Its
    result may have a wrong form if the value is not of this kind. `meaning` completes
    "it must be ...".
    """

    name: str
    meaning: str
    pattern: str
    convert: Callable[[str], Any]
    source: str = "{0}"

    def fits(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text) is not None

    def parse(self, text: str) -> Any:
        """Return the value of a text. Raises FieldError if the text does not fit."""
        if not self.fits(text):
            raise FieldError(f"it must be {self.meaning}")
        return self.convert(text)

    def print(self, value: Any) -> str:
        """Return the text of a value: the inverse of `parse`."""
        expression = self.source.format("value")
        return str(eval(expression, {"value": value, "numbers_text": numbers_text}))  # noqa: S307 - one of the constants below


def valid_name(text: str) -> bool:
    """Whether `text` may be a bot's name: 1 to 32 letters, digits, `_ . -`; a letter or digit first."""
    return NAME.fits(text)


def valid_key(text: str) -> bool:
    """Whether `text` may be the key of an option."""
    return re.fullmatch(KEY, text) is not None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _list(pattern: str) -> str:
    return f"{pattern}(?:,{pattern})*"


KEY: Final = "[a-z][a-z0-9_-]{0,31}"

_COUNT: Final = f"(?:0|[1-9][0-9]{{0,{NUMBER_DIGITS - 1}}})"
_INTEGER: Final = f"(?:0|-?[1-9][0-9]{{0,{NUMBER_DIGITS - 1}}})"
_NAME: Final = "[A-Za-z0-9][A-Za-z0-9_.-]{0,31}"
_WORD: Final = "[!-~]+"
_PART: Final = "[!-+.-~-]+"  # a word without a comma
_DIGITS: Final = f"at most {NUMBER_DIGITS} digits"

_PRINT_NUMBERS: Final = "numbers_text({0})"
_PRINT_WORDS: Final = "','.join({0})"

COUNT: Final = Kind("count", f"a whole number of {_DIGITS}", _COUNT, int)
COUNTS: Final = Kind(
    "counts", f"whole numbers of {_DIGITS} with commas between them", _list(_COUNT), _numbers, _PRINT_NUMBERS
)
INTEGER: Final = Kind("integer", f"a whole or negative number of {_DIGITS}", _INTEGER, int)
INTEGERS: Final = Kind(
    "integers",
    f"whole or negative numbers of {_DIGITS} with commas between them",
    _list(_INTEGER),
    _numbers,
    _PRINT_NUMBERS,
)
WORD: Final = Kind("word", "printable ASCII without spaces", _WORD, str)
WORDS: Final = Kind(
    "words", "words of printable ASCII with commas between them", _list(_PART), _words, _PRINT_WORDS
)
NAME: Final = Kind("name", "1 to 32 letters, digits, `_`, `.`, `-`, a letter or digit first", _NAME, str)
NAMES: Final = Kind("names", "names with commas between them", _list(_NAME), _words, _PRINT_WORDS)
HEX: Final = Kind(
    "hex", "bytes as pairs of hexadecimal digits 0-9a-f", "(?:[0-9a-f]{2})*", bytes.fromhex, "{0}.hex()"
)
TEXT: Final = Kind(
    "text", "words of printable ASCII with single spaces between them", f"{_WORD}(?: {_WORD})*", str
)

KINDS: Final = (COUNT, COUNTS, INTEGER, INTEGERS, WORD, WORDS, NAME, NAMES, HEX, TEXT)

# The types of attributes of these kinds.
Count = Annotated[int, COUNT]
Counts = Annotated[tuple[int, ...], COUNTS]
Integer = Annotated[int, INTEGER]
Integers = Annotated[tuple[int, ...], INTEGERS]
Word = Annotated[str, WORD]
Words = Annotated[tuple[str, ...], WORDS]
Name = Annotated[str, NAME]
Names = Annotated[tuple[str, ...], NAMES]
Hex = Annotated[bytes, HEX]
Text = Annotated[str, TEXT]
