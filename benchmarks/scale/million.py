"""A million finished games in one SQLite file: how long the answers take.

    python -m benchmarks.scale million FOLDER           fill FOLDER/arena.db (once), then measure

225 bots play 40 games of tictactoe against each other, 1,008,000 games. Their plies are those of a few
hundred games that the referee's match has judged; each game has its own deal, nonce, names and record, and is
stored as the server stores it. One game in 200 has a fault.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

from arena_protocol.games import make_game
from arena_protocol.record import GameRecord
from arena_protocol.record_codec import encode
from arena_server.core.deal import Setting
from arena_server.core.formats import format_of
from arena_server.core.formats.base import Pairing
from arena_server.core.game_facts import Offered
from arena_server.core.journal import Entry, entry_of
from arena_server.core.life import FINISHED
from arena_server.core.match import Match
from arena_server.host.inprocess import play_in_process
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import ContestHeader
from arena_server.terms.config import ContestConfig
from arena_server.web.archive import Archive
from arena_server.web.bots import BotDocuments, RatingHistories

BOTS, GAMES_PER_PAIR = 225, 40
#: Games that the match has judged, whose plies the others have.
PLAYED = 400
#: Games in a transaction.
BATCH = 2000
MS = 1_000_000
GAME = make_game("tictactoe", {})


def contest(bots: int, games_per_pair: int) -> tuple[ContestConfig, list[str]]:
    names = [f"bot{number}" for number in range(bots)]
    # No delay: the pages are measured right after the last result is stored.
    config = ContestConfig(
        name="million", seed=2006, game="tictactoe", games_per_pair=games_per_pair, spectator_delay_ms=0
    )
    return config, names


@dataclass(frozen=True, slots=True)
class Source:
    """Records whose plies are used again, by who has won: 1, 2, or 0 for a draw."""

    records: dict[int, list[GameRecord]]

    @classmethod
    def play(cls, config: ContestConfig, rng: Random) -> Source:
        found: dict[int, list[GameRecord]] = {0: [], 1: [], 2: []}
        ticks = count(0, 7 * MS)

        def choose(match: Match) -> str:
            return rng.choice(GAME.legal_moves(match.position))

        def fail(_: Match) -> str:
            return "no move"

        for number in range(1, PLAYED + 1):
            setting = Setting.of(config, GAME, Pairing(number, ("a", "b"), number))
            players = (choose, fail) if number % 200 == 0 else (choose, choose)
            record = play_in_process(setting, players, lambda: next(ticks))
            winner = 0 if record.totals[0] == record.totals[1] else 1 + (record.totals[1] > record.totals[0])
            found[winner].append(record)
        return cls(found)

    def record(self, setting: Setting, rng: Random) -> GameRecord:
        """A game of `setting`: a bot with a higher number is likelier to win."""
        one, two = (float(name[3:]) for name in setting.names)
        chance = 1 / (1 + 10 ** ((two - one) / 100))
        drawn = rng.random() < 0.3
        winner = 0 if drawn else 1 + (rng.random() > chance)
        like = rng.choice(self.records[winner])
        return setting.record(like.plies, like.faults, like.final, like.totals, like.end, like.infos)


def games(config: ContestConfig, names: list[str]) -> Iterator[tuple[Entry, tuple[str, GameRecord, bytes]]]:
    """The offer and the result of every game of the contest."""
    rng = Random(2006)
    source = Source.play(config, rng)
    form = format_of(config, names, 2)
    assert form.total is not None
    for pairing in form.planned(1, form.total + 1):
        record = source.record(Setting.of(config, GAME, pairing), rng)
        offer = entry_of(pairing.number, Offered(pairing.names, pairing.deal))
        yield offer, (record.game_id, record, encode(record))


def fill(database: Path, bots: int = BOTS, games_per_pair: int = GAMES_PER_PAIR) -> None:
    """Store all games; prints how many a second."""
    config, names = contest(bots, games_per_pair)
    header = ContestHeader(config, GAME.options(), names, format_of(config, names, 2).total or 0)
    began, stored = time.perf_counter(), 0
    every = games(config, names)
    with ContestStore(database) as store:
        store.find(header)
        with store.transaction():
            store.enter(header, config)
        while batch := [found for _, found in zip(range(BATCH), every, strict=False)]:
            with store.transaction():
                store.add([entry for entry, _ in batch], [result for _, result in batch])
            store.maintain()
            stored += len(batch)
            if stored % (50 * BATCH) == 0:
                print(f"{stored} games, {stored / (time.perf_counter() - began):.0f} a second", flush=True)
        with store.transaction():
            store.end(FINISHED)
        store.sync()
    print(f"{stored} games in {time.perf_counter() - began:.0f} s, {database.stat().st_size / 1e6:.0f} MB")


#: The measure of every answer: SQLite alone counts all games by players and result.
RIVAL = """
import sqlite3
database = sqlite3.connect("file:arena.db?mode=ro", uri=True)
database.execute("SELECT names, totals, count(*) FROM games GROUP BY names, totals").fetchall()
"""


def measure(folder: Path) -> None:
    """Print how long each answer takes, and its share of what SQLite takes to count all games.

    Commands are processes, and so is SQLite; the page's documents are made in this one.
    """
    rival = timed(
        "SQLite alone: all games by players and result", 0.0, ran(folder, sys.executable, "-c", RIVAL)
    )
    arena = str(Path(sys.executable).with_name("arena"))
    for words in (["standings"], ["ratings"], ["publish", "public"], ["verify", f"g{GAMES_PER_PAIR * BOTS}"]):
        timed(f"arena {' '.join(words)}", rival, ran(folder, arena, *words))
    archive = Archive(folder / "arena.db")
    timed("the record of one game, for its page", rival, lambda: archive.record(1, "g500000"))
    timed("the document of the contest, after the server has started", rival, lambda: archive.contest(1))
    timed("the document of the contest, from then on", rival, lambda: archive.contest(1))
    timed("2,000 rows of its list of games", rival, lambda: archive.games(1, 250))
    bots, histories = BotDocuments(), RatingHistories()
    timed("time and first moves of a bot", rival, lambda: bots.find(archive, 1, 7))
    timed("time and first moves of a bot, from then on", rival, lambda: bots.find(archive, 1, 7))
    timed(
        "the points of all ratings, after the server has started", rival, lambda: histories.fill(archive, 1)
    )
    timed("the points of all ratings, from then on", rival, lambda: histories.fill(archive, 1))
    timed("the points of one bot", rival, lambda: histories.document(archive, 1, "bot7"))


def ran(folder: Path, *command: str) -> Callable[[], object]:
    # Without it each command would compile its modules again, where the shell forbids to write them.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)


def timed(what: str, rival: float, answer: Callable[[], object]) -> float:
    """Print what an answer takes, the faster of two times; returns its seconds of a processor."""
    taken = []
    for _ in range(2 if rival == 0 or what.startswith("arena") else 1):
        began, spent = time.perf_counter(), processor_s()
        answer()
        taken.append((processor_s() - spent, time.perf_counter() - began))
    spent, passed = min(taken)
    share = f"{spent / rival:5.2f}" if rival else " 1.00"
    print(f"{passed:6.2f} s, {spent:5.2f} s of a processor, {share}  {what}", flush=True)
    return spent


def processor_s() -> float:
    """Of this process and of those that have ended."""
    return sum(os.times()[:4])
