"""Master as a player: models of the opponent, plans, guards, clocks, and every shape of game."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena_engines.engine import Engine, EngineError
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.insertion.master.engine import BELIEF, Master
from arena_engines.insertion.master.follower import LAST_PLY, Follower
from arena_engines.insertion.master.minds import MINDS, Mind, Minds
from arena_engines.insertion.master.planner import (
    IMPOSSIBLE,
    NOTHING,
    Quest,
    gamble,
    guard,
    hasty,
    plan,
    widen,
)
from arena_engines.insertion.master.root import FIRST, LAST
from arena_engines.insertion.master.team import Ponderer, Team
from arena_engines.insertion.master.timing import budget
from arena_engines.insertion.master.workspace import OWN_MIND, PLAN, SPOILING_MIND, Workspace
from arena_engines.insertion.simple import Dummy, Greedy, Random
from arena_engines.match import Played, play_game
from arena_engines.registry import create
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.rules import distinct_moves, play
from arena_protocol.games.insertion.text import Planes

from .positions import at

LONG = 600.0


def master(**values: int | str) -> Master:
    return Master({"millis": 2, **values})


def played(one: Engine, other: Engine, seed: int = 7, **options: object) -> Played:
    rules = Insertion.from_options({"plies": 60, **options})
    return play_game(rules, rules.deal(seed), (one, other))


class Recorder(Greedy):
    """Greedy, and keeps what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[InsertionPosition] = []

    def choose(self, position: InsertionPosition) -> int:
        self.seen.append(position)
        return super().choose(position)


def positions(opponent: Engine, plies: int = 60, **options: object) -> list[InsertionPosition]:
    """What seat 1 sees of a game of greedy against an opponent."""
    recorder = Recorder()
    played(recorder, opponent, plies=plies, **options)
    return recorder.seen


def followed(seen: list[InsertionPosition], sixes: int = 5) -> Follower:
    follower = Follower((Workspace(12),), sixes)
    for position in seen:
        follower.follow(position, lambda: False)
    return follower


# Models of the opponent.


@pytest.mark.parametrize(
    ("opponent", "mind"),
    [
        (Champion({"depth": 5}), Mind(OWN_MIND, 5)),
        (Champion({"depth": 3}), Mind(OWN_MIND, 3)),
        (Champion({"depth": 4, "strategy": "spoiling"}), Mind(SPOILING_MIND, 4)),
        (Greedy(), Mind(OWN_MIND, 1)),
    ],
)
def test_the_opponents_model_is_found_by_its_moves(opponent: Engine, mind: Mind) -> None:
    minds = followed(positions(opponent)).minds
    assert minds.best == mind
    assert minds.trust > 0.9


class Plain(Engine):
    """What an author writes first: two plies, points or the lead alone, the first or last of equals."""

    game = "insertion"
    name = "plain"

    def __init__(self, theirs: int, last: bool) -> None:
        super().__init__({})
        self.theirs, self.last = theirs, last

    def warm_up(self) -> None:
        """Nothing is compiled."""

    def choose(self, position: InsertionPosition) -> int:
        planes = position.state.planes
        distinct = distinct_moves(*planes)
        moves = [move for move in range(1, 16) if distinct >> move & 1]
        worth = {move: self.worth(planes, move, position.state.visible[:2]) for move in moves}
        best = [move for move in moves if worth[move] == max(worth.values())]
        return best[-1 if self.last else 0]

    def worth(self, planes: Planes, move: int, pictures: str) -> int:
        p0, p1, p2, removed, _, _ = play(*planes, move, int(pictures[0]))
        replies = [play(p0, p1, p2, reply, int(pictures[1]))[3] for reply in range(1, 16) if pictures[1:]]
        return removed - self.theirs * max(replies, default=0)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("theirs", [0, 1])
def test_the_plainest_programs_are_foretold(theirs: int, last: bool) -> None:
    minds = followed(positions(Plain(theirs, last))).minds
    assert minds.trust > 0.9
    assert minds.best.order == (LAST if last else FIRST)


def test_nobody_foretells_chance() -> None:
    minds = followed(positions(Random({"seed": 4}))).minds
    assert minds.trust < BELIEF


def test_minds_begin_alike_but_for_the_likeliest() -> None:
    minds = Minds()
    assert minds.best == MINDS[0] == Mind(OWN_MIND, 5)
    assert minds.trust >= BELIEF
    minds.saw(lambda mind: mind.depth == 2)
    minds.saw(lambda mind: mind.depth == 2)
    assert minds.best == Mind(OWN_MIND, 2)
    minds.restart()
    assert minds.best == MINDS[0]


def test_the_most_trusted_minds_are_asked_first_while_there_is_time() -> None:
    minds = Minds()
    for _ in range(6):
        minds.saw(lambda mind: mind == Mind(SPOILING_MIND, 3))
    asked: list[Mind] = []

    def foretold(mind: Mind) -> bool:
        asked.append(mind)
        return True

    minds.saw(foretold, lambda: len(asked) == 3)
    assert asked[0] == Mind(SPOILING_MIND, 3)
    assert len(asked) == 3


# Following a game.


def test_a_zombie_is_seen_after_so_many_sixes() -> None:
    seen = positions(Dummy())
    assert not followed(seen[:5]).alone
    assert followed(seen[:6]).alone
    assert not followed(seen[:20], sixes=0).alone


def test_another_game_starts_afresh() -> None:
    one, other = positions(Champion({"depth": 2})), positions(Dummy(), start="empty")
    follower = followed(one + other[:1])
    assert not follower.alone
    assert follower.minds.best == MINDS[0]
    assert follower.planes == other[0].state.planes


def test_a_game_longer_than_the_plans_goes_on() -> None:
    seen = positions(Champion({"depth": 2}), plies=2 * LAST_PLY + 40)
    follower = followed(seen)
    assert follower.ply <= LAST_PLY
    assert follower.minds.best == Mind(OWN_MIND, 2)
    assert follower.planes == seen[-1].state.planes
    # All of it at once, as after a lost connection.
    assert followed(seen[-1:]).minds.best == Mind(OWN_MIND, 2)


def test_a_position_without_its_history_will_do() -> None:
    follower = followed([replace(at("...../...../...../...../12345", "1234"), start="")])
    assert (follower.ply, follower.known) == (0, 4)


def test_a_board_that_the_moves_do_not_lead_to_is_refused() -> None:
    seen = positions(Greedy())
    wrong = replace(seen[2], state=replace(seen[2].state, planes=(0, 0, 0)))
    with pytest.raises(EngineError, match="is not what the moves of this game lead to"):
        followed([wrong])


# Planning.


@pytest.fixture(scope="module")
def quest_and_work() -> tuple[Quest, Workspace]:
    work = Workspace(14)
    follower = Follower((work,), 5)
    follower.follow(positions(Champion({"depth": 3}))[9], lambda: False)
    return Quest(follower.planes, follower.ply, follower.known), work


def test_plans_guards_and_haste_give_distinct_moves(quest_and_work: tuple[Quest, Workspace]) -> None:
    quest, work = quest_and_work
    distinct = distinct_moves(*quest.planes)
    for move in (
        plan(work, quest, Mind(OWN_MIND, 3), 0.05).move,
        guard(work, quest, 0.02),
        hasty(work, quest),
    ):
        assert distinct >> move & 1


def test_a_wider_plan_is_worth_no_less_by_its_own_reckoning(quest_and_work: tuple[Quest, Workspace]) -> None:
    quest, work = quest_and_work
    work.clear()
    values = []
    for width in (1, 8, 64):
        work.beam(quest.planes, OWN_MIND, quest.ply, width=width, plies=10, reply_depth=3, leaf=0)
        values.append(work.value)
    assert values[0] <= values[1] <= values[2]
    assert values[0] < values[2]


def test_a_beam_that_drops_nothing_finds_the_best_of_all_plans() -> None:
    """Against a zombie, three own moves: a wide beam equals an exact search with the zombie's one move."""
    follower = followed(positions(Dummy())[:12])
    work = follower._works[0]
    work.clear()
    work.beam(follower.planes, OWN_MIND, follower.ply, width=4096, plies=5, reply_depth=1, leaf=0)
    planned = work.value
    work.decide(follower.planes, PLAN, follower.ply, range(5, 6))
    assert planned == work.value


def test_a_stopped_search_returns_nothing_and_the_next_one_runs(
    quest_and_work: tuple[Quest, Workspace],
) -> None:
    quest, work = quest_and_work
    work.clear()
    work.stop()
    assert widen(work, quest, Mind(OWN_MIND, 5), LONG) == NOTHING
    assert plan(work, quest, Mind(OWN_MIND, 2), 0.05).move


def test_gambling_sums_over_draws_and_marks_what_is_no_move(quest_and_work: tuple[Quest, Workspace]) -> None:
    quest, work = quest_and_work
    drawn: list[int] = []
    short = quest._replace(known=3)
    sums = gamble(work, short, Mind(OWN_MIND, 2), 0.05, drawn.append, 3)
    distinct = distinct_moves(*quest.planes)
    assert [move for move in range(16) if sums[move] > IMPOSSIBLE] == [
        move for move in range(16) if distinct >> move & 1
    ]
    assert len(drawn) > 1
    assert set(drawn) == {3}
    work.stop()


def test_a_team_works_at_once_and_answers_in_order() -> None:
    works = (Workspace(8), Workspace(8))
    assert Team(works).each(lambda number, work: (number, work is works[number])) == [(0, True), (1, True)]


def test_pondering_leaves_the_workspace_free(quest_and_work: tuple[Quest, Workspace]) -> None:
    quest, work = quest_and_work
    ponderer = Ponderer(work)
    ponderer.stop()
    ponderer.start(quest, Mind(OWN_MIND, 3), 1)
    ponderer.stop()
    assert guard(work, quest, 0.01)


# Playing.


def test_master_beats_the_champion_even_in_a_hurry() -> None:
    one = [played(master(millis=10), Champion(), seed) for seed in (1, 2)]
    other = [played(Champion(), master(millis=10), seed) for seed in (1, 2)]
    mine = sum(game.totals[0] for game in one) + sum(game.totals[1] for game in other)
    theirs = sum(game.totals[1] for game in one) + sum(game.totals[0] for game in other)
    assert mine > 1.1 * theirs


def test_beside_a_zombie_nearly_all_pictures_become_points() -> None:
    game = played(master(millis=5), Dummy(), plies=200)
    assert game.totals[0] >= 1700


@pytest.mark.parametrize(
    "values",
    [
        {"threads": 2},
        {"ponder": "yes"},
        {"model": "own"},
        {"model": "spoiling"},
        {"model": "worst"},
        {"zombie": 0},
    ],
)
def test_every_parameter_plays(values: dict[str, int | str]) -> None:
    assert played(master(**values), Champion({"depth": 2}), plies=30).faults == (None, None)


@pytest.mark.parametrize(
    "options",
    [
        {"lookahead": 1},
        {"lookahead": 3},
        {"lookahead": 60},
        {"colours": 3},
        {"colours": 7, "start": "empty"},
        {"start": "partial", "plies": 1},
    ],
)
def test_every_shape_of_game_is_played(options: dict[str, object]) -> None:
    assert played(master(), Greedy(), **{"plies": 30, **options}).faults == (None, None)


def test_four_seats_are_played() -> None:
    rules = Insertion.from_options({"seats": 4, "plies": 40})
    players = (Greedy(), master(), Greedy(), Dummy())
    game = play_game(rules, rules.deal(1), players)
    assert game.faults == (None,) * 4
    assert len(game.moves) == 40


def test_no_time_left_is_no_fault() -> None:
    """Five milliseconds a move and less: every move is made in haste, and in time."""
    seen = positions(Champion({"depth": 2}))
    player = master()
    for position in seen[:20]:
        assert 1 <= player.choose(replace(position, clock=1, bank=20_000)) <= 15


# Time.


def clocked(clock: int | None, ply: int = 1, bank: int = 20_000) -> float:
    position = at("...../...../...../...../.....", "1" * 200, plies=200, clock=clock, bank=bank)
    return budget(replace(position, state=replace(position.state, played=ply - 1)), 77.0)


def test_the_bank_is_spread_over_the_moves_left() -> None:
    assert clocked(None) == 77.0
    assert 180 < clocked(20_000) < 200
    assert clocked(20_000, ply=199) > 19_000
    assert clocked(10_000, ply=101) == pytest.approx(clocked(20_000), rel=0.05)
    assert clocked(50) == 0.0


def test_a_clock_used_by_its_budget_never_falls() -> None:
    """Each move takes its budget and some milliseconds more, one a long stall."""
    clock = 20_000.0
    for ply in range(1, 201, 2):
        clock -= clocked(int(clock), ply) + (150 if ply == 99 else 5)
        assert clock > 0
    assert clock < 1_000


# Parameters.


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("master:threads=3", "threads=3: expected threads=1..2"),
        ("master:model=best", r"model=best: expected model=seen\|own\|spoiling\|worst"),
        ("master:ponder=1", r"ponder=1: expected ponder=no\|yes"),
        ("master:depth=5", "engine master has no parameter 'depth'; its parameters are: model="),
    ],
)
def test_wrong_parameters_are_refused_with_the_right_ones(spec: str, text: str) -> None:
    with pytest.raises(EngineError, match=text):
        create(spec)


def test_making_a_master_is_quick_and_compiles_nothing() -> None:
    player = create("master:threads=2,model=own")
    assert "_works" not in vars(player)
    assert player.spec.startswith("master:model=own,threads=2")
