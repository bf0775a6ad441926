"""Games of visitors on a host that plays nothing."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from arena_server.errors import ArenaError
from arena_server.places.base import LocalBot
from arena_server.terms.config import (
    ContestConfig,
)
from arena_server.terms.spec import ContestSpec
from arena_server.web.casual import CasualGames
from arena_server.web.casual_game import GameRequest
from arena_server.web.casual_host import Replay, Streams
from arena_server.web.person import PersonSeat
from arena_server.web.ports import CasualSetup

WANTED = GameRequest("lastcoin", "random", clock=False, seat=1, hints=True)


OFFER = {"lastcoin": ["random"]}


HERE, THERE, ELSEWHERE = "127.0.0.1", "192.0.2.1", "192.0.2.2"


LIMIT_S = 150.0


#: A script that lists engines.
OFFERING = f"print({json.dumps(OFFER)!r})"


class FakeHost:
    """A host whose contests begin, if `begins`, and go on until they fail with `failure` or are cancelled."""

    def __init__(self, failure: ArenaError | None = None, *, begins: bool = False) -> None:
        self.played: list[tuple[ContestSpec, Sequence[LocalBot]]] = []
        self.orders: list[tuple[str, ...]] = []
        self.left = 0
        self._failure = failure
        self._begins = begins

    async def play(
        self, spec: ContestSpec, bots: Sequence[LocalBot], begun: Callable[[Replay], None]
    ) -> None:
        self.played.append((spec, bots))
        if self._failure is not None:
            raise self._failure
        if self._begins:
            begun(lambda *order: self.orders.append(order))
        try:
            await asyncio.Event().wait()
        finally:
            self.left += 1

    async def connect(self) -> Streams:
        raise ConnectionRefusedError("refused")


def games(folder: Path, script: str = OFFERING, limit: int = 2, host: FakeHost | None = None) -> CasualGames:
    """With engines listed by a Python script in the place of the command arena."""
    program = folder / "arena.py"
    program.write_text(script)
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        address = sock.getsockname()
        setup = CasualSetup(limit, folder / "play.db", (sys.executable, str(program)), sock)
    assert setup.address == address, "also once a server that ends has closed its port"
    return CasualGames(setup, ContestConfig(name="x", seed=1), host or FakeHost())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():
            await asyncio.sleep(0)


async def finished(started: CasualGames) -> str | None:
    """The problem that the seats show once the game is over."""
    async with asyncio.timeout(LIMIT_S):
        while any(seat.state != "finished" for seat in started.seats()):
            await asyncio.sleep(0.01)
    events = [json.loads(seat._event().partition(b"data: ")[2]) for seat in started.seats()]
    problems: set[str | None] = {event["problem"] for event in events}
    (problem,) = problems
    return problem


def take_all(started: CasualGames) -> None:
    for seat in started.seats():
        if seat.state == "link":
            seat.take()


async def end(started: CasualGames) -> None:
    for game in started._games:
        game.end("the test is over")
    for seat in started.seats():
        await problem_of(seat)


def state_of(seat: PersonSeat) -> str:
    return str(json.loads(seat._event().partition(b"data: ")[2])["state"])


async def problem_of(seat: PersonSeat) -> str | None:
    async with asyncio.timeout(LIMIT_S):
        while seat.state != "finished":
            await asyncio.sleep(0.01)
    return str(json.loads(seat._event().partition(b"data: ")[2])["problem"])
