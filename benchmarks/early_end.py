"""How often `stop = "top:K"` errs, and how many games it saves: `python benchmarks/early_end.py`.

Contests are simulated with the server's own formats (`arena_server.host.simulated_contest`) and bots of known
strength: Elo differences give the probability of a win, a share of games is drawn, or the points are normal
about a mean that follows from the strengths. All chance comes from the seed. An error is a contest whose
first K are said to be certain while one of them is not stronger than every other bot.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from arena_server.core.formats.base import Pairing
from arena_server.host.simulated_contest import SimulatedGame, play_out
from arena_server.terms.config import ContestConfig, Entrant

Totals = Callable[[float, Random], tuple[int, int]]


@dataclass(frozen=True)
class Field:
    """Bots by strength, and a contest of them."""

    name: str
    strengths: Sequence[int]
    games_per_pair: int
    first: int
    format: str = "round-robin"
    deals: str = "fresh"


def wins(share: float, rng: Random) -> tuple[int, int]:
    """No draws."""
    return (2, 0) if rng.random() < share else (0, 2)


def draws(share: float, rng: Random) -> tuple[int, int]:
    """Half of the games of equals are drawn."""
    drawn = min(share, 1 - share)
    chance = rng.random()
    return (2, 0) if chance < share - drawn / 2 else (1, 1) if chance < share + drawn / 2 else (0, 2)


def points(share: float, rng: Random) -> tuple[int, int]:
    """Points of a game of chance: about as many for both, and 100 more for 200 Elo."""
    common, edge = rng.gauss(900, 200), rng.gauss((share - 0.5) * 400, 150)
    return round(common / 2 + edge), round(common / 2 - edge)


MODELS: dict[str, tuple[Totals, str]] = {
    "wins": (wins, "wins"),
    "half drawn": (draws, "wins"),
    "points": (points, "points"),
}

FIELDS = (
    Field("two equals", (0, 0), 20, 1),
    Field("two equals", (0, 0), 100, 1),
    Field("two equals, paired", (0, 0), 100, 1, deals="paired"),
    Field("two equals ahead of four", (0, 0, -200, -200, -300, -300), 20, 1),
    Field("six equals", (0,) * 6, 20, 1),
    Field("two equals at the edge of two", (300, 0, 0, -300), 20, 2),
    Field("gauntlet of equals", (0,) * 5, 40, 1, format="gauntlet"),
    Field("eight, 100 Elo apart", tuple(range(400, -400, -100)), 20, 1),
    Field("eight, 100 Elo apart", tuple(range(400, -400, -100)), 20, 3),
    Field("six, 200 Elo apart", tuple(range(600, -600, -200)), 20, 2),
    Field("one 400 Elo ahead of five", (400, 0, 0, 0, 0, 0), 20, 1),
)


def play(field: Field, model: str, rng: Random) -> tuple[tuple[str, ...], float]:
    """Who was separated, and the share of the games that was not played."""
    names = [f"bot{number}" for number in range(len(field.strengths))]
    strength = dict(zip(names, field.strengths, strict=True))
    totals, scoring = MODELS[model]

    def outcome(pairing: Pairing) -> SimulatedGame:
        one, other = pairing.names
        share = 1 / (1 + 10 ** ((strength[other] - strength[one]) / 400))
        return SimulatedGame(rng.randrange(500, 1_500), totals(share, rng), 1)

    config = ContestConfig(
        name="early", seed=1, format=field.format, games_per_pair=field.games_per_pair, deals=field.deals,
        scoring=scoring, stop=f"top:{field.first}",
    )  # fmt: skip
    contest = play_out(config, [Entrant(name) for name in names], 2, outcome)
    pairs = len(names) * (len(names) - 1) // 2 if field.format == "round-robin" else len(names) - 1
    return contest.separated, 1 - contest.played / (pairs * field.games_per_pair)


def measure(field: Field, model: str, contests: int, seed: int) -> tuple[float, float]:
    """The share of contests with an error, and the mean share of games saved."""
    rng = Random(f"{seed} {field} {model}")
    errors = 0
    saved = 0.0
    for _ in range(contests):
        first, share = play(field, model, rng)
        saved += share
        if first:
            inside = {int(name.removeprefix("bot")) for name in first}
            weakest = min(field.strengths[number] for number in inside)
            others = (each for number, each in enumerate(field.strengths) if number not in inside)
            errors += weakest <= max(others)
    return errors / contests, saved / contests


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--contests", type=int, default=1000, help="how many of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    models = ", ".join(MODELS)
    print(f"| bots | games a pair | stop | error: {models} | games saved: {models} |")
    print("|---|---|---|---|---|")
    for field in FIELDS:
        found = [measure(field, model, options.contests, options.seed) for model in MODELS]
        errors = ", ".join(f"{error:.1%}" for error, _ in found)
        saved = ", ".join(f"{share:.0%}" for _, share in found)
        print(
            f"| {field.name} | {field.games_per_pair} | top:{field.first} | {errors} | {saved} |", flush=True
        )


if __name__ == "__main__":
    main()
