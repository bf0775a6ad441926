"""How a format is brought back by the facts of an interrupted contest: their order, and what each does.

for fact in sorted(facts, key=decided_at): ...        then the results, in the order of storing
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_server.core.facts import (
    Annulled,
    Drawn,
    Extended,
    Forbidden,
    Joined,
    Left,
    Paired,
    Penalised,
    Repeat,
    Ruled,
    Separated,
    Shortened,
    TotalSet,
    Walkover,
)
from arena_server.core.formats.base import DrawnFormat, Format, Pairing
from arena_server.core.journal import JournalError

#: The facts of a contest that its fixtures are brought back by.
FixtureFact = (
    Repeat
    | Annulled
    | Ruled
    | Penalised
    | Drawn
    | Paired
    | Forbidden
    | Walkover
    | Joined
    | Left
    | Extended
    | Shortened
    | TotalSet
    | Separated
)


def check_repeat(
    repeat: Repeat, games: Mapping[int, Pairing], following: int, *, done: bool, paired: bool
) -> None:
    """Raise JournalError for a game that cannot be played again under the number `following`.

    `done`: it has a result, or is repeated already.
    """
    number, void, deal = repeat
    if done:
        raise JournalError(f"g{void} is repeated, and has a result or is repeated already")
    if number != following:
        raise JournalError(f"g{number} repeats g{void}, and is not the next number")
    if void not in games:
        raise JournalError(f"g{void} is not a game of this contest")
    if paired and deal != games[void].deal:
        raise JournalError(f"g{number} repeats g{void} of deal {games[void].deal} on deal {deal}")


def recall_round(form: Format, fact: Drawn | Paired | Forbidden) -> None:
    if isinstance(fact, Drawn):
        form.drawn(fact)
        return
    if not isinstance(form, DrawnFormat):
        raise JournalError(f"{form.NAME} draws no rounds, and one is paired by hand")
    form.pair(fact) if isinstance(fact, Paired) else form.forbid(fact)


def recall_length(form: Format, change: Extended | Shortened) -> None:
    if change.first != form.next_number:
        what = "extended" if isinstance(change, Extended) else "shortened"
        raise JournalError(f"{what} at g{change.first}, which is not the next number")
    if isinstance(change, Extended):
        form.extend(change.games)
    else:
        form.shorten(change.games)


def decided_at(fact: FixtureFact | Pairing) -> tuple[int, bool]:
    """The numbers of games come from one counter, so this is the order in which they were decided."""
    match fact:
        case Joined() | Extended() | Shortened() | Forbidden():
            return fact.first, False  # the next game may have this number, too
        case Drawn() | Paired():
            return fact.first, True
        case Repeat() | Pairing():
            return fact.number, True
    return 0, True
