"""The server's machine in virtual time: its disk, and one process after the other.

The process is stopped and started again, is killed, or loses its power with the machine; the next one goes
on from the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from tests.simulation.disk import Disk
from tests.simulation.network import MS, SECOND, EventQueue, FaultProfile, Link, ServerSocket, one_in
from tests.simulation.process import Observer, Run, SimulatedProcess, Unobserved

from arena_server.core.admission import ConnectionLimits
from arena_server.core.contest import Contest
from arena_server.core.events import Command, Stop, Suspend
from arena_server.core.journal import Past
from arena_server.core.life import INCOMPLETE, STOPPED
from arena_server.core.router import UNLIMITED


@dataclass(frozen=True, slots=True)
class Hosted:
    """A contest of the server; `observer` sees all of it.

    `make(now, past, ended)` begins it, goes on with it, or serves one that has `ended` as it is.
    """

    make: Callable[[int, Past | None, str | None], Contest]
    observer: Observer
    listed: bool = True


class SimulatedServer:
    """Hosts contests by name; call `start` first."""

    def __init__(
        self,
        hosted: Mapping[str, Hosted],
        queue: EventQueue,
        faults: FaultProfile,
        rng: Random,
        *,
        observed: bool = False,
        limits: ConnectionLimits = UNLIMITED,
        serves_over: bool = False,
    ) -> None:
        """`observed`: a page in the server's process reads the transcripts.

        `serves_over`: one that is started again has the contests that are over, too, as `arena serve` does,
        and goes on with one that is incomplete, unless it is `closed`.
        """
        self.queue = queue
        self.disk = Disk(queue, faults, rng, self._boundary)
        self.accepted = self.crashes = self.stops = self._orders = 0
        #: Called when the server has been started again after a stop: its clients were sent away.
        self.resumed: Callable[[], None] = lambda: None
        #: Called with a contest and its status when it has ended, and when the server is started again.
        self.looked_at: Callable[[str, str], None] = lambda name, status: None
        #: How each contest ended that is over, and those that raised.
        self.reasons: dict[str, str] = {}
        self.closed: dict[str, Exception] = {}
        #: When each of them did so, in ns.
        self.ended_at: dict[str, int] = {}
        #: Whether a contest is to come that is not there yet, and whether one that is incomplete stays so.
        self.awaits: Callable[[], bool] = lambda: False
        self.is_closed: Callable[[str], bool] = lambda name: False
        #: Called before a process does anything.
        self.begins: Callable[[SimulatedProcess], None] = lambda process: None
        self._observed = observed
        self._limits = limits
        self._serves_over = serves_over
        self._hosted = dict(hosted)
        self._faults = faults
        self._rng = rng
        #: What the processes before the current one have handled.
        self._events = 0
        self._stopping = self._sends_away = False
        #: It has stopped, and its contests are over: clients that come again are refused.
        self.gone = False
        #: Of each contest in the last process that had it.
        self.runs: dict[str, Run] = {}
        self.process = self._process(dict.fromkeys(hosted))

    def _process(self, pasts: Mapping[str, Past | None]) -> SimulatedProcess:
        """A process that goes on with these contests; call its `start` next."""
        runs = {}
        for name, past in pasts.items():
            runs[name] = self._run(name, past)
        for name in self.reasons if self._serves_over else ():
            runs[name] = self._run(name, self.disk.past(name), self.reasons[name])
        self.runs |= runs
        self._stopping = False
        return SimulatedProcess(runs, self, self.queue, self.disk, self._faults, self._rng, self._limits)

    def _run(self, name: str, past: Past | None, ended: str | None = None) -> Run:
        hosted = self._hosted[name]
        contest = hosted.make(self.queue.now, past, ended)
        return Run(contest, hosted.observer if ended is None else Unobserved(), listed=hosted.listed)

    def add(self, name: str, hosted: Hosted) -> None:
        """Begin a contest beside the others; call it while the server runs, and has not finished."""
        self._hosted[name] = hosted
        self.disk.sync()
        self.runs[name] = run = self._run(name, None)
        self.process.add(name, run, observed=self._observed)

    def start(self) -> None:
        """Let the contests do what is due at once."""
        self.begins(self.process)
        self.process.start(observed=self._observed)

    def observe(self, name: str, observer: Observer) -> None:
        """Have `observer` see a contest instead of the one that did."""
        self._hosted[name] = replace(self._hosted[name], observer=observer)
        self.process.runs[name].observer = observer

    @property
    def alive(self) -> bool:
        """Whether a process runs."""
        return self.process.alive

    @property
    def events(self) -> int:
        """How many events all processes have handled."""
        return self._events + self.process.events

    @property
    def finished(self) -> str | None:
        """How the last contest ended; None while any goes on, or is to come."""
        return None if self.awaits() else self._all_ended

    @property
    def _all_ended(self) -> str | None:
        over = self.reasons.keys() | self.closed.keys()
        return next(reversed(self.reasons.values()), "closed") if over >= self._hosted.keys() else None

    def accept(self, link: Link, address: str, window: int | None = None) -> ServerSocket | None:
        """A client has connected; None if no process runs."""
        if not self.alive:
            return None
        self.accepted += 1
        return self.process.accept(
            self.accepted, link, address, self._faults.window if window is None else window
        )

    # -- what the process reports (process.Host)

    def ended(self, name: str, reason: str, ago: int) -> None:
        self.disk.sync()
        self.reasons[name] = reason
        self.ended_at[name] = self.queue.now - ago
        self.process.later(0, self._leave if self._stopping else partial(self.looked_at, name, reason))

    def raised(self, name: str, error: Exception) -> None:
        self.closed[name] = error

    # -- orders, death and restart

    def order(self, name: str, verb: str, target: str = "", **more: Any) -> None:
        """The organiser gives contest `name` an order, or ends the server for a while.

        `stop` voids what runs, and sends the clients away; after `suspend` they come back by themselves.
        """
        if not self.alive or self.finished is not None:
            return
        self._orders += 1
        process = self.process
        if verb in ("stop", "suspend"):
            self._stopping, self._sends_away = True, verb == "stop"
            event = Stop() if self._sends_away else Suspend()
            for each in sorted(process.runs.keys() - self.reasons.keys()):
                process.call(partial(process.feed, each, event))
        else:
            process.call(partial(process.feed, name, Command(self._orders, verb, target, **more)))

    def _leave(self) -> None:
        """End in order once all contests have ended after a stop, and be started again a little later."""
        if self._all_ended is None:
            return
        self.stops += 1
        self.process.die()
        self.disk.settle()
        for name, reason in self.reasons.items():
            self.looked_at(name, reason)
        self.queue.after(self._rng.randrange(10 * MS, 3 * SECOND), self._resume)

    def _resume(self) -> None:
        self.reasons = {name: reason for name, reason in self.reasons.items() if reason != "stopped"}
        if self.finished is not None:  # aborted while it stopped: nothing is left to begin again
            self.gone = True
            return
        self._restart(power=False)
        if self._sends_away:
            self.resumed()

    def _boundary(self) -> None:
        if one_in(self._rng, self._faults.crash_one_in):
            self.crash(power=one_in(self._rng, self._faults.power_one_in))

    def crash(self, power: bool = False) -> None:
        """Die at this very moment, and be started again a little later; a contest that is over stays so."""
        if not self.alive or self.finished is not None:
            return
        self.crashes += 1
        self.process.die()
        self.disk.crash(power)
        pause = self._rng.randrange(10 * MS, 3 * SECOND)
        self.queue.after(
            pause, partial(self._after_crash, power, sent_away=self._stopping and self._sends_away)
        )

    def _after_crash(self, power: bool, *, sent_away: bool) -> None:
        """`sent_away`: it died while it stopped, and may have said so to clients."""
        self._restart(power)
        if sent_away:
            self.resumed()

    def _restart(self, power: bool) -> None:
        if self._serves_over:
            again = {name: reason for name, reason in self.reasons.items() if self._goes_on(name, reason)}
            self.reasons = {name: each for name, each in self.reasons.items() if name not in again}
        going_on = [name for name in self._hosted if name not in self.reasons and name not in self.closed]
        pasts = {name: self.disk.past(name) for name in going_on}
        for name, past in pasts.items():
            self._hosted[name].observer.restarted(past, power, self.queue.now)
            self.looked_at(name, "running")
        self._events += self.process.events
        self.process = self._process(pasts)
        self.start()

    def _goes_on(self, name: str, reason: str) -> bool:
        return reason == STOPPED or (reason == INCOMPLETE and not self.is_closed(name))
