"""The kinds of values that stand in a line: the form of each, how it reads and how it prints.

A value has one form only, so what prints reads back and what reads prints back.
It must not know: verbs, options, lines, or which message a value belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

#: Digits of the longest number (in milliseconds, thirty years): int() stays cheap on any input.
NUMBER_DIGITS: Final = 12


class FieldError(ValueError):
    """A text or a value that is not of its kind; the kind's `meaning` says what was expected."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value. `pattern` is the form: a regular expression without groups.

    `convert` makes a value of any text of that form; `print` is its inverse, and may give
    a text that is not of the form if the value is not of the kind. `meaning` completes
    "it must be ...".
    """

    name: str
    meaning: str
    pattern: str
    convert: Callable[[str], Any]
    print: Callable[[Any], str]

    def fits(self, text: str) -> bool:
        """Whether `text` is of this kind."""
        return re.fullmatch(self.pattern, text) is not None

    def read(self, text: str) -> Any:
        """Give the value of a text. Raises FieldError if the text is not of this kind."""
        if not self.fits(text):
            raise FieldError(f"it must be {self.meaning}")
        return self.convert(text)


def valid_name(text: str) -> bool:
    """Whether `text` may be the name of a bot: 1 to 32 letters, digits, `_ . -`, no sign first."""
    return NAME.fits(text)


def valid_key(text: str) -> bool:
    """Whether `text` may be the key of an option."""
    return re.fullmatch(KEY, text) is not None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _print_numbers(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _print_words(values: tuple[str, ...]) -> str:
    # A comma inside a value would make two of it; an empty text is of neither kind.
    return ",".join(values) if not any("," in value for value in values) else ""


def _list(pattern: str) -> str:
    return f"{pattern}(?:,{pattern})*"


KEY: Final = "[a-z][a-z0-9_-]{0,31}"

_COUNT: Final = f"(?:0|[1-9][0-9]{{0,{NUMBER_DIGITS - 1}}})"
_INTEGER: Final = f"(?:0|-?[1-9][0-9]{{0,{NUMBER_DIGITS - 1}}})"
_NAME: Final = "[A-Za-z0-9][A-Za-z0-9_.-]{0,31}"
_WORD: Final = "[!-~]+"
_PART: Final = "[!-+.-~-]+"  # a word without a comma
_DIGITS: Final = f"at most {NUMBER_DIGITS} digits"

COUNT: Final = Kind("count", f"a whole number of {_DIGITS}", _COUNT, int, str)
COUNTS: Final = Kind(
    "counts", f"whole numbers of {_DIGITS} with commas between them", _list(_COUNT), _numbers, _print_numbers
)
INTEGER: Final = Kind("integer", f"a whole or negative number of {_DIGITS}", _INTEGER, int, str)
INTEGERS: Final = Kind(
    "integers",
    f"whole or negative numbers of {_DIGITS} with commas between them",
    _list(_INTEGER),
    _numbers,
    _print_numbers,
)
WORD: Final = Kind("word", "printable ASCII without spaces", _WORD, str, str)
WORDS: Final = Kind(
    "words", "words of printable ASCII with commas between them", _list(_PART), _words, _print_words
)
NAME: Final = Kind("name", "1 to 32 letters, digits, `_`, `.`, `-`, a letter or digit first", _NAME, str, str)
NAMES: Final = Kind("names", "names with commas between them", _list(_NAME), _words, _print_words)
HEX: Final = Kind(
    "hex", "bytes as pairs of hexadecimal digits 0-9a-f", "(?:[0-9a-f]{2})*", bytes.fromhex, bytes.hex
)
TEXT: Final = Kind(
    "text", "words of printable ASCII with single spaces between them", f"{_WORD}(?: {_WORD})*", str, str
)

KINDS: Final = (COUNT, COUNTS, INTEGER, INTEGERS, WORD, WORDS, NAME, NAMES, HEX, TEXT)
