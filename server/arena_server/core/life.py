"""How a contest ends: the words of `Progress.ended` and of a contest's row, and what follows from each.

Standard library alone: what is loaded before a server listens reads this table, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

#: A server plays it, or was killed while it did.
RUNNING: Final = "running"
#: Every game has a result.
FINISHED: Final = "finished"
#: Games are left that bots which are missing, or the end of the time, have left unplayed.
INCOMPLETE: Final = "incomplete"
#: A round that was planned could not be drawn.
SHORT: Final = "short"
#: The server ended, or the organiser drained the contest: it can go on.
STOPPED: Final = "stopped"
#: The organiser has ended it for good.
ABORTED: Final = "aborted"


class Ending(NamedTuple):
    """What an ending means.

    `is_final`: no server goes on with the contest, and all of it may be shown. `is_whole`: each fact follows
    from the results, as no game was broken off that a later fact needs. `fails`: a command that waits for
    the end has status 1. `reason` says it to people, where the word alone does not.
    """

    is_final: bool = False
    is_whole: bool = False
    fails: bool = False
    reason: str = ""


ENDINGS: Final[Mapping[str, Ending]] = {
    FINISHED: Ending(is_final=True, is_whole=True),
    INCOMPLETE: Ending(fails=True),
    SHORT: Ending(
        is_final=True,
        is_whole=True,
        fails=True,
        reason="no further round can be drawn of the bots that are left and may meet",
    ),
    STOPPED: Ending(),  # as it was asked to
    ABORTED: Ending(is_final=True, fails=True),
}
#: The endings after which no server goes on.
FINAL: Final = tuple(word for word, ending in ENDINGS.items() if ending.is_final)
#: Those after which every fact follows from the results.
WHOLE: Final = tuple(word for word, ending in ENDINGS.items() if ending.is_whole)
#: The endings of a contest to which no order can be given any more; of a stopped one the server is ending.
OVER: Final = tuple(word for word in ENDINGS if word != STOPPED)


def reason_of(ending: str | None) -> str:
    """Why a contest ended so, for people; empty where the word says it, or it has not ended."""
    return "" if ending is None or ending not in ENDINGS else ENDINGS[ending].reason
