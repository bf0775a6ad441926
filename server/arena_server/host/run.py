"""One contest of a host: its place in the database, its core, and how it ends.

ContestSpec -> open (writer thread: is there an unfinished contest of this name?) -> start -> ended -> close
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from arena_protocol.games import make_game, printed_options
from arena_protocol.record import VOID, GameRecord
from arena_server.core.clock import NS_PER_MS
from arena_server.core.contest import Contest
from arena_server.core.effects import SetFrozen, Store
from arena_server.core.events import Event, Stop, Suspend, Thawed
from arena_server.core.formats import doubt_of, format_of
from arena_server.core.journal import JournalError
from arena_server.core.log_events import LogEvent
from arena_server.core.router import Member, Router
from arena_server.errors import ArenaError, PublicError, public_text
from arena_server.host.attachments import DrawRunner, PaceLog, UsageMeter
from arena_server.host.batches import Run
from arena_server.host.bot_logs import BotLogs, LoggedDriver
from arena_server.host.driver import Driver
from arena_server.host.log_events import (
    ContestDoubtful,
    ContestFailed,
    ContestShown,
    ContestTakenUp,
    DatabaseReconnected,
    MachineCrowded,
    PowerCut,
    ServerFault,
)
from arena_server.host.loop_link import LoopLink
from arena_server.host.observers import (
    Attachment,
    BotPlaces,
    Errand,
    PlayedElsewhere,
    TranscriptReader,
)
from arena_server.host.silence import StoreWatch
from arena_server.host.timekeeper import Timekeeper
from arena_server.host.waiting import WaitingList
from arena_server.store.database import ContestHeader, Database, damaged, describe
from arena_server.store.unkept import UnkeptWriter
from arena_server.store.writer import Writer
from arena_server.terms.config import ContestConfig
from arena_server.terms.spec import ContestSpec

if TYPE_CHECKING:
    from arena_server.store.unfinished import UnfinishedContest

Attached = TypeVar("Attached", bound=Attachment)


class ContestRun:
    """Runs one contest; every method is for the loop's thread, in the order of the module's picture.

    `over` is set when every result has been sent, or none will be. Then `reason` is how the contest ended
    (`finished`, `incomplete`, `stopped`), or `failure` is the error that ended it.
    """

    def __init__(
        self,
        spec: ContestSpec,
        database: Database,
        router: Router,
        driver: Driver,
        log: Callable[[LogEvent], None],
        ended: Callable[[], None],
        *,
        patient: bool = False,
    ) -> None:
        """`ended` is called once, when `over` has been set.

        The loop never waits for the disk of a `patient` contest.
        """
        self.spec = spec
        self.name = spec.name
        self.database = database
        self.over = asyncio.Event()
        #: Set when the contest is in the database as one that is played; also if it will not be.
        self.entered = asyncio.Event()
        self.reason: str | None = None
        self.failure: ArenaError | None = None
        #: None until it has started.
        self.contest: Contest | None = None
        #: How many games have a durable result.
        self.results = 0
        self._router = router
        self._driver = driver
        self._log = log
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._past: asyncio.Future[UnfinishedContest | None] = self._loop.create_future()
        self._writer = self._make_writer(patient)
        self._closing: asyncio.Task[None] | None = None
        self._usage = UsageMeter(lambda store: driver.store(self.run, store))
        self._attachments: list[Attachment] = [self._usage, DrawRunner(self.feed, self.crashed)]

    def attach(self, attachment: Attachment) -> None:
        """Attach something; call it before `start`."""
        self._attachments.append(attachment)

    def find(self, kind: type[Attached]) -> Attached | None:
        """The first attachment of this class; None without one."""
        return next(self._all(kind), None)

    def _all(self, kind: type[Attached]) -> Iterator[Attached]:
        return (each for each in self._attachments if isinstance(each, kind))

    def _make_writer(self, patient: bool) -> Writer | UnkeptWriter:
        spec, config = self.spec, self.spec.config
        if not spec.stored:
            return UnkeptWriter(
                lambda found: self._later(self._past.set_result, found),
                # Not within the batch that has ended the game: its last lines are sent first.
                lambda batches, games: self._later(self._driver.committed, self.run, batches, games),
            )
        names = [entrant.name for entrant in spec.entrants]
        game = make_game(config.game, config.options)
        games = format_of(config, names, game.seats).total or 0  # of an open contest none is known
        flags = spec.new, spec.seeded, spec.keep, spec.closed
        return Writer(
            self.database,
            ContestHeader(config, printed_options(game), names, games, *flags),
            patient=patient,
            found=lambda found: self._later(self._past.set_result, found),
            committed=self._committed,
            failed=lambda error: self._later(self.fail, error),
            rejoined=lambda seconds, cause: self._later(
                self.log, DatabaseReconnected(round(seconds, 1), describe(self.database, cause))
            ),
        )

    # -- the beginning

    async def open(self) -> bool:
        """Wait until the database is open; False if it is over before."""
        self._writer.start()
        over = asyncio.ensure_future(self.over.wait())
        self._past.add_done_callback(lambda _: over.cancel())
        await asyncio.wait([over])
        return self._past.done() and not self.over.is_set()

    def start(self) -> None:
        """Begin the contest, go on with the one found, or show that it is over.

        Raises StoreError for a damaged journal, ArenaError if the folder of the logs cannot be used.
        """
        found = self._past.result()
        config = self.spec.config if found is None else replace(self.spec.config, seed=found.seed)
        self._log_beginning(found)
        contest = self.contest = self._make_contest(config, found)
        self.results = contest.status.progress().done
        self.run = Run(contest, self._writer, self, [*self._all(TranscriptReader)])
        is_over = found is not None and found.ended is not None
        if not is_over:
            self._attach_own(contest, fresh=found is None)
            self._writer.enter(config, lambda: self._later(self.entered.set))
        self._router.add(Member(contest, listed=self.spec.listed, logs=self.find(BotLogs) is not None))
        for each in self._attachments:
            each.started()
        self._driver.add(self.run)
        if is_over:  # clients learn how it has ended
            self.reason = contest.ended
            self._router.ended(time.monotonic_ns())
            self._end(None)

    def _log_beginning(self, found: UnfinishedContest | None) -> None:
        if found is not None:
            games = len(found.past.results)
            if found.ended is not None:
                self.log(ContestShown(found.contest, games, found.ended))
                return
            self.log(ContestTakenUp(found.contest, games))
            if found.lost_rows:
                self.log(PowerCut(found.lost_rows))
        if self.spec.crowded:
            self.log(MachineCrowded(self.spec.crowded))
        if found is not None:
            return
        config = self.spec.config
        names = [entrant.name for entrant in self.spec.entrants]
        if doubt := doubt_of(config, names, make_game(config.game, config.options).seats):
            self.log(ContestDoubtful(doubt))

    def _make_contest(self, config: ContestConfig, found: UnfinishedContest | None) -> Contest:
        elsewhere = self.find(PlayedElsewhere)
        if elsewhere is not None:
            quorum = 0  # no bot logs in here
        elif self.spec.quorum is not None:
            quorum = self.spec.quorum
        else:
            quorum = make_game(config.game, config.options).seats
        try:
            return Contest(
                config,
                self.spec.entrants,
                secrets.token_hex,
                time.monotonic_ns(),
                None if found is None else found.past,
                None if elsewhere is None else elsewhere.lease_ms,
                None if found is None else found.ended,
                quorum,
                keeps_plies=self.spec.keeps_plies,
                ended_ago=0 if found is None else found.ended_ago,
            )
        except JournalError as error:
            raise damaged(self.database, str(error)) from error

    def _attach_own(self, contest: Contest, *, fresh: bool) -> None:
        """Attach what only a contest needs that goes on."""
        own: list[Attachment] = []
        if self.spec.bot_logs is not None:
            assert isinstance(self._driver, LoggedDriver), "the host knows that there are logs"
            logs = BotLogs(self.spec.bot_logs / self.name, self.log)
            logs.begin(self._loop, fresh=fresh)
            self._driver.keep_logs(self.run, logs)
            own.append(logs)
        delay = self.spec.config.spectator_delay_ms * NS_PER_MS
        own += (
            Timekeeper(self.spec.timetable, self.feed),
            PaceLog(contest, self.spec.timetable, self.log),
            WaitingList(contest.status, delay, self.log),
            StoreWatch(self.run, self.log),
        )
        # Before the others: a line stands in the log of a bot when they read of it.
        self._attachments[:0] = own

    # -- the end

    def feed(self, event: Event) -> None:
        """Let the contest handle an event; one that has not started takes none."""
        if self.contest is not None:
            self._driver.feed(self.contest, event)

    def stop(self) -> None:
        """End the contest: running games are void, results so far are kept. `over` will be set."""
        if self.contest is None:
            self._end(None)
        elif not self.over.is_set():
            self.feed(Stop())

    def suspend(self, leaving: frozenset[str]) -> None:
        """End the contest here, as far as another server goes on with its running games. `over` will be set.

        The programs of the bots `leaving` end with this server.
        """
        if self.contest is None:
            self._end(None)
        elif not self.over.is_set():
            self.feed(Suspend(leaving))

    async def close(self) -> None:
        """Take the contest out of the driver, and close its files; call it when `over` is set."""
        if self._closing is None:  # a contest that is being removed may be closed by the end of its host
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self.contest is not None:
            self._driver.remove(self.run)
            self._router.remove(self.name)
        for each in reversed(self._attachments):
            await each.detached()
        # Not on the loop's own thread: the writer may still have something to report to the loop.
        await asyncio.to_thread(self._writer.close)

    def fail(self, error: ArenaError) -> None:
        """Nothing more can be promised: no verdict and no result leaves any more."""
        if self.failure is not None:
            return
        self.failure = error
        self.log(ContestFailed(str(error)))
        if self.contest is not None:
            self._driver.remove(self.run)
        self._end(public_text(error))

    def _end(self, problem: str | None) -> None:
        for each in self._attachments:
            each.finished(problem)
        self.entered.set()
        if not self.over.is_set():
            self.over.set()
            self._ended()

    # -- what the writer reports

    def _later(self, call: Callable[..., None], *arguments: object) -> None:
        """Call on the loop's thread, unless the loop has ended."""
        LoopLink(self._loop).post(call, *arguments)

    def _committed(self, batches: int, game_ids: list[str]) -> None:
        """A commit is reported, on any thread."""
        if threading.get_ident() == self._thread:
            self._driver.committed(self.run, batches, game_ids)
        else:
            self._later(self._driver.committed, self.run, batches, game_ids)

    # -- what the driver needs (interfaces.DriverEvents)

    def complete(self, store: Store) -> bool:
        """The record of a game waits for what its bots used in it, where that is measured."""
        places = [place for place in self._all(BotPlaces) if place.measures(store.game_id)]
        if places:
            self._usage.measure(store, places)
        return bool(places)

    def recorded(self, record: GameRecord) -> None:
        self.results += record.end != VOID
        for each in self._attachments:
            each.recorded(record)

    def reply(self, number: int, problem: str | None) -> None:
        for each in self._attachments:
            each.replied(number, problem)

    def log(self, event: LogEvent) -> None:
        for each in self._attachments:
            each.happened(event)
        self._log(event)

    def closing(self, conn: int) -> None:
        for each in self._attachments:
            each.closing(conn)

    def carry_out(self, errand: Errand) -> None:
        if any(each.carry_out(errand) for each in self._attachments):
            return
        assert isinstance(errand, SetFrozen), "only a contest that is played elsewhere has the others"
        if not errand.frozen:  # bots that were not started here run all the time
            self.feed(Thawed(errand.bot, errand.slot, errand.number))

    def finished(self, reason: str, ago: int) -> None:
        """Nothing more will be played."""
        self.reason = reason
        self._writer.end(reason, lambda: self._later(self._stored), ago)
        self._router.ended(time.monotonic_ns())
        self._end(None)

    def _stored(self) -> None:
        for each in self._attachments:
            each.stored()

    def crashed(self, error: Exception) -> None:
        """The contest raised: a fault of our own, after which no verdict of it could be trusted."""
        for line in traceback.format_exception(error):
            for part in line.rstrip().splitlines():
                self._log(ServerFault(part))
        self.fail(
            PublicError(f"contest {self.name} was closed at a fault of the server's own; the log has it")
        )
