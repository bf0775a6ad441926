"""Which database a URL means. It must not know: tables, SQLAlchemy, whether the database is there.

One server a contest: a claim that ends with the process that made it, however it ends.

On a file it is a lock on one byte of `arena.db-claims`, the byte of the contest's number; on
PostgreSQL an advisory lock of the connection. It must not know: tables, games.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from arena_server.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection

#: Written into the header of the file (`PRAGMA application_id`): "Aren".
APPLICATION_ID = 0x4172656E
#: The layout of the tables (`PRAGMA user_version`); a change that old readers would misread adds one.
LAYOUT = 3
#: How long another program may hold the database before it counts as locked.
BUSY_TIMEOUT_S = 2.0

DEFAULT_URL = "sqlite:///arena.db"
_PREFIX = "sqlite:///"
_SERVERS = ("postgresql", "postgres")


@dataclass(frozen=True, slots=True)
class Server:
    """A database on a PostgreSQL server. It prints as its URL without the password."""

    url: str = field(repr=False)

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


#: A file of SQLite, or a database on a server.
Database = Path | Server


def database_of(url: str) -> Database:
    """The file of `sqlite:///relative.db` or `sqlite:////absolute.db`, or the server of `postgresql://...`.

    Raises ConfigError for another URL.
    """
    scheme, _, rest = url.partition("://")
    if scheme in _SERVERS and _names_a_database(url):
        return Server(f"postgresql://{rest}")
    path = unquote(url.removeprefix(_PREFIX))
    if not url.startswith(_PREFIX) or not path or path == ":memory:" or "?" in path:
        raise ConfigError(
            f"--database: expected a URL such as {DEFAULT_URL} or postgresql://host/name, got {url!r}"
        )
    return Path(path)


def _names_a_database(url: str) -> bool:
    try:
        return bool(urlsplit(url).path.strip("/"))
    except ValueError:  # brackets that are no address
        return False


_DIGEST = sha256().digest_size


def seal(payload: bytes) -> bytes:
    """The payload and its digest; `opened` gives it back."""
    return payload + sha256(payload).digest()


def opened(data: bytes) -> bytes:
    """The payload of sealed bytes. Raises ValueError if the digest is not its own."""
    payload, digest = data[:-_DIGEST], data[-_DIGEST:]
    if sha256(payload).digest() != digest:
        raise ValueError("a row of the journal does not match its SHA-256 digest")
    return payload


#: Tells our advisory locks from those of other programs: "Aren".
CLASS = 0x4172656E
#: What the file of claims is called after the database.
SUFFIX = "-claims"


class Claim:
    """The right to play contest `number`; keep it as long as it is played, then `release` it.

    Raises StoreError if another server has it.
    """

    def __init__(self, database: Database, connection: Connection, number: int) -> None:
        self._file: int | None = None
        if isinstance(database, Path):
            held = self._lock_file(database, number)
        else:
            from sqlalchemy import text

            # It is the connection's, whatever becomes of the transaction.
            query = text("SELECT pg_try_advisory_lock(:kind, :number)")
            held = bool(connection.scalar(query, {"kind": CLASS, "number": number}))
        if not held:
            self.release()
            raise _taken(database, number)

    def _lock_file(self, path: Path, number: int) -> bool:
        try:
            import fcntl
        except ImportError:  # pragma: no cover - Windows has no such locks
            return True
        self._file = os.open(_beside(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except OSError:
            return False
        return True

    def release(self) -> None:
        """Let others have it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def check_unclaimed(database: Database, driver: Any, number: int) -> None:
    """Raise StoreError if another server has contest `number`; `driver` is the driver's own connection.

    For a look ahead only: a claim of this process's own on the same file would be lost by it.
    """
    if isinstance(database, Path):
        held = _is_locked(_beside(database), number)
    else:
        query = (
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        held = driver.execute(query, (CLASS, number)).fetchone() != (0,)
    if held:
        raise _taken(database, number)


def _is_locked(claims: Path, number: int) -> bool:
    """Whether another process has that byte; two that ask at once are not in each other's way."""
    try:
        import fcntl

        file = os.open(claims, os.O_RDONLY | os.O_CLOEXEC)
    except (ImportError, FileNotFoundError):
        return False  # no such locks, or none ever
    try:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, number)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def _beside(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


def _taken(database: Database, number: int) -> StoreError:
    return StoreError(
        f"{database}: contest {number} is being played by another server; stop that one, "
        "or begin a new contest by --new"
    )
