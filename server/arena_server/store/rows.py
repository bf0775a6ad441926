"""What is written of a contest, a game and a fault, column by column. It must not know: connections, when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from arena_protocol.record import FaultRecord, GameRecord
from arena_server.core.plan import ContestPlan
from arena_server.store import tables
from arena_server.store.sameness import plain_plan
from arena_server.store.writer import Opening


def now() -> datetime:
    """The time as the tables have it: UTC without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def contest_row(opening: Opening, plan: ContestPlan) -> tables.Contest:
    """A contest that begins."""
    return tables.Contest(
        name=plan.name,
        game=plan.game,
        options=dict(opening.options),
        format=plan.format,
        games_per_pair=plan.games_per_pair,
        games=opening.games,
        scoring=plan.scoring,
        seed=str(plan.seed),
        clock_ms=plan.clock_ms,
        increment_ms=plan.increment_ms,
        margin_ms=plan.margin_ms,
        software=plan.software,
        plan=plain_plan(plan, opening.names),
        started_at=now(),
    )


def game_row(
    contest: int, game_id: str, record: GameRecord, data: bytes, link: tuple[int, bytes]
) -> dict[str, Any]:
    """A game that is over: its record, the same as bytes, and its place and value in the hash chain."""
    return {
        "contest_id": contest,
        "game_id": game_id,
        "names": list(record.names),
        "totals": list(record.totals),
        "end": record.end,
        "plies": len(record.plies),
        "stored_at": now(),
        "record": data,
        "place": link[0],
        "chain": link[1],
    }


def fault_row(game: int, names: Sequence[str], bots: Mapping[str, int], fault: FaultRecord) -> dict[str, Any]:
    """A fault in the game of row `game`; `names` are those of its seats, `bots` the rows of all bots."""
    bot = bots[names[fault.seat - 1]] if fault.seat else None
    fields = {"seat": fault.seat, "ply": fault.ply, "kind": str(fault.kind), "line": fault.line}
    return {"game_pk": game, "bot_id": bot, **fields}
