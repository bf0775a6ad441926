"""The end of a container at any moment of its start; the engine and its commands are played."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import cast

import pytest
from tests.slices import all_of

from arena_server.places import docker as docker_module
from arena_server.places.base import LaunchError
from arena_server.places.docker import Docker, NoAnswerError
from arena_server.places.docker_launcher import BotContainer, Way
from arena_server.places.process import Child
from arena_server.terms.sandbox import Sandbox

NAMES = ("bot", "bot-relay")


@dataclass
class Command:
    """A `docker run`, as far as `end_runs` knows it."""

    over: asyncio.Event = field(default_factory=asyncio.Event)
    killed: bool = False

    @property
    def process(self) -> Command:
        return self

    @property
    def returncode(self) -> int | None:
        return 0 if self.over.is_set() else None

    async def wait(self) -> int:
        await self.over.wait()
        return 0

    async def end(self) -> int:
        self.killed = not self.over.is_set()
        return 0


@dataclass
class Engine:
    """Makes each container behind that number of orders; `told`: an absent one is an error."""

    makes: dict[str, int]
    told: bool
    #: The commands end some steps of the loop after their container, or the refusal to start it.
    late: int
    commands: dict[str, Command] = field(default_factory=dict)
    there: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    orders: int = 0

    def __post_init__(self) -> None:
        self.commands = {name: Command() for name in self.makes}
        self._make()

    def _make(self) -> None:
        for name, orders in self.makes.items():
            if orders == self.orders:
                self.there.add(name)
            elif orders < 0 and self.orders + orders == -1:  # the engine refuses it
                self._end(name)

    def _end(self, name: str) -> None:
        def later(steps: int) -> None:
            if steps:
                asyncio.get_running_loop().call_soon(later, steps - 1)
            else:
                self.commands[name].over.set()

        later(self.late)

    async def call(self, *words: str) -> str:
        assert words[:3] == ("rm", "--force", "--volumes")
        removed = [name for name in words[3:] if name in self.there]
        self.there.difference_update(removed)
        self.removed.update(removed)
        for name in removed:
            self._end(name)
        self.orders += 1
        self._make()
        await asyncio.sleep(0)
        if self.told and len(removed) < len(words) - 3:
            raise LaunchError("No such container")
        return "\n".join(removed)


@all_of(
    "row",
    list(product((-2, -1, 0, 1, 2), (-1, 0, 1, 3), (False, True), (0, 20))),
)
def test_none_is_left_whenever_the_engine_makes_it(
    row: tuple[int, int, bool, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker_module, "MAKING_S", (0.0,) * 30)

    async def end() -> Engine:
        bot, relay, told, late = row
        engine = Engine(dict(zip(NAMES, (bot, relay), strict=True)), told, late)
        monkeypatch.setattr(Docker, "call", lambda _, *words: engine.call(*words))
        bot_run, relay_run = (cast("Child", engine.commands[name]) for name in NAMES)
        way = Way(Path(), ("127.0.0.1", 1))
        await BotContainer(Docker(), NAMES[0], Sandbox("image"), bot_run, relay_run, way).end()
        return engine

    engine = asyncio.run(end())
    assert engine.there == set()
    # While its container may still be made, the command is not ended.
    assert {name for name, command in engine.commands.items() if command.killed} <= engine.removed


def test_an_engine_that_hangs_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def call(_: Docker, *words: str) -> str:
        asked.append(words[-1])
        raise NoAnswerError("it hangs")

    async def end() -> Command:
        monkeypatch.setattr(Docker, "call", call)
        command = Command()
        await Docker().end_runs(cast("dict[str, Child]", {"bot": command}))
        return command

    assert asyncio.run(end()).killed
    assert asked == ["bot"]
