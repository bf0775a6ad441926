"""Contests of visitors on a host that is there for another contest, with engines as processes."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from tests.server.host.hosting import (
    PATIENCE_S,
    Running,
    running,
    spec,
)

from arena_protocol.record_codec import decode
from arena_server.core.contest import Contest
from arena_server.core.events import Event
from arena_server.core.formats.matches import Single
from arena_server.errors import ArenaError
from arena_server.places.base import BotError, LocalBot
from arena_server.store.reader import Results
from arena_server.terms.config import ContestConfig, Entrant
from arena_server.terms.spec import ContestSpec
from arena_server.web.bridge import LoopBridge
from arena_server.web.casual_host import CasualContests, Replay
from arena_server.web.host_view import HostView, UnknownContestError

pytestmark = [pytest.mark.asyncio, pytest.mark.real]

ENGINE = """
import json, os
from arena_client import run
open("environment", "w").write(json.dumps(dict(os.environ)))
def choose(view):
    CHOOSE
    return view.legal_moves[0]
run(choose)
"""
THINKS = "import time; time.sleep(3600)"
"""A game whose engine does not move cannot end by itself."""
NAME = "play-1"


def visitor_game() -> ContestSpec:
    """One game of a person against an engine."""
    config = ContestConfig(
        name=NAME, seed=5, game="tictactoe", format=Single.NAME, games_per_pair=1, guests=False
    )
    entrants = [Entrant(name, sha256(name.encode()).hexdigest()) for name in ("ann", "engine")]
    return ContestSpec(config=config, entrants=entrants, new=True, listed=False)


def engine(folder: Path, code: str = ENGINE, choose: str = "") -> LocalBot:
    code = code.replace("CHOOSE", choose)
    code = f"import os\nos.chdir({str(folder)!r})\n{code}"
    return LocalBot("engine", [sys.executable, "-c", code], "engine", contest=NAME)


class Table:
    """A host with games of visitors; `begun` is set when the contest of a visitor has begun."""

    def __init__(self, here: Running) -> None:
        self.here = here
        self.database = here.folder / "play.db"
        self.games = CasualContests(
            here.host, asyncio.get_running_loop(), ("127.0.0.1", here.inner), self.database
        )
        self.begun = asyncio.Event()

    def play(self, bot: LocalBot, contest: ContestSpec | None = None) -> asyncio.Task[None]:
        return asyncio.create_task(self.games.play(contest or visitor_game(), [bot], self._begin))

    def _begin(self, replay: Replay) -> None:
        self.replay = replay
        self.begun.set()

    async def until_begun(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self.begun.wait()

    async def until_connected(self) -> None:
        """Until the engine has logged in."""
        await self.until_begun()
        contest = self.here.host.contests[NAME].contest
        assert contest
        await self.here.until(lambda: contest.status.progress().connected == 1)

    async def until_both_play(self) -> None:
        contest = self.here.host.contests[NAME].contest
        assert contest
        await self.here.until(lambda: contest.status.progress().running == 1)

    async def until_removed(self) -> None:
        await self.here.until(lambda: list(self.here.host.contests) == ["friday"])

    async def play_person(self) -> str:
        return await self.here.play(NAME, "ann", port=self.here.inner, token="ann")

    def status(self) -> tuple[str, int]:
        with Results(self.database) as results:
            found = results.contest(NAME)
            return found.status, sum(1 for _ in results.games.records(found))


async def test_a_game_against_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", "secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    async with running(tmp_path, [spec("friday", 100)]) as here:
        table = Table(here)
        main = asyncio.create_task(here.play_all("friday"))
        playing = table.play(engine(tmp_path))
        await table.until_begun()
        assert await table.play_person() == "BYE reason=finished"
        await playing
        assert table.status() == ("finished", 1)
        assert await main == ["BYE reason=finished"] * 2
        await table.until_removed()
    assert here.results("friday") == ("finished", 100)
    # A warning that the disk is slow is news of any contest.
    news = [line for line in here.log.splitlines() if " warning " not in line]
    assert not [line for line in news if NAME in line], "the games of visitors are no news"
    assert not [line for line in news if " contest=" in line], "there is one contest for the organiser"
    seen = json.loads((tmp_path / "environment").read_text())
    assert seen["ARENA_CONTEST"] == NAME
    assert "secret" not in str(seen)


async def test_neither_page_nor_metrics_nor_orders_know_a_game_of_a_visitor(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday")]) as here:
        loop = asyncio.get_running_loop()
        view = HostView(here.host, LoopBridge(loop))
        view.added(here.host.contests["friday"])
        table = Table(here)
        playing = table.play(engine(tmp_path))
        await table.until_begun()
        assert [each.contest["name"] for each in view.snapshot().contests] == ["friday"]
        assert view.hosted(None).name == "friday"
        with pytest.raises(UnknownContestError, match=f"^no contest '{NAME}' here; there are: friday$"):
            view.hosted(NAME)
        answer = await here.play("none", "ann")
        assert answer == "ERROR contest no contest none here; there are: friday"
        playing.cancel()
        await table.until_removed()


@pytest.mark.soak
async def test_an_engine_that_crashes_resumes_its_game(tmp_path: Path) -> None:
    once = "os.path.exists('crashed') or (os.mkdir('crashed'), os._exit(3))"
    async with running(tmp_path, [spec("friday")]) as here:
        table = Table(here)
        playing = table.play(engine(tmp_path, choose=once))
        await table.until_begun()
        assert await table.play_person() == "BYE reason=finished"
        await playing
        with Results(table.database) as results:
            ((_, record),) = results.games.records(results.contest(NAME))
        assert record is not None
        assert not decode(record).faults
        assert (tmp_path / "crashed").exists()


@pytest.mark.soak
async def test_an_engine_that_cannot_start_ends_the_game(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday")]) as here:
        table = Table(here)
        with pytest.raises(BotError, match=r"^bot engine cannot start: no numpy here$"):
            await table.play(engine(tmp_path, "import sys; sys.exit('no numpy here')"))
        await table.until_removed()
        assert table.status() == ("stopped", 0)
        assert await here.play_all("friday") == ["BYE reason=finished"] * 2


async def test_a_game_that_is_given_up_is_stopped_with_its_engine(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday")]) as here:
        table = Table(here)
        playing = table.play(engine(tmp_path, choose=THINKS))
        await table.until_begun()
        person = asyncio.create_task(table.play_person())
        await table.until_both_play()
        playing.cancel()
        assert await person == "BYE reason=stopped"
        await asyncio.wait([playing])
        assert playing.cancelled()
        await table.until_removed()
        assert table.status()[0] == "stopped"


@pytest.mark.soak
async def test_a_game_that_is_given_up_before_it_begins(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday")]) as here:
        table = Table(here)
        playing = table.play(engine(tmp_path))
        await asyncio.sleep(0)
        playing.cancel()
        await asyncio.wait([playing])
        await table.until_removed()
        assert not (tmp_path / "environment").exists()


async def test_a_game_that_raises_does_not_hurt_the_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Contest.feed

    def faulty(contest: Contest, event: Event, now: int) -> None:
        if contest.name == NAME and contest.status.progress().connected:
            raise RuntimeError("a bug")
        feed(contest, event, now)

    monkeypatch.setattr(Contest, "feed", faulty)
    async with running(tmp_path, [spec("friday", 60)]) as here:
        table = Table(here)
        main = asyncio.create_task(here.play_all("friday"))
        playing = table.play(engine(tmp_path))
        await table.until_connected()
        table.replay("g1", "ann", "an event")  # the next of its own comes after 10 s
        with pytest.raises(ArenaError, match=f"^contest {NAME} was closed at a fault of the server's own"):
            await playing
        await table.until_removed()
        assert await main == ["BYE reason=finished"] * 2
        assert f" error crash contest={NAME} trace='RuntimeError: a bug'" in here.log


@pytest.mark.soak
async def test_a_database_of_guests_that_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "play.db").write_text("no database at all, and longer than a hundred bytes " * 10)
    async with running(tmp_path, [spec("friday")]) as here:
        table = Table(here)
        with pytest.raises(ArenaError, match="damaged"):
            await table.play(engine(tmp_path))
        assert await here.play_all("friday") == ["BYE reason=finished"] * 2


@pytest.mark.soak
async def test_a_server_that_stops_takes_no_game(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday")]) as here:
        table = Table(here)
        here.host.stop()
        with pytest.raises(ArenaError, match=r"^the server is stopping$"):
            await table.play(engine(tmp_path))


@pytest.mark.soak
async def test_the_end_of_the_server_ends_its_games(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday")]) as here:
        table = Table(here)
        playing = table.play(engine(tmp_path, choose=THINKS))
        await table.until_begun()
        person = asyncio.create_task(table.play_person())
        await table.until_both_play()
        here.host.stop()
        assert await person == "BYE reason=stopped"
        await playing
        assert table.status()[0] == "stopped"


@pytest.mark.soak
async def test_the_server_leaves_after_its_own_last_game(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday")], until_finished=True) as here:
        table = Table(here)
        playing = table.play(engine(tmp_path), replace(visitor_game(), listed=False))
        await table.until_begun()
        assert not here.host.leaving
        assert await here.play_all("friday") == ["BYE reason=finished"] * 2
        await here.until(lambda: here.host.leaving)
        await playing
