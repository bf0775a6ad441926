"""Many bots on one server over real sockets: a round-robin of 200 bots, a ladder of 1,000, a Swiss of 2,000.

    python -m benchmarks.scale roundrobin [--bots 200]
    python -m benchmarks.scale ladder [--bots 1000 --minutes 10]
    python -m benchmarks.scale swiss [--bots 2000 --rounds 11]

The server is `arena serve` in a process of its own; the bots are one process with one epoll loop. They play
last coin with 20 coins and know the right move of each position: bot number n of N plays it with a chance of
n / N, and any other time takes what chance says. So the order of the field is known.
"""

from __future__ import annotations

import json
import re
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heappop, heappush
from pathlib import Path
from random import Random

from benchmarks.referee.load import cpu_seconds

from arena_server.errors import ArenaError
from arena_server.host.sockets import parse_address
from arena_server.stats.ratings import fit_counted
from arena_server.stats.standings import Standings
from arena_server.store.reader import Results

COINS = 20
LOG = "server.log"
_LINE = re.compile(rb"([A-Z]+)(?: (\S+))?([^\n]*)\n")
_MOVE = re.compile(rb" move=(\d)")
_SEAT = re.compile(rb" seat=(\d)")

CONTEST = """[contest]
name = "field"
game = "lastcoin"
format = "{form}"
{options}
seed = 2006
scoring = "wins"
ready = "60s"
[game]
coins = {coins}
clock = "60s"
[server]
max_connections = {connections}
"""


@dataclass(slots=True)
class Bot:
    """One connection: `coins` are left in its game, `waiting` is when it has become free."""

    number: int
    sock: socket.socket
    rest: bytes = b""
    game: bytes = b""
    coins: int = 0
    waiting: float = 0.0


@dataclass(slots=True)
class Field:
    """All bots. A move takes each of them between half and one and a half times `think` seconds.

    `waits` has how long each bot was free before each game, in seconds.
    """

    address: tuple[str, int]
    count: int
    think: float
    rng: Random = field(default_factory=lambda: Random(2006))
    bots: dict[int, Bot] = field(default_factory=dict)
    poll: select.epoll = field(default_factory=select.epoll)
    answers: list[tuple[float, int, bytes]] = field(default_factory=list)
    games: Counter[int] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    gone: int = 0

    def join(self, number: int) -> None:
        sock = socket.create_connection(self.address)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(b"HELLO 1 b%d\n" % number)
        self.bots[sock.fileno()] = Bot(number, sock, waiting=time.monotonic())
        self.poll.register(sock.fileno(), select.EPOLLIN)

    def run(self, seconds: float) -> None:
        """Play for so long, or until the server has closed all connections."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end and self.bots:
            due = min(end, self.answers[0][0]) if self.answers else end
            for descriptor, _ in self.poll.poll(max(0.0, due - now)):
                self.read(self.bots[descriptor])
            now = time.monotonic()
            while self.answers and self.answers[0][0] <= now:
                _, descriptor, line = heappop(self.answers)
                if descriptor in self.bots:
                    self.bots[descriptor].sock.send(line)

    def read(self, bot: Bot) -> None:
        data = bot.sock.recv(65536)
        if not data:
            self.poll.unregister(bot.sock.fileno())
            del self.bots[bot.sock.fileno()]
            bot.sock.close()
            self.gone += 1
            return
        whole, _, bot.rest = (bot.rest + data).rpartition(b"\n")
        for verb, game, more in _LINE.findall(whole + b"\n"):
            self.line(bot, verb, game, more)

    def line(self, bot: Bot, verb: bytes, game: bytes, more: bytes) -> None:
        if verb == b"GAME":
            bot.game, bot.coins = game, COINS
            self.waits.append(time.monotonic() - bot.waiting)
            bot.sock.send(b"READY " + game + b"\n")
        elif verb == b"PLAYED" and (move := _MOVE.search(more)):
            bot.coins -= int(move[1])
        elif verb == b"TURN":
            pause = self.think * self.rng.uniform(0.5, 1.5)
            heappush(self.answers, (time.monotonic() + pause, bot.sock.fileno(), self.move(bot)))
        elif verb == b"OVER":
            self.games[bot.number] += 1
            bot.waiting = time.monotonic()
        elif verb == b"PING":
            bot.sock.send(b"PONG " + game + b"\n")
        elif verb in (b"ERROR", b"ZOMBIE"):
            print(bot.number, verb.decode(), game.decode(), more.decode(), file=sys.stderr)

    def move(self, bot: Bot) -> bytes:
        """The right move leaves a number of coins that is one more than a multiple of 3."""
        right = (bot.coins - 1) % 3
        if right and self.rng.random() < bot.number / self.count:
            return b"MOVE %d\n" % right
        return b"MOVE %d\n" % self.rng.randint(1, min(2, bot.coins))


@contextmanager
def server(folder: Path, form: str, options: str, bots: int) -> Iterator[tuple[int, tuple[str, int]]]:
    """`arena serve` of a contest of `bots` bots; gives its process number and address."""
    text = CONTEST.format(form=form, options=options, coins=COINS, connections=bots + 64)
    text += "".join(f'[[bot]]\nname = "b{number}"\n' for number in range(bots))
    (folder / "field.toml").write_text(text, encoding="utf-8")
    command = [str(Path(sys.executable).with_name("arena")), "serve", "field.toml", "--port", "0"]
    command += ["--log-format", "json", "--until-finished"]
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise ArenaError(f"the measured server did not start: {(folder / LOG).read_text()}")
        yield process.pid, parse_address(line.strip().removeprefix("listening on "), "the measured server")
        process.terminate()
        process.communicate(timeout=60)  # its table is longer than what a pipe holds
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def measure(form: str, options: str, bots: int, think: float, seconds: float) -> None:
    """Play and print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(folder, form, options, bots) as (process, address):
            field = Field(address, bots, think)
            for number in range(bots):
                field.join(number)
            began, cpu, used = time.monotonic(), cpu_seconds(process), 0.0
            while field.bots and time.monotonic() - began < seconds:
                field.run(min(30.0, seconds - (time.monotonic() - began)))
                print(f"{time.monotonic() - began:.0f} s, {field.games.total() // 2} games", flush=True)
                if field.bots:  # else the server has ended
                    used = cpu_seconds(process) - cpu
            took = time.monotonic() - began
        report(folder / "arena.db", field, bots, took, used)
        for draw, seconds, pairings in draws(folder / LOG):
            print(f"round {draw}: drawn {seconds:.2f} s after the last game before it, {pairings} pairings")


def draws(log: Path) -> Iterator[tuple[int, float, int]]:
    """Of each round its number, the seconds since the end of the last game before it, and its pairings."""
    last: datetime | None = None
    for line in log.read_text(encoding="utf-8").splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("event") == "drawn":
            at = datetime.fromisoformat(event["time"])
            yield event["draw"], 0.0 if last is None else (at - last).total_seconds(), event["pairings"]
        elif event.get("event") == "over":
            last = datetime.fromisoformat(event["time"])


def report(database: Path, field: Field, bots: int, took: float, used: float) -> None:
    games = field.games.total() // 2
    waits = sorted(field.waits[bots:])
    print(f"{bots} bots, {games} games in {took:.0f} s: {games / took:.0f} games a second")
    print(f"server: {used / took:.0%} of a core, {used / max(1, games) * 1e3:.2f} ms of CPU a game")
    if waits:
        share = [waits[int(len(waits) * part)] for part in (0.5, 0.9, 0.99)]
        print("free before a game: " + ", ".join(f"{each:.2f}" for each in [*share, waits[-1]]) + " s")
        print("(half of the games, 90 %, 99 %, all)")
    each = [field.games[number] for number in range(bots)]
    print(f"games of a bot: {min(each)} to {max(each)}")
    with Results(database) as results:
        contest = results.contest()
        table: Standings = results.sums.table(contest)
        faults = sum(sum(row.faults.values()) for row in table.rows())
        print(f"{contest.status}: {table.games} games stored, {faults} faults")
        ratings = fit_counted(results.sums.rated(contest))
        meetings = sum(len(table.against(row.name)) for row in table.rows()) // 2
        print(f"{meetings} different pairs of {bots * (bots - 1) // 2}")
        best = [int(row.name[1:]) for row in table.rows()]
    print(f"rank correlation of the table and known strengths: {rank_correlation(best):.3f}")
    order = [int(row.name[1:]) for row in ratings.rows]
    print(f"rank correlation of ratings and known strengths: {rank_correlation(order):.3f}")


def rank_correlation(order: list[int]) -> float:
    """Spearman's, of numbers in the order of the ratings, the best first, against their own order."""
    places = {number: place for place, number in enumerate(sorted(order, reverse=True))}
    n = len(order)
    apart = sum((place - places[number]) ** 2 for place, number in enumerate(order))
    return 1 - 6 * apart / (n * (n * n - 1))
