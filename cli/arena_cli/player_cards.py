"""The cards of all players of a Swiss as a table: `12w1` is a win against number 12, with the first seat.

no  bot    1     2       3    score
 1  ann    3w1   2b1/2   bye    2.5
 2  bob    4b1   1w1/2   3w+    2.5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena_cli.tables import Cell, Column, ResultTable

NOTE: Final = (
    "12w1: against number 12 with the first seat (w; b: the second) a win (0: a loss, 1/2: tied, + and -: by "
    "walkover, *: not over)"
)


def cards_table(title: str, cards: Sequence[Mapping[str, Any]]) -> ResultTable:
    """A row for each of the `cards` of `arena_server.core.formats.player_cards`, a column for each round."""
    rounds = len(cards[0]["rounds"]) if cards else 0
    heads = [Column("no"), Column("bot", is_text=True)]
    heads += [Column(str(number), is_text=True) for number in range(1, rounds + 1)]
    heads += [Column("score")]
    cells: list[list[Cell]] = [
        [card["no"], card["bot"], *card["rounds"], f"{card['score']:g}"] for card in cards
    ]
    return ResultTable(title, heads, cells, [NOTE])
