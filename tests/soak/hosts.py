"""A host of contests that is killed while people use all of it.

    ladder, league                  bots in processes, each with a record of what it was sent
    swiss-N, knockout-N             added one after the other by the admin port
    orders, registrations           (organiser.py) pause, resume, kick, lift, void, replay; bots that register
    visitors, readers               games of /play; the lists of games of the host and of a site of its own
    arena publish, arena backup     now and then, and killed now and then

What anyone was sent holds at the end. The bots of a Swiss and a knockout have a fixed move for each ply: all
their games are those of the same contest on a host that nothing has happened to.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from arena_protocol.record import VOID, GameRecord
from arena_server.errors import StoreError
from arena_server.store.reader import Results

from ..ports import quiet_port
from .people import ADMIN, Organiser, Publisher, Reader, Visitor
from .processes import PATIENCE_S, BotProcesses, Say, Server, counts, verified, verify_chain

#: What is killed, by weight; a server gets SIGTERM one time of five.
VICTIMS = {"server": 6, "bot": 9, "site": 2, "publish": 1, "backup": 1}
#: Seconds between two kills, at most; half of that on average.
PAUSE_S = 5.0
LADDER = ("l0", "l1", "l2", "l3")
LEAGUE = ("r0", "r1", "r2", "r3")
DRAWN = ("d0", "d1", "d2", "d3", "d4", "d5")
#: The number of different contests of each drawn format.
SEEDS = 3


def contest_text(name: str, terms: str, bots: tuple[str, ...]) -> str:
    tables = "".join(f'[[bot]]\nname = "{bot}"\n' for bot in bots)
    return (
        f'[contest]\nname = "{name}"\n{terms}\nprobation = 0\nspectator_delay = "0s"\nabsent = "1h"\n'
        f'stall_limit = "60s"\n[game]\nplies = 10\nclock = "120s"\nmove_limit = "60s"\n{tables}'
    )


def drawn_text(name: str, kind: str, number: int) -> str:
    terms = f'format = "{kind}"\ngames_per_pair = 2\nseed = {number % SEEDS + 1}'
    return contest_text(name, terms, DRAWN)


def games_of(records: list[GameRecord]) -> list[str]:
    """What a drawn contest came to: who met whom, with which moves, and the points; in a fixed order."""
    kept = [record for record in records if record.end != VOID]
    return sorted(f"{each.names} {[ply.move for ply in each.plies]} {each.totals}" for each in kept)


@dataclass
class Hosted:
    """What a run came to."""

    seconds: float = 0.0
    kills: Counter[str] = field(default_factory=Counter)
    games: int = 0
    void: int = 0
    told: Counter[str] = field(default_factory=Counter)
    drawn: int = 0
    faults: int = 0

    def __str__(self) -> str:
        return (
            f"hosts: {self.seconds / 60:.1f} minutes, {self.kills.total()} kills: {counts(self.kills)}\n"
            f"{self.games:,} games with a result, {self.void} void, {self.faults} faults; "
            f"told to {counts(self.told)}: "
            f"none lost, none changed\n{self.drawn} Swiss and knockouts as without kills"
        )


class Host:
    """`arena serve` with contests, which is killed and started again, and the site of its own."""

    def __init__(self, folder: Path, *files: str) -> None:
        self.port, self.web_port, self.admin_port, self.site_port = (quiet_port() for _ in range(4))
        ports = {"--port": self.port, "--web-port": self.web_port, "--admin-port": self.admin_port}
        words = [word for option, port in ports.items() for word in (option, str(port))]
        self.server = Server(folder, "serve", *files, *words, "--log-level", "error", env=ADMIN)
        words = ["web", "--connect", f"127.0.0.1:{self.port}", "--port", str(self.site_port)]
        self.site = Server(folder, *words, env=ADMIN, listens=False, log="site.log")

    def close(self) -> None:
        self.server.close()
        self.site.close()


class HostField:
    """The processes and people of one run."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.report = Hosted()
        self._folder = folder
        self._chance = Random(seed)
        for name, terms, bots in (
            ("ladder", 'format = "ladder"', LADDER),
            ("league", "games_per_pair = 10000", LEAGUE),
        ):
            (folder / f"{name}.toml").write_text(contest_text(name, terms, bots))
        self._host = Host(folder, "ladder.toml", "league.toml")
        self._bots = BotProcesses(folder, self._host.port)
        self._organiser = Organiser(self._host.admin_port, self._host.web_port, self._bots, seed)
        self._publisher = Publisher(folder, seed)
        self._readers = [
            Reader("page", self._host.web_port),
            Reader("site", self._host.site_port),
        ]
        self._visitor = Visitor(self._host.web_port)

    def _people(self) -> list[Organiser | Publisher | Reader | Visitor]:
        return [self._organiser, self._publisher, self._visitor, *self._readers]

    def start(self) -> None:
        self._host.server.start()
        self._host.site.start()
        for contest, names in (("ladder", LADDER), ("league", LEAGUE)):
            for name in names:
                self._bots.start(contest, name, "good")
        self._publisher.wait_for_results(PATIENCE_S)
        for each in self._people():
            each.start()

    def kill_one(self) -> None:
        """Kill something, and start it again."""
        (what,) = self._chance.choices(list(VICTIMS), list(VICTIMS.values()))
        if what == "server":
            self._host.server.end(self._chance.choice((signal.SIGKILL,) * 4 + (signal.SIGTERM,)))
            self._host.server.start()
        elif what == "site":
            self._host.site.end(signal.SIGKILL)
            self._host.site.start()
        elif what == "bot":
            self._bots.kill_one(self._chance)
        elif not self._publisher.kill(what):
            return
        self.report.kills[what] += 1

    def play(self, seconds: float, say: Say) -> None:
        """Play and kill for so long, then let what has begun come to its end."""
        begun = said = time.monotonic()
        self.start()
        while (now := time.monotonic()) < begun + seconds:
            time.sleep(self._chance.uniform(0.2, PAUSE_S))
            self.kill_one()
            problems = [each.problem for each in self._people() if each.problem]
            assert not problems, problems
            if now > said + 60:
                said = now
                say(f"{self.report.kills.total()} kills, {self._organiser.progress()}")
        for each in self._people():
            each.ends.set()
        for each in self._people():
            each.join(2 * PATIENCE_S)
            assert not each.is_alive(), f"{each.name} does not come to its end"
            assert not each.problem, each.problem
        assert self._host.server.end(signal.SIGTERM) == 0
        self._bots.close()
        self.report.seconds = time.monotonic() - begun

    def close(self) -> None:
        for each in self._people():
            each.ends.set()
        self._host.close()
        self._bots.close()

    # -- what holds at the end

    def check(self) -> None:
        stored: dict[str, dict[str, GameRecord]] = {}
        with Results(self._folder / "arena.db") as results:
            for contest in results.contests():
                assert contest.name not in stored, f"{contest.name} has begun twice"
                stored[contest.name] = verified(results, contest)
        for name, records in stored.items():
            for record in records.values():
                self.report.faults += sum(bool(fault.seat) for fault in record.faults)
            self.report.void += sum(record.end == VOID for record in records.values())
            self.report.games += sum(record.end != VOID for record in records.values())
            verify_chain(self._folder, "--contest", name)
        assert self.report.faults == 0, "an honest bot has a fault"
        assert "web-fault" not in self._host.server.log.read_text(), "a page or an order has failed"
        self._check_told(stored)
        self._check_drawn(stored)
        self._organiser.check(self._folder)
        self._publisher.check()
        self._visitor.check(self._folder)
        self.report.told["organiser"] = len(self._organiser.told)
        self.report.told["authors"] = len(self._organiser.tokens)
        self.report.told["visitors"] = self._visitor.compared
        self.report.told["backups"] = self._publisher.backups
        self.report.told["results in backups"] = self._publisher.compared
        self.report.told["publications"] = self._publisher.published

    def _check_told(self, stored: dict[str, dict[str, GameRecord]]) -> None:
        for (contest, name), told in self._bots.told().items():
            for game, totals in told.items():
                assert totals == ",".join(map(str, stored[contest][game].totals)), (contest, name, game)
            self.report.told["bots"] += len(told)
        for reader in self._readers:
            for (contest, game), read in reader.told.items():
                record = stored[contest][game]
                assert (list(record.totals), record.end) == read, (reader.name, contest, game)
            self.report.told[reader.name] = len(reader.told)

    def _check_drawn(self, stored: dict[str, dict[str, GameRecord]]) -> None:
        """Each Swiss and knockout that is over has the games of one without kills."""
        quiet = self._folder / "quiet"
        quiet.mkdir()
        wanted = {f"{kind}-{number}": kind for kind in ("swiss", "knockout") for number in range(SEEDS)}
        for name, kind in wanted.items():
            (quiet / f"{name}.toml").write_text(drawn_text(name, kind, int(name.rpartition("-")[2])))
        host = Host(quiet, *(f"{name}.toml" for name in wanted))
        bots = BotProcesses(quiet, host.port)
        try:
            host.server.start()
            for name in wanted:
                for bot in DRAWN:
                    bots.start(name, bot, "fixed", think_s=0)
            same = {name: self._finished(quiet / "arena.db", name) for name in wanted}
        finally:
            host.close()
            bots.close()
        for name in self._organiser.finished:
            kind, _, number = name.rpartition("-")
            reference = same[f"{kind}-{int(number) % SEEDS}"]
            assert games_of(list(stored[name].values())) == reference, name
            self.report.drawn += 1

    @staticmethod
    def _finished(database: Path, name: str) -> list[str]:
        until = time.monotonic() + PATIENCE_S
        while True:
            with suppress(StoreError), Results(database) as results:  # it may not have begun
                contest = results.contest(name)
                if contest.status == "finished":
                    return games_of(list(verified(results, contest).values()))
            assert time.monotonic() < until, f"{name} does not end"
            time.sleep(0.5)
