"""Errors that end the program with one line for the user, and the exit status of each.

    0     done
    1     failed at run time, or a negative result; the same command may succeed later
    2     misuse: the command line, the configuration, a file they name, or a library that is
          not installed; nothing was started, and the same command will fail again
    130   interrupted by Ctrl-C

`arena_cli` maps the errors of other packages.
"""

from __future__ import annotations

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class ArenaError(Exception):
    """An error that the user can correct; the text is one line that says what and how."""

    exit_code = FAILED


class ConfigError(ArenaError):
    """A configuration that cannot be used; nothing was started."""

    exit_code = MISUSED


class StoreError(ArenaError):
    """A database that cannot be read or written."""
