"""Arguments and options that several commands share, their checks, and printing helpers."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from arena_server.errors import ArenaError, ConfigError
from arena_server.host.interrupts import handled

if TYPE_CHECKING:
    import ssl

    from arena_protocol.games.base import Game
    from arena_server.web.identity import SiteIdentity

DEFAULT_DATABASE = "sqlite:///arena.db"
#: The port of the web page where none is given; `arena serve` takes any free one if it is taken.
WEB_PORT = 2080
#: Token digests (JSON: name to SHA-256) for bots without one in the file. In the environment,
#: because other users can read a command line.
DIGESTS_VARIABLE = "ARENA_TOKEN_DIGESTS"


def repeated(metavar: str, text: str, *names: str) -> Any:
    """An option that may be given several times, and says so."""
    text = f"{text}; may be given several times."
    return typer.Option(*names, metavar=metavar, help=text, show_default=False)


Config = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The contest's TOML file.", show_default=False)
]
Database = Annotated[
    str,
    typer.Option(
        envvar="ARENA_DATABASE",
        show_envvar=False,
        metavar="URL",
        help="The database of results: sqlite:///FILE or postgresql://...; else ARENA_DATABASE.",
    ),
]
ContestChoice = Annotated[
    str | None,
    typer.Option(
        "--contest",
        metavar="NAME|ID",
        help="Name or number of the contest; the latest by default.",
        show_default=False,
    ),
]
Slot = Annotated[
    int | None,
    typer.Option(min=1, help="Which of the bot's simultaneous games to play; else ARENA_SLOT, else 1."),
]
BotName = Annotated[str | None, typer.Option("--name", help="The bot's name; else ARENA_NAME.")]
BotToken = Annotated[
    str | None,
    typer.Option("--token", help="Its token; safer in ARENA_TOKEN, because other users see this option."),
]
Connect = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="The server; else ARENA_HOST and ARENA_PORT.")
]
#: Of a command that looks for a server here.
ConnectOrHere = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="The server; else ARENA_HOST and ARENA_PORT, else this machine."),
]
ContestName = Annotated[
    str | None,
    typer.Option("--contest", metavar="NAME", help="Which contest of the server; else ARENA_CONTEST."),
]
Tls = Annotated[bool, typer.Option("--tls", help="Encrypt the connection (TLS).")]
TlsCa = Annotated[
    Path | None,
    typer.Option(
        "--tls-ca",
        metavar="FILE",
        help="Encrypt, and trust the certificates in this PEM file.",
        show_default=False,
    ),
]
GameOptions = Annotated[list[str] | None, repeated("KEY=VALUE", "An option of the game", "--option")]
Environment = Annotated[
    list[str] | None,
    repeated(
        "NAME=VALUE",
        "A variable for the programs and containers; NAME alone: with the value that it has here",
        "--env",
    ),
]
Web = Annotated[
    bool | None,
    typer.Option("--web/--no-web", help="Serve the web page for spectators; else server.web, on."),
]
WebPort = Annotated[
    int | None,
    typer.Option(
        min=0, max=65535, help="The port of the web page, 0 picks one; else server.web_port, else 2080."
    ),
]
Color = Annotated[bool, typer.Option("--color/--no-color", help="Colour the board.")]
SiteConfig = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A configuration: the pages have the title, text, links and logo of its [site].",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Library = Annotated[
    Path | None,
    typer.Option(
        "--library",
        "--book",
        metavar="FILE",
        help="Start from the positions of this library.",
        show_default=False,
    ),
]


def site_identity(config: Path | None) -> SiteIdentity:
    """What the pages say of their organiser. Raises ConfigError."""
    from arena_server.terms.stages import load_whole
    from arena_server.web.identity import NO_IDENTITY, identity_of

    return NO_IDENTITY if config is None else identity_of(load_whole(config).site, config)


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """A command for typer in which the fields of a parameter that is a dataclass are parameters.

    A field is declared as a parameter is: its annotation says what `--help` shows. The field of a dataclass
    within a dataclass is expanded, too.
    """
    hints = get_type_hints(command, include_extras=True)
    plain: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            plain += _parameters(kind)
        else:
            plain.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: Any) -> None:
        command(**{name: _collected(hints[name], name, given) for name in signature(command).parameters})

    # Typer reads both: the signature for the order and the defaults, the annotations for the types.
    run.__signature__ = signature(command).replace(parameters=plain)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in plain}
    return run


@cache  # a command reads the same options as a list of parameters, and again as the values that were given
def _hints(group: Any) -> dict[str, Any]:
    return get_type_hints(group, include_extras=True)


def _parameters(group: Any) -> Iterator[Parameter]:
    """The parameters of a command for the fields of a dataclass."""
    hints = _hints(group)
    for field in fields(group):
        kind = hints[field.name]
        if is_dataclass(kind):
            yield from _parameters(kind)
        else:
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=_default(field), annotation=kind)


def _default(field: Field[Any]) -> Any:
    return Parameter.empty if field.default is MISSING else field.default


def _collected(kind: Any, name: str, given: Mapping[str, Any]) -> Any:
    """The value of a parameter or field: that of the option, or the dataclass of its options."""
    if not is_dataclass(kind):
        return given[name]
    assert isinstance(kind, type)
    hints = _hints(kind)
    return kind(**{each.name: _collected(hints[each.name], each.name, given) for each in fields(kind)})


def span(ms: int) -> str:
    """A duration with its two greatest units: 2d 3h, 1h 5m, 3m 20s, 4.2s, 0.05s."""
    seconds = ms // 1000
    if seconds < 60:
        return f"{ms / 1000:.2g}s" if ms < 10_000 else f"{seconds}s"
    for unit, length, part, parts in (("d", 86_400, "h", 3_600), ("h", 3_600, "m", 60), ("m", 60, "s", 1)):
        if seconds >= length:
            return f"{seconds // length}{unit} {seconds % length // parts}{part}"
    raise AssertionError


def refuse(options: Any, why: str, *names: str) -> None:
    """Raise ConfigError for one of these fields of a dataclass of options that has not its default.

    For options that would have no effect.
    """
    defaults = {field.name: field.default for field in fields(options)}
    for name in names:
        if getattr(options, name) != defaults[name]:
            raise ConfigError(f"--{name.replace('_', '-')}: {why}")


@contextmanager
def named_here(*, new: str, database: str = "--database") -> Iterator[None]:
    """Let errors of the server name what this command has in place of `by --new` and of `--database`."""
    try:
        yield
    except ArenaError as error:
        error.args = (str(error).replace("by --new", new).replace("--database", database),)
        raise


def contest_of(given: str | None) -> str | None:
    """Return the contest of --contest, else of ARENA_CONTEST. Raises ConfigError for no name of a contest."""
    from arena_protocol.kinds import valid_name

    name = given or os.environ.get("ARENA_CONTEST") or None
    if name is not None and not valid_name(name):
        raise ConfigError(f"--contest: expected the name of a contest, got {name!r:.40}")
    return name


def server_address(connect: str | None) -> tuple[str, str]:
    """Return HOST:PORT and where it was given. Raises ConfigError."""
    if connect is not None:
        return connect, "--connect"
    host, port = os.environ.get("ARENA_HOST", ""), os.environ.get("ARENA_PORT", "")
    if not host or not port:
        raise ConfigError("say where to play: --connect HOST:PORT, or ARENA_HOST and ARENA_PORT set")
    return f"{host}:{port}", "ARENA_HOST, ARENA_PORT"


def tls_context(tls: bool, certificates: Path | None) -> ssl.SSLContext | None:
    """Return the client context for `--tls` and `--tls-ca`, None without TLS. Raises ConfigError."""
    if not tls and certificates is None:
        return None
    import ssl

    try:
        return ssl.create_default_context(cafile=certificates)
    except OSError as error:
        why = "no certificates in PEM" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConfigError(f"--tls-ca: {certificates}: {why}") from None


def start_positions(path: Path, rules: Game[Any], option: str = "--library") -> str:
    """Return the positions of a library as option `board` of a game. Raises ConfigError, naming `option`."""
    from arena_protocol.games.base import GameError
    from arena_protocol.library import parse_library, start_boards
    from arena_protocol.text import text_of
    from arena_server.errors import ConfigError

    try:
        return start_boards(parse_library(text_of(path.read_bytes())), rules)
    except OSError as error:
        raise ConfigError(f"{option}: cannot read {path}: {error.strerror}") from None
    except (GameError, UnicodeDecodeError) as error:
        raise ConfigError(f"{option}: {path}: {error}") from None


def game_options(given: Iterable[str] | None) -> dict[str, object]:
    """Parse the KEY=VALUE texts of --option. Raises ConfigError."""
    options: dict[str, object] = {}
    for pair in given or ():
        key, equals, value = pair.partition("=")
        if not (key and equals and value):
            raise ConfigError(f"--option: expected KEY=VALUE, got {pair!r}")
        options[key] = value
    return options


def environment_of(given: Iterable[str] | None) -> dict[str, str]:
    """Parse the texts of --env, NAME=VALUE, or NAME for the value that it has here. Raises ConfigError."""
    variables: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            raise ConfigError(f"--env: expected NAME=VALUE or NAME, got {text!r}")
        if name.startswith("ARENA_"):
            raise ConfigError(f"--env: {name}: the variables ARENA_... are set by the referee")
        if not equals and name not in os.environ:
            raise ConfigError(f"--env: {name} is not set here; write {name}=VALUE")
        variables[name] = value if equals else os.environ[name]
    return variables


def numbers(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a game, all texts on the command line, for a contest, which has numbers."""
    return {
        key: int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
        for key, value in options.items()
    }


def duration(text: str, flag: str) -> int:
    """Return the milliseconds, at least 1, of a duration such as 500ms or 20s. Raises ConfigError."""
    from arena_server.terms.tables import parse_duration

    try:
        milliseconds = parse_duration(text)
    except ValueError as error:
        raise ConfigError(f"{flag}: {error}, got {text!r}") from None
    if not milliseconds:
        raise ConfigError(f"{flag}: expected a duration of at least 1ms, got {text!r}")
    return milliseconds


def is_terminal() -> bool:
    return sys.stdout.isatty()


def use_color(color: bool, *, terminal: bool) -> bool:
    """Return whether to print colours: only in a terminal, and neither with --no-color nor NO_COLOR."""
    return color and terminal and not os.environ.get("NO_COLOR")


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C and its like kill the process directly: compiled code runs no Python signal handler.

    Use it only where nothing needs to be cleaned up.
    """
    with handled(signal.SIG_DFL):
        yield


def print_json(value: Any) -> None:
    """Print one JSON document on stdout."""
    typer.echo(json.dumps(value, indent=2))


def check_login(name: str, token: str | None, game_id: str | None = None) -> None:
    """Raise ConfigError unless HELLO can carry `name` and `token`, and WATCH `game_id`."""
    from arena_protocol import messages as wire
    from arena_protocol.errors import LocalProtocolError

    try:
        wire.encode(wire.Hello(wire.VERSION, name, token=token))
        if game_id is not None:
            wire.encode(wire.Watch(game_id))
    except LocalProtocolError as error:
        raise ConfigError(f"the protocol cannot carry this: {error}") from None
