"""The exceptions of the client."""

from __future__ import annotations

from arena_protocol.errors import UserError

#: Hint for a connection that ends before the first line of the server.
SILENT = "the server sent nothing: is it an arena server, and do both sides use TLS or neither?"


class ClientError(UserError):
    """The client cannot go on and another try would not help; the text is one line with the reason.

    `code` is the code of the server's ERROR if that is the reason, else None.
    """

    def __init__(self, text: str, *, code: str | None = None) -> None:
        super().__init__(text)
        self.code = code


class LeaveContest(Exception):  # noqa: N818 - a request of the bot, not an error
    """Raise it in a bot to leave the contest: the client sends QUIT, a fault if a game is running."""
