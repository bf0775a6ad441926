"""The time to resume a contest, from opening the database to the first events.

Two contests: about 1,000 games among 33 bots, and the worst case, 500 of 1,000 games running among
1,000 bots. Prints seconds and seconds of CPU. Run it as `python benchmarks/recovery.py`.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from arena_protocol.games import make_game
from arena_protocol.record_codec import encode
from arena_server.core.contest import Contest
from arena_server.core.deal import Setting
from arena_server.core.events import Tick
from arena_server.core.formats import format_of
from arena_server.core.formats.base import Format
from arena_server.core.game_facts import GameFact, Offered
from arena_server.core.journal import Entry, entry_of
from arena_server.core.match import Match, PlayMove, SayReady
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import ContestHeader
from arena_server.terms.config import ContestConfig, Entrant

PLIES, MS = 200, 1_000_000
#: Bots, games that are stored, games that are running.
CONTESTS = ((33, 500, 16), (1000, 500, 500))


def play(config: ContestConfig, form: Format, number: int, plies: int) -> tuple[Match, list[Entry]]:
    """Game `number` after `plies` plies, and its entries."""
    (pairing,) = form.planned(number, number + 1)
    match = Match(Setting.of(config, make_game("insertion", {}), pairing), 0)
    facts: list[GameFact] = [Offered(pairing.names, pairing.deal)]
    for seat in (1, 2):
        facts += match.execute(SayReady(seat, 0), 0)
    for ply in range(1, plies + 1):
        seat, now = match.timer.seat, ply * 5 * MS
        match.run(now - 4 * MS)
        facts += match.execute(PlayMove(seat, "6", b"MOVE 6", now), now)
    return match, [entry_of(number, fact) for fact in facts]


def fill(database: Path, config: ContestConfig, names: list[str], stored: int, running: int) -> ContestHeader:
    """Write what a server leaves when it is killed and its running games are half-way."""
    form = format_of(config, names, 2)
    header = ContestHeader(config, {}, names, form.total)
    with ContestStore(database) as store:
        store.find(header)
        with store.transaction():
            store.enter(header, config)
            for number in range(1, stored + 1):
                match, entries = play(config, form, number, PLIES)
                record = match.record()
                store.add(entries, [(f"g{number}", record, encode(record))])
            busy: set[str] = set()
            for number in range(stored + 1, form.total + 1):
                players = next(form.planned(number, number + 1)).names
                if len(busy) < 2 * running and busy.isdisjoint(players):
                    busy.update(players)
                    store.add(play(config, form, number, PLIES // 2)[1], [])
        store.sync()
    return header


def measure(bots: int, stored: int, running: int) -> None:
    names = [f"b{number}" for number in range(bots)]
    config = ContestConfig(name="recovery", seed=2006, games_per_pair=2, probation=0)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "arena.db"
        header = fill(database, config, names, stored, running)
        began, cpu = time.perf_counter(), time.process_time()
        with ContestStore(database) as store:
            found = store.find(header)
            assert found is not None
            entrants = [Entrant(name) for name in names]
            contest = Contest(config, entrants, lambda length: "0" * length, 0, found.past)
            contest.handle(Tick(), 0)
            took, used = time.perf_counter() - began, time.process_time() - cpu
    progress = contest.status.progress()
    print(
        f"{bots} bots: {progress.done} games stored, {progress.running} running, "
        f"{progress.plies} plies in all: {took:.2f} s, CPU {used:.2f} s"
    )


if __name__ == "__main__":
    for contest in CONTESTS:
        measure(*contest)
