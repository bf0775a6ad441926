"""Exit statuses of the `arena` command, and the server's errors.

0     done
1     failed at run time, or a negative result; the same command may succeed later
2     the input is wrong: the command line, the configuration, a file they name, a library
      that is not installed; nothing was started, and the same command will fail again
130   interrupted by Ctrl-C or another stop signal (`interrupts`)
"""

from __future__ import annotations

from collections.abc import Sequence

from arena_protocol.errors import UserError
from arena_protocol.record import RecordError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class ArenaError(UserError):
    """An error of the server or of a command; the text is one line with the cause and the remedy."""

    exit_code = FAILED


class ConfigError(ArenaError):
    """A configuration or an option that cannot be used; nothing has been started."""

    exit_code = MISUSED


class PublicError(ArenaError):
    """An error whose text anyone may see: it names no file, no database and no address."""


class StoreError(ArenaError):
    """A database or a file of results that cannot be read or written."""


class EmptyDatabaseError(StoreError):
    """A database without tables: no contest has been begun in it yet."""


class OtherConfigError(StoreError):
    """An unfinished contest that was begun with another configuration: the same command fails again."""

    exit_code = MISUSED


#: How many names a line has: a client bounds its lines, and a host may have hundreds of contests.
NAMED = 20


def some_of(names: Sequence[str]) -> str:
    """Names as the line of an error has them."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


#: What a page shows of an error that is the organiser's to see.
HIDDEN = "the server cannot do this now; its organiser alone can see why"


def public_text(error: Exception) -> str:
    """The text of an error for anyone who can open a page; that of most errors names files."""
    return str(error) if isinstance(error, PublicError | RecordError) else HIDDEN
