"""A game is stored while a command writes a running contest: what it writes is whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.reports import unpacked
from tests.server.programs import Shell
from tests.server.records import change

from arena_server.web.archive import Archive


@pytest.fixture
def stored_meanwhile(here: Path) -> Iterator[None]:
    """The last game of six is stored just before the archive reads the contest."""
    shutil.copy("arena.db", "all.db")
    change(Path("arena.db"), "DELETE FROM games WHERE place > 5")
    with pytest.MonkeyPatch.context() as patch:
        read = Archive.contest

        def contest(archive: Archive, number: int) -> dict[str, object]:
            patch.undo()
            change(
                Path("arena.db"),
                "ATTACH 'all.db' AS whole",
                "INSERT INTO games SELECT * FROM whole.games WHERE place > 5",
            )
            return read(archive, number)

        patch.setattr(Archive, "contest", contest)
        yield


@pytest.mark.usefixtures("stored_meanwhile")
def test_the_head_is_that_of_the_games_in_the_table(shell: Shell) -> None:
    assert shell("publish", "public").out == "published: 6 of 6 games of trial to public\n"
    assert shell("verify", "--published", "public").out == "verified: 6 games, all as published\n"


@pytest.mark.usefixtures("stored_meanwhile")
@pytest.mark.parametrize("command", ["site", "report"])
def test_each_game_that_is_listed_has_its_record(shell: Shell, command: str) -> None:
    assert json.loads(shell(command, "out", "--json").out)["games"] == 6
    path = Path("out")
    names = [str(each) for each in path.rglob("*")] if path.is_dir() else list(unpacked(path))
    assert len([name for name in names if name.endswith(".record")]) == 6
