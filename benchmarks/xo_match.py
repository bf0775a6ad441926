"""Match of `xo` against another version of itself or a Gomocup program, in processor time, on 14 x 14.

    python benchmarks/xo_match.py --version ../old/engines --games 400 --millis 30
    python benchmarks/xo_match.py --brain ./pbrain-pela --games 128 --millis 100 --theirs 180

`--version` is a folder with another copy of the package arena_engines. Games come in pairs: both sides of one
opening of random marks that neither side wins by threats and whose value is near 0. Both players are
processes of their own and search in turn. `xo` and its other version stop after `--millis` of their own
processor time, so that a busy machine changes nothing. A Gomocup program gets `--theirs` milliseconds a move
as its `timeout_turn`, and what it used is measured: choose a number with which both use about the same.

A win that `xo` claimed and did not get is counted as a false claim.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from processor_time import CpuTimer
from xo_rival import mean, score, score_text

from arena_engines.engine import EngineError
from arena_engines.xo.cells import cell_names
from arena_engines.xo.gomoku import searcher
from arena_engines.xo.gomoku.alphabeta import MATE
from arena_engines.xo.gomoku.searcher import Limits, Searcher
from arena_protocol.games.mnk import board_of, has_line

SIZE = 14
CELLS = SIZE * SIZE
LINE = 5
#: Marks of both sides together in an opening, and the middle square that they stand in.
OPENINGS = (4, 5, 6)
MIDDLE = range((SIZE - 6) // 2, (SIZE + 6) // 2)
#: In an opening neither side, if to move, has a VCT of at most QUIET_THREATS threats, and the value after
#: NODES nodes is within BALANCED of 0. Two good players share the games on an opening that one side wins.
QUIET_THREATS = 8
BALANCED, NODES = 150, 6000


class MatchError(RuntimeError):
    """A player is not there, has ended, or broke its protocol; the text is one clear line."""


class Choice(NamedTuple):
    """A move: its cell, the milliseconds of processor time, and whether its player claims a win."""

    cell: int
    millis: float
    claims: bool = False


class Player(Protocol):
    def new_game(self) -> None: ...
    def choose(self, moves: list[int]) -> Choice: ...
    def close(self) -> None: ...


class Child:
    """A process that is asked line by line."""

    def __init__(self, words: list[str], path: str | None = None) -> None:
        environment = os.environ if path is None else os.environ | {"PYTHONPATH": path}
        self.name = words[0]
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
            )
        except OSError as error:
            raise MatchError(f"{self.name}: expected a program; {error.strerror}") from error

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
        except BrokenPipeError as error:
            raise MatchError(f"{self.name} ended before {line!r}") from error

    def line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise MatchError(f"{self.name} ended without an answer")
        return line.strip()

    def seconds(self) -> float:
        """The processor time of all its threads, also of ended ones."""
        # The clock of another process, as Linux's clock_getcpuclockid(3) makes it; Python has no name for it.
        return time.clock_gettime((~self._process.pid << 3) | 2)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Version:
    """A copy of `xo` in a process of its own: this script with `--serve`."""

    def __init__(self, folder: Path | None, millis: float) -> None:
        path = None if folder is None else str(folder.resolve())
        self._child = Child([sys.executable, str(Path(__file__).resolve()), "--serve"], path)
        self._millis = millis
        file = self._child.line()
        if path is not None and not Path(file).is_relative_to(path):
            self.close()
            raise MatchError(f"--version {folder}: expected a folder with arena_engines, got {file}")

    def new_game(self) -> None:
        self._child.tell("[]")

    def choose(self, moves: list[int]) -> Choice:
        self._child.tell(json.dumps([self._millis, *moves]))
        cell, millis, claims = json.loads(self._child.line())
        return Choice(cell, millis, claims)

    def close(self) -> None:
        self._child.close()


class Brain:
    """A program of the Gomocup protocol; a new process for every game."""

    def __init__(self, command: str, millis: float) -> None:
        self._words = shlex.split(command)
        self._millis = int(millis)
        self._child: Child | None = None

    def new_game(self) -> None:
        self.close()
        self._child = Child(self._words)
        self._child.tell(f"START {SIZE}")
        while not (line := self._child.line()).startswith("OK"):
            if line.startswith("ERROR"):
                raise MatchError(f"{self._child.name}: {line}")
        for info in (f"timeout_turn {self._millis}", "timeout_match 0", "time_left 2147483647", "rule 0"):
            self._child.tell(f"INFO {info}")
        self._told = 0

    def choose(self, moves: list[int]) -> Choice:
        assert self._child is not None
        child, before = self._child, self._child.seconds()
        if self._told == len(moves) - 1 and self._told:
            child.tell(f"TURN {moves[-1] % SIZE},{moves[-1] // SIZE}")
        else:
            child.tell("BOARD")
            for ply, cell in enumerate(moves):
                child.tell(f"{cell % SIZE},{cell // SIZE},{1 if ply % 2 == len(moves) % 2 else 2}")
            child.tell("DONE")
        while not (found := re.fullmatch(r"(\d+), ?(\d+)", line := child.line())):
            if line.startswith("ERROR"):
                raise MatchError(f"{child.name}: {line}")
        column, row = int(found[1]), int(found[2])
        if max(column, row) >= SIZE:
            raise MatchError(f"{child.name}: expected a cell of {SIZE} x {SIZE}, got {line}")
        self._told = len(moves) + 1
        return Choice(SIZE * row + column, 1000 * (child.seconds() - before))

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


def serve() -> None:
    """Answer [milliseconds, moves ...] with [cell, milliseconds used, claims a win]; [] is a new game."""
    searcher.SearchTimer = CpuTimer
    searcher.perf_counter = time.thread_time
    player = Searcher(SIZE)
    player.set_position([], [])
    print(searcher.__file__, flush=True)
    for line in sys.stdin:
        if not (words := json.loads(line)):
            player.reset()
            continue
        millis, *moves = words
        began = time.thread_time()
        player.set_position(moves[::2], moves[1::2])
        found = player.search(len(moves) % 2, Limits(seconds=millis / 1000))
        spent = 1000 * (time.thread_time() - began)
        print(json.dumps([int(found.cell), spent, bool(found.value > MATE)]), flush=True)


def openings(seed: int) -> Iterator[list[int]]:
    """Yield balanced openings, X and O in turn; about one of 25 draws is one."""
    judge = Searcher(SIZE)
    for number in count(seed):
        chance = random.Random(number)
        middle = [SIZE * row + column for row in MIDDLE for column in MIDDLE]
        moves = chance.sample(middle, OPENINGS[number % len(OPENINGS)])
        judge.reset()
        judge.set_position(moves[::2], moves[1::2])
        if any(judge.vct(side, QUIET_THREATS) for side in (0, 1)):
            continue
        judge.set_position(moves[::2], moves[1::2])
        if abs(judge.search(len(moves) % 2, Limits(nodes=NODES)).value) <= BALANCED:
            yield moves


class Game(NamedTuple):
    """One game: our points (1, 0.5, 0), its moves, milliseconds of each move, whether our claim was false."""

    points: float
    moves: list[int]
    ours: list[float]
    theirs: list[float]
    false_claim: bool


def play(player: Player, rival: Player, opening: list[int], seat: int) -> Game:
    """Play one game with `player` in this seat, 0 or 1."""
    bits = list(board_of(SIZE).cells.values())
    moves = list(opening)
    spent: tuple[list[float], list[float]] = ([], [])
    points, claimed = 0.5, False
    player.new_game()
    rival.new_game()
    while len(moves) < CELLS:
        side = len(moves) % 2
        choice = (player if side == seat else rival).choose(moves)
        if choice.cell in moves:
            raise MatchError(f"a mark on {cell_names(SIZE)[choice.cell]}, which is taken")
        spent[side != seat].append(choice.millis)
        claimed |= choice.claims and side == seat
        moves.append(choice.cell)
        if has_line(sum(bits[mark] for mark in moves[side::2]), SIZE, LINE):
            points = float(side == seat)
            break
    return Game(points, moves, *spent, claimed and points < 1)


def summary(pairs: list[tuple[Game, Game]]) -> dict[str, Any]:
    """The score, the pairs that one side has won, and the times, ready for JSON."""
    games = [game for pair in pairs for game in pair]
    points = [(one.points, two.points) for one, two in pairs]
    return score(points) | {
        "pairs_won": sum(sum(pair) > 1 for pair in points),
        "pairs_lost": sum(sum(pair) < 1 for pair in points),
        "ours_ms": round(mean([millis for game in games for millis in game.ours]), 1),
        "theirs_ms": round(mean([millis for game in games for millis in game.theirs]), 1),
        "false_claims": sum(game.false_claim for game in games),
    }


def text(answer: dict[str, Any]) -> str:
    """The summary as a line for a person."""
    return (
        f"{score_text(answer)}; pairs {answer['pairs_won']} won, {answer['pairs_lost']} lost; processor ms a "
        f"move {answer['ours_ms']} and {answer['theirs_ms']}; false claims {answer['false_claims']}"
    )


def match(options: argparse.Namespace) -> dict[str, Any]:
    """Play the match; print the score to stderr after each pair."""
    theirs = options.theirs or options.millis
    player = Version(None, options.millis)
    rival: Player = (
        Version(options.version, theirs) if options.brain is None else Brain(options.brain, theirs)
    )
    pairs: list[tuple[Game, Game]] = []
    try:
        for opening in islice(openings(options.seed), options.games // 2):
            pairs.append((play(player, rival, opening, 0), play(player, rival, opening, 1)))
            print(text(summary(pairs)), file=sys.stderr, flush=True)
    finally:
        player.close()
        rival.close()
    played = [{"points": game.points, "moves": game.moves} for pair in pairs for game in pair]
    return {"seed": options.seed} | summary(pairs) | {"played": played}


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Play xo against a version of itself or a Gomocup program.")
    parser.add_argument("--version", type=Path, metavar="DIR", help="a folder with another arena_engines")
    parser.add_argument("--brain", metavar="COMMAND", help="a Gomocup program")
    parser.add_argument("--games", type=int, default=100, help="an even number: two games an opening")
    parser.add_argument("--millis", type=float, default=100, help="processor milliseconds a move of xo")
    parser.add_argument("--theirs", type=float, help="those of the other side, by default as many")
    parser.add_argument("--seed", type=int, default=1, help="number of the first opening")
    parser.add_argument("--json", action="store_true", help="print an object with every game's moves")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if not options.serve and (options.version is None) == (options.brain is None):
        parser.error("expected --version DIR or --brain COMMAND")
    return options


def main() -> None:
    """Play and print."""
    options = arguments()
    if options.serve:
        serve()
        return
    try:
        answer = match(options)
    except (MatchError, EngineError) as error:
        sys.exit(f"xo_match: {error}")
    print(json.dumps(answer) if options.json else text(answer))


if __name__ == "__main__":
    main()
