"""What viewers of the site cost the games: round trips of bots with and without browsers that watch.

Bots play in this process; the server is `arena serve`, and the viewers are a third process: they open
streams as browsers do and read what comes. On a machine with few cores the viewers' own reading slows
down everything too, so the figures are upper bounds.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.referee.hostile import ARENA, BENCH, HONEST, START_S, HonestBots, Phase

from arena_server.errors import ArenaError
from arena_server.host.listener import raise_descriptor_limit
from arena_server.host.sockets import parse_address

OF_GAME, OF_STANDINGS = 500, 5_000
SECONDS, QUICK_SECONDS = 20.0, 4.0
#: What a bot takes for a move: 20 plies a second in each of ten games.
THINKING_S = 0.05
#: From the last stream that is open to the measurement.
SETTLING_S = 2.0

CONFIG = """
[contest]
name = "viewers"
games_per_pair = 100000
probation = 0
spectator_delay = "1s"
[game]
clock = "10m"
plies = 20000
"""

Address = tuple[str, int]


def measure(*, quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure all phases and return what `--json` prints; `say` gets a line of progress."""
    raise_descriptor_limit()
    seconds = QUICK_SECONDS if quick else SECONDS
    with _server() as (bots_at, site):
        phases = asyncio.run(_phases(bots_at, site, seconds, say))
    rows = [
        {
            "viewers": phase.name,
            "turns_per_second": round(phase.turns_per_second, 1),
            "p50_us": round(phase.p50_us),
            "p99_us": round(phase.p99_us),
            "quiet_turns_per_second": round(quiet.turns_per_second, 1),
            "quiet_p50_us": round(quiet.p50_us),
            "quiet_p99_us": round(quiet.p99_us),
            "turns_ratio": round(phase.turns_per_second / quiet.turns_per_second, 3),
            "p50_ratio": round(phase.p50_us / quiet.p50_us, 2),
            "p99_ratio": round(phase.p99_us / quiet.p99_us, 2),
            "megabytes_per_second": round(received / seconds / 1e6, 2),
            "faults": phase.faults,
        }
        for quiet, phase, received in phases
    ]
    return {"cores": os.cpu_count(), "seconds": seconds, "rows": rows}


async def _phases(
    bots_at: Address, site: Address, seconds: float, say: Callable[[str], None]
) -> list[tuple[Phase, Phase, int]]:
    """For each number of viewers: just before without any, with them, and the bytes that they got."""
    bots = HonestBots(*bots_at, THINKING_S)
    tasks = [asyncio.ensure_future(bots.play(f"b{number}")) for number in range(HONEST)]
    phases = []
    try:
        async with asyncio.timeout(START_S):
            while bots.playing < HONEST:
                await asyncio.sleep(0.5)
        game = await asyncio.to_thread(_a_game, site)
        for name, of_game, of_standings in (
            (f"{OF_GAME:,} of a game", OF_GAME, 0),
            (f"{OF_STANDINGS:,} of the standings", 0, OF_STANDINGS),
            ("both", OF_GAME, OF_STANDINGS),
        ):
            say(f"{name} ...")
            quiet = await bots.measure("none", seconds)
            with _viewers(site, game, of_game, of_standings) as viewers:
                await asyncio.to_thread(viewers.wait)
                await asyncio.sleep(SETTLING_S)
                before = viewers.received()
                phase = await bots.measure(name, seconds)
                phases.append((quiet, phase, viewers.received() - before))
            await asyncio.sleep(SETTLING_S)
        return phases
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _a_game(site: Address) -> str:
    """A running game, from the first event of the contest that has one."""
    with urlopen(f"http://{site[0]}:{site[1]}/api/v1/live/contest", timeout=START_S) as events:
        for line in events:
            if line.startswith(b"data: ") and (running := json.loads(line[6:]).get("running")):
                return str(running[0]["game_id"])
    raise ArenaError("the site shows no running game")


class _Viewers:
    """The process with the viewers; it reports the bytes that they have received."""

    def __init__(self, command: list[str], number: int) -> None:
        self._number = number
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def wait(self) -> None:
        """Wait until all streams are open. Raises ArenaError if they cannot be."""
        assert self.process.stdout is not None
        if self.process.stdout.readline().strip() != "open":
            raise ArenaError(
                f"the site does not serve {self._number} viewers; is the limit of open files low?"
            )

    def received(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def _viewers(site: Address, game: str, of_game: int, of_standings: int) -> Iterator[_Viewers]:
    command = [*BENCH, "watch", f"{site[0]}:{site[1]}", game, str(of_game), str(of_standings)]
    viewers = _Viewers(command, of_game + of_standings)
    try:
        yield viewers
    finally:
        viewers.process.kill()
        viewers.process.communicate()


def watch(site: Address, game: str, of_game: int, of_standings: int) -> None:
    """Open the streams, print `open` when each has its first event, then the bytes for each line of stdin."""
    raise_descriptor_limit()
    poll = select.epoll()
    socks: dict[int, socket.socket] = {}
    paths = [f"games/{game}"] * of_game + ["contest"] * of_standings
    received = 0

    def read(wait: float) -> bool:
        """Read what comes; False at the end of stdin, which is read for requests."""
        nonlocal received
        for fd, _ in poll.poll(wait):
            if fd != sys.stdin.fileno():
                data = socks[fd].recv(65536)
                if not data:
                    raise ArenaError("the site dropped a viewer")
                received += len(data)
            elif sys.stdin.readline():
                sys.stdout.write(f"{received}\n")
                sys.stdout.flush()
            else:
                return False
        return True

    for path in paths:
        read(0)
        sock = socket.create_connection(site)
        request = f"GET /api/v1/live/{path} HTTP/1.1\r\nHost: {site[0]}:{site[1]}\r\n\r\n"
        sock.sendall(request.encode("ascii"))
        if b" 200 " not in sock.recv(4096):
            raise ArenaError(f"{path}: the site refused viewer {len(socks) + 1}")
        sock.setblocking(False)
        socks[sock.fileno()] = sock
        poll.register(sock.fileno(), select.EPOLLIN)
    sys.stdout.write("open\n")
    sys.stdout.flush()
    poll.register(sys.stdin.fileno(), select.EPOLLIN)
    while read(-1):
        pass


@contextmanager
def _server() -> Iterator[tuple[Address, Address]]:
    """Run `arena serve`; yield the addresses for bots and for browsers."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "viewers.toml"
        config.write_text(CONFIG + "".join(f'[[bot]]\nname = "b{number}"\n' for number in range(HONEST)))
        command = [*ARENA, "serve", str(config), "--port", "0", "--web-port", "0", "--log-level", "error"]
        process = subprocess.Popen(
            [*command, "--database", f"sqlite:///{folder}/viewers.db"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            bots_at = process.stdout.readline().strip().removeprefix("listening on ")
            site = process.stdout.readline().strip().removeprefix("web on http://")
            if not site:
                raise ArenaError("the server did not start; see above")
            yield parse_address(bots_at, "the server"), parse_address(site, "the site")
        finally:
            process.kill()
            process.communicate()


def text_table(measured: dict[str, Any]) -> str:
    """Return the measurement as a table."""
    lines = [
        f"{measured['cores']} cores, {measured['seconds']:.0f} s per row; {HONEST} bots that think "
        f"{THINKING_S * 1000:.0f} ms; round trip: MOVE sent to PLAYED read; ratios to the same time without "
        "viewers just before",
        f"{'viewers':<24}  {'turns/s':>8}  {'ratio':>6}  {'p50 us':>7}  {'ratio':>6}  {'p99 us':>7}  "
        f"{'ratio':>6}  {'MB/s':>6}  {'faults':>6}",
    ]
    lines += [
        f"{row['viewers']:<24}  {row['turns_per_second']:>8,}  {row['turns_ratio']:>6.3f}  "
        f"{row['p50_us']:>7,}  {row['p50_ratio']:>6.2f}  {row['p99_us']:>7,}  {row['p99_ratio']:>6.2f}  "
        f"{row['megabytes_per_second']:>6.2f}  {row['faults']:>6}"
        for row in measured["rows"]
    ]
    return "\n".join(lines)
