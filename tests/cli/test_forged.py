"""A database from anywhere, whose digests are right: no control character of it reaches a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session
from tests.server.programs import Shell
from tests.slices import rows

from arena_cli.program import user_message
from arena_protocol.errors import UserError
from arena_server.store.engines import open_engine
from arena_server.store.schema import (
    BotRow,
    ContestRow,
    FaultRow,
    GameRow,
    contest_checksum,
    game_checksum,
)

EVIL = "\x1b[31mEVIL\x07\x9b2J\r\n\x08"
SHOWN = r"'\x1b[31mEVIL\x07\x9b2J\r\n\x08"
COMMANDS = (
    ("standings",),
    ("standings", "--json"),
    ("standings", "--contest", "none"),
    ("verify",),
    ("verify", "--json"),
    ("replay", "g1", "--ply", "2"),
    ("why", "g1", "--bot", "zero"),
    ("export", "records"),
    ("export", "tables", "--format", "csv"),
    ("site", "pages"),
    ("ratings",),
)


def forge(folder: Path, table: Any, column: str, value: Callable[[Any], object]) -> None:
    """Change a column of every row, and all digests with it."""
    engine = open_engine(folder / "arena.db")
    with Session(engine) as session:
        for row in session.query(table):
            setattr(row, column, value(getattr(row, column)))
        session.flush()
        for contest in session.query(ContestRow):
            contest.checksum = contest_checksum(contest)
        for game in session.query(GameRow):
            found = session.query(FaultRow).filter_by(game_pk=game.id).order_by(FaultRow.id)
            faults = [(row.seat, row.ply, row.kind, row.line) for row in found]
            game.checksum = game_checksum(game, faults)
        session.commit()
    engine.dispose()


#: Table, column, forged value, and what is said of it.
FORGED: list[tuple[type, str, Callable[[Any], object], str]] = [
    (ContestRow, "name", lambda _: EVIL, f"contest 1: name: not as PROTOCOL.md has it: {SHOWN}')"),
    (
        ContestRow,
        "game",
        lambda _: EVIL,
        f"contest 1: no game is called {SHOWN}'; there are: insertion, ",
    ),
    (ContestRow, "format", lambda _: EVIL, f"contest 1: format: not as PROTOCOL.md has it: {SHOWN}')"),
    (ContestRow, "scoring", lambda _: EVIL, "contest 1: scoring: not as "),
    (ContestRow, "seed", lambda _: EVIL, "contest 1: seed: not as "),
    (ContestRow, "software", lambda _: EVIL, "contest 1: software: not as "),
    (ContestRow, "options", lambda old: {**old, EVIL: "1"}, "contest 1: options: not as "),
    (ContestRow, "options", lambda old: {**old, "plies": EVIL}, "contest 1: options: plies: not as "),
    (
        ContestRow,
        "config",
        lambda old: {**old, "bots": [EVIL, "six", "zero"]},
        "contest 1: bots: not as ",
    ),
    (GameRow, "game_id", lambda old: old + EVIL, "contest 1: game_id: not as "),
    (GameRow, "end", lambda _: EVIL, "game g"),
    (GameRow, "names", lambda _: [EVIL, "six"], "game g"),
    (GameRow, "totals", lambda _: [EVIL, 1], "game g"),
    (GameRow, "totals", lambda _: [1], "game g"),
    (GameRow, "used_ms", lambda _: [EVIL, 1], "game g"),
    (GameRow, "used_ms", lambda _: [1], "game g"),
    (GameRow, "agents", lambda _: [EVIL, None], "game g"),
    (GameRow, "agents", lambda _: ["mine/1"], "game g"),
    (BotRow, "name", lambda old: old + EVIL, "the bots of contest 1 are not those of its configuration"),
    (FaultRow, "kind", lambda _: EVIL, "game g"),
    (FaultRow, "seat", lambda _: 3, "game g"),
]


@pytest.mark.parametrize(("table", "column", "value", "line"), FORGED)
def test_a_text_of_another_form(
    here: Path, shell: Shell, table: type, column: str, value: Callable[[Any], object], line: str
) -> None:
    forge(here, table, column, value)
    first = shell("standings")
    assert first.err.strip().isprintable()
    assert first.code == 1
    assert first.line.startswith(f"arena: arena.db: the database is damaged ({line}")


@pytest.mark.slow
@pytest.mark.parametrize(("table", "column", "value"), rows((each[:3] for each in FORGED), 4))
def test_no_command_prints_it(
    here: Path, shell: Shell, table: type, column: str, value: Callable[[Any], object]
) -> None:
    forge(here, table, column, value)
    for command in COMMANDS:
        outcome = shell(*command)
        for text in (outcome.out, outcome.err):
            assert all(part.isprintable() for part in text.split("\n")), (command, text)


@pytest.mark.parametrize(
    ("column", "value", "line"),
    [
        ("game", lambda _: "chess", "contest 1: no game is called 'chess'; there are: insertion, "),
        ("config", lambda old: {**old, "tie_breaks": ["elo"]}, "a tie-break is one of points, "),
    ],
)
def test_what_an_absent_package_has_added_is_no_damage(
    here: Path, shell: Shell, column: str, value: Callable[[Any], object], line: str
) -> None:
    forge(here, ContestRow, column, value)
    outcome = shell("standings")
    assert outcome.code == 1
    assert outcome.line.startswith(f"arena: arena.db: {line}")
    assert outcome.line.endswith("; install the package that adds it, where this command runs")


def test_an_error_is_printed_with_escapes() -> None:
    assert user_message(UserError(f"file {EVIL} a\nb é")) == r"file \x1b[31mEVIL\x07\x9b2J \x08 a b é"
