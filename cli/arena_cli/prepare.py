"""What `arena serve` does before it listens: options and files in, contests and bound ports out.

    files, options -> ContestSpec of each contest -> database checked -> ports bound -> Prepared

It is over in milliseconds, as `listening` follows it: what takes longer to load is imported later.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import (
    DEFAULT_DATABASE,
    DIGESTS_VARIABLE,
    WEB_PORT,
    Database,
    Library,
    Web,
    WebPort,
    duration,
)
from arena_cli.workers import ARENA, WorkerOptions
from arena_server.errors import ArenaError, ConfigError

if TYPE_CHECKING:
    import socket

    from arena_server.host.connection import Cipher
    from arena_server.places.base import LocalBot
    from arena_server.places.workers.base import Workers
    from arena_server.store.database import Database as StoreURL
    from arena_server.terms.schema import ContestFile, ServerTable
    from arena_server.terms.spec import ContestSpec
    from arena_server.terms.submissions import SubmissionSetup
    from arena_server.web.ports import CasualSetup, Invitation, WebPorts

#: Games that visitors of a page on loopback may have at once, where the file gives no number.
CASUAL_GAMES = 2


@dataclass(frozen=True, slots=True)
class WebOptions:
    """The options of the web ports; None leaves the choice to the file."""

    web: Web = None
    web_port: WebPort = None
    web_host: Annotated[
        str | None, typer.Option(help="The address of the web page; else server.web_host, 127.0.0.1.")
    ] = None
    admin_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="The port of metrics and orders, 0 picks one; else server.admin_port."
        ),
    ] = None
    admin_host: Annotated[
        str | None, typer.Option(help="The address of the admin port; else server.admin_host.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What the server hosts, and where; None leaves the choice to the file."""

    host: Annotated[str | None, typer.Option(help="The address to listen on; else server.host.")] = None
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port, 0 picks one; else server.port.")
    ] = None
    database: Database = DEFAULT_DATABASE
    new: Annotated[
        bool,
        typer.Option("--new", help="Begin a new contest though one of this name is unfinished or over."),
    ] = False
    absent: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="Skip the games of a bot after this absence; else contest.absent."
        ),
    ] = None
    web: WebOptions = field(default_factory=WebOptions)
    library: Library = None
    bot_logs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep a private log of every bot here, for `arena log`; else server.bot_logs.",
            show_default=False,
        ),
    ] = None
    debug_bot: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Stop all clocks of a game while this bot thinks, for breakpoints; never with remote bots.",
            show_default=False,
        ),
    ] = None
    workers: WorkerOptions = field(default_factory=WorkerOptions)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Checked contests with a usable database and bound ports; nothing runs yet.

    `web` has the bound ports of the site and of the organiser. `bots` of the only contest are started here.
    `unstarted` are the bots that have a program in their file, of a server that starts none.
    `submissions` are of the contests whose bots are sent by their authors, and run here; `inner` is a port
    for clients of this machine. With `workers` these play the games of the only contest. The contests of
    `over` have ended before, and are shown.
    """

    specs: Sequence[ContestSpec]
    database: StoreURL
    server: ServerTable
    sock: socket.socket
    web: WebPorts
    cipher: Callable[[], Cipher | None] | None = None
    bots: Sequence[LocalBot] = ()
    submissions: Sequence[SubmissionSetup] = ()
    inner: socket.socket | None = None
    unstarted: Sequence[str] = ()
    workers: Workers | None = None
    over: frozenset[str] = frozenset()


def prepare(paths: Sequence[Path], options: ServeOptions, *, keep: bool = True) -> Prepared:
    """Check the input and bind the ports. Raises UserError, with no port left open.

    With `keep` a contest of these that is over is shown, and none begins in its place; without, as for a
    tournament, it begins at once.
    """
    from arena_server.web.identity import identity_of

    files = _load(paths, options)
    server = files[0].server
    specs, persons = [], []
    workers = _workers(paths, files, options.workers)
    for file in files:
        spec, invited = _spec(file, options)
        quorum = file.contest.quorum
        begins_at_once = quorum is None and not keep  # its bots are started with it
        quorum = 0 if begins_at_once else quorum
        specs.append(replace(spec, keep=keep and not options.new, quorum=quorum))
        persons += invited
    _check_places(paths, server, specs)
    submissions = _submissions(paths, files, options)
    about = identity_of(files[0].site, _expand(paths)[0])
    idle = _idle(paths, files)
    prepared = open_ports(specs, server, options, persons, submissions=submissions, idle=idle)
    prepared = replace(prepared, web=replace(prepared.web, about=about))
    if submissions and prepared.inner is None:
        from arena_server.host.sockets import bind

        prepared = replace(prepared, inner=bind("127.0.0.1", 0))
    if prepared.over:
        files = [file for file in files if file.contest.name not in prepared.over]
        workers = workers if files else None
    own = [bot.name for file in files for bot in file.bot if bot.is_local and workers is None]
    return replace(prepared, unstarted=own, workers=workers)


def _idle(paths: Sequence[Path], files: Sequence[ContestFile]) -> dict[str, str]:
    """By contest what is to be said of its first key that would decide nothing in a new one."""
    from arena_server.terms.idle_keys import idle_keys

    now = datetime.now(UTC)
    found = {
        file.contest.name: next((f"{path}: {text}" for text in idle_keys(file, now)), "")
        for path, file in zip(_expand(paths), files, strict=True)
    }
    return {name: text for name, text in found.items() if text}


def _submissions(
    paths: Sequence[Path], files: Sequence[ContestFile], options: ServeOptions
) -> list[SubmissionSetup]:
    """The contests with bots that are sent by their authors. Raises ConfigError."""
    if not any(file.takes_versions for file in files):
        return []
    from arena_server.store.database import database_of
    from arena_server.terms.file import submissions_of

    where = database_of(options.database)
    found = []
    for path, file in zip(_expand(paths), files, strict=True):
        beside = where.with_name(f"{where.name}-submissions") if isinstance(where, Path) else None
        setup = submissions_of(file, path, beside)
        if setup is not None:
            found.append(setup)
    return found


def open_ports(
    specs: Sequence[ContestSpec],
    server: ServerTable,
    options: ServeOptions,
    persons: Sequence[Invitation] = (),
    bots: Sequence[LocalBot] = (),
    submissions: Sequence[SubmissionSetup] = (),
    idle: Mapping[str, str] = MappingProxyType({}),
) -> Prepared:
    """Check libraries and database, and bind the ports. Raises UserError, with no port left open.

    A contest of `idle` is refused for the reason that stands there, unless it goes on or is over.
    """
    from arena_server.core.life import FINAL
    from arena_server.host.sockets import bind
    from arena_server.store.database import database_of
    from arena_server.store.preflight import check_contest, check_writable
    from arena_server.terms.config import check_extra

    where = database_of(options.database, async_journal=server.journal_commit == "async")
    is_new = isinstance(where, Path) and not where.exists()
    for spec in specs:
        check_extra(spec.config)
        if spec.name in idle and (is_new or spec.new):
            raise ConfigError(idle[spec.name])
    check_writable(where)  # it makes a database where there is none: all other input is right
    over = set()
    for spec in specs:
        names = [entrant.name for entrant in spec.entrants]
        status = check_contest(where, spec.config, names, new=spec.new, seeded=spec.seeded, keep=spec.keep)
        if status in FINAL:
            over.add(spec.name)
        elif status is None and spec.name in idle:
            raise ConfigError(idle[spec.name])
    submissions = [setup for setup in submissions if setup.contest not in over]
    cipher = _cipher(server)
    sock = bind(options.host or server.host, options.port if options.port is not None else server.port)
    try:
        bound = _bind_web(server, options.web)
        ports = replace(bound, persons=persons, casual=_casual(where, server, bound.site))
        if persons and ports.site is None:
            raise ConfigError(f"bot {persons[0].name}: a person plays on the web page; serve it")
        if submissions and ports.site is None:
            what = next((f"bot {name}: submit" for name in submissions[0].bots), "submissions: late")
            raise ConfigError(f"{what}: versions are sent to the web page; serve it")
    except ArenaError:
        sock.close()
        raise
    inner = None if ports.casual is None else ports.casual.sock
    return Prepared(specs, where, server, sock, ports, cipher, bots, submissions, inner, over=frozenset(over))


def _check_places(paths: Sequence[Path], server: ServerTable, specs: Sequence[ContestSpec]) -> None:
    """Raise ConfigError unless there is a place for every slot, and some for clients that log in."""
    from arena_server.core.admission import LEAST_PLACES

    slots = sum(entrant.concurrency for spec in specs for entrant in spec.entrants if entrant.plays)
    if server.max_connections < slots + LEAST_PLACES:
        raise ConfigError(
            f"{paths[0]}: server.max_connections: expected at least {slots + LEAST_PLACES}, one for each of "
            f"{slots} slots of bots and {LEAST_PLACES} for clients that log in or watch, "
            f"got {server.max_connections}"
        )


def _load(paths: Sequence[Path], options: ServeOptions) -> list[ContestFile]:
    """Read the configurations of all contests. Raises ConfigError."""
    from arena_server.terms.file import check_remote_bots, load_contest

    found: dict[str, Path] = {}
    files: list[ContestFile] = []
    for path in _expand(paths):
        file = load_contest(path, options.library)
        check_remote_bots(
            file, options.host or file.server.host, tournament=False, debug_bot=options.debug_bot
        )
        if (other := found.get(file.contest.name)) is not None:
            raise ConfigError(f"{path}: contest.name: {file.contest.name!r} is that of {other}, too")
        if files and file.server != files[0].server:
            raise ConfigError(
                f"{path}: server: expected the same table as in {next(iter(found.values()))}:"
                " one server has one port"
            )
        found[file.contest.name] = path
        files.append(file)
    return files


def _expand(paths: Sequence[Path]) -> list[Path]:
    """The files, and those of the folders. Raises ConfigError for a folder without any."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not inside:
            raise ConfigError(f"{path}: expected a folder with *.toml files, it has none")
        files += inside
    return files


def _spec(file: ContestFile, options: ServeOptions) -> tuple[ContestSpec, list[Invitation]]:
    """The contest of a file, and the invitations of the persons who play in it."""
    from arena_server.terms.file import (
        config_of,
        entrants_of,
        late_versions_of,
        timetable_of,
        webhooks_of,
    )
    from arena_server.terms.spec import ContestSpec
    from arena_server.web.ports import invite

    absent_ms = None if options.absent is None else duration(options.absent, "--absent")
    persons = [invite(bot.name, file.contest.name, file.contest.game) for bot in file.bot if bot.person]
    digests = json.loads(os.environ.get(DIGESTS_VARIABLE, "{}"))
    digests |= {person.name: sha256(person.token.encode("ascii")).hexdigest() for person in persons}
    logs = options.bot_logs
    if logs is None and file.server.bot_logs is not None:
        logs = Path(file.server.bot_logs)
    spec = ContestSpec(
        config=replace(config_of(file, absent_ms=absent_ms), debug_bot=options.debug_bot),
        entrants=entrants_of(file, digests),
        new=options.new,
        seeded=file.contest.seed is not None,
        bot_logs=logs,
        timetable=timetable_of(file),
        webhooks=webhooks_of(file),
        contained=frozenset(bot.name for bot in file.bot if bot.in_container),
        late=late_versions_of(file),
    )
    return spec, persons


def _workers(paths: Sequence[Path], files: Sequence[ContestFile], options: WorkerOptions) -> Workers | None:
    """Where the games of the only contest are played; None: here. Raises ConfigError."""
    if options.on is None:
        return None
    from arena_cli.tournament import bots_to_start

    if len(files) > 1:
        raise ConfigError(f"--on: expected one contest, got {len(files)}")
    path, file = _expand(paths)[0], files[0]
    if file.contest.validation or file.contest.probation_for is not None:
        raise ConfigError(
            f"{path}: contest: expected neither validation nor probation_for with --on, "
            "because validation games need bots that log in"
        )
    bots = {bot.name: bot for bot in bots_to_start(file, path) if bot.slot == 1}
    for bot in file.bot:
        if bot.name not in bots:
            raise ConfigError(
                f"{path}: bot {bot.name}: expected engine, command, image or build, "
                "because with --on every bot is started by a worker"
            )
        if bots[bot.name].launcher:
            raise ConfigError(
                f"{path}: bot {bot.name}: expected no launcher, "
                "because with --on every bot is started by a worker"
            )
    return options.workers(list(bots.values()))


def _cipher(server: ServerTable) -> Callable[[], Cipher | None] | None:
    """Return what makes the TLS end of a connection; None without a certificate. Raises ConfigError."""
    if server.tls_certificate is None or server.tls_key is None:
        return None
    from arena_server.host.sockets import tls_ends

    return tls_ends(server.tls_certificate, server.tls_key)


def _paint_link(record: bytes, ply: int | None) -> bytes:
    """`picture.link_png`, whose modules are imported for the first picture, long after the port is open."""
    from arena_cli.picture import link_png

    return link_png(record, ply)


def _bind_web(server: ServerTable, options: WebOptions) -> WebPorts:
    """Bind the ports of the site and of the organiser, and choose the token. Raises ArenaError."""
    from arena_server.host.sockets import bind
    from arena_server.web.admin_file import choose_token
    from arena_server.web.ports import WebPorts

    admin_port = server.admin_port if options.admin_port is None else options.admin_port
    token = choose_token(os.environ)
    organiser = site = None
    if admin_port is not None:
        organiser = bind(options.admin_host or server.admin_host, admin_port, "--admin-port")
    if options.web if options.web is not None else server.web or options.web_port is not None:
        host = options.web_host or server.web_host
        port = server.web_port if options.web_port is None else options.web_port
        try:
            site = bind(host, WEB_PORT if port is None else port, "--web-port")
        except ArenaError:
            if port is not None:
                if organiser is not None:
                    organiser.close()
                raise
            site = bind(host, 0, "--web-port")  # the default is taken: any other will do
    if organiser is None and site is not None and not _is_private(site, server):
        # A public page asks for no token, and orders do not travel over the network in the clear.
        organiser = bind("127.0.0.1", 0)
    names, proxies, embed = server.web_names, server.web_proxies, server.web_embed
    painter = None if site is None or find_spec("PIL") is None else _paint_link
    return WebPorts(site, organiser, token, tuple(names), tuple(proxies), tuple(embed), painter=painter)


def _is_private(site: socket.socket, server: ServerTable) -> bool:
    """Whether only this machine reaches the page: neither another address nor a proxy's name is given."""
    from arena_server.terms.file import LOOPBACK

    return site.getsockname()[0] in LOOPBACK and not server.web_names


def _casual(database: StoreURL, server: ServerTable, site: socket.socket | None) -> CasualSetup | None:
    """Return how visitors start games of their own; None where they may not.

    Without `server.play` they may where only this machine reaches the page.
    """
    from arena_server.host.sockets import bind
    from arena_server.store.database import home_of
    from arena_server.web.ports import CasualSetup

    if site is None:
        return None
    limit = server.play
    if limit is None:
        limit = CASUAL_GAMES if _is_private(site, server) else 0
    if not limit:
        return None
    path = home_of(database)
    sock = bind("127.0.0.1", 0)
    return CasualSetup(limit, path.with_name(f"{path.stem}-play{path.suffix}"), ARENA, sock)
