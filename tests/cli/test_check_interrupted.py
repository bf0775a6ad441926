"""`arena check bot` with a container, by Ctrl-C: its place is closed after what it has begun."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import pytest

from arena_cli import check_container
from arena_cli.check_container import ContainedBot
from arena_server.places.base import LocalBot
from arena_server.terms.sandbox import DEFAULT_LIMITS, Sandbox


@dataclass
class Place:
    """A launcher whose bot, or its start, takes as long as it is let."""

    starts: bool
    done: list[str] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, *_: object) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.done.append("closed")

    async def start(self, _: LocalBot) -> Any:
        self.done.append("begun")
        if self.starts:
            return self
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.done.append("given up")

    async def wait(self) -> None:
        await self.over.wait()

    async def end(self) -> None:
        await asyncio.sleep(0)
        self.done.append("ended")
        self.over.set()


@pytest.mark.parametrize(("starts", "done"), [(False, "given up"), (True, "ended")])
def test_what_ctrl_c_leaves_ends_before_its_place(
    starts: bool, done: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(starts)
    monkeypatch.setattr(check_container, "ContainerLauncher", place)
    monkeypatch.setattr(check_container, "player_sandbox", lambda *_: Sandbox("image"))
    one, other = socket.socketpair()

    async def begun() -> None:
        while not place.done or (starts and contained._running is None):
            await asyncio.sleep(0)
        if starts:  # the loop has given the task of its end a turn
            await asyncio.sleep(0)

    with one, other, ContainedBot("image:x", DEFAULT_LIMITS) as contained:
        contained._link.run(contained._start(LocalBot("a", (), "t"), ("127.0.0.1", 1), other))
        contained._call(begun())
    assert place.done == ["begun", done, "closed"]
