"""Which database a URL names, and how it is printed."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_server.errors import ConfigError
from arena_server.store.database import DEFAULT_URL, Postgres, database_of, describe


class TestUrls:
    def test_the_default_is_a_file_here(self) -> None:
        assert database_of(DEFAULT_URL) == Path("arena.db")

    def test_four_slashes_are_an_absolute_path(self) -> None:
        assert database_of("sqlite:////var/lib/a%20b.db") == Path("/var/lib/a b.db")

    def test_the_setting_of_the_journal_is_for_postgresql(self) -> None:
        found = database_of("postgresql://host/name", async_journal=True)
        assert isinstance(found, Postgres)
        assert found.async_journal
        with pytest.raises(ConfigError, match=r'^server.journal_commit: "async" is for PostgreSQL; '):
            database_of(DEFAULT_URL, async_journal=True)

    @all_of(
        "url",
        [
            "arena.db",
            "postgresql://x",
            "mysql://x/y",
            "sqlite:///",
            "sqlite:////",
            "sqlite:///.",
            "sqlite:///:memory:",
            "sqlite:///a?b",
            "sqlite:///a%00b",
        ],
    )
    def test_other_urls_are_refused(self, url: str) -> None:
        with pytest.raises(ConfigError) as caught:
            database_of(url)
        assert str(caught.value) == (
            f"--database: expected a URL such as sqlite:///arena.db or postgresql://host/name, got {url!r}"
        )


def test_a_server_goes_by_its_url_without_the_password() -> None:
    assert str(Postgres("postgresql://me:secret@host:5433/x")) == "postgresql://host:5433/x"
    assert str(Postgres("postgresql:///x?host=/run/arena")) == "postgresql:///x?host=/run/arena"
    assert "secret" not in repr(Postgres("postgresql://me:secret@host/x"))


@pytest.mark.parametrize(
    ("room", "said"),
    [
        (0, "the disk is full; nothing more can be kept"),
        (1 << 20, "the disk fails (disk I/O error); nothing more can be kept"),
        (None, "the disk fails (disk I/O error); nothing more can be kept"),
    ],
)
def test_where_there_is_no_room_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int | None, said: str
) -> None:
    """SQLite calls it an error of the disk, where a reader needs a file beside the database."""

    def statvfs(_: Path) -> os.statvfs_result:
        if room is None:
            raise FileNotFoundError
        return os.statvfs_result((1, 1, 0, 0, room, 0, 0, 0, 0, 255))

    monkeypatch.setattr(os, "statvfs", statvfs)
    path = tmp_path / "arena.db"
    assert describe(path, sqlite3.OperationalError("disk I/O error")) == f"{path}: {said}"
