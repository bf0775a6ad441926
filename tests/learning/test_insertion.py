"""`arena.insertion.Batch`: many games as arrays, equal to the rules ply by ply."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena import Deal, GameError, make_game
from arena.insertion import Batch, afterstates
from arena_protocol.games.insertion import MOVES

BOARD = "...../...../...../12.../12..."
OPTIONS = st.fixed_dictionaries(
    {"plies": st.integers(1, 40), "colours": st.integers(3, 7), "seats": st.integers(2, 4)},
    optional={"lookahead": st.integers(1, 50)},
)
TWO = np.zeros((3, 2), np.int64)
OTHER = "...../...../...../...../33.33"
STARTS = st.sampled_from(
    [{}, {"start": "partial"}, {"start": "empty"}, {"board": BOARD}, {"board": f"{BOARD}|{OTHER}"}]
)


@settings(max_examples=60)
@given(
    options=OPTIONS, start=STARTS, games=st.integers(1, 6), seed=st.integers(0, 2**32), drawn=st.booleans()
)
def test_it_is_equal_to_the_rules_ply_by_ply(
    options: dict[str, int], start: dict[str, str], games: int, seed: int, drawn: bool
) -> None:
    rules = make_game("insertion", {**options, **start})
    deals = [rules.deal(seed + number) for number in range(games)]
    batch = Batch(games if drawn else deals, seed=seed, **options, **start)
    dealt = [batch.deal(number) for number in range(games)]
    assert drawn or dealt == deals
    positions: list[Any] = [rules.start(deal) for deal in dealt]
    draws = np.random.default_rng(seed)
    while not batch.over:
        shown = [rules.seen(position) for position in positions]
        assert [batch.position(number) for number in range(games)] == positions
        assert ["".join(map(str, row)) for row in batch.coming()] == [each.visible for each in shown]
        assert [["." if cell == 0 else str(cell) for cell in rows.flat] for rows in batch.boards()] == [
            list(rules.scene(position).pieces) for position in positions
        ]
        assert [tuple(np.array(MOVES)[row]) for row in batch.distinct_moves()] == [
            position.distinct_moves for position in positions
        ]
        assert batch.seat == rules.to_move(positions[0])
        moves = draws.integers(1, 16, games)
        steps = [rules.play(position, str(move)) for position, move in zip(positions, moves, strict=True)]
        assert list(batch.step(moves)) == [step.points for step in steps]
        positions = [step.position for step in steps]
    assert [tuple(row) for row in batch.totals] == [rules.totals(position) for position in positions]
    assert {rules.end(position) for position in positions} == {"complete"}


def test_a_seed_fixes_the_deals_and_they_are_as_often_as_those_of_the_rules() -> None:
    one, two, other = (Batch(300, seed=seed, plies=20, start="partial") for seed in (1, 1, 2))
    assert [one.deal(number) for number in range(300)] == [two.deal(number) for number in range(300)]
    assert one.deal(0) != other.deal(0)
    drawn = np.bincount((one.boards() > 0).sum(axis=1).ravel(), minlength=6)
    assert all(170 < count < 330 for count in drawn), "of 1,500 columns each of six heights has 250"
    pictures = np.bincount(np.concatenate([one.coming().ravel(), other.coming().ravel()]), minlength=7)
    assert pictures[0] == 0
    assert all(1_800 < count < 2_200 for count in pictures[1:]), "of 12,000 pictures each of six has 2,000"


def test_points_stay_when_the_next_ply_is_played() -> None:
    batch = Batch([Deal("...../...../...../...../11...", "1" * 4)], plies=4)
    first = batch.step([8])
    batch.step(np.array([6], np.uint8))
    assert (first.tolist(), batch.totals.tolist()) == ([30], [[30, 0]])


@all_of(
    ("games", "options", "text"),
    [
        (0, {}, "a batch has 1 to 10000000 games, not 0"),
        ([], {}, "a batch has 1 to 10000000 games, not 0"),
        (1, {"size": 3}, "insertion has no option 'size'; it has: board, colours"),
        (1, {"colours": 9}, "insertion: colours is a whole number from 3 to 7, not 9"),
        ([Deal(BOARD, "123")], {}, "a deal of a batch has all of its 200 pictures"),
        ([Deal("x", "123")], {}, "a board is five rows of five cells joined by '/', not 'x'"),
    ],
)
def test_an_impossible_batch(games: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(GameError) as caught:
        Batch(games, **options)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("moves", "text"),
    [
        ([1, 0], "a move of insertion is a number from 1 to 15, not 0"),
        ([272, 1], "a move of insertion is a number from 1 to 15, not 272"),
        ([1], "moves are 2 whole numbers, not int64 of the shape (1,)"),
        ([1.0, 2.0], "moves are 2 whole numbers, not float64 of the shape (2,)"),
    ],
)
def test_impossible_moves_play_nothing(moves: Any, text: str) -> None:
    batch = Batch(2, plies=1)
    before = batch.boards()
    with pytest.raises(GameError) as caught:
        batch.step(moves)
    assert str(caught.value) == text
    assert (batch.boards() == before).all()
    batch.step([1, 1])
    with pytest.raises(GameError, match=r"^the games are over: all 1 plies are played$"):
        batch.step([1, 1])


@settings(max_examples=40)
@given(games=st.integers(1, 5), seed=st.integers(0, 2**32), plies=st.integers(1, 30), same=st.booleans())
def test_the_afterstates_are_what_each_move_makes_of_each_board(
    games: int, seed: int, plies: int, same: bool
) -> None:
    rules = make_game("insertion", {"plies": plies + 1})
    batch, draws = Batch(games, seed=seed, plies=plies + 1), np.random.default_rng(seed)
    for _ in range(plies):
        batch.step(draws.integers(1, 16, games))
    pictures: Any = 3 if same else draws.integers(1, 8, games)
    planes, points = afterstates(batch.planes, pictures)
    assert (planes.shape, points.shape) == ((3, games, 15), (games, 15))
    for number in range(games):
        picture = 3 if same else int(pictures[number])
        board = batch.position(number)
        position = board._replace(sequence=f"{board.sequence[:plies]}{picture}")
        for move in range(1, 16):
            after, gained = rules.play(position, str(move))
            assert tuple(planes[:, number, move - 1].tolist()) == after.planes
            assert points[number, move - 1] == gained
    assert [each.shape for each in afterstates(batch.planes[:, :0], [])] == [(3, 0, 15), (0, 15)]


@all_of(
    ("planes", "pictures", "text"),
    [
        (np.zeros((2, 4), int), 1, "planes have the shape (3, boards), not (2, 4)"),
        (
            TWO,
            [1, 2, 3],
            "pictures are 2 whole numbers or one, not int64 of the shape (3,)",
        ),
        (TWO, 1.5, "pictures are 2 whole numbers or one, not float64 of the shape ()"),
        (TWO, [1, 8], "a picture is a colour from 1 to 7"),
        (TWO, 0, "a picture is a colour from 1 to 7"),
    ],
)
def test_impossible_afterstates(planes: Any, pictures: Any, text: str) -> None:
    with pytest.raises(GameError) as caught:
        afterstates(planes, pictures)
    assert str(caught.value) == text
