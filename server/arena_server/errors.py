"""The errors that end the program with one clear line for a person, and the exit status of each.

    0     done
    1     tried in vain, or the answer is no; the same command may do another time
    2     what was asked for cannot be: the command line, the configuration, a file they name,
          a library not installed; nothing was begun, and the same command will fail again
    130   interrupted by ctrl-C

`arena_cli` has those of other packages' errors.
"""

from __future__ import annotations

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class ArenaError(Exception):
    """Something a person can put right; the text is one line that says what and how."""

    exit_code = FAILED


class ConfigError(ArenaError):
    """A configuration that cannot be used; nothing has been started."""

    exit_code = MISUSED


class StoreError(ArenaError):
    """A database that cannot be read or written."""
