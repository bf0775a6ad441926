"""The kinds of values that stand in a line: the form of each, how it reads and how it prints.

A value has one form only, so what prints reads back and what reads prints back.
It must not know: verbs, options, lines, or which message a value belongs to.

What a row of the table of messages is.

It must not know: which verbs there are, nor what any of them means.

How any message reads and prints: a row of the table in, a reader and a printer out.

It must not know: which verbs there are, nor what any of them means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from typing import Any, Final

from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT

#: Digits of the longest number (in milliseconds, thirty years): int() stays cheap on any input.
NUMBER_DIGITS: Final = 12


class FieldError(ValueError):
    """A text or a value that is not of its kind; the kind's `meaning` says what was expected."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value. `pattern` is the form: a regular expression without groups.

    `convert` makes a value of any text of that form. `source` is the Python expression that
    prints the value named `{0}`, quoted with `'` only: generated printers inline it. It may
    give a text that is not of the form if the value is not of the kind. `meaning` completes
    "it must be ...".
    """

    name: str
    meaning: str
    pattern: str
    convert: Callable[[str], Any]
    source: str = "{0}"

    def print(self, value: Any) -> str:
        """Give the text of a value: the inverse of `convert`."""
        expression = self.source.format("value")
        return str(eval(expression, {"value": value}))  # noqa: S307 - the sources stand below

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

# Two seats are the usual case; `%` is twice as fast as joining a map.
_PRINT_NUMBERS: Final = "'%d,%d' % {0} if len({0}) == 2 else ','.join(map(str, {0}))"
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


#: The default of an attribute that has none: no value is ever equal to it.
REQUIRED: Final = object()


class Direction(Enum):
    """Who may say a verb."""

    CLIENT = "client"
    SERVER = "server"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Shape:
    """One row of the table: how one verb reads and prints.

    `positionals` and `options` map names to kinds, in the order of printing; the names are
    the attributes of `type`, in the same order. A positional is always there; an option may
    be absent if its attribute has a default. A positional of kind TEXT is the last and runs
    to the end of the line or to the options of this row. `own_after` is the option after
    which the game's own options stand; they are the last attribute, `options`.
    """

    verb: str
    type: type[Any]
    direction: Direction
    positionals: dict[str, Kind] = field(default_factory=dict)
    options: dict[str, Kind] = field(default_factory=dict)
    own_after: str | None = None

    @property
    def limit(self) -> int:
        """Bytes of the longest line of this verb, its line end not counted."""
        return SERVER_LINE_LIMIT if self.direction is Direction.SERVER else CLIENT_LINE_LIMIT

    @property
    def defaults(self) -> dict[str, Any]:
        """What each option is when it is absent; REQUIRED where it may not be."""
        given = {f.name: f.default for f in fields(self.type) if f.default is not MISSING}
        return {name: given.get(name, REQUIRED) for name in self.options}

    @property
    def is_regular(self) -> bool:
        """Whether one regular expression tells all values of a line apart."""
        return self.own_after is None and TEXT not in self.positionals.values()

    def pattern(self) -> str:
        """Give the regular expression of a regular line in the order of printing, a group a value."""
        parts = [self.verb, *(f" ({kind.pattern})" for kind in self.positionals.values())]
        for (key, kind), default in zip(self.options.items(), self.defaults.values(), strict=True):
            group = f" {key}=({kind.pattern})"
            parts.append(group if default is REQUIRED else f"(?:{group})?")
        return "".join(parts)


#: As much of a peer's token as an error text shows.
SHOWN: Final = 40


def shown(token: str) -> str:
    """Quote a token of the peer's for an error text: never long, never to be read as an option."""
    return f"'{token}'" if len(token) <= SHOWN else f"'{token[:SHOWN]}...'"


def tokens_of(text: str) -> list[str]:
    """Cut a line into its tokens. Raises ProtocolError (syntax) if it is no line of tokens."""
    if not (text.isascii() and text.isprintable()):
        raise ProtocolError(ErrorCode.SYNTAX, "a line is printable ASCII, and a byte of this one is not")
    tokens = text.split(" ")
    if "" in tokens:
        raise ProtocolError(ErrorCode.SYNTAX, "tokens have one space between them, and none before or after")
    return tokens


class Reader:
    """Reads the lines of one verb. Raises ProtocolError (too-long, syntax, name) and nothing else."""

    __slots__ = ("_blank", "_count", "_exact", "_keys", "_quick", "_required", "_shape")

    def __init__(self, shape: Shape) -> None:
        defaults = shape.defaults
        kinds = [*shape.positionals.values(), *shape.options.values()]
        self._shape = shape
        self._count = len(shape.positionals)
        self._blank = [REQUIRED] * self._count + list(defaults.values())
        # Each option has a bit, to tell at once which of them have been read.
        self._keys = {
            key: (self._count + number, kind, 1 << number)
            for number, (key, kind) in enumerate(shape.options.items())
        }
        self._required = sum(self._keys[key][2] for key in defaults if defaults[key] is REQUIRED)
        self._exact = re.compile(shape.pattern()).fullmatch if shape.is_regular else None
        self._quick = tuple(zip([kind.convert for kind in kinds], self._blank, strict=True))

    def read(self, text: str) -> Any:
        """Read a line that begins with this verb.

        Nearly every line is as the table prints it. One regular expression reads such a
        line, several times as fast as the loops that know every other order and error.
        """
        if len(text) > self._shape.limit:
            # Of the server's lines, PING: its token must also fit into the client's PONG.
            raise self._error(f"a line may have {self._shape.limit} bytes", ErrorCode.TOO_LONG)
        match = self._exact(text) if self._exact else None
        if match is None:
            return self.read_slowly(text)
        return self._shape.type(
            *[
                absent if group is None else convert(group)
                for (convert, absent), group in zip(self._quick, match.groups(), strict=True)
            ]
        )

    def read_slowly(self, text: str) -> Any:
        """Read the same, in any order of the options and with options that no row knows."""
        tokens = self._tokens(text)
        values = self._blank.copy()
        self._read_positionals(tokens, values)
        strange = self._read_options(tokens, values)
        if self._shape.own_after is not None:
            values.append(strange)
        return self._shape.type(*values)

    def _tokens(self, text: str) -> list[str]:
        """Cut a line into tokens; a text, which runs up to the options of this row, is one."""
        tokens = tokens_of(text)
        if TEXT not in self._shape.positionals.values() or len(tokens) <= self._count:
            return tokens
        end = len(tokens)
        while end > self._count + 1 and tokens[end - 1].partition("=")[0] in self._keys:
            end -= 1
        return [*tokens[: self._count], " ".join(tokens[self._count : end]), *tokens[end:]]

    def _read_positionals(self, tokens: list[str], values: list[Any]) -> None:
        names = list(self._shape.positionals)
        if len(tokens) <= self._count:
            raise self._missing(names[len(tokens) - 1 :])
        for place, name in enumerate(names):
            values[place] = self._value(name, self._shape.positionals[name], tokens[place + 1])

    def _read_options(self, tokens: list[str], values: list[Any]) -> dict[str, str]:
        """Fill in the options that the row knows; return the others."""
        strange: dict[str, str] = {}
        seen = 0
        for option in tokens[self._count + 1 :]:
            key, _, value = option.partition("=")
            if key not in self._keys:
                self._keep(option, strange)
                continue
            place, kind, bit = self._keys[key]
            if seen & bit:
                raise self._twice(key)
            values[place] = self._value(f"{key}=", kind, value)
            seen |= bit
        missing = self._required & ~seen
        if missing:
            raise self._missing(f"{key}=" for key, (_, _, bit) in self._keys.items() if bit & missing)
        return strange

    def _keep(self, option: str, strange: dict[str, str]) -> None:
        """Keep an option that no row knows: a newer peer's, or the game's own."""
        key, _, value = option.partition("=")
        if not (value and valid_key(key)):
            raise self._error(f"expected key=value, not {shown(option)}")
        if key in strange:
            raise self._twice(key)
        strange[key] = value

    def _value(self, name: str, kind: Kind, token: str) -> Any:
        try:
            return kind.read(token)
        except FieldError:
            code = ErrorCode.NAME if kind is NAME else ErrorCode.SYNTAX
            raise self._error(f"{name} must be {kind.meaning}, not {shown(token)}", code) from None

    def _missing(self, names: Iterable[str]) -> ProtocolError:
        return self._error(f"{', '.join(names)} must be given")

    def _twice(self, key: str) -> ProtocolError:
        return self._error(f"{key}= may be given once only")

    def _error(self, text: str, code: ErrorCode = ErrorCode.SYNTAX) -> ProtocolError:
        return ProtocolError(code, f"{self._shape.verb}: {text}")


class Printer:
    """Prints the messages of one verb. Raises LocalProtocolError for what would not read back."""

    __slots__ = ("_get", "_line", "_reader", "_shape")

    def __init__(self, shape: Shape, reader: Reader) -> None:
        self._shape = shape
        self._reader = reader
        self._get = [field.name for field in fields(shape.type)]
        self._line = compile_printer(shape)

    def print(self, message: Any) -> bytes:
        """Print a message as one line, with its line end."""
        values = [getattr(message, name) for name in self._get]
        try:
            line = self._line(*values)
            text = line[:-1].decode()
            if self._reader.read(text) == message:
                return line
        except UnicodeEncodeError:
            pass  # a lone surrogate: `_refusal` names the value
        except ProtocolError as error:
            if error.code is ErrorCode.TOO_LONG:
                limit = self._shape.limit
                raise LocalProtocolError(
                    f"{self._shape.verb}: a line may have {limit} bytes, not {len(text)}"
                ) from None
        raise self._refusal(message)

    def _refusal(self, message: Any) -> LocalProtocolError:
        """Say which value has no form on the wire."""
        verb = self._shape.verb
        for name, kind in (self._shape.positionals | self._shape.options).items():
            value = getattr(message, name)
            if value != self._shape.defaults.get(name, REQUIRED) and not _has_form(kind, value):
                return LocalProtocolError(f"{verb}: {name} must be {kind.meaning}, not {value!r}")
        return LocalProtocolError(f"{verb}: this would read back as another message: {message!r}")


def _has_form(kind: Kind, value: Any) -> bool:
    text = kind.print(value)
    return kind.fits(text) and bool(kind.convert(text) == value)


def compile_printer(shape: Shape) -> Callable[..., bytes]:
    """Compile the printer of a row: one function that returns one f-string.

    Its parameters are the attributes of the message in the order of the table, with the same
    defaults. It returns the line with its line end and checks nothing.
    """
    parts = [shape.verb, *(f" {{{kind.source.format(name)}}}" for name, kind in shape.positionals.items())]
    parameters = list(shape.positionals)
    for (key, kind), default in zip(shape.options.items(), shape.defaults.values(), strict=True):
        printed = f" {key}={{{kind.source.format(key)}}}"
        if default is REQUIRED:
            parts.append(printed)
            parameters.append(key)
        else:
            absent = f"{key} is None" if default is None else f"{key} == {default!r}"
            parts.append(f"{{'' if {absent} else f'''{printed}'''}}")
            parameters.append(f"{key}={default!r}")
        if key == shape.own_after:
            parts.append("{''.join([f' {key}={value}' for key, value in options.items()])}")
    if shape.own_after is not None:
        parameters.append("options={}")
    source = f'def printer({", ".join(parameters)}):\n    return f"{"".join(parts)}\\n".encode()\n'
    scope: dict[str, Any] = {}
    exec(compile(source, f"<printer of {shape.verb}>", "exec"), scope)  # noqa: S102 - made of the table alone
    printer: Callable[..., bytes] = scope["printer"]
    return printer
