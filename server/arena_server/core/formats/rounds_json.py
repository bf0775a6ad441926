"""The rounds of a format as a document: what `arena standings --json` and the pages show of a bracket.

    {"ranked_by": "levels of the bracket passed",
     "rounds": [{"title": "final", "kind": "level", "matches": [
        {"names": ["ann", null], "seeds": [1, null], "scores": [0, 0], "points": [0, 0], "games": [],
         "winner": null, "state": "to come"}]}]}

`kind` is `level` of a bracket (the winners of matches 2i and 2i + 1 meet in match i of the next level; all
levels to come are there), `round` (of a Swiss, in the order of the tables), or `group`, whose `ranking` has
its players, the first first. The first of `names` has the first seat of the first game; one that is not
known yet is null. `scores` are games won (a draw is half of one), `games` the numbers of those with a result.
A match that was tied has `decided_by`: `points`, `extra games`, `sudden death` or `seed` (the better seed
goes on). The match for the third place of a bracket is a `round` of its own. A round that the organiser has
paired has the reason in `by_hand`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

#: States of a match: a player is not known yet; it has games left; it is over; it was over before all its
#: games, because of a player that was absent; there is no opponent; the place is empty.
TO_COME: Final = "to come"
OPEN: Final = "open"
OVER: Final = "over"
WALKOVER: Final = "walkover"
BYE: Final = "bye"
VACANT: Final = "vacant"

#: What decides between as many games won, and what a tied pairing has played on.
BY_POINTS: Final = "points"
BY_SEED: Final = "seed"
BY_EXTRA: Final = "extra games"
BY_SUDDEN_DEATH: Final = "sudden death"


@dataclass(frozen=True, slots=True)
class DrawnMatch:
    """Two players of a round; `scores` and `points` are in the order of `names`."""

    names: tuple[str | None, ...]
    state: str
    scores: tuple[Fraction, ...] = (Fraction(0), Fraction(0))
    points: tuple[int, ...] = (0, 0)
    games: tuple[int, ...] = ()
    winner: str | None = None
    decided_by: str | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """`kind` is `level`, `round` or `group`; the players of a group are ranked.

    `by_hand` is why the organiser has paired it.
    """

    title: str
    kind: str
    matches: tuple[DrawnMatch, ...]
    ranking: tuple[str, ...] = ()
    by_hand: str | None = None


def rounds_json(rounds: Iterable[Round], seeds: Iterable[str], ranked_by: str) -> dict[str, Any]:
    """The document in the types of JSON; `seeds` are all players, the best seed first."""
    numbers: dict[str | None, int] = {name: number for number, name in enumerate(seeds, start=1)}
    return {
        "ranked_by": ranked_by,
        "rounds": [
            {
                "title": each.title,
                "kind": each.kind,
                "matches": [_match_json(match, numbers) for match in each.matches],
            }
            | ({"ranking": list(each.ranking)} if each.ranking else {})
            | ({} if each.by_hand is None else {"by_hand": each.by_hand})
            for each in rounds
        ],
    }


def _match_json(match: DrawnMatch, seeds: Mapping[str | None, int]) -> dict[str, Any]:
    return {
        "names": list(match.names),
        "seeds": [seeds.get(name) for name in match.names],
        "scores": [float(score) for score in match.scores],
        "points": list(match.points),
        "games": list(match.games),
        "winner": match.winner,
        "state": match.state,
    } | ({"decided_by": match.decided_by} if match.decided_by else {})
