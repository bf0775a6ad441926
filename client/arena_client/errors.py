"""What ends a bot's visit: one exception whose text is one clear line.

It must not know: sockets, event loops, or which shell is running.
"""

from __future__ import annotations

from arena_protocol.errors import UserError

#: What to look at where a connection ends before the server's first word.
SILENT = "nothing was said there: is it an arena server, and TLS the same on both sides?"


class ClientError(UserError):
    """The visit is over and trying again would not help; the text says why and what to do next.

    `code` is the code of the server's ERROR, if an ERROR is the reason, else None.
    """

    def __init__(self, text: str, *, code: str | None = None) -> None:
        super().__init__(text)
        self.code = code
