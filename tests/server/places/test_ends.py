"""How the end of a bot in a container is read, with an engine that answers by a script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from arena_server.places import docker_launcher as container
from arena_server.places.docker_launcher import OOM_QUESTIONS, BotContainer, Way
from arena_server.terms.sandbox import MB, ContainerLimits, Sandbox


class Engine:
    """Answers one question a line, and the last line from then on."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.asked = 0

    async def call(self, *_: str) -> str:
        self.asked += 1
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class Process:
    """A process that has ended with a status."""

    def __init__(self, status: int) -> None:
        self._status = status

    async def wait(self) -> int:
        return self._status

    def last_lines(self, _: int) -> list[str]:
        return ["so far"]

    def last_error(self) -> str:
        return ""

    def trace(self) -> Sequence[str]:
        return ()


pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "OOM_PAUSE_S", 0)


def ending(status: int, engine: Any) -> BotContainer:
    process: Any = Process(status)
    sandbox = Sandbox("bot:1", ContainerLimits(memory=32 * MB))
    return BotContainer(engine, "arena-ann-1", sandbox, process, process, Way(Path("none"), ("", 0)))


@pytest.mark.parametrize("answers", [["true"], ["false", "false", "true"]])
async def test_too_much_memory_is_named_also_when_the_engine_learns_of_it_late(answers: list[str]) -> None:
    end = await ending(137, Engine(*answers)).wait()
    assert end.exceeded == "more than 32 MB of memory"
    assert end.lines == ["so far", "it used more than 32 MB of memory"]


@pytest.mark.parametrize(
    ("status", "answer", "asked"),
    [
        pytest.param(137, "false", OOM_QUESTIONS, id="killed by another"),
        pytest.param(137, "", 1, id="removed by us"),
        pytest.param(1, "false", 1, id="ended by itself"),
    ],
)
async def test_the_engine_is_asked_for_as_long_as_it_may_take(status: int, answer: str, asked: int) -> None:
    engine = Engine(answer)
    end = await ending(status, engine).wait()
    assert (end.status, end.exceeded, engine.asked) == (status, "", asked)
