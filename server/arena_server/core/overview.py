"""A contest as its organiser sees it: what may begin, what runs, where each bot is.

It must not know: how it is shown, who asks.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena_server.core.peer import Player
from arena_server.core.progress import Progress

#: Where a bot is: in a game; connected and free; away; away for so long that nobody waits for
#: it; paired no more because of its faults; sent away by the organiser.
PLAYING, FREE, AWAY, GONE, PROBATION, KICKED = "playing", "free", "away", "gone", "probation", "kicked"


@dataclass(frozen=True, slots=True)
class RunningGame:
    """A game without a result: `plies` are played so far."""

    game_id: str
    names: tuple[str, ...]
    plies: int


@dataclass(frozen=True, slots=True)
class BotState:
    """One entrant: `where` is one of the words above, `faulty_games` those not forgiven."""

    name: str
    where: str
    connected: bool
    faulty_games: int


@dataclass(frozen=True, slots=True)
class Overview:
    """A moment of a contest; `gate` is `open`, `paused`, `draining`, or how it ended."""

    gate: str
    progress: Progress
    running: tuple[RunningGame, ...]
    bots: tuple[BotState, ...]


def where_is(player: Player) -> str:
    """Where a bot is; what keeps it from being paired goes first."""
    if player.kicked:
        return KICKED
    if player.barred:
        return PROBATION
    if player.table is not None:
        return PLAYING
    if player.peer is not None:
        return FREE
    return GONE if player.gone else AWAY
