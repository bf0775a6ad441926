"""How any message reads and prints: a row of the table in, a reader and a printer out.

It must not know: which verbs there are, nor what any of them means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Final

from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.fields import NAME, TEXT, FieldError, Kind, valid_key
from arena_protocol.shapes import REQUIRED, Shape

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

    __slots__ = ("_exact", "_get", "_reader", "_rows", "_shape")

    def __init__(self, shape: Shape, reader: Reader) -> None:
        kinds = shape.positionals | shape.options
        names = list(kinds)
        if shape.own_after is not None:
            names.insert(names.index(shape.own_after) + 1, "options")
        absent = shape.defaults | {"options": {}}
        self._shape = shape
        self._reader = reader
        self._exact = re.compile(shape.pattern()).fullmatch if shape.is_regular else None
        self._get = _getter(names)
        self._rows = tuple(
            (
                f"{name}=" if name in shape.options else "",
                kinds[name].print if name in kinds else _print_own,
                absent.get(name, REQUIRED),
            )
            for name in names
        )

    def print(self, message: Any) -> bytes:
        """Print a message as one line, without its line end."""
        parts = [self._shape.verb]
        for (prefix, write, absent), value in zip(self._rows, self._get(message), strict=True):
            if absent is REQUIRED or value != absent:
                parts.append(prefix + write(value))
        text = " ".join(parts)
        if not self._reads_back(text, len(parts), message):
            raise self._refusal(message)
        if len(text) > self._shape.limit:
            raise LocalProtocolError(
                f"{self._shape.verb}: a line may have {self._shape.limit} bytes, not {len(text)}"
            )
        return text.encode("ascii")

    def _reads_back(self, text: str, parts: int, message: Any) -> bool:
        if self._exact:
            # The form is right, and no value hides a space: so each part reads as what it is.
            return text.count(" ") == parts - 1 and self._exact(text) is not None
        try:
            return bool(self._reader.read_slowly(text) == message)
        except ProtocolError:
            return False

    def _refusal(self, message: Any) -> LocalProtocolError:
        """Say which value has no form on the wire."""
        verb = self._shape.verb
        for name, kind in (self._shape.positionals | self._shape.options).items():
            value = getattr(message, name)
            if value != self._shape.defaults.get(name, REQUIRED) and not kind.fits(kind.print(value)):
                return LocalProtocolError(f"{verb}: {name} must be {kind.meaning}, not {value!r}")
        return LocalProtocolError(f"{verb}: this would read back as another message: {message!r}")


def _print_own(options: dict[str, str]) -> str:
    return " ".join([f"{key}={value}" for key, value in options.items()])


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Get the attributes of these names, always as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda message: tuple([getattr(message, name) for name in names])
