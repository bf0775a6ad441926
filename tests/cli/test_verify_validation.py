"""`arena verify` and `arena replay` of validation games."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.server.core.contest_harness import ContestHarness, play_on
from tests.server.programs import Shell
from tests.server.records import keep_played

from arena_protocol.record import GameRecord
from arena_protocol.record_codec import decode, encode
from arena_server.core.journal import Entry
from arena_server.store.database import ContestHeader


def played(folder: Path, change: str = "") -> None:
    """Play a contest into a database; `change` says what is wrong with its validation game v1."""
    harness = ContestHarness("ann", "bob", validation=True, options={"plies": 2, "start": "empty"})
    for name in ("ann", "bob"):
        harness.log_in(name)
    while harness.finished is None:
        play_on(harness)
        harness.wait(1)
    config = replace(harness.config, seed=8) if change == "secret" else harness.config
    header = ContestHeader(config, {"plies": "2"}, ("ann", "bob"), games=2)
    keep_played(folder / "arena.db", header, harness.effects, lambda entry: _changed(entry, change))


def _changed(entry: Entry, change: str) -> Entry:
    if entry[1] != "validated" or entry[3] != 1:
        return entry
    record = decode(entry[4])
    name = "eve" if change == "name" else entry[2]
    return (0, "validated", name, 1, encode(_wrong(record, change)))


def _wrong(record: GameRecord, change: str) -> GameRecord:
    if change == "clock":
        first, *others = record.plies
        return replace(record, plies=(first._replace(clock=(1, 1)), *others))
    if change == "contest":
        return replace(record, contest="other")
    return record


def test_they_are_verified_and_replayed(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    played(tmp_path)
    assert shell("verify").out == "verified: 4 games, 2 of them for validation\n"
    answer = json.loads(shell("verify", "--json").out)
    assert (answer["games"], answer["validations"], answer["verified"]) == (4, 2, 4)
    assert shell("verify", "v2").out == "verified: 1 game, 1 of them for validation\n"
    assert shell("verify", "v3").line == "arena: arena.db: no game 'v3' in contest 1 test"
    assert "test v1: ann - referee" in shell("replay", "v1").out
    assert "referee" not in shell("standings").out
    assert shell("export", "records").code == 0
    assert shell("verify", "records").out == "verified: 2 games\n"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("clock", "game v1, ply 1: "),
        ("contest", "game v1, database: contest: expected 'other', found 'test'"),
        ("name", "v1: expected a game of eve, found ann, referee"),
    ],
)
def test_a_wrong_one_is_found(
    change: str, problem: str, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    played(tmp_path, change)
    outcome = shell("verify")
    assert outcome.code == 1
    assert outcome.line.startswith(f"arena: not verified: {problem}")


def test_a_deal_of_another_secret_is_found(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    played(tmp_path, "secret")
    wrong = {each["game"]: each["error"] for each in json.loads(shell("verify", "--json").out)["wrong"]}
    assert wrong["v2"] == "v2: the deal is not derived from the contest's secret"


@pytest.mark.parametrize("form", ["single", "round-robin"])
def test_only_the_game_of_a_visitor_may_have_the_deal_of_another_one(
    form: str, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is played on from a ply of a record; any other contest that says so is not believed."""
    monkeypatch.chdir(tmp_path)
    harness = ContestHarness("ann", "bob", options={"plies": 2, "start": "empty"})
    for name in ("ann", "bob"):
        harness.log_in(name)
    while harness.finished is None:
        play_on(harness)
    config = replace(harness.config, seed=8, played_on="played on from ply 1 of g1", format=form)
    keep_played(
        tmp_path / "arena.db", ContestHeader(config, {"plies": "2"}, ("ann", "bob"), games=2), harness.effects
    )
    assert shell("export", "out").code == 0
    for outcome in (shell("verify"), shell("verify", "out", "--secret", "8")):
        if form == "single":
            assert outcome.out == "verified: 2 games, 2 of them on the deal of another game\n"
        else:
            assert "g1: the deal is not derived from the contest's secret" in outcome.line


def test_another_move_of_the_server_is_found(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arena_server.core.match.own_move", lambda secret, game, ply, moves: moves[0])
    played(tmp_path)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    outcome = shell("verify")
    assert outcome.code == 1
    assert "the move is not derived from the contest's secret" in outcome.line
