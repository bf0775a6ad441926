"""A game whose players are functions of this process, under the clock and the rules of the referee."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from arena_protocol.record import GameRecord
from arena_server.core.deal import Setting
from arena_server.core.match import Chooser, Match
from arena_server.core.match_commands import SayReady


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
    match.play_out(players, now)
    return match.record()
