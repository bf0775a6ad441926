"""`arena brain`: an engine of XO as a Gomocup brain on stdin and stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from arena_client.bridges.brain import Brain
    from arena_protocol.games.mnk import Marks, Xo


def command(
    engine: Annotated[str, typer.Argument(metavar="ENGINE", help="An engine of XO.")] = "xo",
) -> None:
    """Let an engine play for a Gomocup manager: commands on stdin, answers on stdout.

    Boards of 10 x 10 to 14 x 14, freestyle. ENGINE is NAME or NAME:key=value,... as for `arena bot`.

    Example: arena brain xo:time=500
    """
    import sys

    from arena_client.bridges.brain import serve

    serve(brain_of(engine), sys.stdin.buffer, sys.stdout.buffer)


def brain_of(engine: str) -> Brain:
    """Build the brain around an engine of XO. Raises EngineError if there is none of this name."""
    from importlib.metadata import version

    from arena_client.bridges.brain import Brain
    from arena_engines import registry
    from arena_engines.engine import Position

    made = registry.create(engine, "xo")

    def choose(rules: Xo, state: Marks, clock: int | None) -> str:
        board = rules.state_text(state)
        return str(made.choose(Position(rules=rules, state=state, start=board, clock=clock, bank=clock)))

    about = f'name="{made.spec}", version="{version("insertion-arena")}", author="insertion-arena"'
    return Brain(choose, about, made.warm_up)
