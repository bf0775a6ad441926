"""The errors that end the program with one clear line for a person, and their exit codes."""

from __future__ import annotations


class ArenaError(Exception):
    """Something a person can put right; the text is one line that says what and how."""

    exit_code = 1


class ConfigError(ArenaError):
    """A configuration that cannot be used; nothing has been started."""

    exit_code = 2


class StoreError(ArenaError):
    """A database that cannot be read or written."""
