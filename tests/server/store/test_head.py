"""Damage behind SQLite's back: no answer changes without a line that says so."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.errors import StoreError
from arena_server.store import head, preflight
from arena_server.store.chain import GENESIS
from arena_server.store.database import connect_sqlite
from arena_server.store.head import SLOT_BYTES, Announced, HeadFile, read_head, renew_head
from arena_server.store.preflight import check_readable, check_writable
from arena_server.store.unfinished import UnfinishedContest

from ..records import PATIENCE_S, Kept, game, keep, opening
from .killed import COMMANDS, GAMES, killed_files, serve, standings

killed = killed_files()


@pytest.fixture
def left(killed: Path, tmp_path: Path) -> Path:
    """A copy of these files, to be damaged."""
    return Path(shutil.copytree(killed, tmp_path / "copy"))


def refusals(database: Path) -> set[str]:
    """The one line of every command, without the name of the database."""
    lines = set()
    for command in COMMANDS:
        with pytest.raises(StoreError) as caught:
            command(database)
        assert "\n" not in str(caught.value)
        lines.add(str(caught.value).removeprefix(f"{database}: "))
    return lines


def damage_newest_frame(wal: Path) -> None:
    """Flip a bit of the frame that was written last; frames from before the WAL restarted are behind it."""
    data = bytearray(wal.read_bytes())
    starts = range(32, len(data), 24 + 4096)
    newest = max(start for start in starts if data[start + 8 : start + 16] == data[16:24])
    data[newest + 1000] ^= 1
    wal.write_bytes(data)


def test_a_missing_wal(left: Path) -> None:
    (left / "arena.db-wal").unlink()
    (line,) = refusals(left / "arena.db")
    assert line == (
        "6 announced results of contest 1 trial are missing; restore the database with its -wal file, "
        "or accept what is left by arena verify --renew-head"
    )


def test_a_page_counts_results_once_and_sees_a_loss_all_the_same(left: Path) -> None:
    database, steps = left / "arena.db", [0, 0]
    without_wal = database.read_bytes()
    for turn in (0, 1):

        def step(turn: int = turn) -> None:
            steps[turn] += 1

        with connect_sqlite(database) as connection:
            connection.set_progress_handler(step, 1)
            head.check_announced(database, read_head(database), connection, again=True)
            connection.set_progress_handler(None, 1)
    assert steps[1] + GAMES < steps[0]
    (left / "arena.db-wal").unlink(missing_ok=True)  # the last connection has taken it into the database
    database.write_bytes(without_wal)
    with pytest.raises(StoreError, match=": 6 announced results of contest 1 trial are missing; "):
        check_readable(database)


@pytest.mark.parametrize("wal", [True, False], ids=["whole", "cut"])
@pytest.mark.parametrize("how", ["missing", "empty", "zeros", "zeros of this contest"])
def test_a_head_without_the_lines_of_a_contest_that_was_not_ended_in_order(
    left: Path, how: str, wal: bool
) -> None:
    """With it a WAL that was cut off took results along without a word."""
    database, file = left / "arena.db", left / "arena.db-head"
    data = file.read_bytes()
    if how == "missing":
        file.unlink()
    else:
        file.write_bytes({"empty": b"", "zeros": bytes(len(data))}.get(how, bytes(SLOT_BYTES) + data))
        if how == "zeros of this contest":
            file.write_bytes(bytes(SLOT_BYTES) + data.replace(b"contest 1 ", b"contest 2 "))
            HeadFile(database, 2, "other").write_results(0, GENESIS)
            HeadFile(database, 2, "other").write_journal(0)
    if not wal:
        (left / "arena.db-wal").unlink()
    what = "is missing" if how == "missing" else "says nothing of contest 1 trial, which has results"
    line = (
        f"arena.db-head {what}: nothing shows whether announced results are lost; restore it, "
        "or accept what is left by arena verify --renew-head"
    )
    assert refusals(database) == {line}


def test_a_contest_that_ended_in_order_needs_no_head(tmp_path: Path) -> None:
    """Its database may be copied alone. A head that is there has to have its lines."""
    for number, status in enumerate(("finished", "stopped", "incomplete")):
        database = tmp_path / f"{number}.db"
        keep(database, 1, 2, status=status)
        database.with_name(f"{number}.db-head").unlink()
        assert standings(database)
        database.with_name(f"{number}.db-head").write_bytes(bytes(SLOT_BYTES))
        with pytest.raises(StoreError, match="says nothing of contest 1 trial, which has results"):
            standings(database)


def test_a_contest_that_begins_while_it_is_read_has_lost_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "arena.db"
    keep(database, 1)
    read = read_head
    calls: list[Path] = []

    def read_and_play(path: Path) -> list[Announced]:
        announced = read(path)
        calls.append(path)
        if len(calls) == 1:
            keep(database, 1, contest=opening("second"))
        return announced

    monkeypatch.setattr(preflight, "read_head", read_and_play)
    check_readable(database)


def test_lost_results_can_be_given_up(left: Path) -> None:
    database = left / "arena.db"
    (left / "arena.db-wal").unlink()
    with connect_sqlite(database) as connection:
        assert renew_head(database, connection) == left / "arena.db-head"
    assert standings(database)
    (announced,) = read_head(database)
    assert (announced.contest, announced.results, announced.name) == (1, GAMES // 2, "trial")
    assert announced.journal > 0
    found = serve(database)
    assert isinstance(found, UnfinishedContest)
    assert found.lost_rows == 0


def test_a_missing_journal_row(left: Path) -> None:
    damage_newest_frame(left / "arena.db-wal")
    (line,) = refusals(left / "arena.db")
    assert line.startswith("the newest journal rows of contest 1 trial, 1 with announced moves, are missing")


def test_a_system_without_a_boot_id_cannot_tell_damage_from_a_power_cut(
    left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "boot_id", lambda: "-")
    (announced,) = read_head(left / "arena.db")
    file = HeadFile(left / "arena.db", 1, announced.name)
    file.write_results(announced.results, announced.chain)
    file.close()
    damage_newest_frame(left / "arena.db-wal")
    assert standings(left / "arena.db")


def test_after_a_power_cut_journal_rows_may_be_missing(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damage_newest_frame(left / "arena.db-wal")
    monkeypatch.setattr(head, "boot_id", lambda: "another")
    assert standings(left / "arena.db")
    kept = Kept(left / "arena.db", opening(new=False))
    found = kept.start()
    assert found is not None
    assert found.lost_rows == 1
    kept.writer.store(f"g{GAMES + 2}", game(GAMES + 2))
    assert kept.next() == [f"g{GAMES + 2}"]
    kept.close("stopped")
    assert read_head(left / "arena.db")[0].boot == "another"


def test_after_a_power_cut_no_result_may_be_missing(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (left / "arena.db-wal").unlink()
    monkeypatch.setattr(head, "boot_id", lambda: "another")
    (line,) = refusals(left / "arena.db")
    assert line.startswith("6 announced results of contest 1 trial are missing; ")


def test_a_missing_or_empty_database_beside_a_wal_is_no_new_contest(left: Path) -> None:
    database = left / "arena.db"
    database.unlink()
    line = "{} and its log arena.db-wal is not; restore the database, or delete arena.db-wal too"
    assert refusals(database) == {line.format("the database is missing")}
    database.write_bytes(b"")
    assert refusals(database) == {line.format("the database is empty")}
    assert database.read_bytes() == b""


def test_a_missing_database_with_announced_results_is_no_new_contest(left: Path) -> None:
    for name in ("arena.db", "arena.db-wal"):
        (left / name).unlink()
    assert refusals(left / "arena.db") == {
        "the database is missing, and 12 announced results with it; restore the database with its -wal "
        "file, or delete arena.db-head to give them up"
    }


def test_another_database_in_its_place(left: Path, tmp_path: Path) -> None:
    keep(tmp_path / "other.db", 1, contest=opening("other"))
    (left / "arena.db-wal").unlink()
    shutil.copy(tmp_path / "other.db", left / "arena.db")
    (line,) = refusals(left / "arena.db")
    assert line.startswith("contest 1 trial, with 12 announced results, is missing; restore the database")


def test_a_database_that_lost_its_own_mark(left: Path) -> None:
    """A WAL that ends early may leave tables without the application id."""
    (left / "arena.db-wal").unlink()
    with closing(sqlite3.connect(left / "arena.db", isolation_level=None)) as database:
        database.execute("PRAGMA application_id = 0")
    (line,) = refusals(left / "arena.db")
    assert line.startswith("the database is damaged, and 12 announced results with it; restore the database")


def test_results_that_are_not_those_that_were_announced(left: Path) -> None:
    HeadFile(left / "arena.db", 1, "trial").write_results(GAMES, bytes(32))
    (line,) = refusals(left / "arena.db")
    assert line.startswith("the results of contest 1 trial are not those that were announced; restore")


def test_a_damaged_head(left: Path) -> None:
    whole = (left / "arena.db-head").read_bytes()
    for at in (8, 20, 449, 456):
        data = bytearray(whole)
        data[at] ^= 1
        (left / "arena.db-head").write_bytes(data)
        assert refusals(left / "arena.db") == {
            f"{left}/arena.db-head: damaged; restore it, or accept what is left by arena verify --renew-head"
        }


@pytest.mark.skipif(os.getuid() == 0, reason="root reads every file")
def test_a_head_that_cannot_be_read(left: Path) -> None:
    (left / "arena.db-head").chmod(0)
    (line,) = refusals(left / "arena.db")
    assert line == f"{left}/arena.db-head: cannot be read: Permission denied"


# -- the file


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 10**9), st.binary(min_size=32, max_size=32))))
def test_the_last_line_of_each_contest_is_read_back(lines: list[tuple[int, int, bytes]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "arena.db"
        last = {}
        for contest, number, chain in lines:
            file = HeadFile(database, contest, f"c{contest}")
            file.write_results(number, chain)
            file.write_journal(number + 1)
            file.sync()
            file.close()
            last[contest] = Announced(contest, number, chain, number + 1, head.boot_id(), f"c{contest}")
        assert read_head(database) == [last[contest] for contest in sorted(last)]


def test_a_line_of_the_longest_values_fits(tmp_path: Path) -> None:
    file = HeadFile(tmp_path / "arena.db", 1, "x" * 32)
    file.write_results(2**63, GENESIS)
    file.write_journal(2**63)
    file.close()
    assert (tmp_path / "arena.db-head").stat().st_size == SLOT_BYTES
    assert read_head(tmp_path / "arena.db")[0].results == 2**63


def test_every_file_is_for_its_owner_only(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        check_writable(tmp_path / "arena.db")
        kept = Kept(tmp_path / "arena.db")
        kept.start()
        kept.append((1, "offer", ("a", "b"), 1, ()))
        kept.wait_for(1)
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        kept.close()
        keep(tmp_path / "second.db", 1)
    finally:
        os.umask(mask)
    names = ["arena.db", "arena.db-head", "arena.db-locks", "arena.db-shm", "arena.db-wal"]
    assert modes == dict.fromkeys(names, 0o600)
    assert (tmp_path / "second.db").stat().st_mode & 0o777 == 0o600


# -- files that change under a running server


@pytest.mark.parametrize("name", ["arena.db", "arena.db-wal", "arena.db-shm", "arena.db-head"])
@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_deleted_or_replaced_under_a_server_stops_it(
    tmp_path: Path, name: str, replaced: bool
) -> None:
    kept = Kept(tmp_path / "arena.db")
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.wait_for(1)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).rename(tmp_path / "away")
    if replaced:
        (tmp_path / name).write_bytes(data)
    error = kept.told.get(timeout=PATIENCE_S)  # without a write: the files are checked twice a second
    assert str(error) == (
        f"{tmp_path}/arena.db: {name} was deleted or replaced while the server had it open; "
        "nothing more can be kept"
    )
    kept.append((1, "ply"))
    kept.close()
    assert isinstance(kept.batches.get_nowait(), StoreError)
    assert kept.batches.empty()


def test_a_contest_that_ends_while_it_is_read_has_lost_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader has the head with the newest row; then the server ends the contest without a journal."""
    database = tmp_path / "arena.db"
    kept = Kept(database)
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.wait_for(1)
    read = read_head

    def read_and_end(path: Path) -> list[Announced]:
        announced = read(path)
        kept.close("finished")
        return announced

    monkeypatch.setattr(preflight, "read_head", read_and_end)
    check_readable(database)
    assert [each.journal for each in read(database)] == [0]


def test_a_reader_changes_nothing_under_a_server(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "arena.db")
    kept.start()
    kept.writer.store("g1", game(1))
    assert kept.next() == ["g1"]
    for number in (2, 3):
        assert standings(tmp_path / "arena.db")
        check_readable(tmp_path / "arena.db")
        kept.writer.store(f"g{number}", game(number))
        assert kept.next() == [f"g{number}"]
    kept.close("finished")


def test_the_name_of_a_new_file_survives_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is written to the disk once, when the file is made."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    for _ in range(2):
        HeadFile(tmp_path / "arena.db", 1, "trial").close()
    assert synced == [tmp_path.stat().st_ino]


def test_lines_in_the_place_of_another_contest_are_damage(tmp_path: Path) -> None:
    database = tmp_path / "arena.db"
    for contest in (1, 2):
        lines = HeadFile(database, contest, f"c{contest}")
        lines.write_results(contest, GENESIS)
        lines.write_journal(0)
        lines.close()
    assert [each.contest for each in read_head(database)] == [1, 2]
    file = tmp_path / "arena.db-head"
    data = file.read_bytes()
    file.write_bytes(data[SLOT_BYTES:] + data[:SLOT_BYTES])
    with pytest.raises(StoreError, match="damaged"):
        read_head(database)
