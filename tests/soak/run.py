"""Half an hour and more of a contest in which everything is killed: server, bots and PostgreSQL.

    run(minutes) -> PostgreSQL, `arena serve`, 50 processes of bots, a quarter of them faulty
                 -> kills at random moments -> SIGTERM -> check -> Report

What the bots were sent has to be what is stored; every record and the chain have to verify; only faulty bots
may have faults; the server's memory has to stay flat. The seed draws the moments, the machine decides where
in the games they fall: the outcome must not depend on it.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median

from tests.server.postgres import Cluster, cluster

from arena_protocol.record import VOID, GameRecord
from arena_server.store.reader import Results

from ..ports import quiet_port
from .processes import PATIENCE_S, BotProcesses, Say, Server, counts, run_alone, verified, verify_chain

FAULTY = ("illegal", "malformed", "flood", "long", "out-of-turn", "quit", "crash", "silent", "deaf")
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
        faults = ", ".join(f"{kind} {number}" for kind, number in self.faults.most_common())
        return (
            f"{self.bots} bots, {self.seconds / 60:.0f} minutes, kills: {counts(self.kills)}\n"
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
        port = quiet_port()
        self._database = postgres.database()
        faulty = bots // 4
        self.kinds = {
            f"b{number}": FAULTY[number % len(FAULTY)] if number < faulty else "good"
            for number in range(bots)
        }
        self._bots = BotProcesses(folder, port)
        words = ["serve", "c.toml", "--port", str(port), "--no-web", "--log-level", "error"]
        self._server = Server(folder, *words, "--database", self._database.url)
        tables = "".join(f'[[bot]]\nname = "{name}"\n' for name in self.kinds)
        (folder / "c.toml").write_text(
            '[contest]\nname = "soak"\nformat = "ladder"\nprobation = 0\nspectator_delay = "0s"\n'
            f'[game]\nclock = "120s"\nmove_limit = "20s"\n{tables}'
        )

    # -- processes

    def tend(self) -> None:
        """Start again what has ended by itself: crashed bots, and a server whose database was away."""
        self._bots.tend()
        if self._server.status() is not None:
            assert self._server.ended() == 1
            self._server.start()

    def kill_one(self) -> None:
        """Kill a bot, the server or PostgreSQL: one of each first."""
        (what,) = self._first or self._chance.choices(list(VICTIMS), list(VICTIMS.values()))
        self._first = [each for each in VICTIMS if each not in self.report.kills.keys() | {what}][:1]
        self.report.kills[what] += 1
        if what == "bot":
            self._bots.kill_one(self._chance)
        elif what == "server":
            self._measure()
            self._server.end(signal.SIGKILL)
            self._server.start()
        else:
            self._measure()
            self._postgres.kill()
            self._postgres.start()  # a server that had its connection ends by itself, with one line

    def _measure(self) -> None:
        """Note the size of the server that is about to end."""
        status = Path(f"/proc/{self._server.process.pid}/status").read_text()
        size = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
        self.report.rss.append((int(size), time.monotonic()))

    def stop(self) -> None:
        """End the server in order, and all bots."""
        self._measure()
        assert self._server.end(signal.SIGTERM) == 0

    def close(self) -> None:
        self._server.close()
        self._bots.close()

    # -- the run

    def play(self, seconds: float, say: Say) -> None:
        """Play and kill for so long."""
        begun = time.monotonic()
        self._server.start()
        for name, kind in self.kinds.items():
            self._bots.start("soak", name, kind, think_s=self._think_s)
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

    def _announced(self) -> int:
        return sum(map(len, self._bots.told().values()))

    def check(self) -> None:
        """What the bots were sent is what is stored; every record verifies; honest bots have no fault."""
        report = self.report
        with Results(self._database) as results:
            (contest,) = results.contests()
            records = verified(results, contest)
        for record in records.values():
            self._check_faults(record)
        report.void = sum(record.end == VOID for record in records.values())
        report.games = len(records) - report.void
        for (_, name), told in self._bots.told().items():
            for game, totals in told.items():
                assert totals == ",".join(map(str, records[game].totals)), (name, game)
                report.announced += 1
        verify_chain(self._folder, "--database", self._database.url)

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
    say: Say = print,
) -> Report:
    """Play for so long, check, and return the figures."""
    with cluster() as postgres:
        played = Field(folder, bots, seed, postgres, think_s)
        run_alone(played, minutes, say)
    return played.report
