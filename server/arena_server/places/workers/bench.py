"""How fast a worker is before its first game: plies a second of a fixed run of the rules of the contest.

Processor time counts, and the best of a few parts: what else a machine does at this moment is no property of
it. Cores that are busy for long, or are limited, make games longer, which `comparison.py` finds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median
from typing import Final

from arena_protocol.games import make_game
from arena_server.terms.terms import GameTerms

PARTS: Final = 3
PART_NS: Final = 30_000_000
#: A worker that makes less of what the others make in the median is slow. In 90 pairs of benches at once on
#: the two cores of a machine with ten busy processes the lesser one had 0.96 of the other at least.
SLOW: Final = 0.75


@dataclass(frozen=True, slots=True)
class WorkerBench:
    """The plies a second of a worker, and of the `others` in the median (0: there are none)."""

    worker: str
    bench: int
    others: int

    @property
    def slow(self) -> bool:
        return self.bench < SLOW * self.others


class MachineBench:
    """Measures this process, once for each game and its options."""

    def __init__(self) -> None:
        self._measured: dict[tuple[object, ...], int] = {}

    def plies_per_second(self, terms: GameTerms) -> int:
        """The first call for a game takes `PARTS` parts, of processor time."""
        key = terms.game, *sorted(terms.options.items())
        if key not in self._measured:
            self._measured[key] = round(max(_part(terms) for _ in range(PARTS)))
        return self._measured[key]


def _part(terms: GameTerms) -> float:
    """Play the first games of these rules, the same ones each time."""
    game = make_game(terms.game, terms.options)
    began, plies = time.thread_time_ns(), 0
    for seed in count():
        position = game.start(game.deal(seed))
        while game.end(position) is None:
            moves = game.legal_moves(position)
            position = game.play(position, moves[plies % len(moves)]).position
            plies += 1
        if (now := time.thread_time_ns()) >= began + PART_NS:
            break
    return plies * 1e9 / (now - began)


def compared(measured: Mapping[str, int]) -> list[WorkerBench]:
    """Each worker beside the others, by name."""
    return [
        WorkerBench(worker, bench, _others([each for other, each in measured.items() if other != worker]))
        for worker, bench in sorted(measured.items())
    ]


def _others(measured: Sequence[int]) -> int:
    return round(median(measured)) if measured else 0
