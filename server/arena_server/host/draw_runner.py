"""Running a draw off the loop: in a thread, or in a process of its own if it is slow.

A slow draw computes for seconds within one call that keeps the interpreter's lock, so that a thread would
stall the loop. The process gets the draw on stdin, and gives what it has drawn on stdout; if the server is
killed meanwhile nothing is lost, because the draw is asked for again and gives the same.

    python -m arena_server.host.draw_runner < draw > drawn
"""

from __future__ import annotations

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE

from arena_server.core.facts import Drawn
from arena_server.core.formats.base import Draw
from arena_server.errors import ArenaError


async def run_draw(draw: Draw) -> Drawn:
    """Run `draw` while the loop goes on. Raises what it raises, or ArenaError from another process."""
    if not draw.slow:
        return await asyncio.to_thread(draw.run)
    # -P: as in `places/base.py`, no file of the working folder is imported in the place of a module.
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", __name__, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    try:
        out, errors = await child.communicate(pickle.dumps(draw))
    finally:
        if child.returncode is None:  # the contest is over meanwhile
            child.kill()
    if child.returncode:
        last = errors.decode("utf-8", "replace").strip().splitlines()
        raise ArenaError(f"a round could not be drawn: {last[-1] if last else child.returncode}")
    drawn = pickle.loads(out)  # noqa: S301 - of our own process
    assert isinstance(drawn, Drawn)
    return drawn


def main() -> None:
    """Run the draw that comes on stdin."""
    draw = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own process
    assert isinstance(draw, Draw)
    sys.stdout.buffer.write(pickle.dumps(draw.run()))


if __name__ == "__main__":
    main()
