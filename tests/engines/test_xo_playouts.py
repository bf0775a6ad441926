"""Games played on to their end against a mind, and the repertoire that is made of those that were won."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import pytest

from arena_engines.xo.cells import symmetries
from arena_engines.xo.foretold import playouts, repertoire
from arena_engines.xo.foretold.playouts import REPEATED, Playouts
from arena_engines.xo.foretold.repertoire import Repertoire
from arena_engines.xo.foretold.watched import Step, Story
from arena_engines.xo.modern.player import Thinker

from .xo_minds import SIZE, First, Fours, Never, game, ticks


@pytest.fixture(scope="module")
def thinker() -> Thinker:
    return Thinker(SIZE)


class Copying(First):
    """A mind that marks a cell next to the last mark; it knows how often and when it was asked."""

    asked = 0
    last: Sequence[int] = ()

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        self.asked += 1
        self.last = list(x)
        free = [cell for cell in range(SIZE * SIZE) if cell not in {*x, *o}]
        return min(free, key=lambda cell: (abs(cell - (x, o)[1 - side][-1]), cell))


def test_a_game_that_is_won_leads_to_a_win_with_the_answers_of_the_mind(thinker: Thinker) -> None:
    mind = Copying()
    marks = [[44, 33], [45, 66]]
    steps = next(filter(None, Playouts(thinker, mind, 0, ticks(9999)).plans(*marks)))
    for cell, answer in steps:
        marks[0].append(cell)
        assert mind.reply(*marks, 1) == answer
        marks[1].append(answer)
    thinker.set_up(*marks)
    assert thinker.win_by_fours(0) or thinker.win_by_threats(0)


def test_later_games_leave_the_path_of_the_first_one(thinker: Thinker) -> None:
    games = Playouts(thinker, Copying(), 0, ticks(9999)).plans([44, 33], [45, 66])
    assert len({steps for steps in islice(games, 30) if steps}) > 1


@pytest.mark.parametrize(
    ("mind", "start"), [(Never(), ([44, 33], [45, 66])), (First(), ([44, 45, 46], [99, 90, 9]))]
)
def test_where_no_game_leads_anywhere_new_it_is_over(
    thinker: Thinker, mind: First, start: tuple[list[int], list[int]]
) -> None:
    found = list(Playouts(thinker, mind, 0, ticks(10**9)).plans(*start))
    assert not any(found), "what is won already needs no step"
    assert len(found) == 1 + REPEATED


def test_a_game_that_the_mind_wins_is_no_plan(thinker: Thinker) -> None:
    start = [11, 77, 18, 4], [90, 91, 92, 93]
    found = [steps for steps in islice(Playouts(thinker, Fours(), 0, ticks(9999)).plans(*start), 20) if steps]
    assert {steps[0].cell for steps in found} == {94}


def test_no_game_is_longer_than_the_longest(thinker: Thinker, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = {2: 99, 3: 96, 4: 93, 5: 69}
    for longest in (2, 3):
        monkeypatch.setattr(playouts, "LONGEST", longest)
        mind = Copying()
        games = Playouts(thinker, mind, 0, ticks(99), lambda marks: quiet[len(marks[0])])
        next(games.plans([44, 33], [45, 66]))
        assert mind.asked == longest


def test_without_time_or_on_a_full_board_no_game_is_played(thinker: Thinker) -> None:
    mind = Copying()
    assert not list(Playouts(thinker, mind, 0, ticks(0)).plans([44], [45]))
    order = [cell for cell in range(SIZE * SIZE) if (cell // 10 + cell % 10 // 2) % 2]
    order += [cell for cell in range(SIZE * SIZE) if cell not in order]
    assert not any(Playouts(thinker, mind, 1, ticks(99)).plans(order[:50], order[50:99]))
    assert mind.asked == 0


def test_the_first_game_takes_hints_and_only_the_first(thinker: Thinker) -> None:
    quiet = {2: 99, 3: 96, 4: 93, 5: 69, 6: 63, 7: 90}
    asked: list[int] = []

    def hint(marks: Sequence[Sequence[int]]) -> int | None:
        asked.append(len(marks[0]))
        return quiet.get(len(marks[0]))

    mind = Copying()
    games = Playouts(thinker, mind, 0, ticks(9999), hint).plans([44, 33], [45, 66])
    next(games)
    assert asked[:6] == list(quiet)
    assert mind.last[2:8] == list(quiet.values())
    before = list(asked)
    next(games)
    assert asked == before


# ---- what was won


def test_a_won_game_gives_hints_in_every_image_of_it() -> None:
    kept, mind = Repertoire(), First()
    kept.learn(mind, game(mind, [99, 96, 93], [44], [17]))
    marks = game(mind, [99], [44], [17]).marks()
    for image in symmetries(SIZE):
        shown = [[image[cell] for cell in cells] for cells in marks]
        assert kept.mirrored(mind, shown, SIZE) == image[96]
        assert kept.mirrored(First(), shown, SIZE) is None


@pytest.mark.parametrize("size", [2, 10, 13])
def test_symmetries_are_the_eight_that_keep_neighbours_together(size: int) -> None:
    images = symmetries(size)
    assert len(set(images)) == 8
    for image in images:
        assert sorted(image) == list(range(size * size))
        places = [divmod(cell, size) for cell in image]
        for at in range(size * size - 1):
            (row, column), (next_row, next_column) = places[at], places[at + 1]
            assert (at + 1) % size == 0 or abs(row - next_row) + abs(column - next_column) == 1


def test_own_moves_of_a_won_game_are_known_against_the_same_mind_only() -> None:
    kept, first, other = Repertoire(), First(), First()
    kept.learn(first, game(first, [99, 96, 93], [44], [17]))
    for own, cell in (([], 99), ([99], 96), ([99, 96], 93)):
        story = game(first, own, [44], [17])
        assert kept.step(first, story) == Step(cell, len(own))
        assert kept.step(other, story) is None
    assert kept.step(first, game(first, [99, 96, 93], [44], [17])) is None
    assert kept.step(first, game(first, [96], [44], [17])) is None


def test_a_position_is_the_same_however_it_came_about() -> None:
    kept, mind = Repertoire(), First()
    kept.learn(mind, game(mind, [99, 96, 93], [44], [17]))
    assert kept.step(mind, Story([96, 44, 99], [1, 17, 0], [])) == Step(93, 2)


def test_of_too_many_steps_the_first_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repertoire, "KEPT", 2)
    kept, mind = Repertoire(), First()
    kept.learn(mind, game(mind, [99, 96, 93], [44], [17]))
    known = [kept.step(mind, game(mind, [99, 96][:own], [44], [17])) for own in range(3)]
    assert known == [None, Step(96, 1), Step(93, 2)]
