"""`arena play`: a person against an engine, in the terminal.

The game runs as `arena match` runs it, with a player that asks a person. It must not know:
any game but by its plug-in, how engines think.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from secrets import randbelow
from textwrap import fill
from typing import Annotated, Any

import typer

from arena_cli.options import (
    GameOptions,
    duration,
    game_options,
    interruptible,
    is_terminal,
    use_color,
)
from arena_cli.render import Frame, draw
from arena_engines.engine import AnyPosition, Engine, EngineError
from arena_engines.match import Played, play_game
from arena_engines.registry import create, usual_opponent
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, DecidedGame, Game, GameError
from arena_server.errors import ConfigError

#: The narrowest terminal that is usual.
WIDTH = 79

HELP = "Type a move, or: hint, moves, help, quit."


class Leave(Exception):  # noqa: N818 - no error: the person has had enough
    """The person leaves the game."""


class Person(Engine):
    """A player that shows the position and asks; it answers legal moves only."""

    name = "person"

    def __init__(self, adviser: Engine, opponent: str, deal: Deal, *, color: bool) -> None:
        super().__init__()
        self._adviser = adviser
        self._opponent = opponent
        self._deal = deal
        self._color = color

    def choose(self, position: AnyPosition) -> str:
        """Ask until the answer is a legal move. Raises Leave at `quit` or at the end of the input."""
        typer.echo(self.picture(position.rules, position.moves, position.seat, position.clock))
        typer.echo(_few(position.rules.legal_moves(position.state)))
        while True:
            answer = self._heard()
            if answer == "quit":
                raise Leave
            if position.rules.is_legal(position.state, answer):
                return answer
            typer.echo(self._answer(position, answer))

    @staticmethod
    def _heard() -> str:
        typer.echo("your move: ", nl=False)
        line = sys.stdin.readline()
        if not line:
            typer.echo()  # the terminal has shown no end of the line
        return line.strip() if line else "quit"

    def _answer(self, position: AnyPosition, word: str) -> str:
        """What is said to anything that is not a legal move."""
        if word == "moves":
            legal = ", ".join(position.rules.legal_moves(position.state))
            return fill(f"legal moves: {legal}", WIDTH)
        if word == "hint":
            return f"the engine would play {self._adviser.choose(position)}"
        if word in ("help", "?", ""):
            return introduction(position.rules)
        return f"{_refusal(position, word)}\n{HELP}"

    def picture(self, rules: Game[Any], moves: Sequence[str], seat: int, clock: int | None) -> str:
        """The position after `moves`, what the others have just done, points, and the own clock."""
        position, deeds = self._course(rules, moves, seat)
        sides: list[tuple[str, int, int | None]] = [
            (f"seat {at}: {self._name(at, seat)}", points, clock if at == seat else None)
            for at, points in enumerate(rules.totals(position), start=1)
        ]
        state = rules.state_text(position)
        coming = rules.preview(Deal(state, self._deal.sequence[len(moves) :])) or ""
        deed = fill(", ".join(deeds) or "the game begins", WIDTH)
        scene = Frame(f"ply {len(moves) + 1}", deed, state, coming, sides, rim=rules.rim())
        return draw(scene, color=self._color)

    def _course(self, rules: Game[Any], moves: Sequence[str], me: int) -> tuple[Any, list[str]]:
        """The position after `moves`, and what has been played since my last move."""
        position = rules.start(self._deal)
        deeds: list[str] = []
        for move in moves:
            seat = rules.to_move(position)
            step = rules.play(position, move)
            pays = step.points and not isinstance(rules, DecidedGame)
            earned = f" for {step.points} points" if pays else ""
            deed = f"seat {seat} ({self._name(seat, me)}) played {move}{earned}"
            deeds = [deed] if seat == me else [*deeds, deed]
            position = step.position
        return position, deeds

    def _name(self, seat: int, me: int) -> str:
        return "you" if seat == me else self._opponent


def introduction(rules: Game[Any]) -> str:
    """What a person has to know of the game, and what may be typed."""
    return "\n".join(filter(None, (fill(rules.brief(), WIDTH), HELP)))


def _few(moves: Sequence[str]) -> str:
    """The legal moves on one line, or how many they are."""
    line = f"legal moves: {', '.join(moves)}"
    return line if len(line) <= WIDTH else f"legal moves: {len(moves)}, type moves to see them"


def _refusal(position: AnyPosition, word: str) -> str:
    """Why the game does not take this move."""
    try:
        position.rules.play(position.state, word)
    except GameError as error:
        return str(error)
    raise AssertionError("what is not legal is refused: a law of every game")


def command(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game to play.", show_default=False)],
    against: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="Whom to play against; if absent greedy, or the game's best.",
            show_default=False,
        ),
    ] = None,
    seat: Annotated[int, typer.Option(min=1, help="Your seat; seat 1 begins.")] = 1,
    clock: Annotated[
        str | None, typer.Option(metavar="DURATION", help="A bank for each side; none if absent.")
    ] = None,
    option: GameOptions = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The deal; a new one if absent.")] = None,
    color: Annotated[bool, typer.Option("--color/--no-color", help="Paint the pictures.")] = True,
) -> None:
    """Play a game against an engine, in the terminal.

    Type a move in the game's notation, `hint` for the engine's advice, `moves` for the legal
    ones, `quit` to leave.

    Example: arena play insertion --against greedy --option plies=20
    """
    rules = make_game(game, game_options(option), strangers=False)
    if seat > rules.seats:
        raise ConfigError(f"--seat: {game} has {rules.seats} seats, got {seat}")
    deal = rules.deal(randbelow(2**63) if seed is None else seed)
    opponent = usual_opponent(game) if against is None else against
    engines = [_engine(opponent, game) for _ in range(rules.seats)]
    person = Person(engines[seat - 1], opponent, deal, color=use_color(color, terminal=is_terminal()))
    players: list[Engine] = [*engines[: seat - 1], person, *engines[seat:]]
    typer.echo(introduction(rules) + "\n")
    try:
        with interruptible():
            played = play_game(rules, deal, players, None if clock is None else duration(clock, "--clock"))
    except Leave:
        typer.echo("you left the game")
        return
    typer.echo(person.picture(rules, played.moves, seat, None))
    typer.echo(_result(rules, played, seat))


def _engine(spec: str, game: str) -> Engine:
    try:
        player = create(spec, game)
    except EngineError as error:
        raise ConfigError(f"--against: {error}") from error
    player.warm_up()
    return player


def _result(rules: Game[Any], played: Played, seat: int) -> str:
    """Who has how much, why if somebody was at fault, and who has won where somebody does."""
    names = ["you" if at == seat else f"seat {at}" for at in range(1, rules.seats + 1)]
    told = [
        f"{name} {total}" + (f" ({fault})" if fault else "")
        for name, total, fault in zip(names, played.totals, played.faults, strict=True)
    ]
    verdict = f"; {_verdict(played.totals, seat)}" if isinstance(rules, DecidedGame) else ""
    return f"the game is over: {', '.join(told)}{verdict}"


def _verdict(totals: Sequence[int], seat: int) -> str:
    mine, other = totals[seat - 1], totals[2 - seat]
    return "a draw" if mine == other else "you have won" if mine > other else "you have lost"
