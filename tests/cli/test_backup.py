"""`arena backup`: what it prints, and that `arena verify` proves the copy."""

from __future__ import annotations

import json
from pathlib import Path

from tests.server.programs import Shell


def test_a_copy_is_verified(here: Path, shell: Shell) -> None:
    outcome = shell("backup", "copy.db")
    assert outcome.out.startswith("backed up: 6 games of 1 contest to copy.db (")
    assert shell("verify", "--database", "sqlite:///copy.db").out == "verified: 6 games\n"
    answer = json.loads(shell("backup", "again.db", "--json").out)
    assert answer == {
        "file": "again.db",
        "contests": 1,
        "games": 6,
        "bytes": (here / "again.db").stat().st_size,
    }


def test_a_copy_replaces_nothing(here: Path, shell: Shell) -> None:
    outcome = shell("backup", "arena.db")
    assert (outcome.code, outcome.line) == (1, "arena: arena.db: exists already; give the copy another name")


def test_postgresql_has_its_own_program(shell: Shell) -> None:
    outcome = shell("backup", "copy.db", "--database", "postgresql://host/arena")
    assert outcome.code == 2
    assert outcome.line == (
        "arena: --database: postgresql://host/arena is not a file; copy it by pg_dump, "
        "and restore it by pg_restore"
    )
