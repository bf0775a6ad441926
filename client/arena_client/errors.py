"""The exceptions of the client."""

from __future__ import annotations

from arena_protocol.errors import ClientError

__all__ = ["SILENT", "ClientError", "LeaveContest"]

#: Hint for a connection that ends before the first line of the server.
SILENT = "the server sent nothing: is it an arena server, and do both sides use TLS or neither?"


class LeaveContest(Exception):  # noqa: N818 - a request of the bot, not an error
    """Raise it in a bot to leave the contest: the client sends QUIT, a fault if a game is running."""
