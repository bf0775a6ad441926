"""Bots that stay connected on a worker from game to game, and when they start again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.server.places.workers.programs import job

from arena_cli.local_bots import local_bot
from arena_protocol.record import GameRecord
from arena_server.errors import ConfigError
from arena_server.places.base import BotError
from arena_server.places.forks import Forks
from arena_server.places.workers import seated
from arena_server.places.workers.base import GameJob
from arena_server.places.workers.process import JobRun
from arena_server.places.workers.seated import Tables, memory_is_short
from arena_server.terms.config import ContestConfig

#: It notes its process in each game; where a file says so it ends at its first move.
BOT = """
import os, sys
from arena_client import run
log, leave = sys.argv[1:]
games = set()
def choose(view):
    if view.offer.game_id not in games:
        games.add(view.offer.game_id)
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\\n")
        if os.path.exists(leave):
            os.remove(leave)
            os._exit(1)
    return "6"
run(choose)
"""
KEEPER = """
from arena_client import Bot, run
class Keeper(Bot):
    kept = b""
    def choose(self, view):
        return "6"
    def game_over(self, view, result):
        self.kept += b"a"
run(Keeper())
"""
TERMS = ContestConfig(
    name="seated", seed=0, format="single", games_per_pair=1, absent_ms=30_000, clock_ms=60_000
)


class Worker:
    """Plays games of three bots, and knows the processes of each in the order of its games."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "bot.py").write_text(BOT)
        self.tables = Tables(Forks({(): ("arena_client",)}))
        self.said: list[str] = []
        self._played = 0
        # With their tokens: those of a contest stay, too.
        self._bots = {
            name: local_bot(name, (sys.executable, *map(str, self._files(name))))
            for name in ("ann", "bob", "cid")
        }

    def leave(self, name: str) -> None:
        (self._folder / f"{name}.leave").touch()

    def job(self, *names: str) -> GameJob:
        self._played += 1
        return replace(
            job(f"g{self._played}"),
            config=replace(TERMS, dealt=(self._played, "00" * 16)),
            python=sys.executable,
            bots=[self._bots[name] for name in names],
        )

    def _files(self, name: str) -> list[Path]:
        return [self._folder / each for each in ("bot.py", f"{name}.log", f"{name}.leave")]

    def play(self, *names: str) -> GameRecord:
        record = self.tables.play(self.job(*names), JobRun(self.said.append, ()))
        assert record is not None
        return record

    def processes(self, name: str) -> list[int]:
        """One number for each process, as they follow each other in its games."""
        found = (self._folder / f"{name}.log").read_text().split()
        return [list(dict.fromkeys(found)).index(each) for each in found]


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    found = Worker(tmp_path)
    try:
        yield found
    finally:
        found.tables.close()


@pytest.mark.real
@pytest.mark.soak
class TestBots:
    def test_they_stay_for_games_of_the_same_bots_in_any_seats(self, worker: Worker) -> None:
        records = [worker.play(*names) for names in (("ann", "bob"), ("bob", "ann"), ("ann", "bob"))]
        assert [(record.names, record.seed, record.end) for record in records] == [
            (("ann", "bob"), 1, "complete"),
            (("bob", "ann"), 2, "complete"),
            (("ann", "bob"), 3, "complete"),
        ]
        assert worker.processes("ann") == worker.processes("bob") == [0, 0, 0]

    def test_what_they_store_comes_with_the_result(self, worker: Worker, tmp_path: Path) -> None:
        (tmp_path / "bot.py").write_text(KEEPER)
        for handed, expected in ((b"", b"a"), (b"a", b"aa"), (b"other", b"aaa")):
            stored = dict.fromkeys(("ann", "bob"), handed)
            job = worker.job("ann", "bob")
            job = replace(job, config=replace(job.config, storage_bytes=64), stored=stored)
            run = JobRun(worker.said.append, ())
            assert worker.tables.play(job, run) is not None
            assert run.stored == {"ann": expected, "bob": expected}
            # Bots that stay go on with what they have; others begin with what the server has.
        worker.tables.close()
        worker.tables = Tables(Forks({(): ("arena_client",)}))
        job = replace(worker.job("ann", "bob"), config=job.config, stored={"ann": b"b", "bob": b""})
        assert worker.tables.play(job, run := JobRun(worker.said.append, ())) is not None
        assert run.stored == {"ann": b"ba", "bob": b"a"}

    def test_other_bots_have_a_table_of_their_own(self, worker: Worker) -> None:
        for names in (("ann", "bob"), ("ann", "cid"), ("ann", "bob")):
            worker.play(*names)
        assert worker.processes("ann") == [0, 1, 2]

    def test_a_bot_that_crashes_is_started_again_in_its_game(self, worker: Worker) -> None:
        worker.play("ann", "bob")
        worker.leave("bob")
        worker.play("ann", "bob")
        worker.play("ann", "bob")
        assert worker.processes("bob") == [0, 0, 1, 1]  # it resumes its game in a new process
        assert [line for line in worker.said if line.startswith("bot bob ended with status 1")]

    def test_they_start_again_where_memory_is_short(
        self, worker: Worker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(seated, "memory_is_short", lambda: True)
        for _ in range(2):
            worker.play("ann", "bob")
        assert worker.processes("ann") == [0, 1]

    def test_they_are_ended_where_no_game_follows(
        self, worker: Worker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(seated, "IDLE_S", 0.0)
        worker.play("ann", "bob")
        while worker.tables._table is not None:
            pass
        worker.play("ann", "bob")
        assert worker.processes("ann") == [0, 1]

    def test_a_program_that_is_not_here(self, worker: Worker) -> None:
        missing = worker.job("ann", "bob")
        missing = replace(missing, bots=[local_bot(name, ("no-such-program",)) for name in ("ann", "bob")])
        with pytest.raises(ConfigError, match="bot ann: no program 'no-such-program' here"):
            worker.tables.play(missing, JobRun(worker.said.append, ()))
        assert worker.play("ann", "bob").end == "complete"

    def test_a_bot_that_cannot_start(self, worker: Worker) -> None:
        broken = worker.job("ann", "bob")
        broken = replace(broken, bots=[local_bot(name, ("false",)) for name in ("ann", "bob")])
        with pytest.raises(BotError, match="cannot start"):
            worker.tables.play(broken, JobRun(worker.said.append, ()))
        assert worker.play("ann", "bob").end == "complete"


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("MemTotal: 1000 kB\nMemAvailable: 100 kB\n", False),
        ("MemTotal: 1000 kB\nMemAvailable: 99 kB\n", True),
        ("MemTotal: 1000 kB\n", False),
        ("MemTotal\n", False),
        (None, False),
    ],
)
def test_when_memory_is_short(tmp_path: Path, text: str | None, short: bool) -> None:
    file = tmp_path / "meminfo"
    if text is not None:
        file.write_text(text)
    assert memory_is_short(file) is short
