"""Learn the weights of the engine `weighted` from self-play, and match them against other weights.

    python benchmarks/learn_weights.py tictactoe --option size=4 --option win=3

A round plays games of the current weights against themselves, from random openings and with some random
moves. Its candidates are the least squares fit result = K1 Z1 + ... + Kn Zn over all positions of all games
so far, and the current weights with one of them changed; a candidate that wins a match becomes the current
weights. The last ones then play matches against other weights, two games an opening.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from arena_engines.engine import EngineError, Position
from arena_engines.registry import create
from arena_engines.small.weighted import MAX_WEIGHT, TERMS, Weighted
from arena_protocol.games import make_game
from arena_protocol.games.base import Game, GameError
from arena_server.stats.scores import bootstrap

#: The largest learned weight; the others are in proportion.
LARGEST = 20
#: The score of a match from which on a candidate replaces the current weights.
REPLACES = 0.52
#: Part of the moves of self-play that are random, so that games differ.
RANDOM_MOVES = 0.2

Weights = tuple[int, ...]


class Played(NamedTuple):
    """The result for seat 1 (1, 0 or -1) and the terms of every position that was not the last."""

    result: int
    terms: list[tuple[int, ...]]


def spec_of(weights: Weights, depth: int) -> str:
    """The engine of these weights."""
    return f"weighted:k={'/'.join(map(str, weights))},depth={depth}"


def engine_of(game: str, weights: Weights, depth: int) -> Weighted:
    engine = create(spec_of(weights, depth), game)
    assert isinstance(engine, Weighted), "the name says so"
    return engine


def play(
    rules: Game[Any], engines: Sequence[Weighted], opening: int, chance: random.Random, noise: float
) -> Played:
    """Play one game; the first `opening` moves and a part `noise` of the others are random."""
    state = rules.start(rules.deal(0))
    terms: list[tuple[int, ...]] = []
    ply = 0
    while rules.end(state) is None:
        engine = engines[rules.to_move(state) - 1]
        if ply < opening or chance.random() < noise:
            move = chance.choice(rules.legal_moves(state))
        else:
            move = engine.choose(Position(rules=rules, state=state))
        terms.append(engine.terms(rules, state))
        state = rules.play(state, move).position
        ply += 1
    mine, theirs = rules.totals(state)
    return Played((mine > theirs) - (mine < theirs), terms)


def match(
    rules: Game[Any], one: Weights, other: Weights, *, openings: int, depth: int, opening: int, seed: int
) -> list[float]:
    """Return the share of the points of `one` for each opening, of its two games with the seats swapped."""
    engines = [engine_of(rules.name, weights, depth) for weights in (one, other)]
    shares = []
    for number in range(openings):
        results = []
        for sign, seats in ((1, engines), (-1, engines[::-1])):
            chance = random.Random(f"{seed}:{number}")
            results.append(sign * play(rules, seats, opening, chance, 0.0).result)
        shares.append((2 + sum(results)) / 4)
    return shares


def learn(
    rules: Game[Any], *, rounds: int, games: int, openings: int, depth: int, opening: int, seed: int
) -> list[Weights]:
    """Return the weights after each round; the first ones fit random games."""
    chance = random.Random(seed)
    weights: Weights = (0,) * len(TERMS[rules.name])
    played: list[Played] = []
    history: list[Weights] = []
    for number in range(rounds):
        engine = engine_of(rules.name, weights, depth)
        noise = RANDOM_MOVES if number else 1.0
        played += [play(rules, (engine, engine), opening, chance, noise) for _ in range(games)]
        for candidate in (fit(played), *neighbours(weights)):
            setting = {"openings": openings, "depth": depth, "opening": opening, "seed": seed + number}
            if mean(match(rules, candidate, weights, **setting)) > REPLACES:
                weights = candidate
        history.append(weights)
    return history


def fit(played: Sequence[Played]) -> Weights:
    """Return the least squares weights of the results on the terms, the largest scaled to LARGEST."""
    terms = np.array([row for game in played for row in game.terms], dtype=float)
    results = np.array([game.result for game in played for _ in game.terms], dtype=float)
    fitted = np.linalg.lstsq(terms, results, rcond=None)[0]
    largest = max(float(np.abs(fitted).max()), 1e-9)
    return tuple(round(LARGEST * float(each) / largest) for each in fitted)


def neighbours(weights: Weights) -> list[Weights]:
    """The weights with one of them changed by half of LARGEST."""
    return [
        tuple(weight + change * (at == only) for at, weight in enumerate(weights))
        for only in range(len(weights))
        for change in (LARGEST // 2, -LARGEST // 2)
        if abs(weights[only] + change) <= MAX_WEIGHT
    ]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Learn weights from self-play and match them.")
    parser.add_argument("game", choices=sorted(TERMS))
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--games", type=int, default=200, help="games a round")
    parser.add_argument("--trials", type=int, default=60, help="openings a candidate")
    parser.add_argument("--openings", type=int, default=200, help="openings a match, two games each")
    parser.add_argument("--opening", type=int, default=2, help="random plies at the start of a game")
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--seed", type=int, default=2006)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(words)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Learn, and match the learned weights against none, equal ones, each alone and their opposite."""
    rules = make_game(options.game, dict(each.split("=", 1) for each in options.option), allow_unknown=False)
    shared = {"depth": options.depth, "opening": options.opening, "seed": options.seed}
    history = learn(rules, rounds=options.rounds, games=options.games, openings=options.trials, **shared)
    learned, count = history[-1], len(history[-1])
    others = [(0,) * count, (1,) * count]
    others += [tuple(int(at == only) for at in range(count)) for only in range(count)]
    others.append(tuple(-weight for weight in learned))
    rows = []
    for other in others:
        shares = match(rules, learned, other, openings=options.openings, **shared)
        rows.append(
            {"against": other, "score": round(mean(shares), 4), "interval": bootstrap([shares], mean)}
        )
    return {
        "game": rules.name,
        "options": rules.options(),
        "terms": [term.name for term in TERMS[rules.name]],
        "rounds": history,
        "games": 2 * options.openings,
        "matches": rows,
    }


def text(answer: dict[str, Any]) -> str:
    def joined(weights: Weights) -> str:
        return "/".join(map(str, weights))

    lines = [f"{answer['game']} {answer['options']}: weights of {', '.join(answer['terms'])}"]
    lines += [f"round {number}: {joined(row)}" for number, row in enumerate(answer["rounds"], start=1)]
    for row in answer["matches"]:
        low, high = row["interval"]
        score = f"{100 * row['score']:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        lines.append(f"against {joined(row['against']):<12} {score} of {answer['games']} games")
    return "\n".join(lines)


def main() -> None:
    options = arguments()
    try:
        answer = measure(options)
    except (EngineError, GameError, ValueError) as error:
        sys.exit(f"learn_weights: {error}")
    print(json.dumps(answer) if options.json else text(answer))


if __name__ == "__main__":
    main()
