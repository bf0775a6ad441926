"""Foresight beside the search: who ends whom, and whose move is made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import zip_longest

import pytest

from arena_engines.engine import Position
from arena_engines.registry import create
from arena_engines.xo.cells import Sides
from arena_engines.xo.foretold.adviser import Adviser, Whistle
from arena_engines.xo.foretold.foresight import Advice, Foresight
from arena_engines.xo.foretold.watched import Story
from arena_engines.xo.modern.engine import ModernXo, chosen, story_of
from arena_engines.xo.modern.player import Limits, Thinker, Thought
from arena_protocol.games.mnk import Xo

from .xo_minds import SIZE, First


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
    player.choose(Position(rules=rules, state=position, moves=tuple(moves)))
    assert bool(player._advisers) == (spec == "xo:time=200")


def test_a_story_begins_with_the_marks_that_nobody_made_in_it() -> None:
    story = story_of(Sides([1, 44, 50], [2, 55]), [44, 55, 50])
    assert story == Story([1], [2], [44, 55, 50])
    assert story.marks() == ([1, 44, 50], [2, 55])


LOST, EVEN, WON = (Thought(7, value, 1, 1) for value in (-999_990, 0, 999_990))


@pytest.mark.parametrize(
    ("thought", "safe", "advised"),
    [(LOST, False, True), (LOST, True, True), (EVEN, False, False), (EVEN, True, True), (WON, True, False)],
)
def test_a_win_goes_before_advice_and_what_is_not_safe_is_for_the_lost(
    thought: Thought, safe: bool, advised: bool
) -> None:
    assert chosen(thought, Advice(99, safe)) == (99 if advised else thought.cell)
    assert chosen(thought, None) == thought.cell


class Oracle(Foresight):
    """A foresight that knows what it will advise, and asks for the time before."""

    def __init__(self, advice: Advice | None) -> None:
        super().__init__(SIZE, [First()])
        self._advice = advice

    def advice(self, story: Story, in_time: Callable[[float], bool]) -> Advice | None:
        return self._advice if in_time(1) else None


@pytest.mark.parametrize(
    ("seconds", "advice", "ends"),
    [
        (3600, Advice(7, True), True),
        (3600, Advice(7, False), False),
        (3600, None, False),
        (0, Advice(7, True), False),
    ],
)
def test_only_safe_advice_ends_the_search_beside(seconds: float, advice: Advice | None, ends: bool) -> None:
    stopped = threading.Event()
    whistle = Whistle(stopped.set)
    asked = Adviser(Oracle(advice)).ask(Story([44], [55], []), seconds, whistle)
    assert asked.result() == (advice if seconds else None)
    if ends:
        assert stopped.wait(60)
    assert whistle.blown() == stopped.is_set() == ends


def test_a_whistle_stops_only_once() -> None:
    stops: list[int] = []
    whistle = Whistle(lambda: stops.append(1))
    assert not whistle.blown()
    whistle.blow()
    whistle.blow()
    assert whistle.blown()
    assert stops == [1]


def test_when_the_search_is_over_nothing_more_is_looked_for() -> None:
    whistle = Whistle(bool)
    whistle.blow()
    assert Adviser(Oracle(Advice(7, True))).ask(Story([44], [55], []), 3600, whistle).result() is None


class Broken(Foresight):
    """A foresight with a fault in it."""

    def advice(self, story: Story, in_time: Callable[[float], bool]) -> Advice | None:
        raise ArithmeticError(story)


def test_what_goes_wrong_beside_is_told_to_who_asks_for_the_advice() -> None:
    asked = Adviser(Broken(SIZE, [First()])).ask(Story([44], [55], []), 3600, Whistle(bool))
    with pytest.raises(ArithmeticError):
        asked.result()


def test_a_search_ends_when_it_is_over_whatever_else_is_allowed() -> None:
    thinker = Thinker(SIZE)
    thinker.set_up([44], [55])
    assert thinker.think(0, Limits(seconds=3600, over=lambda: True)).depth == 1


class Late(Foresight):
    """A foresight that has advice when the search beside it has ended."""

    searched = threading.Event()

    def advice(self, story: Story, in_time: Callable[[float], bool]) -> Advice | None:
        return Advice(99, False) if self.searched.wait(60) and in_time(1) else None


class Telling(ModernXo):
    """A player that tells Late when its search has ended."""

    def _think(self, size: int, sides: Sides, limits: Limits) -> Thought:
        thought = super()._think(size, sides, limits)
        Late.searched.set()
        return thought


@pytest.mark.parametrize(("threats", "waited_for"), [(["d4", "d5", "d6", "d7"], True), (["d4"], False)])
def test_where_all_is_lost_advice_is_waited_for(threats: list[str], waited_for: bool) -> None:
    """X has an open four or nothing, O is to move."""
    Late.searched.clear()
    player = Telling({"time": 300, "nodes": None, "depth": None, "foresight": None})
    player._advisers[SIZE] = Adviser(Late(SIZE, [First()]))
    rules = Xo(size=SIZE)
    position = rules.start(rules.deal(0))
    others = ["h2", "i9", "a10"][: len(threats) - 1]
    moves = [move for pair in zip_longest(threats, others) for move in pair if move]
    for move in moves:
        position = rules.play(position, move).position
    chosen_cell = player.choose(Position(rules=rules, state=position, moves=tuple(moves)))
    assert (chosen_cell == "j10") == waited_for
