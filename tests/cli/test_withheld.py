"""No command shows a deal that is still to be played (`deals = "paired"`), and all do when it is over."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.server.core.contest_harness import ContestHarness, play_on, restarted, seated
from tests.server.programs import Outcome, Shell
from tests.server.records import Kept

from arena_protocol.record import GameRecord
from arena_server.store.database import ContestHeader
from arena_server.terms.config import game_of

from .reports import unpacked


def store(harness: ContestHarness, folder: Path, status: str) -> None:
    """What `harness` has made durable, as its server leaves it behind."""
    config = harness.config
    kept = Kept(
        folder / "arena.db", ContestHeader(config, game_of(config).options(), ["ann", "bob"], games=2)
    )
    kept.start()
    kept.append(*harness.entries)
    for game_id, record in harness.records.items():
        kept.writer.store(game_id, record)
        kept.next()
    kept.close(status)


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ContestHarness:
    """g1 has a result, g2 is void and will be repeated as g3, all on one deal; arena.db is in the folder."""
    harness = seated("ann", "bob", deals="paired", seed=SECRET)
    for name in ("ann", "bob") * 2:
        harness.send(name, "MOVE 7")
    harness.stop()
    assert [record.end for record in harness.records.values()] == ["complete", "void"]
    store(harness, tmp_path, "stopped")
    monkeypatch.chdir(tmp_path)
    return harness


def go_on(harness: ContestHarness, folder: Path) -> ContestHarness:
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
    play_on(again)
    assert again.finished == "finished"
    store(again, folder, "finished")
    return again


COMMANDS = [
    ("replay", "g1", "--json"),
    ("replay", "g2"),
    ("replay", "g1", "--svg", "g1.svg"),
    ("replay", "g1", "--html", "g1.html"),
    ("why", "g1", "--bot", "ann"),
    ("export", "records"),
    ("export", "objects", "--format", "json"),
    ("export", "tables", "--format", "csv"),
    ("site", "public"),
    ("report", "report.html"),
    ("standings", "--json"),
    ("verify",),
    ("verify", "g1", "--json"),
    ("verify", "records"),
]
REFUSED = {"replay", "why"}
SECRET = 2**255 + 2006


def outcomes(shell: Shell) -> Iterator[tuple[str, Outcome]]:
    for command in COMMANDS:
        yield command[0], shell(*command)


def tokens(record: GameRecord) -> set[bytes]:
    return {record.nonce.encode(), str(record.seed).encode(), f"{record.seed:x}".encode()}


def written(folder: Path) -> bytes:
    files = (path for path in folder.rglob("*") if path.is_file() and ".db" not in path.name)
    return b"".join(data for path in files for data in (path.read_bytes(), *unpacked(path).values()))


def test_nothing_of_a_deal_that_is_still_to_be_played(
    stopped: ContestHarness, tmp_path: Path, shell: Shell
) -> None:
    secrets = {str(SECRET).encode()}.union(*map(tokens, stopped.records.values()))
    text = b""
    for verb, outcome in outcomes(shell):
        assert outcome.code == (verb in REFUSED), outcome
        if verb in REFUSED:
            assert outcome.line.endswith(
                'is shown when all games on its deal have a result (deals = "paired"), or when the contest '
                "has ended for good"
            )
        text += outcome.out.encode() + outcome.err.encode()
    text += written(tmp_path)
    assert not [secret for secret in secrets if secret in text]
    assert json.loads(shell("standings", "--json").out)["contest"]["secret"] is None


def test_all_of_it_when_it_is_over(stopped: ContestHarness, tmp_path: Path, shell: Shell) -> None:
    again = go_on(stopped, tmp_path)
    text = b""
    for _, outcome in outcomes(shell):
        assert outcome.code == 0
        text += outcome.out.encode()
    text += written(tmp_path)
    for record in (*stopped.records.values(), *again.records.values()):
        assert record.nonce.encode() in text
    assert json.loads(shell("standings", "--json").out)["contest"]["secret"] == str(SECRET)


def test_commands_say_how_many_they_withhold(stopped: ContestHarness, shell: Shell) -> None:
    withheld = "; 2 games are withheld until all games on the same deals have a result\n"
    assert shell("site", "public").out == f"written: 0 games of test to public{withheld}"
    assert re.fullmatch(
        f"written: 0 games of test to report.html, 0.[0-9] MB{withheld}", shell("report", "report.html").out
    )
    assert shell("export", "records").out.startswith(f"exported: 0 games of test to records{withheld}head: ")
    assert (
        shell("export", "tables", "--format", "csv").out == f"exported: 0 games of test to tables{withheld}"
    )
    for command in (
        ("site", "public"),
        ("report", "x"),
        ("export", "records"),
        ("export", "objects", "--format", "json"),
    ):
        assert json.loads(shell(*command, "--json").out)["withheld"] == ["g1", "g2"]


def test_one_that_is_withheld(stopped: ContestHarness, tmp_path: Path, shell: Shell) -> None:
    with closing(sqlite3.connect(tmp_path / "arena.db")) as database:
        database.execute("DELETE FROM games WHERE game_id = 'g2'")
        database.commit()
    (tmp_path / "arena.db-head").unlink()
    assert shell("site", "public").out.endswith(
        "; 1 game is withheld until all games on the same deals have a result\n"
    )


class TestVerify:
    def test_a_withheld_record_is_checked_by_its_database(
        self, stopped: ContestHarness, shell: Shell
    ) -> None:
        assert shell("verify").out == "verified: 2 games\n"
        assert shell("verify", "g1").out == "verified: 1 game\n"

    def test_the_chain_of_an_export_holds_without_it(self, stopped: ContestHarness, shell: Shell) -> None:
        head = json.loads(shell("export", "records", "--json").out)["head"]
        assert (
            shell("verify", "records", "--head", head).out
            == "verified: 0 games, 2 more withheld, all as published\n"
        )
        assert json.loads(shell("verify", "records", "--json").out)["withheld"] == 2

    def test_another_digest_breaks_the_chain(
        self, stopped: ContestHarness, tmp_path: Path, shell: Shell
    ) -> None:
        shell("export", "records")
        path = tmp_path / "records" / "chain.json"
        chain = json.loads(path.read_text())
        chain["order"][0]["sha256"] = "00" * 32
        path.write_text(json.dumps(chain))
        assert (
            shell("verify", "records").line
            == "arena: not verified: game g1: its record was changed, or replaced"
        )

    @pytest.mark.parametrize(
        "entry", [7, {"game": "g1", "chain": "", "deal": "x"}, {"game": "g1", "chain": "", "sha256": 5}]
    )
    def test_what_is_no_chain(
        self, stopped: ContestHarness, tmp_path: Path, shell: Shell, entry: object
    ) -> None:
        shell("export", "records")
        path = tmp_path / "records" / "chain.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"order": [entry]}))
        assert shell("verify", "records").line.startswith(
            "arena: records/chain.json: not the chain of an export ("
        )

    def test_an_error_in_it_names_no_value(
        self, stopped: ContestHarness, tmp_path: Path, shell: Shell
    ) -> None:
        record = stopped.records["g1"]
        with closing(sqlite3.connect(tmp_path / "arena.db")) as database:
            (data,) = database.execute("SELECT record FROM games WHERE game_id = 'g1'").fetchone()
            at = data.index(record.nonce.encode())
            changed = data[:at] + b"0" + data[at + 1 :]
            database.execute("UPDATE games SET record = ? WHERE game_id = 'g1'", (changed,))
            database.commit()
        outcome = shell("verify", "--json")
        assert [each["error"] for each in json.loads(outcome.out)["wrong"]] == [
            "game g1: its record is not true; where is withheld until its deal may be shown; "
            "chain: game g1: its record was changed, or replaced"
        ]

    def test_the_deals_of_an_export_are_those_of_the_journal(
        self, stopped: ContestHarness, tmp_path: Path, shell: Shell
    ) -> None:
        """The number in the chain file is the one that counts."""
        go_on(stopped, tmp_path)
        shell("export", "records")
        secret = str(SECRET)
        assert shell("verify", "records", "--secret", secret).out == "verified: 3 games\n"
        path = tmp_path / "records" / "chain.json"
        chain = json.loads(path.read_text())
        assert {each["game"]: each["deal"] for each in chain["order"]} == {"g1": 1, "g2": 1, "g3": 1}
        chain["order"][2]["deal"] = 2
        path.write_text(json.dumps(chain))
        outcome = shell("verify", "records", "--secret", secret)
        assert outcome.line == "arena: not verified: g3: the deal is not derived from the contest's secret"
