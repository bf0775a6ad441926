"""The table of standings, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena_server.core.standings import Row

if TYPE_CHECKING:
    from rich.table import Table

    from arena_server.store.reader import Results
    from arena_server.store.tables import Contest

#: The width of what is not a terminal: nothing is wrapped or cut there for want of room.
PLAIN_WIDTH = 160


def plain_row(row: Row) -> dict[str, Any]:
    """One line of the table as JSON has it."""
    return {
        "rank": row.rank,
        "bot": row.name,
        "points": row.points,
        "games": row.games,
        "mean": round(row.mean, 2),
        "wins": row.wins,
        "faults": dict(row.faults),
    }


def plain_standings(results: Results, contest: Contest) -> dict[str, Any]:
    """A contest and its table as JSON has them."""
    return {
        "contest": {
            "id": contest.id,
            "name": contest.name,
            "game": contest.game,
            "scoring": contest.scoring,
            "status": contest.status,
            "games": {"played": results.games_played(contest), "total": contest.games},
        },
        "standings": [plain_row(row) for row in results.standings(contest)],
    }


def standings_table(rows: Sequence[dict[str, Any]], *, wins: bool = False) -> Table:
    """The table as people see it; `rows` are of `plain_row`."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("bot", no_wrap=True)
    for heading in ("points", "games", "mean points", *(["wins"] if wins else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("faults", no_wrap=True)
    for row in rows:
        cells = [row["rank"], row["bot"], f"{row['points']:,}", row["games"], f"{row['mean']:,.1f}"]
        faults = ", ".join(f"{kind} {count}" for kind, count in row["faults"].items())
        table.add_row(*map(str, [*cells, *([row["wins"]] if wins else []), faults or "-"]))
    return table


def print_standings(results: Results, contest: Contest) -> None:
    """Print a contest's table on stdout."""
    from rich.console import Console

    plain = plain_standings(results, contest)
    games = plain["contest"]["games"]
    title = (
        f"{contest.name}: {contest.game}, {games['played']} of {games['total']} games, "
        f"scored by {contest.scoring}, {contest.status}"
    )
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    console.print(title, markup=False, soft_wrap=True)
    console.print(standings_table(plain["standings"], wins=contest.scoring == "wins"))
