"""What may be seen of a contest at a moment: the rule of every channel that shows results or lines.

    live       the port for spectators and guests, the page and its streams, `arena web`, webhooks, publish
    not live   what a command writes for others: site, report, export
    not asked  the organiser's page, commands and /metrics see everything, a bot its own games

Which records of shown games may be read is a second question: `deal.may_show_deal`. Who plays whom in an
anonymous contest is a third one: results, draws and schedules ask `may_name`, lines of games `shown_names`.
What a record has of an offending line is `recorded_line`. The life of a contest is seen as its results are:
`end_is_seen` says whether it is over for those channels, which is what `shown_until` and `may_name` ask of.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final, NamedTuple

#: Later than any moment.
ALWAYS: Final = 1 << 62
#: Earlier than any moment.
NEVER: Final = -1
#: How many words of a line are no secret that has a token or bytes that a bot stores: verb, version and name.
_SAID: Final = {b"HELLO": 3, b"STORE": 1}


def may_name(*, anonymous: bool, over: bool) -> bool:
    """Whether others than the organiser may see who plays whom.

    A result, a table or a draw of an anonymous contest says it as a name in a game does: an author knows the
    games of one bot, and finds the other by what has changed with them.
    """
    return over or not anonymous


def shown_names(names: Sequence[str], seat: int, *, anonymous: bool) -> tuple[str, ...]:
    """The names of the seats of a game that runs, as `seat` sees them, or a spectator (0)."""
    if may_name(anonymous=anonymous, over=False):
        return tuple(names)
    return tuple(name if at == seat else alias(at) for at, name in enumerate(names, start=1))


def alias(seat: int) -> str:
    """What a player is called whose name may not be seen."""
    return f"player-{seat}"


def is_alias(name: str) -> bool:
    """Whether a player may be called so by `alias`; in letters of any size, so that no two look alike."""
    return name.lower().startswith("player-")


def recorded_line(line: bytes) -> bytes:
    """What a record has of the line of a fault: all but what may be a token or stored bytes."""
    words = line.split()
    said = _SAID.get(words[0].upper()) if words else None
    if said is None:
        return line
    kept = [*takewhile(lambda word: b"=" not in word, words[:said])]
    return line if kept == words else b" ".join(kept)


def shown_until(
    now: int,
    delay: int,
    frozen_at: int | None,
    *,
    over: bool = False,
    live: bool = True,
    named: bool = True,
) -> int:
    """Until when what has happened may be seen now by others than the organiser; all in one unit of time.

    `frozen_at`: from then on nothing new is seen, until the contest is `over`: it has ended, other than
    by the end of its server, and that is seen (`end_is_seen`). `live`: the channel also shows running games,
    or stands beside one that does.
    `named`: what is shown says who has played whom, and may (`may_name`).
    """
    if not named:
        return NEVER
    if over and not live:
        return ALWAYS
    # Also of a contest that is over: who watches its last game is to see the end of it there.
    until = now - delay
    return until if over or frozen_at is None else min(until, frozen_at)


def end_is_seen(now: int, delay: int, ended_at: int, *, over: bool = True, live: bool = True) -> bool:
    """Whether it is seen now that a contest has ended at `ended_at`, as late as its last result.

    `over` and `live` are as in `shown_until`; a freeze keeps results back and not the end, which lifts it.
    """
    return ended_at <= shown_until(now, delay, None, over=over, live=live)


class SeenEnd(NamedTuple):
    """An ending that others than the bots and the organiser see `delay` ns after `at`; None: none yet."""

    delay: int
    ending: str | None
    at: int

    @property
    def seen_from(self) -> int:
        return self.at + self.delay

    def is_seen(self, now: int) -> bool:
        return end_is_seen(now, self.delay, self.at)
