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

    from arena_cli.season import Season, SeatedContest
    from arena_server.host.connection import Cipher
    from arena_server.places.base import LocalBot
    from arena_server.places.workers.base import Workers
    from arena_server.store.database import Database as StoreURL
    from arena_server.terms.config import ContestConfig
    from arena_server.terms.schema import BotTable, ContestFile, ServerTable
    from arena_server.terms.spec import ContestSpec
    from arena_server.terms.stages import SeasonStage
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
    #: The only one of its stages that is played, for `arena tournament`.
    stage: Annotated[str | None, typer.Option("--stage", hidden=True)] = None


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage whose bots are not known yet. `config` is of as many as may come.

    `make` returns its contest once the stages before it are over, None before; it reads the database.
    """

    stage: SeasonStage
    config: ContestConfig
    make: Callable[[], ContestSpec | None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Checked contests with a usable database and bound ports; nothing runs yet.

    `web` has the bound ports of the site and of the organiser. `bots` of the only contest are started here.
    `unstarted` are the bots that have a program in their file, of a server that starts none.
    `submissions` are of the contests whose bots are sent by their authors, and run here; `inner` is a port
    for clients of this machine. With `workers` these play the games of the only contest. The contests of
    `over` have ended before, and are shown; those of `planned` stages are to begin. `stages` are those of
    seasons, with the numbers of contests that another server has played. Those of `own` are of the command
    line, others were added to a server of it.
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
    planned: Sequence[PlannedStage] = ()
    stages: Sequence[tuple[SeasonStage, int | None]] = ()
    own: frozenset[str] = frozenset()


def prepare(paths: Sequence[Path], options: ServeOptions, *, keep: bool = True) -> Prepared:
    """Check the input and bind the ports. Raises UserError, with no port left open.

    With `keep` a contest of these that is over is shown, and none begins in its place; without, as for a
    tournament, it begins at once.
    """
    from arena_server.web.identity import identity_of

    seasons = _load(paths, options)
    own = frozenset(stage.name for season in seasons for stage in season.stages)
    contests = _seated(seasons, options)
    if keep:  # a tournament plays its own file alone
        contests += _added(options, own, contests[0].file.server)
    files = [contest.file for contest in contests]
    server = files[0].server
    later = [] if options.stage else [(season, stage) for season in seasons for stage in season.planned]
    persons = [person for contest in contests for person in _invited(contest.file, contest.file.bot)]
    persons += [person for _, stage in later for person in _invited(stage.file, stage.pool)]
    workers = _workers(contests, options.workers)
    specs = []
    for contest in contests:
        begins = options.new and contest.file.contest.name in own  # one that was added goes on
        specs.append(spec_of(contest, replace(options, new=begins), persons, keep=keep))
    planned = [_planned(season, stage, options, persons, keep=keep) for season, stage in later]
    _check_places(paths, server, specs)
    submissions = _submissions(contests, options)
    about = identity_of(files[0].site, contests[0].path)
    idle = _idle(seasons, contests)
    prepared = open_ports(specs, server, options, persons, submissions=submissions, idle=idle)
    prepared = replace(prepared, web=replace(prepared.web, about=about))
    if submissions and prepared.inner is None:
        from arena_server.host.sockets import bind

        prepared = replace(prepared, inner=bind("127.0.0.1", 0))
    if prepared.over:
        files = [file for file in files if file.contest.name not in prepared.over]
        workers = workers if files else None
    local = [bot.name for file in files for bot in file.bot if bot.is_local and workers is None]
    local += [bot.name for each in planned for bot in each.stage.pool if bot.is_local]
    stages = [each for season in seasons for each in _numbered(season, options.stage)]
    return replace(
        prepared,
        unstarted=list(dict.fromkeys(local)),
        workers=workers,
        planned=planned,
        stages=stages,
        own=own,
    )


def _numbered(season: Season, label: str | None) -> list[tuple[SeasonStage, int | None]]:
    """The stages, with numbers of those before `label`, which is played alone; None: all are played."""
    stages = [stage for stage in season.stages if stage.season]
    before = 0 if label is None else [stage.label for stage in stages].index(label)
    return [
        (stage, season.begun[stage.name].number if place < before and stage.name in season.begun else None)
        for place, stage in enumerate(stages)
    ]


def _planned(
    season: Season, stage: SeasonStage, options: ServeOptions, persons: Sequence[Invitation], *, keep: bool
) -> PlannedStage:
    """A stage of a season that begins while the server runs."""
    from arena_server.store.database import database_of
    from arena_server.terms.file import config_of

    database = database_of(options.database)
    options = replace(options, new=True)  # one of its name, if there is one, is of an earlier run

    def make() -> ContestSpec | None:
        from arena_cli.season import with_begun
        from arena_server.core.life import RUNNING, STOPPED

        now = with_begun(season, database)
        if any(now.begun[name].status in (RUNNING, STOPPED) for name in stage.upstream if name in now.begun):
            return None
        return spec_of(now.seat(stage, database), options, persons, keep=keep)

    return PlannedStage(stage, config_of(stage.file), make)


def _idle(seasons: Sequence[Season], contests: Sequence[SeatedContest]) -> dict[str, str]:
    """By contest what is to be said of its first key that would decide nothing in a new one."""
    from arena_server.terms.stages import idle_keys_of_stages

    now, here = datetime.now(UTC), {contest.file.contest.name for contest in contests}
    found: dict[str, str] = {}
    for season in seasons:
        for stage, text in idle_keys_of_stages(season.stages, now):
            # A mistake in a stage that begins later is said before the first one begins.
            name = stage.name if stage.name in here else season.stages[0].name
            found.setdefault(name, f"{season.path}: {text}")
    return found


def _submissions(contests: Sequence[SeatedContest], options: ServeOptions) -> list[SubmissionSetup]:
    """The contests with bots that are sent by their authors. Raises ConfigError."""
    if not any(contest.file.takes_versions for contest in contests):
        return []
    from arena_server.store.database import database_of
    from arena_server.terms.file import submissions_of

    where = database_of(options.database)
    found = []
    for contest in contests:
        beside = where.with_name(f"{where.name}-submissions") if isinstance(where, Path) else None
        setup = submissions_of(contest.file, contest.path, beside)
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
    from arena_server.core.life import FINAL, INCOMPLETE
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
        if status in FINAL or (spec.closed and status == INCOMPLETE):
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


def _load(paths: Sequence[Path], options: ServeOptions) -> list[Season]:
    """Read the configurations of all contests. Raises ConfigError or StoreError."""
    from arena_cli.season import load_seasons
    from arena_server.store.database import database_of
    from arena_server.terms.file import check_remote_bots

    # With `stage` the contest of this stage is the new one.
    new = options.new and options.stage is None
    seasons = load_seasons(_expand(paths), options.library, database_of(options.database), new=new)
    found: dict[str, Path] = {}
    first = seasons[0].stages[0].file.server
    for season in seasons:
        for stage in season.stages:
            file = stage.file
            if (other := found.get(stage.name)) is not None:
                raise ConfigError(f"{season.path}: contest.name: {stage.name!r} is that of {other}, too")
            if file.server != first:
                raise ConfigError(
                    f"{season.path}: server: expected the same table as in {next(iter(found.values()))}:"
                    " one server has one port"
                )
            found[stage.name] = season.path
            host = options.host or file.server.host
            check_remote_bots(stage.everyone, host, tournament=False, debug_bot=options.debug_bot)
    return seasons


def _seated(seasons: Sequence[Season], options: ServeOptions) -> list[SeatedContest]:
    """The contests that begin or go on now. Raises ConfigError or StoreError."""
    from arena_server.store.database import database_of

    if options.stage is None:
        return [contest for season in seasons for contest in season.seated]
    (season,) = seasons
    seated = {contest.stage.label: contest for contest in season.seated}
    if options.stage in seated and not (options.new and seated[options.stage].stage.sources):
        return [seated[options.stage]]
    stage = next(stage for stage in season.stages if stage.label == options.stage)
    return [season.seat(stage, database_of(options.database))]


def _added(options: ServeOptions, own: frozenset[str], server: ServerTable) -> list[SeatedContest]:
    """The contests that were added to a running server of the contests `own`. Raises UserError.

    One whose name a file of the command line has is that of the command line.
    """
    from arena_cli.season import alone
    from arena_server.store.added import added_beside
    from arena_server.store.database import database_of
    from arena_server.terms.file import load_contest

    paths = added_beside(database_of(options.database), own)
    # The ports are those of the command line, also where they have changed since.
    found = [
        alone(path, load_contest(path).model_copy(update={"server": server}))
        for path in paths
        if path.stem not in own
    ]
    return [contest for contest in found if contest.file.contest.name not in own]


def _expand(paths: Sequence[Path]) -> list[Path]:
    """The files, and those of the folders. Raises ConfigError for a folder without any."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not inside:
            raise ConfigError(f"{path}: expected a folder with *.toml files, it has none")
        files += inside
    return files


def _invited(file: ContestFile, bots: Sequence[BotTable]) -> list[Invitation]:
    """The persons among the bots of a contest."""
    from arena_server.web.ports import invite

    return [invite(bot.name, file.contest.name, file.contest.game) for bot in bots if bot.person]


def spec_of(
    contest: SeatedContest, options: ServeOptions, persons: Sequence[Invitation], *, keep: bool
) -> ContestSpec:
    """The contest of a file; `persons` are invited to it or others, and `keep` is as in `prepare`."""
    from arena_server.terms.file import (
        config_of,
        entrants_of,
        late_versions_of,
        timetable_of,
        webhooks_of,
    )
    from arena_server.terms.spec import ContestSpec

    file = contest.file
    absent_ms = None if options.absent is None else duration(options.absent, "--absent")
    digests = json.loads(os.environ.get(DIGESTS_VARIABLE, "{}"))
    digests |= {
        person.name: sha256(person.token.encode("ascii")).hexdigest()
        for person in persons
        if person.contest == file.contest.name
    }
    logs = options.bot_logs
    if logs is None and file.server.bot_logs is not None:
        logs = Path(file.server.bot_logs)
    config = replace(config_of(file, absent_ms=absent_ms), origin=contest.origin, debug_bot=options.debug_bot)
    begins_at_once = file.contest.quorum is None and not keep  # its bots are started with it
    return ContestSpec(
        config=config,
        entrants=entrants_of(file, digests),
        new=options.new,
        keep=keep and not options.new,
        seeded=file.contest.seed is not None,
        bot_logs=logs,
        timetable=timetable_of(file),
        webhooks=webhooks_of(file),
        contained=frozenset(bot.name for bot in file.bot if bot.in_container),
        late=late_versions_of(file),
        closed=contest.closed,
        quorum=0 if begins_at_once else file.contest.quorum,
    )


def _workers(contests: Sequence[SeatedContest], options: WorkerOptions) -> Workers | None:
    """Where the games of the only contest are played; None: here. Raises ConfigError."""
    if options.on is None:
        return None
    from arena_cli.tournament import bots_to_start

    if len(contests) > 1:
        raise ConfigError(f"--on: expected one contest, got {len(contests)}")
    path, file = contests[0].path, contests[0].file
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
    from arena_server.web.roles import roles_of

    roles = roles_of(server.role)
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
    return WebPorts(
        site, organiser, token, tuple(names), tuple(proxies), tuple(embed), painter=painter, roles=roles
    )


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
