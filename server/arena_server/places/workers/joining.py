"""Whether a worker that joins can play the game as the server does: the same version, and the same rules.

asks_for(terms) --sent whole, runs on the worker--> describe -> its answer -> refusal: a line, or None
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Final

from arena_protocol.errors import UserError
from arena_protocol.games import make_game
from arena_server.places.workers.base import LONGEST
from arena_server.terms.terms import GameTerms

#: How far the game is played whose course tells rules apart.
PLIES: Final = 60
PACKAGE: Final = "insertion-arena"


def asks_for(terms: GameTerms) -> Callable[[], list[str]]:
    """What runs on a worker: a function in a function is sent whole, and needs no package there."""
    game, options, module = terms.game, dict(terms.options), __name__

    def ask() -> list[str]:
        from importlib import import_module

        try:
            found: list[str] = import_module(module).describe(game, options)
        except Exception as error:  # it lacks the package, or has a version without this module
            return ["", "", f"{type(error).__name__}: {error}"]
        return found

    return ask


def describe(game: str, options: dict[str, Any]) -> list[str]:
    """The version of this machine, a digest of its rules of a game, and why it has none."""
    try:
        return [version(PACKAGE), _digest(game, options), ""]
    except UserError as error:
        return [version(PACKAGE), "", str(error)]


def _digest(name: str, options: dict[str, Any]) -> str:
    """A digest of the beginning of one game, whose moves are legal ones in turn. Raises GameError."""
    game = make_game(name, options)
    deal = game.deal(1)
    position = game.start(deal)
    course = [deal.board, deal.sequence]
    for ply in range(PLIES):
        if game.end(position) is not None:
            break
        moves = game.legal_moves(position)
        course.append(moves[ply % len(moves)])
        position = game.play(position, course[-1]).position
        course.append(game.state_text(position))
    return hashlib.sha256("\n".join(course).encode()).hexdigest()


def refusal(terms: GameTerms, answer: object) -> str | None:
    """Why a worker that answers so could not play; None: it could."""
    ours, digest, _ = describe(terms.game, dict(terms.options))
    match answer:
        case [str(theirs), str(found), str(problem)]:
            pass
        case _:
            return "it does not answer as a worker of this version does"
    problem, theirs = problem[:LONGEST], theirs[:LONGEST]
    if not theirs:
        return f"expected {PACKAGE} {ours} there, got {problem}; install it there and start the worker again"
    if theirs != ours:
        return f"expected {PACKAGE} {ours} there, got {theirs}; install it there and start the worker again"
    if problem:
        return f"expected the game {terms.game} there, got: {problem}"
    if found != digest:
        return f"expected the rules of {terms.game} that the server has; install the same package of it there"
    return None
