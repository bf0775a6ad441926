"""A contest with host and bots of this process: its results, and every way in which it may fail."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from arena_server.errors import ArenaError, StoreError
from arena_server.host.host import Host, HostObserver
from arena_server.places import local, restarts
from arena_server.places.base import BotError, LocalBot
from arena_server.places.cores import own_cores
from arena_server.places.local import LocalRun, run_local
from arena_server.places.supervisor import STOPPING, STOPPING_UNKEPT, ProgressListener
from arena_server.store.reader import Results
from arena_server.terms.config import ContestConfig, Entrant
from arena_server.terms.spec import ContestSpec

pytestmark = [pytest.mark.asyncio, pytest.mark.real]

PATIENCE_S = 150.0
FIRST = "from arena_client import run\nrun(lambda view: view.legal_moves[0])\n"


@pytest.fixture(autouse=True)
def untuned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter of the tests stays as it is."""
    monkeypatch.setattr(local, "ProcessTuning", HostObserver)


class Recorder(ProgressListener):
    """Keeps what it gets; `first` is set with the first result."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.last: dict[str, Any] = {}
        self.said: list[str] = []
        self.faults: list[str] = []
        self.first = asyncio.Event()

    def listening(self, address: str) -> None:
        self.events.append(address.partition(":")[0])

    def result(self, result: dict[str, Any]) -> None:
        self.events.append(result["end"])
        self.faults += (fault["kind"] for fault in result["faults"])
        self.first.set()

    def report(self, progress: dict[str, Any]) -> None:
        self.last = progress

    def say(self, line: str) -> None:
        self.said.append(line)


def contest(
    folder: Path,
    codes: dict[str, str],
    games: int = 2,
    logs: Path | None = None,
    absent_ms: int | None = None,
) -> LocalRun:
    """A contest of bots that are these Python programs; one without a program is not started."""
    config = ContestConfig(
        name="here", seed=1, game="tictactoe", games_per_pair=games, absent_ms=absent_ms, spectator_delay_ms=0
    )
    entrants = [Entrant(name, sha256(b"token").hexdigest()) for name in codes]
    bots = [LocalBot(name, [sys.executable, "-c", code], "token") for name, code in codes.items() if code]
    return LocalRun(ContestSpec(config=config, entrants=entrants, new=True), folder / "a.db", bots, logs)


async def run_it(run: LocalRun, listener: ProgressListener, stop: asyncio.Event | None = None) -> bool:
    async with asyncio.timeout(PATIENCE_S):
        return await run_local(run, listener, stop or asyncio.Event())


async def test_a_whole_contest(tmp_path: Path) -> None:
    recorder = Recorder()
    run = replace(contest(tmp_path, {"ann": FIRST, "bob": FIRST}, logs=tmp_path), shares_cores=True)
    before = own_cores()
    assert await run_it(run, recorder)
    assert own_cores() == before
    assert recorder.events == ["127.0.0.1", "win", "win"]
    assert (recorder.last["ended"], recorder.last["done"], recorder.said) == ("finished", 2, [])
    with Results(tmp_path / "a.db") as results:
        assert results.contest("here").status == "finished"
    assert {path.name for path in tmp_path.glob("*.log")} == {"_server.log", "ann.log", "bob.log"}
    assert (tmp_path / "_server.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.soak
async def test_games_of_bots_that_do_not_come_have_no_result(tmp_path: Path) -> None:
    recorder = Recorder()
    assert await run_it(contest(tmp_path, {"ann": "", "bob": ""}, absent_ms=10), recorder)
    assert (recorder.last["ended"], recorder.last["missing"]) == ("incomplete", ["ann", "bob"])


@pytest.mark.parametrize(
    "is_kept", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["unkept", "kept"]
)
async def test_it_is_interrupted(tmp_path: Path, is_kept: bool) -> None:
    recorder = Recorder()
    run = replace(contest(tmp_path, {"ann": FIRST, "bob": FIRST}, games=100_000), is_kept=is_kept)
    assert not await run_it(run, recorder, recorder.first)
    assert recorder.said == [STOPPING if is_kept else STOPPING_UNKEPT]
    assert recorder.last["ended"] == "stopped"
    assert recorder.last["done"] > 0


async def test_a_bot_that_cannot_start_stops_it(tmp_path: Path) -> None:
    with pytest.raises(BotError, match=r"^bot bob cannot start: SyntaxError: "):
        await run_it(contest(tmp_path, {"ann": FIRST, "bob": "1 +"}), Recorder())


async def test_a_bot_that_crashes_twice_in_a_game_waits_for_its_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its game is over at once, by the moves that the referee plays for it."""
    monkeypatch.setattr(restarts, "RESTARTS_S", (0.0,))
    crash = "from arena_client import run\ndef choose(view): raise KeyError('boom')\nrun(choose)\n"
    recorder = Recorder()
    run = contest(tmp_path, {"ann": FIRST, "bob": crash})
    assert await run_it(run, recorder)
    said = [line for line in recorder.said if line.startswith("bot ")]
    assert said[0] == "bot bob ended with status 1; starting it again"
    assert "bot bob ended with status 1 again; starting it again when g1 is over" in said
    assert recorder.faults[:1] == ["disconnect"]


@pytest.mark.soak
async def test_a_database_that_cannot_be_opened_is_its_error(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("no database at all, but long enough to be one" * 100)
    recorder = Recorder()
    with pytest.raises(StoreError):
        await run_it(contest(tmp_path, {"ann": FIRST, "bob": FIRST}), recorder)
    assert recorder.events == []


@pytest.mark.soak
async def test_a_contest_that_does_not_stop_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local, "STOP_S", 0.0)
    monkeypatch.setattr(Host, "stop", lambda host: None)
    recorder = Recorder()
    run = contest(tmp_path, {"ann": FIRST, "bob": FIRST}, games=100_000)
    with pytest.raises(ArenaError, match=r"^the contest did not stop within 0 s$"):
        await run_it(run, recorder, recorder.first)
