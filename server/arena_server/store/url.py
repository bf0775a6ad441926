"""Which database a URL means. It must not know: tables, SQLAlchemy, whether the database is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from arena_server.errors import ConfigError

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
