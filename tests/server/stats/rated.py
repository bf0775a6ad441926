"""Games in the arrays of the ratings, counted for tests."""

from __future__ import annotations

from collections import Counter

from arena_server.stats.rated_games import Games, Observation, Outcome


def observed_in(games: Games) -> Counter[Observation]:
    """The games that the arrays count."""
    kinds = [
        (tuple(games.names[player] for player in players), tuple(places))
        for players, places in zip(games.seated.tolist(), games.places.tolist(), strict=True)
    ]
    pairings: list[list[Outcome]] = [[] for _ in games.counts]
    for pairing, kind in zip(games.pairing.tolist(), games.kind.tolist(), strict=True):
        pairings[pairing].append(kinds[kind])
    found: Counter[Observation] = Counter()
    for each, count in zip(pairings, games.counts.tolist(), strict=True):
        found[tuple(sorted(each))] += int(count)
    return found
