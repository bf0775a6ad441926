"""The `arena` command. This package alone may import protocol, client, engines and server."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of `sys.argv` and exit."""
    try:
        # Here, and not at the head: it takes 0.1 s, in which Ctrl-C would print a traceback.
        from arena_cli.program import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)  # INTERRUPTED of arena_server.errors, which may not be imported yet
