"""Versions that workers play: each is a file before the contest learns of it, and old files go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from arena_server.core.events import Replace
from arena_server.places.base import LaunchError
from arena_server.places.docker import Docker
from arena_server.submissions import leased
from arena_server.submissions.bot import SubmittedBot
from arena_server.submissions.leased import LeasedBot
from arena_server.submissions.store import VersionStore
from arena_server.submissions.versions import (
    ImageBuilt,
    StageBegun,
    VersionDeployed,
    VersionFact,
    VersionStored,
)
from arena_server.terms.submissions import SubmissionRules

from .script import KEY, setup_in
from .test_deploy import Contest, activated
from .test_versions_of_a_bot import admitted

pytestmark = pytest.mark.asyncio


class Engine(Docker):
    """Saves images, unless it has a problem."""

    __slots__ = ("problem", "saved")
    problem: str
    saved: list[str]

    @classmethod
    def made(cls, problem: str = "") -> Engine:
        engine = cls()
        object.__setattr__(engine, "problem", problem)
        object.__setattr__(engine, "saved", [])
        return engine

    async def call(self, *words: str, seconds: float | None = None) -> str:
        assert words[:2] == ("save", "--output")
        if self.problem:
            problem = self.problem
            object.__setattr__(self, "problem", "")
            raise LaunchError(problem)
        await asyncio.to_thread(Path(words[2]).write_text, words[3])
        self.saved.append(words[3])
        return ""


@asynccontextmanager
async def leasing(
    folder: Path, engine: Docker | None, *facts: VersionFact
) -> AsyncIterator[tuple[SubmittedBot, Contest]]:
    store = VersionStore(folder / KEY[0] / KEY[1])
    for fact in facts:
        store.write(fact)
    bot, contest = SubmittedBot(KEY, store, SubmissionRules()), Contest()
    life = asyncio.create_task(LeasedBot(bot, contest, engine).run())
    try:
        yield bot, contest
    finally:
        life.cancel()
        with suppress(asyncio.CancelledError):
            await life
        store.close()


async def deployed(bot: SubmittedBot, number: int) -> None:
    async with asyncio.timeout(20):
        while bot.versions.deployed != number:
            await asyncio.sleep(0)


async def test_each_version_is_a_file_before_it_plays_and_that_before_it_stays(tmp_path: Path) -> None:
    engine = Engine.made()
    facts = [fact for number in (1, 2, 3) for fact in admitted(number)]
    async with leasing(tmp_path, engine, *facts) as (bot, contest):
        saved = setup_in(tmp_path).saved
        for number in (1, 2, 3):
            assert saved("ann", f"sha256:{number}") == ""
            bot.write(activated(number))
            asked = await contest.let_play(f"v{number}")
            assert asked.image == f"sha256:{number}"
            assert Path(saved("ann", asked.image)).read_text() == asked.image
            await deployed(bot, number)
        assert [bool(saved("ann", f"sha256:{number}")) for number in (1, 2, 3)] == [False, True, True]
        bot.write(activated(2))  # its file is there
        await contest.let_play("v2")
        await deployed(bot, 2)
    assert engine.saved == ["sha256:1", "sha256:2", "sha256:3"]


async def test_workers_of_this_machine_need_no_file_and_a_version_is_given_out_once(tmp_path: Path) -> None:
    facts = *admitted(1), *admitted(2), activated(1), VersionDeployed(1), activated(2)
    async with leasing(tmp_path, None, *facts) as (bot, contest):
        asked = await contest.let_play("v2")
        assert asked == Replace("ann", asked.token_sha256, "v2", "sha256:2")
        await deployed(bot, 2)
        assert setup_in(tmp_path).saved("ann", "sha256:2") == ""
        assert contest.asked.empty()


async def test_a_version_that_was_overtaken_is_never_given_out(tmp_path: Path) -> None:
    facts = *admitted(1), *admitted(2), activated(1)
    async with leasing(tmp_path, None, *facts) as (bot, contest):
        assert (await asyncio.wait_for(contest.asked.get(), 20)).version == "v1"
        bot.write(activated(2))
        await contest.let_play("v2")
        await deployed(bot, 2)


async def test_an_image_that_cannot_be_saved_is_said_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leased, "AGAIN_S", 0.0)
    engine = Engine.made("No such image: sha256:1")
    async with leasing(tmp_path, engine, *admitted(1), activated(1)) as (bot, contest):
        await contest.let_play("v1")
        await deployed(bot, 1)
        problem = "its image cannot be saved for the workers: No such image: sha256:1"
        assert bot.store.read_log(1) == [f"{problem}; it is tried again in 0 s"]
        assert [(each.what, each.reason) for each in contest.said] == [("cannot-start", (problem,))]


async def test_the_file_of_a_version_that_is_examined_stays(tmp_path: Path) -> None:
    facts = *admitted(1), activated(1), VersionStored(2, "d", 1, 0), StageBegun(2, "building")
    async with leasing(tmp_path, None, *facts, ImageBuilt(2, "sha256:2")) as (bot, contest):
        for image in ("sha256:1", "sha256:2", "sha256:3"):
            bot.store.image(image).write_text(image)
        await contest.let_play("v1")
        await deployed(bot, 1)
        assert [bot.store.image(f"sha256:{number}").exists() for number in (1, 2, 3)] == [True, True, False]
