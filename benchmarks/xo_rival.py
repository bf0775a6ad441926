"""Match of the engine `xo` against fairy-stockfish at five in a row on 10 x 10.

    python benchmarks/xo_rival.py --games 100 --movetime 1000

Games come in pairs: each engine plays both sides of an opening of random marks in which neither side has a
VCT. The engines search in turn, each on one core. Without Debian's package fairy-stockfish the program exits
with one line.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from arena_engines.engine import Engine, EngineError, Position
from arena_engines.registry import create
from arena_engines.xo.cells import cell_names, sides_of
from arena_engines.xo.gomoku.searcher import Searcher
from arena_protocol.games.mnk import Xo
from arena_server.stats.scores import bootstrap

PROGRAM = "fairy-stockfish"
#: Debian's folder of games, which is not in the PATH of every user.
GAMES_FOLDER = "/usr/games"
VARIANTS = Path(__file__).with_name("xo_fairy.ini")
SIZE = 10
#: Marks of both sides together in an opening.
OPENINGS = (4, 6)


#: In an opening neither side, if to move, has a VCT of at most this many threats.
QUIET_THREATS = 8


class RivalError(RuntimeError):
    """The opponent is not installed or broke the protocol; the text is one clear line."""


class Rival:
    """fairy-stockfish as a child process, driven by UCI."""

    def __init__(self, program: str, movetime: int) -> None:
        self._movetime = movetime
        self._program = program
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._ask("uci", "uciok")
        self._tell(f"setoption name VariantPath value {VARIANTS}")
        self._tell("setoption name UCI_Variant value xo10")
        self._tell("setoption name Hash value 64")
        self.new_game()

    def new_game(self) -> None:
        """Send ucinewgame."""
        self._tell("ucinewgame")
        self._ask("isready", "readyok")

    def choose(self, moves: list[str]) -> str:
        """Return its move after these cells, marked by X and O in turn."""
        self._tell("position startpos moves " + " ".join(f"P@{move}" for move in moves))
        line = self._ask(f"go movetime {self._movetime}", "bestmove")
        return line.split()[1].removeprefix("P@")

    def close(self) -> None:
        self._tell("quit")
        self._process.communicate()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")

    def _ask(self, line: str, word: str) -> str:
        """Send a line and return the first one of the answer that begins with `word`."""
        self._tell(line)
        assert self._process.stdout is not None
        for answer in self._process.stdout:
            if answer.startswith(word):
                return answer
        raise RivalError(f"{self._program} ended without an answer to {line!r}")


def rival_path(program: str) -> str:
    """Return the path of the opponent. Raises RivalError if it is not installed."""
    found = shutil.which(program) or shutil.which(program, path=GAMES_FOLDER)
    if found is None:
        raise RivalError(f"{program} is not installed; in Debian: apt install {PROGRAM}")
    return found


def openings(seed: int) -> Iterator[list[str]]:
    """Yield openings, X and O in turn, in which neither side can win by force in a few moves."""
    searcher = Searcher(SIZE)
    names = cell_names(SIZE)
    for number in count(seed):
        rules = Xo(size=SIZE, opening=OPENINGS[number % len(OPENINGS)])
        sides = sides_of(SIZE, rules.start(rules.deal(number)))
        searcher.set_position(sides.x, sides.o)
        if not any(searcher.vct(side, QUIET_THREATS) for side in (0, 1)):
            yield [names[cell] for pair in zip(sides.x, sides.o, strict=True) for cell in pair]


class Game(NamedTuple):
    """One game: our points (1, 0.5, 0), how it was played."""

    points: float
    moves: list[str]
    most_ms: int


def play(player: Engine, rival: Rival, opening: list[str], seat: int) -> Game:
    """Play one game with `player` in this seat."""
    rules = Xo(size=SIZE)
    position = rules.start(rules.deal(0))
    moves: list[str] = []
    most = 0.0
    rival.new_game()
    while rules.end(position) is None:
        if len(moves) < len(opening):
            move = opening[len(moves)]
        elif rules.to_move(position) == seat:
            began = perf_counter()
            move = str(player.choose(Position(rules=rules, state=position, moves=tuple(moves))))
            most = max(most, perf_counter() - began)
        else:
            move = rival.choose(moves)
        position = rules.play(position, move).position
        moves.append(move)
    return Game(rules.totals(position)[seat - 1] / 2, moves, int(1000 * most))


def mean(values: list[float]) -> float:
    """The mean, the statistic of the match."""
    return sum(values) / max(len(values), 1)


def score(pairs: list[tuple[float, float]]) -> dict[str, Any]:
    """Our wins, draws and losses from the points of pairs of games, and the score with its interval."""
    points = [each for pair in pairs for each in pair]
    return {
        "games": len(points),
        "won": points.count(1),
        "drawn": points.count(0.5),
        "lost": points.count(0),
        "score": round(mean(points), 4),
        "interval": bootstrap([[mean(list(pair)) for pair in pairs]], mean),
    }


def score_text(answer: dict[str, Any]) -> str:
    """The score as a part of a line for a person."""
    low, high = answer["interval"]
    return (
        f"{answer['games']} games: {answer['won']} won, {answer['drawn']} drawn, {answer['lost']} lost; "
        f"score {100 * answer['score']:.1f} % (95 %: {100 * low:.1f} to {100 * high:.1f})"
    )


def summary(pairs: list[tuple[Game, Game]]) -> dict[str, Any]:
    """The score and the longest move, ready for JSON."""
    most = max((game.most_ms for pair in pairs for game in pair), default=0)
    return score([(one.points, two.points) for one, two in pairs]) | {"most_ms": most}


def text(answer: dict[str, Any]) -> str:
    """The summary as a line for a person."""
    return f"{score_text(answer)}; longest move {answer['most_ms']} ms"


def match(options: argparse.Namespace) -> dict[str, Any]:
    """Play the match; print the score to stderr after each pair."""
    rival = Rival(rival_path(options.rival), options.movetime)
    player = create(options.engine or f"xo:time={options.movetime}", "xo")
    player.warm_up()
    pairs: list[tuple[Game, Game]] = []
    for opening in islice(openings(options.seed), options.games // 2):
        pairs.append((play(player, rival, opening, 1), play(player, rival, opening, 2)))
        print(text(summary(pairs)), file=sys.stderr, flush=True)
    rival.close()
    played = [{"points": game.points, "moves": game.moves} for pair in pairs for game in pair]
    return {"movetime": options.movetime, "seed": options.seed} | summary(pairs) | {"played": played}


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Play xo against fairy-stockfish at n = 10.")
    parser.add_argument("--games", type=int, default=100, help="an even number: two games an opening")
    parser.add_argument("--movetime", type=int, default=1000, help="milliseconds a move")
    parser.add_argument("--seed", type=int, default=2006, help="number of the first opening")
    parser.add_argument("--engine", help="our player, by default xo:time=MOVETIME")
    parser.add_argument("--rival", default=PROGRAM, help="the rival's program")
    parser.add_argument("--json", action="store_true", help="print an object with every game's moves")
    return parser.parse_args(words)


def main() -> None:
    """Play and print."""
    options = arguments()
    try:
        answer = match(options)
    except (RivalError, EngineError) as error:
        sys.exit(f"xo_rival: {error}")
    print(json.dumps(answer) if options.json else text(answer))


if __name__ == "__main__":
    main()
