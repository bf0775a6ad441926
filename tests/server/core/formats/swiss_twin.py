"""The rules of docs/swiss.md by brute force: every way to pair a field, and the sums that are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from arena_server.core.formats.swiss_pairing import FIRST, SECOND, Candidate

from .test_rounds import bots

Pairs = tuple[tuple[int, int], ...]


def wish(seats: Sequence[int]) -> tuple[int, int]:
    """The table of docs/swiss.md, from the top."""
    if not seats:
        return 0, 0
    ahead = seats.count(FIRST) - seats.count(SECOND)
    other = {FIRST: SECOND, SECOND: FIRST}
    if len(seats) > 1 and seats[-1] == seats[-2]:
        return other[seats[-1]], 3
    if ahead:
        return (SECOND if ahead > 0 else FIRST), 3 if abs(ahead) > 1 else 2
    return other[seats[-1]], 1


def sums(players: Sequence[Candidate], pairs: Pairs) -> tuple[int, ...]:
    """The sums that are compared, without the lot."""
    scores = [player.score for player in players]
    total = [0] * 5
    for a, b in pairs:
        one, other = players[a], players[b]
        (seat, much), (others, others_much) = wish(one.seats), wish(other.seats)
        clash = min(much, others_much) if seat == others else 0
        total[0] += clash == 3
        total[1] += (one.score - other.score) ** 2
        total[2] += one.owner == other.owner != ""
        total[3] += clash
        upper = [place for place, score in enumerate(scores) if score == scores[a]]
        lower = [place for place, score in enumerate(scores) if score == scores[b]]
        if upper == lower:
            total[4] += abs(b - (a + len(upper) // 2))
        else:
            total[4] += (upper[-1] - a) + (b - lower[0])
    return tuple(total)


def all_ways(places: tuple[int, ...]) -> Iterator[Pairs]:
    if not places:
        yield ()
        return
    first, *rest = places
    for other in rest:
        for way in all_ways(tuple(place for place in rest if place != other)):
            yield ((first, other), *way)


def allowed(players: Sequence[Candidate], pairs: Pairs, owners_meet: bool) -> bool:
    return all(
        players[b].name not in players[a].met
        and (owners_meet or not players[a].owner or players[a].owner != players[b].owner)
        for a, b in pairs
    )


def twin(players: Sequence[Candidate], owners_meet: bool) -> tuple[str | None, tuple[int, ...]] | None:
    """Who has the bye, and the sums of the best way; None: there is none."""
    byes: list[int | None] = [None]
    if len(players) % 2:
        may = [place for place in reversed(range(len(players))) if not players[place].had_bye]
        byes = [place for won in (False, True) for place in may if players[place].had_walkover is won]
    for bye in byes:
        rest = [player for place, player in enumerate(players) if place != bye]
        ways = [way for way in all_ways(tuple(range(len(rest)))) if allowed(rest, way, owners_meet)]
        if ways:
            return None if bye is None else players[bye].name, min(sums(rest, way) for way in ways)
    return None


def strengths(count: int, rng: Random) -> dict[str, float]:
    return {name: rng.gauss(0, 1) for name in bots(count)}
