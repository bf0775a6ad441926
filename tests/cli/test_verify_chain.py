"""The hash chain of real contests: kept by the store, checked by `arena verify`, exported."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from contextlib import closing
from hashlib import sha256
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from tests.server.programs import Gate, Outcome, Players, Server, Shell, contest
from tests.server.records import change
from tests.slices import rows as slice_of

from arena_server.store.chain import GENESIS, ChainLink, audit, extend
from arena_server.store.checks import faults_by_game
from arena_server.store.engines import open_engine
from arena_server.store.reader import Results
from arena_server.store.schema import ContestRow, GameRow, game_checksum, set_status

BOTS = [("first", "first-legal"), ("six", "fixed:move=6"), ("zero", "zero-based")]
TEXT = contest("first", "six", "zero", contest="probation = 0", game='plies = 8\nclock = "10s"')


def rows(folder: Path) -> list[tuple[int, str, bytes, bytes]]:
    """Place, game, record, value of every game in the order of storing."""
    with closing(sqlite3.connect(folder / "arena.db")) as database:
        return database.execute("SELECT place, game_id, record, chain FROM games ORDER BY id").fetchall()


def set_record(folder: Path, place: int, record: bytes) -> None:
    change(
        folder / "arena.db",
        "UPDATE games SET record = :record WHERE place = :place",
        record=record,
        place=place,
    )


def wrong(outcome: Outcome) -> list[tuple[str | None, str]]:
    assert outcome.code == 1
    return [(each["game"], each["error"]) for each in json.loads(outcome.out)["wrong"]]


@pytest.mark.slow
class TestVerify:
    def test_a_contest_nobody_touched(self, here: Path, shell: Shell) -> None:
        head = rows(here)[-1][3].hex()
        assert json.loads(shell("verify", "--json").out)["head"] == head
        assert shell("verify", "--head", head).out == "verified: 6 games, all as published\n"
        assert shell("verify", "--head", head.upper()).out == "verified: 6 games, all as published\n"

    def test_a_head_published_earlier_proves_what_was_there_then(self, here: Path, shell: Shell) -> None:
        earlier = rows(here)[3][3].hex()
        assert (
            shell("verify", "--head", earlier).out == "verified: 6 games, all as published; 2 stored since\n"
        )

    @pytest.mark.parametrize(("place", "at"), slice_of(product([1, 6], [0, 1, 40, 300, -33, -32, -1]), 3))
    def test_the_changed_byte_is_named(self, here: Path, shell: Shell, at: int, place: int) -> None:
        _, game_id, record, _ = rows(here)[place - 1]
        data = bytearray(record)
        data[at] ^= 0xFF
        set_record(here, place, bytes(data))
        ((name, text),) = wrong(shell("verify", "--json"))
        where = at % len(record)
        assert name == game_id
        assert text.startswith(f"game {game_id}: damaged record: ")
        assert text.endswith(
            f"; chain: game {game_id}: its record was changed, or replaced; "
            f"byte {where} was 0x{record[where]:02x} and is 0x{data[where]:02x}"
        )

    def test_a_change_with_a_digest_to_fit_is_named(self, here: Path, shell: Shell) -> None:
        _, game_id, record, _ = rows(here)[1]
        payload = bytearray(record[:-32])
        at = payload.index(b"time_ms") if b"time_ms" in payload else 200
        payload[at] ^= 0x04
        set_record(here, 2, bytes(payload) + sha256(payload).digest())
        ((name, text),) = wrong(shell("verify", "--json"))
        assert name == game_id
        assert f"byte {at} was 0x{record[at]:02x} and is 0x{payload[at]:02x}" in text

    def test_a_true_record_of_another_contest_is_refused(self, here: Path, shell: Shell) -> None:
        """It verifies by itself, and its name and numbers fit; only the chain knows."""
        _, game_id, _, chain = rows(here)[2]
        change(
            here / "arena.db", "UPDATE games SET chain = :value WHERE place = 3", value=sha256(chain).digest()
        )
        assert wrong(shell("verify", "--json")) == [(game_id, f"game {game_id}: its chain value was changed")]

    def test_exchanged_records(self, here: Path, shell: Shell) -> None:
        (_, one, first, _), (_, two, second, _) = rows(here)[1], rows(here)[4]
        set_record(here, 2, second)
        set_record(here, 5, first)
        found = dict(wrong(shell("verify", "--json")))
        assert set(found) == {one, two}
        assert found[one].endswith(f"game {one}: at place 2 of the chain the record of {two} was stored")
        assert found[two].endswith(f"game {two}: at place 5 of the chain the record of {one} was stored")

    @pytest.mark.parametrize("place", range(1, 7))
    def test_a_row_taken_out(self, here: Path, shell: Shell, place: int) -> None:
        names = [name for _, name, _, _ in rows(here)]
        key = here / "arena.db"
        with closing(sqlite3.connect(key)) as database:
            database.execute(
                "DELETE FROM faults WHERE game_pk = (SELECT id FROM games WHERE place = ?)", (place,)
            )
            database.execute("DELETE FROM games WHERE place = ?", (place,))
            database.commit()
        ((_, text),) = wrong(shell("verify", "--json"))
        if place == 6:
            assert text == f"games missing after {names[4]}: the chain ended with another head"
        else:
            where = f"after {names[place - 2]}" if place > 1 else "at the beginning"
            assert text == f"1 game missing {where}: place {place} of the chain"

    @pytest.mark.parametrize(
        "column", ["stored_at = '2006-01-01 00:00:00.000000'", """agents = '["x", null]'"""]
    )
    def test_what_the_record_does_not_say(self, here: Path, shell: Shell, column: str) -> None:
        change(here / "arena.db", f"UPDATE games SET {column} WHERE place = 2")
        ((name, text),) = wrong(shell("verify", "--json"))
        assert text == f"game {name}: its row does not match its SHA-256 digest"
        assert shell("verify", str(name)).code == 1

    def test_a_row_put_in(self, here: Path, shell: Shell) -> None:
        columns = 'contest_id, names, totals, "end", plies, stored_at, record, chain, checksum'
        change(
            here / "arena.db",
            f"INSERT INTO games (game_id, place, {columns}) "
            f"SELECT 'g99', 7, {columns} FROM games WHERE place = 1",
        )
        found = dict(wrong(shell("verify", "--json")))
        assert found["g99"].endswith("chain: game g99: it was added to the chain later")

    def test_a_contest_written_anew_is_told_by_the_published_head(self, here: Path, shell: Shell) -> None:
        published = rows(here)[-1][3].hex()
        value = GENESIS
        for place, (old, _, record, _) in enumerate(reversed(rows(here)), start=1):
            value = extend(value, record)
            change(
                here / "arena.db",
                "UPDATE games SET place = :place, chain = :value WHERE place = :old",
                place=100 + place,
                value=value,
                old=old,
            )
        change(here / "arena.db", "UPDATE games SET place = place - 100")
        engine = open_engine(here / "arena.db")
        with Session(engine) as session:
            forged = session.get_one(ContestRow, 1)
            set_status(forged, forged.status, forged.ended_at, value)
            faults = faults_by_game(session, forged)
            for row in session.scalars(select(GameRow)):  # who has the code computes every digest
                row.checksum = game_checksum(row, faults.get(row.id, []))
            session.commit()
        engine.dispose()
        assert shell("verify").code == 0  # only the head shows it
        outcome = shell("verify", "--head", published)
        assert outcome.line == (
            "arena: not verified: the published head is none of this chain's: "
            "records were changed, or it is another contest's"
        )

    @pytest.mark.parametrize("head", ["", "abc", "g" * 64, "0" * 63, "0" * 65, "00 " * 21 + "0"])
    def test_a_head_that_is_none(self, here: Path, shell: Shell, head: str) -> None:
        outcome = shell("verify", "--head", head)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.line.startswith("arena: --head: expected 64 hexadecimal digits, got '")

    def test_the_start_of_the_chain_is_no_head(self, here: Path, shell: Shell) -> None:
        """It is the value before the first record: every chain begins with it."""
        for target in ([], ["records"]):
            shell("export", "records")
            outcome = shell("verify", *target, "--head", "0" * 64)
            assert outcome.code == 1
            assert outcome.line == (
                "arena: not verified: the published head is none of this chain's: "
                "records were changed, or it is another contest's"
            )

    def test_a_missing_file_is_no_game(self, here: Path, shell: Shell) -> None:
        outcome = shell("verify", "records/g1.record")
        assert (outcome.code, outcome.line) == (1, "arena: records/g1.record: no such file or folder")

    def test_a_head_proves_no_single_game(self, here: Path, shell: Shell) -> None:
        outcome = shell("verify", "g1", "--head", "0" * 64)
        assert outcome.line == (
            "arena: --head: expected a whole contest or a folder of arena export to check it by"
        )


@pytest.mark.slow
class TestExport:
    @pytest.fixture
    def folder(self, here: Path, shell: Shell) -> Path:
        outcome = shell("export", "records")
        assert outcome.out == (f"exported: 6 games of trial to records\nhead: {rows(here)[-1][3].hex()}\n")
        (here / "arena.db").rename(here / "away.db")  # from here on the files have to do
        return here / "records"

    def test_the_chain_file_has_what_anybody_needs(self, here: Path, folder: Path) -> None:
        chain = json.loads((folder / "chain.json").read_text())
        assert (chain["contest"], chain["games"]) == ("trial", 6)
        value = bytes(32)
        for each in chain["order"]:
            record = (folder / f"{each['game']}.record").read_bytes()
            value = sha256(value + sha256(record).digest()).digest()
            assert each["chain"] == value.hex()
        assert chain["head"] == value.hex()

    def test_the_files_alone_are_enough(self, folder: Path, shell: Shell) -> None:
        head = json.loads((folder / "chain.json").read_text())["head"]
        assert shell("verify", "records").out == "verified: 6 games\n"
        assert shell("verify", "records", "--head", head).out == "verified: 6 games, all as published\n"

    def test_a_changed_file(self, folder: Path, shell: Shell) -> None:
        data = bytearray((folder / "g2.record").read_bytes())
        data[50] ^= 1
        (folder / "g2.record").write_bytes(data)
        outcome = shell("verify", "records")
        assert outcome.line.startswith("arena: not verified: game g2: damaged record: ")
        assert outcome.line.endswith(f"byte 50 was 0x{data[50] ^ 1:02x} and is 0x{data[50]:02x}")

    def test_a_missing_file(self, folder: Path, shell: Shell) -> None:
        order = [each["game"] for each in json.loads((folder / "chain.json").read_text())["order"]]
        (folder / f"{order[2]}.record").unlink()
        assert shell("verify", "records").line == (
            f"arena: not verified: 1 game missing after {order[1]}: place 3 of the chain"
        )

    def test_a_file_too_many(self, folder: Path, shell: Shell) -> None:
        shutil.copy(folder / "g1.record", folder / "g7.record")
        assert shell("verify", "records").line == (
            "arena: not verified: records/g7.record: no record of the chain in chain.json"
        )

    @pytest.mark.parametrize(
        "text",
        [
            "[" * 9999,
            "",
            "[]",
            "{}",
            '{"order": [], "head": 7}',
            '{"order": [{"game": "../x", "chain": ""}], "head": ""}',
        ],
    )
    def test_a_chain_file_that_is_none(self, folder: Path, shell: Shell, text: str) -> None:
        (folder / "chain.json").write_text(text)
        assert shell("verify", "records").line.startswith(
            "arena: records/chain.json: not the chain of an export ("
        )

    def test_a_folder_without_a_chain(self, here: Path, shell: Shell) -> None:
        (here / "empty").mkdir()
        assert shell("verify", "empty").line == (
            "arena: empty/chain.json: cannot be read: No such file or directory"
        )


@pytest.mark.real
def test_a_killed_server_goes_on_with_its_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXT.replace("plies = 8", "plies = 60")
    gate = Gate(3)
    with Server(text, tmp_path) as server:
        players = Players(server.port, [(name, gate) for name, _ in BOTS])
        assert server.process.stderr is not None
        for line in server.process.stderr:
            if " info over " in line:
                break
        server.end(signal.SIGKILL)
        gate.open()
        players.join()
    with Server(text, tmp_path, "--until-finished") as server:
        Players(server.port, BOTS).join()
        assert server.end().code == 0
    found = rows(tmp_path)
    assert [place for place, _, _, _ in found] == [1, 2, 3, 4, 5, 6]
    with Results(tmp_path / "arena.db") as results:
        chosen = results.contest()
        assert chosen.head == found[-1][3]
        links = [
            ChainLink(place, name, sha256(record).digest(), value) for place, name, record, value in found
        ]
        assert audit(links, chosen.head) == []


@pytest.mark.slow
class TestRenewHead:
    """`arena verify --renew-head`: what is left of a damaged database is accepted once it is true."""

    def test_it_writes_the_file_from_what_is_there(self, here: Path, shell: Shell) -> None:
        shell("standings")
        head = here / "arena.db-head"
        head.write_bytes(b"junk" * 128)
        assert shell("standings").line == (
            "arena: arena.db-head: damaged; restore it, or accept what is left by arena verify --renew-head"
        )
        assert shell("verify", "--renew-head").out == (
            "verified: 6 games of 1 contests; written: arena.db-head\n"
        )
        assert shell("standings").code == shell("verify").code == 0
        change(here / "arena.db", "DELETE FROM games WHERE place = 6")
        assert shell("standings").line.startswith(
            "arena: arena.db: 1 announced result of contest 1 trial is "
        )

    def test_records_that_are_not_true_are_not_accepted(self, here: Path, shell: Shell) -> None:
        set_record(here, 2, rows(here)[2][2])
        before = (here / "arena.db-head").exists()
        assert shell("verify", "--renew-head").line.startswith("arena: not verified: game g")
        assert (here / "arena.db-head").exists() is before

    def test_a_damaged_journal_leaves_the_file_as_it_is(self, here: Path, shell: Shell) -> None:
        """Its pages are not read for the records; so it is found last."""
        shell("verify", "--renew-head")
        head = here / "arena.db-head"
        before = head.read_bytes()
        with closing(sqlite3.connect(here / "arena.db")) as connection:
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            roots = connection.execute(
                "SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'journal'"
            ).fetchall()
        with (here / "arena.db").open("r+b") as file:
            for (page,) in roots:
                file.seek((page - 1) * size)
                file.write(b"\xff" * size)
        assert " is damaged (" in shell("verify", "--renew-head").line
        assert head.read_bytes() == before

    @pytest.mark.real
    def test_not_beside_a_server(self, tmp_path: Path, shell: Shell) -> None:
        with Server(TEXT, tmp_path) as server:
            Players(server.port, BOTS).join()
            url = f"sqlite:///{server.database}"
            assert shell("verify", "--renew-head", "--database", url).line.startswith(
                f"arena: {server.database}: contest 1 is being played by another server; "
            )

    @pytest.mark.parametrize("choice", ["g1", "--contest=1", f"--head={'0' * 64}"])
    def test_it_is_for_a_whole_database(self, here: Path, shell: Shell, choice: str) -> None:
        outcome = shell("verify", "--renew-head", choice)
        assert (outcome.code, outcome.line) == (
            2,
            "arena: --renew-head: it is for a whole database; leave the other choices out",
        )

    def test_a_folder_that_cannot_be_written(
        self, here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refused(*_: object) -> None:
            raise PermissionError(13, "Permission denied", "arena.db-head")

        monkeypatch.setattr("arena_server.store.head.HeadFile.__init__", refused)
        assert shell("verify", "--renew-head").line == (
            "arena: arena.db-head: cannot be written: Permission denied"
        )

    def test_postgresql_has_no_such_file(self, here: Path, shell: Shell) -> None:
        outcome = shell("verify", "--renew-head", "--database", "postgresql://host/name")
        assert (outcome.code, outcome.line) == (
            2,
            "arena: --renew-head: postgresql://host/name keeps what was announced itself; "
            "there is no such file",
        )
