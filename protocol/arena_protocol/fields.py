"""The kinds of values that stand in a line: how each is read and printed.

Reading raises FieldError for every text that printing cannot give, so a value has one form
only. It must not know: verbs, options, lines, or which message a value belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Digits of the longest integer: in milliseconds more than thirty years.
INTEGER_DIGITS = 12

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,31}")
_HEX = re.compile(r"(?:[0-9a-f]{2})*")


class FieldError(ValueError):
    """A text or a value that is not of its kind; the kind's `meaning` says what was expected."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: `read(print(value)) == value`; both raise FieldError.

    `read` is given printable ASCII, possibly empty; `meaning` completes "it must be ...".
    """

    name: str
    meaning: str
    read: Callable[[str], Any]
    print: Callable[[Any], str]


def valid_name(text: str) -> bool:
    """Whether `text` may be the name of a bot: 1 to 32 letters, digits, `_ . -`, no sign first."""
    return _NAME.fullmatch(text) is not None


def valid_key(text: str) -> bool:
    """Whether `text` may be the key of an option: a small letter, then letters, digits, `_`."""
    return _KEY.fullmatch(text) is not None


def _read_count(text: str) -> int:
    # `text` is ASCII, so isdigit() means 0..9; the length keeps int() cheap.
    if text.isdigit() and len(text) <= INTEGER_DIGITS and (text[0] != "0" or text == "0"):
        return int(text)
    raise FieldError


def _read_integer(text: str) -> int:
    if text[:1] == "-" and text != "-0":
        return -_read_count(text[1:])
    return _read_count(text)


def _print_count(value: int) -> str:
    if 0 <= value < 10**INTEGER_DIGITS:
        return str(value)
    raise FieldError


def _print_integer(value: int) -> str:
    return "-" + _print_count(-value) if value < 0 else _print_count(value)


def _read_counts(text: str) -> tuple[int, ...]:
    return tuple([_read_count(part) for part in text.split(",")])


def _print_counts(values: tuple[int, ...]) -> str:
    return ",".join([_print_count(value) for value in _not_empty(values)])


def _read_integers(text: str) -> tuple[int, ...]:
    return tuple([_read_integer(part) for part in text.split(",")])


def _print_integers(values: tuple[int, ...]) -> str:
    return ",".join([_print_integer(value) for value in _not_empty(values)])


def _not_empty(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if values:
        return values
    raise FieldError


def _read_word(text: str) -> str:
    if text:
        return text
    raise FieldError


def _print_word(value: str) -> str:
    if value and value.isascii() and value.isprintable() and " " not in value:
        return value
    raise FieldError


def _read_words(text: str) -> tuple[str, ...]:
    return tuple([_read_word(part) for part in text.split(",")])


def _print_words(values: tuple[str, ...]) -> str:
    if any("," in value for value in values):
        raise FieldError
    return ",".join([_print_word(value) for value in _not_empty(values)])


def _name(text: str) -> str:
    if valid_name(text):
        return text
    raise FieldError


def _read_names(text: str) -> tuple[str, ...]:
    return tuple([_name(part) for part in text.split(",")])


def _print_names(values: tuple[str, ...]) -> str:
    return ",".join([_name(value) for value in _not_empty(values)])


def _read_hex(text: str) -> bytes:
    if _HEX.fullmatch(text):
        return bytes.fromhex(text)
    raise FieldError


def _read_text(text: str) -> str:
    if text and "  " not in text and text[0] != " " and text[-1] != " ":
        return text
    raise FieldError


def _print_text(value: str) -> str:
    if value.isascii() and value.isprintable():
        return _read_text(value)
    raise FieldError


_DIGITS = f"at most {INTEGER_DIGITS} digits"
COUNT = Kind("count", f"a whole number of {_DIGITS}", _read_count, _print_count)
COUNTS = Kind("counts", f"whole numbers of {_DIGITS} with commas between them", _read_counts, _print_counts)
INTEGER = Kind("integer", f"a whole or negative number of {_DIGITS}", _read_integer, _print_integer)
INTEGERS = Kind(
    "integers",
    f"whole or negative numbers of {_DIGITS} with commas between them",
    _read_integers,
    _print_integers,
)
WORD = Kind("word", "printable ASCII without spaces", _read_word, _print_word)
WORDS = Kind("words", "words of printable ASCII with commas between them", _read_words, _print_words)
NAME = Kind("name", "a name of 1 to 32 letters, digits, `_`, `.`, `-`, a letter or digit first", _name, _name)
NAMES = Kind("names", "names with commas between them", _read_names, _print_names)
HEX = Kind("hex", "bytes as pairs of hexadecimal digits 0-9a-f", _read_hex, bytes.hex)
TEXT = Kind("text", "words of printable ASCII with single spaces between them", _read_text, _print_text)

KINDS = (COUNT, COUNTS, INTEGER, INTEGERS, WORD, WORDS, NAME, NAMES, HEX, TEXT)
