"""How fast the games of a contest end, and when the last one will: over the last LAST_GAMES results.

Terminals, `arena admin status`, the log and the pages all show what `pace_json` returns.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

#: Enough that a few long games change little, and few enough that a pause is forgotten soon.
LAST_GAMES: Final = 100


class GamePace:
    """Counts results as they come; times are seconds of a clock that never goes back."""

    def __init__(self) -> None:
        #: Moments, and how many results there were then.
        self._seen: deque[tuple[float, int]] = deque()

    def see(self, now: float, done: int) -> None:
        """There are `done` results at `now`; the first call says where the count begins.

        Those that were taken back (`void --worker`) have been played nevertheless.
        """
        if self._seen and done < self._seen[-1][1]:
            back = self._seen[-1][1] - done
            self._seen = deque((at, count - back) for at, count in self._seen)
        if not self._seen or self._seen[-1][1] != done:
            self._seen.append((now, done))
            while len(self._seen) > 2 and self._seen[1][1] <= done - LAST_GAMES:
                self._seen.popleft()

    def plain(self, now: float, left: int | None, ends_s: float | None = None) -> dict[str, Any] | None:
        """The pace at `now` as JSON types, see `pace_json`; the contest ends in `ends_s` at the latest."""
        if not self._seen:
            return None
        (then, before), (_, done) = self._seen[0], self._seen[-1]
        plain = pace_json(done - before, now - then, left)
        if plain is not None and ends_s is not None:
            known = [round(max(0.0, ends_s)), *(() if plain["left_s"] is None else (plain["left_s"],))]
            plain["left_s"] = min(known)
        return plain


def pace_json(games: int, seconds: float, left: int | None) -> dict[str, Any] | None:
    """The pace of `games` results in `seconds`, with `left` games to come (None: the contest is open).

    `games_per_hour`, and `left_s` or None; None as a whole before the first result.
    """
    if games < 1 or seconds <= 0:
        return None
    left_s = None if left is None else max(0, round(left * seconds / games))
    return {"games_per_hour": round(3600 * games / seconds, 1), "left_s": left_s}


def pace_text(pace: dict[str, Any] | None) -> str:
    """`ETA 0:34`, of an open contest `1,240 games an hour`; `ETA -` before the first result."""
    if pace is None:
        return "ETA -"
    if pace["left_s"] is None:
        return f"{pace['games_per_hour']:,.0f} games an hour"
    return f"ETA {clock_text(pace['left_s'])}"


def clock_text(seconds: int) -> str:
    """A duration as M:SS or H:MM:SS."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
