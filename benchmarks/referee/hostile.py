"""`arena bench hostile`: how attacks slow down honest bots, and the memory of idle connections.

The server is `arena serve` in a process of its own. Honest bots run in this process, think for
some milliseconds and measure every round trip, from sending MOVE to reading its PLAYED. Each
attacker is another process. All phases run on one server, so that their ratios hold on any
machine. Attackers use the CPU whatever they attack: in the phase `elsewhere` all of them attack
a bare echo on another port, for comparison.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena_server.errors import ArenaError
from arena_server.host.listener import raise_descriptor_limit
from arena_server.host.sockets import parse_address

ATTACKS = ("flood", "no-read", "loris", "connect", "guess")
HONEST = 20
THINKING_S = 0.005
SECONDS, QUICK_SECONDS = 8.0, 2.0
#: Seconds from the start of an attack to its measurement.
SETTLING_S = 0.5
IDLE, QUICK_IDLE = 10_000, 1_000
#: Connections before the memory is measured first.
WARM_UP = 100
START_S = 60.0

ARENA = (sys.executable, "-m", "arena_cli")
BENCH = (sys.executable, "-m", "benchmarks.referee")

CONFIG = """
[contest]
name = "hostile"
games_per_pair = 100000
probation = 0
login = "{login}"
[game]
clock = "10m"
[server]
max_connections = 20000
"""


@dataclass(frozen=True, slots=True)
class Phase:
    """The honest bots' figures during one attack."""

    name: str
    turns_per_second: float
    p50_us: float
    p99_us: float
    faults: int

    @classmethod
    def of(cls, name: str, spans: array[int], seconds: float, faults: int) -> Phase:
        """Summarise round trips (`spans`, nanoseconds). Raises ArenaError if there is none."""
        ordered = sorted(spans)
        if not ordered:
            raise ArenaError(f"{name}: no honest bot made a move within {seconds:.0f} s")
        middle, high = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
        return cls(name, len(ordered) / seconds, middle / 1000, high / 1000, faults)


class HonestBots:
    """Bots that play until they are cancelled and collect their round trips in `spans`."""

    def __init__(self, host: str, port: int, thinking_s: float = THINKING_S) -> None:
        self._thinking_s = thinking_s
        self.spans: array[int] = array("q")
        self.faults = 0
        self.playing = 0
        self._address = host, port

    async def play(self, name: str) -> None:
        """Play as one bot; every move is 6."""
        reader, writer = await asyncio.open_connection(*self._address)
        try:
            await self._play(name, reader, writer)
        finally:
            await _close([writer])

    async def _play(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HELLO 1 {name}\n".encode())
        seat, sent = b"", 0
        async for line in reader:
            verb, _, rest = line.partition(b" ")
            if verb == b"GAME":
                seat = rest.split(b" ")[2]
                writer.write(b"READY " + rest.split(b" ")[0] + b"\n")
            elif verb == b"TURN":
                await asyncio.sleep(self._thinking_s)
                sent = time.perf_counter_ns()
                writer.write(b"MOVE 6\n")
            elif verb == b"PLAYED" and sent and seat in rest:
                self.spans.append(time.perf_counter_ns() - sent)
                sent = 0
            elif verb == b"START":
                self.playing += 1
            elif verb in (b"ZOMBIE", b"ERROR"):
                self.faults += 1

    async def measure(self, name: str, seconds: float) -> Phase:
        """Measure for `seconds`."""
        self.spans, before = array("q"), self.faults
        began = time.perf_counter()
        await asyncio.sleep(seconds)
        return Phase.of(name, self.spans, time.perf_counter() - began, self.faults - before)


def measure(*, quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything and return what `--json` prints; `say` gets a line of progress."""
    raise_descriptor_limit()
    seconds = QUICK_SECONDS if quick else SECONDS
    with _server("10s") as (process, host, port):
        phases = asyncio.run(_phases(host, port, seconds, say))
        alive = process.poll() is None
    say("idle connections ...")
    with _server("1h") as (process, host, port):
        idle = _idle(process.pid, host, port, QUICK_IDLE if quick else IDLE)
    return {"cores": os.cpu_count(), "seconds": seconds, "alive": alive, "rows": _rows(phases), "idle": idle}


def _rows(phases: list[Phase]) -> list[dict[str, Any]]:
    quiet = phases[0]
    return [
        {
            "phase": phase.name,
            "turns_per_second": round(phase.turns_per_second),
            "p50_us": round(phase.p50_us),
            "p99_us": round(phase.p99_us),
            "turns_ratio": round(phase.turns_per_second / quiet.turns_per_second, 3),
            "p50_ratio": round(phase.p50_us / quiet.p50_us, 2),
            "p99_ratio": round(phase.p99_us / quiet.p99_us, 2),
            "faults": phase.faults,
        }
        for phase in phases
    ]


@contextmanager
def _server(login: str) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """Run `arena serve` for the honest bots; yield the process and its address."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "hostile.toml"
        bots = "".join(f'[[bot]]\nname = "b{number}"\n' for number in range(HONEST))
        config.write_text(CONFIG.format(login=login) + bots)
        command = [*ARENA, "serve", str(config), "--port", "0", "--log-level", "error"]
        process = subprocess.Popen(
            [*command, "--database", f"sqlite:///{folder}/hostile.db"], stdout=subprocess.PIPE, text=True
        )
        try:
            yield process, *_address(process)
        finally:
            _end(process)


@contextmanager
def _elsewhere() -> Iterator[tuple[str, int]]:
    """Run a bare echo that waits for more connections than it gets; yield its address."""
    command = [*BENCH, "echo"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield _address(process)
    finally:
        _end(process)


def _address(process: subprocess.Popen[str]) -> tuple[str, int]:
    """Read `listening on HOST:PORT`. Raises ArenaError if the process ends without it."""
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise ArenaError("the attacked server did not start; see above")
    return parse_address(line.removeprefix("listening on "), "the attacked server")


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


async def _phases(host: str, port: int, seconds: float, say: Callable[[str], None]) -> list[Phase]:
    bots = HonestBots(host, port)
    tasks = [asyncio.ensure_future(bots.play(f"b{number}")) for number in range(HONEST)]
    try:
        async with asyncio.timeout(START_S):
            while bots.playing < HONEST:
                await asyncio.sleep(SETTLING_S)
        say("quiet ...")
        phases = [await bots.measure("quiet", seconds)]
        for kind in ATTACKS:
            say(f"{kind} ...")
            phases.append(await _under(bots, kind, (kind,), (host, port), seconds))
        say("all at once ...")
        phases.append(await _under(bots, "all at once", ATTACKS, (host, port), seconds))
        say("elsewhere ...")
        with _elsewhere() as other:
            phases.append(await _under(bots, "elsewhere", ATTACKS, other, seconds))
        return phases
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _under(
    bots: HonestBots, name: str, kinds: Sequence[str], target: tuple[str, int], seconds: float
) -> Phase:
    """Measure while `target` is attacked in these ways, each by a process of its own."""
    attackers = [_attack(kind, *target) for kind in kinds]
    try:
        await asyncio.sleep(SETTLING_S)
        return await bots.measure(name, seconds)
    finally:
        for attacker in attackers:
            _end(attacker)


def _attack(kind: str, host: str, port: int) -> subprocess.Popen[str]:
    return subprocess.Popen([*BENCH, "attack", kind, f"{host}:{port}"], text=True)


def _idle(pid: int, host: str, port: int, number: int) -> dict[str, Any]:
    """Measure the server's memory before and after `number` connections that send nothing."""
    return asyncio.run(_fill(pid, host, port, number))


async def _fill(pid: int, host: str, port: int, number: int) -> dict[str, Any]:
    writers: list[asyncio.StreamWriter] = []

    async def more(count: int) -> None:
        for _ in range(count):
            reader, writer = await asyncio.open_connection(host, port)
            writers.append(writer)
            await reader.readline()  # ARENA: the server has accepted it

    try:
        await more(WARM_UP)
        await asyncio.sleep(SETTLING_S)  # the server still loads modules after `listening`
        before = _resident_kib(pid)
        await more(number)
        after = _resident_kib(pid)
    finally:
        await _close(writers)
    return {
        "connections": number,
        "rss_before_kib": before,
        "rss_after_kib": after,
        "kib_per_thousand": round((after - before) * 1000 / number),
    }


async def _close(writers: list[asyncio.StreamWriter]) -> None:
    for writer in writers:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)


def _resident_kib(pid: int) -> int:
    """Return the resident memory of a process. Raises ArenaError where /proc does not exist."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except FileNotFoundError:
        raise ArenaError("the memory of a process is only known on Linux") from None
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def text_table(measured: dict[str, Any]) -> str:
    """Return the measurement as a table."""
    idle = measured["idle"]
    lines = [
        f"{measured['cores']} cores, {measured['seconds']:.0f} s per row; {HONEST} honest bots that think "
        f"{THINKING_S * 1000:.0f} ms; round trip: MOVE sent to PLAYED read",
        f"{'attack':<12}  {'turns/s':>8}  {'ratio':>6}  {'p50 us':>7}  {'ratio':>6}  "
        f"{'p99 us':>7}  {'ratio':>6}  {'faults of the honest':>20}",
    ]
    lines += [
        f"{row['phase']:<12}  {row['turns_per_second']:>8,}  {row['turns_ratio']:>6.3f}  "
        f"{row['p50_us']:>7,}  {row['p50_ratio']:>6.2f}  {row['p99_us']:>7,}  "
        f"{row['p99_ratio']:>6.2f}  {row['faults']:>20}"
        for row in measured["rows"]
    ]
    lines.append(
        f"{idle['connections']:,} idle connections: {idle['rss_after_kib'] / 1024:.1f} MiB resident, "
        f"{idle['kib_per_thousand'] / 1024:.2f} MiB per thousand"
    )
    return "\n".join(lines)
