"""`arena verify FOLDER` checks what was drawn, of each format that draws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.server.core.contest_harness import ContestHarness, play_on
from tests.server.core.formats.test_rounds import DRAWING
from tests.server.programs import Shell
from tests.server.records import keep_played
from tests.slices import rows

from arena_server.store.database import ContestHeader

NAMES = ("ann", "bob", "cid", "dan", "eve")


def play(folder: Path, form: str, **options: int | str) -> None:
    """Play a contest of five into a database, and export it."""
    harness = ContestHarness(
        *NAMES, options={"plies": 1, "start": "empty"}, format=form, format_options=options
    )
    for name in NAMES:
        harness.log_in(name)
    play_on(harness)
    assert harness.finished == "finished"
    header = ContestHeader(harness.config, {"plies": "1"}, NAMES, games=99)
    keep_played(folder / "arena.db", header, harness.effects)


@pytest.fixture
def exported(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, request: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    play(tmp_path, *request.param[:1], **dict(request.param[1:]))
    assert shell("export", "records").code == 0
    return tmp_path / "records" / "chain.json"


def change(path: Path, change: Any) -> None:
    chain = json.loads(path.read_text())
    change(chain["rounds"])
    path.write_text(json.dumps(chain))


@pytest.mark.parametrize("exported", rows([((name,),) for name in DRAWING], 2), indirect=True)
def test_a_true_export(exported: Path, shell: Shell) -> None:
    assert shell("verify", "records").code == 0


@pytest.mark.parametrize("exported", [("swiss", ("seeding", "lot"))], indirect=True)
def test_an_export_with_seeds_by_lot(exported: Path, shell: Shell) -> None:
    assert shell("verify", "records").code == 0
    assert "seeding" not in json.loads(exported.read_text())["rounds"]["options"]


@pytest.mark.parametrize("exported", [("swiss",)], indirect=True)
def test_what_is_wrong(exported: Path, shell: Shell) -> None:
    def exchange(plan: Any) -> None:
        first = plan["facts"][0][-1]
        first[0][0], first[1][0] = first[1][0], first[0][0]

    original = exported.read_text()
    change(exported, exchange)
    outcome = shell("verify", "records")
    assert outcome.code == 1
    assert outcome.line.startswith("arena: not verified: rounds: ")
    for wrong in (
        lambda plan: plan["facts"].pop(),
        lambda plan: plan["facts"].append([0, "drawn", 4, 99, 2, [["ann", "bob"]]]),
    ):
        exported.write_text(original)
        change(exported, wrong)
        assert shell("verify", "records").line.startswith("arena: not verified: rounds: ")
    for damage in (
        lambda plan: plan.pop("seeds"),
        lambda plan: plan.update(format="matches"),
        lambda plan: plan["facts"].append([0, "drawn", "four"]),
        lambda plan: plan.update(facts=7),
    ):
        exported.write_text(original)
        change(exported, damage)
        assert "chain.json: not the chain of an export (" in shell("verify", "records").line


@pytest.mark.parametrize("exported", [("swiss",)], indirect=True)
def test_an_export_of_an_earlier_version(exported: Path, shell: Shell) -> None:
    chain = json.loads(exported.read_text())
    del chain["rounds"]
    exported.write_text(json.dumps(chain))
    assert shell("verify", "records").code == 0
