"""The games of a contest that are worth a look, found from results, points of plies and the rules alone.

    upset     a bot has won against one with a higher rating
    swing     the winner had been behind; the more, the better
    cascade   one move had effects that followed from each other (`Game.waves`)
    fault     the first fault of a bot in the contest
    day       of a day (UTC) the game of bots in the upper half of the table with most changes of the lead

`Highlights` is given the games one after the other, in the order of their results, and keeps of each what can
still be chosen. Games that are void count for none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from arena_protocol.games import printed_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_protocol.record import VOID, winning_seats

#: Highlights of a kind.
MOST: Final = 3
#: Less of a difference of ratings is no upset.
UPSET: Final = 25
#: A removal that causes one more is common.
LONG: Final = 3


class Ply(NamedTuple):
    """What a highlight needs of a ply of a record."""

    seat: int
    move: str
    points: int
    total: Sequence[int]


@dataclass(frozen=True, slots=True)
class SeenGame:
    """A game with the result that counts; `at` is when it was stored, in seconds since 1970.

    `faults` are (seat, ply, kind). `ruled`: the jury has changed the result that the plies lead to.
    """

    game: str
    names: tuple[str, ...]
    totals: tuple[int, ...]
    end: str
    at: int
    faults: Sequence[tuple[int, int, str]]
    plies: Sequence[Ply]
    ruled: bool = False


@dataclass(frozen=True, slots=True)
class Highlight:
    """`seat` is the one that it is about (0: all), `ply` the one to look at.

    `value` is of an upset the difference of the ratings, of a swing the points behind, of a cascade the
    waves, of a day how often the lead has changed; `text` of a fault its kind, of a day the date.
    """

    kind: str
    game: str
    names: tuple[str, ...]
    totals: tuple[int, ...]
    end: str
    at: int
    ply: int
    seat: int = 0
    value: int = 0
    text: str = ""


@dataclass(slots=True)
class Highlights:
    """What is known of the games so far."""

    games: int = 0
    _fault: Highlight | None = None
    _swings: list[Highlight] = field(default_factory=list)
    _cascades: list[tuple[int, Highlight]] = field(default_factory=list)
    #: The first win of a bot over another one, by the two.
    _wins: dict[tuple[str, str], Highlight] = field(default_factory=dict)
    #: By day and bots: how good the best game is.
    _days: dict[tuple[int, frozenset[str]], tuple[tuple[int, float, int], Highlight]] = field(
        default_factory=dict
    )

    def add(self, played: SeenGame, waves: Sequence[int]) -> None:
        """`waves` are those of each ply, as `waves_of` has them."""
        if played.end == VOID:
            return
        self.games += 1
        for seat, ply, kind in played.faults:
            # A game whose record was withheld comes later.
            if seat and (self._fault is None or played.at < self._fault.at):
                self._fault = _of(played, "fault", ply, seat, text=kind)
        self._add_cascade(played, waves)
        winners = winning_seats(played.totals, played.end)
        if played.ruled or played.faults or not played.plies:
            return  # not won by playing
        self._add_day(played)
        if len(winners) == 1:
            self._add_win(played, winners[0])

    def _add_cascade(self, played: SeenGame, waves: Sequence[int]) -> None:
        """The longest one of a game."""
        most = max(waves, default=0)
        if most < LONG:
            return
        points, ply = max((played.plies[i].points, -i) for i, each in enumerate(waves) if each == most)
        found = _of(played, "cascade", 1 - ply, played.plies[-ply].seat, most)
        self._cascades = sorted([*self._cascades, (points, found)], key=_by_length)[:MOST]

    def _add_win(self, played: SeenGame, seat: int) -> None:
        for other, name in enumerate(played.names, 1):
            if other != seat:
                pair = played.names[seat - 1], name
                self._wins.setdefault(pair, _of(played, "upset", len(played.plies), seat))
        behind, ply = max((-_margin(each.total, seat), i) for i, each in enumerate(played.plies, 1))
        if behind > 0:
            swings = [*self._swings, _of(played, "swing", ply, seat, behind)]
            self._swings = sorted(swings, key=lambda each: -each.value)[:MOST]

    def _add_day(self, played: SeenGame) -> None:
        changes, total = _lead_changes(played.plies), sum(played.totals)
        first, second, *_ = sorted(played.totals, reverse=True)
        close = -(first - second) / total if total and changes else 0.0
        day = played.at // 86_400
        key = day, frozenset(played.names)
        found = (changes, close, len(played.plies)), _of(played, "day", len(played.plies), value=changes)
        if key not in self._days or found[0] > self._days[key][0]:
            self._days[key] = found

    def best(self, ratings: Mapping[str, float], ranks: Sequence[str]) -> list[Highlight]:
        """The best of each kind, then the second of each, and so on; `ranks` are the bots, the best first."""
        days: list[Highlight] = [*self._best_days(ranks)][:MOST]
        found = (
            self._upsets(ratings),
            self._swings,
            [each for _, each in self._cascades],
            days,
            [] if self._fault is None else [self._fault],
        )
        return [each for row in zip_longest(*found) for each in row if each is not None]

    def _upsets(self, ratings: Mapping[str, float]) -> list[Highlight]:
        found = []
        for (winner, loser), won in self._wins.items():
            if winner in ratings and loser in ratings:
                ahead = round(ratings[loser] - ratings[winner])
                if ahead >= UPSET:
                    found.append(_changed(won, value=ahead))
        return sorted(found, key=lambda each: -each.value)[:MOST]

    def _best_days(self, ranks: Sequence[str]) -> Iterator[Highlight]:
        """The best game of each day, the newest first."""
        upper = set(ranks[: max(2, (len(ranks) + 1) // 2)])
        best: dict[int, tuple[tuple[int, float, int], Highlight]] = {}
        for (day, names), found in self._days.items():
            if names <= upper and (day not in best or found[0] > best[day][0]):
                best[day] = found
        for day in sorted(best, reverse=True):
            yield _changed(best[day][1], text=_date(day))


def waves_of(game: Game[Any], deal: Deal, plies: Sequence[Ply]) -> list[int]:
    """`Game.waves` of each ply; of a record with an impossible ply those of the plies before it."""
    found: list[int] = []
    if type(game).waves is Game.waves:  # no move of this game has any
        return found
    try:
        position = game.start(deal)
        for ply in plies:
            after = game.play(position, ply.move).position
            found.append(game.waves(position, ply.move))
            position = after
    except GameError:
        pass
    return found


def played_waves(record: Mapping[str, Any], plies: Sequence[Ply]) -> list[int]:
    """The same of the fields of a record."""
    try:
        game = printed_game(record["game"], record["options"], len(record["names"]))
    except GameError:
        return []
    return waves_of(game, Deal(record["board"], record["sequence"]), plies)


def _of(played: SeenGame, kind: str, ply: int, seat: int = 0, value: int = 0, *, text: str = "") -> Highlight:
    return Highlight(
        kind, played.game, played.names, played.totals, played.end, played.at, ply, seat, value, text
    )


def _changed(found: Highlight, *, value: int | None = None, text: str = "") -> Highlight:
    return replace(found, value=found.value if value is None else value, text=text)


def _by_length(found: tuple[int, Highlight]) -> tuple[int, int]:
    points, cascade = found
    return -cascade.value, -points


def _margin(totals: Sequence[int], seat: int) -> int:
    return totals[seat - 1] - max(total for other, total in enumerate(totals, 1) if other != seat)


def _lead_changes(plies: Sequence[Ply]) -> int:
    """How often another seat than before had the most points."""
    changes, leader = 0, 0
    for ply in plies:
        most = max(ply.total)
        if ply.total.count(most) == 1:
            seat = ply.total.index(most) + 1
            changes += leader not in (0, seat)
            leader = seat
    return changes


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * 86_400, UTC).date().isoformat()
