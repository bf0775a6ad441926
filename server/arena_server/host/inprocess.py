"""A game whose players are functions of this process, under the clock and the rules of the referee."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from arena_protocol.record import GameRecord, PlyRecord
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deal import Setting
from arena_server.core.match import Match, PlayMove, SayReady

#: Returns the move of a seat of this process that is to move.
Chooser: TypeAlias = Callable[[Match], str]


def play_in_process(
    setting: Setting, players: Sequence[Chooser], now: Callable[[], int] = time.monotonic_ns
) -> GameRecord:
    """Play a game to its end, with a player for each seat.

    `now` returns the nanoseconds of a monotonic clock. A seat's clock runs while its player is called, and
    `core.match` judges the answer as it judges a line of a bot.
    """
    began = now()
    match = InProcessMatch(setting, began)
    for seat in range(1, len(players) + 1):
        match.execute(SayReady(seat, began), began)
    match.play_out(players, now)
    return match.record()


class InProcessMatch(Match):
    """A match that asks its players itself: the facts are those of `execute(PlayMove(...), ...)`."""

    __slots__ = ()

    def play_out(self, players: Sequence[Chooser], now: Callable[[], int]) -> None:
        """Let a function for each seat play until the game is over; `now` returns the moment."""
        while not self.over:
            # Without any of these a ply in time leads to its fact and the next turn, and to nothing else.
            special = self.setting.own_seats or self._untimed or any(self.zombies) or any(self.lag)
            if not special and len(self.plies) >= self._game.seats:
                move = self._play_plain(players, now)
            else:
                seat = self.timer.seat
                self.run(now())
                answer = players[seat - 1](self)
                move = PlayMove(seat, answer, _line(answer), now())
            if move is not None:
                self.execute(move, move.arrived)

    def _play_plain(self, players: Sequence[Chooser], now: Callable[[], int]) -> PlayMove | None:
        """Play plies that are legal and in time; return the first other answer, None at the end of the game.

        It is `_decide_move`, `_ply`, `apply` and `_advance` in one frame, without the cases of `play_out`: a
        test compares the records.
        """
        game, control, origin, timer = self._game, self._control, self._origin, self.timer
        is_legal, play, end, to_move, total = game.is_legal, game.play, game.end, game.to_move, game.totals
        plies, position, clocks = self.plies, self.position, self.clocks
        new, increment = tuple.__new__, control.increment
        #: How long each seat may take from now on.
        spans = [control.flag_at(clock, 0) for clock in clocks]
        seat = timer.seat
        while True:
            sent = now()
            flag = sent + spans[seat - 1]
            timer.hand(seat, sent, flag)
            move = players[seat - 1](self)
            arrived = now()
            if arrived >= flag or not is_legal(position, move):
                return PlayMove(seat, move, _line(move), arrived)
            if arrived < sent:  # `elapsed_ms`, and `max`, without a call
                arrived = sent
            charge = (arrived - sent) // NS_PER_MS
            if charge or increment:
                left = control.after(clocks[seat - 1], charge)
                self.clocks = clocks = (*clocks[: seat - 1], left, *clocks[seat:])
                spans[seat - 1] = control.flag_at(left, 0)
            self.position, points = position, _ = play(position, move)
            begun, ended = sent - origin, arrived - origin
            entry = seat, move, charge, begun, ended, clocks, points, total(position), False, 0, 0
            plies.append(new(PlyRecord, entry))
            if end(position) is not None:
                self._advance([], arrived)
                return None
            seat = to_move(position)


def _line(move: str) -> bytes:
    """The line of a move of this process."""
    return f"MOVE {move}".encode("utf-8", "replace")
