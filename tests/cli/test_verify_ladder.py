"""`arena verify` of a ladder whose field changes: bots are registered by invitation, join late and leave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.server.core.contest_harness import ONE_PLY, ContestHarness
from tests.server.core.test_entrants import TOKEN, add
from tests.server.core.test_invites import invite, register
from tests.server.programs import Shell
from tests.server.records import keep_played

from arena_server.core.deal import token_digest
from arena_server.store.database import ContestHeader

NAMES = ("ann", "bob", "cid", "dan")


class Players:
    """Bots that get ready and answer every TURN."""

    def __init__(self, harness: ContestHarness) -> None:
        self.harness = harness
        self._read: dict[int, int] = {}

    def play_until(self, games: int) -> None:
        """Until this number of games has a record, or the contest is over."""
        harness = self.harness
        while len(harness.records) < games and harness.finished is None:
            for name, conn in list(harness.conns.items()):
                lines = harness.lines[conn]
                fresh, self._read[conn] = lines[self._read.get(conn, 0) :], len(lines)
                for line in fresh:
                    if line.startswith("S  GAME"):
                        harness.send(name, f"READY {line.split()[2]}")
                    elif line.startswith("S  TURN"):
                        harness.send(name, "MOVE 7")
            harness.wait(1)


def play(folder: Path, games: int) -> list[str]:
    """Play a ladder into a database, while its field changes; returns how each game has ended."""
    harness = ContestHarness(*NAMES, options=ONE_PLY, format="ladder", format_options={"games": games})
    players = Players(harness)
    for name in NAMES:
        harness.log_in(name)
    players.play_until(games // 4)
    for number, name in enumerate(("zoe", "eve"), start=1):
        assert invite(harness, code=token_digest(name)) is None
        assert register(harness, name, code=token_digest(name), token=name) is None
        harness.log_in(name, f" token={name}")
        players.play_until(games // 4 + number * games // 8)
    assert harness.command("remove", "bob") is None
    assert add(harness, "late") is None
    harness.log_in("late", f" token={TOKEN}")
    players.play_until(games * 3 // 4)
    assert harness.command("remove", "zoe") is None
    players.play_until(2 * games)
    assert harness.finished == "finished"
    header = ContestHeader(harness.config, {"plies": "1"}, NAMES, games=0)
    keep_played(folder / "arena.db", header, harness.effects)
    return [record.end for record in harness.records.values()]


@pytest.mark.parametrize("games", [120, pytest.param(10_200, marks=pytest.mark.soak)])
def test_a_ladder_whose_field_has_changed(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, games: int
) -> None:
    monkeypatch.chdir(tmp_path)
    ends = play(tmp_path, games)
    complete = ends.count("complete")
    assert complete >= games - len(NAMES)
    outcome = shell("verify")
    assert (outcome.code, outcome.out) == (0, f"verified: {len(ends)} games\n")
    table = json.loads(shell("standings", "--json").out)["standings"]
    assert {row["bot"] for row in table} == {*NAMES, "zoe", "eve", "late"}
    assert all(row["games"] for row in table)
    assert sum(row["games"] for row in table) == 2 * complete
