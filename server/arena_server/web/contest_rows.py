"""The contests of a server, a row each: `GET /contests`, which `arena admin status` prints of several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from arena_server.host.run import ContestRun
from arena_server.host.waiting import held_now

#: The phases of those that no core has: it has failed, or its database is being opened.
FAILED: Final = "failed"
OPENING: Final = "opening"


def contest_rows(contests: Iterable[ContestRun]) -> list[dict[str, Any]]:
    """What an organiser of many contests reads of each, in the types of JSON; on the loop's thread."""
    return [_row(hosted) for hosted in contests]


def _row(hosted: ContestRun) -> dict[str, Any]:
    contest = hosted.contest
    if contest is None or hosted.failure is not None:
        phase = OPENING if hosted.failure is None else FAILED
        problem = None if hosted.failure is None else str(hosted.failure)
        return {"contest": hosted.name, "phase": phase, "state": phase, "ended": None, "problem": problem}
    progress = contest.status.progress()
    held = held_now(progress.holds, progress.waiting)
    return {
        "contest": hosted.name,
        "phase": str(contest.life.phase),
        "state": contest.life.shown_state,
        "ended": progress.ended,
        "problem": None,
        "games": {key: getattr(progress, key) for key in ("done", "total", "void", "running")},
        "connected": progress.connected,
        "holds": held["holds"],
    }
