"""A scripted referee that writes true records, and helpers that forge them.

It shares no code with the server's referee or with `verify`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from arena_protocol.games import make_game
from arena_protocol.record import FaultKind, FaultRecord, GameRecord, PlyRecord, commitment

MS = 1_000_000
NONCE = "00112233445566778899aabbccddeeff"
BY_FLAG = ("timeout", "disconnect")
Faults = dict[int, tuple[int, str]]  # ply -> (seat, kind)


def a_record(
    game: str = "insertion",
    options: Mapping[str, object] | None = None,
    *,
    seed: int = 2006,
    faults: Faults | None = None,
    stop: int = 10_000,
    increment: int = 5,
    margin: int = 20,
) -> GameRecord:
    """Play random moves; a seat is a zombie from its fault on; `stop` plies make a void game."""
    plugin = make_game(game, {"plies": 12, "colours": 3, "lookahead": 3} if options is None else options)
    deal = plugin.deal(seed)
    chance = Random(seed)
    position, clocks, now = plugin.start(deal), [1000] * plugin.seats, 0
    plies: list[PlyRecord] = []
    noted = [
        FaultRecord(seat, ply, kind, b"\xff " + kind.encode()) for ply, (seat, kind) in (faults or {}).items()
    ]
    while plugin.end(position) is None and len(plies) < stop:
        ply, seat = len(plies) + 1, plugin.to_move(position)
        mine = [fault for fault in noted if fault.seat == seat and fault.ply <= ply]
        flag = any(fault.ply == ply and fault.kind in BY_FLAG for fault in mine)
        spent = clocks[seat - 1] + margin + 1 if flag else 0 if mine else chance.randint(0, 30)
        move = chance.choice(plugin.legal_moves(position)) if not mine else plugin.zombie_move
        assert move is not None
        step = plugin.play(position, move)
        position = step.position
        clocks[seat - 1] = 0 if flag else clocks[seat - 1] if mine else clocks[seat - 1] - spent + increment
        arrived = now + spent * MS + chance.randint(0, MS - 1)
        plies.append(
            PlyRecord(
                seat,
                move,
                spent,
                now,
                arrived,
                tuple(clocks),
                step.points,
                plugin.totals(position),
                bool(mine),
            )
        )
        now = arrived + chance.randint(1, 5 * MS)
    return GameRecord(
        software="insertion-arena/0.1.0",
        contest="test",
        game_id="g7",
        game=game,
        options=plugin.options(),
        names=("ann", "bob", "cid", "dan")[: plugin.seats],
        seed=seed,
        nonce=NONCE,
        commit=commitment(NONCE, deal.board, deal.sequence),
        board=deal.board,
        sequence=deal.sequence,
        clock_ms=1000,
        increment_ms=increment,
        margin_ms=margin,
        plies=tuple(plies),
        faults=tuple(noted),
        final=plugin.state_text(position),
        totals=plugin.totals(position),
        end=plugin.end(position) or str(FaultKind.VOID),
    )


def with_ply(record: GameRecord, number: int, **changes: Any) -> GameRecord:
    """The record with ply `number` (1, 2, ...) forged."""
    plies = list(record.plies)
    plies[number - 1] = plies[number - 1]._replace(**changes)
    return replace(record, plies=tuple(plies))


RECORD = a_record()
#: Seat 2 errs on the turn of seat 1: it is a zombie from ply 6 on.
ZOMBIE = a_record(faults={5: (2, "malformed")})
#: The flag of seat 1 falls on ply 5.
FLAGGED = a_record(faults={5: (1, "timeout")})
#: A game without a zombie move: seat 2 forfeits on ply 4.
FORFEIT = replace(
    a_record("disc", {"m": 30}, faults={4: (2, "illegal")}, stop=3), end="forfeit", totals=(2, 0)
)
