"""The `arena` command: the one place that may know protocol, client, engines and server.

`main` is the program. The error contract: whatever a person can put right is one line on
stderr and a non-zero exit (`arena_server.errors` says which); a traceback is a fault of ours.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import Any, NoReturn

from arena_server.errors import FAILED, INTERRUPTED, MISUSED

#: Which extra brings a library that may be missing.
_EXTRAS = {
    "numba": "engines",
    "numpy": "engines",
    "prometheus_client": "server",
    "pydantic": "server",
    "rich": "server",
    "sqlalchemy": "server",
    "sympy": "symbolic",
    "trio": "trio",
    "typer": "server",
}

#: Where what is printed goes has no room for it, or has gone.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

#: Errors whose text is for people, by where they live, and their exit status where they know
#: none of their own; a module not loaded has raised none.
_SPOKEN = (
    ("arena_server.errors", "ArenaError", FAILED),
    ("arena_server.core.config", "PlanError", MISUSED),
    ("arena_client.errors", "ClientError", FAILED),
    ("arena_engines.engine", "EngineError", MISUSED),
    ("arena_protocol.record", "RecordError", FAILED),
    ("arena_protocol.games.base", "GameError", MISUSED),
)


def main() -> NoReturn:
    """Run the command line of `sys.argv` and exit."""
    # All that start-up makes stays for good; collecting in between only delays a server's first
    # word. Each command but `serve` has the collector back at once, see `app`.
    gc.disable()
    # Nor is there a plugin of pydantic's to look for in whatever else is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from arena_cli.app import app

        sys.exit(app(prog_name="arena", standalone_mode=False) or 0)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BaseExceptionGroup as group:
        # trio wraps what ends its tasks.
        if group.split(KeyboardInterrupt)[1] is not None:
            raise
        sys.exit(INTERRUPTED)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            sys.exit(MISUSED)
        line = spoken(error)
        if line is None:
            raise
        print(f"arena: {line}", file=sys.stderr)  # noqa: T201 - the program's own voice
        sys.exit(exit_status(error))


def spoken(error: Exception) -> str | None:
    """The line for a person, or None if the error is a fault of ours."""
    if isinstance(error, ImportError):
        extra = _missing_extra(error)
        return extra and f'this command needs more than is installed: pip install "insertion-arena[{extra}]"'
    if isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None:
        return f"the output cannot be written: {error.strerror}"
    if hasattr(error, "format_message"):
        return _misused(error)
    return None if _status(error) is None else " ".join(str(error).split())


def exit_status(error: Exception) -> int:
    """The exit status for an error that is `spoken` of."""
    if isinstance(error, ImportError):
        return MISUSED  # what is not installed now is not there another time
    own: int | None = getattr(error, "exit_code", None)
    return own or _status(error) or FAILED


def _status(error: Exception) -> int | None:
    """The exit status of an error whose text is for people; None if it is not."""
    for module, name, status in _SPOKEN:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(error, kind):
            return status
    return None


def _misused(error: Any) -> str:
    """What is wrong with a command line, for which typer takes a paragraph, and where to read on."""
    text = " ".join(str(error.format_message()).split()).removesuffix(".")
    path = error.ctx.command_path if error.ctx else "arena"
    return f"{text[:1].lower()}{text[1:]} (see {path} -h)"


def _missing_extra(error: ImportError) -> str | None:
    """The extra that brings what is missing; a shell may have wrapped the first error in its own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportError) and cause.name is not None:
            extra = _EXTRAS.get(cause.name.partition(".")[0])
            if extra is not None:
                return extra
        cause = cause.__cause__
    return None
