"""Measure a search of insertion: nodes a second, nodes by depth, and the signature of its node counts.

Everything but the times is the same on every machine and in every run. It must not know: the
command line, results of games.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

from arena_engines.compiled import compiled
from arena_engines.engine import Engine, EngineError
from arena_engines.insertion.bench_positions import POSITIONS
from arena_engines.insertion.fixed_depth import task_of
from arena_engines.insertion.perft import perft
from arena_engines.registry import create_engine

#: The signature is the engine's nodes on the whole set at this depth.
SIGNATURE_DEPTH = 5
#: Bare moves are made this deep: some millions of them on the set.
BARE_DEPTH = 4
#: The best of so many runs counts: others use the machine too.
RUNS = 3


class Cost(NamedTuple):
    """Moves made on the whole set, and the seconds of the fastest run."""

    nodes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Nodes a second."""
        return self.nodes / max(self.seconds, 1e-9)


def search_bench(
    engine: str = "champion", depth: int = 6, rival: str = "minimax", rival_depth: int = 5
) -> dict[str, Any]:
    """Return what an engine's search costs on the bench set at depths 1..`depth`, beside a rival's.

    The answer: `engine`, `rival`, `positions`, `depths` (each `depth`, `nodes`, `seconds`,
    `rival_nodes`, `rival_seconds`, `ratio`; None beyond `rival_depth`), `nodes_per_second` of
    `engine`, `rival` and `bare` (making moves and nothing else), `of_bare` (the engine's share of that
    speed), and `signature`. Raises EngineError for a wrong engine or depth.
    """
    players = create_engine(engine), create_engine(rival)
    for player, deepest in zip(players, (depth, rival_depth), strict=True):
        if not 1 <= deepest <= player.max_depth:
            raise EngineError(f"depth={deepest}: expected 1..{player.max_depth}")
        player.warm_up()
    rows = [_row(*players, each, rival_depth) for each in range(1, depth + 1)]
    rates = _rates(rows)
    bare = _bare()
    return {
        "engine": players[0].name,
        "rival": players[1].name,
        "positions": len(POSITIONS),
        "depths": rows,
        "nodes_per_second": {**rates, "bare": round(bare.rate)},
        "of_bare": round(rates["engine"] / bare.rate, 3),
        "signature": _cost(players[0], SIGNATURE_DEPTH, runs=1).nodes,
    }


def _row(player: Engine, rival: Engine, depth: int, rival_depth: int) -> dict[str, Any]:
    cost = _cost(player, depth)
    other = _cost(rival, depth) if depth <= rival_depth else None
    return {
        "depth": depth,
        "nodes": cost.nodes,
        "seconds": round(cost.seconds, 6),
        "rival_nodes": other.nodes if other else None,
        "rival_seconds": round(other.seconds, 6) if other else None,
        "ratio": round(other.nodes / max(cost.nodes, 1), 2) if other else None,
    }


def _rates(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Nodes a second at the greatest depth of each: there a search is nothing but search."""
    last = rows[-1]
    rival = [row for row in rows if row["rival_nodes"] is not None][-1]
    return {
        "engine": round(Cost(last["nodes"], last["seconds"]).rate),
        "rival": round(Cost(rival["rival_nodes"], rival["rival_seconds"]).rate),
    }


def _cost(player: Engine, depth: int, runs: int = RUNS) -> Cost:
    def once() -> Cost:
        answers = [player.analyse(board, visible, depth) for board, visible in POSITIONS]
        return Cost(sum(each.nodes for each in answers), sum(each.seconds for each in answers))

    return _fastest(once, runs)


def _bare() -> Cost:
    kernel = compiled(perft)
    tasks = [task_of(board, visible, BARE_DEPTH, seats=2) for board, visible in POSITIONS]

    def once() -> Cost:
        began = perf_counter()
        nodes = sum(kernel(*task.planes, task.pictures, task.depth)[0] for task in tasks)
        return Cost(nodes, perf_counter() - began)

    return _fastest(once, RUNS)


def _fastest(once: Callable[[], Cost], runs: int) -> Cost:
    return min((once() for _ in range(runs)), key=lambda cost: cost.seconds)


def text_table(bench: dict[str, Any]) -> str:
    """Return the measurement as a table for a person; its last line is the signature."""
    lines = [
        f"{bench['positions']} positions from played games; {bench['engine']} against {bench['rival']}",
        f"{'depth':>5}  {'nodes':>12}  {'seconds':>9}  {'rival nodes':>13}  {'seconds':>9}  {'ratio':>7}",
    ]
    for row in bench["depths"]:
        line = f"{row['depth']:>5}  {row['nodes']:>12,}  {row['seconds']:>9.4f}"
        if row["rival_nodes"] is not None:
            line += f"  {row['rival_nodes']:>13,}  {row['rival_seconds']:>9.4f}  {row['ratio']:>7.2f}"
        lines.append(line)
    speed = {name: f"{rate / 1e6:.1f}" for name, rate in bench["nodes_per_second"].items()}
    lines.append(
        f"million nodes a second: {bench['engine']} {speed['engine']}, {bench['rival']} {speed['rival']}, "
        f"bare moves {speed['bare']}"
    )
    lines.append(f"Nodes: {bench['signature']}")
    return "\n".join(lines)
