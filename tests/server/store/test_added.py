"""Contests that were added to a running server: their texts are found by a server of the same contests."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from arena_server.errors import ArenaError
from arena_server.store.added import added_beside, forget_added, keep_added, path_of_added, text_of_added

TEXT = '[contest]\r\nname = "sunday"\n# ж\n'


def test_what_was_sent_is_found_by_a_server_of_one_of_its_contests(tmp_path: Path) -> None:
    database = tmp_path / "arena.db"
    assert (text_of_added(database, "sunday"), added_beside(database, ["friday"])) == (None, [])
    keep_added(database, "sunday", TEXT, ["saturday", "friday"])
    keep_added(database, "monday", "x", ["other"])
    path = path_of_added(database, "sunday")
    assert text_of_added(database, "sunday") == TEXT
    assert added_beside(database, ["friday", "new"]) == added_beside(database, ["saturday"]) == [path]
    assert added_beside(database, ["fri", "sunday"]) == []
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)] == [0o700, 0o600]
    keep_added(database, "sunday", "other", ["friday"])
    assert text_of_added(database, "sunday") == "other"
    forget_added(database, "sunday")
    forget_added(database, "sunday")
    assert added_beside(database, ["friday"]) == []
    assert [each.name for each in path.parent.iterdir()] == ["monday.toml"]


def test_a_file_that_is_not_ours_is_of_no_server(tmp_path: Path) -> None:
    database = tmp_path / "arena.db"
    path = path_of_added(database, "sunday")
    path.parent.mkdir()
    path.write_text(TEXT)
    assert added_beside(database, ["friday", "", TEXT]) == []


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    database = tmp_path / "arena.db"
    path = path_of_added(database, "sunday")
    path.parent.mkdir()
    path.write_bytes(b"\xff")
    with pytest.raises(ArenaError, match=r"sunday\.toml: cannot be read: 'utf-8' codec"):
        text_of_added(database, "sunday")
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("a file")
    with pytest.raises(ArenaError, match=r"sunday\.toml: cannot be written: "):
        keep_added(database, "sunday", TEXT, ["friday"])
