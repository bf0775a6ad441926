"""What the page of a bot shows of one contest beside its games, made on a thread of its own.

    contests/N/bots/K.json    who wrote it, its programs, its time a move and its first moves (`BotDocuments`)
    contests/N/history-K.json its rating after ever more games (`RatingHistories`)

Time and first moves are those of the newest RECORDS records that may be shown; each record is read once. The
ratings are fitted once for all bots, after each `stride` games. The stride doubles when there are more than
POINTS of them, so that a contest of any length has about as many; the games between two points are counted
once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from arena_protocol.record import RecordError
from arena_protocol.record_codec import decode
from arena_server.stats.rated_games import version_of
from arena_server.stats.ratings import Ratings, fit_counted
from arena_server.store.sums import Endings
from arena_server.web.filling import Filling
from arena_server.web.shown_results import NotFoundError, ShownResults

#: A record is read in 1 to 3 ms.
RECORDS: Final = 100
#: Records of which the seats' moves are kept.
KEPT_RECORDS: Final = 20_000
POINTS: Final = 24
#: First moves in the document.
MOVES: Final = 5


class SeatMoves(NamedTuple):
    """The own moves of a seat in one game, without those that the server played; milliseconds."""

    first: str | None
    moves: int
    used_ms: int
    most_ms: int
    bank_ms: int
    won: bool


def seat_moves(record: bytes) -> tuple[SeatMoves, ...]:
    """What a record says of each seat. Raises RecordError."""
    game = decode(record)
    found = []
    for seat, total in enumerate(game.totals, start=1):
        own = [ply for ply in game.plies if ply.seat == seat and not ply.zombie]
        times = [ply.time_ms for ply in own]
        bank = game.clock_ms + game.increment_ms * len(own)
        first = own[0].move if own else None
        won = total == max(game.totals) and game.totals.count(total) == 1
        found.append(SeatMoves(first, len(own), sum(times), max(times, default=0), bank, won))
    return tuple(found)


def moves_document(games: Iterable[SeatMoves]) -> dict[str, Any]:
    """Time and first moves over some games of a bot, in the types of JSON."""
    games = list(games)
    moves = sum(game.moves for game in games)
    bank = sum(game.bank_ms for game in games)
    used = sum(game.used_ms for game in games)
    first, won = Counter[str](), Counter[str]()
    for game in games:
        if game.first is not None:
            first[game.first] += 1
            won[game.first] += game.won
    return {
        "records": len(games),
        "time": {
            "moves": moves,
            "mean_ms": round(used / moves, 1) if moves else None,
            "most_ms": max((game.most_ms for game in games), default=None),
            "share": round(used / bank, 4) if bank else None,
        },
        "first_moves": [
            [move, count, won[move]]
            for move, count in sorted(first.items(), key=lambda each: (-each[1], each[0]))[:MOVES]
        ],
    }


class BotDocuments:
    """The documents `contests/N/bots/K.json`."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "bots")
        self._moves: OrderedDict[tuple[ShownResults, int, str], tuple[SeatMoves, ...]] = OrderedDict()

    async def get(self, shown: ShownResults, number: int, place: int) -> dict[str, Any]:
        """The document of the bot at `place`. Raises NotFoundError and StoreError."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.find, shown, number, place)

    def find(self, shown: ShownResults, number: int, place: int) -> dict[str, Any]:
        """The same on this thread."""
        about, games = shown.appearances(number, place, RECORDS)
        programs = Counter(game.agent for game in games if game.agent is not None)
        # What may be shown once may be shown for ever.
        new = [game.game_id for game in games if (shown, number, game.game_id) not in self._moves]
        for game_id, record in shown.records(number, new):
            with suppress(RecordError):  # a damaged one is said on the page of its game
                self._moves[shown, number, game_id] = seat_moves(record)
        known = ((game.seat, self._moves.get((shown, number, game.game_id))) for game in games)
        found = [moves[seat - 1] for seat, moves in known if moves is not None]
        while len(self._moves) > KEPT_RECORDS:
            self._moves.popitem(last=False)
        return about | {"versions": list(programs.items()), **moves_document(found)}


@dataclass(frozen=True, slots=True)
class _Point:
    """The ratings after `place` games, void ones included: rating and half of its interval, by player."""

    place: int
    at: int
    bots: dict[str, tuple[float, float]]
    versions: dict[str, tuple[float, float]]


@dataclass(slots=True)
class _History:
    stride: int = 1
    endings: Endings = field(default_factory=Endings)
    points: list[_Point] = field(default_factory=list)
    #: How often results had been changed.
    changes: int = 0

    def thin(self, last: int, changes: int) -> None:
        """Make room for the points up to the place `last`."""
        # An older database stands there now, or results were changed.
        if self.endings.place > last or self.changes != changes:
            self.stride, self.endings, self.points = 1, Endings(), []
        self.changes = changes
        while last // self.stride > POINTS:
            self.stride *= 2
        self.points = [point for point in self.points if point.place % self.stride == 0]

    def missing(self, last: int) -> list[int]:
        known = self.endings.place // self.stride * self.stride
        return list(range(known + self.stride, last + 1, self.stride))


class RatingHistories:
    """The documents `contests/N/history-K.json`."""

    def __init__(self) -> None:
        self._kept: dict[tuple[ShownResults, int], _History] = {}
        self._filling = Filling("history", self.fill)

    async def get(self, shown: ShownResults, number: int, name: str) -> dict[str, Any]:
        """The points of a bot that are known after WAIT_S at most. Raises NotFoundError and StoreError."""
        whole = await self._filling.wait(shown, number)
        return self.document(shown, number, name, whole=whole)

    def fill(self, shown: ShownResults, number: int, pause: float = 0.0) -> None:
        """Fit the points that are missing; on any thread, one at a time. Raises as `get` does.

        After each point the thread sleeps for `pause` times what it took.
        """
        if importlib.util.find_spec("numpy") is None:
            raise NotFoundError("this server has no numpy, which ratings need: it lacks the extra [ratings]")
        history = self._kept.setdefault((shown, number), _History())
        last, changes = shown.shown_place(number)
        history.thin(last, changes)
        began = time.perf_counter()
        for place, at, bots, versions in shown.rated_steps(number, history.endings, history.missing(last)):
            rated = fit_counted(bots)
            apart = None if versions is None else fit_counted(versions)
            history.points = [*history.points, _Point(place, at, _rows(rated), _rows(apart))]
            if pause:
                time.sleep(pause * (time.perf_counter() - began))
            began = time.perf_counter()

    def document(self, shown: ShownResults, number: int, name: str, *, whole: bool = True) -> dict[str, Any]:
        """The points of the bot `name`, and of each of its versions: games, time, rating, half interval."""
        points = self._kept.get((shown, number), _History()).points
        players = sorted({player for point in points for player in point.versions if _is_of(player, name)})
        return {
            "whole": whole,
            "points": [[point.place, point.at, *point.bots[name]] for point in points if name in point.bots],
            "versions": [
                [player.partition(" ")[2] or None, _points_of(player, points)] for player in players
            ],
        }


def _is_of(player: str, name: str) -> bool:
    """Whether a player of `version_of` is a version of this bot."""
    return player == version_of(name, player.partition(" ")[2] or None)


def _points_of(player: str, points: Iterable[_Point]) -> list[list[float]]:
    return [[point.place, point.at, *point.versions[player]] for point in points if player in point.versions]


def _rows(ratings: Ratings | None) -> dict[str, tuple[float, float]]:
    rows = () if ratings is None else ratings.rows
    return {row.name: (round(row.rating, 1), round(row.margin, 1)) for row in rows}
