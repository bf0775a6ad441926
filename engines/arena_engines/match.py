"""Play engines against each other in this process, on real clocks, and tell which is better.

Games come in pairs: every deal is played twice with the seats swapped, so what a board gives one side it
gives the other too, and a pair is one observation. A move is charged the time that it took, in whole
milliseconds as the referee does; who oversteps or answers with no legal move is a zombie for the rest
of that game. It must not know: the wire, the server, the command line.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from time import perf_counter
from typing import Any

from arena_engines.engine import Engine, EngineError, Position
from arena_engines.registry import create
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game

RESAMPLES = 2000
#: Error probabilities of the sequential test.
ALPHA = BETA = 0.05
#: The sequential test decides nothing on fewer deals: their variance is not known well enough.
LEAST_DEALS = 4


@dataclass(slots=True)
class Seat:
    """One seat of a running game."""

    engine: Engine
    clock: int | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """One game: points, faults (None without one) and milliseconds used, each in the order of the seats."""

    totals: tuple[int, ...]
    faults: tuple[str | None, ...]
    used: tuple[int, ...]
    moves: tuple[str, ...]


def play_game(
    rules: Game[Any],
    deal: Deal,
    engines: Sequence[Engine],
    clock: int | None = None,
    now: Callable[[], float] = perf_counter,
) -> Played:
    """Play one game to its end.

    `clock` is each seat's bank in milliseconds, None without a clock; `now` returns the seconds of a
    monotonic clock.
    """
    seats = [Seat(engine, clock) for engine in engines]
    state = rules.start(Deal(deal.board, rules.preview(deal) or ""))
    moves: list[str] = []
    used = [0] * len(seats)
    while rules.end(state) is None:
        at = rules.to_move(state) - 1
        seat = seats[at]
        move = None
        if seat.fault is None:
            position = Position(
                rules=rules, state=state, start=deal.board, moves=tuple(moves), clock=seat.clock, bank=clock
            )
            began = now()
            answer = str(seat.engine.choose(position))
            move, spent = _judged(rules, state, seat, answer, now() - began)
            used[at] += spent
        if move is None:
            if rules.zombie_move is None:
                totals = rules.forfeit(state, at + 1)
                return Played(totals, tuple(seat.fault for seat in seats), tuple(used), tuple(moves))
            move = rules.zombie_move
        moves.append(move)
        state = rules.play(state, move).position
        revealed = rules.reveal(deal, len(moves))
        if revealed is not None:
            state = rules.extend(state, revealed)
    return Played(rules.totals(state), tuple(seat.fault for seat in seats), tuple(used), tuple(moves))


def _judged(rules: Game[Any], state: Any, seat: Seat, move: str, seconds: float) -> tuple[str | None, int]:
    """Return the move and the milliseconds charged; no move if it came too late or is illegal."""
    spent = int(seconds * 1000)
    if seat.clock is not None:
        if spent > seat.clock:
            spent, seat.fault = seat.clock, "timeout"
        seat.clock -= spent
    if seat.fault is None and not rules.is_legal(state, move):
        seat.fault = "illegal"
    return (move if seat.fault is None else None), spent


@dataclass(slots=True)
class Pairs:
    """What two engines made of the deals so far: per deal, the mean points of each over its two games."""

    one: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)
    faults: dict[str, list[str]] = field(default_factory=dict)
    used: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, names: Sequence[str], first: Played, second: Played) -> None:
        """Add a deal: `first` with the first name in seat 1, `second` with the seats swapped."""
        self.one.append((first.totals[0] + second.totals[1]) / 2)
        self.other.append((first.totals[1] + second.totals[0]) / 2)
        for name, at in zip(names, (0, 1), strict=True):
            for game, seat in ((first, at), (second, 1 - at)):
                self.used[at] = max(self.used[at], game.used[seat])
                fault = game.faults[seat]
                if fault is not None:
                    self.faults.setdefault(name, []).append(fault)

    def advantages(self) -> list[float]:
        """Return, per deal, the lead of the first in shares of all points: -1..1."""
        return [(one - other) / max(one + other, 1) for one, other in zip(self.one, self.other, strict=True)]

    def summary(self, names: Sequence[str]) -> dict[str, Any]:
        """Return means, intervals (95 %, bootstrap over the deals) and faults, ready for JSON."""
        one, other = _mean(self.one), _mean(self.other)
        return {
            "engines": list(names),
            "deals": len(self.one),
            "games": 2 * len(self.one),
            "points": [round(one, 2), round(other, 2)],
            "interval": [bootstrap([self.one], _mean), bootstrap([self.other], _mean)],
            "ratio": _ratio(self.one, self.other),
            "ratio_interval": bootstrap([self.one, self.other], _ratio),
            "deals_won": sum(a > b for a, b in zip(self.one, self.other, strict=True)),
            "deals_drawn": sum(a == b for a, b in zip(self.one, self.other, strict=True)),
            "most_ms": list(self.used),
            "faults": self.faults,
        }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)


def _ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """Return points of the one for a point of the other; against no points at all, for one point a game."""
    return round(_mean(one) / max(_mean(other), 1.0), 4)


def bootstrap(
    columns: Sequence[Sequence[float]], statistic: Callable[..., float], resamples: int = RESAMPLES
) -> list[float]:
    """Return the middle 95 % of a statistic over deals resampled with replacement.

    `columns` are lists of one number per deal, since the games of one deal are not independent; the
    statistic gets as many lists. The same numbers give the same interval; no deals give [0, 0].
    """
    size = len(columns[0])
    if size == 0:
        return [0.0, 0.0]
    chance = random.Random(size)  # noqa: S311 - statistics, not secrets
    values = []
    for _ in range(resamples):
        drawn = chance.choices(range(size), k=size)
        values.append(statistic(*([column[at] for at in drawn] for column in columns)))
    values.sort()
    return [round(values[int(share * (resamples - 1))], 4) for share in (0.025, 0.975)]


def sequential_test(values: Sequence[float], margin: float) -> dict[str, Any]:
    """Return `llr`, its `bounds` and the `verdict` on whether the mean is 0 or `margin`.

    Wald's test on the log-likelihood ratio of two normal distributions with the variance seen so far.
    The verdict is `better` (margin accepted), `no better` (0 accepted) or `open`.
    """
    low, high = math.log(BETA / (1 - ALPHA)), math.log((1 - BETA) / ALPHA)
    llr = _log_likelihood_ratio(values, margin)
    verdict = "better" if llr >= high else "no better" if llr <= low else "open"
    return {"llr": round(llr, 3), "bounds": [round(low, 3), round(high, 3)], "verdict": verdict}


def _log_likelihood_ratio(values: Sequence[float], margin: float) -> float:
    size = len(values)
    if size < LEAST_DEALS:
        return 0.0
    mean = sum(values) / size
    variance = sum((value - mean) ** 2 for value in values) / (size - 1)
    # Deals without any spread decide at once, in the direction of their mean.
    return size * margin * (mean - margin / 2) / max(variance, 1e-9)


Progress = Callable[[Mapping[str, Any]], None]


def match(
    one: str,
    other: str,
    *,
    game: str = "insertion",
    options: Mapping[str, object] | None = None,
    deals: int = 10,
    clock: int | None = 20_000,
    seed: int = 2006,
    sprt: float | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Play up to `deals` pairs of games between two engines and return the summary, ready for JSON.

    `sprt`: stop as soon as a sequential test decides whether the first's advantage (lead in shares of all
    points) is nearer to 0 or to this much; the answer's `verdict` is then `better`, `no better` or
    `open`. `progress` gets the summary after each deal. Raises EngineError for a wrong engine, GameError
    for a wrong game or option.
    """
    rules = _two_seats(game, options)
    engines = _ready(one, game), _ready(other, game)
    pairs = Pairs()
    answer: dict[str, Any] = {}
    for number in range(deals):
        pairs.add((one, other), *_both_ways(rules, seed + number, engines, clock))
        answer = {"game": game, "clock": clock, "seed": seed, **pairs.summary((one, other))}
        if sprt is not None:
            answer |= sequential_test(pairs.advantages(), sprt)
        if progress is not None:
            progress(answer)
        if answer.get("verdict", "open") != "open":
            break
    return answer


def league(
    specs: Sequence[str],
    *,
    game: str = "insertion",
    options: Mapping[str, object] | None = None,
    deals: int = 4,
    clock: int | None = 20_000,
    seed: int = 2006,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Play every engine against every other; return the cross-table and the standings, ready for JSON.

    `table[i][j]` is the mean points of engine i against engine j, None on the diagonal; `standings` lists
    the engines by mean points a game, best first. `progress` gets each pair's summary when it is done.
    """
    table: list[list[float | None]] = [[None] * len(specs) for _ in specs]
    faults: dict[str, list[str]] = {}
    for (i, one), (j, other) in combinations(enumerate(specs), 2):
        result = match(one, other, game=game, options=options, deals=deals, clock=clock, seed=seed)
        table[i][j], table[j][i] = result["points"]
        for name, found in result["faults"].items():
            faults.setdefault(name, []).extend(found)
        if progress is not None:
            progress(result)
    means = [_mean([points for points in row if points is not None]) for row in table]
    order = sorted(range(len(specs)), key=lambda at: -means[at])
    return {
        "game": game,
        "clock": clock,
        "deals": deals,
        "seed": seed,
        "engines": list(specs),
        "table": table,
        "standings": [{"engine": specs[at], "points": round(means[at], 2)} for at in order],
        "faults": faults,
    }


def _two_seats(game: str, options: Mapping[str, object] | None) -> Game[Any]:
    rules = make_game(game, dict(options or {}), strangers=False)
    if rules.seats != 2:
        raise EngineError(f"a match is played by 2 seats; this game has {rules.seats}")
    return rules


def _ready(spec: str, game: str) -> Engine:
    engine = create(spec, game)
    engine.warm_up()
    return engine


def _both_ways(
    rules: Game[Any], seed: int, engines: tuple[Engine, Engine], clock: int | None
) -> Iterator[Played]:
    """Yield the two games of a deal."""
    deal = rules.deal(seed)
    yield play_game(rules, deal, engines, clock)
    yield play_game(rules, deal, engines[::-1], clock)


def text_table(answer: Mapping[str, Any]) -> str:
    """Return a match as a person reads it."""
    rows = [f"{'engine':<40} {'points':>8}  {'95 % interval':>17}  {'most ms':>8}  faults"]
    for at, name in enumerate(answer["engines"]):
        low, high = answer["interval"][at]
        faults = len(answer["faults"].get(name, ()))
        rows.append(
            f"{name:<40} {answer['points'][at]:>8.1f}  {low:>7.1f} to {high:>6.1f}  "
            f"{answer['most_ms'][at]:>8}  {faults}"
        )
    low, high = answer["ratio_interval"]
    verdict = f"; verdict: {answer['verdict']}" if "verdict" in answer else ""
    rows.append(f"ratio {answer['ratio']:.3f} ({low:.3f} to {high:.3f}) in {answer['games']} games{verdict}")
    return "\n".join(rows)
