"""Teams: the bots of an owner are one, which has the sum of its best in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from arena_server.stats.standings import Row, Standings, number_json

#: Bots of a team that may count.
MOST_COUNTED: Final = 1_000


@dataclass(frozen=True, slots=True)
class TeamRow:
    """One line of the table of teams: `counted` are its best bots, of as many as it has in all (`bots`).

    It has no `rank` before one of them has played.
    """

    rank: int | None
    owner: str
    score: Fraction
    counted: tuple[str, ...]
    bots: int


def best_of(table: Mapping[str, object]) -> int:
    """How many bots of a team count, in a table `{ best = k }` of a file. Raises ValueError."""
    best = table.get("best")
    is_number = isinstance(best, int) and not isinstance(best, bool) and 0 < best <= MOST_COUNTED
    if not isinstance(best, int) or not is_number or len(table) > 1:
        raise ValueError(f"expected {{ best = k }}, how many bots of a team count, 1 to {MOST_COUNTED:,}")
    return best


def team_rows(table: Standings, owners: Mapping[str, str], best: int) -> tuple[TeamRow, ...]:
    """The teams, the best first; who has no owner is in none.

    What counts of a bot is what the table ranks by: a format's score, else points, wins or the values of the
    scoring, a game where the bots have different numbers of games. Equal sums share their rank.
    """
    scores = table.scores()
    of: dict[str, list[Row]] = {}
    for row in table.rows():
        if owner := owners.get(row.name):
            of.setdefault(owner, []).append(row)
    sums = {owner: sum((scores[row.name] for row in rows[:best]), Fraction(0)) for owner, rows in of.items()}
    order = sorted(of, key=lambda owner: (-sums[owner], not _has_played(of[owner]), owner))
    ranks: dict[Fraction, int] = {}
    for rank, owner in enumerate(order, start=1):
        ranks.setdefault(sums[owner], rank)
    return tuple(
        TeamRow(
            ranks[sums[owner]] if _has_played(of[owner]) else None,
            owner,
            sums[owner],
            tuple(row.name for row in of[owner][:best]),
            len(of[owner]),
        )
        for owner in order
    )


def _has_played(rows: Sequence[Row]) -> bool:
    return any(row.games or row.score for row in rows)


def team_json(row: TeamRow) -> dict[str, Any]:
    """A row in the types of JSON."""
    return {
        "rank": row.rank,
        "team": row.owner,
        "score": number_json(row.score),
        "counted": list(row.counted),
        "bots": row.bots,
    }
