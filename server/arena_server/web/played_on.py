"""From which ply of a record a visitor plays on: the deal, the moves so far and who sat where.

The record is one that the site shows. The game is dealt again by its seed; the moves so far are sent by the
seat of the person (`person.MoveScript`) and by the engines (`arena bot --opening`), and the rest is a game of
its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena_protocol.games import printed_game
from arena_protocol.games.base import GameError
from arena_protocol.record import GameRecord, RecordError
from arena_protocol.record_codec import decode
from arena_server.errors import ArenaError
from arena_server.web.person import SeatError
from arena_server.web.ports import MoveScript
from arena_server.web.security import small_number

#: The record of a game that may be shown, by its contest and its id. Raises ArenaError for any other.
ReadRecord = Callable[[str, str], Awaitable[bytes]]
#: The engines of the contests that this server plays, by contest and bot: how `arena bot` is given them.
Engines = Mapping[tuple[str, str], str]
#: The moves so far are one word of a command line.
MOST_PLIES: Final = 2000
#: As the opponent: the engine that sat in the other seats.
SAME: Final = "same"


@dataclass(frozen=True, slots=True)
class PlayedOn:
    """A game up to one of its plies."""

    contest: str
    game_id: str
    game: str
    options: Mapping[str, object]
    names: tuple[str, ...]
    seed: int
    moves: tuple[str, ...]

    @property
    def note(self) -> str:
        """What the record of the new game says of this one."""
        return f"played on from ply {len(self.moves)} of {self.game_id} of {self.contest}"

    @property
    def script(self) -> MoveScript:
        return MoveScript(self.moves, self.note)

    def engine_at(self, seat: int, engines: Engines, known: Sequence[str]) -> str | None:
        """The engine that sat there, if it is one of the `known` names; None for any other bot."""
        spec = engines.get((self.contest, self.names[seat - 1]), "")
        # What an engine keeps in a file for the contest is not for the games of visitors.
        return spec if spec.partition(":")[0] in known and "memory=" not in spec else None


def source_of(body: Mapping[str, Any]) -> tuple[str, str, int] | None:
    """Contest, game and ply from which a request wants to play on; None if it wants another game.

    Raises SeatError for values of another type.
    """
    given = body.get("from")
    if given is None:
        return None
    kinds = {"contest": str, "game": str, "ply": int}
    if not isinstance(given, dict) or any(type(given.get(key)) is not kind for key, kind in kinds.items()):
        raise SeatError(f"expected from as contest, game and ply, got {given!r:.60}")
    return given["contest"], given["game"], given["ply"]


def ply_of(text: str) -> int:
    """The ply that an address names. Raises SeatError."""
    ply = small_number(text)
    if ply is None:
        raise SeatError(f"expected a ply as a number, got {text!r:.40}")
    return ply


async def read_source(read: ReadRecord | None, contest: str, game: str, ply: int) -> PlayedOn:
    """The game up to `ply`. Raises SeatError for one that is not shown, and for a ply that it has not."""
    if read is None:
        raise SeatError("this server has no records to play on from")
    try:
        record = decode(await read(contest, game))
    except (ArenaError, RecordError) as error:
        raise SeatError(str(error)) from None
    return up_to(record, ply)


def up_to(record: GameRecord, ply: int) -> PlayedOn:
    """The game of a record up to `ply`. Raises SeatError."""
    last = min(len(record.plies) - 1, MOST_PLIES)
    if not 0 <= ply <= last:
        raise SeatError(f"expected a ply from 0 to {last}, after which a move is to come, got {ply}")
    try:
        printed_game(record.game, record.options, len(record.names))
    except GameError as error:
        raise SeatError(str(error)) from None
    return PlayedOn(
        record.contest,
        record.game_id,
        record.game,
        {**record.options, "seats": len(record.names)},
        record.names,
        record.seed,
        tuple(each.move for each in record.plies[:ply]),
    )
