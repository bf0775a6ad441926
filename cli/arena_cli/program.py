"""The program `arena`: its command line, and how it ends.

The error contract: an error that the user can correct (`UserError`, a wrong command line, a missing
library, a full disk) becomes one line on stderr and a non-zero exit status (listed in
`arena_server.errors`); a traceback is a bug of the program.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import Any, NoReturn

from arena_cli.streams import open_streams
from arena_protocol.errors import UserError, needs_extra
from arena_server.errors import FAILED, INTERRUPTED, MISUSED
from arena_server.host.interrupts import handled, interrupt, stop_signals

#: The extra that installs each optional library.
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

#: stdout cannot be written: the disk is full or the device failed.
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

#: A path of the user is at fault, whichever command looks at it: `Path.exists` raises the first two.
_PATH_ERRORS = (errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EROFS)


def run() -> NoReturn:
    """Run the command line of `sys.argv` and exit. Raises KeyboardInterrupt."""
    # Start-up allocates only what lives until the end, so a collection in between would only delay
    # `listening`. `app` enables the collector again for every command but `serve`, which does so itself.
    gc.disable()
    open_streams()
    # pydantic would otherwise search all installed distributions for plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # numpy is for matrices of a few hundred rows: with a thread for each core solving one takes longer,
    # up to a hundred times on a machine that is busy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from arena_cli.app import app

        # What a command has started ends with it: Python itself would end at once, and leave it running.
        with handled(interrupt, stop_signals(ctrl_c=False)):
            sys.exit(app(prog_name="arena", standalone_mode=False) or 0)
    except BaseExceptionGroup as group:
        # trio puts the exceptions of its tasks into a group.
        if group.split(KeyboardInterrupt)[1] is not None:
            raise
        sys.exit(INTERRUPTED)
    except Exception as error:
        if _is_interrupted(error):
            sys.exit(INTERRUPTED)
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]  # the class is not public
            sys.exit(MISUSED)
        line = user_message(error)
        if line is None:
            raise
        print(f"arena: {line}", file=sys.stderr)  # noqa: T201 - the one place that reports errors
        sys.exit(exit_status(error))


def _is_interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C is the cause: Python 3.11 raises RuntimeError for one within `__set_name__`."""
    cause = error.__cause__
    return cause is not None and (isinstance(cause, KeyboardInterrupt) or _is_interrupted(cause))


def user_message(error: Exception) -> str | None:
    """Return the line to print for an error that the user can correct, None for a bug of the program."""
    if isinstance(error, UserError):
        return _shown(str(error))
    if isinstance(error, ImportError):
        extra = _missing_extra(error)
        return extra and needs_extra("this command", extra)
    if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS and error.filename is None:
        return f"the output cannot be written: {error.strerror}"
    if isinstance(error, OSError) and error.errno in _PATH_ERRORS and error.filename is not None:
        return _shown(f"{os.fsdecode(error.filename)}: {error.strerror}")
    if isinstance(error, UnicodeError) and "idna" in str(error):
        return _shown(f"no host has such a name: {error.__cause__ or error}")
    if hasattr(error, "format_message"):
        return _usage_message(error)
    return None


def _shown(text: str) -> str:
    """Return `text` as one line without control characters: it may quote a file or a server."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in " ".join(text.split()))


def exit_status(error: Exception) -> int:
    """Return the exit status for an error that has a `user_message`."""
    if isinstance(error, ImportError | UnicodeError):
        return MISUSED
    status: int = getattr(error, "exit_code", FAILED)
    return status


def _usage_message(error: Any) -> str:
    """Return one line for a wrong command line: typer's text and the command whose help to read."""
    text = " ".join(str(error.format_message()).split()).removesuffix(".")
    path = error.ctx.command_path if error.ctx else "arena"
    return f"{text[:1].lower()}{text[1:]} (see {path} -h)"


def _missing_extra(error: ImportError) -> str | None:
    """Return the extra that installs the missing library; follows `__cause__` of wrapped import errors."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportError) and cause.name is not None:
            extra = _EXTRAS.get(cause.name.partition(".")[0])
            if extra is not None:
                return extra
        cause = cause.__cause__
    return None
