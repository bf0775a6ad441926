"""What the jury has decided, in every channel: table, page, commands, export, verification."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import slices
from tests.server.core.contest_harness import ContestHarness, rows
from tests.server.core.jury_harness import FIELD, decide, paused, rounds_of, rule, stored
from tests.server.programs import Shell
from tests.server.records import keep_played

from arena_server.stats.standings import row_json
from arena_server.store.database import ContestHeader
from arena_server.store.reader import Results
from arena_server.store.schema import game_checksum
from arena_server.web.archive import Archive

FORMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("round-robin", {}),
    ("gauntlet", {}),
    ("swiss", {"rounds": 3}),
    ("knockout", {}),
    ("groups", {"groups": 1}),
    ("double-elimination", {}),
    ("ladder", {"games": 12}),
)


def decided(form: str, options: dict[str, Any], seed: int) -> ContestHarness:
    """A contest in which the jury decides on games of each part."""
    chance = random.Random(f"{form}{seed}")
    scoring = chance.choice(("points", "wins"))
    ties = [] if form in ("knockout", "groups", "double-elimination") else ["wins", "buchholz"]
    harness = paused(
        *FIELD,
        format=form,
        format_options=options,
        games_per_pair=2,
        scoring=scoring,
        tie_breaks=tuple(chance.sample(ties, min(2, len(ties)))),
    )
    while harness.finished is None:
        for number, game in chance.sample(sorted(stored(harness).items()), min(2, len(stored(harness)))):
            if chance.random() < 0.5:
                rule(harness, "forfeit", f"g{number} {chance.choice(game.names)}")
            else:
                rule(harness, "correct", f"g{number} {chance.randrange(9)}-{chance.randrange(9)}")
        decide(harness, chance)
        rounds_of(harness, 1)
    assert harness.finished == "finished"
    return harness


@pytest.mark.parametrize(
    ("form", "options", "seed"), slices.rows(((*each, seed) for each in FORMS for seed in range(3)), 7)
)
def test_all_channels_show_the_table_of_the_server_and_verify_agrees(
    form: str,
    options: dict[str, Any],
    seed: int,
    tmp_path: Path,
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    harness = decided(form, options, seed)
    header = ContestHeader(harness.config, {"plies": "1"}, FIELD, games=99)
    keep_played(tmp_path / "arena.db", header, harness.effects)
    expected = [row_json(row) for row in harness.contest.status.progress().standings]
    with Results(tmp_path / "arena.db") as results:
        contest = results.contest()
        assert [row_json(row) for row in results.sums.standings(contest)] == expected
    assert Archive(tmp_path / "arena.db").contest(1)["standings"] == expected
    told = json.loads(shell("standings", "--json").out)
    assert told["standings"] == expected
    assert {each["reason"] for each in told.get("jury", ())} <= {"seen by the jury"}
    verified = shell("verify")
    assert verified.code == 0, verified
    assert shell("export", "records").code == 0
    assert shell("verify", "records").code == 0


def change_row(path: Path, game: str, totals: str) -> None:
    """Change a result, with the digest of its row."""
    from sqlalchemy import select
    from sqlalchemy.orm import Session

    from arena_server.store.checks import faults_by_game
    from arena_server.store.engines import open_engine
    from arena_server.store.schema import ContestRow, GameRow

    engine = open_engine(path, writing=True)
    with Session(engine) as session:
        row = session.scalars(select(GameRow).where(GameRow.game_id == game)).one()
        row.totals = json.loads(totals)
        faults = faults_by_game(session, session.get_one(ContestRow, 1))
        row.checksum = game_checksum(row, faults.get(row.id, []))
        session.commit()
    engine.dispose()


@pytest.fixture
def cup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two bots, two games; the jury has corrected the first, and given a bot a penalty point."""
    monkeypatch.chdir(tmp_path)
    harness = paused("ann", "bob", games_per_pair=2)
    rounds_of(harness, 1)
    assert rule(harness, "correct", "g1 5-4", reason="the clock stood") is None
    assert rule(harness, "penalty", "bob 1", reason="late") is None
    assert harness.command("resume") is None
    assert rows(harness)["ann"].games == 2
    header = ContestHeader(harness.config, {"plies": "1"}, ("ann", "bob"), games=2)
    keep_played(tmp_path / "arena.db", header, harness.effects)
    return tmp_path / "arena.db"


def test_a_result_that_is_not_the_jurys_is_refused(cup: Path, shell: Shell) -> None:
    assert shell("verify").code == 0
    change_row(cup, "g1", "[6, 4]")
    found = shell("verify")
    assert found.code == 1
    assert (
        "g1, database: expected ((5, 4), 'corrected') by the jury, found ((6, 4), 'corrected')" in found.err
    )


def change_facts(path: Path, change: Callable[[list[Any]], None]) -> None:
    """Change the entries that outlive the journal."""
    from arena_server.store.journal import pack, unpack

    with sqlite3.connect(path) as connection:
        for place, payload in connection.execute("SELECT place, payload FROM facts").fetchall():
            entries = [list(entry) for entry in unpack(payload)]
            for entry in entries:
                change(entry)
            data = pack([tuple(entry) for entry in entries])
            connection.execute("UPDATE facts SET payload = ? WHERE place = ?", (data, place))


def of_order(verb: str, key: int, value: object) -> Callable[[list[Any]], None]:
    def change(entry: list[Any]) -> None:
        if entry[1] == "order" and entry[3] == verb:
            entry[key] = value

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (of_order("correct", 3, "pause"), "g1: ruling 1 follows from no order of the jury"),
        (of_order("correct", 4, "g1 4-5"), "g1: ruling 1 does not follow from order 4"),
        (
            of_order("penalty", 4, "bob 2"),
            "the penalty points of bob are not those of the orders of the jury",
        ),
    ],
)
def test_facts_that_do_not_follow_from_the_orders_are_refused(
    cup: Path, shell: Shell, change: Callable[[list[Any]], None], problem: str
) -> None:
    change_facts(cup, change)
    found = shell("verify")
    assert found.code == 1
    assert problem in found.err


def test_a_ruling_on_a_game_that_is_not_stored_is_refused(cup: Path, shell: Shell) -> None:
    def change(entry: list[Any]) -> None:
        if entry[1] == "ruled":
            entry[3] = 99

    change_facts(cup, change)
    found = shell("verify", "--json")
    assert found.code == 1
    assert "g99: the jury has ruled on it, and it is not stored" in found.out


def test_a_game_that_counts_as_played_although_its_bot_is_disqualified_is_refused(
    cup: Path, shell: Shell
) -> None:
    def change(entry: list[Any]) -> None:
        if entry[1] == "penalised":
            entry[1:] = ["disqualified", "ann", "lost", True]
        of_order("penalty", 3, "pause")(entry)

    change_facts(cup, change)
    found = shell("verify")
    assert found.code == 1
    assert "g2: ann is disqualified, and the game counts as played" in found.err


def test_the_reason_is_told_where_the_table_is(cup: Path, shell: Shell, tmp_path: Path) -> None:
    line = "jury: correct g1 5-4: the clock stood"
    assert line in shell("standings").out
    assert shell("publish", "web").code == 0
    assert line in (tmp_path / "web" / "index.html").read_text()
    document = Archive(cup).contest(1)
    assert document["jury"] == [
        {"number": 4, "verb": "correct", "target": "g1 5-4", "reason": "the clock stood"},
        {"number": 5, "verb": "penalty", "target": "bob 1", "reason": "late"},
    ]
    assert [row.get("penalty") for row in document["standings"]].count(1) == 1
    assert document["ruled"] == {"g1": 4}
    (winner,) = (row["bot"] for row in document["standings"] if row["points"] == 5)
    told = f"{line}; it counts as: {winner} wins 5 : 4, corrected by the jury"
    assert shell("replay", "g1").out.splitlines()[-1] == told
    assert "jury" not in shell("replay", "g2").out
    assert shell("export", "files", "--format", "csv").code == 0
    lines = (tmp_path / "files" / "seats.csv").read_text().splitlines()
    assert [line.split(",")[3] for line in lines if line.startswith("g1,")] == ["5", "4"]
