"""Train a small policy for insertion by evolution strategies, and write it as a bot that needs Python alone.

python examples/train_policy.py mypolicy      writes mypolicy/bot.py and mypolicy/Dockerfile

A move is worth a weighted sum of five numbers of the board after it. Training plays thousands of games
against the greedy player as arrays (`arena.insertion`), with weights on both sides of the present ones.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from arena.insertion import Batch, afterstates

#: What a weight counts; the bot computes the same numbers (`CHOOSE` below).
FEATURES = ("points", "best reply", "pictures left", "pairs for the reply", "pairs for me")
GREEDY = np.array([1.0, 0, 0, 0, 0])
#: About how much a number differs between two moves: weights of one size then matter alike.
SCALE = np.array([0.1, 0.1, 0.3, 0.5, 0.5])
GAMES, PLIES, PAIRS, SPREAD, STEP = 64, 60, 8, 0.4, 0.4

NOT_TOP = 0b01111_01111_01111_01111_01111


def pairs(planes, colours):
    """How many adjacent cells of a board both have this colour."""
    same = np.full(planes.shape[1:], (1 << 25) - 1)
    for bit in range(3):
        same &= ~(planes[bit] ^ -(colours >> bit & 1))
    return np.bitwise_count(same & NOT_TOP & same >> 1) + np.bitwise_count(same & same >> 5)


def features(planes, coming):
    """The numbers [board, move - 1, feature] of each move for the first of the pictures to come."""
    after, points = afterstates(planes, coming[:, 0])
    boards, (reply, mine) = points.shape[0], (coming[:, at].astype(np.int64)[:, None] for at in (1, 2))
    _, replies = afterstates(after.reshape(3, -1), np.repeat(reply.ravel(), 15))
    left = np.bitwise_count(after[0] | after[1] | after[2])
    best = replies.max(axis=1).reshape(boards, 15)
    return np.stack([points, best, left, pairs(after, reply), pairs(after, mine)], axis=2) * SCALE


def lead(weights, seed, games, plies=PLIES):
    """Points of the policy and of the greedy player, on the same deals from both seats; [2, 2 * games]."""
    found = []
    for seat in (1, 2):
        batch = Batch(games, seed=seed, plies=plies)
        while not batch.over:
            # Behind the last picture any colour will do: nothing is inserted there.
            coming = np.pad(batch.coming(3), ((0, 0), (0, 2)), constant_values=1)
            if batch.seat == seat:
                value = features(batch.planes, coming) @ weights
            else:
                value = afterstates(batch.planes, coming[:, 0])[1]
            batch.step(value.argmax(axis=1) + 1)
        found.append(batch.totals[:, :: 1 if seat == 1 else -1].T)
    return np.concatenate(found, axis=1)


def fitness(weights, seed):
    mine, theirs = lead(weights, seed, GAMES).sum(axis=1)
    return (mine - theirs) / max(mine + theirs, 1)


def train(rounds, seed, say=print):
    """The weights after these rounds, from those of the greedy player on."""
    draws, weights = np.random.default_rng(seed), GREEDY.copy()
    began = time.perf_counter()
    for number in range(1, rounds + 1):
        noise = draws.normal(size=(PAIRS, len(weights)))
        gains = np.array(
            [
                fitness(weights + SPREAD * each, [seed, number])
                - fitness(weights - SPREAD * each, [seed, number])
                for each in noise
            ]
        )
        slope = gains @ noise / (np.abs(gains).mean() or 1) / PAIRS
        weights = weights + STEP * (1 - number / (rounds + 1)) * slope
        mine, theirs = lead(weights, [seed, 0], GAMES)
        seconds = time.perf_counter() - began
        points = f"{mine.mean():.0f} : {theirs.mean():.0f}"
        say(f"round {number}: {np.mean(mine > theirs):.0%} of games won, {points}, {seconds:.0f} s")
    return weights


#: The bot: greedy_bot.py with another `choose`.
CHOOSE = '''
# {names}
WEIGHTS = {weights}


def pairs(columns, colour):
    cells = {{(x, y) for x, column in enumerate(columns) for y, each in enumerate(column) if each == colour}}
    return sum((x, y + 1) in cells for x, y in cells) + sum((x + 1, y) in cells for x, y in cells)


def value(columns, move, pictures):
    after, points = play(columns, move, pictures[0])
    reply, mine = (pictures + "11")[1:3]
    best = max(play(after, each, reply)[1] for each in range(1, 16))
    numbers = points, best, sum(map(len, after)), pairs(after, reply), pairs(after, mine)
    return sum(weight * number for weight, number in zip(WEIGHTS, numbers, strict=True))


def choose(columns, pictures):
    """Return a move from 1 to 15 for `pictures[0]`; the other pictures follow it."""
    return max(range(1, 16), key=lambda move: value(columns, move, pictures))


'''


def write_bot(folder, weights):
    """Write the policy as a folder for `arena submit`."""
    source = (Path(__file__).parent / "greedy_bot.py").read_text(encoding="utf-8")
    before, _, rest = source.partition("def choose(")
    after = "def converse(" + rest.partition("def converse(")[2]
    numbers = [round(float(each), 4) for each in weights * SCALE]
    folder.mkdir(parents=True, exist_ok=True)
    text = before.rstrip("\n") + "\n\n" + CHOOSE.format(weights=numbers, names=", ".join(FEATURES)) + after
    (folder / "bot.py").write_text(text, encoding="utf-8")
    (folder / "Dockerfile").write_text(
        'FROM python:3.12-slim\nCOPY bot.py /bot.py\nCMD ["python", "-u", "/bot.py"]\n'
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    # What cannot be written is known before the training.
    write_bot(given.folder, GREEDY)
    weights = train(given.rounds, given.seed)
    mine, theirs = lead(weights, given.seed + 1_000_000, 500, plies=200)
    write_bot(given.folder, weights)
    for name, weight in zip(FEATURES, weights * SCALE, strict=True):
        print(f"{name:<20} {weight:+.4f}")
    points = f"{mine.mean():.0f} : {theirs.mean():.0f}"
    print(f"{np.mean(mine > theirs):.1%} of 1,000 games won against greedy, {points}")


if __name__ == "__main__":
    main()
