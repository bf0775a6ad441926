"""A host as the web application sees it: functions that run on its loop and read the server's state there."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arena_protocol.messages import LOG_READER, VERSION, Hello
from arena_server.core.clock import NS_PER_MS
from arena_server.core.overview import LinkState, Overview
from arena_server.errors import some_of
from arena_server.host.attachments import PaceLog
from arena_server.host.bot_logs import BotLogs
from arena_server.host.host import Host, HostObserver
from arena_server.host.run import ContestRun
from arena_server.host.silence import StoreWatch
from arena_server.host.sockets import local_host
from arena_server.host.waiting import NOT_HELD, WaitingList, barred_line, held_now
from arena_server.stats.durations import Durations
from arena_server.store.database import Database
from arena_server.terms.config import NO_TOKEN, ContestConfig, Entrant, check_url
from arena_server.terms.people import LONGEST_AUTHOR, person_name
from arena_server.terms.stages import SeasonStage
from arena_server.web.bridge import NOT_STARTED, LoopBridge, TranscriptNews, UnavailableError
from arena_server.web.metrics import ContestSnapshot, MetricsRecorder, Snapshot

if TYPE_CHECKING:
    from arena_server.submissions.thread import SubmissionThread
    from arena_server.web.ports import Adding


#: The phases of those that no core has: it has failed, or its database is being opened.
FAILED: Final = "failed"
OPENING: Final = "opening"


class UnknownContestError(Exception):
    """No contest of this name is hosted, or several are and none is named; the text is one line.

    `contests` are the names of those that are.
    """

    def __init__(self, problem: str, contests: Sequence[str]) -> None:
        self.contests = contests
        super().__init__(f"{problem}; there are: {some_of(contests)}")


class NewcomerError(Exception):
    """A bot that cannot be added: there is no place, or its url is none; the text is one line."""


@dataclass(frozen=True, slots=True)
class ServedHost:
    """The server that the pages show: `address` is its port for bots, `tls` whether that is encrypted.

    `submissions` are the bots that their authors send to the page. `stages` are those of its seasons, in
    their order, each with the number of its contest if another server has played it; `configs` has those that
    have not begun, too. With `adding` it takes contests more.
    """

    host: Host
    configs: Sequence[ContestConfig]
    database: Database
    address: tuple[str, int]
    tls: bool = False
    submissions: SubmissionThread | None = None
    stages: Sequence[tuple[SeasonStage, int | None]] = ()
    adding: Adding | None = None

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the port for bots, from this machine. Raises OSError."""
        address, port = self.address
        context: ssl.SSLContext | None = None
        if self.tls:
            context = ssl.create_default_context()
            context.check_hostname = False  # our own port: there is no name to check
            context.verify_mode = ssl.CERT_NONE
        return await asyncio.open_connection(local_host(address), port, ssl=context)


class HostView(HostObserver):
    """A host as the web application sees it. Every method runs on the loop's thread.

    Create it before the host runs: it counts what happens in every contest for the metrics.
    """

    def __init__(
        self,
        host: Host,
        bridge: LoopBridge,
        configs: Sequence[ContestConfig] = (),
        submissions: SubmissionThread | None = None,
    ) -> None:
        """`configs` are those of the contests that the host begins with: pages know them before it does."""
        self._submissions = submissions
        self._host = host
        self._bridge = bridge
        self._recorders: dict[str, MetricsRecorder] = {}
        self._configs = configs
        #: What the live pages of each contest read.
        self.news = {config.name: _news_of(config) for config in configs}
        host.observe(self)

    def added(self, hosted: ContestRun) -> None:
        if not hosted.spec.listed:
            return
        recorder = self._recorders[hosted.name] = MetricsRecorder()
        hosted.attach(recorder)
        hosted.attach(self._bridge)
        hosted.attach(self.news.setdefault(hosted.name, _news_of(hosted.spec.config)))

    def removed(self, hosted: ContestRun) -> None:
        self._recorders.pop(hosted.name, None)
        self.news.pop(hosted.name, None)

    def hosted(self, name: str | None) -> ContestRun:
        """The contest of this name, the only one for None.

        Raises UnknownContestError, and UnavailableError before the contest has started.
        """
        listed = {hosted.name: hosted for hosted in self._host.listed}
        if not self._host.contests:
            raise _not_started()
        if name is None and len(listed) == 1:
            (name,) = listed
        if name is not None and name not in listed and name in self.news:
            raise UnavailableError("this stage of the season has not begun yet")
        if name not in listed:
            what = "say which contest" if name is None else f"no contest {name!r:.40} here"
            raise UnknownContestError(what, list(listed))
        if listed[name].contest is None:
            raise _not_started()
        return listed[name]

    def with_place(self, name: str | None, bot: str) -> ContestRun:
        """`hosted`, if it has a place for `bot`. Raises NewcomerError, and as `hosted` does."""
        hosted = self.hosted(name)
        assert hosted.contest is not None
        if hosted.contest.entrants.takes_part(bot):  # it has one
            return hosted
        try:
            self._host.check_place(1)
        except ValueError as error:
            raise NewcomerError(str(error)) from None
        return hosted

    def hides_end(self, name: str | None) -> bool:
        """Whether a contest has ended, and visitors may not know it yet. Raises as `hosted` does."""
        contest = self.hosted(name).contest
        return (
            contest is not None and contest.ended is not None and not contest.tells_end(time.monotonic_ns())
        )

    def takes_part(self, name: str | None, bot: str) -> bool:
        """Whether this bot is one of the contest. Raises as `hosted` does."""
        hosted = self.hosted(name)
        return hosted.contest is not None and hosted.contest.entrants.takes_part(bot)

    def link(self, name: str | None, digest: str, at: int) -> LinkState:
        """What a link to register by can do at `at` (ms), by its code's digest. Raises as `hosted` does."""
        contest = self.hosted(name).contest
        assert contest is not None
        return contest.status.link(digest, at)

    def author_of(self, contest: str | None, bot: str, token: str) -> tuple[str, bool] | None:
        """The name of the contest, and whether versions of the bot are sent, if this token opens its log.

        Raises as `hosted` does.
        """
        hosted = self.hosted(contest)
        assert hosted.contest is not None
        hello = Hello(VERSION, bot, token=token, role=LOG_READER)
        if not (token.isascii() and hosted.contest.recognises(hello)):
            return None
        return hosted.name, bot in hosted.contest.entrants.sent

    def barred(self, contest: str, bot: str) -> str | None:
        """Why no version of a bot plays, for its author; None: the active one does. Raises as `hosted`."""
        hosted = self.hosted(contest)
        awaited = None if hosted.contest is None else hosted.contest.status.barred(bot)
        return None if awaited is None else barred_line(awaited)

    def newcomer(self, contest: str | None, name: str, digest: str, **details: str) -> Entrant:
        """A bot that is added, by the digest of its author's token. Raises NewcomerError, and as `hosted`."""
        hosted = self.hosted(contest)
        try:
            check_url(details.get("url", ""))
            if details.get("author"):
                details["author"] = _author(details["author"])
        except ValueError as error:
            raise NewcomerError(str(error)) from None
        assert hosted.contest is not None
        late = hosted.spec.late
        if not late.most or name in {entrant.name for entrant in hosted.spec.entrants}:
            return Entrant(name, digest, **details)  # type: ignore[arg-type] # texts
        if not hosted.contest.entrants.takes_part(name):
            self.with_late_place(contest)
        return Entrant(name, NO_TOKEN, author_sha256=digest, ponders=late.ponders, **details)  # type: ignore[arg-type] # texts

    def with_late_place(self, contest: str | None) -> ContestRun:
        """A contest that takes a bot more that is not in its file. Raises NewcomerError, or as `hosted`."""
        hosted = self.hosted(contest)
        assert hosted.contest is not None
        most, given = hosted.spec.late.most, {entrant.name for entrant in hosted.spec.entrants}
        sent = hosted.contest.entrants.sent
        if most and sum(takes_part and bot not in given for bot, takes_part in sent.items()) >= most:
            raise NewcomerError(
                f"no place for another bot: submissions.late is {most}; the organiser may withdraw one"
            )
        return hosted

    def problem(self, *, public: bool = False) -> str | None:
        """Why no bot can play, in one line; None if bots can, or if the `public` may not know."""
        if self._host.leaving:
            return "the server is stopping"
        # One that failed to start never has a core, and the others serve their bots.
        # One that is over and still to be shown keeps no bot from playing.
        contests = [
            hosted.contest
            for hosted in self._host.listed
            if hosted.failure is None and not (hosted.spec.over and hosted.contest is None)
        ]
        if not self._host.is_serving or not contests or None in contests:
            return str(_not_started())
        now = time.monotonic_ns()
        ended = [
            contest.ended if not public or contest.tells_end(now) else None
            for contest in contests
            if contest is not None
        ]
        if None not in ended:
            return f"the contest is over: {ended[-1]}"
        silent = [watch.problem(now) for each in self._host.listed if (watch := each.find(StoreWatch))]
        return next(filter(None, silent), None)

    def snapshot(self) -> Snapshot:
        """All metrics at this moment."""
        contests = []
        for name, recorder in self._recorders.items():
            hosted = self._host.contests[name]
            config, contest = hosted.spec.config, hosted.contest
            if contest is not None and contest.life.is_archived:
                continue
            labels = {"name": config.name, "game": config.game, "software": config.software}
            durations = Durations() if contest is None else hosted.run.durations.copy()
            progress = None if contest is None else contest.status.progress()
            watch = hosted.find(StoreWatch)
            waited = 0 if watch is None else watch.waited_s(time.monotonic_ns())
            contests.append(ContestSnapshot(labels, recorder.counts(), durations, progress, waited))
        admissions = {} if self._submissions is None else self._submissions.service.waiting()
        return Snapshot(tuple(contests), *self._host.connections, admissions)

    def held(self, name: str) -> Mapping[str, list[dict[str, Any]]]:
        """What holds a contest, as spectators may see it (`held_now`); nothing before it has started."""
        hosted = self._host.contests.get(name)
        waiting = None if hosted is None else hosted.find(WaitingList)
        if hosted is None or waiting is None:
            return NOT_HELD
        held = held_now(*waiting.shown(time.monotonic_ns()))
        return {**held, "holds": [*self.silence(name), *held["holds"]]}

    def silence(self, name: str) -> list[dict[str, Any]]:
        """That the database of a contest is silent, as a row of its holds; no row if it is not."""
        watch = self._host.contests[name].find(StoreWatch)
        return [] if watch is None else watch.hold()

    def has_begun(self, name: str) -> bool:
        """Whether the contest of this name is one of this host."""
        return (hosted := self._host.contests.get(name)) is not None and hosted.contest is not None

    def served(self) -> dict[str, bool]:
        """The contests that are not archived, those that are to begin too, and which have live pages."""
        listed = self._host.listed
        known = {config.name: config.guests for config in self._configs}
        for each in listed:  # a page may show a contest whose port admits no guests, as in a match
            known.setdefault(each.name, each.spec.config.guests)
        now = time.monotonic_ns()
        contests = [each.contest for each in listed if each.contest is not None]
        over = {each.name for each in contests if each.life.is_archived and each.tells_end(now)}
        return {name: guests for name, guests in known.items() if name not in over}

    def names(self) -> list[str]:
        """The contests that the organiser looks after here."""
        return [hosted.name for hosted in self._host.listed]

    def rows(self) -> list[dict[str, Any]]:
        """A row of each of them. Raises UnavailableError before the first one is there."""
        if not self._host.contests:
            raise _not_started()
        return [contest_row(hosted) for hosted in self._host.listed]

    def overview(self, name: str | None) -> tuple[str, Overview, int, dict[str, Any] | None]:
        """The name of the contest, the contest, the number of connections, and the pace.

        Raises as `hosted` does.
        """
        hosted = self.hosted(name)
        assert hosted.contest is not None
        overview = hosted.contest.status.overview()
        pace = hosted.find(PaceLog)
        pace_now = None if pace is None else pace.pace(overview.progress)
        return hosted.name, overview, self._host.connections[0], pace_now

    def read_log(self, contest: str | None, bot: str, done: Callable[[bytes], None]) -> None:
        """Call `done` on the loop's thread with the private log of a bot.

        Raises LookupError without one, and as `hosted` does.
        """
        hosted = self.hosted(contest)
        assert hosted.contest is not None
        logs = hosted.find(BotLogs)
        if logs is None or hosted.over.is_set():
            raise LookupError("this server keeps no logs of bots: see server.bot_logs")
        if bot not in [each.name for each in hosted.contest.status.overview().bots]:
            raise LookupError(f"no bot of this contest is called {bot!r:.40}")
        logs.read(bot, done)


def contest_row(hosted: ContestRun) -> dict[str, Any]:
    """What an organiser of many contests reads of one, in the types of JSON."""
    contest = hosted.contest
    if contest is None or hosted.failure is not None:
        phase = OPENING if hosted.failure is None else FAILED
        problem = None if hosted.failure is None else str(hosted.failure)
        return {"contest": hosted.name, "phase": phase, "state": phase, "ended": None, "problem": problem}
    progress = contest.status.progress()
    held = held_now(progress.holds, progress.waiting)
    return {
        "contest": hosted.name,
        "phase": str(contest.life.phase),
        "state": contest.life.shown_state,
        "ended": progress.ended,
        "problem": None,
        "games": {key: getattr(progress, key) for key in ("done", "total", "void", "running")},
        "connected": progress.connected,
        "holds": held["holds"],
    }


def _news_of(config: ContestConfig) -> TranscriptNews:
    return TranscriptNews(config.spectator_delay_ms * NS_PER_MS)


def _not_started() -> UnavailableError:
    return UnavailableError(NOT_STARTED)


def _author(given: str) -> str:
    """Raises ValueError."""
    try:
        return person_name(given, LONGEST_AUTHOR)
    except ValueError as error:
        raise ValueError(f"author: {error}") from None
