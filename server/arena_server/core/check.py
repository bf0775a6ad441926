"""Whether a plan makes a contest at all: every impossible value is one clear line.

It must not know: which key of which file a value came from.
"""

from __future__ import annotations

from typing import Any

from arena_protocol.games import make_game
from arena_protocol.games.base import Game, GameError
from arena_server.core.plan import ContestPlan, PlanError

FORMATS = ("round-robin",)

#: About eleven days: clocks, with all increments of the longest game, stay printable.
LONGEST_MS = 10**9
LONGEST_INCREMENT_MS = 10**6

_TIMES = {
    "clock_ms": (1, LONGEST_MS),
    "increment_ms": (0, LONGEST_INCREMENT_MS),
    "margin_ms": (0, LONGEST_MS),
    "move_limit_ms": (0, LONGEST_MS),
    "byoyomi_ms": (0, LONGEST_MS),
    "lag_quota_ms": (0, LONGEST_MS),
    "stall_ms": (1, LONGEST_MS),
    "ready_ms": (1, LONGEST_MS),
    "login_ms": (1, LONGEST_MS),
    "handover_ms": (1, LONGEST_MS),
    "spectator_delay_ms": (0, LONGEST_MS),
    "probation": (0, LONGEST_MS),
    "out_of_turn_limit": (0, LONGEST_MS),
    "flood_limit": (1, LONGEST_MS),
}


def check_numbers(plan: ContestPlan) -> None:
    """Raise PlanError for a number out of its range, or a format that does not exist."""
    if plan.format not in FORMATS:
        raise PlanError(f"format is one of {', '.join(FORMATS)}, not {plan.format!r}")
    for name, (low, high) in _TIMES.items():
        value = getattr(plan, name)
        if not low <= value <= high:
            raise PlanError(f"{name} must be from {low} to {high}, not {value}")
    if plan.absent_ms is not None and not 0 <= plan.absent_ms <= LONGEST_MS:
        raise PlanError(f"absent_ms must be from 0 to {LONGEST_MS} or absent, not {plan.absent_ms}")


def game_of(plan: ContestPlan) -> Game[Any]:
    """Return the game that is played. Raises PlanError if there is none such."""
    try:
        return make_game(plan.game, plan.options)
    except GameError as error:
        raise PlanError(str(error)) from error
