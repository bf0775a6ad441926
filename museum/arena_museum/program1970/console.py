"""The operator's console of the XO program of 1970 (section 4 of its paper), in the terminal.

    arena play xo --against xo1970

Between games the operator sets the size of the board, the thresholds and who begins. A move is shown on the
board, and the machine starts thinking only when it is confirmed; input that is not a legal move changes
nothing. At its end a game is printed as a list of moves and stored as a file that `arena replay` shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from arena_cli.dialogue import DialogueOptions
from arena_engines.engine import Engine, EngineError, Position
from arena_engines.registry import create
from arena_museum.program1970.gametext import MACHINE, PaperGame, format_game, parse_game
from arena_protocol.errors import UserError
from arena_protocol.games.base import Game, GameError
from arena_protocol.games.mnk import SIZES, Marks, Xo, board_of
from arena_server.errors import ConfigError

#: How the files begin that it stores.
MARK = b"XO "
HELP = """\
start                    begin a game
size N                   the next game is played on N x N, 10 to 14
thresholds T0/T1/...     the thresholds of the next game
begin me | machine       who begins the next game
CELL                     your move, such as e5; Enter confirms it, back takes it back
board, moves             show the position, the list of moves
new                      leave this game
help, quit"""


def play(spec: str, rules: Game[Any], options: DialogueOptions) -> None:
    """Play one game after the other. Raises ConfigError for what the program does not have."""
    assert isinstance(rules, Xo), "the game of this engine"
    if options.library is not None:
        raise ConfigError("--library: the program of 1970 plays from the empty board; leave it out")
    if options.clock is not None or rules.opening or rules.boards:
        option = "opening" if rules.opening else "board"
        flag = "--clock" if options.clock is not None else f"--option {option}"
        raise ConfigError(
            f"{flag}: the program of 1970 plays without clocks from the empty board; leave it out"
        )
    if options.seed is not None:
        spec += f"{',' if ':' in spec else ':'}seed={options.seed}"
    try:
        console = Console(spec, rules.size, machine_begins=options.seat == 2, folder=options.games)
    except EngineError as error:
        raise ConfigError(f"--against: {error}") from error
    console.run()


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the next game."""

    size: int
    thresholds: str
    machine_begins: bool

    def __str__(self) -> str:
        begins = "the machine begins" if self.machine_begins else "you begin"
        return f"{self.size} x {self.size}, thresholds {self.thresholds}, {begins}"


class EndOfSession(Exception):  # noqa: N818 - not an error: the operator ends the session
    pass


class Console:
    """One session: games one after the other, until `quit` or the end of the input.

    Games are stored in `folder`; the engine's parameters other than its thresholds stay those of `spec`.
    """

    def __init__(self, spec: str, size: int, *, machine_begins: bool, folder: Path) -> None:
        self._next_engine: Engine = create(spec, "xo")
        self._next = Settings(size, str(self._next_engine.values["thresholds"]), machine_begins)
        self._folder = folder

    def run(self) -> None:
        """Play until the operator quits."""
        typer.echo("XO, the program of 1970.\n" + HELP)
        try:
            while True:
                self._await_start()
                self._play(PaperGame(self._next.size, self._next.thresholds, self._next.machine_begins))
        except EndOfSession:
            typer.echo("end of the session")

    def _await_start(self) -> None:
        while True:
            word = self._ask(f"[{self._next}] > ")
            if word == "start":
                return
            if not self._command(word, None):
                typer.echo(f"expected start or a setting, got {word!r}\n{HELP}")

    def _play(self, game: PaperGame) -> None:
        """Play a game to its end, or until `new` or `quit`, and store it."""
        engine = self._next_engine
        try:
            while game.rules.end(game.positions()[-1]) is None:
                machine_moves = (len(game.moves) % 2 == 0) == game.machine_begins
                moved = _machine_move(engine, game) if machine_moves else self._operator_move(game)
                if moved is None:
                    return
                game = moved
            typer.echo(board_text(game, len(game.moves)))
        finally:
            self._store(game)

    def _operator_move(self, game: PaperGame) -> PaperGame | None:
        """Ask for a legal and confirmed move; None for `new`."""
        typer.echo(board_text(game, len(game.moves)))
        while True:
            word = self._ask("your move: ")
            if word == "new":
                return None
            if self._command(word, game):
                continue
            try:
                game.rules.play(game.positions()[-1], word)
            except GameError as error:
                typer.echo(str(error))
                continue
            moved = replace(game, moves=(*game.moves, word))
            typer.echo(board_text(moved, len(moved.moves)))
            if self._ask(f"{word}: Enter starts the machine, anything else takes the move back: ") == "":
                return moved
            typer.echo(f"{word} is taken back")

    def _command(self, word: str, game: PaperGame | None) -> bool:
        """Carry out a command that may be typed at any time; False if `word` is none."""
        name, _, value = word.partition(" ")
        when = "" if game is None else "the next game: "
        if name in ("size", "thresholds", "begin"):
            typer.echo(self._set(name, value.strip()) or f"{when}{self._next}")
        elif word == "quit":
            raise EndOfSession
        elif word == "help":
            typer.echo(HELP)
        elif word == "board" and game is not None:
            typer.echo(board_text(game, len(game.moves)))
        elif word == "moves" and game is not None:
            typer.echo(format_game(game), nl=False)
        else:
            return False
        return True

    def _set(self, name: str, value: str) -> str | None:
        """Change a setting of the next game; the error text for a bad value."""
        if name == "size":
            if not value.isascii() or not value.isdigit() or int(value[:4]) not in SIZES:
                return f"size {value}: expected {SIZES[0]} to {SIZES[-1]}"
            self._next = replace(self._next, size=int(value))
        elif name == "begin":
            if value not in ("me", "machine"):
                return f"begin {value}: expected begin me or begin machine"
            self._next = replace(self._next, machine_begins=value == "machine")
        else:
            given = {key: each for key, each in self._next_engine.values.items() if each is not None}
            parameters = ",".join(f"{key}={each}" for key, each in (given | {"thresholds": value}).items())
            try:
                self._next_engine = create(f"xo1970:{parameters}", "xo")
            except EngineError as error:
                return str(error)
            self._next = replace(self._next, thresholds=value)
        return None

    def _store(self, game: PaperGame) -> None:
        if not game.moves:
            return
        text = format_game(game)
        typer.echo(text, nl=False)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = next(path for path in _names(self._folder) if not path.exists())
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"--games: cannot write to {self._folder}: {error.strerror}") from error
        typer.echo(f"stored: arena replay {path}")

    @staticmethod
    def _ask(prompt: str) -> str:
        """One line of input without blanks at its ends. Raises Quit at the end of the input."""
        typer.echo(prompt, nl=False)
        line = sys.stdin.readline()
        if not line:
            typer.echo()
            raise EndOfSession
        return " ".join(line.split())


def _machine_move(engine: Engine, game: PaperGame) -> PaperGame:
    position = Position(rules=game.rules, state=game.positions()[-1], moves=game.moves)
    move = str(engine.choose(position))
    typer.echo(f"{MACHINE} plays {move}")
    return replace(game, moves=(*game.moves, move))


def _names(folder: Path) -> Iterator[Path]:
    return (folder / f"xo1970-{number}.txt" for number in range(1, 1_000_000))


def board_text(game: PaperGame, number: int) -> str:
    """The position after `number` moves as a board, the last mark in capitals."""
    state: Marks = game.positions()[number]
    last = game.moves[number - 1] if number else None
    cells = board_of(game.size).cells
    signs = {name: "x" if state.x & bit else "o" if state.o & bit else "." for name, bit in cells.items()}
    if last is not None:
        signs[last] = signs[last].upper()
    letters = "abcdefghijklmn"[: game.size]
    rows = [
        f"{row:>2} " + " ".join(signs[f"{letter}{row}"] for letter in letters)
        for row in range(game.size, 0, -1)
    ]
    return "\n".join([*rows, "   " + " ".join(letters)])


def frames(text: str) -> list[str]:
    """The positions of a stored game, one text each. Raises GameError for a file that is no such game."""
    game = parse_game(text)
    head = f"{game.sides[0]} X, {game.sides[1]} O; {game.size} x {game.size}, thresholds {game.thresholds}"
    titles = ["the start", *(f"{game.sides[at % 2]} {move}" for at, move in enumerate(game.moves))]
    shown = [
        f"{head}\n{number}. {title}\n{board_text(game, number)}\n" for number, title in enumerate(titles)
    ]
    shown[-1] += f"{game.result()}\n"
    return shown
