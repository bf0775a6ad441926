"""The bots of `arena rehearse`: a process that plays legal moves in many seats.

    stdin    {"host": ..., "port": ..., "move_ms": 20, "seats": [[name, token, slot], ...]}
    stdout   {"thought": {"g1": [[ply, microseconds], ...], ...}, "busy": 0.4} after the contest

`thought` is how long a bot thought about a ply, so that what else its clock was charged is known to be the
machine's; `busy` is the share of a processor that this process took while games were played. They are
no bots of the client library, because many of them share a process: where the game has a zombie
move, which is always legal, they play it and keep no position.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from random import Random
from typing import Any

from arena_client.errors import ClientError
from arena_protocol import messages as wire
from arena_protocol.link import Link
from arena_protocol.view import GameView

#: Seconds before a connection that was lost or refused is tried again, if the server names no time.
AGAIN_S = 0.5


@dataclass(slots=True)
class Findings:
    """What a process has measured: thinking times as (ply, microseconds) by game, and its processor time."""

    thought: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    began: tuple[float, float] | None = None
    ended: tuple[float, float] = (0.0, 0.0)

    def mark(self) -> None:
        """A game begins or ends."""
        self.ended = time.perf_counter(), time.process_time()
        self.began = self.began or self.ended

    def plain(self) -> dict[str, Any]:
        (began, cpu_began), (ended, cpu_ended) = self.began or self.ended, self.ended
        busy = (cpu_ended - cpu_began) / (ended - began) if ended > began else 0.0
        return {"thought": self.thought, "busy": busy}


class SeatBot(asyncio.Protocol):
    """One connection; `over` is done when it has ended. `link` is the log-in over all of them."""

    def __init__(self, link: Link, move_ms: int, random: Random, findings: Findings) -> None:
        self._link, self._move_ms, self._random, self._findings = link, move_ms, random, findings
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._offer: wire.Game | None = None
        self._view: GameView[Any] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._link.opened()

    def connection_lost(self, exc: Exception | None) -> None:
        self._link.closed()
        if not self.over.done():
            self.over.set_result(None)

    def data_received(self, data: bytes) -> None:
        began = time.perf_counter_ns()
        try:
            for line, message in self._link.receive(data):
                if line.startswith(b"TURN "):
                    self._turn(int(line.split(b" ", 2)[1]), began)
                elif message is None and (self._view is not None or not line.startswith(b"PLAYED ")):
                    self._take(wire.parse_server(line))
        except ClientError as error:
            self.over.set_exception(error)
            self._transport.close()
            return
        self._flush()

    def _flush(self) -> None:
        self._transport.write(self._link.data_to_send())

    def _take(self, message: wire.ServerMessage | None) -> None:
        match message:
            case wire.Game(game_id=game_id):
                self._findings.mark()
                self._offer = message
                self._view = GameView.of(message) if message.zombie is None else None
                self._link.send(wire.Ready(game_id))
            case wire.Over():
                self._findings.mark()
        if self._view is not None and message is not None:
            self._view = self._view.after(message)

    def _turn(self, ply: int, began: int) -> None:
        offer = self._offer
        assert offer is not None, "GAME comes before TURN"
        move = offer.zombie
        if move is None:
            assert self._view is not None, "GAME made it"
            move = self._random.choice(self._view.legal_moves)
        if self._move_ms:
            wait = self._random.uniform(0, 2) * self._move_ms / 1000
            asyncio.get_running_loop().call_later(wait, self._move, offer.game_id, ply, move, began)
        else:
            self._move(offer.game_id, ply, move, began)

    def _move(self, game_id: str, ply: int, move: str, began: int) -> None:
        if self.over.done():
            return
        thought = (time.perf_counter_ns() - began) // 1000
        self._findings.thought.setdefault(game_id, []).append((ply, thought))
        self._link.send(wire.Move(move))
        self._flush()


async def play_seat(given: dict[str, Any], number: int, findings: Findings) -> None:
    """Play in one seat until BYE. Raises ClientError if the server refuses the bot."""
    name, token, slot = given["seats"][number]
    link = Link(wire.Hello(wire.VERSION, name, token=token, agent="arena-rehearse", slot=slot), checked=False)
    random = Random(number)  # noqa: S311 - a game, not a secret
    while link.bye is None:
        _, bot = await asyncio.get_running_loop().create_connection(
            lambda: SeatBot(link, given["move_ms"], random, findings), given["host"], given["port"]
        )
        await bot.over
        if link.bye is None:
            await asyncio.sleep(link.retry_after_s or AGAIN_S)


async def play_all(given: dict[str, Any]) -> dict[str, Any]:
    """Play in every seat to the end of the contest."""
    findings = Findings()
    async with asyncio.TaskGroup() as tasks:
        for number in range(len(given["seats"])):
            tasks.create_task(play_seat(given, number, findings))
    return findings.plain()


def main() -> None:
    """Run the process."""
    try:
        json.dump(asyncio.run(play_all(json.load(sys.stdin))), sys.stdout)
    except* (ClientError, OSError) as group:
        sys.exit(str(group.exceptions[0]))


if __name__ == "__main__":
    main()
