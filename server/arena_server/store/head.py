"""`arena.db-head`: what was announced of each contest, kept in a second place beside an SQLite file.

SQLite drops a damaged or missing WAL without a word, and with it the newest commits. This file has
two lines in SLOT_BYTES for each contest, at offset (number - 1) * SLOT_BYTES:

    contest 3 results 152 chain <64 hex> boot <id> name friday sha256 <64 hex>
    journal 4711 4711

that is the number of results and the chain value of the last one (`chain.py`), and the place of the
newest journal row, twice in place of a digest. They are written after the commit and before anything
is announced, so a database that has less than they say has lost announced data.

Results are on the disk before they are announced, journal rows with the operating system. So a power
cut may take journal rows, which the id of the system's boot tells from damage.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from arena_server.errors import StoreError
from arena_server.store.chain import GENESIS

HEAD_SUFFIX: Final = "-head"
WAL_SUFFIX: Final = "-wal"
#: A sector: a power cut leaves the old lines or the new ones.
SLOT_BYTES: Final = 512
_JOURNAL_BYTES: Final = 64
_RESULTS_BYTES: Final = SLOT_BYTES - _JOURNAL_BYTES
#: Databases and what stands beside them hold seeds and keys: for their owner only.
FILE_MODE: Final = 0o600

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
fdatasync = getattr(os, "fdatasync", os.fsync)


@dataclass(frozen=True, slots=True)
class Announced:
    """What the file says of a contest."""

    contest: int
    results: int
    chain: bytes
    journal: int
    boot: str
    name: str


def boot_id() -> str:
    """Changes when the system starts; `-` where it is unknown."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return "-"


def beside(database: Path, suffix: str) -> Path:
    return database.with_name(database.name + suffix)


def create_private(database: Path) -> None:
    """Create an empty SQLite file with FILE_MODE if there is none; SQLite gives it to the WAL as well."""
    with suppress(OSError):  # SQLite reports what is wrong with the path
        os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE))


class HeadFile:
    """The lines of one contest. Raises OSError."""

    def __init__(self, database: Path, contest: int, name: str) -> None:
        path = beside(database, HEAD_SUFFIX)
        is_new = not path.exists()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        if is_new:
            _sync_folder(path.parent)
        self._offset = (contest - 1) * SLOT_BYTES
        self._start, self._end = f"contest {contest} results", f"boot {boot_id()} name {name}"

    def write_results(self, results: int, chain: bytes) -> None:
        """Write the first line. It survives the end of this process, and a power cut after `sync`."""
        text = f"{self._start} {results} chain {chain.hex()} {self._end}".encode("ascii")
        line = b"%s sha256 %s" % (text, sha256(text).hexdigest().encode("ascii"))
        os.pwrite(self._file, line.ljust(_RESULTS_BYTES - 1) + b"\n", self._offset)

    def write_journal(self, place: int) -> None:
        """Write the second line, in 2 us."""
        line = b"journal %d %d" % (place, place)
        os.pwrite(self._file, line.ljust(_JOURNAL_BYTES - 1) + b"\n", self._offset + _RESULTS_BYTES)

    def sync(self) -> None:
        """Wait until both lines are on the disk."""
        fdatasync(self._file)

    def close(self) -> None:
        os.close(self._file)


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file survive a power cut, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_head(database: Path) -> list[Announced]:
    """All lines of the file, none if there is no file. Raises StoreError for a damaged line."""
    path = beside(database, HEAD_SUFFIX)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from None
    found = []
    for start in range(0, len(data), SLOT_BYTES):
        slot = data[start : start + SLOT_BYTES]
        # Without the first line nothing was announced yet.
        if slot[:_RESULTS_BYTES].strip(b"\0"):
            announced = _parse(start // SLOT_BYTES + 1, slot)
            if announced is None:
                raise StoreError(f"{path}: damaged; restore it, {_ACCEPT}")
            found.append(announced)
    return found


def _parse(contest: int, slot: bytes) -> Announced | None:
    """The lines of a contest, None if they are damaged."""
    text, _, digest = slot[:_RESULTS_BYTES].rstrip(b" \n").rpartition(b" sha256 ")
    words, journal = text.split(b" "), slot[_RESULTS_BYTES:].split()
    if sha256(text).hexdigest().encode("ascii") != digest or words[1] != b"%d" % contest:
        return None
    if len(journal) != 3 or journal[0] != b"journal" or journal[1] != journal[2]:
        return None
    try:
        place = int(journal[1])
    except ValueError:
        return None
    boot, name = words[7].decode("ascii"), words[9].decode("ascii")
    return Announced(contest, int(words[3]), bytes.fromhex(words[5].decode("ascii")), place, boot, name)


def check_not_lost(database: Path) -> None:
    """Raise StoreError if the database file is missing or empty, and a WAL or announced results are not."""
    if database.exists() and database.stat().st_size:
        return
    what = "is empty" if database.exists() else "is missing"
    wal = beside(database, WAL_SUFFIX)
    if wal.exists() and wal.stat().st_size:
        raise StoreError(
            f"{database}: the database {what} and its log {wal.name} is not; restore the database, "
            f"or delete {wal.name} too"
        )
    check_nothing_announced(database, what, read_head(database))


def check_nothing_announced(database: Path, what: str, announced: list[Announced]) -> None:
    """Raise StoreError if a database without contests, which `what` says, had some."""
    if announced:
        results = _count(sum(each.results for each in announced), "announced result")
        raise StoreError(
            f"{database}: the database {what}, and {results} with it; restore the database with its "
            f"{WAL_SUFFIX} file, or delete {database.name}{HEAD_SUFFIX} to give them up"
        )


def losses(database: Path) -> str:
    """The end of a line about a database that is damaged: how many announced results cannot be read."""
    announced = kept = 0
    with suppress(StoreError):
        for each in read_head(database):
            announced += each.results
            kept += _readable(database, each)
    if kept == announced:
        return ""
    wal = beside(database, WAL_SUFFIX)
    # To look at a database SQLite makes an empty log where there is none.
    state = "" if wal.exists() and wal.stat().st_size else f", and {wal.name} is empty or was missing"
    return f"; {announced - kept} of {_count(announced, 'announced result')} cannot be read{state}"


def _readable(database: Path, each: Announced) -> int:
    """How many of the announced results of a contest can be read, in their order."""
    query = "SELECT record FROM games WHERE contest_id = ? AND place <= ? ORDER BY place"
    found = 0
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{quote(str(database))}?mode=ro", uri=True)) as connection,
    ):
        if _archived(connection, each.contest) is not None:
            return each.results
        for _ in connection.execute(query, (each.contest, each.results)):
            found += 1
    return found


#: Of the databases that this process reads: how many results of a contest it has counted, and the chain then.
_counted: Final[dict[tuple[Path, int], tuple[int, bytes]]] = {}


def check_announced(
    database: Path, announced: list[Announced], connection: sqlite3.Connection, *, again: bool = False
) -> None:
    """Raise StoreError if something announced is missing; call `read_head` before the database is opened.

    After a power cut the newest journal rows of an unfinished contest may be missing. With `again` results
    that this process has counted before are not counted: a page reads often, and what is lost is at the end.
    """
    _check_lines(database, announced, connection)
    for each in announced:
        known = _counted.get((database, each.contest), (0, GENESIS)) if again else (0, GENESIS)
        missing = _missing(each, connection, known)
        if missing is None:
            _counted[database, each.contest] = each.results, each.chain
        if missing is not None:
            # A server that ends a contest writes the head file, and deletes rows: maybe between both reads.
            present = [other for other in read_head(database) if other.contest == each.contest]
            if present and present[0] != each:
                missing = _missing(present[0], connection)
        if missing is not None:
            raise StoreError(
                f"{database}: {missing}; restore the database with its {WAL_SUFFIX} file, {_ACCEPT}"
            )


def _check_lines(database: Path, announced: list[Announced], connection: sqlite3.Connection) -> None:
    """Raise StoreError if the file has no lines of a contest with results.

    Without a file a contest that has ended needs none: its row has the last chain value, and a database
    may be copied alone then.
    """
    results = "EXISTS (SELECT 1 FROM games WHERE games.contest_id = contests.id)"
    rows = connection.execute(f"SELECT id, name, head FROM contests WHERE {results}").fetchall()  # noqa: S608
    if len(rows) > len(announced):
        announced = read_head(database)  # a server may have begun a contest between both reads
    known, there = {each.contest for each in announced}, beside(database, HEAD_SUFFIX).exists()
    for number, name, head in rows:
        if number not in known and (there or head is None):
            what = f"says nothing of contest {number} {name}, which has results" if there else "is missing"
            raise StoreError(
                f"{database}: {database.name}{HEAD_SUFFIX} {what}: nothing shows whether announced results "
                f"are lost; restore it, {_ACCEPT}"
            )


#: The way out where there is no better copy.
_ACCEPT: Final = "or accept what is left by arena verify --renew-head"


def renew_head(database: Path, connection: sqlite3.Connection) -> Path:
    """Write a new file from what the database has, and return its path. Raises OSError and sqlite3.Error.

    Only while no server plays a contest of it, and after the records have been verified.
    """
    last = "SELECT place, chain FROM games WHERE contest_id = ? ORDER BY place DESC LIMIT 1"
    newest = "SELECT max(place) FROM journal WHERE contest_id = ?"
    # All is read before the old file goes: the journal may be damaged where the records are not.
    found = []
    for number, name in connection.execute("SELECT id, name FROM contests").fetchall():
        archived = _archived(connection, number)
        results = archived or connection.execute(last, (number,)).fetchone() or (0, GENESIS)
        found.append((number, name, results, connection.execute(newest, (number,)).fetchone()[0] or 0))
    path = beside(database, HEAD_SUFFIX)
    path.unlink(missing_ok=True)
    for number, name, results, place in found:
        file = HeadFile(database, number, name)
        file.write_results(*results)
        file.write_journal(place)
        file.sync()
        file.close()
    return path


def _missing(
    each: Announced, connection: sqlite3.Connection, known: tuple[int, bytes] = (0, GENESIS)
) -> str | None:
    """What is missing, in words; of the results those beyond `known` are counted, if its chain is there."""
    contest = f"contest {each.contest} {each.name}"
    row = connection.execute("SELECT name FROM contests WHERE id = ?", (each.contest,)).fetchone()
    if row != (each.name,):
        return f"{contest}, with {_count(each.results, 'announced result')}, is missing"
    if (archived := _archived(connection, each.contest)) is not None:
        if archived == (each.results, each.chain):
            return None
        return f"the results of {contest} are not those that were announced"
    counted, chain = known
    if counted > each.results or _chain_at(connection, each.contest, counted) != chain:
        counted = 0
    beyond = "SELECT count(*) FROM games WHERE contest_id = ? AND place > ? AND place <= ?"
    (found,) = connection.execute(beyond, (each.contest, counted, each.results)).fetchone()
    found += counted
    if found != each.results:
        lost = each.results - found
        are = "is" if lost == 1 else "are"
        return f"{_count(lost, 'announced result')} of {contest} {are} missing"
    if _chain_at(connection, each.contest, each.results) != each.chain:
        return f"the results of {contest} are not those that were announced"
    lost = missing_rows(each, connection)
    if lost and each.boot == boot_id() != "-":
        return f"the newest journal rows of {contest}, {lost} with announced moves, are missing"
    return None


def _chain_at(connection: sqlite3.Connection, contest: int, place: int) -> bytes:
    """The chain of the results up to `place`; that of none if there is no such row."""
    query = "SELECT chain FROM games WHERE contest_id = ? AND place = ?"
    row = connection.execute(query, (contest, place)).fetchone()
    found: bytes = GENESIS if row is None else row[0]
    return found


def _archived(connection: sqlite3.Connection, contest: int) -> tuple[int, bytes] | None:
    """The number of results and the head of a contest whose games are in an archive; None of any other."""
    config, head = connection.execute("SELECT config, head FROM contests WHERE id = ?", (contest,)).fetchone()
    try:
        archive = json.loads(config).get("archive")
        return None if archive is None else (int(archive["games"]), head)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None  # a damaged row; its reader says so


def missing_rows(each: Announced, connection: sqlite3.Connection) -> int:
    """How many of the newest journal rows of a contest are missing."""
    (newest,) = connection.execute(
        "SELECT max(place) FROM journal WHERE contest_id = ?", (each.contest,)
    ).fetchone()
    return max(0, each.journal - (newest or 0))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# -- files that were deleted or replaced while a server has them open

#: Device and inode.
FileId = tuple[int, int]


def identify_files(database: Path) -> list[tuple[Path, FileId]]:
    """The files of an open database, for `check_files`."""
    paths = [database, *(beside(database, suffix) for suffix in (WAL_SUFFIX, "-shm", HEAD_SUFFIX))]
    return [(path, _identify(path)) for path in paths if path.exists()]


def check_files(database: Path, files: list[tuple[Path, FileId]]) -> None:
    """Raise StoreError if a file is not the one that was identified: what is written now would be lost."""
    for path, file_id in files:
        try:
            is_same = _identify(path) == file_id
        except OSError:
            is_same = False
        if not is_same:
            raise StoreError(
                f"{database}: {path.name} was deleted or replaced while the server had it open; "
                "nothing more can be kept"
            )


def _identify(path: Path) -> FileId:
    status = path.stat()
    return status.st_dev, status.st_ino
