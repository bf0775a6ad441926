"""Who meets whom in a round of a Swiss: the rules of docs/swiss.md, as a pure function.

A round is a perfect matching of the field with the least sum of costs, of those that leave the rounds to come
possible (`swiss_ahead.py`). The parts of a cost are compared in
this order, and each sum of a part counts more than any sum of those after it:

    seats       1 for two who both have to get the same seat (`must`)
    scores      the square of the difference of their scores, in half points
    owner       1 for two bots of one owner
    preference  how much the weaker of two wishes for the same seat counts
    order       how far the pair is from "first of the upper half against first of the lower half"
    lot         30 bits: of equal rounds one is the best, whatever library computes it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from heapq import heappop, heappush
from itertools import islice
from typing import Final, NamedTuple

from arena_server.core.formats.swiss_ahead import (
    LARGEST,
    Matching,
    can_be_drawn,
    exchange,
    most,
    ways,
    without,
)

#: A field up to this size is matched with all pairs in view; a larger one with those near to the order.
SMALL: Final = 100
#: How many of the best rounds are looked at for one that leaves those to come possible: for each player that
#: may have the bye, in a field up to `FEW` and in a larger one, and together.
FEW: Final = 24
TRIED: Final = 16
TRIED_OF_MANY: Final = 4
TRIED_IN_ALL: Final = 64
#: How far from the order a pair of a large field may be; the next one if no round can be made of these.
WINDOWS: Final = (20, 80)
#: The library computes with 128 bits, and adds up four of the weights at most.
WEIGHT_BITS: Final = 124
LOT_BITS: Final = 30
_PRIME: Final = (1 << 61) - 1

FIRST, SECOND = 1, 2


class Candidate(NamedTuple):
    """A player that is to be paired.

    `score` is in half points, with virtual ones; `met` are those that it may not meet; `seats` are those of
    its pairings so far.
    """

    name: str
    score: int = 0
    met: frozenset[str] = frozenset()
    seats: tuple[int, ...] = ()
    had_bye: bool = False
    owner: str = ""
    #: Whether it has had a point without a game in another way than by a bye.
    had_walkover: bool = False

    @property
    def wish(self) -> tuple[int, int]:
        """The seat that it should get (0: either), and how much: 1 to change, 2 to be even, 3 must."""
        ahead = self.seats.count(FIRST) - self.seats.count(SECOND)
        if not self.seats:
            return 0, 0
        last = self.seats[-1]
        seat = (SECOND if ahead > 0 else FIRST) if ahead else FIRST + SECOND - last
        if self.seats[-2:] == (last, last):
            return FIRST + SECOND - last, 3  # not a third time
        return seat, 3 if abs(ahead) > 1 else 2 if ahead else 1


def pair(
    players: Sequence[Candidate], *, owners_meet: bool = True, salt: int = 0, rounds: int = 1
) -> tuple[tuple[str, ...], ...] | None:
    """The pairings of a round in the order of the tables, the first seat first; the bye is last, alone.

    `players` stand in the order of their scores, those of one score in the order of the seeds. The round is
    the first of `rounds`, or of as many as can be drawn: those to come stay possible. None: no round can be
    made of them without a pair that has met or a second bye (or a pair of one owner, where these must not
    meet).
    """
    ahead = _Ahead(players, owners_meet, rounds)
    byes: list[Candidate | None] = [*_for_bye(players)] if len(players) % 2 else [None]
    for bye, rest, found in islice(_best_rounds(players, byes, owners_meet, salt), TRIED_IN_ALL):
        if ahead.allows(rest, found, bye):
            return _tables(rest, found, bye)
    if (known := ahead.schedule()) is None:
        return None
    bye = min(map(ahead.bye, known), key=byes.index)
    rest = [each for each in players if each is not bye]
    weights = list(weighted(rest, list(edges(rest, len(rest), owners_meet)), salt))
    return _tables(rest, ahead.best(known, rest, bye, weights), bye)


def takes_long(players: Sequence[Candidate], rounds: int) -> bool:
    """Whether a round may take more than some 0.1 s of this processor."""
    met = max((len(each.met) for each in players), default=0)
    return len(players) > SMALL or (len(players) > FEW and 2 * (met + rounds) > len(players))


def _best_rounds(
    players: Sequence[Candidate], byes: Sequence[Candidate | None], owners_meet: bool, salt: int
) -> Iterator[tuple[Candidate | None, Sequence[Candidate], set[tuple[int, int]]]]:
    """The bye, the others and their pairs; the best rounds of the first bye come first."""
    tried = TRIED if len(players) <= FEW else TRIED_OF_MANY
    for bye in byes:
        rest = [each for each in players if each is not bye]
        for found in islice(_ranked(rest, owners_meet, salt), tried):
            yield bye, rest, found


def _places(players: Sequence[Candidate]) -> dict[str, int]:
    return {name: place for place, name in enumerate(sorted(each.name for each in players))}


def allowed(players: Sequence[Candidate], owners_meet: bool) -> list[int]:
    """Who may meet whom in the rounds to come; the places are those of `_Ahead`."""
    place, byes = _places(players), len(players) % 2
    size = len(players) + byes
    not_met = [(each.name, other) for each in players for other in each.met if other in place]
    if not owners_meet:
        owned = [each for each in players if each.owner]
        not_met += [(a.name, b.name) for a in owned for b in owned if a.owner == b.owner]
    pairs = [(place[name], place[other]) for name, other in not_met]
    pairs += [(place[each.name], size - 1) for each in players if byes and each.had_bye]
    return without([(1 << size) - 1 & ~(1 << each) for each in range(size)], pairs)


class _Ahead:
    """The rounds to come. The places of the graph are the players in the order of their names, and the bye.

    That order is the same in all rounds, so the next one finds for its graph what this one has found for it.
    """

    def __init__(self, players: Sequence[Candidate], owners_meet: bool, rounds: int) -> None:
        self._players: list[Candidate | None] = [*sorted(players, key=lambda each: each.name)]
        self._place = _places(players)
        self._players += [None] * (len(players) % 2)
        self._graph = allowed(players, owners_meet) if len(players) <= LARGEST else []
        self._rounds = most(self._graph, rounds)

    def allows(self, rest: Sequence[Candidate], found: set[tuple[int, int]], bye: Candidate | None) -> bool:
        """Whether the rounds after this one stay possible."""
        if self._rounds < 2 or not self._graph:
            return True
        pairs = [(self._place[rest[a].name], self._place[rest[b].name]) for a, b in found]
        if bye is not None:
            pairs.append((self._place[bye.name], len(self._players) - 1))
        return can_be_drawn(without(self._graph, pairs), self._rounds - 1)

    def schedule(self) -> list[Matching] | None:
        """A way to draw all rounds that are left."""
        return ways(self._graph, self._rounds) if self._graph else None

    def bye(self, way: Matching) -> Candidate | None:
        """Who has the bye in a round of a schedule."""
        return self._players[way[-1]] if self._players[-1] is None else None

    def best(
        self,
        known: Sequence[Matching],
        rest: Sequence[Candidate],
        bye: Candidate | None,
        weights: Sequence[tuple[int, int, int]],
    ) -> set[tuple[int, int]]:
        """The best round of the players `rest` that exchanges of pairs between the rounds of a schedule make.

        If a search does not find the rounds after it, it is the round of the schedule as it stands.
        """
        places = [self._place[each.name] for each in rest]
        numbers = {place: number for number, place in enumerate(places)}
        worth = {(places[a], places[b]): weight for a, b, weight in weights}
        worth |= {(b, a): weight for (a, b), weight in worth.items()}
        taken = max(
            (way for way in known if self.bye(way) is bye),
            key=lambda way: sum(worth[place, way[place]] for place in places),
        )
        others = [list(way) for way in known if way is not taken]
        elsewhere = {pair for way in others for pair in enumerate(way)}
        free = [edge for edge in weights if (places[edge[0]], places[edge[1]]) not in elsewhere]
        better = list(taken)
        for a, b in _perfect(free, len(rest)) or ():  # those of `taken`, if no pair is spare
            better[places[a]], better[places[b]] = places[b], places[a]
        exchange(better, others, worth)
        for way in (better, taken):
            pairs = {(a, b) for a, b in enumerate(way) if a in numbers and b in numbers}
            found = {(numbers[a], numbers[b]) for a, b in pairs if numbers[a] < numbers[b]}
            if self.allows(rest, found, bye):
                break
        return found


def _tables(
    rest: Sequence[Candidate], found: set[tuple[int, int]], bye: Candidate | None
) -> tuple[tuple[str, ...], ...]:
    tables = sorted((min(one, other), max(one, other)) for one, other in found)
    seated = tuple(_seated(rest[a], rest[b], table) for table, (a, b) in enumerate(tables))
    return seated if bye is None else (*seated, (bye.name,))


def _for_bye(players: Sequence[Candidate]) -> list[Candidate]:
    """Who may have the bye, the first choice first: a walkover is a free point as well."""
    may = [each for each in reversed(players) if not each.had_bye]
    return sorted(may, key=lambda each: each.had_walkover)


def _ranked(players: Sequence[Candidate], owners_meet: bool, salt: int) -> Iterator[set[tuple[int, int]]]:
    """The perfect matchings of the places, the one of the least cost first (Murty's method)."""
    windows = (*WINDOWS, len(players)) if len(players) > SMALL else (len(players),)
    for window in windows:
        graph = list(weighted(players, list(edges(players, window, owners_meet)), salt))
        if (first := _perfect(graph, len(players))) is not None:
            break
    else:
        return
    weights = {(a, b): weight for a, b, weight in graph}
    # Each is the best of the matchings with the pairs `kept` and without the pairs `left_out`.
    heap: list[_Ranked] = [(-sum(map(weights.__getitem__, first)), sorted(first), (), frozenset())]
    while heap:
        _, found, kept, left_out = heappop(heap)
        yield set(found)
        for number, pair in enumerate(each := [pair for pair in found if pair not in kept]):
            fixed, fewer = (*kept, *each[:number]), left_out | {pair}
            taken = {place for one in fixed for place in one}
            left = [
                edge
                for edge in graph
                if edge[:2] not in fewer and edge[0] not in taken and edge[1] not in taken
            ]
            if (others := _perfect(left, len(players) - len(taken))) is not None:
                pairs = sorted({*fixed, *others})
                heappush(heap, (-sum(map(weights.__getitem__, pairs)), pairs, fixed, fewer))


_Pair = tuple[int, int]
#: The sum of the costs, the pairs, those that are kept, and those that are left out.
_Ranked = tuple[int, list[_Pair], tuple[_Pair, ...], frozenset[_Pair]]


def _perfect(graph: Sequence[tuple[int, int, int]], size: int) -> set[tuple[int, int]] | None:
    """The pairs of `size` places with the greatest weight; None if there is no perfect matching."""
    import rustworkx

    places = sorted({place for a, b, _ in graph for place in (a, b)})
    number = {place: node for node, place in enumerate(places)}
    library = rustworkx.PyGraph()
    library.add_nodes_from(places)
    library.add_edges_from([(number[a], number[b], weight) for a, b, weight in graph])
    pairs = rustworkx.max_weight_matching(library, max_cardinality=True, weight_fn=int)
    if 2 * len(pairs) < size:
        return None
    found = ((places[a], places[b]) for a, b in pairs)
    return {(min(pair), max(pair)) for pair in found}


_Edge = tuple[int, int, tuple[int, ...]]


def edges(players: Sequence[Candidate], window: int, owners_meet: bool) -> Iterator[_Edge]:
    """The pairs that may meet, with the parts of their costs but the lot."""
    order = _Order([player.score for player in players])
    for a, one in enumerate(players):
        for b in order.near(a, window):
            other = players[b]
            same_owner = bool(one.owner) and one.owner == other.owner
            if other.name not in one.met and (owners_meet or not same_owner):
                yield a, b, (*_costs(one, other), order.cost(a, b))


def _costs(one: Candidate, other: Candidate) -> tuple[int, int, int, int]:
    """Seats, scores, owner and preference."""
    (seat, strength), (others, other_strength) = one.wish, other.wish
    clash = min(strength, other_strength) if seat == others else 0
    same_owner = bool(one.owner) and one.owner == other.owner
    return int(clash == 3), (one.score - other.score) ** 2, int(same_owner), clash


class _Order:
    """Places within the groups of equal scores, best first."""

    def __init__(self, scores: Sequence[int]) -> None:
        self._count = len(scores)
        self._group: list[tuple[int, int]] = []
        begin = 0
        for place, score in enumerate(scores):
            if score != scores[begin]:
                begin = place
            self._group.append((begin, 0))
        ends: dict[int, int] = {}
        for place, (first, _) in enumerate(self._group):
            ends[first] = place + 1
        self._group = [(first, ends[first] - first) for first, _ in self._group]

    def near(self, a: int, window: int) -> list[int]:
        """The places after `a` that are near to it, or to that of its opponent by the order."""
        half = self._group[a][1] // 2
        close = range(a + 1, min(a + 1 + window, self._count))
        middle = range(max(a + 1, a + half - window), min(a + half + window + 1, self._count))
        return sorted({*close, *middle})

    def cost(self, a: int, b: int) -> int:
        """How far `a` and `b`, of which `a` is higher, are from each other by the order."""
        (first, size), (others_first, _) = self._group[a], self._group[b]
        if first == others_first:
            return abs(b - a - size // 2)
        # The last of the upper group meets the first of a lower one.
        return (first + size - 1 - a) + (b - others_first)


def weighted(
    players: Sequence[Candidate], edges: Sequence[_Edge], salt: int
) -> Iterator[tuple[int, int, int]]:
    """The edges with one number for each, the greater the better."""
    pairs = len(players) // 2
    parts = len(edges[0][2]) if edges else 0
    # A part has as many bits as the greatest sum of the parts of a whole round.
    widths = [max(pairs * max(costs[part] for _, _, costs in edges), 1).bit_length() for part in range(parts)]
    lot_bits = min(LOT_BITS, max(1, WEIGHT_BITS - sum(widths) - pairs.bit_length()))
    lots = [_lot(player.name, salt) for player in players]
    for a, b, costs in edges:
        weight = 0
        for cost, width in zip(costs, widths, strict=True):
            weight = weight << width | cost
        lot = lots[a] * lots[b] % _PRIME >> 61 - lot_bits
        yield a, b, -(weight << lot_bits + pairs.bit_length() | lot)


def _lot(name: str, salt: int) -> int:
    """61 bits that no player can choose."""
    return int.from_bytes(sha256(f"{salt}:{name}".encode("ascii")).digest()[:8]) % _PRIME or 1


def _seated(one: Candidate, other: Candidate, table: int) -> tuple[str, str]:
    """Two players in the order of the seats; `one` is higher, `table` is 0, 1, ..."""
    (seat, strength), (others, other_strength) = one.wish, other.wish
    if seat == others and strength == other_strength:
        seat = _alternated(one, other) or seat or (FIRST if table % 2 == 0 else SECOND)
    elif not seat or (others and other_strength > strength):
        seat = FIRST + SECOND - others
    return (one.name, other.name) if seat == FIRST else (other.name, one.name)


def _alternated(one: Candidate, other: Candidate) -> int:
    """The seat of `one` if both change those of the latest round in which they differed; 0: none did."""
    for mine, others in zip(reversed(one.seats), reversed(other.seats), strict=False):
        if mine != others:
            return FIRST + SECOND - mine
    return 0
