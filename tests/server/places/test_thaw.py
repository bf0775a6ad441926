"""A program that the engine is to thaw, with an engine that answers by a script."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arena_server.places.base import Answer, LaunchError
from arena_server.places.docker import NoAnswerError
from arena_server.places.docker_launcher import BotContainer, Way
from arena_server.places.restarts import Orders
from arena_server.terms.sandbox import Sandbox

pytestmark = pytest.mark.asyncio

HANGS = NoAnswerError("the Docker engine did not answer docker unpause within 60 s")


class Engine:
    """Answers orders by `script`, None or an error each; the last one when `goes_on` is set."""

    def __init__(self, *script: LaunchError | None) -> None:
        self.goes_on = asyncio.Event()
        self._script = list(script)
        self.orders: list[str] = []

    async def call(self, verb: str, *_: str) -> str:
        if verb in ("inspect", "rm"):  # of a container on another machine
            return "0"
        self.orders.append(verb)
        answer = self._script.pop(0)
        if not self._script:
            await self.goes_on.wait()
        if answer is not None:
            raise answer
        return ""

    async def end_runs(self, runs: Mapping[str, Any]) -> None:
        """Both containers are removed."""
        assert list(runs) == ["arena-ann-1", "arena-ann-1-relay"]


class Ended:
    """A process that has ended."""

    async def end(self) -> None:
        pass


def running(engine: Any) -> BotContainer:
    process: Any = Ended()
    return BotContainer(engine, "arena-ann-1", Sandbox("bot:1"), process, process, Way(Path("none"), ("", 0)))


async def test_a_program_runs_only_when_the_engine_says_so() -> None:
    answers: list[Answer] = []
    answered = asyncio.Event()
    engine = Engine(None, HANGS, HANGS, None)
    container, orders = running(engine), Orders()
    orders.give(container, {"freeze": "ann", "slot": 1, "number": 0}, answers.append)

    def thawed(answer: Answer) -> None:
        answers.append(answer)
        answered.set()

    orders.give(container, {"thaw": "ann", "slot": 1, "number": 1}, thawed)
    while len(engine.orders) < 4:
        await asyncio.sleep(0)
    assert (engine.orders, answers) == (["pause", *["unpause"] * 3], [])
    engine.goes_on.set()
    await answered.wait()
    assert answers == [{"thawed": "ann", "slot": 1, "number": 1}]


async def test_a_program_that_is_not_frozen_is_not_waited_for() -> None:
    engine = Engine(HANGS, LaunchError("Container arena-ann-1 is not paused"))
    engine.goes_on.set()
    container = running(engine)
    await container.set_frozen(True)
    await container.set_frozen(False)
    assert engine.orders == ["pause", "unpause"]


async def test_the_engine_is_not_asked_again_for_a_container_that_was_ended() -> None:
    engine = Engine(None, HANGS)
    container = running(engine)
    await container.set_frozen(True)
    thawing = asyncio.ensure_future(container.set_frozen(False))
    while engine.orders[-1] != "unpause":
        await asyncio.sleep(0)
    await container.end()
    engine.goes_on.set()
    await thawing
    assert engine.orders == ["pause", "unpause"]
