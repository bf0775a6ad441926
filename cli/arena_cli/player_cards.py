"""The cards of all players of a Swiss in one table: `12w1` is a win against number 12, with the first seat.

no  bot    1     2       3    score
 1  ann    3w1   2b1/2   bye    2.5
 2  bob    4b1   1w1/2   3w+    2.5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena_cli.tables import Cell, Column, ResultTable

#: What a game won, lost and tied is, and one that was not played.
_PLAYED, _NOT_PLAYED = ("1", "0", "1/2"), ("+", "-", "-")
#: Of a round without the player.
ABSENT: Final = "-"
NOTE: Final = (
    "12w1: against number 12 with the first seat (w; b: the second) a win (0: a loss, 1/2: tied, + and -: by "
    "walkover, *: not over)"
)


def cards_table(
    title: str, rows: Sequence[Mapping[str, Any]], rounds: Sequence[Mapping[str, Any]]
) -> ResultTable:
    """A row for each bot in the order of the table `rows`, a column for each of the `rounds`."""
    numbers = {row["bot"]: number for number, row in enumerate(rows, start=1)}
    fields = [_fields(each, numbers) for each in rounds]
    heads = [Column("no"), Column("bot", is_text=True)]
    heads += [Column(str(number), is_text=True) for number in range(1, len(rounds) + 1)]
    heads += [Column("score")]
    cells: list[list[Cell]] = [
        [number, name, *(each.get(name, ABSENT) for each in fields), f"{row['score']:g}"]
        for (name, number), row in zip(numbers.items(), rows, strict=True)
    ]
    return ResultTable(title, heads, cells, [NOTE])


def _fields(round_: Mapping[str, Any], numbers: Mapping[str, int]) -> dict[str, str]:
    fields = {}
    for match in round_["matches"]:
        first, second = match["names"]
        if match["state"] == "bye":
            fields[first] = "bye"
            continue
        win, loss, tied = _NOT_PLAYED if match["state"] == "walkover" else _PLAYED
        for name, other, colour in ((first, second, "w"), (second, first, "b")):
            result = tied if match["winner"] is None else win if match["winner"] == name else loss
            fields[name] = f"{numbers[other]}{colour}{'*' if match['state'] == 'open' else result}"
    return fields
