"""One contest of a host: its place in the database, its core, and how it ends.

ContestSpec -> open (writer thread: is there an unfinished contest of this name?) -> start -> ended -> close
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from arena_protocol.games import make_game
from arena_protocol.record import VOID, GameRecord
from arena_server.core.clock import NS_PER_MS
from arena_server.core.contest import Contest
from arena_server.core.effects import Assign, ExcludeWorker, SetFrozen, Store, Withdraw
from arena_server.core.events import DrawDone, Event, Stop, Thawed
from arena_server.core.formats import doubt_of, format_of
from arena_server.core.formats.base import Draw
from arena_server.core.journal import JournalError
from arena_server.core.log_events import LogEvent, ResultReturned
from arena_server.core.overview import Progress
from arena_server.core.router import Member, Router
from arena_server.errors import ArenaError, PublicError, public_text
from arena_server.host.bot_logs import BotLogs, LoggedDriver
from arena_server.host.draw_runner import run_draw
from arena_server.host.driver import Driver, Run
from arena_server.host.logs import (
    BotLogLinesDropped,
    BotUsage,
    ContestDoubtful,
    ContestPace,
    ContestShown,
    ContestTakenUp,
    PowerCut,
    ServerFault,
    SubmissionNoted,
)
from arena_server.host.observers import (
    BotPlaces,
    ContestObserver,
    PlayedElsewhere,
    TranscriptReader,
)
from arena_server.host.timekeeper import Timekeeper
from arena_server.host.waiting import WaitingList
from arena_server.stats.pace import GamePace
from arena_server.store.database import ContestHeader, Database, damaged
from arena_server.store.writer import Writer
from arena_server.terms.spec import ContestSpec

if TYPE_CHECKING:
    from arena_server.store.unfinished import UnfinishedContest


#: The log says at most once in this time how far a contest is.
LOG_PACE_S: Final = 600


class HostedContest:
    """Runs one contest; every method is for the loop's thread, in the order of the module's picture.

    `over` is set when every result has been sent, or none will be. Then `reason` is how the contest ended
    (`finished`, `incomplete`, `stopped`), or `failure` is the error that ended it.
    """

    def __init__(
        self,
        spec: ContestSpec,
        database: Database,
        log: Callable[[LogEvent], None],
        ended: Callable[[], None],
        *,
        patient: bool = False,
    ) -> None:
        """`ended` is called once, when `over` has been set.

        The loop never waits for the disk of a `patient` contest.
        """
        self.spec = spec
        self.over = asyncio.Event()
        self.reason: str | None = None
        self.failure: ArenaError | None = None
        self.contest: Contest | None = None
        #: Whom it waits for, once it has started.
        self.waiting: WaitingList | None = None
        self._pace = GamePace()
        self._results = 0
        self._pace_logged = 0.0
        self._database = database
        self._log = log
        self._ended = ended
        self._observers: list[ContestObserver] = []
        self._readers: list[TranscriptReader] = []
        #: Where its bots run; who runs them adds to it before `start`.
        self.places: list[BotPlaces] = []
        #: Who plays its games, if no bot logs in; `play_elsewhere` sets it.
        self.elsewhere: PlayedElsewhere | None = None
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._logs: BotLogs | None = None
        self._driver: Driver | None = None
        self._past: asyncio.Future[UnfinishedContest | None] = self._loop.create_future()
        self._writer = self._make_writer(patient)
        self._closing: asyncio.Task[None] | None = None
        self._drawing: asyncio.Task[None] | None = None
        self._measuring: set[asyncio.Task[None]] = set()
        self._timekeeper: Timekeeper | None = None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def _names(self) -> list[str]:
        return [entrant.name for entrant in self.spec.entrants]

    @property
    def results(self) -> int:
        """How many games have a durable result."""
        return self._results

    @property
    def database(self) -> Database:
        return self._database

    def observe(self, observer: ContestObserver) -> None:
        """Add an observer; call it before `start`."""
        self._observers.append(observer)

    def play_elsewhere(self, elsewhere: PlayedElsewhere) -> None:
        """Have its games played elsewhere; call it before `start`."""
        self.elsewhere = elsewhere
        self.observe(elsewhere)

    def add_reader(self, reader: TranscriptReader) -> None:
        """Add who reads transcripts while an event Observe is in force; call it before `start`."""
        self._readers.append(reader)

    def _make_writer(self, patient: bool) -> Writer:
        config = self.spec.config
        names = self._names
        game = make_game(config.game, config.options)
        games = format_of(config, names, game.seats).total or 0  # of an open contest none is known
        spec = self.spec
        flags = spec.new, spec.seeded, spec.keep, spec.keeps_plies
        header = ContestHeader(config, game.options(), names, games, *flags)
        return Writer(
            self._database,
            header,
            patient=patient,
            found=lambda found: self._later(self._past.set_result, found),
            committed=self._committed,
            failed=lambda error: self._later(self.fail, error),
        )

    # -- the beginning

    async def open(self) -> bool:
        """Wait until the database is open; False if it is over before."""
        self._writer.start()
        over = asyncio.ensure_future(self.over.wait())
        self._past.add_done_callback(lambda _: over.cancel())
        await asyncio.wait([over])
        return self._past.done() and not self.over.is_set()

    def start(self, router: Router, driver: Driver) -> None:
        """Begin the contest, or go on with the one found.

        Raises StoreError for a damaged journal, ArenaError if the folder of the logs cannot be used.
        """
        found, config = self._past.result(), self.spec.config
        if found is not None:
            config = replace(config, seed=found.seed)
        if found is not None and found.ended is not None:
            self.log(ContestShown(found.contest, len(found.past.results), found.ended))
        elif found is not None:
            self.log(ContestTakenUp(found.contest, len(found.past.results)))
            if found.lost_rows:
                self.log(PowerCut(found.lost_rows))
        elif doubt := doubt_of(config, self._names, make_game(config.game, config.options).seats):
            self.log(ContestDoubtful(doubt))
        past = None if found is None else found.past
        try:
            lease_ms = None if self.elsewhere is None else self.elsewhere.lease_ms
            now = time.monotonic_ns()
            ended = None if found is None else found.ended
            contest = Contest(
                config, self.spec.entrants, secrets.token_hex, now, past, lease_ms, ended, self._quorum()
            )
        except JournalError as error:
            raise damaged(self._database, str(error)) from error
        self.contest, self._router, self._driver = contest, router, driver
        self.run = Run(contest, self._writer, self, self._readers)
        if ended is not None:
            self._show(contest, ended)
            return
        if self.spec.bot_logs is not None:
            assert isinstance(driver, LoggedDriver), "the host knows that there are logs"
            self._logs = BotLogs(self.spec.bot_logs / self.name)
            self._logs.begin(self._loop, fresh=found is None)
            driver.keep_logs(self.run, self._logs)
        self._pace_logged = time.monotonic()
        self._results = contest.progress().done
        self._pace.see(self._pace_logged, self._results)
        self._writer.enter(config)
        router.add(Member(contest, listed=self.spec.listed, logs=self._logs is not None))
        self._timekeeper = Timekeeper(self.spec.timetable, self.feed)
        # Before the driver's first Tick, which may come late: outside its hours a contest misses no bot.
        for event in self._timekeeper.changes():
            contest.feed(event, now)
        driver.add(self.run)
        self.waiting = WaitingList(contest, config.spectator_delay_ms * NS_PER_MS, self.log)
        self.waiting.begin()
        for observer in self._observers:
            observer.started()

    def _quorum(self) -> int:
        if self.elsewhere is not None:
            return 0  # no bot logs in here
        config, quorum = self.spec.config, self.spec.quorum
        return make_game(config.game, config.options).seats if quorum is None else quorum

    def _show(self, contest: Contest, ended: str) -> None:
        """The contest is over: clients learn how it has ended."""
        assert self._driver is not None
        self._results, self.reason = contest.progress().done, ended
        self._router.add(Member(contest, listed=self.spec.listed))
        self._driver.add(self.run)
        for observer in self._observers:
            observer.started()
        self._router.ended()
        self._set_over()

    # -- the end

    def feed(self, event: Event) -> None:
        """Let the contest handle an event; one that has not started takes none."""
        if self._driver is not None:
            self._driver.feed(self.run.core, event)

    def read_log(self, bot: str, done: Callable[[bytes], None]) -> None:
        """Call `done` on the loop's thread with the private log of a bot. Raises LookupError without one."""
        assert self.contest is not None
        if self._logs is None or self.over.is_set():
            raise LookupError("this server keeps no logs of bots: see server.bot_logs")
        if bot not in [each.name for each in self.contest.overview().bots]:
            raise LookupError(f"no bot of this contest is called {bot!r:.40}")
        self._logs.read(bot, done)

    def check_place(self, slots: int) -> None:
        """Raise ValueError unless the server has places for this many connections of bots more."""
        if self._driver is not None:
            self._router.check_place(slots)

    def stop(self) -> None:
        """End the contest: running games are void, results so far are kept. `over` will be set."""
        if self._driver is None:
            self._set_over()
        elif not self.over.is_set():
            self.feed(Stop())

    async def close(self) -> None:
        """Take the contest out of the driver, and close its files; call it when `over` is set."""
        if self._closing is None:  # a contest that is being removed may be closed by the end of its host
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._drawing is not None:
            self._drawing.cancel()
        self._stop_clock()
        for task in self._measuring:
            task.cancel()
        if self.elsewhere is not None:
            await self.elsewhere.close()
        if self._driver is not None:
            self._driver.remove(self.run)
            self._router.remove(self.name)
        for reader in self._readers:
            reader.closed(None)
        if self.waiting is not None:
            self.waiting.close()
        if self._logs is not None:
            self._logs.close()
            if self._logs.dropped:
                self.log(BotLogLinesDropped(self._logs.dropped))
        # Not on the loop's own thread: the writer may still have something to report to the loop.
        await asyncio.to_thread(self._writer.close)

    def fail(self, error: ArenaError) -> None:
        """Nothing more can be promised: no verdict and no result leaves any more."""
        if self.failure is None:
            self.failure = error
            for reader in self._readers:
                reader.closed(public_text(error))
        if self.waiting is not None:
            self.waiting.close()
        if self._driver is not None:
            self._driver.remove(self.run)
        self._set_over()

    def _stop_clock(self) -> None:
        if self._timekeeper is not None:
            self._timekeeper.close()

    def _set_over(self) -> None:
        self._stop_clock()
        if not self.over.is_set():
            self.over.set()
            self._ended()

    # -- what the writer reports

    def _later(self, call: Callable[..., None], *arguments: object) -> None:
        """Call on the loop's thread, unless the loop has ended."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *arguments)

    def _committed(self, batches: int, game_ids: list[str]) -> None:
        """A commit is reported, on any thread."""
        assert self._driver is not None
        if threading.get_ident() == self._thread:
            self._driver.committed(self.run, batches, game_ids)
        else:
            self._later(self._driver.committed, self.run, batches, game_ids)

    # -- what the driver needs (interfaces.DriverEvents)

    def complete(self, store: Store) -> bool:
        """The record of a game waits for what its bots in containers used in it."""
        places = [place for place in self.places if place.measures(store.game_id)]
        if places:
            task = self._loop.create_task(self._add_usage(store, places))
            self._measuring.add(task)
            task.add_done_callback(self._measuring.discard)
        return bool(places)

    async def _add_usage(self, store: Store, places: Sequence[BotPlaces]) -> None:
        usage = [each for place in places for each in await place.used_in(store.game_id)]
        assert self._driver is not None
        record = replace(store.record, usage=tuple(sorted(usage)))
        self._driver.store(self.run, replace(store, record=record))

    def recorded(self, record: GameRecord) -> None:
        if record.end != VOID:
            self._count()
        for observer in self._observers:
            observer.recorded(record)

    def _count(self) -> None:
        """A game has a result."""
        assert self.contest is not None
        now = time.monotonic()
        self._results += 1
        self._pace.see(now, self._results)
        if now >= self._pace_logged + LOG_PACE_S:
            known = self.contest.progress()
            progress = replace(known, done=known.done + 1)  # its Stored is still to come
            if (pace := self.pace(progress)) is not None:
                self._pace_logged = now
                per_hour = round(pace["games_per_hour"])
                self.log(ContestPace(progress.done, progress.total, per_hour, pace["left_s"]))

    def pace(self, progress: Progress) -> dict[str, Any] | None:
        """How fast its games end now, and when the last one will (`stats/pace.py`)."""
        ends = self.spec.timetable.ends_at
        ends_s = None if ends is None else (ends - datetime.now(UTC)).total_seconds()
        return self._pace.plain(time.monotonic(), progress.left, ends_s)

    def reply(self, number: int, problem: str | None) -> None:
        for observer in self._observers:
            observer.replied(number, problem)

    def log(self, event: LogEvent) -> None:
        if isinstance(event, BotUsage) and self._logs is not None:
            self._logs.used(event)
        elif isinstance(event, ResultReturned) and self._logs is not None:
            self._logs.returned(event)
        for observer in self._observers:
            observer.happened(event)
        self._log(event)

    def set_frozen(self, order: SetFrozen) -> None:
        """Where the bots were not started here, they run all the time."""
        for place in self.places:
            if order.bot in place.bots:
                place.set_frozen(order)
                return
        if not order.frozen:
            self.feed(Thawed(order.bot, order.slot, order.number))

    def note(self, event: SubmissionNoted) -> None:
        """Something happened to a version of a bot: it stands in the server's log and in the bot's own."""
        self.log(event)
        if self._logs is not None and not self.over.is_set():
            self._logs.note(event)

    def draw(self, draw: Draw) -> None:
        """Draw while the games of other contests go on."""
        self._drawing = self._loop.create_task(self._draw(draw))

    async def _draw(self, draw: Draw) -> None:
        try:
            drawn = await run_draw(draw)
        except Exception as error:  # whatever it is, no round can be drawn: the contest cannot go on
            self.crashed(error)
        else:
            if not self.over.is_set():
                self.feed(DrawDone(drawn))

    def dispatch(self, effect: Assign | Withdraw | ExcludeWorker) -> None:
        assert self.elsewhere is not None, "only a contest whose games are played elsewhere has such effects"
        self.elsewhere.dispatch(effect)

    def finished(self, reason: str) -> None:
        """Nothing more will be played."""
        self.reason = reason
        self._writer.end(reason, lambda: self._later(self._stored))
        self._router.ended()
        self._set_over()

    def _stored(self) -> None:
        for observer in self._observers:
            observer.stored()

    def crashed(self, error: Exception) -> None:
        """The contest raised: a fault of our own, after which no verdict of it could be trusted."""
        for line in traceback.format_exception(error):
            for part in line.rstrip().splitlines():
                self._log(ServerFault(part))
        self.fail(
            PublicError(f"contest {self.name} was closed at a fault of the server's own; the log has it")
        )
