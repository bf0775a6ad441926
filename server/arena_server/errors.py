"""Exit statuses of the `arena` command, and the server's errors.

0     done
1     failed at run time, or a negative result; the same command may succeed later
2     the input is wrong: the command line, the configuration, a file they name, a library
      that is not installed; nothing was started, and the same command will fail again
130   interrupted by Ctrl-C
"""

from __future__ import annotations

from arena_protocol.errors import UserError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class ArenaError(UserError):
    """An error of the server or of a command; the text is one line with the cause and the remedy."""

    exit_code = FAILED


class ConfigError(ArenaError):
    """A configuration or an option that cannot be used; nothing has been started."""

    exit_code = MISUSED


class StoreError(ArenaError):
    """A database or a file of results that cannot be read or written."""


class EmptyDatabaseError(StoreError):
    """A database without tables: no contest has been begun in it yet."""
