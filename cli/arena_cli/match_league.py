"""A league of `arena match`: a match between all groups of as many players as the game has seats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from arena_cli.match_resume import league_results
from arena_cli.match_run import CONTEST, MatchPlan, MatchRun
from arena_server.errors import ConfigError
from arena_server.store.database import database_of


def play_here(run: MatchRun) -> bool:
    """Play a match of engines in this process; it is never interrupted."""
    run.play_here()
    return False


def league(
    players: Sequence[str],
    seats: int,
    plan: MatchPlan,
    play: Callable[[MatchRun], bool] = play_here,
    *,
    stored: bool = False,
) -> tuple[dict[str, Any], bool]:
    """Play the matches one after the other; return the standings, and whether one was interrupted.

    `play` plays a match and returns whether a signal interrupted it. The games are numbered through; where
    they are `stored` each match is a contest of its own, `match-1-2`, with its own numbers.
    `standings` lists the players by mean points a game, best first. With two seats `table[i][j]` is the
    mean points of player i against player j, None on the diagonal and where they have not met; with more
    seats `table` is None. Raises ConfigError for a player that is there twice, and what `play` raises.
    """
    for player in players:
        if players.count(player) > 1:
            raise ConfigError(f"match: expected each player of a league once, got {player} more than once")
    table: list[list[float | None]] = [[None] * len(players) for _ in players]
    points: list[list[float]] = [[] for _ in players]
    faults: dict[str, list[str]] = {}
    games = 0
    for group in combinations(range(len(players)), seats):
        name = _name(group) if stored else CONTEST
        run = MatchRun(plan, [players[at] for at in group], 0 if stored else games, name)
        interrupted = play(run)
        games += run.games
        result = run.answer()
        if result["games"]:
            for at, mean in zip(group, result["points"], strict=True):
                points[at].append(mean)
        if result["games"] and seats == 2:
            table[group[0]][group[1]], table[group[1]][group[0]] = result["points"]
        for player, found in result["faults"].items():
            faults.setdefault(player, []).extend(found)
        if interrupted:
            break
    return {
        **_standings(players, plan, points),
        "table": table if seats == 2 else None,
        "faults": faults,
    }, interrupted


def played_before(
    players: Sequence[str], seats: int, plan: MatchPlan, database: str
) -> dict[str, list[dict[str, Any]]]:
    """The results of the matches that `database` has of the unfinished league of the same command, by name.

    Raises StoreError for a database that cannot be used.
    """
    groups = combinations(range(len(players)), seats)
    runs = [MatchRun(plan, [players[at] for at in group], 0, _name(group)) for group in groups]
    return league_results(database_of(database), [run.spec for run in runs])


def _name(group: Sequence[int]) -> str:
    return "-".join([CONTEST, *(str(at + 1) for at in group)])


def _standings(players: Sequence[str], plan: MatchPlan, points: Sequence[Sequence[float]]) -> dict[str, Any]:
    """What was played, and those who have played by their mean points of all matches."""
    means = {at: sum(each) / len(each) for at, each in enumerate(points) if each}
    order = sorted(means, key=lambda at: -means[at])
    return {
        "game": plan.game,
        "clock": plan.clock_ms,
        "deals": plan.deals,
        "seed": plan.seed,
        "engines": list(players),
        "standings": [{"engine": players[at], "points": round(means[at], 2)} for at in order],
    }
