"""Engines of the readable searches for insertion: `maxn` and `expectiminimax`.

They are slow and shallow; what they show is the search. champion and master play better.
"""

from __future__ import annotations

from typing import ClassVar

from arena_engines.engine import Engine, Parameter, Position, Report
from arena_engines.search.adapters import AllSeats, WithChance
from arena_engines.search.expectiminimax import expectiminimax
from arena_engines.search.maxn import maxn
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.game import Position as State


class MaxN(Engine):
    """Max^n for two to four seats: each seat is expected to maximise its own points.

    It searches `depth` plies, but no further than the visible pictures.
    """

    game: ClassVar[str] = "insertion"
    name: ClassVar[str] = "maxn"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("depth", 2, 1, 5),)

    def choose(self, position: Position[Insertion, State]) -> int:
        """The best move, the first of equals in natural order."""
        depth = min(int(self.values["depth"] or 1), len(position.state.visible))
        found = maxn(AllSeats(position.rules, distinct=True), position.state, depth)
        own = found.values[position.seat - 1]
        lead = own - max((*found.values[: position.seat - 1], *found.values[position.seat :]))
        self.report = Report(depth, lead, found.nodes, found.line)
        return int(found.line[0])


class Expectiminimax(Engine):
    """Expectiminimax: beyond the visible pictures every colour is expected with the same probability.

    Its own lead counts: points less those of all other seats. It searches `depth` plies.
    """

    game: ClassVar[str] = "insertion"
    name: ClassVar[str] = "expectiminimax"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("depth", 2, 1, 4),)

    def choose(self, position: Position[Insertion, State]) -> int:
        """The best move, the first of equals in natural order."""
        tree = WithChance(position.rules, position.seat, distinct=True)
        found = expectiminimax(tree, position.state, int(self.values["depth"] or 1))
        assert found.move is not None, "the picture to insert is visible"
        self.report = Report(int(self.values["depth"] or 1), round(found.value), found.nodes, (found.move,))
        return int(found.move)
