"""How a message becomes a line and a line a message, from one row of the message table.

    Schema    one row of the table: verb, positional values, options
    Parser    line -> message         Encoder   message -> line, checked
    compile_printer(schema)           values -> line, one generated function, unchecked

The rows themselves are in `messages.py`, the forms of values in `kinds.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from typing import Any, Final, get_args

from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT
from arena_protocol.kinds import NAME, TEXT, FieldError, Kind, valid_key
from arena_protocol.text import MARK, numbers_text

#: The default of an option that has none; equal to no value.
REQUIRED: Final = object()


class Direction(Enum):
    """Which side may send a verb."""

    CLIENT = "client"
    SERVER = "server"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Schema:
    """One row of the message table.

    `positionals` and `options` map the attributes of `type`, in their order, to kinds. A
    positional is always present; an option may be absent if its attribute has a default. A
    positional of kind TEXT is the last one and extends to the end of the line or to the first
    trailing option of this row; an option of kind TEXT is the last one and extends to the end of
    the line. The game's own options follow the option `game_options_after`;
    they are the last attribute, `options`.
    """

    verb: str
    type: type[Any]
    direction: Direction
    positionals: dict[str, Kind] = field(default_factory=dict)
    options: dict[str, Kind] = field(default_factory=dict)
    game_options_after: str | None = None

    @property
    def limit(self) -> int:
        """Bytes of the longest line of this verb, without its line end."""
        return SERVER_LINE_LIMIT if self.direction is Direction.SERVER else CLIENT_LINE_LIMIT

    @property
    def defaults(self) -> dict[str, Any]:
        """The value of each option when it is absent; REQUIRED where it must be present."""
        given = {f.name: f.default for f in fields(self.type) if f.default is not MISSING}
        return {name: given.get(name, REQUIRED) for name in self.options}

    @property
    def is_regular(self) -> bool:
        """Whether one regular expression can separate the values of a line."""
        return self.game_options_after is None and TEXT not in self.positionals.values()

    def pattern(self) -> str:
        """The regular expression of a line in printing order, one group per value."""
        parts = [self.verb, *(f" ({kind.pattern})" for kind in self.positionals.values())]
        for (key, kind), default in zip(self.options.items(), self.defaults.values(), strict=True):
            group = f" {key}=({kind.pattern})"
            parts.append(group if default is REQUIRED else f"(?:{group})?")
        return "".join(parts)


def schema_of(
    verb: str,
    message: type[Any],
    direction: Direction,
    *,
    positionals: int = 0,
    game_options_after: str | None = None,
) -> Schema:
    """Return the row of a message whose attributes have types of `kinds.py`; the first are positional."""
    kinds = [(name, kind) for name, hint in message.__annotations__.items() for kind in _kinds(hint)]
    return Schema(
        verb, message, direction, dict(kinds[:positionals]), dict(kinds[positionals:]), game_options_after
    )


def _kinds(hint: Any) -> list[Kind]:
    """Return the kind of `Word` or `Word | None`; none for another type: that of the game's own options."""
    return [kind for part in (hint, *get_args(hint)) for kind in getattr(part, "__metadata__", ())]


#: Characters of a peer's token that an error text quotes.
QUOTE_LIMIT: Final = 40


#: As a line is decoded.
_MARK: Final = MARK.decode("latin-1")


def quote(token: str) -> str:
    """Quote a peer's token for an error text: bounded, and never parsed as an option."""
    return f"'{token}'" if len(token) <= QUOTE_LIMIT else f"'{token[:QUOTE_LIMIT]}...'"


def split_line(text: str) -> list[str]:
    """Return the tokens of a line. Raises ProtocolError (syntax) for bytes or spaces out of place."""
    # isprintable alone lets other alphabets through, isascii alone control characters.
    if not (text.isascii() and text.isprintable()):
        if text.startswith(_MARK):
            found = "this one begins with a byte order mark (EF BB BF)"
            raise ProtocolError(ErrorCode.SYNTAX, f"a line is printable ASCII, and {found}")
        raise ProtocolError(ErrorCode.SYNTAX, "a line is printable ASCII, and a byte of this one is not")
    tokens = text.split(" ")
    # A blank too many gives an empty token: the only form with a second text of the same meaning.
    if "" in tokens:
        raise ProtocolError(ErrorCode.SYNTAX, "tokens have one space between them, and none before or after")
    return tokens


class Parser:
    """Parses the lines of one verb. Raises ProtocolError (too-long, syntax, name) and nothing else."""

    __slots__ = ("_blank", "_convert", "_count", "_keys", "_match", "_required", "_schema", "_text")

    def __init__(self, schema: Schema) -> None:
        defaults = schema.defaults
        kinds = [*schema.positionals.values(), *schema.options.values()]
        self._schema = schema
        self._count = len(schema.positionals)
        self._blank = [REQUIRED] * self._count + list(defaults.values())
        # Each option has a bit, so that one integer holds the set of options already parsed.
        self._keys = {
            key: (self._count + number, kind, 1 << number)
            for number, (key, kind) in enumerate(schema.options.items())
        }
        self._required = sum(self._keys[key][2] for key in defaults if defaults[key] is REQUIRED)
        #: How the option of kind TEXT begins, if there is one.
        self._text = next((f"{key}=" for key, kind in schema.options.items() if kind is TEXT), None)
        self._match = re.compile(schema.pattern()).fullmatch if schema.is_regular else None
        self._convert = tuple(zip([kind.convert for kind in kinds], self._blank, strict=True))

    def parse(self, text: str) -> Any:
        """Parse a line that begins with this verb.

        Nearly every line has the order of the table. One regular expression parses those, several
        times as fast as `parse_slowly`, which accepts any order and finds the errors.
        """
        if len(text) > self._schema.limit:
            # PING of a server: its token must also fit into the client's PONG.
            raise self._error(f"a line may have {self._schema.limit} bytes", ErrorCode.TOO_LONG)
        match = self._match(text) if self._match else None
        # Not a fault yet: the options may come in another order, or a newer peer has more of them.
        if match is None:
            return self.parse_slowly(text)
        return self._schema.type(
            *[
                absent if group is None else convert(group)
                for (convert, absent), group in zip(self._convert, match.groups(), strict=True)
            ]
        )

    def parse_slowly(self, text: str) -> Any:
        """Parse a line with its options in any order and with options that the row does not have."""
        tokens = self._tokens(text)
        values = self._blank.copy()
        self._parse_positionals(tokens, values)
        unknown = self._parse_options(tokens, values)
        if self._schema.game_options_after is not None:
            values.append(unknown)
        return self._schema.type(*values)

    def _tokens(self, text: str) -> list[str]:
        """Split a line; a value of kind TEXT is one token."""
        tokens = split_line(text)
        if self._text is not None:
            for place, token in enumerate(tokens):
                if token.startswith(self._text):
                    return [*tokens[:place], " ".join(tokens[place:])]
            return tokens
        if TEXT not in self._schema.positionals.values() or len(tokens) <= self._count:
            return tokens
        end = len(tokens)
        # From the end: a text may have words with `=` in it, and only the last ones can be options
        # of this row.
        while end > self._count + 1 and tokens[end - 1].partition("=")[0] in self._keys:
            end -= 1
        return [*tokens[: self._count], " ".join(tokens[self._count : end]), *tokens[end:]]

    def _parse_positionals(self, tokens: list[str], values: list[Any]) -> None:
        names = list(self._schema.positionals)
        if len(tokens) <= self._count:
            raise self._missing(names[len(tokens) - 1 :])
        for place, name in enumerate(names):
            values[place] = self._value(name, self._schema.positionals[name], tokens[place + 1])

    def _parse_options(self, tokens: list[str], values: list[Any]) -> dict[str, str]:
        """Fill in the options of the row and return the others."""
        unknown: dict[str, str] = {}
        seen = 0
        for option in tokens[self._count + 1 :]:
            key, _, value = option.partition("=")
            if key not in self._keys:
                self._keep_unknown(option, unknown)
                continue
            place, kind, bit = self._keys[key]
            # Which of two values counts would be up to the reader: a line has one meaning.
            if seen & bit:
                raise self._twice(key)
            values[place] = self._value(f"{key}=", kind, value)
            seen |= bit
        missing = self._required & ~seen
        if missing:
            raise self._missing(f"{key}=" for key, (_, _, bit) in self._keys.items() if bit & missing)
        return unknown

    def _keep_unknown(self, option: str, unknown: dict[str, str]) -> None:
        """Keep an option that the row does not have: a newer peer's, or the game's own."""
        key, _, value = option.partition("=")
        # An unknown option is a newer peer's only if it has the form of one.
        if not (value and valid_key(key)):
            raise self._error(f"expected key=value, not {quote(option)}")
        if key in unknown:
            raise self._twice(key)
        unknown[key] = value

    def _value(self, name: str, kind: Kind, token: str) -> Any:
        try:
            return kind.parse(token)
        except FieldError:
            code = ErrorCode.NAME if kind is NAME else ErrorCode.SYNTAX
            raise self._error(f"{name} must be {kind.meaning}, not {quote(token)}", code) from None

    def _missing(self, names: Iterable[str]) -> ProtocolError:
        return self._error(f"{', '.join(names)} must be given")

    def _twice(self, key: str) -> ProtocolError:
        return self._error(f"{key}= may be given once only")

    def _error(self, text: str, code: ErrorCode = ErrorCode.SYNTAX) -> ProtocolError:
        return ProtocolError(code, f"{self._schema.verb}: {text}")


class Encoder:
    """Prints the messages of one verb. Raises LocalProtocolError for what would not parse back."""

    __slots__ = ("_attributes", "_parser", "_print", "_schema")

    def __init__(self, schema: Schema, parser: Parser) -> None:
        self._schema = schema
        self._parser = parser
        self._attributes = [field.name for field in fields(schema.type)]
        self._print = compile_printer(schema)

    def encode(self, message: Any) -> bytes:
        """Return the line of a message, with its line end."""
        values = [getattr(message, name) for name in self._attributes]
        try:
            line = self._print(*values)
            text = line[:-1].decode()
            # Parsing what was printed finds every value without a form, also one that would
            # become two tokens.
            if self._parser.parse(text) == message:
                return line
        except UnicodeEncodeError:
            pass  # a lone surrogate: `_refusal` names the value
        except ProtocolError as error:
            if error.code is ErrorCode.TOO_LONG:
                limit = self._schema.limit
                raise LocalProtocolError(
                    f"{self._schema.verb}: a line may have {limit} bytes, not {len(text)}"
                ) from None
        raise self._refusal(message)

    def _refusal(self, message: Any) -> LocalProtocolError:
        """Name the value that has no form on the wire."""
        verb = self._schema.verb
        for name, kind in (self._schema.positionals | self._schema.options).items():
            value = getattr(message, name)
            # A default is left out of the line, so None needs no form.
            if value != self._schema.defaults.get(name, REQUIRED) and not _has_form(kind, value):
                return LocalProtocolError(f"{verb}: {name} must be {kind.meaning}, not {value!r}")
        return LocalProtocolError(f"{verb}: this would parse as another message: {message!r}")


def _has_form(kind: Kind, value: Any) -> bool:
    text = kind.print(value)
    return kind.fits(text) and bool(kind.convert(text) == value)


def compile_printer(schema: Schema, texts: Sequence[str] = ()) -> Callable[..., bytes]:
    """Compile the printer of a row: a function that returns one f-string.

    Its parameters are the attributes of the message, with their order and defaults, those of `texts` as they
    are printed. It returns the line with its line end and checks nothing.
    """
    parts = [schema.verb, *(f" {{{kind.source.format(name)}}}" for name, kind in schema.positionals.items())]
    parameters = list(schema.positionals)
    for (key, kind), default in zip(schema.options.items(), schema.defaults.values(), strict=True):
        source = "{0}" if key in texts else kind.source
        printed = f" {key}={{{source.format(key)}}}"
        if default is REQUIRED:
            parts.append(printed)
            parameters.append(key)
        else:
            # `is` is the cheaper test, and most options are absent.
            absent = f"{key} is None" if default is None else f"{key} == {default!r}"
            parts.append(f"{{'' if {absent} else f'''{printed}'''}}")
            parameters.append(f"{key}={default!r}")
        if key == schema.game_options_after:
            parts.append("{''.join([f' {key}={value}' for key, value in options.items()])}")
    if schema.game_options_after is not None:
        parameters.append("options={}")
    source = f'def printer({", ".join(parameters)}):\n    return f"{"".join(parts)}\\n".encode()\n'
    scope: dict[str, Any] = {"numbers_text": numbers_text}
    exec(compile(source, f"<printer of {schema.verb}>", "exec"), scope)  # noqa: S102 - from the table alone
    printer: Callable[..., bytes] = scope["printer"]
    return printer
