"""The climb: the interval covers the rating, and the same bot gets the same rung."""

from __future__ import annotations

import math
import random
import signal
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import rows

from arena_cli.climb import BEYOND, WIDTH, ClimbBounds, ClimbStep, Measure, climb
from arena_cli.climb_ladder import FOLDER, RatedLadder, Rung, first_games
from arena_cli.climb_rating import Against, guess, place
from arena_engines.registry import create
from arena_protocol.games import make_game
from arena_server.errors import ArenaError, ConfigError
from arena_server.stats.elo import score_of

SHORT = ("--option", "plies=8", "--clock", "60s")
#: The widest step of a ladder of this version is below 150 points, but for these.
GAPS = {"xo": 180}
#: The share of even games that is drawn, where it is large.
DRAWS = {"tictactoe": 0.5}
LADDER = RatedLadder("insertion", {}, tuple(Rung(f"r{at}", 80.0 * at) for at in range(30)))


def logistic(
    rating: float, seed: int, *, draws: float = 0.0, seat: float = 0.0, ladder: RatedLadder = LADDER
) -> Measure:
    """A player of this rating; a seat is worth `seat` points, and this share of the even games is drawn.

    What it scores in a step follows from the step alone, as it does of a bot that reads no clock.
    """

    def measure(number: int, rung: int, deals: int) -> ClimbStep:
        chance, counts = random.Random(f"{seed} {number} {rung}"), [0] * 5
        for _ in range(deals):
            score = 0.0
            for side in (seat, -seat):
                expected = score_of(rating + side - ladder.rungs[rung].rating)
                drawn = 2 * draws * min(expected, 1 - expected)
                lot = chance.random()
                score += 0.5 if lot < drawn else float(lot < drawn / 2 + expected)
            counts[round(2 * score)] += 1
        return ClimbStep(rung, counts)

    return measure


def climbed(
    measure: Measure, bounds: ClimbBounds | None = None, ladder: RatedLadder = LADDER
) -> list[ClimbStep]:
    steps: list[ClimbStep] = []
    assert not climb(ladder, bounds or ClimbBounds(), measure, steps, "bot")
    return steps


def played(steps: Sequence[ClimbStep], ladder: RatedLadder = LADDER) -> list[Against]:
    return [Against(ladder.rungs[step.rung].rating, step.counts) for step in steps]


# -- the rating


def _covered(rating: float, draws: float, seat: float, runs: int) -> int:
    """In how many seeded climbs the interval has the rating."""
    bounds = ClimbBounds(games=300, width=200)
    players = (logistic(rating, seed, draws=draws, seat=seat) for seed in range(runs))
    places = [place(played(climbed(player, bounds))) for player in players]
    assert all(each.width <= bounds.width for each in places)
    # The way the opponents are chosen does not move it, either: its deviation is 50.
    assert abs(sum(each.rating for each in places) / runs - rating) < 4 * 50 / math.sqrt(runs)
    return sum(each.low <= rating <= each.high for each in places)


@pytest.mark.parametrize(
    ("rating", "draws", "seat"),
    rows([(1190.0, 0.5, 0.0), (30.0, 0.0, 0.0), (2390.0, 0.0, 150.0), (1190.0, 0.0, 0.0)], 2),
)
def test_the_interval_covers_the_rating_of_a_logistic_player(
    rating: float, draws: float, seat: float
) -> None:
    assert _covered(rating, draws, seat, 60) >= 52  # 57 are 95 %, with a deviation of 1.7


@pytest.mark.soak
@pytest.mark.parametrize("rating", [30.0, 1190.0])
@pytest.mark.parametrize("draws", [0.0, 0.5])
def test_it_does_so_in_95_of_100_climbs(rating: float, draws: float) -> None:
    # A seat that is worth much bends the curve of the score: there it is 90 to 92 of 100.
    assert 0.93 <= _covered(rating, draws, 0.0, 1_000) / 1_000 <= 0.975


PAIRS = st.lists(st.integers(0, 6), min_size=5, max_size=5).filter(any)
PLAYED = st.lists(st.builds(Against, st.floats(0, 2_000), PAIRS), min_size=1, max_size=5)


@given(PLAYED)
def test_the_rating_is_where_the_expected_points_are_those_that_were_scored(games: list[Against]) -> None:
    found = place(games)
    assert found.low <= found.rating <= found.high
    scored = sum(count * at / 4 for each in games for at, count in enumerate(each.counts))
    pairs = sum(each.pairs for each in games)
    assert (found.low == -math.inf) == (scored == 0)
    assert (found.high == math.inf) == (scored == pairs)
    if 0 < scored < pairs:
        expected = sum(each.pairs * score_of(found.rating - each.rating) for each in games)
        assert expected == pytest.approx(scored, abs=1e-4)
        # More points on the same deals are a higher rating.
        more = [Against(each.rating, [*each.counts[:4], each.counts[4] + 1]) for each in games]
        assert place(more).rating > found.rating


@given(PLAYED)
def test_the_next_opponent_is_chosen_by_a_finite_rating_on_the_side_of_the_points(
    games: list[Against],
) -> None:
    assert -5_000 < guess(games, 1_000) < 7_000
    won = [Against(each.rating, [0, 0, 0, 0, each.pairs]) for each in games]
    lost = [Against(each.rating, [each.pairs, 0, 0, 0, 0]) for each in games]
    assert guess(lost, 1_000) < guess(games, 1_000) + 1e-3 < guess(won, 1_000) + 2e-3


def test_half_of_the_points_of_a_rung_is_that_rung() -> None:
    places = [place([Against(rating, (0, 0, 1, 0, 0))]) for rating in LADDER.ratings]
    assert [LADDER.number(each.rating) for each in places] == list(range(1, len(LADDER.rungs) + 1))


def test_without_games_nothing_is_known() -> None:
    assert place([]).width == math.inf
    assert guess([], 700) == pytest.approx(700)


# -- the climb


@pytest.mark.parametrize("seed", range(5))
def test_the_same_bot_gets_the_same_steps(seed: int) -> None:
    assert climbed(logistic(1_000, seed)) == climbed(logistic(1_000, seed))


@pytest.mark.parametrize("kept", [1, 3, 8])
def test_a_climb_that_goes_on_is_the_one_that_was_not_ended(
    kept: int, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = climbed(logistic(1_500, 3))
    lines = capsys.readouterr().err.splitlines()
    later = logistic(1_500, 3)

    def measure(number: int, rung: int, deals: int) -> ClimbStep | None:
        if number > kept:
            return later(number, rung, deals)
        step = whole[number - 1]
        assert (rung, 2 * deals) == (step.rung, step.games)
        return ClimbStep(step.rung, step.counts, kept=True)

    assert [step.counts for step in climbed(measure)] == [step.counts for step in whole]
    games = sum(step.games for step in whole[:kept])
    said = f"climb: {games} games were played before; it goes on"
    assert capsys.readouterr().err.splitlines() == [said, *lines[kept:]]


@pytest.mark.parametrize(
    ("rating", "number"),
    [(LADDER.ratings[-1] + 2_000, 30), (LADDER.ratings[-1] + 40, 30), (-2_000.0, 0), (120.0, 2)],
)
def test_bots_beyond_and_on_the_ends_of_the_ladder(rating: float, number: int) -> None:
    steps = climbed(logistic(rating, 1), ClimbBounds(games=4_000, width=60))
    found = place(played(steps))
    assert LADDER.number(found.rating) == number
    if abs(rating) > 3_000 or rating < 0:  # it ends when it is certain, not after all games
        assert sum(step.games for step in steps) < 60
        assert found.low > LADDER.ratings[-1] + BEYOND or found.high < -BEYOND
    else:
        assert found.width <= 60


@pytest.mark.parametrize("games", [2, 9, 40, 41])
def test_no_more_games_than_given(games: int) -> None:
    steps = climbed(logistic(1_234, 2), ClimbBounds(games=games, width=1))
    total = sum(step.games for step in steps)
    assert games - 8 < total <= games
    # Whatever the bounds are, the first steps are the same: more games go on with fewer.
    assert steps == climbed(logistic(1_234, 2), ClimbBounds(games=4_000, width=100))[: len(steps)]


def test_a_signal_ends_it_between_two_steps_and_in_one() -> None:
    steps: list[ClimbStep] = []
    real = logistic(1_000, 1)

    def measure(number: int, rung: int, deals: int) -> ClimbStep | None:
        if number == 3:
            signal.raise_signal(signal.SIGINT)
        return real(number, rung, deals)

    assert climb(LADDER, ClimbBounds(), measure, steps, "bot")
    assert len(steps) == 3
    assert climb(LADDER, ClimbBounds(), lambda *_: None, steps, "bot")
    assert len(steps) == 3


def test_faults_are_said_and_end_a_climb_that_has_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    def measure(number: int, rung: int, deals: int) -> ClimbStep:
        ours = ["g1: bot: time"] if number == 2 else []
        return ClimbStep(rung, (0, 0, deals, 0, 0), (ours, ["g1: rung: time"] if number == 1 else []))

    climbed(measure, ClimbBounds(games=10))
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith(
        "step 1: 1 of 2 games won against r15 (1200), 1 faults of the rung | rating 1200 ("
    )
    assert ", 1 faults of the bot | " in said[1]
    with pytest.raises(ArenaError, match="bot was at fault in each of the 2 games; the first time: g1: away"):
        climbed(lambda *_: ClimbStep(15, (1, 0, 0, 0, 0), (["g1: away", "g2: away"], [])))


# -- the ladders


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_the_ladders_of_this_version(path: Path) -> None:
    ladder = RatedLadder.read(path)
    assert ladder.game == path.stem
    make_game(ladder.game, ladder.options, allow_unknown=False)
    assert (ladder.rungs[0].rating, ladder.rungs[-1].proof) == (0, "")
    create(ladder.rungs[0].player, ladder.game)
    for one, two in pairwise(ladder.rungs):
        create(two.player, ladder.game)
        # From 150 points on a bot between two rungs would take 7 of 10 points from one, and 3 from the other.
        assert 15 <= two.rating - one.rating < GAPS.get(ladder.game, 150), two
        assert one.proof
        assert 0 < one.margin < 250


@pytest.mark.parametrize("path", rows(sorted(FOLDER.glob("*.json")), 3), ids=lambda path: path.stem)
def test_players_of_every_strength_find_their_rung(path: Path) -> None:
    """Players that draw lots: the interval has the rating, and two climbs end side by side."""
    ladder, draws = RatedLadder.read(path), DRAWS.get(path.stem, 0.0)
    ratings = [(one + two) / 2 for one, two in pairwise(ladder.ratings)][:: 1 + len(ladder.rungs) // 12]
    missed = apart = 0
    for rating in ratings:
        found = [
            place(played(climbed(logistic(rating, seed, draws=draws, ladder=ladder), ladder=ladder), ladder))
            for seed in (1, 2)
        ]
        assert all(each.width <= WIDTH for each in found)
        missed += sum(not each.low <= rating <= each.high for each in found)
        apart += abs(ladder.number(found[0].rating) - ladder.number(found[1].rating)) > 1
    assert missed <= 3  # of 2 * 12; 1 of 20 is expected
    assert apart <= 1


def _proofs(every: int) -> list[tuple[str, int]]:
    sizes = {path.stem: len(RatedLadder.read(path).rungs) for path in sorted(FOLDER.glob("*.json"))}
    return [(game, at) for game, size in sizes.items() for at in range(0, size - 1, every)]


@pytest.mark.parametrize(("game", "at"), rows(_proofs(10), 3))
def test_the_rungs_play_as_when_they_were_rated(game: str, at: int) -> None:
    """An engine that has changed is to be rated again, by `benchmarks/climb_ladder.py`."""
    ladder = RatedLadder.of(game, None)
    assert first_games(ladder, at) == ladder.rungs[at].proof


@pytest.mark.soak
@pytest.mark.parametrize(("game", "at"), _proofs(1))
def test_all_rungs_play_as_when_they_were_rated(game: str, at: int) -> None:
    test_the_rungs_play_as_when_they_were_rated(game, at)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected a ladder, as docs/climb.md has it"),
        ("{}", "expected a ladder"),
        ('{"game": "insertion", "rungs": [{"player": "greedy", "rating": "much"}]}', "expected a ladder"),
        ('{"game": "insertion", "rungs": [{"player": "greedy", "rating": 1e999}]}', "rating inf"),
        ('{"game": "insertion", "rungs": [{"player": "greedy", "rating": 1}]}', "expected two rungs or more"),
        (
            '{"game": "insertion", "rungs": [{"player": "a", "rating": 1}, {"player": "b", "rating": 1}]}',
            "expected two rungs or more with rising ratings",
        ),
    ],
)
def test_files_that_are_no_ladder(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "l.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        RatedLadder.read(path)
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        RatedLadder.read(tmp_path)
