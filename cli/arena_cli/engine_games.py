"""Engines in this process, at the table of the referee: `play_in_process` judges and times them.

a pairing of a contest --play--> its record, as the server would have made it
a deal --play_game, play_deal--> points, faults and times, for benchmarks and tests
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from arena_engines.engine import Engine, Position
from arena_protocol.games.base import Deal, Game
from arena_protocol.record import GameRecord
from arena_server.core.deal import Setting
from arena_server.core.match import Match
from arena_server.host.inprocess import play_in_process
from arena_server.stats.scores import PlayedGame
from arena_server.terms.terms import LONGEST_MS, GameTerms

Clock = Callable[[], int]


class _SharedState:
    """What the players of a game know: the parts of its deal that are still hidden are not in `state`."""

    def __init__(self, setting: Setting, names: tuple[str, ...]) -> None:
        self._names = names
        self._rules: Game[Any] = setting.game
        self._deal = setting.deal
        self._clock_ms = setting.terms.clock_ms
        self._state = self._rules.start(Deal(self._deal.board, self._rules.preview(self._deal) or ""))
        self._moves: list[str] = []

    def position(self, match: Match) -> Position[Any, Any]:
        """The position in which the seat to move has to answer; the longest clock is none."""
        for ply in match.plies[len(self._moves) :]:
            self._moves.append(ply.move)
            self._state = self._rules.play(self._state, ply.move).position
            if (revealed := self._rules.reveal(self._deal, len(self._moves))) is not None:
                self._state = self._rules.extend(self._state, revealed)
        timed = self._clock_ms != LONGEST_MS
        return Position(
            rules=self._rules,
            state=self._state,
            start=self._deal.board,
            moves=tuple(self._moves),
            names=self._names,
            clock=match.clocks[match.timer.seat - 1] if timed else None,
            bank=self._clock_ms if timed else None,
        )


def play(setting: Setting, engines: Sequence[Engine], now: Clock = time.monotonic_ns) -> GameRecord:
    return _play(setting, engines, now, setting.names)


def _play(setting: Setting, engines: Sequence[Engine], now: Clock, names: tuple[str, ...]) -> GameRecord:
    table = _SharedState(setting, names)

    def chooser(engine: Engine) -> Callable[[Match], str]:
        return lambda match: str(engine.choose(table.position(match)))

    record = play_in_process(setting, [chooser(engine) for engine in engines], now)
    for engine in engines:
        engine.game_over()
    return record


def play_game(
    rules: Game[Any],
    deal: Deal,
    engines: Sequence[Engine],
    clock: int | None = None,
    now: Clock = time.monotonic_ns,
    names: tuple[str, ...] = (),
) -> PlayedGame:
    """Play one game on this deal. `clock` is each seat's bank in milliseconds, None without a clock.

    `now` returns the nanoseconds of a monotonic clock. Without `names` the engines do not know each other.
    """
    terms = GameTerms(game=rules.name, clock_ms=LONGEST_MS if clock is None else clock)
    seats = names or tuple(f"seat-{seat}" for seat in range(1, len(engines) + 1))
    setting = Setting(terms, "local", 0, rules, 1, "g1", seats, 0, 1, deal, "", "")
    return PlayedGame.of(_play(setting, engines, now, names))


def seatings(seats: int) -> list[tuple[int, ...]]:
    """Return the games of one deal: for each, the number of the engine in every seat.

    Two seats: both ways. More: every rotation of the order and of its reverse, so that each engine plays
    every seat twice, and with three seats every order once.
    """
    order = tuple(range(seats))
    orders = [order] if seats == 2 else [order, order[::-1]]
    return [each[turn:] + each[:turn] for each in orders for turn in range(seats)]


def play_deal(
    rules: Game[Any],
    deal: Deal,
    engines: Sequence[Engine],
    clock: int | None,
    names: tuple[str, ...] = (),
    now: Clock = time.monotonic_ns,
) -> Iterator[tuple[tuple[int, ...], PlayedGame]]:
    """Play the games of one deal, one for each of `seatings`. `names` and `now`: as of `play_game`."""
    for seating in seatings(len(engines)):
        seated = tuple(names[engine] for engine in seating if names)
        yield seating, play_game(rules, deal, [engines[engine] for engine in seating], clock, now, seated)
