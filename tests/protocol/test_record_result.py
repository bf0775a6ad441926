"""How a game ended, in words: for terminals, pictures and, by its JavaScript twin, the page."""

from __future__ import annotations

import pytest

from arena_protocol.record import describe_result, winning_seats


@pytest.mark.parametrize(
    ("totals", "end", "sentence"),
    [
        ((240, 250), "complete", "boris wins 250 : 240"),
        ((1250, 0), "complete", "anna wins 1,250 : 0"),
        ((240, 240), "complete", "a draw, 240 : 240"),
        ((0, 2), "win", "boris wins 2 : 0"),
        ((1, 1), "draw", "a draw, 1 : 1"),
        ((2, 0), "forfeit", "anna wins 2 : 0 by forfeit"),
        ((0, 0), "forfeit", "no winner, 0 : 0 by forfeit"),
        ((30, 10), "void", "void, it does not count"),
        ((30, 10, 20), "complete", "anna wins: anna 30, boris 10, cleo 20"),
        ((30, 30, 20), "complete", "a draw of anna and boris: anna 30, boris 30, cleo 20"),
        ((5, 5, 5), "complete", "a draw: anna 5, boris 5, cleo 5"),
        ((0, 9, 9), "forfeit", "no winner by forfeit: anna 0, boris 9, cleo 9"),
    ],
)
def test_the_winner_is_named_with_all_totals(totals: tuple[int, ...], end: str, sentence: str) -> None:
    assert describe_result(("anna", "boris", "cleo")[: len(totals)], totals, end) == sentence


def test_the_seats_that_win() -> None:
    assert winning_seats((30, 10, 30), "complete") == [1, 3]
    assert winning_seats((30, 10), "void") == []
