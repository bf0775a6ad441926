"""A forecast: its games are those that the formats have, its times those of an obvious slow twin."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from tests.simulation.bots import Honest
from tests.simulation.network import CALM, MS, SECOND
from tests.simulation.world import World
from tests.slices import rows

from arena_protocol.games import GAMES
from arena_server.core.formats import FORMATS, format_of
from arena_server.core.formats.base import Pairing
from arena_server.host import forecast as forecast_module
from arena_server.host.forecast import (
    Forecast,
    GamesByChance,
    Pace,
    RandomGame,
    Spread,
    forecast,
)
from arena_server.host.simulated_contest import PlayedContest, SimulatedGame, play_out
from arena_server.stats.results import PastGame
from arena_server.terms.config import ContestConfig, Entrant

HOUR = 3_600_000


def field(bots: int, slots: int = 1) -> list[Entrant]:
    return [Entrant(f"bot{number}", concurrency=slots) for number in range(bots)]


def config(kind: str = "round-robin", **given: object) -> ContestConfig:
    return ContestConfig(name="plan", seed=1, game="tictactoe", format=kind, **given)  # type: ignore[arg-type]


def found(contest: ContestConfig, bots: int, **given: int) -> Forecast:
    return forecast(contest, field(bots), Pace(), 5, runs=5, **given)


def exactly(number: int) -> Spread:
    return Spread(number, number, number)


@pytest.mark.parametrize(
    ("contest", "bots", "games", "least", "most", "rounds"),
    [
        (config(games_per_pair=4), 6, 4 * 15, 4 * 5, 4 * 5, 4),
        (config("gauntlet", games_per_pair=2), 5, 2 * 4, 2, 2 * 4, 2),
        (config("gauntlet", games_per_pair=2, format_options={"challengers": 2}), 5, 2 * 6, 4, 6, 2),
        (config("matches", games_per_pair=6), 8, 6 * 4, 6, 6, 6),
        (config("ladder", format_options={"games": 30}), 4, 30, None, None, 0),
    ],
)
def test_the_games_of_a_format_are_exact(
    contest: ContestConfig, bots: int, games: int, least: int | None, most: int | None, rounds: int
) -> None:
    plan = found(contest, bots)
    assert plan.games == exactly(games)
    assert len(plan.rounds) == rounds
    if least is not None and most is not None:
        assert (plan.least, plan.most) == (exactly(least), exactly(most))
        assert all(each.games == exactly(games // rounds) and each.in_runs == 5 for each in plan.rounds)
    assert not plan.is_open


def first_wins(pairing: Pairing) -> SimulatedGame:
    """The bot of the lower number wins in 100 ms."""
    return SimulatedGame(100, tuple(2 * (name == min(pairing.names)) for name in pairing.names), 5)


def test_a_knockout_ends_its_pairings_early() -> None:
    """Of best of four three games are played; of six bots two have a bye; levels do not overlap."""
    contest = play_out(config("knockout", games_per_pair=4), field(6), 2, first_wins)
    assert contest.complete
    assert contest.played == 3 * 5
    assert contest.rounds == {1: (6, 300), 2: (6, 600), 3: (3, 900)}
    assert contest.games["bot0"] == 6, "the first seed has a bye"
    assert contest.at_once == 2


def test_games_that_decide_a_tie_are_of_their_level() -> None:
    def tied(pairing: Pairing) -> SimulatedGame:
        """The first game of a pairing is drawn, the fifth and sixth are won."""
        return SimulatedGame(100, (1, 1), 5) if pairing.number <= 12 else first_wins(pairing)

    contest = play_out(config("knockout", games_per_pair=2), field(8), 2, tied)
    assert sorted(contest.rounds) == [1, 2, 3]
    assert contest.rounds[1][0] > 8


@pytest.mark.parametrize("rest", [0, 7, 100])
@pytest.mark.parametrize(("slots", "cores"), [(1, 1.0), (3, 1.0), (3, 2.0), (3, 4.5), (1, 100.0)])
def test_more_games_at_once_than_cores_slow_each_other(slots: int, cores: float, rest: int) -> None:
    contest = config("round-robin", games_per_pair=6, rest_ms=rest)
    free, slow = (play_out(contest, field(6, slots), 2, length, cores=each) for each in (None, cores))
    assert slow.played == free.played
    form = format_of(contest, [each.name for each in field(6)], 2)
    thinking = sum(length(pairing).ms for pairing in form.planned(1, free.played + 1))
    assert slow.ms >= max(free.ms * 0.9, thinking / cores)
    if free.at_once <= cores:
        assert slow == free
    elif rest == 0:
        assert slow.ms <= free.ms * max(1, free.at_once / cores) * 1.1


def test_an_open_contest_is_closed_and_its_games_end() -> None:
    plan = found(config("ladder"), 10, until=HOUR)
    assert plan.is_open
    assert not plan.rounds
    assert HOUR <= plan.duration.p10 <= plan.duration.p90 <= HOUR + 2 * 20_000
    contest = play_out(config("ladder"), field(4), 2, first_wins, until=1_000)
    assert (contest.ms, contest.complete) == (1_000, False)
    assert 10 <= contest.played <= 2 * 10


def test_a_contest_of_which_no_further_round_can_be_drawn_is_short() -> None:
    """Two owners have two bots each: after two rounds no pair is left that may meet."""
    owners = {"bot0": "x", "bot1": "x", "bot2": "y", "bot3": "y"}
    never = {"rounds": 3, "same_owner": "never"}
    plan = found(config("swiss", games_per_pair=1, format_options=never, owners=owners), 4)
    assert (plan.short, len(plan.rounds), plan.games) == (5, 2, exactly(4))
    assert found(config("swiss"), 4).short == 0


def test_the_same_seed_gives_the_same_forecast() -> None:
    one, same, other = (forecast(config(), field(3), Pace(), seed) for seed in (3, 3, 4))
    assert one == same != other
    assert one.runs == 100
    assert one.duration.p10 < one.duration.p50 < one.duration.p90


def test_a_long_contest_is_simulated_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast_module, "SIMULATED_GAMES", 1_000)
    assert forecast(config(games_per_pair=10), field(6), Pace(), 1).runs == 1_000 // 150
    assert forecast(config(games_per_pair=30), field(6), Pace(), 1).runs == 3


# -- times


class Twin:
    """Looks at every millisecond at every game and every bot; nothing is kept in an order."""

    def __init__(self, contest: ContestConfig, entrants: list[Entrant]) -> None:
        self.form = format_of(contest, [each.name for each in entrants], 2)
        self.slots = {each.name: each.concurrency for each in entrants}
        self.rest = contest.rest_ms
        self.running: list[tuple[int, Pairing]] = []
        self.resting: list[tuple[int, str]] = []
        self.now = self.last = self.played = 0
        for name in self.slots:
            self.form.enter(name)
        self.tell()

    def tell(self) -> None:
        for name, slots in self.slots.items():
            playing = sum(name in game.names for _, game in self.running)
            self.form.free(name, slots - playing - sum(name == each for _, each in self.resting))

    def run(self) -> None:
        while not self.form.exhausted(()) or self.running:
            self.end()
            while (game := self.form.next()) is not None:
                self.running.append((self.now + length(game).ms, game))
            if not self.running and (draw := self.form.draw_due(())) is not None:
                self.form.drawn(draw.run())
            else:
                self.now += 1

    def end(self) -> None:
        over = [game for at, game in self.running if at == self.now]
        back = [name for at, name in self.resting if at == self.now]
        self.running = [each for each in self.running if each[0] != self.now]
        self.resting = [each for each in self.resting if each[0] != self.now]
        for game in over:
            totals = length(game).totals
            self.form.result(PastGame(game.number, game.names, game.deal, totals, "complete", 5))
            self.played += 1
            self.last = self.now
            if self.rest:
                self.resting += [(self.now + self.rest, name) for name in game.names]
        if over or back:
            self.tell()


def length(pairing: Pairing) -> SimulatedGame:
    """No two games end in the same moment, so the order of events is not in question."""
    rng = Random(pairing.number)
    return SimulatedGame(rng.randrange(1, 40), (rng.randrange(2), rng.randrange(2)), 5)


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "knockout", "matches"])
@pytest.mark.parametrize(("slots", "rest"), [(1, 0), (1, 7), (3, 0)])
def test_times_are_bounded_by_those_of_a_slow_twin(kind: str, slots: int, rest: int) -> None:
    """The format may learn one by one of games that end in one moment: that changes little."""
    contest, entrants = config(kind, games_per_pair=6, rest_ms=rest), field(6, slots)
    twin = Twin(contest, entrants)
    twin.run()
    played = play_out(contest, entrants, 2, length)
    assert played.played == twin.played
    assert abs(played.ms - twin.last) <= twin.last // 10
    assert played.ms >= busiest(played, contest, slots)


def busiest(played: PlayedContest, contest: ContestConfig, slots: int) -> int:
    """No contest takes less: a game takes a millisecond or more, and a bot rests between two."""
    games = max(played.games.values())
    return -(-games // slots) + (games - 1) // slots * contest.rest_ms


class Steady(Honest):
    """Thinks ten milliseconds a move."""

    def offered(self, game_id: str) -> None:
        self.wire.say(f"READY {game_id}")

    def answer(self, line: str) -> None:
        self.wire.say(line, 10 * MS)


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet"])
def test_the_real_referee_begins_the_same_games_and_takes_as_long(kind: str) -> None:
    options = {"plies": 10}
    contest = ContestConfig(
        name="field", seed=1, options=options, format=kind, games_per_pair=4, clock_ms=2000
    )
    names = [f"bot{number}" for number in range(6)]
    world = World(1, contest, dict.fromkeys(names, Steady), CALM)
    world.run(3600 * SECOND, dict.fromkeys(names, 0))
    real = Counter(name for record in world.records.values() for name in record.names)
    plan = play_out(contest, field(6), 2, lambda _: SimulatedGame(100, (0, 0), 10))
    assert plan.games == real
    last = max(world.checker.ended.values()) // MS
    assert plan.ms <= last <= plan.ms * 3 // 2


def test_a_bot_never_uses_more_than_its_clock() -> None:
    rules = config(clock_ms=1_000, increment_ms=100, margin_ms=500)
    for control, most in [
        (rules, 1_000 + 4 * 100),
        (config(clock_ms=1_000, move_limit_ms=50), 5 * 50),
        (config(clock_ms=1_000, move_limit_ms=50, first_move_limit_ms=300), 300 + 4 * 50),
        (config(clock_ms=1_000, byoyomi_ms=70), 1_000 + 5 * 70),
    ]:
        assert thinks(control, Pace(move_ms=10_000_000), 1) == most
    share = [thinks(rules, Pace(0.25), seed) for seed in range(400)]
    assert 1_400 * 0.23 < sum(share) / len(share) < 1_400 * 0.27
    assert min(share) >= 1_400 * 0.25 * 0.2 * 0.75 - 1
    assert max(share) <= 1_400 * 0.25 * 1.8 * 1.25 + 1


def thinks(control: ContestConfig, pace: Pace, seed: int) -> int:
    """How long a bot takes for five plies."""
    games = GamesByChance(control, ["ann", "bob"], [RandomGame((1, 1), (5, 0))], pace, Random(seed))
    return games(Pairing(1, ("ann", "bob"), 1)).ms


# 8 formats and 5 games have no common divisor with 3: each of them stands in several of the rows.
@pytest.mark.parametrize(("kind", "game"), rows(product(sorted(FORMATS), sorted(GAMES)), 3))
def test_every_format_and_game_can_be_planned(kind: str, game: str) -> None:
    contest = ContestConfig(name="plan", seed=1, game=game, format=kind, games_per_pair=4)
    plan = forecast(contest, field(4), Pace(move_ms=5), 1, runs=1, until=2_000)
    assert plan.games.p50 > 0
    assert plan.duration.p50 > 0
