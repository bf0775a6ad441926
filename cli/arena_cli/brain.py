"""`arena brain`: an engine of XO becomes a program for a Gomocup manager.

An engine is compiled at its first use on a machine, which takes up to a minute, and no manager waits for
that: it is done in a thread, and a move that is asked for before its end is made without a search.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from arena_client.bridges.brain import Brain
    from arena_protocol.games.mnk import Marks, Xo

#: A limit of one move is taken for a bank of this many: engines plan an eighth of the bank at most.
MOVES_OF_A_TURN: Final = 8
#: The limit of the move that warms up.
WARM_UP_MS: Final = 100
#: How long the answer to START waits for the engine: code that was compiled before is loaded by then.
START_S: Final = 2.0
#: The share of a move's limit for which it waits for the engine.
WAIT_SHARE: Final = 0.8


def command(
    engine: Annotated[str, typer.Argument(metavar="ENGINE", help="An engine of XO.")] = "xo",
) -> None:
    """Let an engine play for a Gomocup manager: commands on stdin, answers on stdout.

    Boards of 10 x 10 to 14 x 14, freestyle. ENGINE is NAME or NAME:key=value,... as for `arena bot`. START is
    answered after 2 s at most: an engine that was never used on this machine is compiled meanwhile, and plays
    near the middle without a search until it is ready. `arena engines --compile xo` compiles it before.

    Example: arena brain xo:time=500
    """
    import sys

    from arena_client.bridges.brain import serve

    preparation = Preparation()
    serve(brain_of(engine, preparation), sys.stdin.buffer, sys.stdout.buffer)
    if not preparation.wait(0):
        # A compiler cannot be interrupted, and the manager waits for the end of the program.
        sys.stdout.flush()
        os._exit(0)


class Preparation:
    """Work that goes on in a thread, one piece after the other."""

    def __init__(self) -> None:
        self._last: threading.Thread | None = None
        self._errors: list[Exception] = []

    def begin(self, work: Callable[[], None]) -> None:
        """Have `work` done after all that was begun before."""
        before = self._last

        def run() -> None:
            if before is not None:
                before.join()
            try:
                work()
            except Exception as error:  # raised where it is waited for
                self._errors.append(error)

        self._last = threading.Thread(target=run, daemon=True)
        self._last.start()

    def wait(self, seconds: float | None) -> bool:
        """Whether all of it is done after `seconds` at most; raises what the work has raised."""
        if self._last is not None:
            self._last.join(seconds)
        if self._errors:
            raise self._errors.pop(0)
        return self._last is None or not self._last.is_alive()


def brain_of(engine: str, preparation: Preparation, start_s: float = START_S) -> Brain:
    """Build the brain around an engine of XO. Raises EngineError if there is none of this name."""
    from importlib.metadata import version

    from arena_client.bridges.brain import Brain
    from arena_engines import registry
    from arena_engines.engine import Position

    made = registry.create(engine, "xo")

    def search(rules: Xo, state: Marks, clock: int | None, limit: int | None) -> str:
        board = rules.state_text(state)
        if limit is not None:
            clock = min(clock or limit * MOVES_OF_A_TURN, limit * MOVES_OF_A_TURN)
        now = Position(rules=rules, state=state, start=board, clock=clock, bank=clock, move_limit=limit)
        return str(made.choose(now))

    def choose(rules: Xo, state: Marks, clock: int | None, limit: int | None) -> str:
        began = monotonic()
        if not preparation.wait(_patience(clock, limit)):
            return nearest_to_the_middle(rules, state)
        waited = round((monotonic() - began) * 1000)
        return search(rules, state, _less(clock, waited), _less(limit, waited))

    def prepare(rules: Xo) -> None:
        """Compile, and make a move: the first one fetches all code and memory of this size of board."""
        made.warm_up()
        search(rules, rules.start(rules.deal(0)), None, WARM_UP_MS)

    def warm_up(rules: Xo) -> None:
        preparation.begin(lambda: prepare(rules))
        preparation.wait(start_s)

    about = f'name="{made.spec}", version="{version("insertion-arena")}", author="insertion-arena"'
    return Brain(choose, about, warm_up)


def _patience(clock: int | None, limit: int | None) -> float | None:
    """For how many seconds a move waits for its engine; None: as long as it takes."""
    limits = [limit, None if clock is None else clock // MOVES_OF_A_TURN]
    known = [each for each in limits if each is not None]
    return WAIT_SHARE * min(known) / 1000 if known else None


def _less(time: int | None, waited: int) -> int | None:
    return None if time is None else max(1, time - waited)


def nearest_to_the_middle(rules: Xo, state: Marks) -> str:
    """The free cell with the least distance to the middle of the board, the first of equal ones."""
    middle = (rules.size - 1) / 2

    def distance(cell: str) -> float:
        column, row = ord(cell[0]) - ord("a"), int(cell[1:]) - 1
        return (column - middle) ** 2 + (row - middle) ** 2

    return min(rules.legal_moves(state), key=distance)
