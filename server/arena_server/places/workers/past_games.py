"""The games that workers have played in a contest: from the database, and of a record."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from arena_protocol.record import GameRecord
from arena_server.core.deal import game_id, number_of
from arena_server.places.workers.comparison import Comparison
from arena_server.stats.results import PastGame
from arena_server.store.database import Database


def games_of(database: Database, contest: str, worker: str) -> list[PastGame]:
    """The durable results of a worker in the contest of this name. Raises StoreError."""
    from arena_server.store.reader import Results

    with Results(database) as results:
        found = results.latest(contest)
        if found is None:
            return []
        deals = results.deals(found).numbers()
        mine = (game for game, by in results.games.played(found) if by == worker)
        return [replace(game, deal=deals.get(game_id(game.number), 0)) for game in mine]


def compared_games(database: Database, contest: str, bots: int, without: Collection[str]) -> Comparison:
    """The durable results of the contest of this name, by other workers than these. Raises StoreError."""
    from arena_server.store.reader import Results

    comparison = Comparison(bots)
    with Results(database) as results:
        if (found := results.latest(contest)) is not None:
            for game, worker in results.games.played(found):
                if worker not in without:
                    comparison.add(game, worker)
    return comparison


def past_game(record: GameRecord) -> PastGame:
    """What is compared of a record."""
    faults = tuple((record.names[fault.seat - 1], fault.kind) for fault in record.faults if fault.seat)
    used_ms = [0] * len(record.names)
    for ply in record.plies:
        used_ms[ply.seat - 1] += ply.time_ms
    number = number_of(record.game_id)
    return PastGame(
        number, record.names, 0, record.totals, record.end, len(record.plies), faults, tuple(used_ms)
    )


def workers_of(database: Database, contest: str) -> list[str]:
    """The names of the workers that have durable results in the contest of this name. Raises StoreError."""
    from arena_server.store.reader import Results

    with Results(database) as results:
        found = results.latest(contest)
        return [] if found is None else sorted({by for _, by in results.games.played(found)} - {""})
