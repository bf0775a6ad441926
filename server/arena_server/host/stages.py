"""Contests of a host that begin when others are over: the stages of a season that are still to come.

    a contest is over, and that is stored -> the right to begin -> `make` on a thread: who comes -> host.add

A server that is killed between the two begins the stage when it has started again: `make` follows from what
is stored alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from arena_server.core.life import ABORTED, STOPPED
from arena_server.errors import ArenaError
from arena_server.host.host import Host, HostObserver
from arena_server.host.log_events import SeasonStageBegun, SeasonStageNotBegun
from arena_server.host.logs import Log
from arena_server.host.observers import Attachment
from arena_server.host.run import ContestRun
from arena_server.terms.spec import ContestSpec


@dataclass(frozen=True, slots=True)
class PlannedContest:
    """A contest that begins when those of `upstream` are over.

    `make` is called on a thread, while no other server begins a contest. It returns None if the others may
    still go on, and raises ArenaError if they do not lead to it.
    """

    name: str
    upstream: Sequence[str]
    make: Callable[[], ContestSpec | None]


class WhenEntered(HostObserver):
    """Calls `then` once the contests given to `run` are in the database; one that fails is not awaited."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then
        self._contests: list[ContestRun] = []
        self._waiting: asyncio.Task[None] | None = None

    def added(self, hosted: ContestRun) -> None:
        if self._waiting is None and not hosted.spec.over:
            self._contests.append(hosted)

    def serving(self) -> None:
        self._waiting = asyncio.ensure_future(self._wait())

    async def _wait(self) -> None:
        for hosted in self._contests:
            await hosted.entered.wait()
        self._then()


class _Course(Attachment):
    """Tells when a contest has started, and when its end is stored."""

    def __init__(self, started: Callable[[], None], ended: Callable[[], None]) -> None:
        self._started = started
        self._ended = ended

    def started(self) -> None:
        self._started()

    def stored(self) -> None:
        self._ended()


class PlannedContests(HostObserver):
    """Begins the planned contests of a host; every method is for the loop's thread.

    Create it before the host runs. One that cannot begin is logged and is in `problems`; the next server
    tries it again.
    """

    def __init__(self, host: Host, planned: Sequence[PlannedContest], log: Log) -> None:
        self._host = host
        self._log = log
        self._planned = {each.name: each for each in planned}
        self._beginning: dict[str, asyncio.Task[None]] = {}
        #: Those that could not begin when they were looked at last, because one before them may go on.
        self._held: set[str] = set()
        #: Why contests have not begun, by their names.
        self.problems: dict[str, str] = {}
        host.observe(self)

    @property
    def awaited(self) -> bool:
        """Whether a contest begins now, or may do so when one that is played is over."""
        return bool(self._beginning) or any(map(self._may_begin, self._planned.values()))

    def _may_begin(self, planned: PlannedContest) -> bool:
        return planned.name not in self._held and all(map(self._may_end, planned.upstream))

    def _may_end(self, name: str) -> bool:
        if (hosted := self._host.contests.get(name)) is not None:
            # One that is aborted leads to none, and one that is stopped to none of this server.
            return hosted.failure is None and hosted.reason not in (ABORTED, STOPPED)
        return name in self._planned and self._may_begin(self._planned[name])

    def added(self, hosted: ContestRun) -> None:
        hosted.attach(_Course(partial(self._started, hosted), self._look))

    def _started(self, hosted: ContestRun) -> None:
        self._tell()
        if hosted.spec.over:  # beside a contest that is played it is looked up later than `serving`
            asyncio.get_running_loop().call_soon(self._look)

    def serving(self) -> None:
        self._look()

    def _tell(self) -> None:
        """Let each contest know whether its bots may play in one that is still to begin."""
        upstream = {
            name for each in self._planned.values() if self._may_begin(each) for name in each.upstream
        }
        for name, hosted in self._host.contests.items():
            if hosted.contest is not None:
                hosted.contest.leads_on = name in upstream

    def _look(self) -> None:
        """See which contests can begin."""
        if self._host.leaving:
            return
        for each in self._planned.values():
            contests = [self._host.contests.get(name) for name in each.upstream]
            here = all(contest is not None and contest.over.is_set() for contest in contests)
            if here and each.name not in self._beginning:
                self._held.discard(each.name)
                self._host.right.claim()  # at once: one that is held is not given up between
                self._beginning[each.name] = asyncio.ensure_future(self._begin(each))
        self._tell()

    async def _begin(self, planned: PlannedContest) -> None:
        name = planned.name
        try:
            await self._host.right.wait()
            spec = await asyncio.to_thread(planned.make)
            if spec is None:
                self._held.add(name)
            else:
                await self._host.add(spec)
                del self._planned[name]
                self._log.write(SeasonStageBegun(name, tuple(each.name for each in spec.entrants)))
        except (ArenaError, ValueError) as error:  # ValueError: one of its name was added meanwhile
            if not self._host.leaving:
                del self._planned[name]
                self.problems[name] = str(error)
                self._log.write(SeasonStageNotBegun(name, str(error)))
        finally:
            self._host.right.release()
            del self._beginning[name]
        self._tell()
        self._host.leave_at_end()

    async def close(self) -> None:
        """Wait until none is beginning; call it when the host has ended."""
        await asyncio.gather(*self._beginning.values(), return_exceptions=True)
