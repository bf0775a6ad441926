"""Two cores, and the opponent's time: searches that run beside each other or in the background.

The kernels hold no lock of the interpreter, so plain threads run at once; each has a workspace of its
own. It must not know: what is searched for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TypeVar

from arena_engines.insertion.master.minds import Mind
from arena_engines.insertion.master.planner import Quest, widen
from arena_engines.insertion.master.workspace import Workspace, shortcut
from arena_protocol.games.insertion.rules import play

R = TypeVar("R")
#: The opponent's time has no known end.
FOREVER = 3600.0


class Team:
    """The threads of one engine."""

    def __init__(self, works: Sequence[Workspace]) -> None:
        self._works = works

    @cached_property
    def _others(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(len(self._works) - 1, thread_name_prefix="master")

    def each(self, task: Callable[[int, Workspace], R]) -> list[R]:
        """Do a task with every workspace at once; return the answers in their order."""
        rest = [
            self._others.submit(task, number, work) for number, work in enumerate(self._works) if number > 0
        ]
        first = task(0, self._works[0])
        return [first, *(future.result() for future in rest)]


class Ponderer:
    """Plans in the background, on a workspace that nobody else uses until `stop`.

    Nothing is returned: what was found stays in the table, where the next plan finds it.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._thread: threading.Thread | None = None

    def start(self, quest: Quest, mind: Mind, picture: int) -> None:
        """Think on behind the reply to a board, with this picture, that a mind would choose."""
        self._work.clear()
        self._thread = threading.Thread(target=self._think, args=(quest, mind, picture), daemon=True)
        self._thread.start()

    def _think(self, quest: Quest, mind: Mind, picture: int) -> None:
        depth = min(mind.depth, quest.known)
        reply = self._work.decide(quest.planes, mind.view, quest.ply, shortcut(depth), mind.order)
        after = play(*quest.planes, reply, picture)[:3]
        widen(self._work, Quest(after, quest.ply + 1, quest.known - 1), mind, FOREVER)

    def stop(self) -> None:
        """Return when the workspace is free."""
        if self._thread is not None:
            self._work.stop()
            self._thread.join()
            self._thread = None
