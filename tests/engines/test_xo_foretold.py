"""Opponents that are foretold: what is planned against them, and that nobody else is trusted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from arena_engines.registry import create
from arena_engines.table import Table
from arena_engines.xo.cells import Sides
from arena_engines.xo.foretold.foresight import KNOWN, TRUSTED, Advice, Foresight, Story
from arena_engines.xo.foretold.minds import Mind1970
from arena_engines.xo.foretold.planner import Planner, Step
from arena_engines.xo.minimax import THRESHOLDS
from arena_engines.xo.modern.engine import ModernXo, story_of
from arena_engines.xo.modern.player import Limits, Thinker
from arena_engines.xo.swift.player import Swift1970
from arena_protocol.games.marks import Marks, board_of
from arena_protocol.games.xo import Xo

from .xo_minds import SIZE, First, Fours, Last, Turncoat, game, ticks
from .xo_slow import five


@pytest.fixture(scope="module")
def thinker() -> Thinker:
    return Thinker(SIZE)


def follow(mind: Mind1970, start: tuple[list[int], list[int]], side: int, steps: Sequence[Step]) -> None:
    """Make the moves of a plan, checking every answer."""
    for cell, answer in steps:
        assert cell not in {*start[0], *start[1]}
        start[side].append(cell)
        assert mind.reply(*start, 1 - side, 99_999) == answer
        start[1 - side].append(answer)


@pytest.mark.parametrize(("x", "o"), [([44, 55], [45]), ([44], []), ([44, 54, 46], [45, 35])])
def test_a_plan_leads_to_a_win_by_threats_if_all_goes_as_foretold(
    thinker: Thinker, x: list[int], o: list[int]
) -> None:
    mind = Mind1970(SIZE, THRESHOLDS)
    start = ([*x, 33], [*o, 66])
    side = len(x) - len(o)
    steps = Planner(thinker, mind, side, ticks(20_000)).plan(*start)
    assert steps
    follow(mind, start, side, steps)
    thinker.set_up(*start)
    assert thinker.win_by_fours(side) or thinker.win_by_threats(side)


def test_without_time_nothing_is_planned(thinker: Thinker) -> None:
    assert Planner(thinker, First(), 0, ticks(0)).plan([44, 45], [54, 55]) == ()
    assert Planner(thinker, First(), 0, ticks(1)).plan([44, 45], [54, 55]) == ()


def test_no_step_lets_the_mind_make_five(thinker: Thinker) -> None:
    x, o = [11, 77, 18, 4], [90, 91, 92, 93]
    steps = Planner(thinker, Fours(), 0, ticks(5000)).plan(x, o)
    assert steps[0].cell == 94


def test_on_a_board_that_is_nearly_full_there_is_no_plan(thinker: Thinker) -> None:
    order = [cell for cell in range(SIZE * SIZE) if (cell // 10 + cell % 10 // 2) % 2]
    order += [cell for cell in range(SIZE * SIZE) if cell not in order]
    x, o = order[:50][:49], order[50:][:49]
    assert Planner(thinker, First(), 0, ticks(5000)).plan(x, o) == ()


class Scripted(Foresight):
    """A foresight with minds of the test's own."""

    def __init__(self, thinker: Thinker, *minds: First) -> None:
        super().__init__(thinker)
        self._minds = list(minds)


def test_nobody_is_known_by_one_move(thinker: Thinker) -> None:
    foresight = Scripted(thinker, First())
    quiet = [99, 96, 93, 69, 66, 63]
    for moves in range(1, KNOWN + 1):
        story = game(First(), quiet[:moves], [44], [17])
        assert (foresight.advice(story, ticks(5000)) is None) == (moves < KNOWN)


def test_who_moves_otherwise_is_not_planned_against(thinker: Thinker) -> None:
    foresight = Scripted(thinker, Last())
    assert foresight.advice(game(First(), [99, 96, 93], [44], [17]), ticks(5000)) is None


def test_a_plan_is_kept_to_while_all_goes_as_foretold(thinker: Thinker) -> None:
    foresight = Scripted(thinker, First())
    story = game(First(), [99, 96, 93], [44], [17])
    advice = foresight.advice(story, ticks(5000))
    assert advice is not None
    first = advice.cell
    moves = [*story.moves, first, First().reply([*story.marks()[0], first], story.marks()[1], 1)]
    no_time_to_plan = ticks(2)
    second = foresight.advice(Story(story.x, story.o, moves), no_time_to_plan)
    thinker.set_up(*Story(story.x, story.o, moves).marks())
    assert second is not None or thinker.win_by_threats(0)


def test_against_one_who_leaves_the_plan_nothing_of_it_is_played(thinker: Thinker) -> None:
    foresight = Scripted(thinker, First())
    story = game(First(), [99, 96, 93], [44], [17])
    advice = foresight.advice(story, ticks(5000))
    assert advice is not None
    left = Story(story.x, story.o, [*story.moves, advice.cell, 50])
    assert foresight.advice(left, ticks(5000)) is None


def test_a_plan_that_was_not_followed_is_dropped(thinker: Thinker) -> None:
    foresight = Scripted(thinker, First())
    story = game(First(), [99, 96, 93], [44], [17])
    assert foresight.advice(story, ticks(5000)) is not None
    elsewhere = game(First(), [99, 96, 93, 90], [44], [17])
    assert foresight.advice(elsewhere, ticks(2)) is None, "there was no time for another plan"
    assert foresight.advice(elsewhere, ticks(5000)) is not None


def test_against_the_next_suspect_the_plan_is_another_one(thinker: Thinker) -> None:
    foresight = Scripted(thinker, First(), Turncoat())
    own = [99, 96, 93]
    before = foresight.advice(game(Turncoat(), own, [44], [17]), ticks(5000))
    assert before is not None
    changed = game(Turncoat(), [*own, before.cell], [44], [17])
    after = foresight.advice(changed, ticks(5000))
    assert after is not None
    assert after.cell not in {*changed.marks()[0], *changed.marks()[1]}


def test_where_a_win_is_on_the_board_nothing_is_planned(thinker: Thinker) -> None:
    foresight = Scripted(thinker, First())
    assert foresight.advice(game(First(), [99, 45, 46], [44], [17]), ticks(5000)) is None


def test_two_games_at_a_time_are_watched_apart(thinker: Thinker) -> None:
    foresight = Scripted(thinker, First())
    here, there = (game(First(), own, [44], [17]) for own in ([99, 96, 93], [98, 96, 92]))
    assert foresight.advice(here, ticks(5000)) is not None
    assert foresight.advice(there, ticks(5000)) is not None
    assert len(foresight._games) == 2
    assert foresight.advice(here, ticks(5000)) is not None
    assert len(foresight._games) == 2


#: O has an open three on row 7, which First does not use; X has none, and plans without answering it.
THREE = ([44, 41, 81], [62, 63, 64])


@pytest.mark.parametrize(("own", "safe"), [([99, 96], False), ([99, 96, 93, 90, 87, 84, 21][:TRUSTED], True)])
def test_what_could_be_punished_is_safe_only_against_who_is_trusted(
    thinker: Thinker, own: list[int], safe: bool
) -> None:
    story = game(First(), own, *THREE)
    advice = Scripted(thinker, First()).advice(story, ticks(9000))
    assert advice is not None
    assert advice.safe == safe


@pytest.mark.parametrize("seat", [0, 1])
def test_the_program_of_1970_is_beaten_from_the_empty_board(thinker: Thinker, seat: int) -> None:
    rival, foresight = Swift1970(SIZE), Foresight(thinker)
    moves = [44, 55]
    while not five(SIZE, frozenset(moves[::2])) and not five(SIZE, frozenset(moves[1::2])):
        marks = (moves[::2], moves[1::2])
        side = len(moves) % 2
        if side == seat:
            advice = foresight.advice(Story([], [], moves), ticks(40_000))
            thinker.set_up(*marks)
            cell = advice.cell if advice else thinker.think(side, Limits(nodes=5000)).cell
        else:
            cell = rival.reply(*marks, side)
        moves.append(cell)
    assert (len(moves) - 1) % 2 == seat


@pytest.mark.parametrize("spec", ["xo:nodes=300", "xo:time=200,foresight=0", "xo:time=20", "xo:time=200"])
def test_only_by_a_clock_and_unless_it_is_forbidden_is_anybody_foretold(spec: str) -> None:
    player = create(spec, "xo")
    assert isinstance(player, ModernXo)
    player.warm_up()
    rules = Xo(size=SIZE)
    position = rules.start(rules.deal(0))
    moves = ["e5", "f6", "e6", "f5"]
    for move in moves:
        position = rules.play(position, move).position
    player.choose(Table(rules=rules, position=position, moves=tuple(moves)))
    assert bool(player._foresights) == (spec == "xo:time=200")


def test_a_story_begins_with_the_marks_that_nobody_made_in_it() -> None:
    story = story_of(Sides([1, 44, 50], [2, 55]), [44, 55, 50])
    assert story == Story([1], [2], [44, 55, 50])
    assert story.marks() == ([1, 44, 50], [2, 55])


class Advised(ModernXo):
    """A player that is advised to mark j10."""

    safe = False

    def _foretold(self, *_: object) -> Advice:
        return Advice(SIZE * SIZE - 1, self.safe)


@pytest.mark.parametrize(
    ("threats", "safe", "advised"), [(2, False, True), (1, False, False), (0, False, False), (0, True, True)]
)
def test_advice_that_is_not_safe_is_taken_where_all_else_is_lost(
    threats: int, safe: bool, advised: bool
) -> None:
    player = Advised({"time": None, "nodes": 500, "depth": None, "foresight": None})
    player.safe = safe
    bits = list(board_of(SIZE).cells.values())
    x, o = [0, 19, 80, 46], [54, 55, 56, 57] if threats else [54, 9, 90, 57]
    if threats == 1:
        x[3] = 53
    table = Table(rules=Xo(size=SIZE), position=Marks(sum(bits[c] for c in x), sum(bits[c] for c in o)))
    assert (player.choose(table) == "j10") == advised
