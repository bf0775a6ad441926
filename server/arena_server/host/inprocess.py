"""A game whose players are functions of this process, under the clock and the rules of the referee."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from arena_protocol.record import GameRecord
from arena_server.core.deal import Setting
from arena_server.core.match import Match, PlayMove, SayReady

#: Returns a seat's move. It is asked when the seat is to move, and sees what has been played so far.
Chooser = Callable[[Match], str]


def play_in_process(
    setting: Setting, players: Sequence[Chooser], now: Callable[[], int] = time.monotonic_ns
) -> GameRecord:
    """Play a game to its end, with a player for each seat.

    `now` returns the nanoseconds of a monotonic clock. A seat's clock runs while its player is called, and
    `core.match` judges the answer as it judges a line of a bot.
    """
    began = now()
    match = Match(setting, began)
    for seat in range(1, len(players) + 1):
        match.execute(SayReady(seat, began), began)
    while not match.over:
        seat = match.timer.seat
        match.run(now())
        move = players[seat - 1](match)
        arrived = now()
        match.execute(PlayMove(seat, move, f"MOVE {move}".encode("utf-8", "replace"), arrived), arrived)
    return match.record()
