"""A contest taken up again: from what is durable to where it stood.

Results stand as they are stored. A game that is not stored is played again from its entries
through the same Match, to the last call that was durable; nobody has heard of more.
It must not know: where results and entries are kept, connections.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_server.core.commands import Gate, Orders
from arena_server.core.games import Hall
from arena_server.core.journal import AGAIN, CONDUCT, GATE, KEY, JournalError, Live, Past
from arena_server.core.peers import Player


def recover(past: Past, hall: Hall, orders: Orders, players: Mapping[str, Player], now: int) -> None:
    """Bring hall, orders and players back. Raises JournalError for a past that no contest has had."""
    live = Live()
    stored = {game.number for game in past.results}
    try:
        live.add(past.entries)
        again = _contest(live, orders, players)
        hall.recall(past.results, again)
        for number, entries in sorted(live.games.items()):
            if number not in stored:
                hall.take_up(number, entries, now)
    except (LookupError, TypeError, ValueError) as error:
        raise JournalError(f"the journal of the contest makes no sense ({error!r})") from error


def _contest(live: Live, orders: Orders, players: Mapping[str, Player]) -> dict[int, int]:
    """Bring back what is not a game's; returns the void games by the numbers of those that replace them."""
    again: dict[int, int] = {}
    for _, kind, about, *values in live.contest:
        if kind == KEY:
            (players[about].resume,) = values
        elif kind == CONDUCT:
            player = players[about]
            player.forgiven, player.kicked = values
            player.barred = player.kicked
        elif kind == AGAIN:
            (again[about],) = values
        elif kind == GATE:
            # Whoever drained a contest wanted the server to leave; now it is here again.
            orders.gate = Gate.PAUSED if values == [Gate.PAUSED] else Gate.OPEN
        else:
            raise JournalError(f"an entry of kind {kind!r}")
    return again
