"""The claims of seed 001 about each of its engines, measured again: claim, ours, ratio.

    python benchmarks/seed_claims.py [deals a pairing] > benchmarks/seed_claims.md

Games are paired: every board and sequence is played twice with the seats swapped. Nodes and points
are the same in every run; seconds are processor time of this machine. An interval is the middle 95 % of 2,000
bootstrap means over the deals. With 60 deals it takes some minutes on one core.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import NamedTuple

import boards
import numpy as np

from arena_engines.analysis import bench_positions
from arena_engines.engine import Engine, Position
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.registry import create
from arena_protocol.games.base import Deal
from arena_protocol.games.insertion import Insertion

GAME = Insertion.from_options({})
FULL_TREE_5 = sum(15**depth for depth in range(1, 6))


class Row(NamedTuple):
    """One line of the table."""

    step: str
    claim: str
    ours: str
    ratio: str


class Played(NamedTuple):
    """The points of one game, and the positions that the seat to move knew, ply by ply."""

    totals: tuple[int, ...]
    positions: list[InsertionPosition]


def play(seed: int, players: tuple[Engine, Engine], plies: int = 200) -> Played:
    """Play one game on the deal of a seed."""
    game = GAME if plies == 200 else Insertion.from_options({"plies": plies})
    deal = game.deal(seed)
    state = game.start(Deal(deal.board, game.preview(deal)))
    moves: list[str] = []
    positions = []
    for ply in range(plies):
        positions.append(Position(rules=game, state=state, start=deal.board, moves=tuple(moves)))
        moves.append(str(players[ply % 2].choose(positions[-1])))
        state = game.extend(game.play(state, moves[-1]).position, game.reveal(deal, ply + 1) or "")
    return Played(state.totals, positions)


class Match(NamedTuple):
    """Mean points of two engines against each other, and the interval of their ratio."""

    one: float
    other: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """Points of the one for a point of the other."""
        return self.one / max(self.other, 1)

    def __str__(self) -> str:
        return f"{self.one:.0f} : {self.other:.0f}"

    @property
    def interval(self) -> str:
        """The ratio with its interval."""
        return f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f})"


def match(one: str, other: str, deals: int) -> Match:
    """Play `deals` pairs of games."""
    players = create(one), create(other)
    points = []
    for seed in range(deals):
        first = play(seed, players).totals
        second = play(seed, players[::-1]).totals
        points.append(((first[0] + second[1]) / 2, (first[1] + second[0]) / 2))
    table = np.array(points)
    drawn = np.random.default_rng(2006).integers(0, deals, (2000, deals))
    means = table[drawn].mean(axis=1)
    low, high = np.percentile(means[:, 0] / np.maximum(means[:, 1], 1), [2.5, 97.5])
    return Match(*table.mean(axis=0), low, high)


def nodes(spec: str, depth: int) -> int:
    """Return the nodes on the bench positions."""
    engine = create(spec)
    return sum(engine.analyse(position, depth).nodes for position in bench_positions())


def searching() -> list[Row]:
    """The nodes of each engine."""
    full = {depth: nodes("minimax", depth) for depth in (5, 6)}
    per_move = full[5] / len(bench_positions())
    quarter, half = (nodes(f"fourtier:cut={cut}", 5) for cut in ("quarter", "half"))
    early, last = nodes("threetier", 5), nodes("champion", 5)
    rows = [
        ("duplicate rim moves skipped", "a great saving", FULL_TREE_5 / per_move, "-"),
        ("minimax, depth 6 against 5", "about 15 times", full[6] / full[5], 15),
        ("fourtier, cut=quarter", "half of the nodes: 2 times fewer", full[5] / quarter, 2),
        ("fourtier, cut=half", "4 times faster than without", full[5] / half, 4),
        ("threetier (16 March)", "6 times faster than without", full[5] / early, 6),
        ("champion (19 March)", "about 25 times faster than without", full[5] / last, 25),
    ]
    return [
        Row(
            step,
            claim,
            f"{times:.1f} times fewer nodes" if "6 against" not in step else f"{times:.1f} times",
            f"{times / claimed:.2f}" if isinstance(claimed, int) else claimed,
        )
        for step, claim, times, claimed in rows
    ]


def seconds_of_a_game(spec: str) -> float:
    """Return the processor time of the 100 moves of one seat in a game against the champion, in seconds."""
    engine = create(spec)
    engine.warm_up()
    positions = play(1, (create("champion"), create("champion"))).positions[::2]
    began = process_time()
    for position in positions:
        engine.choose(position)
    return process_time() - began


def timing() -> list[Row]:
    """The seconds of each engine, against the author's Athlon64 3200+."""
    rows = []
    for step, spec, claim, least in (
        ("entry, depth 5, 100 moves", "entry2006:depth=5", "7 to 14 s", 7.0),
        ("entry, depth 6, 100 moves", "entry2006:depth=6", "well over 100 s", 100.0),
        ("champion, depth 5, 100 moves", "champion:depth=5", "less than 0.4 s", 0.4),
    ):
        took = seconds_of_a_game(spec)
        rows.append(Row(step, claim, f"{took:.3f} s", f"{least / took:.0f} times faster"))
    speeds = boards.compare()
    rows.append(
        Row(
            "rows of 16 bits against bytes",
            "1 to 2 % slower",
            f"{speeds['rows'].rate / speeds['bytes'].rate:.2f} times as fast",
            f"{speeds['rows'].rate / speeds['bytes'].rate / 0.985:.2f}",
        )
    )
    return rows


def fourth_tier() -> Row:
    """How often the error in the fourth tier changes a move, in 30 games."""
    wrong, right = create("entry2006"), create("entry2006:fourth=right")
    made = different = 0
    for seed in range(30):
        for position in play(seed, (wrong, create("champion"))).positions[::2]:
            made += 1
            different += wrong.choose(position) != right.choose(position)
    return Row("entry, fourth=wrong", "0 of 3,000 moves differ", f"{different:,} of {made:,} differ", "-")


def strength(deals: int) -> list[Row]:
    """How the rungs score against each other."""
    rows = []
    for step, one, other, claim in (
        ("entry, fourth tier wrong : right", "entry2006", "entry2006:fourth=right", "the same"),
        ("four tiers right : entry", "fourtier", "entry2006", "more"),
        ("threetier : the same without cuts", "threetier", "champion", "slightly more"),
        ("champion : entry", "champion", "entry2006", "5 to 10 % more, the other 5 to 10 % less"),
        ("champion : four tiers", "champion", "fourtier", "5 to 10 % more, the other 5 to 10 % less"),
        ("cooperative : spoiling", "champion", "champion:strategy=spoiling", "more"),
        ("adaptive : cooperative", "champion:strategy=adaptive", "champion", "more?"),
        ("adaptive : spoiling", "champion:strategy=adaptive", "champion:strategy=spoiling", "more?"),
    ):
        result = match(one, other, deals)
        rows.append(Row(step, claim, str(result), result.interval))
        print(rows[-1], file=sys.stderr)
    return rows


def recursion(deals: int) -> list[Row]:
    """The paradox: the entry that called an older function scored more than the one that called itself."""
    sent, mended = "entry2006", "entry2006:recursion=own"
    unsuspecting = f"{mended},zombie=0"
    rows = []
    for whom, old, own in (
        (
            "a dummy, not guessed",
            match(f"{sent}:zombie=0", "dummy", deals),
            match(unsuspecting, "dummy", deals),
        ),
        ("the four tiers", match(sent, "fourtier", deals), match(mended, "fourtier", deals)),
        ("itself", match(sent, sent, deals), match(mended, mended, deals)),
        ("each other", match(sent, mended, deals), match(mended, sent, deals)),
    ):
        ours = f"{old.one:.0f} and {own.one:.0f} points"
        step = f"entry as sent, and calling itself, against {whom}"
        rows.append(Row(step, "as sent markedly more", ours, f"{old.one / own.one:.2f}"))
    return rows


def dummies(deals: int) -> list[Row]:
    """Points against a zombie."""
    rows = []
    for step, spec in (
        ("zombie guessed, depth 10", "champion"),
        ("never guessed, depth 5", "champion:zombie=0"),
    ):
        points = [play(seed, (create(spec), create("dummy"))).totals[0] for seed in range(deals)]
        mean, most = float(np.mean(points)), max(points)
        claim = "up to 1,400 points" if "guessed, depth 10" in step else "half as many"
        ours = f"mean {mean:.0f}, most {most}"
        rows.append(Row(f"champion : dummy, {step}", claim, ours, f"{most / 1400:.2f}"))
    return rows


def most_runs(deals: int) -> Row:
    """The most cells that both seats removed in one game, as runs of three."""
    players = create("champion"), create("dummy")
    most = max(sum(play(seed, players).totals) // 30 for seed in range(deals))
    return Row(
        "runs in a game of 200 plies", "at most 75", f"at most {most} in {deals} games", f"{most / 75:.2f}"
    )


NOTES = """
Notes

- The cut-offs save more than the author measured: he measured time, and these are nodes. The order of the
  rungs is his.
- The error in the fourth tier changes one move in twelve here, and scores more than its correction. In his 30
  games it never changed a move; the source is lost, so the reason is not known.
- The paradox of the recursion is clear against a dummy and against itself (11 and 15 %); against the four
  tiers and head to head it is 3 to 4 %, which this many games do not separate from zero. The error is a
  guess: one wrong sign, chosen among a dozen readings because it showed the paradox on other deals
  (`Entry2006` in museum/arena_museum/history.py). The champion's lead over that entry is far
  greater than his 5 to 10 %; over the corrected four tiers it is 5 % more for the one and 5 % less for the
  other, as he says.
- Eval5 of 16 March gains nothing from cutting too much; it scores 3 % less and its opponent 3 % more.
- Cooperative play is not better: against a spoiler it scores a quarter less than the spoiler. The adaptive
  strategy, which the author did not build, gains against a cooperative player by spoiling and loses against a
  spoiler by cooperating.
- Against a dummy both depths pass his 1,400; twice the depth brings a quarter more, not twice as much.
- Rows of 16 bits are faster than bytes here, where he measured 1 to 2 % slower; planes of 25 bits are 11
  times as fast as bytes (benchmarks/boards.py).
"""


def main(deals: int) -> None:
    """Print the table."""
    parts: tuple[Callable[[], list[Row]], ...] = (
        searching,
        timing,
        lambda: [fourth_tier()],
        lambda: recursion(deals),
        lambda: strength(deals),
        lambda: dummies(deals),
        lambda: [most_runs(min(deals, 30))],
    )
    print(
        f"# The seed's claims, measured again\n\nMade by `benchmarks/seed_claims.py {deals}`; {deals} deals"
    )
    print("a pairing, each played twice with the seats swapped. Points are means a game.\n")
    print("| step | the seed | ours | ratio |\n| --- | --- | --- | --- |")
    for part in parts:
        for row in part():
            print(f"| {' | '.join(row)} |", flush=True)
    print(NOTES, end="")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
