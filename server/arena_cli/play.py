"""`arena play`: a person plays an engine in the terminal.

The game runs as in `arena match`, with `Person` as the player of one seat.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from secrets import randbelow
from textwrap import fill
from typing import Annotated, Any

import typer

from arena_cli.console import Console
from arena_cli.options import (
    DEFAULT_DATABASE,
    Color,
    Database,
    GameOptions,
    Library,
    duration,
    game_options,
    interruptible,
    is_terminal,
    start_positions,
    use_color,
)
from arena_cli.play_web import play_in_browser
from arena_cli.render import Frame, draw
from arena_engines.engine import AnyPosition, Engine, EngineError
from arena_engines.match import Played, play_game
from arena_engines.registry import create, usual_opponent
from arena_engines.xo.program1970.engine import Xo1970
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, DecidedGame, Game, GameError
from arena_protocol.games.mnk import Xo
from arena_server.errors import ConfigError

#: Text is wrapped to fit a terminal of 80 columns.
WIDTH = 79

HELP = "Type a move, or: hint, moves, help, quit."


def command(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game to play.", show_default=False)],
    against: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="The opponent; greedy, or the game's best engine, if absent.",
            show_default=False,
        ),
    ] = None,
    seat: Annotated[int, typer.Option(min=1, help="Your seat; seat 1 moves first.")] = 1,
    clock: Annotated[
        str | None, typer.Option(metavar="DURATION", help="The time of each seat; no clock if absent.")
    ] = None,
    option: GameOptions = None,
    library: Library = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of the deal; random if absent.")] = None,
    color: Color = True,
    games: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where games of XO against xo1970 are stored.")
    ] = Path(),
    web: Annotated[
        bool,
        typer.Option(
            "--web", help="Play in a browser instead: prints a link for each person, stores the games."
        ),
    ] = False,
    database: Database = DEFAULT_DATABASE,
) -> None:
    """Play a game against an engine in the terminal, or in a browser.

    Type a move in the game's notation, `hint` for the engine's choice, `moves` for the legal
    moves, `quit` to leave.

    Against xo1970 it is the operator's console of that program: settings change between games, a move is
    confirmed, and games are stored.

    With --web every seat is played once by each, in regular games of a server: recorded, and shown
    to spectators. `--against person` is a game of people: each gets a link that works once.

    Example: arena play insertion --against greedy --option plies=20
    """
    if web:
        chosen = game_options(option)
        clock_ms = None if clock is None else duration(clock, "--clock")
        rules = make_game(game, chosen, strangers=False)
        opponent = usual_opponent(game) if against is None else against
        play_in_browser(rules, chosen, opponent, clock_ms, seed, database)
        return
    if game == Xo.name and against is not None and against.partition(":")[0] == Xo1970.name:
        if library is not None:
            raise ConfigError("--library: the program of 1970 plays from the empty board; leave it out")
        _console(against, game_options(option), seat, clock, seed, games)
        return
    settings = game_options(option)
    rules = make_game(game, settings, strangers=False)
    if library is not None:
        rules = make_game(game, {**settings, "board": start_positions(library, rules)}, strangers=False)
    if seat > rules.seats:
        raise ConfigError(f"--seat: {game} has {rules.seats} seats, got {seat}")
    deal = rules.deal(randbelow(2**63) if seed is None else seed)
    opponent = usual_opponent(game) if against is None else against
    engines = [_engine(opponent, game) for _ in range(rules.seats)]
    person = Person(engines[seat - 1], opponent, deal, color=use_color(color, terminal=is_terminal()))
    players: list[Engine] = [*engines[: seat - 1], person, *engines[seat:]]
    clock_ms = None if clock is None else duration(clock, "--clock")
    typer.echo(introduction(rules) + "\n")
    try:
        with interruptible():
            played = play_game(rules, deal, players, clock_ms)
    except LeaveGame:
        typer.echo("you left the game")
        return
    typer.echo(person.picture(rules, played.moves, seat, None))
    typer.echo(_result(rules, played, seat))


def _console(
    spec: str, options: dict[str, object], seat: int, clock: str | None, seed: int | None, games: Path
) -> None:
    """Play XO against the program of 1970 at its console. Raises ConfigError for what it does not have."""
    rules = make_game(Xo.name, options, strangers=False)
    assert isinstance(rules, Xo), "the game of this name"
    if seat > rules.seats:
        raise ConfigError(f"--seat: {Xo.name} has {rules.seats} seats, got {seat}")
    if clock is not None or rules.opening or rules.boards:
        option = "opening" if rules.opening else "board"
        flag = "--clock" if clock is not None else f"--option {option}"
        raise ConfigError(
            f"{flag}: the program of 1970 plays without clocks from the empty board; leave it out"
        )
    if seed is not None:
        spec += f"{',' if ':' in spec else ':'}seed={seed}"
    try:
        console = Console(spec, rules.size, machine_begins=seat == 2, folder=games)
    except EngineError as error:
        raise ConfigError(f"--against: {error}") from error
    with interruptible():
        console.run()


def _engine(spec: str, game: str) -> Engine:
    try:
        player = create(spec, game)
    except EngineError as error:
        raise ConfigError(f"--against: {error}") from error
    player.warm_up()
    return player


def introduction(rules: Game[Any]) -> str:
    """Return the game's one-line description and the possible input."""
    return "\n".join(filter(None, (fill(rules.brief(), WIDTH), HELP)))


class LeaveGame(Exception):  # noqa: N818 - a request of the person, not an error
    """The person typed `quit`, or the input ended."""


class Person(Engine):
    """A player that shows the position and reads a legal move from stdin."""

    name = "person"

    def __init__(self, adviser: Engine, opponent: str, deal: Deal, *, color: bool) -> None:
        super().__init__()
        self._adviser = adviser
        self._opponent = opponent
        self._deal = deal
        self._color = color

    def choose(self, position: AnyPosition) -> str:
        """Ask until the answer is a legal move. Raises LeaveGame."""
        typer.echo(self.picture(position.rules, position.moves, position.seat, position.clock))
        typer.echo(_legal_moves_line(position.rules.legal_moves(position.state)))
        while True:
            word = self._read()
            if word == "quit":
                raise LeaveGame
            if position.rules.is_legal(position.state, word):
                return word
            typer.echo(self._reply(position, word))

    @staticmethod
    def _read() -> str:
        typer.echo("your move: ", nl=False)
        line = sys.stdin.readline()
        if not line:
            typer.echo()  # the end of the input has not ended the line of the prompt
        return line.strip() if line else "quit"

    def _reply(self, position: AnyPosition, word: str) -> str:
        """Return the reply to anything that is not a legal move."""
        if word == "moves":
            legal = ", ".join(position.rules.legal_moves(position.state))
            return fill(f"legal moves: {legal}", WIDTH)
        if word == "hint":
            return f"the engine would play {self._adviser.choose(position)}"
        if word in ("help", "?", ""):
            return introduction(position.rules)
        try:
            position.rules.play(position.state, word)
        except GameError as error:
            return f"{error}\n{HELP}"
        raise AssertionError("a game refuses every move that is not legal")

    def picture(self, rules: Game[Any], moves: Sequence[str], seat: int, clock: int | None) -> str:
        """Return the position after `moves`, the plies since the last own one, points and own clock."""
        position, recent = self._replay(rules, moves, seat)
        seats: list[tuple[str, int, int | None]] = [
            (f"seat {at}: {self._name(at, seat)}", points, clock if at == seat else None)
            for at, points in enumerate(rules.totals(position), start=1)
        ]
        state = rules.state_text(position)
        preview = rules.preview(Deal(state, self._deal.sequence[len(moves) :])) or ""
        caption = fill(", ".join(recent) or "the game begins", WIDTH)
        frame = Frame(f"ply {len(moves) + 1}", caption, state, preview, seats, rim=rules.rim())
        return draw(frame, color=self._color)

    def _replay(self, rules: Game[Any], moves: Sequence[str], own: int) -> tuple[Any, list[str]]:
        """Return the position after `moves`, and the plies from the last one of seat `own` on, as text."""
        position = rules.start(self._deal)
        recent: list[str] = []
        for move in moves:
            seat = rules.to_move(position)
            step = rules.play(position, move)
            has_points = step.points and not isinstance(rules, DecidedGame)
            points = f" for {step.points} points" if has_points else ""
            ply = f"seat {seat} ({self._name(seat, own)}) played {move}{points}"
            recent = [ply] if seat == own else [*recent, ply]
            position = step.position
        return position, recent

    def _name(self, seat: int, own: int) -> str:
        return "you" if seat == own else self._opponent


def _legal_moves_line(moves: Sequence[str]) -> str:
    """Return the legal moves on one line, or their number if the line would be too long."""
    line = f"legal moves: {', '.join(moves)}"
    return line if len(line) <= WIDTH else f"legal moves: {len(moves)}, type moves to see them"


def _result(rules: Game[Any], played: Played, seat: int) -> str:
    """Return the points and faults of all seats, and who has won if the game has a winner."""
    names = ["you" if at == seat else f"seat {at}" for at in range(1, rules.seats + 1)]
    scores = [
        f"{name} {total}" + (f" ({fault})" if fault else "")
        for name, total, fault in zip(names, played.totals, played.faults, strict=True)
    ]
    verdict = f"; {_verdict(played.totals, seat)}" if isinstance(rules, DecidedGame) else ""
    return f"the game is over: {', '.join(scores)}{verdict}"


def _verdict(totals: Sequence[int], seat: int) -> str:
    mine, other = totals[seat - 1], totals[2 - seat]
    return "a draw" if mine == other else "you have won" if mine > other else "you have lost"
