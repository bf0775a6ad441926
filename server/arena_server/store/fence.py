"""A server's marks in the row of its contest in the table `writers`.

A server whose contest another one has taken over finds another mark, and writes nothing more. One that has
lost its connection learns from the mark that is there whether its last transaction was committed.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_server.errors import StoreError
from arena_server.store.database import Database
from arena_server.store.ownership import LOCK_CLASS

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Fence:
    """The marks of one server: each transaction replaces that of the one before by a new one.

    `mark` is that of the last transaction; None before the first. `sessions` are the processes of PostgreSQL
    that may have locks of this server.
    """

    def __init__(self) -> None:
        self._server: Final = secrets.token_hex(8)
        self._count = 0
        self.mark: str | None = None
        self.sessions: set[int] = set()
        #: Whether what was begun is durable, by the mark that may be there.
        self._meaning: dict[str | None, bool] = {None: False}

    def begin(self) -> None:
        """Begin what will be one transaction; all before it are known to be durable."""
        self._meaning = {self.mark: False}

    def advance(self) -> tuple[str | None, str]:
        """The mark that the next transaction replaces, and its own."""
        before, mine = self.mark, self._new()
        self.mark = mine
        self._meaning = {before: False, mine: True}
        return before, mine

    def settle(self, found: str | None) -> bool | None:
        """Whether what was begun is durable where `found` is there; the mark is a new one then.

        None: `found` is of a transaction before, and what was reported as durable is gone. Raises
        PermissionError if it is another server's.
        """
        if found is not None and not found.startswith(self._server):
            raise PermissionError
        durable = self._meaning.get(found)
        if durable is not None and found is not None:
            # A statement of the lost connection may still be on its way: it will find another mark.
            self.mark = self._new()
            self._meaning[self.mark] = durable
        elif durable is not None:
            self.mark = None
        return durable

    def _new(self) -> str:
        self._count += 1
        return f"{self._server}-{self._count}"


class Claim:
    """The right to write a contest, until another server makes a claim."""

    def __init__(self, database: Database, connection: Connection, contest: int, fence: Fence) -> None:
        from sqlalchemy import text

        self.contest: Final = contest
        self.fence: Final = fence
        self._database = database
        self.connection = connection
        self._take = text(
            "INSERT INTO writers (contest_id, writer) VALUES (:contest, :mine) "
            "ON CONFLICT (contest_id) DO UPDATE SET writer = excluded.writer"
        )
        self._advance = text(
            "UPDATE writers SET writer = :mine WHERE contest_id = :contest AND writer = :before"
        )

    def make(self) -> None:
        """End the claim of the server before, within a transaction."""
        _, mine = self.fence.advance()
        self.connection.execute(self._take, {"contest": self.contest, "mine": mine})

    def renew(self) -> None:
        """Leave the mark of `Fence.settle`, within a transaction."""
        self.connection.execute(self._take, {"contest": self.contest, "mine": self.fence.mark})

    def check(self) -> None:
        """Begin to write: no other server makes a claim until the transaction ends. Raises StoreError."""
        before, mine = self.fence.advance()
        values = {"contest": self.contest, "before": before, "mine": mine}
        if self.connection.execute(self._advance, values).rowcount != 1:
            raise self.lost()

    def lost(self) -> StoreError:
        """The error of a server that has found another mark."""
        return StoreError(
            f"{self._database}: another server has taken contest {self.contest} over; "
            "nothing more can be kept here"
        )

    def settle(self) -> bool:
        """Whether what was begun is durable, after the connection was lost; call it within a transaction.

        Waits for the end of a transaction that the database still works on. Raises StoreError if another
        server has made a claim, or what was reported as durable is gone.
        """
        from sqlalchemy import text

        # The database may still be committing what it has given no answer to: it holds the row until then.
        wait = "" if isinstance(self._database, Path) else " FOR UPDATE"
        query = text(f"SELECT writer FROM writers WHERE contest_id = :contest{wait}")  # noqa: S608 - no input
        try:
            durable = self.fence.settle(self.connection.scalar(query, {"contest": self.contest}))
        except PermissionError:
            raise self.lost() from None
        if durable is None:
            raise StoreError(
                f"{self._database}: what was durable is gone from the database (a standby that was behind?); "
                "nothing more can be kept here; start arena again: it goes on from what is there"
            )
        return durable


def end_sessions(connection: Connection, contest: int, sessions: Iterable[int]) -> None:
    """End the processes of PostgreSQL among `sessions` that have the lock of a contest.

    They may serve a connection for a while whose end they have not noticed.
    """
    from sqlalchemy import text

    query = text(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = :class "
        "AND objid = :contest AND pid = ANY(:sessions) "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    values = {"class": LOCK_CLASS, "contest": contest, "sessions": list(sessions)}
    connection.execute(query, values)
