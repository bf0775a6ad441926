"""How any message reads and prints: a row of the table in, a reader and a printer out.

It must not know: which verbs there are, nor what any of them means.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from operator import attrgetter
from typing import Any, Final

from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.fields import NAME, TEXT, WORD, FieldError, Kind, valid_key
from arena_protocol.lines import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT

#: The default of an attribute that has none: no value is ever equal to it.
REQUIRED: Final = object()

#: As much of a peer's token as an error text shows.
SHOWN = 40


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


def shown(token: str) -> str:
    """A token of the peer's as an error text quotes it: never long, never read as an option."""
    return f"'{token}'" if len(token) <= SHOWN else f"'{token[:SHOWN]}...'"


class Reader:
    """Reads the tokens of one verb. Raises ProtocolError (syntax, name) and nothing else."""

    __slots__ = ("_blank", "_count", "_keys", "_own", "_positionals", "_required", "_text", "_type", "_verb")

    def __init__(self, shape: Shape) -> None:
        self._verb = shape.verb
        self._type = shape.type
        self._count = len(shape.positionals)
        self._positionals = tuple(shape.positionals.items())
        self._text = TEXT in shape.positionals.values()
        self._own = shape.own_after is not None
        defaults = shape.defaults
        self._blank = [REQUIRED] * self._count + list(defaults.values())
        # Each option has a bit, to tell at once which of them have been read.
        self._keys = {
            key: (self._count + number, kind, 1 << number)
            for number, (key, kind) in enumerate(shape.options.items())
        }
        self._required = sum(self._keys[key][2] for key in defaults if defaults[key] is REQUIRED)

    def read(self, tokens: list[str]) -> Any:
        """Read the tokens of a line, the verb first, none of them empty."""
        if self._text and len(tokens) > self._count:
            tokens = self._join_text(tokens)
        values = self._blank.copy()
        self._read_positionals(tokens, values)
        if self._keys or len(tokens) > self._count + 1:
            own = self._read_options(tokens, values)
            if self._own:
                values.append(own)
        return self._type(*values)

    def _read_positionals(self, tokens: list[str], values: list[Any]) -> None:
        if len(tokens) <= self._count:
            raise self._missing(name for name, _ in self._positionals[len(tokens) - 1 :])
        for place, (name, kind) in enumerate(self._positionals):
            token = tokens[place + 1]
            try:
                values[place] = kind.read(token)
            except FieldError:
                raise self._wrong(name, kind, token) from None

    def _read_options(self, tokens: list[str], values: list[Any]) -> dict[str, str]:
        """Fill in the options that are known; return the others."""
        strange: dict[str, str] = {}
        seen = 0
        for option in tokens[self._count + 1 :]:
            key, _, value = option.partition("=")
            known = self._keys.get(key)
            if known is None:
                self._keep(option, strange)
                continue
            place, kind, bit = known
            if seen & bit:
                raise self._twice(key)
            try:
                values[place] = kind.read(value)
            except FieldError:
                raise self._wrong(f"{key}=", kind, value) from None
            seen |= bit
        if self._required & ~seen:
            raise self._missing(
                f"{key}=" for key, known in self._keys.items() if known[2] & self._required & ~seen
            )
        return strange

    def _keep(self, option: str, strange: dict[str, str]) -> None:
        """Keep an option that no row knows: a newer peer's, or the game's own."""
        key, equals, value = option.partition("=")
        if not (equals and value and valid_key(key)):
            raise ProtocolError(ErrorCode.SYNTAX, f"{self._verb} takes key=value here, not {shown(option)}")
        if key in strange:
            raise self._twice(key)
        strange[key] = value

    def _join_text(self, tokens: list[str]) -> list[str]:
        """Make one token of a text: all that stands before the options of this row."""
        end = len(tokens)
        while end > self._count + 1 and tokens[end - 1].partition("=")[0] in self._keys:
            end -= 1
        return [*tokens[: self._count], " ".join(tokens[self._count : end]), *tokens[end:]]

    def _missing(self, names: Iterable[str]) -> ProtocolError:
        return ProtocolError(ErrorCode.SYNTAX, f"{self._verb} lacks {', '.join(names)}")

    def _twice(self, key: str) -> ProtocolError:
        return ProtocolError(ErrorCode.SYNTAX, f"{self._verb} has {shown(key + '=')} twice")

    def _wrong(self, what: str, kind: Kind, token: str) -> ProtocolError:
        code = ErrorCode.NAME if kind is NAME else ErrorCode.SYNTAX
        return ProtocolError(code, f"{self._verb}: {what} must be {kind.meaning}, not {shown(token)}")


class Printer:
    """Prints the messages of one verb. Raises LocalProtocolError for what a Reader would refuse."""

    __slots__ = ("_get", "_limit", "_options", "_own_after", "_positionals", "_verb")

    def __init__(self, shape: Shape) -> None:
        self._verb = shape.verb
        self._limit = shape.limit
        self._positionals = tuple((attrgetter(name), name, kind) for name, kind in shape.positionals.items())
        self._options = tuple(
            (attrgetter(key), key, kind, default)
            for (key, kind), default in zip(shape.options.items(), shape.defaults.values(), strict=True)
        )
        self._own_after = shape.own_after

    def print(self, message: Any) -> bytes:
        """Print a message as one line, its line end with it."""
        parts = [self._verb]
        for get, name, kind in self._positionals:
            parts.append(self._value(kind, name, get(message)))
        for get, key, kind, default in self._options:
            value = get(message)
            if value != default:
                parts.append(f"{key}={self._value(kind, key, value)}")
            if key == self._own_after:
                parts += self._own(message.options)
        return self._line(parts)

    def _value(self, kind: Kind, name: str, value: Any) -> str:
        try:
            return kind.print(value)
        except FieldError:
            raise LocalProtocolError(f"{self._verb}: {name} must be {kind.meaning}, not {value!r}") from None

    def _own(self, options: dict[str, str]) -> list[str]:
        """The game's own options; none of them may pass for one of the row's."""
        known = [key for _, key, _, _ in self._options]
        for key in options:
            if key in known or not valid_key(key):
                raise LocalProtocolError(f"{self._verb}: a game's own option may not be called {key!r}")
        return [f"{key}={self._value(WORD, key, value)}" for key, value in options.items()]

    def _line(self, parts: list[str]) -> bytes:
        line = " ".join(parts).encode("ascii")
        if len(line) > self._limit:
            raise LocalProtocolError(f"{self._verb}: {len(line)} bytes are more than a line's {self._limit}")
        return line + b"\n"
