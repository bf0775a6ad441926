"""Half an hour and more of a contest in which everything is killed: server, bots and PostgreSQL.

    run(minutes) -> PostgreSQL, `arena serve`, 50 processes of bots, a quarter of them faulty
                 -> kills at random moments -> SIGTERM -> check -> Report

What the bots were sent has to be what is stored; every record and the chain have to verify; only faulty bots
may have faults; the server's memory has to stay flat. The seed draws the moments, the machine decides where
in the games they fall: the outcome must not depend on it.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median

from tests.server.postgres import Cluster, cluster

from arena_protocol.record import VOID, GameRecord
from arena_protocol.record_codec import decode
from arena_protocol.verify import verify
from arena_server.store.reader import Results

from ..ports import quiet_port
from ..server.records import shown

FAULTY = ("illegal", "malformed", "flood", "long", "out-of-turn", "quit", "crash", "silent", "deaf")
PATIENCE_S = 150.0
#: Seconds between two kills, at most; half of that on average.
PAUSE_S = 12.0
#: What is killed, by weight.
VICTIMS = {"bot": 20, "server": 2, "postgresql": 1}


@dataclass
class Report:
    """What a run came to; `rss` has kilobytes and results at the end of each life of a server."""

    bots: int
    seconds: float = 0.0
    kills: Counter[str] = field(default_factory=Counter)
    games: int = 0
    void: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    announced: int = 0
    rss: list[tuple[int, float]] = field(default_factory=list)

    def third(self, last: bool) -> int:
        """The median size of the servers in the first or the last third of their lives, in kilobytes."""
        sizes = [size for size, _ in self.rss]
        count = max(1, len(sizes) // 3)
        return round(median(sizes[-count:] if last else sizes[:count]))

    def __str__(self) -> str:
        kills = ", ".join(f"{number} of {what}" for what, number in sorted(self.kills.items()))
        faults = ", ".join(f"{kind} {number}" for kind, number in self.faults.most_common())
        return (
            f"{self.bots} bots, {self.seconds / 60:.0f} minutes, kills: {kills}\n"
            f"{self.games:,} games with a result, {self.void} void, {self.announced:,} results announced to "
            f"bots: none lost, none changed\nfaults (of faulty bots alone): {faults}\n"
            f"server: {len(self.rss)} lives, {self.third(False) / 1000:.0f} MB in the first third, "
            f"{self.third(True) / 1000:.0f} MB in the last"
        )


class Field:
    """The processes of one run."""

    def __init__(self, folder: Path, bots: int, seed: int, postgres: Cluster, think_s: float) -> None:
        self.report = Report(bots)
        self._folder = folder
        self._chance = Random(seed)
        self._first = list(VICTIMS)[:1]
        self._postgres = postgres
        self._think_s = think_s
        self._port = quiet_port()
        self._database = postgres.database()
        faulty = bots // 4
        self.kinds = {
            f"b{number}": FAULTY[number % len(FAULTY)] if number < faulty else "good"
            for number in range(bots)
        }
        self._bots: dict[str, subprocess.Popen[bytes]] = {}
        self._server: subprocess.Popen[bytes] | None = None
        tables = "".join(f'[[bot]]\nname = "{name}"\n' for name in self.kinds)
        (folder / "c.toml").write_text(
            '[contest]\nname = "soak"\nformat = "ladder"\nprobation = 0\nspectator_delay = "0s"\n'
            f'[game]\nclock = "120s"\nmove_limit = "20s"\n{tables}'
        )

    # -- processes

    def start_server(self) -> None:
        """Start the server; it goes on where the last one ended."""
        words = [sys.executable, "-m", "arena_cli", "serve", "c.toml", "--port", str(self._port), "--no-web"]
        words += ["--log-level", "error", "--database", self._database.url]
        with open(self._folder / "server.log", "ab") as log:
            self._server = subprocess.Popen(
                words, cwd=self._folder, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )
        assert self._server.stdout is not None
        assert self._server.stdout.readline().startswith(b"listening on ")

    def start_bot(self, name: str) -> None:
        program = Path(__file__).with_name("bot.py")
        words = [self.kinds[name], name, str(self._port), str(self._folder / name), str(self._think_s)]
        self._bots[name] = subprocess.Popen([sys.executable, "-S", str(program), *words])

    def tend(self) -> None:
        """Start again what has ended by itself: crashed bots, and a server whose database was away."""
        for name, bot in self._bots.items():
            if bot.poll() is not None:
                self.start_bot(name)
        if self._server is not None and (status := self._server.poll()) is not None:
            assert status in (1, -signal.SIGKILL)
            self._forget_server()
        if self._server is None:
            self.start_server()

    def _forget_server(self) -> None:
        if self._server is not None:
            self._server.wait(PATIENCE_S)
            assert self._server.stdout is not None
            self._server.stdout.close()
            self._server = None

    def kill_one(self) -> None:
        """Kill a bot, the server or PostgreSQL: one of each first."""
        (what,) = self._first or self._chance.choices(list(VICTIMS), list(VICTIMS.values()))
        self._first = [each for each in VICTIMS if each not in self.report.kills.keys() | {what}][:1]
        self.report.kills[what] += 1
        if what == "bot":
            bot = self._bots[self._chance.choice(list(self._bots))]
            bot.kill()
            bot.wait(PATIENCE_S)
        elif what == "server":
            assert self._server is not None
            self._measure()
            self._server.kill()
        else:
            self._measure()
            self._postgres.kill()
            self._postgres.start()  # a server that had its connection ends by itself, with one line

    def _measure(self) -> None:
        """Note the size of the server that is about to end."""
        assert self._server is not None
        status = Path(f"/proc/{self._server.pid}/status").read_text()
        size = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
        self.report.rss.append((int(size), time.monotonic()))

    def stop(self) -> None:
        """End the server in order, and all bots."""
        assert self._server is not None
        self._measure()
        self._server.send_signal(signal.SIGTERM)
        assert self._server.wait(PATIENCE_S) == 0

    def close(self) -> None:
        """Leave no process behind."""
        if self._server is not None:
            self._server.kill()
            self._forget_server()
        for bot in self._bots.values():
            bot.kill()
            bot.wait(PATIENCE_S)

    # -- the run

    def play(self, seconds: float, say: Callable[[str], None]) -> None:
        """Play and kill for so long."""
        begun = time.monotonic()
        self.start_server()
        for name in self.kinds:
            self.start_bot(name)
        said, results = begun, 0
        while (now := time.monotonic()) < begun + seconds:
            until = min(now + self._chance.uniform(0.5, PAUSE_S), begun + seconds)
            while time.monotonic() < until:
                time.sleep(0.2)
                self.tend()
            self.kill_one()
            self.tend()
            if now > said + PATIENCE_S:
                said, before, results = now, results, self._announced()
                assert results > before, f"no result within {PATIENCE_S:.0f} s"
                size = self.report.rss[-1][0] / 1000 if self.report.rss else 0
                say(
                    f"{(now - begun) / 60:.0f} minutes, {results} announced, "
                    f"kills {dict(self.report.kills)}, server {size:.0f} MB"
                )
        self._settle()
        self.stop()
        self.report.seconds = time.monotonic() - begun

    def _settle(self) -> None:
        """Wait until a result has come from a server after the last kill."""
        before, end = self._announced(), time.monotonic() + PATIENCE_S
        while self._announced() == before:
            assert time.monotonic() < end, f"no result within {PATIENCE_S:.0f} s"
            time.sleep(0.2)
            self.tend()

    def _results(self, name: str) -> list[str]:
        """The results that a bot was sent, a line each."""
        file = self._folder / name
        return file.read_text().splitlines() if file.exists() else []

    def _announced(self) -> int:
        return sum(len(self._results(name)) for name in self.kinds)

    def check(self) -> None:
        """What the bots were sent is what is stored; every record verifies; honest bots have no fault."""
        report = self.report
        with Results(self._database) as results:
            (contest,) = results.contests()
            records = {game: decode(shown(data)) for game, data in results.games.records(contest)}
        for record in records.values():
            verify(record)
            self._check_faults(record)
        report.void = sum(record.end == VOID for record in records.values())
        report.games = len(records) - report.void
        for name in self.kinds:
            for game, totals in (line.split() for line in self._results(name)):
                assert totals == ",".join(map(str, records[game].totals)), (name, game)
                report.announced += 1
        words = [sys.executable, "-m", "arena_cli", "verify", "--database", self._database.url]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

    def _check_faults(self, record: GameRecord) -> None:
        for fault in record.faults:
            if fault.seat:
                name = record.names[fault.seat - 1]
                assert self.kinds[name] != "good", f"{name} in {record.game_id}: {fault}"
                self.report.faults[str(fault.kind)] += 1


def run(
    folder: Path,
    minutes: float,
    bots: int,
    seed: int,
    think_s: float = 0.1,
    say: Callable[[str], None] = print,
) -> Report:
    """Play for so long, check, and return the figures."""
    with ExitStack() as stack:
        postgres = stack.enter_context(cluster())
        played = Field(folder, bots, seed, postgres, think_s)
        stack.callback(played.close)
        played.play(minutes * 60, say)
        played.check()
    return played.report
