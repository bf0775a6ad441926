from __future__ import annotations

import pytest

from arena_engines.insertion.champion import Champion
from arena_engines.insertion.master.planner import SearchRequest
from arena_engines.insertion.master.tracker import GameTracker
from arena_engines.insertion.master.workspace import Workspace

from .games import Planning, positions


@pytest.fixture(scope="module")
def request_and_work() -> Planning:
    work = Workspace(14)
    tracker = GameTracker((work,), 5)
    tracker.follow(positions(Champion({"depth": 3}))[9], lambda: False)
    return SearchRequest(tracker.planes, tracker.ply, tracker.known), work
