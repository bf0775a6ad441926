"""What `arena serve` does before it listens: options and files in, contests and bound ports out.

    files, options -> ContestSpec of each contest -> database checked -> ports bound -> Prepared

It is over in milliseconds, as `listening` follows it: what takes longer to load is imported later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from arena_cli.serve_options import ServeOptions
from arena_cli.served_contests import added, invited, load, seated, spec_of
from arena_cli.web_ports import bind_web, casual_setup
from arena_cli.workers import WorkerOptions
from arena_server.errors import ConfigError, StoreError

if TYPE_CHECKING:
    import socket

    from arena_cli.season import Season, SeatedContest
    from arena_server.host.interfaces import Cipher
    from arena_server.places.base import LocalBot
    from arena_server.places.workers.base import Workers
    from arena_server.store.database import Database as StoreURL
    from arena_server.store.ownership import BeginLock
    from arena_server.terms.config import ContestConfig
    from arena_server.terms.schema import ServerTable
    from arena_server.terms.spec import ContestSpec
    from arena_server.terms.stages import SeasonStage
    from arena_server.terms.submissions import SubmissionSetup
    from arena_server.web.ports import Invitation, WebPorts


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
    line, others were added to a server of it. No other server begins contests in the database until
    `beginning` is released.
    """

    specs: Sequence[ContestSpec]
    database: StoreURL
    server: ServerTable
    sock: socket.socket
    web: WebPorts
    beginning: BeginLock
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

    def close(self) -> None:
        """Give up the port of the bots and the lock, as far as the host has not."""
        self.sock.close()
        self.beginning.release()


def prepare(paths: Sequence[Path], options: ServeOptions, *, keep: bool = True) -> Prepared:
    """Check the input and bind the ports. Raises UserError, with no port left open.

    With `keep` a contest of these that is over is shown, and none begins in its place; without, as for a
    tournament, it begins at once.
    """
    seasons = load(paths, options)
    own = frozenset(stage.name for season in seasons for stage in season.stages)
    contests = seated(seasons, options)
    if keep:  # a tournament plays its own file alone
        contests += added(options, own, contests[0].file.server)
    files = [contest.file for contest in contests]
    server = files[0].server
    later = [] if options.stage else [(season, stage) for season in seasons for stage in season.planned]
    persons = [person for contest in contests for person in invited(contest.file, contest.file.bot)]
    persons += [person for _, stage in later for person in invited(stage.file, stage.pool)]
    workers = _workers(contests, options.workers)
    specs = []
    for contest in contests:
        begins = options.new and contest.file.contest.name in own  # one that was added goes on
        specs.append(spec_of(contest, replace(options, new=begins), persons, keep=keep))
    planned = [_planned(season, stage, options, persons, keep=keep) for season, stage in later]
    _check_places(paths, server, specs)
    submissions = _submissions(contests, options)
    if workers is not None and submissions:
        workers = replace(workers, saved=submissions[0].saved)
    idle = _idle(seasons, contests)
    changed = partial(_check_unchanged, seasons, options)
    prepared = open_ports(specs, server, options, persons, submissions=submissions, idle=idle, check=changed)
    prepared = replace(prepared, web=_of_contests(prepared.web, contests))
    if submissions and prepared.inner is None:
        from arena_server.host.sockets import bind

        prepared = replace(prepared, inner=bind("127.0.0.1", 0))
    # A contest that is only shown needs no program and no worker.
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


def _check_unchanged(seasons: Sequence[Season], options: ServeOptions) -> None:
    """Raise StoreError if another server has begun a stage since the seasons were read."""
    from arena_cli.season import with_begun
    from arena_server.store.database import database_of

    if options.new:
        return
    database = database_of(options.database)
    for season in seasons:
        now = with_begun(season, database).begun
        for name, begun in now.items():
            if name not in season.begun or season.begun[name].number != begun.number:
                raise StoreError(
                    f"{database}: contest {begun.number} {name} was begun by another server just now; "
                    "stop that one, or start this one again"
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
        if (begun := now.begun.get(stage.name)) is not None:
            raise StoreError(
                f"{database}: contest {begun.number} {stage.name} was begun by another server; "
                "one server is enough: stop this one"
            )
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


def _of_contests(ports: WebPorts, contests: Sequence[SeatedContest]) -> WebPorts:
    """The ports with what the files say: whose site it is, and the engines that visitors may play against."""
    from arena_server.web.identity import identity_of

    engines = {
        (contest.file.contest.name, bot.name): bot.engine
        for contest in contests
        for bot in contest.file.bot
        if bot.engine is not None
    }
    about = identity_of(contests[0].file.site, contests[0].path)
    return replace(ports, about=about, casual=ports.casual and replace(ports.casual, engines=engines))


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
    check: Callable[[], None] = lambda: None,
) -> Prepared:
    """Check libraries and database, and bind the ports. Raises UserError, with no port left open.

    Waits for another server that is beginning contests in the database, then calls `check`. A contest of
    `idle` is refused for the reason that stands there, unless it goes on or is over.
    """
    from arena_server.host.sockets import bind
    from arena_server.store.database import database_of
    from arena_server.store.ownership import BeginLock
    from arena_server.store.preflight import check_writable
    from arena_server.terms.config import check_extra

    where = database_of(options.database, async_journal=server.journal_commit == "async")
    is_new = isinstance(where, Path) and not where.exists()
    for spec in specs:
        check_extra(spec.config)
        if spec.name in idle and (is_new or spec.new):
            raise ConfigError(idle[spec.name])
    check_writable(where)  # it makes a database where there is none: all other input is right
    with ExitStack() as undo:
        # Before it is asked what has begun, and until all has.
        beginning = BeginLock(where)
        undo.callback(beginning.release)
        check()
        over = _over(where, specs, idle)
        submissions = [setup for setup in submissions if setup.contest not in over]
        cipher = _cipher(server)
        sock = bind(options.host or server.host, options.port if options.port is not None else server.port)
        undo.callback(sock.close)
        bound = bind_web(server, options.web)
        ports = replace(bound, persons=persons, casual=casual_setup(where, server, bound.site))
        if persons and ports.site is None:
            raise ConfigError(f"bot {persons[0].name}: a person plays on the web page; serve it")
        if submissions and ports.site is None:
            what = next((f"bot {name}: submit" for name in submissions[0].bots), "submissions: late")
            raise ConfigError(f"{what}: versions are sent to the web page; serve it")
        undo.pop_all()
    inner = None if ports.casual is None else ports.casual.sock
    specs = [replace(spec, over=spec.name in over) for spec in specs]
    return Prepared(specs, where, server, sock, ports, beginning, cipher, bots, submissions, inner, over=over)


def _over(where: StoreURL, specs: Sequence[ContestSpec], idle: Mapping[str, str]) -> frozenset[str]:
    """The contests that are over. Raises UserError for one that can neither go on nor begin."""
    from arena_server.core.life import FINAL, INCOMPLETE
    from arena_server.store.preflight import check_contest

    over = set()
    for spec in specs:
        names = [entrant.name for entrant in spec.entrants]
        status = check_contest(where, spec.config, names, new=spec.new, seeded=spec.seeded, keep=spec.keep)
        # An incomplete one goes on, unless a later stage has begun with its table.
        if status in FINAL or (spec.closed and status == INCOMPLETE):
            over.add(spec.name)
        elif status is None and spec.name in idle:
            raise ConfigError(idle[spec.name])
    return frozenset(over)


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


def _workers(contests: Sequence[SeatedContest], options: WorkerOptions) -> Workers | None:
    """Where the games of the only contest are played; None: here. Raises ConfigError."""
    if options.on is None:
        return None
    from arena_cli.tournament import bots_to_start
    from arena_server.places.base import LocalBot
    from arena_server.terms.sandbox import Sandbox

    if len(contests) > 1:
        raise ConfigError(f"--on: expected one contest, got {len(contests)}")
    path, file = contests[0].path, contests[0].file
    if file.contest.validation or file.contest.probation_for is not None:
        raise ConfigError(
            f"{path}: contest: expected neither validation nor probation_for with --on, "
            "because validation games need bots that log in"
        )
    if file.submissions.late:
        raise ConfigError(
            f"{path}: submissions.late: expected none with --on, whose workers play the bots of the file"
        )
    bots = {bot.name: bot for bot in bots_to_start(file, path) if bot.slot == 1}
    limits = file.container.limits()
    bots |= {
        bot.name: LocalBot(bot.name, (), "", sandbox=Sandbox("", bot.limits(limits)), resources=bot.resources)
        for bot in file.bot
        if bot.submit
    }
    for bot in file.bot:
        if bot.name not in bots:
            raise ConfigError(
                f"{path}: bot {bot.name}: expected engine, command, image, build or submit, "
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
