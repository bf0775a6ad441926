"""A game as a spectator reads it: its lines, a scripted feed of them, and a browser that keeps its events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from arena_server.web.gamestream import GameStream, LineSource, game_of

GAME = (
    b"GAME g7 insertion seat=0 seats=2 names=ann,bob plies=4 colours=6 lookahead=2 "
    b"clock=1000 increment=0 zombie=6 commit=ab"
)
STATE = b"STATE ...../...../...../...../..... game=g7"
NEXT = b"NEXT 12 game=g7"
START = b"START g7"
PLAYED = [
    b"PLAYED 1 seat=1 move=6 time=3 clock=997,1000 points=0 total=0,0 reveal=3 game=g7",
    b"PLAYED 2 seat=2 move=7 time=4 clock=997,996 points=0 total=0,0 reveal=4 game=g7",
]
INFO = b"INFO game=g7 ply=1 seat=1 depth=2 eval=-30 nodes=9 line=6,7 text=hello game=g2"
ZOMBIE = b"ZOMBIE ply=3 reason=illegal seat=1 line=4d game=g7"
OVER = b"OVER g7 total=0,0 end=complete nonce=00 sequence=1234"
OFFER = [GAME, STATE, NEXT]


class FakeViewer:
    """Keeps what it is sent."""

    def __init__(self) -> None:
        self.data = b""
        self.closed = False
        self.connection = self

    def send(self, event: bytes) -> None:
        self.data += event

    def close(self) -> None:
        self.closed = True

    def events(self) -> list[tuple[str | None, str, Any]]:
        found = []
        for block in self.data.decode().split("\n\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            found.append((fields.get("id"), fields["event"], json.loads(fields["data"])))
        self.data = b""
        return found


def join(game: GameStream, last: str | None = None) -> FakeViewer:
    viewer = FakeViewer()
    for event in game.join(viewer, last):  # type: ignore[arg-type]
        viewer.send(event)
    return viewer


class ScriptedFeed:
    """Batches of lines put in by the test; an exception ends the connection, None the contest."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[list[bytes] | Exception | None] = asyncio.Queue()
        self.connections = 0

    def put(self, batch: list[bytes] | Exception | None) -> None:
        self._queue.put_nowait(batch)

    async def batches(self) -> AsyncGenerator[list[LineSource], None]:
        self.connections += 1
        sources: dict[str | None, LineSource] = {}
        while (batch := await self._queue.get()) is not None:
            if isinstance(batch, Exception):
                raise batch
            for line in batch:
                if line.startswith(b"GAME "):
                    sources[game_of(line)] = LineSource(str(game_of(line)))
                if (source := sources.get(game_of(line))) is not None:
                    source.add(line, 0)
            yield [source for name, source in sources.items() if name in map(game_of, batch)]
