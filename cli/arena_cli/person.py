"""A person at the terminal as a player: shows the position, reads moves, answers questions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from textwrap import fill
from typing import Any

import typer

from arena_cli.render import Frame, draw
from arena_engines.engine import AnyPosition, Engine
from arena_protocol.games.base import Deal, DecidedGame, Game, GameError
from arena_server.stats.scores import PlayedGame

#: Text is wrapped to fit a terminal of 80 columns.
WIDTH = 79

HELP = "Type a move, or: hint, moves, help, quit."


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
        caption = fill(", ".join(recent) or "the game begins", WIDTH)
        frame = Frame(f"ply {len(moves) + 1}", caption, rules.scene(position), seats)
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


def result_text(rules: Game[Any], played: PlayedGame, seat: int) -> str:
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
