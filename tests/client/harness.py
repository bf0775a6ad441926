"""A ClientProtocol whose test plays the server and decides when the bot runs."""

from __future__ import annotations

from typing import Any

from arena_client import Bot, GameView, Result
from arena_client.protocol import ClientProtocol, Job

from .fake_server import DEALT, OFFER, START

HELLO = "HELLO 1 me agent=arena-client"
GREETING = ("ARENA 1 fake/1", "WELCOME me session=s1 resume=r1")


class Four(Bot):
    def __init__(self) -> None:
        self.calls: list[str] = []

    def new_game(self, view: GameView) -> None:
        self.calls.append(f"new {view.game_id}")

    def choose(self, view: GameView) -> int | str:
        self.calls.append(f"choose {view.ply}")
        return 4

    def game_over(self, view: GameView, result: Result) -> None:
        self.calls.append(f"over {result.mine}")


class Harness:
    """A protocol with a connection, and its bot."""

    def __init__(self, bot: Bot | None = None, **more: Any) -> None:
        self.bot = bot or Four()
        self.protocol = ClientProtocol(self.bot, "me", **more)
        self.protocol.connection_made()

    @property
    def calls(self) -> list[str]:
        assert isinstance(self.bot, Four)
        return self.bot.calls

    def receive(self, *lines: str) -> list[str]:
        """Feed the lines as one chunk; return the lines sent."""
        self.protocol.receive_data("".join(f"{line}\n" for line in lines).encode())
        return self.sent()

    def sent(self) -> list[str]:
        return self.protocol.data_to_send().decode().splitlines()

    def run_jobs(self) -> list[str]:
        """Run all jobs that are due; return the lines sent."""
        while (job := self.protocol.next_job()) is not None:
            self.protocol.complete(job, job.call())
        return self.sent()

    def job(self) -> Job:
        job = self.protocol.next_job()
        assert job is not None
        return job

    def reconnect(self) -> None:
        """Lose the connection and open another one."""
        self.protocol.connection_lost()
        self.protocol.connection_made()


def playing(**more: Any) -> Harness:
    """Return a harness before the first TURN of a game."""
    client = Harness(**more)
    client.receive(*GREETING, OFFER, *DEALT)
    client.run_jobs()
    client.receive(START)
    return client
