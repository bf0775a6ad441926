"""Which contests are simulated: every seed is one contest, drawn with everything that may vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from tests.simulation.bots import BAD, HONEST, SCRIPTED, Honest, Spectator
from tests.simulation.network import LOCAL, MS, ROUGH, SECOND, FaultProfile, one_in, seeded
from tests.simulation.world import Order, World

from arena_server.core.formats import find_format
from arena_server.terms.config import ContestConfig, game_of

#: The game of most simulated contests, which hides something and has a zombie move; then the others.
HIDING = "insertion"
OPEN = ("tictactoe", "lastcoin", "disc", "xo")

#: A bank that outlasts every trouble an honest bot may have: a resume key lost in transit with
#: the link half open costs it as long as the server takes to give a silent link up.
CLOCK_MS = 60_000
#: The share of contests with validation games.
VALIDATED = 0.25
#: Long enough for any contest, with bots that are awaited.
LIMIT = 48 * 3600 * SECOND


@dataclass(frozen=True, slots=True)
class Scenario:
    """A contest as its seed has it."""

    seed: int
    config: ContestConfig
    kinds: dict[str, type[Honest]]
    faults: FaultProfile
    slots: dict[str, int]
    orders: tuple[Order, ...] = ()
    frozen: frozenset[str] = frozenset()

    def play(self) -> World:
        """Play it to its end. Raises Violation, or whatever else goes wrong."""
        world = World(
            self.seed, self.config, self.kinds, self.faults, self.slots, self.orders, frozen=self.frozen
        )
        world.run(LIMIT)
        return world


def draw(seed: int) -> Scenario:
    """The contest of this seed."""
    rng = seeded(seed)
    config = _config(seed, rng)
    kinds = _kinds(rng)
    config = _with_format(config, sum(kind is not Spectator for kind in kinds.values()))
    config = with_terms(config)
    # Its own seed decides, so that all else is drawn as before.
    frozen = frozenset(name for name in kinds if seed % 3 == 0 and one_in(Random(f"{seed} {name}"), 2))
    return Scenario(seed, config, kinds, _faults(rng), _slots(kinds, rng), orders(rng), frozen)


def _config(seed: int, rng: Random) -> ContestConfig:
    seats = 3 if one_in(rng, 6) else 2
    game, options = _game(rng, seats)
    return ContestConfig(
        name=f"simulated-{seed}",
        seed=rng.getrandbits(128),
        game=game,
        options=options,
        games_per_pair=rng.choice((1, 2)) * int(options.get("seats", 2)),
        deals=rng.choice(("fresh", "paired")),
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
        announce_zombies=one_in(rng, 4),
        spectator_delay_ms=rng.choice((0, 0, 300, 20_000)),
    )


def _with_format(config: ContestConfig, bots: int) -> ContestConfig:
    """Every fourth contest has validation games, and every fourth is a gauntlet.

    Of the others with two seats every third draws; then ladders.

    Its own seed decides, so that all else is drawn as before.
    """
    rng = Random(config.seed)
    config = replace(config, validation=Random(config.seed + 1).random() < VALIDATED)
    seats = game_of(config).seats
    if one_in(rng, 4):
        most = bots - seats + 1
        return replace(config, format="gauntlet", format_options={"challengers": rng.randrange(1, most + 1)})
    if seats == 2 and one_in(rng, 3):
        return replace(config, format="knockout", format_options={"extra_pairs": rng.randrange(3)})
    if one_in(rng, 4):
        return replace(config, format="ladder", format_options={"games": seats * rng.randrange(2, 8)})
    return config


def with_terms(config: ContestConfig) -> ContestConfig:
    """Every third contest whose pairs are drawn by lot is anonymous, every second keeps bytes of its bots.

    Its own seed decides, so that all else is drawn as before.
    """
    rng = Random(f"{config.seed} terms")
    anonymous = one_in(rng, 3) and find_format(config.format).BY_LOT
    return replace(config, anonymous=anonymous, storage_bytes=rng.choice((0, 16)))


def _game(rng: Random, seats: int) -> tuple[str, dict[str, int]]:
    if rng.randrange(5):
        plies = rng.randrange(1, 21)
        return HIDING, {"plies": plies, "seats": seats, "lookahead": rng.randrange(1, 9)}
    return rng.choice(OPEN), {}


def _kinds(rng: Random) -> dict[str, type[Honest]]:
    """Two honest bots or more, some bad ones, perhaps a script of the client library, perhaps spectators."""
    kinds: list[type[Honest]] = rng.choices(HONEST, k=rng.randrange(2, 5))
    kinds += rng.choices(BAD, k=rng.randrange(1, 5))
    kinds += rng.choices(SCRIPTED, k=rng.randrange(2))
    kinds += [Spectator] * rng.randrange(3)
    rng.shuffle(kinds)
    return {f"{kind.__name__}-{number}": kind for number, kind in enumerate(kinds)}


def _slots(kinds: Mapping[str, type[Honest]], rng: Random) -> dict[str, int]:
    """In every third contest some honest bots play two or three games at once."""
    honest = [name for name, kind in kinds.items() if kind in HONEST]
    return {name: rng.randrange(1, 4) for name in honest} if one_in(rng, 3) else {}


def orders(rng: Random, most: int = 4) -> tuple[Order, ...]:
    """In every second contest up to `most` orders, most of them early: every contest has begun then."""
    if one_in(rng, 2):
        return ()
    moments = (rng.choice((SECOND, 20 * SECOND)) for _ in range(rng.randrange(1, most + 1)))
    verbs = ("stop", "suspend", "void", "replay", "replay")
    return tuple(Order(rng.randrange(moment), rng.choice(verbs), rng.randrange(100)) for moment in moments)


def _faults(rng: Random) -> FaultProfile:
    base = rng.choice((LOCAL, ROUGH, ROUGH))
    return replace(
        base,
        longest_commit=rng.choice((5 * MS, 5 * MS, 50 * MS)),
        direct_one_in=rng.choice((0, 1, 2)),
    )
