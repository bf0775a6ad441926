"""`arena play`: a person against an engine, in the terminal.

The game runs as `arena match` runs it, with a player that asks a person. It must not know:
any game but by its plug-in, how engines think.
"""

from __future__ import annotations

import sys
from secrets import randbelow
from typing import Annotated, Any

import typer

from arena_engines.engine import EngineError, Player
from arena_engines.match import Played, Seat, ask, play_game
from arena_engines.registry import create
from arena_engines.table import Table, TableEngine
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game
from arena_server.cli.drawing import Scene, draw
from arena_server.cli.match import clock_of
from arena_server.cli.options import ends_at_once, options_of
from arena_server.errors import ConfigError

HELP = "Type a move, or: hint, moves, help, quit."


class Leave(Exception):  # noqa: N818 - no error: the person has had enough
    """The person leaves the game."""


class Person(TableEngine):
    """A player that shows the position and asks; it answers legal moves only."""

    name = "person"

    def __init__(self, adviser: Player, opponent: str, deal: Deal, *, color: bool) -> None:
        super().__init__()
        self._adviser = adviser
        self._opponent = opponent
        self._deal = deal
        self._color = color

    def choose(self, table: Table) -> str:
        """Ask until the answer is a legal move. Raises Leave at `quit` or at the end of the input."""
        typer.echo(self._picture(table))
        while True:
            answer = self._heard()
            if answer == "quit":
                raise Leave
            if table.rules.is_legal(table.position, answer):
                return answer
            typer.echo(self._answer(table, answer))

    @staticmethod
    def _heard() -> str:
        typer.echo("your move: ", nl=False)
        line = sys.stdin.readline()
        return line.strip() if line else "quit"

    def _answer(self, table: Table, word: str) -> str:
        """What is said to anything that is not a legal move."""
        legal = ", ".join(table.rules.legal_moves(table.position))
        if word == "moves":
            return f"legal moves: {legal}"
        if word == "hint":
            return f"the engine would play {self._hint(table)}"
        if word in ("help", "?", ""):
            return HELP
        return f"{word!r} is not a legal move here; legal moves: {legal}. {HELP}"

    def _hint(self, table: Table) -> int | str:
        seat = Seat(self._adviser, table.clock)
        return ask(table.rules, self._deal, table.position, table.moves, seat, table.bank)

    def _picture(self, table: Table) -> str:
        rules, position = table.rules, table.position
        names = [f"seat {seat}: {self._opponent}" for seat in range(1, rules.seats + 1)]
        names[table.seat - 1] = f"seat {table.seat}: you"
        clock = table.clock or 0
        sides = [(name, points, clock) for name, points in zip(names, rules.totals(position), strict=True)]
        ply = len(table.moves) + 1
        deed = f"the last move was {table.moves[-1]}" if table.moves else "the game begins"
        state = rules.state_text(position)
        coming = rules.preview(Deal(state, self._deal.sequence[len(table.moves) :])) or ""
        return draw(Scene(f"ply {ply}", deed, state, coming, sides), color=self._color)


def command(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game to play.", show_default=False)],
    against: Annotated[str, typer.Option(metavar="ENGINE", help="Whom to play against.")] = "greedy",
    seat: Annotated[int, typer.Option(min=1, help="Your seat; seat 1 begins.")] = 1,
    clock: Annotated[
        str | None, typer.Option(metavar="DURATION", help="A bank for each side; none if absent.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="An option of the game; may be repeated.", show_default=False),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The deal; a new one if absent.")] = None,
    color: Annotated[bool, typer.Option("--color/--no-color", help="Paint the pictures.")] = True,
) -> None:
    """Play a game against an engine, in the terminal.

    Type a move in the game's notation, `hint` for the engine's advice, `moves` for the legal
    ones, `quit` to leave.

    Example: arena play insertion --against greedy --option plies=20
    """
    rules = make_game(game, options_of(option or []), strangers=False)
    if seat > rules.seats:
        raise ConfigError(f"--seat: {game} has {rules.seats} seats, got {seat}")
    deal = rules.deal(randbelow(2**63) if seed is None else seed)
    engines = [_engine(against, game) for _ in range(rules.seats)]
    person = Person(engines[seat - 1], against, deal, color=color and sys.stdout.isatty())
    players: list[Player] = [*engines[: seat - 1], person, *engines[seat:]]
    try:
        with ends_at_once():
            played = play_game(rules, deal, players, None if clock is None else clock_of(clock))
    except Leave:
        typer.echo("you left the game")
        return
    typer.echo(_result(rules, deal, played, seat))


def _engine(spec: str, game: str) -> Player:
    try:
        player = create(spec, game)
    except EngineError as error:
        raise ConfigError(f"--against: {error}") from error
    player.warm_up()
    return player


def _result(rules: Game[Any], deal: Deal, played: Played, seat: int) -> str:
    """The last position, and who has how much."""
    position = rules.start(deal)
    for move in played.moves:
        if rules.is_legal(position, move):
            position = rules.play(position, move).position
    names = ["you" if at == seat else f"seat {at}" for at in range(1, rules.seats + 1)]
    points = ", ".join(f"{name} {total}" for name, total in zip(names, played.totals, strict=True))
    fault = played.faults[seat - 1]
    why = f" (you: {fault})" if fault else ""
    return f"{rules.state_text(position)}\nthe game is over: {points}{why}"
