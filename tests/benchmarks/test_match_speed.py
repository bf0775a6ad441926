"""The table of the match speed benchmark, and the length of its rival's game."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from benchmarks.match_speed.__main__ import PLIES, table

SOURCE = Path(__file__).parents[2] / "benchmarks" / "match_speed" / "uci.c"


def test_the_table_has_the_ratios_of_each_round() -> None:
    assert table({"arena": [100.0, 300.0, 150.0], "fastchess": [50.0, 100.0, 100.0]}) == [
        "arena       150.0 us a ply (100.0 to 300.0)",
        "fastchess   100.0 us a ply (50.0 to 100.0); arena takes 2.00 times that (1.50 to 3.00)",
    ]


def test_the_game_of_the_uci_program_repeats_no_position_three_times() -> None:
    text = SOURCE.read_text(encoding="ascii")
    white, pawn, black = (
        re.findall(r'"(\w{4})"', re.search(rf"{name}\[\] = {{([^}}]*)}}", text)[1])  # type: ignore[index]
        for name in ("WHITE", "PAWN", "BLACK")
    )
    pieces, seen = {"a1": "K", "e2": "P", "a8": "k"}, Counter[tuple[object, ...]]()
    since = 0
    for ply in range(PLIES):
        move = ply // 2
        if ply % 2:
            played = black[move % len(black)]
        else:
            played = pawn[move // 30] if move % 30 == 29 else white[(move - move // 30) % len(white)]
        piece = pieces.pop(played[:2])
        assert piece == ("k" if ply % 2 else "P" if played in pawn else "K")
        pieces[played[2:]] = piece
        since = 0 if piece == "P" else since + 1
        assert since < 100
        seen[(ply % 2, *sorted(pieces.items()))] += 1
    assert max(seen.values()) == 2
