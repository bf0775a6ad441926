"""Which version plays: one after the other, and after a restart the one whose games run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from tests.server.places.test_contained import Contest as Hosted

from arena_protocol.record import UsageRecord
from arena_server.core.deal import token_digest
from arena_server.core.effects import SetFrozen
from arena_server.core.events import Event, Replace, Thawed
from arena_server.core.log_events import BotReplaced, GameOver, GameStarted, LoggedIn
from arena_server.host.log_events import BotUsage, SubmissionNoted
from arena_server.host.loop_link import LoopLink
from arena_server.places.base import BotEnded, LaunchError, LocalBot
from arena_server.places.cgroup import CpuTime
from arena_server.places.frozen_bots import StartedBots
from arena_server.submissions import deploy
from arena_server.submissions.bot import SubmittedBot
from arena_server.submissions.deploy import ContestLink, DeployedBot, noted
from arena_server.submissions.store import VersionStore
from arena_server.submissions.versions import (
    StageBegun,
    VersionActivated,
    VersionDeployed,
    VersionFact,
    VersionFailed,
    VersionStored,
)
from arena_server.terms.submissions import SubmissionRules, SubmittedSeat

from .script import KEY
from .test_versions_of_a_bot import admitted

pytestmark = pytest.mark.asyncio


class Contest(ContestLink):
    """A contest whose games end when the test says so."""

    def __init__(self) -> None:
        here = LoopLink(asyncio.get_running_loop())
        super().__init__(here, here, lambda name, joined: self.entered.append((name, joined)))
        self.entered: list[tuple[str, bool]] = []
        self.said: list[SubmissionNoted] = []
        self.asked: asyncio.Queue[Replace] = asyncio.Queue()
        self.begun.set()

    def feed(self, event: Event) -> None:
        assert isinstance(event, Replace)
        self.asked.put_nowait(event)

    def say(self, event: SubmissionNoted) -> None:
        self.said.append(event)

    async def let_play(self, version: str) -> Replace:
        """The games of the present program have ended: the next one plays."""
        asked = await asyncio.wait_for(self.asked.get(), 20)
        assert asked.version == version
        self.happened(BotReplaced(KEY[1], version))
        return asked


@pytest.mark.parametrize(
    ("fact", "what", "reason"),
    [
        (VersionStored(3, "d", 9, 0), "stored", ()),
        (StageBegun(3, "checking"), "checking", ()),
        (VersionFailed(3, "building", "no such file"), "failed", ("no such file",)),
        (VersionActivated(3, "roll-back", 0), "activated", ("roll-back",)),
    ],
)
async def test_the_logs_have_every_fact(fact: VersionFact, what: str, reason: tuple[str, ...]) -> None:
    assert noted("ann", fact) == SubmissionNoted("ann", 3, what, reason)


class Program:
    """A container that runs until it is ended."""

    def __init__(self, place: Containers, bot: LocalBot) -> None:
        self.place, self.bot = place, bot
        self.orders: list[bool] = []
        self.over = asyncio.Event()

    async def wait(self) -> BotEnded:
        await self.over.wait()
        return BotEnded(0)

    async def end(self) -> None:
        self.place.running.discard(self)

    async def set_frozen(self, frozen: bool) -> None:
        self.orders.append(frozen)

    async def cpu_time(self) -> tuple[str, CpuTime]:
        return "mark", CpuTime(1000 * len(self.orders), 0, None)


class Containers:
    """Starts programs (`base.Launcher`); each one that has been started is in `began`."""

    def __init__(self) -> None:
        self.running: set[Program] = set()
        self.began: asyncio.Queue[Program] = asyncio.Queue()
        self.problem: str | None = None

    async def start(self, bot: LocalBot) -> Program:
        if self.problem is not None:
            raise LaunchError(self.problem)
        program = Program(self, bot)
        self.running.add(program)
        self.began.put_nowait(program)
        return program

    async def next(self) -> LocalBot:
        return (await asyncio.wait_for(self.began.get(), 20)).bot


@asynccontextmanager
async def playing(
    folder: Path, *facts: VersionFact, slots: int = 1
) -> AsyncIterator[tuple[SubmittedBot, Contest, Containers]]:
    store = VersionStore(folder / "ann")
    for fact in facts:
        store.write(fact)
    bot, contest, containers = SubmittedBot(KEY, store, SubmissionRules()), Contest(), Containers()
    life = asyncio.create_task(DeployedBot(bot, SubmittedSeat(slots), contest, containers).run())
    try:
        yield bot, contest, containers
    finally:
        life.cancel()
        with suppress(asyncio.CancelledError):
            await life
        assert not containers.running, "no container is left"
        store.close()


def activated(number: int) -> VersionActivated:
    return VersionActivated(number, "author", 0)


async def test_nothing_runs_before_a_version_is_active(tmp_path: Path) -> None:
    async with playing(tmp_path, *admitted(1)) as (bot, contest, containers):
        await asyncio.sleep(0)
        assert contest.asked.empty()
        bot.write(activated(1))
        asked = await contest.let_play("v1")
        started = await containers.next()
        assert token_digest(started.token) == asked.token_sha256
        assert started.sandbox is not None
        assert (started.name, started.contest, started.sandbox.image) == ("ann", "friday", "sha256:1")
        assert bot.versions.deployed == 1


async def test_a_new_version_begins_when_the_games_of_the_old_one_have_ended(tmp_path: Path) -> None:
    async with playing(tmp_path, *admitted(1), *admitted(2), activated(1)) as (bot, contest, containers):
        await contest.let_play("v1")
        first = await containers.next()
        bot.write(activated(2))
        asked = await asyncio.wait_for(contest.asked.get(), 20)
        assert asked.version == "v2"
        assert [each.bot for each in containers.running] == [first], "a game runs"
        assert bot.versions.deployed == 1
        contest.happened(BotReplaced(KEY[1], "v2"))
        second = await containers.next()
        assert [each.bot for each in containers.running] == [second]
        assert second.token != first.token
        assert bot.versions.deployed == 2


async def test_it_is_frozen_and_measured_as_the_contest_orders(tmp_path: Path) -> None:
    async with playing(tmp_path, *admitted(1), activated(1)) as (_, contest, containers):
        contest.attach(hosted := Hosted())  # type: ignore[arg-type]
        await contest.let_play("v1")
        program = await asyncio.wait_for(containers.began.get(), 20)
        _, place = hosted.attached
        assert isinstance(place, StartedBots)
        assert (KEY[1] in place.bots, "eve" in place.bots) == (True, False)
        place.happened(GameStarted("g1", ("eve", KEY[1])))
        while not place.measures("g1"):
            await asyncio.sleep(0)
        place.carry_out(SetFrozen(KEY[1], 1, True, 6))
        place.carry_out(SetFrozen(KEY[1], 1, False, 7))
        place.carry_out(SetFrozen(KEY[1], 2, False, 8))  # no program plays there: it need not be thawed
        assert await place.used_in("g1") == [UsageRecord(2, 2, 0, None)]
        place.happened(GameOver("g1", "complete", (1, 2)))
        assert program.orders == [True, False]
        assert hosted.fed == [Thawed(KEY[1], 1, 7), Thawed(KEY[1], 2, 8)]
        assert hosted.logged == [BotUsage("g1", KEY[1], 1, 2, 0, None)]


async def test_a_version_that_was_overtaken_never_plays(tmp_path: Path) -> None:
    facts = [fact for number in (1, 2, 3) for fact in admitted(number)]
    async with playing(tmp_path, *facts, activated(1)) as (bot, contest, containers):
        await contest.let_play("v1")
        await containers.next()
        bot.write(activated(2))
        await asyncio.wait_for(contest.asked.get(), 20)
        bot.write(activated(3))
        await contest.let_play("v3")
        started = await containers.next()
        assert started.sandbox is not None
        assert started.sandbox.image == "sha256:3"


async def test_after_a_restart_the_deployed_version_ends_its_games_first(tmp_path: Path) -> None:
    facts = *admitted(1), *admitted(2), activated(1), VersionDeployed(1), activated(2)
    async with playing(tmp_path, *facts) as (bot, contest, containers):
        await contest.let_play("v1")
        first = await containers.next()
        assert first.sandbox is not None
        assert first.sandbox.image == "sha256:1"
        await contest.let_play("v2")
        await containers.next()
        assert bot.versions.deployed == 2


async def test_a_bot_with_several_games_has_a_container_for_each(tmp_path: Path) -> None:
    async with playing(tmp_path, *admitted(1), activated(1), slots=3) as (_, contest, containers):
        await contest.let_play("v1")
        assert sorted([(await containers.next()).slot for _ in range(3)]) == [1, 2, 3]


async def test_a_version_that_ends_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_server.places.restarts.RESTARTS_S", (0.0,))
    async with playing(tmp_path, *admitted(1), activated(1)) as (bot, contest, containers):
        await contest.let_play("v1")
        program = await asyncio.wait_for(containers.began.get(), 20)
        contest.happened(LoggedIn(1, "peer", "ann", None, False, 1))
        program.over.set()
        assert (await containers.next()).token == program.bot.token
        assert bot.store.read_log(1) == ["bot ann ended with status 0; starting it again"]


async def test_a_version_that_cannot_start_is_its_author_s_to_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deploy, "AGAIN_S", 0.0)
    monkeypatch.setattr("arena_server.places.restarts.RESTARTS_S", (0.0,))
    monkeypatch.setattr("arena_server.places.restarts.REPORT_S", 0.0)
    async with playing(tmp_path, *admitted(1), activated(1)) as (bot, contest, containers):
        containers.problem = "No such image"
        await contest.let_play("v1")
        while not (lines := bot.store.read_log(1)):
            await asyncio.sleep(0)
        assert lines[0] == "bot ann cannot start: No such image; it is tried again in 0 s"
        while len(bot.store.read_log(1)) < 3:
            await asyncio.sleep(0)
        problems = [event for event in contest.said if event.what == "cannot-start"]
        assert problems == [
            SubmissionNoted("ann", 1, "cannot-start", ("bot ann cannot start: No such image",))
        ]
        containers.problem = None
        assert (await containers.next()).name == "ann"


async def test_who_is_cancelled_while_it_ends_a_version_ends() -> None:
    """A server that was stopped at that moment did not end."""

    async def play() -> None:
        await asyncio.Event().wait()

    playing = asyncio.create_task(play())
    await asyncio.sleep(0)
    ending = asyncio.create_task(deploy._cancel(playing))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert playing.cancelled()

    async def fail() -> None:
        raise ValueError("a mistake of ours")

    failed = asyncio.create_task(fail())
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="a mistake of ours"):
        await deploy._cancel(failed)
