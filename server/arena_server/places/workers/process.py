"""A process that plays one game after the other: both ends of its pipes.

    GameProcess.play(job) --frames on stdin--> serve: play ... --frames on stdout--> renewed ... the outcome

A frame is its length in four bytes and a msgpack map. The end of stdin, and SIGTERM, make the process give
its game back at once, end its bots, and end.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any, BinaryIO, Self

import msgpack

from arena_protocol.errors import UserError
from arena_protocol.record import VOID, GameRecord
from arena_protocol.record_codec import MAX_BYTES, encode
from arena_server.host.interrupts import stop_signals
from arena_server.places.cores import (
    cpu_model,
    describe_cores,
    shares,
    use_cores,
)
from arena_server.places.docker import Docker
from arena_server.places.fork_server import outlive_no_parent
from arena_server.places.process import Child
from arena_server.places.workers.base import GameJob, JobOutcome, word
from arena_server.places.workers.bench import MachineBench

LENGTH_BYTES = 4
#: Seconds for a process to end its bots and itself.
GRACE_S = 10.0
#: For so long a process that has said nothing yet may still load what it needs, on a busy machine.
START_S = 60.0
HANDED_BACK = "the worker is leaving"


class HandedBackError(Exception):
    """The process is to end, and gives its game back."""


# -- who starts the process


@dataclass(frozen=True, slots=True)
class JobReports:
    """Who takes the reports on a job: that it goes on, how fast the process is, and lines for people."""

    renewed: Callable[[], None]
    measured: Callable[[int], None]
    said: Callable[[str], None]


class GameProcess:
    """A running process of `serve`, made by `start`; its games use `cores` alone, if there are any."""

    def __init__(self, child: Child, cores: Sequence[int]) -> None:
        self._child = child
        self.cores = cores
        self._has_spoken = False

    @classmethod
    async def start(cls, command: Sequence[str], cores: Sequence[int] = ()) -> Self:
        """Raises OSError if there is no such program."""
        pipe = asyncio.subprocess.PIPE
        return cls(await Child.start(command, _environment(), stdin=pipe, split=True), cores)

    async def play(self, job: GameJob, reports: JobReports) -> JobOutcome | None:
        """Have it play a game; None if the process has ended."""
        # It renews the lease by itself once it runs, and a short lease would end before that.
        starting = asyncio.create_task(self._renew_at_start(job.renew_s, reports))
        try:
            return await self._play(job, reports)
        finally:
            starting.cancel()

    async def _renew_at_start(self, interval: float, reports: JobReports) -> None:
        for _ in range(int(START_S / interval)):
            await asyncio.sleep(interval)
            if self._has_spoken:
                return
            reports.renewed()

    async def _play(self, job: GameJob, reports: JobReports) -> JobOutcome | None:
        process = self._child.process
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            # A job comes from the contest's own server, and is never read from anyone else.
            process.stdin.write(_frame({"job": pickle.dumps(job), "cores": self.cores}))
            await process.stdin.drain()
            while True:
                length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES))
                self._has_spoken = True
                match msgpack.unpackb(await process.stdout.readexactly(length)):
                    case {"renewed": _}:
                        reports.renewed()
                    case {"bench": int(bench)}:
                        reports.measured(bench)
                    case {"said": str(line)}:
                        reports.said(line)
                    case {"record": record, "problem": problem, "fatal": fatal, "stored": stored}:
                        return JobOutcome(record, problem, fatal, stored=stored)
        return None

    async def how_it_ended(self) -> str:
        """Wait for the end of the process, and return it in words."""
        status = await self._child.wait()
        how = f"with status {status}" if status >= 0 else f"by signal {-status}"
        last = self._child.last_error()
        return f"its process ended {how}" + (f": {last}" if last else "")

    def terminate(self) -> None:
        """Have it give its game back and end."""
        self._child.terminate()

    async def end(self) -> None:
        """End the process with all that it has started."""
        with suppress(ProcessLookupError):
            # One that was stopped has to end its bots, too: each of them has a session of its own.
            self._child.process.send_signal(signal.SIGCONT)
        await self._child.end(GRACE_S)


def _environment() -> dict[str, str]:
    """What finds the engine of this machine, and its way to the referee, is for the process and no bot."""
    runtime = os.environ.get("RUNTIME_DIRECTORY")
    return Docker().environment | ({} if runtime is None else {"RUNTIME_DIRECTORY": runtime})


def _frame(values: dict[str, object]) -> bytes:
    data: bytes = msgpack.packb(values)
    return len(data).to_bytes(LENGTH_BYTES) + data


# -- the process itself


class JobRun:
    """One job in its process: who plays it says here what people should read, and which cores it uses.

    `cores` are those of the process; none: it is not known which, or they are not its own.
    """

    def __init__(self, say: Callable[[str], None], cores: Sequence[int]) -> None:
        self.say = say
        self._cores = cores
        #: Which cores the players used, as the record has it: `0-1` all, `0/1` each seat its own.
        self.pinned = describe_cores(cores)
        #: What the bots have stored, by their names, for the result of the game.
        self.stored: dict[str, bytes] = {}

    def seat_cores(self, seats: int, most: float = 1) -> list[Sequence[int]]:
        """Equal cores for the program of each seat: of its own, if there are `most` for each."""
        own = shares(self._cores, seats)
        if len(own[0]) < most:
            return [self._cores] * seats
        self.split(own)
        return [*own]

    def split(self, own: Sequence[Sequence[int]]) -> None:
        """The program of each seat has these cores to itself."""
        self.pinned = "/".join(map(describe_cores, own))

    @property
    def is_split(self) -> bool:
        """Whether each seat has cores of its own."""
        return "/" in self.pinned


#: Plays the game of a job. Raises UserError for what would be the same anywhere, and HandedBackError.
Player = Callable[[GameJob, JobRun], GameRecord | None]


def serve(play: Player) -> None:
    """Play the games that come on stdin until it ends. Nothing else may use stdin and stdout."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    # What an engine prints is no frame.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    outlive_no_parent()
    _Server(play, out).run()


class _Server:
    def __init__(self, play: Player, out: BinaryIO) -> None:
        self._play = play
        self._out = out
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[tuple[GameJob, Sequence[int]] | None] = SimpleQueue()
        self._running: JobRun | None = None
        self._leaving = False
        self._bench = MachineBench()

    def run(self) -> None:
        self._main = threading.get_ident()
        for number in stop_signals(ctrl_c=False):
            signal.signal(number, self._terminated)
        threading.Thread(target=self._read, daemon=True).start()
        while not self._leaving and (job := self._jobs.get()) is not None:
            self._write(_plain(self._outcome(*job)))

    def _terminated(self, _number: int, _frame: object) -> None:
        self._leaving = True
        raise SystemExit(0) if self._running is None else HandedBackError

    def _read(self) -> None:
        # Not sys.stdin: an interpreter that ends while a thread waits in it would abort.
        stdin = sys.stdin.fileno()
        while len(head := _read_exactly(stdin, LENGTH_BYTES)) == LENGTH_BYTES:
            frame = msgpack.unpackb(_read_exactly(stdin, int.from_bytes(head)))
            job = pickle.loads(frame["job"])  # noqa: S301 - from who started this process
            self._jobs.put((job, frame["cores"]))
        # Who started this process is gone. A signal to the process might be taken by this thread, and would
        # not wake the other one.
        self._jobs.put(None)
        signal.pthread_kill(self._main, signal.SIGTERM)

    def _outcome(self, job: GameJob, cores: Sequence[int]) -> JobOutcome:
        use_cores(cores)
        over = threading.Event()
        threading.Thread(target=self._renew, args=(job.renew_s, over), daemon=True).start()
        run = JobRun(lambda line: self._write({"said": line}), cores)
        try:
            self._running = run
            bench = self._bench.plies_per_second(job.config)
            self._write({"bench": bench})
            record = self._play(job, run)
        except HandedBackError:
            record = None
        except UserError as error:
            return JobOutcome(None, str(error), fatal=True)
        finally:
            self._running = None
            over.set()
        if self._leaving:
            return JobOutcome(None, HANDED_BACK)
        if record is None:
            return JobOutcome(None, "the game had no result")
        if record.end == VOID:
            return JobOutcome(None, f"the game was broken off: {_reason(record)}")
        data = encode(replace(record, cpu=word(cpu_model()), cores=run.pinned, bench=bench))
        assert len(data) <= MAX_BYTES, "a record is bounded"
        return JobOutcome(data, stored=run.stored)

    def _renew(self, interval: float, over: threading.Event) -> None:
        while not over.wait(interval):
            self._write({"renewed": True})

    def _write(self, values: dict[str, Any]) -> None:
        with self._lock, suppress(BrokenPipeError):
            self._out.write(_frame(values))


def _read_exactly(fd: int, size: int) -> bytes:
    """Read `size` bytes; fewer at the end."""
    data = b""
    while len(data) < size and (part := os.read(fd, size - len(data))):
        data += part
    return data


def _plain(outcome: JobOutcome) -> dict[str, Any]:
    return {
        "record": outcome.record,
        "problem": outcome.problem,
        "fatal": outcome.fatal,
        "stored": dict(outcome.stored),
    }


def _reason(record: GameRecord) -> str:
    return next((fault.line.decode("ascii", "replace") for fault in record.faults if not fault.seat), "void")
