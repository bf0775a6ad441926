"""What may be seen of a contest at a moment: the rule of every channel that shows results or lines.

    live       the port for spectators and guests, the page and its streams, `arena web`, webhooks, publish
    not live   what a command writes for others: site, report, export
    not asked  the organiser's page, commands and /metrics see everything, a bot its own games

Which records of shown games may be read is a second question: `deal.may_show_deal`.
"""

from __future__ import annotations

from typing import Final

#: Later than any moment.
ALWAYS: Final = 1 << 62


def shown_until(now: int, delay: int, frozen_at: int | None, *, over: bool = False, live: bool = True) -> int:
    """Until when what has happened may be seen now by others than the organiser; all in one unit of time.

    `frozen_at`: from then on nothing new is seen, until the contest is `over`: it has ended, other than
    by the end of its server. `live`: the channel also shows running games, or stands beside one that does.
    """
    if over and not live:
        return ALWAYS
    # Also of a contest that is over: who watches its last game is to see the end of it there.
    until = now - delay
    return until if over or frozen_at is None else min(until, frozen_at)
