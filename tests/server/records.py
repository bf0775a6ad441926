"""Small game records for tests of storage: true in form, not in content."""

from __future__ import annotations

from collections.abc import Sequence

from arena_protocol.record import FaultRecord, GameRecord, PlyRecord
from arena_server.core.plan import ContestPlan
from arena_server.store.writer import Opening


def opening(name: str = "trial", scoring: str = "points", names: Sequence[str] = ("a", "b", "c")) -> Opening:
    """A contest about to begin."""
    return Opening(ContestPlan(name=name, seed=2**127 + 1, scoring=scoring), {"plies": "1"}, names, games=6)


def game(
    number: int,
    names: tuple[str, ...] = ("a", "b"),
    totals: tuple[int, ...] = (30, 10),
    faults: tuple[FaultRecord, ...] = (),
    end: str = "complete",
) -> GameRecord:
    """A game of one ply."""
    return GameRecord(
        software="insertion-arena/0.1",
        contest="trial",
        game_id=f"g{number}",
        game="insertion",
        options={"plies": "1"},
        names=names,
        seed=7,
        nonce="00" * 16,
        commit="11" * 32,
        board="./././././",
        sequence="1",
        clock_ms=1000,
        increment_ms=0,
        margin_ms=0,
        plies=(PlyRecord(1, "6", 3, 0, 3_000_000, (997, 1000), totals[0], totals, False),),
        faults=faults,
        totals=totals,
        end=end,
        final="././././6",
    )
