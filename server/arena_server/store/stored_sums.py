"""The sums over the first games of a contest, as one row of the database holds them.

    sums of the games up to place N            this row
    sums of the games beyond N                 a GROUP BY (`sums.py`)

No game that is stored changes, so that the sums of the first N games stay right whatever happens to the
contest: a void game and its repeat are rows of their own. Only a stored result that is taken back becomes
void, and the row is deleted with that. The server adds to the row now and then, in one
transaction (`ContestStore.maintain`). Both payloads name the head of the chain at N: one that is not that of
these games, or is damaged, is passed over, and all games are counted. `arena verify` counts them anyway.

A payload is a series of msgpack arrays and its SHA-256 digest. A series, because packing or unpacking one
array of a megabyte would keep the event loop waiting for the interpreter's lock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import eq
from typing import Any, Final, TypeVar

import msgpack
from sqlalchemy import select
from sqlalchemy.orm import Session

from arena_server.stats.tiebreaks import Meetings, PlayerSums
from arena_server.store.chain import GENESIS, add_checksum, verify_checksum
from arena_server.store.schema import GameRow, SumsRow

#: Games of a kind: who sat where, with which versions (empty: no bot has said one), and a sign for each two
#: seats, as `sums.py` has them.
Kind = tuple[tuple[str, ...], tuple[str | None, ...], str]
#: The players of a deal, in order, and its number.
Deal = tuple[tuple[str, ...], int]
#: The games that are added to the row at once, at least and at most.
LEAST_GAMES: Final = 10_000
MOST_GAMES: Final = 50_000
#: The row is written again, whole, once there are games for a share of its kinds: at most this many a game.
KINDS_A_GAME: Final = 4
#: Rows of a msgpack array.
ROWS: Final = 500

T = TypeVar("T")


@dataclass(slots=True)
class StoredTable:
    """What a table knows of the first `games` games with a result, up to `place` and the head `chain`."""

    place: int = 0
    chain: bytes = GENESIS
    games: int = 0
    players: dict[str, PlayerSums] = field(default_factory=dict)
    #: Whether the drawn games are counted: an earlier version did not.
    has_draws: bool = True

    def pack(self, contest: int) -> bytes:
        numbers = {name: number for number, name in enumerate(self.players)}
        sums = [(each.points, each.games, each.wins, each.used_ms) for each in self.players.values()]
        against = [
            (numbers[name], numbers[other], pair.games, pair.halves)
            for name, each in self.players.items()
            for other, pair in each.against.items()
        ]
        faults = [
            (numbers[name], kind, count)
            for name, each in self.players.items()
            for kind, count in each.faults.items()
        ]
        head = contest, self.place, self.chain, self.games
        draws = [each.draws for each in self.players.values()]
        return _pack(head, names=list(self.players), sums=sums, against=against, faults=faults, draws=draws)

    @classmethod
    def unpack(cls, contest: int, bots: frozenset[str], data: bytes) -> StoredTable:
        (place, chain, games), parts = _unpack(contest, data)
        names = parts["names"]
        _check_names(bots, names)
        players = {name: PlayerSums(*sums) for name, sums in zip(names, parts["sums"], strict=True)}
        for number, other, met, halves in parts["against"]:
            player = players[names[number]]
            player.against[names[other]] = Meetings(met, halves)
            player.halves += halves
        for number, kind, count in parts["faults"]:
            players[names[number]].faults[kind] = count
        if "draws" not in parts:
            # Of an earlier version: with two seats they follow, with more they are not known.
            drawn = [each.halves - 2 * each.wins for each in players.values()]
            met = (sum(pair.games for pair in each.against.values()) for each in players.values())
            known = all(map(eq, met, (each.games for each in players.values())))
        else:
            drawn, known = parts["draws"], True
        for player, draws in zip(players.values(), drawn, strict=True):
            player.draws = draws if known else 0
        return cls(place, chain, games, players, has_draws=known)


@dataclass(slots=True)
class StoredEndings:
    """How the games up to `place`, the head `chain`, have ended.

    `complete` counts the pairings all of whose games have a result, each as the kinds of its games in
    ascending order; `begun` has the kinds of the others. Without paired deals every game is a pairing.
    """

    place: int = 0
    chain: bytes = GENESIS
    complete: Counter[tuple[Kind, ...]] = field(default_factory=Counter)
    begun: dict[Deal, list[Kind]] = field(default_factory=dict)

    def add(self, kind: Kind, deal: Deal | None) -> None:
        """Add a game, on a deal that is played from every seat or on one of its own."""
        if deal is None:
            self.complete[(kind,)] += 1
            return
        kinds = self.begun.setdefault(deal, [])
        kinds.append(kind)
        if len(kinds) == len(kind[0]):
            self.complete[tuple(sorted(self.begun.pop(deal), key=repr))] += 1

    def pack(self, contest: int) -> bytes:
        kinds = _numbered(kind for kinds in (*self.complete, *self.begun.values()) for kind in kinds)
        names, agents = _numbered(kind[0] for kind in kinds), _numbered(kind[1] for kind in kinds)
        return _pack(
            (contest, self.place, self.chain),
            names=list(names),
            agents=list(agents),
            kinds=[(names[seated], agents[programs], ending) for seated, programs, ending in kinds],
            complete=[(count, *map(kinds.__getitem__, each)) for each, count in self.complete.items()],
            begun=[(*deal, *map(kinds.__getitem__, each)) for deal, each in self.begun.items()],
        )

    @classmethod
    def unpack(cls, contest: int, bots: frozenset[str], data: bytes) -> StoredEndings:
        columns = EndingColumns.unpack(contest, bots, data)
        endings, kinds = columns.begun_alone(), columns.kinds()
        played = map(kinds.__getitem__, columns.played)
        for count, size in zip(columns.counts, columns.sizes, strict=True):
            endings.complete[tuple(islice(played, size))] = count
        return endings


@dataclass(slots=True)
class EndingColumns:
    """`StoredEndings` as the payload has them, to be made into arrays.

    Kind k has the names `names[seated[k]]`, the versions `agents[programs[k]]` and the ending `endings[k]`.
    There are `counts[n]` complete pairings of sort n, which has the next `sizes[n]` of the kinds `played`. A
    row of `begun` is players, deal and kinds.
    """

    place: int = 0
    chain: bytes = GENESIS
    names: Sequence[tuple[str, ...]] = ()
    agents: Sequence[tuple[str | None, ...]] = ()
    seated: Sequence[int] = ()
    programs: Sequence[int] = ()
    endings: Sequence[str] = ()
    counts: Sequence[int] = ()
    sizes: Sequence[int] = ()
    played: Sequence[int] = ()
    begun: Sequence[tuple[Any, ...]] = ()

    @classmethod
    def unpack(cls, contest: int, bots: frozenset[str], data: bytes) -> EndingColumns:
        (place, chain), parts = _unpack(contest, data)
        names, agents, complete, begun = (parts[name] for name in ("names", "agents", "complete", "begun"))
        _check_names(bots, *names, *(players for players, *_ in begun))
        # Not by zip(*kinds): the garbage collector would look at its 140,000 iterators again and again.
        seated, programs, endings = ([kind[column] for kind in parts["kinds"]] for column in range(3))
        counts, sizes = [row[0] for row in complete], [len(row) - 1 for row in complete]
        played = [kind for _, *kinds in complete for kind in kinds]
        running = [kind for _, _, *kinds in begun for kind in kinds]
        for numbers, values in ((seated, names), (programs, agents), (played, endings), (running, endings)):
            if numbers and not 0 <= min(numbers) <= max(numbers) < len(values):
                raise LookupError(f"expected numbers up to {len(values) - 1}, got {max(numbers)}")
        return cls(place, chain, names, agents, seated, programs, endings, counts, sizes, played, begun)

    def kinds(self) -> list[Kind]:
        columns = zip(self.seated, self.programs, self.endings, strict=True)
        return [(self.names[seated], self.agents[programs], ending) for seated, programs, ending in columns]

    def begun_alone(self) -> StoredEndings:
        """The same without the pairings that are complete."""
        kinds = self.kinds() if self.begun else []
        begun = {(players, deal): [kinds[kind] for kind in each] for players, deal, *each in self.begun}
        return StoredEndings(self.place, self.chain, Counter(), begun)


Stored = TypeVar("Stored", StoredTable, StoredEndings, EndingColumns)


def load(session: Session, contest: int, bots: frozenset[str], which: type[Stored]) -> Stored:
    """The stored sums of a contest of these bots; without any that are right those of no games."""
    column = SumsRow.players if which is StoredTable else SumsRow.endings
    payload = session.scalar(select(column).where(SumsRow.contest_id == contest))
    if payload is None:
        return which()
    try:
        found = which.unpack(contest, bots, payload)
    except (ValueError, TypeError, LookupError, msgpack.UnpackException):
        return which()
    here = select(GameRow.chain).where(GameRow.contest_id == contest, GameRow.place == found.place)
    return found if session.scalar(here) == found.chain else which()


def due(endings: StoredEndings) -> int:
    """The number of games at which it is worth while to write the row again."""
    kinds = len(endings.complete) + len(endings.begun)
    return endings.place + max(LEAST_GAMES, kinds // KINDS_A_GAME)


def _check_names(bots: frozenset[str], *names: Sequence[str]) -> None:
    if not all(map(bots.issuperset, names)):
        raise ValueError(f"expected names of {len(bots)} bots, got others")


def _numbered(values: Iterable[T]) -> dict[T, int]:
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def _pack(head: tuple[Any, ...], **parts: list[Any]) -> bytes:
    packer = msgpack.Packer()
    arrays = [
        packer.pack((name, rows[at : at + ROWS]))
        for name, rows in parts.items()
        for at in range(0, len(rows), ROWS)
    ]
    return add_checksum(b"".join([packer.pack((*head, list(parts))), *arrays]))


def _unpack(contest: int, data: bytes) -> tuple[list[Any], Mapping[str, list[Any]]]:
    """The head but for the contest, and the parts.

    Raises ValueError, TypeError, LookupError or UnpackException for what no server has written.
    """
    payload = verify_checksum(data)
    unpacker = msgpack.Unpacker(use_list=False, max_buffer_size=len(payload))
    unpacker.feed(payload)
    number, *head, names = unpacker.unpack()
    if number != contest:
        raise ValueError(f"the sums of contest {contest} are those of contest {number}")
    parts: dict[str, list[Any]] = {name: [] for name in names}
    for name, rows in unpacker:
        parts[name] += rows
    return head, parts
