"""Restarts in order under load: the listening socket stays open, as with deploy/arena.socket.

    run(restarts) -> bots in a thread -> `arena serve` -> SIGTERM -> `arena serve` ... -> check -> Upgrades

No game may be void, no result may be lost or changed, and no bot may have a fault. The moments come from the
seed, the machine decides where in the games they fall.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from tests.server.host.recording_bots import RecordingBot

from arena_client import asyncio_client
from arena_client.bot import GameView
from arena_protocol.record import VOID
from arena_server.store.reader import Results

from .processes import ARENA, PATIENCE_S, Say, Server, print_run, verified

#: Runs a program with the socket of systemd's protocol (sd_listen_fds(3)): descriptor 3, and its own id.
HANDED_OVER = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); "
    "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1'); os.execv(sys.argv[2], sys.argv[2:])"
)


@dataclass
class Upgrades:
    """What a run came to; `down_s` has the seconds from each signal to the next `listening`."""

    bots: int
    restarts: int
    games: int
    void: int
    announced: int
    unannounced: int
    faults: int
    resumed: int
    down_s: list[float]

    def __str__(self) -> str:
        down = sorted(self.down_s)
        return (
            f"{self.bots} bots, {self.restarts} restarts by SIGTERM, {self.resumed:,} games resumed\n"
            f"{self.games:,} games with a result, {self.void} void, {self.faults} faults, {self.announced:,} "
            f"results announced to bots: none lost, none changed; {self.unannounced} not announced\n"
            f"from the signal to `listening`: {down[len(down) // 2]:.2f} s, at most {down[-1]:.2f} s"
        )


class Player(RecordingBot):
    """Thinks a moment, and plays by chance."""

    instant = False

    def __init__(self, seed: int) -> None:
        super().__init__(self._any)
        self._chance = Random(seed)

    def _any(self, view: GameView) -> int:
        time.sleep(self._chance.uniform(0, 0.002))
        return self._chance.randint(1, 15)


class Players:
    """Bots with the policy that every bot has, in a thread; `failures` are of those that gave up."""

    def __init__(self, names: list[str], port: int, seed: int) -> None:
        self.bots = {name: Player(seed + number) for number, name in enumerate(names)}
        self.failures: list[str] = []
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def announced(self) -> int:
        return sum(len(bot.results) for bot in self.bots.values())

    def _run(self) -> None:
        with closing(self._loop):
            for name in self.bots:
                self._loop.create_task(self._play(name))
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    async def _play(self, name: str) -> None:
        try:
            end = await asyncio_client.play(self.bots[name], "127.0.0.1", self._port, name=name)
        except Exception as error:
            self.failures.append(f"{name}: {error}")
        else:
            self.failures.append(f"{name} was sent away: {end}")

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)


def run(folder: Path, restarts: int, bots: int, seed: int, say: Say = print) -> Upgrades:
    """Restart a server so often, check, and return the figures; `say` takes how far it is."""
    chance, down, resumed = Random(seed), [], 0
    names = [f"b{number}" for number in range(bots)]
    (folder / "c.toml").write_text(
        '[contest]\nname = "upgrades"\nformat = "ladder"\nspectator_delay = "0s"\n'
        '[game]\nplies = 60\nclock = "60s"\n' + "".join(f'[[bot]]\nname = "{name}"\n' for name in names)
    )
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        players = Players(names, listener.getsockname()[1], seed)
        stack.callback(players.stop)
        handed = (sys.executable, "-c", HANDED_OVER, str(listener.fileno()), *ARENA)
        words = ["serve", "c.toml", "--port", str(listener.getsockname()[1]), "--no-web"]
        server = Server(folder, *words, program=handed, pass_fds=(listener.fileno(),))
        stack.callback(server.close)
        for number in range(restarts + 1):
            signalled = time.monotonic()
            server.start()
            down.append(time.monotonic() - signalled)
            before, end = players.announced, time.monotonic() + PATIENCE_S
            while players.announced < before + bots:
                assert time.monotonic() < end, f"no results within {PATIENCE_S:.0f} s: {players.failures}"
                time.sleep(0.02)
            time.sleep(chance.uniform(0, 0.5))
            began = time.monotonic()
            assert server.end(signal.SIGTERM) == 0
            down[-1] += time.monotonic() - began
            with server.log.open() as log:
                resumed = sum(" resumed " in line for line in log)
            if number % 10 == 9:
                say(f"{number + 1} of {restarts} restarts, {players.announced:,} results announced")
        assert not players.failures, players.failures
    return _check(folder, players, restarts, resumed, down)


def _check(folder: Path, players: Players, restarts: int, resumed: int, down: list[float]) -> Upgrades:
    """What the bots were sent is what is stored; every record verifies; no bot has a fault."""
    with Results(folder / "arena.db") as results:
        (contest,) = results.contests()
        records = verified(results, contest)
    announced = 0
    for name, bot in players.bots.items():
        for game, totals in bot.results.items():
            assert records[game].totals == totals, (name, game)
            announced += 1
        for game, moves in bot.moves.items():
            if game in records:
                assert tuple(ply.move for ply in records[game].plies)[: len(moves)] == moves, (name, game)
    received = sum(
        game in players.bots[name].results for game, each in records.items() for name in each.names
    )
    seats = sum(len(record.names) for record in records.values())
    void = sum(record.end == VOID for record in records.values())
    faults = sum(bool(fault.seat) for record in records.values() for fault in record.faults)
    return Upgrades(
        len(players.bots), restarts, len(records) - void, void, announced, seats - received, faults,
        resumed, down,
    )  # fmt: skip


def main(
    restarts: Annotated[int, typer.Option(min=1, help="How often the server is restarted.")] = 100,
    bots: Annotated[int, typer.Option(min=2, help="How many bots play.")] = 20,
    seed: Annotated[int, typer.Option(help="What draws the moments.")] = 1,
) -> None:
    """Restart a server under load, and print the figures."""
    print_run(lambda folder, say: run(folder, restarts, bots, seed, say=say))


if __name__ == "__main__":
    typer.run(main)
