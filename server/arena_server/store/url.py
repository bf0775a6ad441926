"""Which database a URL means. It must not know: tables, SQLAlchemy, whether the file is there."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from arena_server.errors import ConfigError

DEFAULT_URL = "sqlite:///arena.db"
_PREFIX = "sqlite:///"


def database_path(url: str) -> Path:
    """The file of `sqlite:///relative.db` or `sqlite:////absolute.db`. Raises ConfigError for another URL."""
    path = unquote(url.removeprefix(_PREFIX))
    if not url.startswith(_PREFIX) or not path or path == ":memory:" or "?" in path:
        raise ConfigError(f"--database: expected a URL such as {DEFAULT_URL}, got {url!r}")
    return Path(path)
