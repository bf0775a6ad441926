"""Games of master and what a seat sees of one, for the tests of its parts."""

from __future__ import annotations

import random
from typing import Any

from arena_cli.engine_games import play_game
from arena_engines.engine import Engine
from arena_engines.insertion.baselines import Greedy
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.insertion.master.engine import Master
from arena_engines.insertion.master.opponent import (
    MODELS,
    OpponentModel,
)
from arena_engines.insertion.master.planner import SearchRequest
from arena_engines.insertion.master.tracker import GameTracker
from arena_engines.insertion.master.workspace import Weights, Workspace
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.board import Planes
from arena_protocol.games.insertion.rules import distinct_moves, play
from arena_server.stats.scores import PlayedGame

Planning = tuple[SearchRequest, Workspace]


def master(**values: int | str) -> Master:
    return Master({"millis": 2, **values})


def played(one: Engine, other: Engine, seed: int = 7, **options: Any) -> PlayedGame:
    rules = Insertion.from_options({"plies": 60, **options})
    return play_game(rules, rules.deal(seed), (one, other))


class Recorder(Greedy):
    """Greedy, and keeps what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[InsertionPosition] = []

    def choose(self, position: InsertionPosition) -> int:
        self.seen.append(position)
        return super().choose(position)


class Plain(Engine):
    """What an author writes first: two plies, points or the lead alone, the first or last of equals."""

    game = "insertion"
    name = "plain"

    def __init__(self, theirs: float, last: bool) -> None:
        super().__init__({})
        self.theirs, self.last = theirs, last

    def warm_up(self) -> None:
        """Nothing is compiled."""

    def choose(self, position: InsertionPosition) -> int:
        planes = position.state.planes
        distinct = distinct_moves(*planes)
        moves = [move for move in range(1, 16) if distinct >> move & 1]
        worth = {move: self.worth(planes, move, position.state.visible[:2]) for move in moves}
        best = [move for move in moves if worth[move] == max(worth.values())]
        return self.pick(best)

    def pick(self, best: list[int]) -> int:
        return best[-1 if self.last else 0]

    def worth(self, planes: Planes, move: int, pictures: str) -> float:
        p0, p1, p2, removed, _, _ = play(*planes, move, int(pictures[0]))
        replies = [play(p0, p1, p2, reply, int(pictures[1]))[3] for reply in range(1, 16) if pictures[1:]]
        return removed - self.theirs * max(replies, default=0)


class AnyOfEquals(Plain):
    """Plays a random one of the equal moves."""

    def __init__(self, theirs: float) -> None:
        super().__init__(theirs, last=False)
        self.random = random.Random(5)

    def pick(self, best: list[int]) -> int:
        return self.random.choice(best)


class WorstOfEquals(Plain):
    """Of the moves of the most points it plays one after which the next player's best reply is least."""

    def __init__(self) -> None:
        super().__init__(0.01, last=False)


def minimax(planes: Planes, pictures: str, weights: Weights, mine: bool = True) -> tuple[int, int]:
    """Return the first best move and its value, by every move of every ply."""
    best: tuple[int, int] | None = None
    distinct = distinct_moves(*planes)
    for move in range(1, 16):
        if distinct >> move & 1:
            p0, p1, p2, removed, fell, _ = play(*planes, move, int(pictures[0]))
            value = removed * (weights.mine if mine else weights.theirs) + fell * weights.fell
            if pictures[1:]:
                value += minimax((p0, p1, p2), pictures[1:], weights, not mine)[1]
            if best is None or (value > best[1] if mine else value < best[1]):
                best = move, value
    assert best
    return best


def positions(opponent: Engine, plies: int = 60, **options: Any) -> list[InsertionPosition]:
    """What seat 1 sees of a game of greedy against an opponent."""
    recorder = Recorder()
    played(recorder, opponent, plies=plies, **options)
    return recorder.seen


def followed(
    seen: list[InsertionPosition], sixes: int = 5, models: tuple[OpponentModel, ...] = MODELS
) -> GameTracker:
    tracker = GameTracker((Workspace(12),), sixes, models)
    for position in seen:
        tracker.follow(position, lambda: False)
    return tracker
