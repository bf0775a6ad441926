"""Versions that authors send while the server is killed, and runners that build and check them with it.

    run(minutes) -> `arena serve` with bots of authors who send one version after the other
                 -> `kill -9` while a version is stored, built, checked, played, admitted or activated
                 -> the admissions end -> check -> Admissions

What an author has read holds: a version that is stored or admitted stays so. None is built twice, however
often its admission begins again. The engine is Docker, with games in containers, where it answers; else, and
with runners, it is a script that builds and saves images of nothing.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random
from typing import Annotated, Any

import typer

from arena_protocol.record import VOID
from arena_server.errors import StoreError
from arena_server.store.reader import Results
from arena_server.submissions.admission import tag_of
from arena_server.submissions.versions import Versions, VersionState, parse_fact

from ..ports import quiet_port
from ..server.places.containers import PROBLEM
from ..server.places.workers.dask_cluster import Cluster
from .author import PATIENCE_S, TOKEN, Author
from .processes import Say, Server, counts, print_run, run_alone, verified

#: What an author reads when the server is killed a moment later.
MOMENTS = ("stored", "building", "built", "checking", "playing", "admitted", "activated")
WORKERS = ("r1", "r2")
#: The engine: images of nothing, each with the digest of its configuration.
SCRIPT = """#!/bin/sh
here=$(dirname "$0")
case "$1 $2" in
"build "*)
  while [ $# -gt 1 ]; do [ "$1" = --iidfile ] && digest=$2; shift; done
  echo "Step 1/1 : COPY bot.py /"
  sleep 0.2
  if grep -q BROKEN "$1/bot.py"; then echo "no such file"; exit 1; fi
  cat "$1"/* > "$here/$$.json"
  sum=$(sha256sum "$here/$$.json" | cut -c1-64)
  mv "$here/$$.json" "$here/$sum.json"
  printf "sha256:$sum" > "$digest";;
"version "*) echo 20;;
"image inspect") case $4 in *Size*) echo 1000;; *) echo "$5";; esac;;
"save "*)
  sum=${4#sha256:}
  place=$(mktemp -d)
  cp "$here/$sum.json" "$place"
  echo "[{\\"Config\\": \\"$sum.json\\", \\"Layers\\": []}]" > "$place/manifest.json"
  tar -cf "$3" -C "$place" "$sum.json" manifest.json
  rm -r "$place";;
"run "*) exit 125;;
esac
"""
#: Where a server finds no engine.
AWAY = "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n"
#: The server, with quicker stages than a check of all cases.
SERVER = """
import sys
from arena_cli import examiners, main
from arena_server.submissions import deploy, service
service.AGAIN_S = deploy.AGAIN_S = 2.0
commands = {commands}
examiners._commands = lambda at: [[word.replace("CONFIG", at) for word in each] for each in commands]
main()
"""
ARENA = ["-P", "-m", "arena_cli", "check"]
REAL = (
    [*ARENA, "bot", "3.1/1", "--config", "CONFIG", "--name", "{bot}", "--", "image:{image}"],
    [*ARENA, "game", "image:{image}", "--config", "CONFIG", "--name", "{bot}"],
)
SCRIPTED = tuple(["-c", f"import time; print('{word} {{image}}'); time.sleep(0.3)"] for word in ("ok", "no"))


@dataclass
class Admissions:
    """What a run came to: `lives` of servers, and builds that were `begun`, some of which were killed."""

    engine: str
    seconds: float = 0.0
    kills: Counter[str] = field(default_factory=Counter)
    #: The versions in admission when a server ended, by how far each was.
    pending: Counter[str] = field(default_factory=Counter)
    #: What authors have read and holds, by its kind.
    told: Counter[str] = field(default_factory=Counter)
    lives: int = 0
    stored: int = 0
    admitted: int = 0
    refused: int = 0
    begun: int = 0
    games: int = 0
    void: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"{self.engine}, {self.seconds / 60:.1f} minutes, {self.kills.total()} kills: "
            f"{counts(self.kills)}\n"
            f"{self.lives} lives of the server; in admission at their ends: {counts(self.pending, 'none')}\n"
            f"{self.stored} versions, {self.admitted} admitted, {self.refused} refused: none lost, none "
            f"built twice; {self.begun} builds were begun; told to authors: "
            f"{counts(self.told)}: none changed\n"
            f"{self.games} games with a result, {self.void} void, faults: {counts(self.faults, 'none')}"
        )


class Field:
    """The processes of one run, and its authors."""

    def __init__(self, folder: Path, seed: int, *, real: bool, runners: bool) -> None:
        engine = "runners with a scripted engine" if runners else ("Docker" if real else "a scripted engine")
        self.report = Admissions(engine)
        self._folder = folder
        self._chance = Random(seed)
        self._real = real
        self._cluster = Cluster(folder) if runners else None
        self._port = quiet_port()
        for place, text in (("bin", SCRIPT), ("away", AWAY)):
            (folder / place).mkdir()
            (folder / place / "docker").write_text(text)
            (folder / place / "docker").chmod(0o755)
        program = SERVER.replace("{commands}", repr(REAL if real else SCRIPTED))
        words = ["serve", "c.toml", "--port", "0", "--web-port", str(self._port)]
        if self._cluster is not None:
            words += ["--on", self._cluster.where, "--audit", "0"]
        env = os.environ | self._path("bin" if self._cluster is None else "away")
        self._server = Server(folder, *words, program=(sys.executable, "-P", "-c", program), env=env)
        names = [f"b{number}" for number in range(3 if real else 6)]
        self._news: SimpleQueue[str] = SimpleQueue()
        self._authors = [Author(name, self._port, folder, self._news, real=real) for name in names]
        digest = sha256(TOKEN.encode()).hexdigest()
        never = "" if real else f"starts_at = {datetime.now().replace(microsecond=0) + timedelta(days=365)}\n"
        tables = "".join(
            f'[[bot]]\nname = "{name}"\nsubmit = true\ntoken_sha256 = "{digest}"\n' for name in names
        )
        (folder / "c.toml").write_text(
            f'[contest]\nname = "soak"\ngames_per_pair = 1000\nprobation = 0\n{never}'
            '[game]\nplies = 20\nclock = "60s"\n[container]\nmemory = "64MB"\n'
            f'[submissions]\nper_hour = 1000\nversions = 10000\ntime_per_day = "24h"\n{tables}'
        )

    def _path(self, place: str) -> dict[str, str]:
        return {} if self._real else {"PATH": f"{self._folder / place}:{os.environ['PATH']}"}

    def start(self) -> None:
        if self._cluster is not None:
            self._cluster.start_scheduler()
            for name in WORKERS:
                self._cluster.start_worker(name, **self._path("bin"))
        self._server.start()
        for author in self._authors:
            author.start()

    def _end_server(self, number: int) -> None:
        self._server.end(number)
        facts = {author.name: self._facts(author.name) for author in self._authors}
        for each in facts.values():
            if (pending := Versions(map(parse_fact, each)).pending) is not None:
                self.report.pending[pending.state] += 1

    def _facts(self, name: str) -> list[dict[str, Any]]:
        """The facts of a bot; one that was being written when the server was killed is none."""
        path = self._folder / f"arena.db-submissions/soak/{name}/versions.jsonl"
        data = path.read_bytes() if path.exists() else b""
        return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]

    def kill_one(self) -> None:
        """Wait until an author reads a certain fact, and kill the server or a runner a moment later."""
        wanted, moment = self._chance.choice(MOMENTS), "between"
        until = time.monotonic() + (10.0 if self._real else 3.0)
        with suppress(Empty):
            while not self._news.empty():
                self._news.get_nowait()
            while moment != wanted:
                moment = self._news.get(timeout=max(0.0, until - time.monotonic()))
        time.sleep(self._chance.uniform(0, 3.0 if self._real else 0.4))
        if self._cluster is not None and self._chance.random() < 0.5:
            name = self._chance.choice(WORKERS)
            self._cluster.signal(name, signal.SIGKILL)
            self._cluster.processes[name].wait(PATIENCE_S)
            self._cluster.start_worker(name, **self._path("bin"))
            self.report.kills["runner"] += 1
            return
        self._end_server(self._chance.choice((signal.SIGKILL,) * 4 + (signal.SIGTERM,)))
        self.report.kills["server"] += 1
        self._server.start()

    def play(self, seconds: float, say: Say) -> None:
        """Kill for so long, then let all admissions come to their ends."""
        begun = time.monotonic()
        self.start()
        while time.monotonic() < begun + seconds:
            self.kill_one()
            assert not (problems := [author.problem for author in self._authors if author.problem]), problems
        say(f"{self.report.kills.total()} kills in {(time.monotonic() - begun) / 60:.1f} minutes")
        self._settle([len(author.told) for author in self._authors])
        for author in self._authors:
            author.join(PATIENCE_S)
        self._end_server(signal.SIGTERM)
        self.report.seconds = time.monotonic() - begun

    def _settle(self, told: list[int]) -> None:
        """Wait until each author has sent one more version to its end, behind what was `told` before."""
        until = time.monotonic() + PATIENCE_S
        for author, before in zip(self._authors, told, strict=True):
            while not any(fact.get("fact") in ("activated", "failed") for fact in author.told[before:]):
                assert time.monotonic() < until, "an admission does not end"
                time.sleep(0.2)
            author.ends.set()
        while any(author.pending() != 0 for author in self._authors):
            assert time.monotonic() < until, "an admission does not end"
            time.sleep(0.2)

    def close(self) -> None:
        self._server.close()
        if self._cluster is not None:
            self._cluster.close()
        if self._real:
            numbers = range(1, 1 + max(len(self._facts(author.name)) for author in self._authors))
            tags = [tag_of("soak", author.name, number) for author in self._authors for number in numbers]
            subprocess.run(["docker", "image", "rm", "--force", *tags], capture_output=True, check=False)

    def check(self) -> None:
        """What the authors have read holds, and no version was built more often than it had to be."""
        self.report.lives = self._server.lives
        for author in self._authors:
            facts = self._facts(author.name)
            versions = Versions(parse_fact(fact) for fact in facts)
            self._check_told(author, versions)
            self._check_builds(author.name, facts)
            for each in versions.all():
                assert each.state in (VersionState.ADMITTED, VersionState.FAILED), each
                self.report.stored += 1
                self.report.admitted += each.state is VersionState.ADMITTED
                self.report.refused += each.state is VersionState.FAILED
        with suppress(StoreError), Results(self._folder / "arena.db") as results:
            for record in verified(results, results.contest()).values():
                self.report.games += record.end != VOID
                self.report.void += record.end == VOID
                self.report.faults.update(str(fault.kind) for fault in record.faults if fault.seat)

    def _check_told(self, author: Author, versions: Versions) -> None:
        for fact in author.told:
            what = fact.get("fact")
            if what == "stored":
                assert versions.find(fact["number"]).digest == fact["digest"]
            elif what in ("admitted", "activated"):
                assert versions.find(fact["number"]).state is VersionState.ADMITTED, (author.name, fact)
            elif what == "failed":
                assert versions.find(fact["number"]).reason == fact["reason"], (author.name, fact)
            else:
                continue
            self.report.told[str(what)] += 1
        for each in versions.all():
            assert (each.state is VersionState.FAILED) == (each.reason != ""), each
        active = [each for each in versions.all() if each.state is VersionState.ADMITTED]
        assert versions.active == (active[-1].number if active else None)

    def _check_builds(self, name: str, facts: list[dict[str, Any]]) -> None:
        """No version is built twice, and none is examined again after its end."""
        ended: set[int] = set()
        built: set[int] = set()
        for fact in facts:
            number = fact["number"]
            if fact["fact"] in ("admitted", "failed", "built", "stage"):
                assert number not in ended, (name, fact)
            if fact["fact"] in ("admitted", "failed"):
                ended.add(number)
            elif fact["fact"] == "built":
                assert number not in built, (name, fact)
                built.add(number)
            self.report.begun += fact.get("stage") == "building" and fact["fact"] == "stage"


def run(
    folder: Path,
    minutes: float,
    seed: int,
    *,
    runners: bool = False,
    scripted: bool = False,
    say: Say = print,
) -> Admissions:
    """Send and kill for so long, check, and return the figures."""
    real = PROBLEM is None and not runners and not scripted
    played = Field(folder, seed, real=real, runners=runners)
    run_alone(played, minutes, say)
    return played.report


def main(
    minutes: Annotated[float, typer.Option(help="How long something is killed.")] = 5.0,
    seed: Annotated[int, typer.Option(help="What draws the moments.")] = 1,
    runners: Annotated[
        bool, typer.Option("--runners", help="Runners build and check, and are killed.")
    ] = False,
    scripted: Annotated[bool, typer.Option("--scripted", help="Without Docker, also where it is.")] = False,
) -> None:
    """Send versions to a server that is killed, and print the figures."""
    print_run(lambda folder, say: run(folder, minutes, seed, runners=runners, scripted=scripted, say=say))


if __name__ == "__main__":
    typer.run(main)
