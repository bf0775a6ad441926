"""Any small game for two solved to its end: who wins from a position, and in how many plies.

Works on the plug-in alone, visits every reachable position once, and remembers it. Meant for
games of some hundred thousand positions at most. It must not know: any particular game.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from arena_protocol.games.base import Game


class Outcome(NamedTuple):
    """What best play comes to for the side to move: 1 win, 0 draw, -1 loss; `plies` to the end.

    The winner takes the shortest way, the loser the longest one.
    """

    result: int
    plies: int

    @property
    def rank(self) -> tuple[int, int]:
        """The order in which the side to move likes outcomes."""
        return self.result, -self.result * self.plies

    @property
    def before(self) -> Outcome:
        """The same outcome for the other side, one ply earlier."""
        return Outcome(-self.result, self.plies + 1)


class Solver:
    """The outcomes of one game for two seats that move in turn."""

    def __init__(self, rules: Game[Any]) -> None:
        self.rules = rules
        self._known: dict[Any, Outcome] = {}

    def __len__(self) -> int:
        """How many positions are solved."""
        return len(self._known)

    def outcome(self, position: Any) -> Outcome:
        """The outcome of a position. It walks with a stack of its own: games may be a thousand plies long."""
        waiting = [position]
        while waiting:
            top = waiting[-1]
            unknown = [] if top in self._known else self._unknown_children(top)
            if unknown:
                waiting.extend(unknown)
                continue
            waiting.pop()
            if top not in self._known:
                self._known[top] = self._judge(top)
        return self._known[position]

    def best_move(self, position: Any) -> str:
        """The best move, the first in natural order of equals. The game must not be over."""
        self.outcome(position)
        moves = self.rules.legal_moves(position)
        return max(moves, key=lambda move: self.after(position, move).before.rank)

    def after(self, position: Any, move: str) -> Outcome:
        """The outcome of the position after `move`, for the side to move there."""
        return self.outcome(self.rules.play(position, move).position)

    def _children(self, position: Any) -> list[Any]:
        return [self.rules.play(position, move).position for move in self.rules.legal_moves(position)]

    def _unknown_children(self, position: Any) -> list[Any]:
        return [child for child in self._children(position) if child not in self._known]

    def _judge(self, position: Any) -> Outcome:
        children = self._children(position)
        if not children:
            return Outcome(self._result_of_end(position), 0)
        return max((self._known[child].before for child in children), key=lambda outcome: outcome.rank)

    def _result_of_end(self, position: Any) -> int:
        totals = self.rules.totals(position)
        seat = self.rules.to_move(position)
        mine, theirs = totals[seat - 1], totals[2 - seat]
        return (mine > theirs) - (mine < theirs)
