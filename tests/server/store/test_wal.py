"""A WAL that is damaged in place under a running server."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena_server.errors import StoreError
from arena_server.store import contest_store, open_files, wal
from arena_server.store.contest_store import ContestStore
from arena_server.store.ownership import ContestLock
from arena_server.store.reader import Results
from arena_server.store.wal import WriteAheadLog

from ..records import PATIENCE_S, Kept, game, opening

FRAME = 24 + 4096


@pytest.fixture
def kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    """A server with five results in the WAL, which nothing but a test checks or restarts."""
    monkeypatch.setattr(open_files, "CHECK_S", 1e9)
    monkeypatch.setattr(WriteAheadLog, "checkpoint", lambda *_: None)
    kept = Kept(path)
    kept.start()
    for number in range(1, 6):
        kept.append((number, "offer", ("a", "b"), 1, ()))
        kept.wait_for(number)
        kept.writer.store(f"g{number}", game(number))
        assert kept.next() == [f"g{number}"]
    yield kept
    kept.close()


def check(path: Path) -> None:
    """What the writer's thread does now and then; the check needs no connection."""
    kept: dict[Path, int] = {}
    try:
        WriteAheadLog(path, None, kept).check()  # type: ignore[arg-type]
    finally:
        for file in kept.values():
            os.close(file)


def log_of(path: Path) -> Path:
    return path.with_name("arena.db-wal")


def flip(file: Path, place: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(place)
        (byte,) = opened.read(1)
        opened.seek(place)
        opened.write(bytes((byte ^ 1,)))


@pytest.mark.usefixtures("kept")
def test_a_wal_that_is_whole(path: Path) -> None:
    before = sorted(path.parent.iterdir())
    check(path)
    assert sorted(path.parent.iterdir()) == before, "the copy is gone"


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_every_part_of_it_is_checked(path: Path, whole: bool) -> None:
    """Its header, the header of each frame and what is in it; each flip is taken back."""
    size = log_of(path).stat().st_size
    frames = (size - 32) // FRAME
    assert frames > 10
    parts = (0, 8, 16, 24, 4119)
    places = [*parts[:4]]
    for frame in range(frames):  # of each frame one part, in the soak run all
        places += [32 + frame * FRAME + part for part in (parts if whole else parts[frame % 5 :][:1])]
    for place in places:
        flip(log_of(path), place)
        with pytest.raises(StoreError) as refused:
            check(path)
        named = re.search(
            r"damaged while the server had it open, in frame (\d+) of (\d+); ", str(refused.value)
        )
        assert named is not None
        # A transaction of several frames is whole or not at all.
        assert 1 <= int(named[1]) <= max(1, (place - 32) // FRAME + 1)
        assert int(named[2]) == frames
        flip(log_of(path), place)
        check(path)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("left", [0, 31, 32, 32 + FRAME, 32 + 3 * FRAME + 7])
def test_it_was_cut_off(path: Path, left: int) -> None:
    with log_of(path).open("r+b") as opened:
        opened.truncate(left)
    with pytest.raises(StoreError, match="was damaged while the server had it open"):
        check(path)


def test_the_server_stops_and_keeps_what_its_index_still_finds(
    kept: Kept, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checksum of a frame in the middle is wrong: the next process would drop all from there on."""
    frames = (log_of(path).stat().st_size - 32) // FRAME
    flip(log_of(path), 32 + (frames - 5) * FRAME + 16)
    copy = path.with_name("copy")
    copy.mkdir()
    for name in ("arena.db", "arena.db-wal"):
        shutil.copy(path.with_name(name), copy / name)
    with closing(sqlite3.connect(copy / "arena.db")) as next_process:
        assert next_process.execute("SELECT count(*) FROM games").fetchone() < (5,)
    monkeypatch.setattr(open_files, "CHECK_S", 0.0)
    error = kept.told.get(timeout=PATIENCE_S)  # without a write: it is checked twice a second now
    assert "was damaged while the server had it open, in frame" in str(error)
    kept.append((9, "offer", ("a", "b"), 1, ()))
    kept.close()
    with Results(path) as results:
        assert results.sums.games_played(results.contest()) == 5


def test_others_write_and_restart_the_wal_meanwhile(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks one after the other beside a server that appends, stores and checkpoints."""
    monkeypatch.setattr(contest_store, "CHECKPOINT_ROWS", 3)
    kept = Kept(path)
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.wait_for(1)
    done = threading.Event()
    errors: list[Exception] = []
    checks = 0

    def check_on() -> None:
        nonlocal checks
        while not done.is_set():
            try:
                check(path)
            except Exception as error:  # any error ends the test
                errors.append(error)
            checks += 1

    checker = threading.Thread(target=check_on)
    checker.start()
    number = 1
    while checks < 50 and not errors:
        number += 1
        kept.append((number, "offer", ("a", "b"), 1, ()))
        kept.writer.store(f"g{number}", game(number))
        assert kept.next() == [f"g{number}"]
    done.set()
    checker.join(PATIENCE_S)
    kept.close()
    assert errors == []


def test_without_room_for_a_copy_nothing_is_checked(
    kept: Kept, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    flip(log_of(path), 40)
    monkeypatch.setattr(wal, "_copy", no_room)
    check(path)
    kept.append((9, "offer", ("a", "b"), 1, ()))


def test_an_index_that_is_being_written_is_left_for_the_next_time(path: Path) -> None:
    shm = path.with_name("arena.db-shm")
    shm.write_bytes(bytes(48) + b"\1" * 48)
    check(path)
    shm.write_bytes(b"")
    check(path)


def test_a_reader_of_an_older_wal_is_no_damage(path: Path) -> None:
    """A reader keeps the WAL from restarting, and frames of an earlier one may lie behind the last."""
    kept = Kept(path)
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.wait_for(1)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM games").fetchone()
        kept.writer.store("g1", game(1))
        assert kept.next() == ["g1"]
        check(path)
    kept.close("finished")
    kept = Kept(path, opening("second"))
    kept.start()
    kept.writer.store("g1", game(1))
    assert kept.next() == ["g1"]
    check(path)
    kept.close()


def test_a_damaged_header_beside_a_database_of_many_pages(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "CHECK_S", 1e9)
    kept = Kept(path)
    kept.start()
    kept.writer.store("g1", game(1))
    kept.close()
    kept = Kept(path, opening(new=False))
    kept.start()
    kept.append((2, "offer", ("a", "b"), 1, ()))
    kept.wait_for(1)
    flip(log_of(path), 17)
    with pytest.raises(StoreError, match="in frame 1 of"):
        check(path)
    flip(log_of(path), 17)
    kept.close()


READER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM games").fetchone()
connection.close()
"""


@pytest.mark.real
@pytest.mark.parametrize("closing_files", ["the check", "the lock of another contest"])
def test_a_program_that_reads_leaves_the_wal_to_its_server(
    path: Path, monkeypatch: pytest.MonkeyPatch, closing_files: str
) -> None:
    """SQLite's locks belong to the process, and end when it closes any descriptor of the file."""
    monkeypatch.setattr(open_files, "CHECK_S", 0.0)
    header = opening()
    with ContestStore(path) as store:
        store.find(header)
        with store.transaction():
            store.enter(header, header.config)
        if closing_files == "the check":
            store.maintain()
        else:
            ContestLock(path, None, 7).release()
        before = log_of(path).stat()
        assert before.st_size > 0
        subprocess.run([sys.executable, "-c", READER, str(path)], check=True, timeout=PATIENCE_S)
        assert log_of(path).stat().st_ino == before.st_ino
        store.maintain()  # raises if the WAL was deleted
