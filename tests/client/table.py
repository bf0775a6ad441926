"""A player at a table of the tests' own: the test is the server, and asks the bot when it likes."""

from __future__ import annotations

from typing import Any

from arena_client import Bot, GameView, Result
from arena_client.protocol import Job, Player

from .fake_server import DEALT, OFFER, START

HELLO = "HELLO 1 me agent=arena-client"
GREETING = ("ARENA 1 fake/1", "WELCOME me session=s1 resume=r1")


class Four(Bot):
    def __init__(self) -> None:
        self.told: list[str] = []

    def new_game(self, view: GameView) -> None:
        self.told.append(f"new {view.game_id}")

    def choose(self, view: GameView) -> int | str:
        self.told.append(f"choose {view.ply}")
        return 4

    def game_over(self, view: GameView, result: Result) -> None:
        self.told.append(f"over {result.mine}")


class Table:
    """A player on a connection, with the bot asked as soon as it is due unless a test holds it back."""

    def __init__(self, bot: Bot | None = None, **more: Any) -> None:
        self.bot = bot or Four()
        self.player = Player(self.bot, "me", **more)
        self.player.opened()

    def hear(self, *lines: str) -> list[str]:
        """Let the player read the lines in one piece; what it says."""
        self.player.receive_data("".join(f"{line}\n" for line in lines).encode())
        return self.said()

    def said(self) -> list[str]:
        return self.player.data_to_send().decode().splitlines()

    def think(self) -> list[str]:
        """Answer all jobs that are due; what the player says after them."""
        while (job := self.player.next_job()) is not None:
            self.player.done(job, job.ask())
        return self.said()

    def job(self) -> Job:
        job = self.player.next_job()
        assert job is not None
        return job

    def again(self) -> None:
        """The connection is lost and another one opened."""
        self.player.lost()
        self.player.opened()


def playing(**more: Any) -> Table:
    """A table where the first turn is just to come."""
    table = Table(**more)
    table.hear(*GREETING, OFFER, *DEALT)
    table.think()
    table.hear(START)
    return table
