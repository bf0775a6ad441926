"""How far a contest is: what a progress display and the final table need.

Only results that are durable count. It must not know: how they are shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena_server.core.standings import Row


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a contest.

    `total` counts the games of the schedule, `done` those with a result; `void` were broken off.
    `plies` counts all plies so far, those of running games too. `ended` is why nothing more
    will be played: `finished`, `stopped` or None.
    """

    done: int
    total: int
    void: int
    running: int
    plies: int
    connected: int
    ended: str | None
    standings: tuple[Row, ...]
