"""Bots that keep their own record of every line, for servers that are killed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from tests.server.programs import PATIENCE_S, Gate, contest

from arena_client import asyncio_client
from arena_client.bot import Bot, GameView, Result
from arena_client.retry import RetryPolicy

NAMES = ("ann", "bob", "cid")
#: Come back at once, for as long as a server may need to start on a busy machine.
DOGGED = RetryPolicy(delays=lambda: iter([0.05] * 600))
ONCE = RetryPolicy(delays=lambda: iter([]))


class RecordingBot(Bot):
    """Keeps every ply and result that it receives, and holds the server to them; `move` chooses."""

    instant = True

    def __init__(self, move: Callable[[GameView], int]) -> None:
        self._move = move
        self.moves: dict[str, tuple[str, ...]] = {}
        self.results: dict[str, tuple[int, ...]] = {}

    def choose(self, view: GameView) -> int:
        before = self.moves.get(view.game_id, ())
        assert view.moves[: len(before)] == before, "an announced ply was taken back"
        self.moves[view.game_id] = view.moves
        return self._move(view)

    def game_over(self, view: GameView, result: Result) -> None:
        assert view.game_id not in self.results, "a result was announced twice"
        self.results[view.game_id] = result.totals


class Bots:
    """Three recording bots on a thread of their own."""

    def __init__(self, port: int, policy: RetryPolicy = DOGGED, gate: Gate | None = None) -> None:
        self._policy, self._gate = policy, gate
        self._playing = threading.Event()
        self.players = {name: RecordingBot(self._move) for name in NAMES}
        self.ends: list[str | BaseException] = []
        self._thread = threading.Thread(target=self._run, args=(port,), daemon=True)
        self._thread.start()

    def _move(self, view: GameView) -> int:
        """It depends on game and ply alone."""
        self._playing.set()
        if self._gate is not None:
            self._gate.wait(view.game_id)
        return 1 + (view.ply * 7 + int(view.game_id[1:])) % 15

    def _run(self, port: int) -> None:
        self.ends += asyncio.run(self._play(port))

    async def _play(self, port: int) -> list[str | BaseException]:
        return await asyncio.gather(
            *(
                asyncio_client.play(bot, "127.0.0.1", port, name=name, policy=self._policy)
                for name, bot in self.players.items()
            ),
            return_exceptions=True,
        )

    def wait_for_play(self) -> None:
        assert self._playing.wait(PATIENCE_S)

    def join(self) -> None:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


def the_contest(games: int) -> str:
    return contest(*NAMES, contest=f"games_per_pair = {games}", game='plies = 100\nclock = "60s"')
