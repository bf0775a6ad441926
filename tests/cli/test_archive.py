"""`arena archive`: what it prints and refuses, and that commands and pages show the same after it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.server.programs import Shell
from tests.server.records import Kept, game, keep, opening

from arena_cli import archive
from arena_cli.site import documents
from arena_server.store.database import Database
from arena_server.store.reader import Results
from arena_server.web.archive import Archive

#: Commands that read a contest; `records` and `pages` are new folders.
READERS = (
    ("standings", "--json"),
    ("standings", "--cross"),
    ("verify", "--json"),
    ("verify", "g2"),
    ("replay", "g1", "--json"),
    ("why", "g1", "--bot", "ann"),
    ("export", "records", "--json"),
    ("site", "pages", "--json"),
)


def said(shell: Shell) -> list[tuple[int, str, str]]:
    found = []
    for words in READERS:
        outcome = shell(*words)
        found.append((outcome.code, outcome.out, outcome.err))
        for folder in ("records", "pages"):
            shutil.rmtree(folder, ignore_errors=True)
    return found


def pages(database: Database) -> dict[str, bytes]:
    """All documents of contest 1, and the list of contests."""
    archived = Archive(database)
    return {**dict(documents(archived, 1)), "contests": json.dumps(archived.contests()).encode()}


def test_commands_and_pages_show_the_same(here: Path, shell: Shell) -> None:
    before, shown = said(shell), pages(here / "arena.db")
    home = here / "arena.db-archive" / "1-trial"
    assert shell("publish", "public").code == 0
    outcome = shell("archive", "trial", "--published", "public")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"archived: 6 games of trial in {home}, verified; 6 taken out\n"
    assert (said(shell), pages(here / "arena.db")) == (before, shown)
    with closing(sqlite3.connect("arena.db")) as connection:
        assert connection.execute("SELECT count(*) FROM games").fetchone() == (0,)
    # What is in the folder, by itself.
    own = f"sqlite:///{home / 'arena.db'}"
    assert shell("verify", "--database", own, "--published", "public").out.startswith("verified: 6 games")
    table = json.loads((home / "standings.json").read_text())
    assert table == json.loads(shell("standings", "--json").out)
    assert (home / "site" / "api" / "v1" / "contests" / "1" / "records" / "g6.record").is_file()
    assert home.stat().st_mode & 0o777 == 0o700
    # The same again, in words and for programs.
    assert shell("archive", "1").out == f"archived already: 6 games of trial in {home}\n"
    assert json.loads(shell("archive", "1", "--json").out) == {
        "contest": "trial",
        "id": 1,
        "folder": str(home),
        "games": 6,
    }
    assert shell("verify", "--published", "public").out == "verified: 6 games, all as published\n"
    # A copy of the database names what is not in it; so does a new file of what was announced.
    assert shell("backup", "copy.db").out.endswith(
        f"not in it: {home / 'arena.db'}, the archive of a contest; copy it, too\n"
    )
    assert json.loads(shell("backup", "copy2.db", "--json").out)["archives"] == [str(home / "arena.db")]
    assert shell("verify", "--renew-head").code == 0
    assert shell("verify").out == "verified: 6 games\n"


def test_an_archive_that_was_moved(here: Path, shell: Shell) -> None:
    assert shell("archive", "trial", "--no-pages").code == 0
    assert not (here / "arena.db-archive" / "1-trial" / "site").exists()
    (here / "arena.db-archive").rename(here / "cold")
    outcome = shell("standings")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.line.endswith(
        "and that file is missing; put it back there, or have it found by `arena archive 1 --to FOLDER`"
    )
    listed = Archive(here / "arena.db").contests()
    assert [(each["name"], each["games_played"]) for each in listed] == [("trial", 6)]
    assert shell("archive", "1", "--to", "cold").code == 0
    assert shell("verify").out == "verified: 6 games\n"


def test_what_is_refused(here: Path, shell: Shell) -> None:
    outcome = shell("archive", "none")
    assert (outcome.code, outcome.line) == (
        1,
        "arena: arena.db: no contest 'none' here; there are: 1 trial",
    )
    assert (shell("publish", "public").code, shell("verify", "--renew-head").code) == (0, 0)
    keep(here / "arena.db", 1, contest=opening("open"), status="incomplete")
    outcome = shell("archive", "open")
    assert (outcome.code, outcome.line) == (
        1,
        "arena: arena.db: contest 2 open is incomplete and may go on: expected one that has ended for good; "
        "`arena admin abort` ends it",
    )
    keep(here / "arena.db", 1, contest=opening("other"))
    assert "of contest 1 trial" in shell("archive", "other", "--published", "public").line
    assert shell("archive", "other", "--published", "public").line.endswith("not of contest 3 other")
    home = here / "arena.db-archive" / "1-trial"
    home.mkdir(parents=True)
    (home / "mine").touch()
    assert shell("archive", "trial").line == (
        f"arena: {home}: exists already, and is no archive of this contest; give another --to"
    )
    assert (home / "mine").exists()
    (here / "file").touch()
    assert shell("archive", "trial", "--to", "file").line.endswith("cannot be written: Not a directory")


def test_a_record_that_was_changed_stays_where_it_is(here: Path, shell: Shell) -> None:
    with closing(sqlite3.connect("arena.db")) as connection:
        connection.execute("UPDATE games SET record = CAST(x'00' || record AS BLOB) WHERE game_id = 'g3'")
        connection.commit()
    outcome = shell("archive", "trial")
    assert outcome.code == 1
    assert "g3" in outcome.line
    with closing(sqlite3.connect("arena.db")) as connection:
        assert connection.execute("SELECT count(*) FROM games").fetchone() == (6,)


class Killed(BaseException):
    """The process ends here."""


def test_a_kill_at_each_step_loses_nothing(here: Path, shell: Shell) -> None:
    """Those between the steps of the store, which test_archiving.py has."""
    with Results(here / "arena.db") as results:
        contest = results.contest()
    table = shell("standings", "--json").out
    for last in ("verified", "written", "renamed", "marked"):

        def reached(name: str, last: str = last) -> None:
            if name == last:
                raise Killed

        home = here / "cold" / "1-trial"
        with pytest.raises(Killed):
            archive.archive_contest(here / "arena.db", contest, home, None, pages=False, step=reached)
        assert shell("verify").out == "verified: 6 games\n"
    assert shell("archive", "trial", "--to", "cold", "--no-pages").out.endswith("; 6 taken out\n")
    assert shell("verify").out == "verified: 6 games\n"
    assert shell("standings", "--json").out == table
    assert [path.name for path in (here / "cold").iterdir()] == ["1-trial"]


def test_another_contest_is_played_beside(here: Path, shell: Shell) -> None:
    assert shell("verify", "--renew-head").code == 0  # the copy of the fixture is without
    kept = Kept(here / "arena.db", opening("beside"))
    kept.start()
    kept.writer.store("g1", game(1))
    assert kept.next() == ["g1"]
    assert shell("archive", "trial", "--no-pages").code == 0
    kept.writer.store("g2", game(2))
    assert kept.next() == ["g2"]
    kept.close("finished")
    assert shell("verify", "--contest", "trial").out == "verified: 6 games\n"
    with Results(here / "arena.db") as results:
        assert results.sums.games_played(results.contest("beside")) == 2
