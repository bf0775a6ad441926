"""Which contests are simulated: every seed is one contest, drawn with everything that may vary.

It must not know: how a contest goes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.simulation.bots import BAD, HONEST, Honest, Onlooker
from tests.simulation.network import BREEZE, MS, ROUGH, SECOND, Weather, dice
from tests.simulation.world import World

from arena_server.core.config import ContestPlan

#: The games of a simulated contest that hide something, and have a zombie move; then the others.
HIDING = "insertion"
OPEN = ("tictactoe", "lastcoin", "disc", "xo")

#: A bank that outlasts every trouble an honest bot may meet: a resume key lost on the way with
#: the link half open costs it as long as the server takes to give a silent link up.
CLOCK_MS = 60_000
#: Long enough for any contest, with bots that are waited for.
LIMIT = 48 * 3600 * SECOND


@dataclass(frozen=True, slots=True)
class Drawn:
    """A contest as its seed has it."""

    seed: int
    plan: ContestPlan
    zoo: dict[str, type[Honest]]
    weather: Weather

    def play(self) -> World:
        """Play it to its end. Raises Violation, or whatever else goes wrong."""
        world = World(self.seed, self.plan, self.zoo, self.weather)
        world.run(LIMIT)
        return world


def draw(seed: int) -> Drawn:
    """The contest of this seed."""
    rng = dice(seed)
    plan = _plan(seed, rng)
    return Drawn(seed, plan, _zoo(rng), _weather(rng))


def _plan(seed: int, rng: Random) -> ContestPlan:
    seats = 3 if rng.randrange(6) == 0 else 2
    game, options = _game(rng, seats)
    return ContestPlan(
        name=f"simulated-{seed}",
        seed=rng.getrandbits(128),
        game=game,
        options=options,
        games_per_pair=rng.choice((1, 2)) * int(options.get("seats", 2)),
        scoring=rng.choice(("points", "wins")),
        clock_ms=CLOCK_MS,
        increment_ms=rng.choice((0, 5)),
        margin_ms=rng.choice((0, 10)),
        move_limit_ms=rng.choice((0, CLOCK_MS)),
        byoyomi_ms=rng.choice((0, 0, 1000)),
        lag_quota_ms=rng.choice((0, 500)),
        ready_ms=CLOCK_MS,
        absent_ms=2 * CLOCK_MS,
        probation=rng.choice((0, 2, 3)),
        announce_zombies=rng.randrange(4) == 0,
        spectator_delay_ms=rng.choice((0, 0, 300, 20_000)),
    )


def _game(rng: Random, seats: int) -> tuple[str, dict[str, int]]:
    if rng.randrange(5):
        plies = rng.randrange(1, 21)
        return HIDING, {"plies": plies, "seats": seats, "lookahead": rng.randrange(1, 9)}
    return rng.choice(OPEN), {}


def _zoo(rng: Random) -> dict[str, type[Honest]]:
    """Two honest bots or more, some bad ones, perhaps somebody who watches."""
    kinds: list[type[Honest]] = rng.choices(HONEST, k=rng.randrange(2, 5))
    kinds += rng.choices(BAD, k=rng.randrange(1, 5))
    kinds += [Onlooker] * rng.randrange(3)
    rng.shuffle(kinds)
    return {f"{kind.__name__}-{number}": kind for number, kind in enumerate(kinds)}


def _weather(rng: Random) -> Weather:
    base = rng.choice((BREEZE, ROUGH, ROUGH))
    return replace(base, longest_commit=rng.choice((5 * MS, 5 * MS, 50 * MS)))
