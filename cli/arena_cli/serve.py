"""`arena serve`: contests on one port.

    prepare     check the input and bind the ports (`prepare.py`): few imports, no asyncio
    listening   printed: connections wait in the backlogs of the ports, and `arena admin` finds its file
    serve       import the rest, run the host, print the standings with --until-finished

The imports inside the functions keep the time to `listening` short; a test holds the list of
modules that must not be loaded before.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from arena_cli.prepare import Prepared, prepare
from arena_cli.serve_options import ServeOptions
from arena_cli.streams import outlive_readers
from arena_server.errors import ArenaError, ConfigError
from arena_server.host.interrupts import stop_signals

if TYPE_CHECKING:
    from arena_server.host.host import Host, HostSetup
    from arena_server.host.logs import Log
    from arena_server.submissions.thread import SubmissionThread
    from arena_server.terms.config import ContestConfig
    from arena_server.web.ports import Adding

STDERR = 2
#: Connections to a game of visitors, beyond those of the contests: its slots, and as many to be replaced.
CASUAL_CONNECTIONS = 8
#: Descriptors of such a game: its connections, both ends of the persons' ones, files, pipes of its engines.
CASUAL_DESCRIPTORS = 40

#: Descriptors of a submitted bot in each slot: its relay's connections, pipes, and some for admissions.
BOT_DESCRIPTORS = 16

#: Whether a server that leaves after the last game stays for its page: `visited` asks for a browser there.
KeepPage = Literal["no", "visited", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """When the server ends, and what it prints."""

    until_finished: Annotated[
        bool,
        typer.Option(
            "--until-finished",
            help="Exit after the last game and print the standings; status 1 if games are missing.",
        ),
    ] = False
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], typer.Option(help="The least level logged on stderr.")
    ] = "info"
    log_format: Annotated[
        Literal["text", "json"], typer.Option(help="The form of the log: text, or a JSON object per line.")
    ] = "text"
    #: Started by `arena tournament`, which reads JSON from stdout.
    supervised: Annotated[bool, typer.Option("--supervised", hidden=True)] = False
    keep_page: Annotated[KeepPage, typer.Option("--keep-page", hidden=True)] = "no"


Configs = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Configurations of contests (TOML); a folder stands for all of its *.toml.",
        show_default=False,
    ),
]


def command(config: Configs, options: ServeOptions = ServeOptions(), run: RunOptions = RunOptions()) -> None:
    """Run a contest server; bots connect to it over TCP.

    Several files are several contests on one port: a bot plays in the one that its HELLO names, or in
    the only one where its token is right. The [server] tables have to be the same. The stages of a file
    with [[stage]] tables are contests, too: each begins when those before it are over.

    Prints `listening on HOST:PORT` when bots can connect. A pair plays as soon as both bots are
    connected. After the last game every bot gets BYE. The server runs until SIGINT, SIGTERM, SIGHUP or
    SIGQUIT (exit status 0): it keeps all results and the running games.

    The same command resumes a contest that was stopped, or whose server was killed: results
    stay, running games continue, void games are played again. One that is over is shown as it ended,
    and --new begins another one of its name.

    It also prints `web on http://HOST:PORT`: standings, running games and replays in a browser,
    and the port that `arena admin` finds by a file next to the database. With an admin port,
    metrics and orders move there: `admin on http://HOST:PORT`. A page that others reach (--web-host,
    server.web_names) has none of them: then they get a port on 127.0.0.1. On its page /play a visitor
    may start games of their own, where the page is on loopback or server.play allows it.

    Example: arena serve examples/local.toml --port 0
    """
    if not run.supervised:  # a supervisor that has gone away ends the server
        outlive_readers()
    # Set before `listening` is printed: a supervisor may send SIGTERM right after it.
    for number in stop_signals():
        signal.signal(number, stopped_early)
    prepared = prepare(config, options, keep=not run.supervised)
    if run.supervised and len(prepared.specs) > 1:
        raise ConfigError(f"--supervised: expected one contest, got {len(prepared.specs)}")
    from arena_server.host.sockets import address_of

    listening = f"listening on {address_of(prepared.sock)}"
    serve(prepared, run, options, begins=partial(typer.echo, listening))


def stopped_early(_number: int, _frame: object) -> NoReturn:
    """Exit before the server has started; the server installs handlers of its own."""
    raise SystemExit(0)


def serve(
    prepared: Prepared,
    run: RunOptions,
    options: ServeOptions | None = None,
    *,
    begins: Callable[[], None] = lambda: None,
) -> None:
    """Serve until the end. Raises ArenaError if the server fails.

    With the `options` that it was prepared by, contests can be added to it. `begins` is called when bots can
    connect and `arena admin` finds the server.
    """
    with closing(prepared), _access_files(prepared) as entered:
        begins()
        _serve_to_the_end(prepared, run, options, entered)


@contextmanager
def _access_files(prepared: Prepared) -> Iterator[Callable[[str], None]]:
    """The files by which `arena admin` finds the contests. Yields what makes that of one that is added."""
    from arena_server.host.sockets import address_of
    from arena_server.web.admin_file import Access, AccessFile

    ports = prepared.web
    organiser = ports.organiser or ports.site
    with ExitStack() as stack:

        def enter(name: str) -> None:
            if organiser is not None and ports.token is not None:
                access = Access(address_of(organiser), ports.token)
                stack.enter_context(AccessFile(prepared.database, name, access, os.environ))

        for config in _configs(prepared):
            enter(config.name)
        yield enter


def _configs(prepared: Prepared) -> list[ContestConfig]:
    return [*(spec.config for spec in prepared.specs), *(each.config for each in prepared.planned)]


def _serve_to_the_end(
    prepared: Prepared, run: RunOptions, options: ServeOptions | None, entered: Callable[[str], None]
) -> None:
    import asyncio

    from arena_server.host.host import HostSetup
    from arena_server.host.logs import LineWriter, Log
    from arena_server.places.workers.dispatch import Dispatcher

    prepared, reserved = _share_descriptors(prepared)
    casual = prepared.web.casual
    games = 0 if casual is None else casual.limit
    setup = HostSetup(
        database=prepared.database,
        max_connections=prepared.server.max_connections + games * CASUAL_CONNECTIONS,
        max_spectators=prepared.server.max_spectators,
        spectators_per_address=prepared.server.spectators_per_address,
        software=prepared.specs[0].config.software,
        until_finished=run.until_finished,
        keep_page=lambda: (
            run.keep_page == "always" or (run.keep_page == "visited" and prepared.web.visited.is_set())
        ),
        cipher=prepared.cipher or (lambda: None),
        reserved=reserved,
        inner=prepared.inner,
        # A supervisor starts their programs.
        unstarted=() if run.supervised else prepared.unstarted,
        leaving=frozenset(prepared.unstarted if run.supervised else (bot.name for bot in prepared.bots)),
        elsewhere=None if prepared.workers is None else partial(Dispatcher, prepared.workers),
    )
    log_lines = LineWriter(STDERR)
    log = Log(log_lines, run.log_level, run.log_format)
    try:
        reports = asyncio.run(
            _serve(prepared, setup, log, entered, None if run.supervised else options, run.supervised)
        )
    finally:
        log_lines.close()
    # A supervisor prints the table itself.
    if run.until_finished and not run.supervised:
        _print_standings(prepared, *reports)


def _print_standings(
    prepared: Prepared, reports: dict[str, dict[str, Any]], problems: Mapping[str, str]
) -> None:
    """Print the standings of all contests. Raises ArenaError if games of one have no result.

    `problems`: why others have failed, or not begun.
    """
    from arena_cli.results import print_standings, unplayed_message
    from arena_server.core.life import ENDINGS
    from arena_server.store.reader import Results

    with Results(prepared.database) as results:
        for name in reports:
            print_standings(results, results.contest(name))
    # After all tables: a contest that failed hides no other.
    for report in reports.values():
        if ENDINGS[report["ended"]].fails:
            raise ArenaError(unplayed_message(report))
    for problem in problems.values():
        raise ArenaError(problem)


async def _serve(
    prepared: Prepared,
    setup: HostSetup,
    log: Log,
    entered: Callable[[str], None],
    options: ServeOptions | None,
    supervised: bool,
) -> tuple[dict[str, dict[str, Any]], Mapping[str, str]]:
    """Serve until the end; the last progress report of each contest, and why others have none."""
    import asyncio

    from arena_server.host.begin_right import BeginRight
    from arena_server.host.host import Host, ProcessTuning
    from arena_server.host.sockets import address_of
    from arena_server.host.stages import PlannedContest, PlannedContests, WhenEntered
    from arena_server.places.reporter import HostReporter, reports_of
    from arena_server.store.ownership import BeginLock
    from arena_server.webhooks.observer import Webhooks

    webhooks, keep_page = Webhooks(prepared.database), setup.keep_page
    right = BeginRight(lambda: BeginLock(prepared.database, leaves=lambda: host.leaving), prepared.beginning)
    # Between two stages no contest is played, and the server still has one to begin.
    setup = replace(setup, right=right, keep_page=lambda: planned.awaited or keep_page())
    host = Host(setup, prepared.sock, log, [ProcessTuning(), WhenEntered(right.release), webhooks])
    to_come = [PlannedContest(each.stage.name, each.stage.upstream, each.make) for each in prepared.planned]
    planned = PlannedContests(host, to_come, log)
    reporter = HostReporter(host, supervised=supervised)
    try:
        async with AsyncExitStack() as stack:
            thread = stack.enter_context(_submissions(prepared, host, log))
            pages = _web(prepared, host, log, thread, entered, options, supervised=supervised)
            await stack.enter_async_context(pages)
            if thread is not None:
                await thread.ready()
            for number in stop_signals():
                asyncio.get_running_loop().add_signal_handler(number, host.suspend, number.name)
            if prepared.bots:
                from arena_cli.local_contest import BotMessages
                from arena_server.places.local import HostedBots

                bots = HostedBots(host, address_of(prepared.sock), prepared.bots, BotMessages())
                await bots.run(prepared.specs)
            else:
                await host.run(prepared.specs)
    finally:
        await planned.close()
        webhooks.close()
        reporter.close()
    reports, failed = reports_of(host)
    return reports, {**failed, **planned.problems}


def _share_descriptors(prepared: Prepared) -> tuple[Prepared, int]:
    """Give the site the descriptors that the referee leaves, at least a few. Returns how many the web has."""
    from arena_server.host.listener import RESERVE, raise_descriptor_limit
    from arena_server.web.ports import ORGANISER_CONNECTIONS, SITE_CONNECTIONS

    ports = prepared.web
    kept = 0 if ports.organiser is None else ORGANISER_CONNECTIONS
    if ports.casual is not None:
        kept += ports.casual.limit * CASUAL_DESCRIPTORS
    seats = [seat for setup in prepared.submissions for seat in setup.bots.values()]
    late = sum(spec.late.most for spec in prepared.specs)
    kept += (sum(seat.slots for seat in seats) + late) * BOT_DESCRIPTORS
    if ports.site is None:
        return prepared, kept
    descriptors = raise_descriptor_limit()
    site = SITE_CONNECTIONS
    if descriptors is not None:
        left = descriptors - RESERVE - kept - prepared.server.max_connections
        site = max(ORGANISER_CONNECTIONS, min(site, left))
    return replace(prepared, web=replace(ports, connections=site)), kept + site


@contextmanager
def _submissions(prepared: Prepared, host: Host, log: Log) -> Iterator[SubmissionThread | None]:
    """Run the bots that their authors send, as far as there are any, inside the `with` statement."""
    if not prepared.submissions:
        yield None
        return
    from arena_cli.examiners import examiner_of
    from arena_server.places.docker import Docker
    from arena_server.places.docker_launcher import ContainerLauncher
    from arena_server.submissions.thread import SubmissionThread

    assert prepared.inner is not None, "it is bound for them"
    address = prepared.inner.getsockname()
    examiners = {setup.contest: examiner_of(setup, prepared.workers) for setup in prepared.submissions}
    # The same each time: the next start removes the containers that a crash of the machine has left.
    mark = "\n".join(str(setup.folder / setup.contest) for setup in prepared.submissions)
    workers = prepared.workers
    place = None if workers is not None else lambda: ContainerLauncher(address[0], address[1], mark)
    saver = Docker() if workers is not None and workers.far else None
    with SubmissionThread(prepared.submissions, examiners, place, host, log, saver) as thread:
        yield thread


def _adding(prepared: Prepared, options: ServeOptions, entered: Callable[[str], None]) -> Adding:
    """How contests are added, as by the command line that this server was started by."""
    from arena_cli.added import read_added
    from arena_server.web.ports import Adding

    return Adding(
        database=prepared.database,
        beside=prepared.own,
        read=partial(read_added, prepared, options),
        entered=entered,
    )


@asynccontextmanager
async def _web(
    prepared: Prepared,
    host: Host,
    log: Log,
    submissions: SubmissionThread | None,
    entered: Callable[[str], None],
    options: ServeOptions | None,
    *,
    supervised: bool,
) -> AsyncIterator[None]:
    """Serve the site and the organiser's port, as far as there are any, inside the `async with` statement."""
    import asyncio

    from arena_server.web.host_view import ServedHost
    from arena_server.web.thread import serve_web

    ports = prepared.web
    address = prepared.sock.getsockname()
    stack = ExitStack()
    try:
        referee = ServedHost(
            host,
            _configs(prepared),
            prepared.database,
            (address[0], address[1]),
            prepared.cipher is not None,
            submissions,
            prepared.stages,
            None if options is None else _adding(prepared, options, entered),
        )
        if (ports.organiser or ports.site) is not None:
            stack.enter_context(serve_web(ports, referee, log))
        _say_addresses(prepared, supervised=supervised)
        yield
    finally:
        # Requests under way wait for this loop, which runs until they have their answers.
        await asyncio.to_thread(stack.close)


def _say_addresses(prepared: Prepared, *, supervised: bool) -> None:
    from arena_server.host.sockets import urls_of

    ports = prepared.web
    for title, sock in (("admin", ports.organiser), ("web", ports.site)):
        if sock is not None:
            url, outside = urls_of(sock)
            text = url if outside is None else f"{url} (from other machines: {outside})"
            typer.echo(json.dumps({title: text}) if supervised and title == "web" else f"{title} on {text}")
    for person in ports.persons:
        assert ports.site is not None
        url, outside = urls_of(ports.site)
        link = f"{outside or url}/play.html#{person.key}"
        line = json.dumps({"play": person.name, "url": link})
        where = f" {person.contest}" if prepared.planned else ""
        typer.echo(line if supervised else f"{person.name} plays{where} at {link}")
