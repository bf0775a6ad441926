"""Games of master and what a seat sees of one, for the tests of its parts."""

from __future__ import annotations

from arena_engines.engine import Engine
from arena_engines.insertion.baselines import Greedy
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.insertion.master.engine import Master
from arena_engines.insertion.master.opponent import (
    GameTracker,
)
from arena_engines.insertion.master.workspace import Workspace
from arena_engines.match import Played, play_game
from arena_protocol.games.insertion import Insertion


def master(**values: int | str) -> Master:
    return Master({"millis": 2, **values})


def played(one: Engine, other: Engine, seed: int = 7, **options: object) -> Played:
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


def positions(opponent: Engine, plies: int = 60, **options: object) -> list[InsertionPosition]:
    """What seat 1 sees of a game of greedy against an opponent."""
    recorder = Recorder()
    played(recorder, opponent, plies=plies, **options)
    return recorder.seen


def followed(seen: list[InsertionPosition], sixes: int = 5) -> GameTracker:
    tracker = GameTracker((Workspace(12),), sixes)
    for position in seen:
        tracker.follow(position, lambda: False)
    return tracker
