"""The contests that were added to a running server: a file for each, beside the database.

`arena.db-contests/NAME.toml` is the text that the organiser has sent, behind a line with the contests of the
server's own files: a server that has one of these serves it, too, when it is started again.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from arena_server.errors import ArenaError
from arena_server.store.database import Database, home_of
from arena_server.store.files import replace_file

FOLDER: Final = "-contests"
_BESIDE: Final = "# added by `arena admin contest add` beside: "


def path_of_added(database: Database, name: str) -> Path:
    """The file of the contest `name`."""
    home = home_of(database)
    return home.with_name(f"{home.name}{FOLDER}") / f"{name}.toml"


def added_beside(database: Database, names: Collection[str]) -> list[Path]:
    """The files of the contests that were added to a server with one of `names`. Raises ArenaError."""
    folder = path_of_added(database, "x").parent
    return [path for path in sorted(folder.glob("*.toml")) if _beside(_read(path)) & set(names)]


def text_of_added(database: Database, name: str) -> str | None:
    """What was sent for the contest `name`; None if it was not added. Raises ArenaError."""
    path = path_of_added(database, name)
    return _read(path).partition("\n")[2] if path.exists() else None


def keep_added(database: Database, name: str, text: str, beside: Collection[str]) -> None:
    """Keep what was sent for the contest `name`, on the disk when it returns. Raises ArenaError.

    None but the owner can read it: it may have secrets of webhooks.
    """
    path = path_of_added(database, name)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        # As bytes: the same text is found again, whatever ends its lines.
        replace_file(path, f"{_BESIDE}{', '.join(sorted(beside))}\n{text}".encode())
    except OSError as error:
        raise ArenaError(f"{path}: cannot be written: {error.strerror}") from None


def forget_added(database: Database, name: str) -> None:
    """Keep the contest `name` no more; its server could not begin it."""
    path_of_added(database, name).unlink(missing_ok=True)


def _beside(text: str) -> set[str]:
    first = text.partition("\n")[0]
    return set(first.removeprefix(_BESIDE).split(", ")) if first.startswith(_BESIDE) else set()


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ArenaError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
