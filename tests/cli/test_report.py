"""`arena report`: one file with all pages and documents of a contest, within its bound, without a network."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.server.programs import Shell
from tests.server.records import Kept, game, opening

from arena_protocol.record_codec import decode
from arena_server.store.reader import Results
from arena_server.web.archive import Archive
from arena_server.web.scenes import record_scenes

from .reports import unpacked


def test_the_documents_are_those_of_the_api(here: Path, shell: Shell) -> None:
    outcome = shell("report", "trial.html")
    assert re.fullmatch(r"written: 6 games of trial to trial.html, 0\.\d MB\n", outcome.out)
    held = unpacked(Path("trial.html"))
    archive = Archive(here / "arena.db")
    records = {f"contests/1/records/g{number}.record" for number in range(1, 7)}
    assert set(held) - records == {
        "site.json",
        *(f"contests/1{each}.json" for each in ("", "/games-0", "/ratings", "/faults", "/chain-0")),
        "contests/1/highlights.json",
        *(f"contests/1/{each}.json" for place in range(3) for each in (f"bots/{place}", f"history-{place}")),
    }
    assert json.loads(held["contests/1/bots/0.json"])["records"] == 4
    assert json.loads(held["contests/1.json"]) == archive.contest(1)
    assert json.loads(held["contests/1/faults.json"]) == archive.faults(1)
    assert held["contests/1/chain-0.json"] == archive.chain(1, 0)
    for path in records:
        assert held[path] == archive.record(1, path.rpartition("/")[2].removesuffix(".record"))


def test_nothing_is_asked_of_another_address(here: Path, shell: Shell) -> None:
    shell("report", "trial.html")
    text = Path("trial.html").read_text()
    assert set(re.findall(r"https?://[^\s\"'`<]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert re.search(r"content=\"default-src 'none'; script-src 'sha256-[^;]+; style-src 'sha256-", text)


@pytest.mark.real
@pytest.mark.soak
def test_scenes_of_a_game_whose_rules_the_page_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    monkeypatch.chdir(tmp_path)
    head = '[contest]\nname = "cup"\ngame = "tictactoe"\ngames_per_pair = 2\n'
    bots = "".join(f'[[bot]]\nname = "{name}"\nengine = "random"\n' for name in ("ann", "bob"))
    Path("cup.toml").write_text(head + bots)
    assert shell("tournament", "cup.toml", "--no-web").code == 0
    shell("report", "cup.html")
    held = unpacked(Path("cup.html"))
    for name in ("g1", "g2"):
        record = decode(held[f"contests/1/records/{name}.record"])
        assert json.loads(held[f"contests/1/records/{name}.json"]) == {"scenes": record_scenes(record)}


@pytest.mark.parametrize("command", ["report", "site"])
def test_nothing_that_was_stored_after_the_table_was_frozen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell, command: str
) -> None:
    kept = Kept(tmp_path / "arena.db", opening())
    kept.start()
    kept.writer.store("g1", game(1, ("a", "b"), (30, 10)))
    kept.writer.store("g2", game(2, ("c", "a"), (20, 20)))
    kept.close("stopped")
    monkeypatch.chdir(tmp_path)
    with Results(tmp_path / "arena.db") as results:
        first = results.games.stored_last(results.contest(), 1)
    monkeypatch.setattr(Archive, "until", lambda *_: first)
    out = shell(command, "out").out
    assert out.startswith("written: 1 games of trial to out")
    assert "withheld" not in out
    path = Path("out")
    names = [str(each) for each in path.rglob("*")] if path.is_dir() else list(unpacked(path))
    assert not [name for name in names if "g2" in name or "chain" in name]


class TestBound:
    def test_the_newest_games_come_first(self, here: Path, shell: Shell) -> None:
        shell("report", "all.html")
        held = unpacked(Path("all.html"))
        ids = [row[0] for row in json.loads(held["contests/1/games-0.json"])]
        files = re.findall(r'data-path="([^"]+)">([^<]*)<', Path("all.html").read_text())
        sizes = {path: len(path) + len(text) for path, text in files if path != "site.json"}
        tables = sum(size for path, size in sizes.items() if "records" not in path)
        newest = [sizes[f"contests/1/records/{name}.record"] for name in ids[-2:]]
        bound = str((tables + sum(newest) + 0.5) / 1e6)
        outcome = shell("report", "some.html", "--megabytes", bound)
        assert re.fullmatch(
            r"written: 2 games of trial to some.html, 0\.\d MB; 4 older games are listed without a replay"
            r" \(--megabytes\)\n",
            outcome.out,
        )
        some = unpacked(Path("some.html"))
        assert json.loads(some["site.json"])["left_out"] == ids[:-2]
        assert {path for path in some if "records" in path} == {
            f"contests/1/records/{name}.record" for name in ids[-2:]
        }
        answer = json.loads(shell("report", "some.html", "--megabytes", bound, "--json").out)
        assert answer == {
            "contest": "trial",
            "file": "some.html",
            "bytes": Path("some.html").stat().st_size,
            "games": 2,
            "left_out": 4,
            "withheld": [],
        }

    def test_tables_that_are_too_large_alone(self, here: Path, shell: Shell) -> None:
        outcome = shell("report", "trial.html", "--megabytes", "0.001")
        assert (outcome.code, outcome.line) == (
            1,
            "arena: the tables of trial alone are more than 0.001 MB: raise --megabytes, or let `arena site`"
            " write a folder, which has no bound",
        )
        assert not Path("trial.html").exists()


def test_a_file_that_cannot_be_written(here: Path, shell: Shell) -> None:
    outcome = shell("report", "nowhere/trial.html")
    assert (outcome.code, outcome.line) == (
        1,
        "arena: nowhere/trial.html: cannot be written: No such file or directory",
    )


def test_a_full_disk_leaves_the_report_of_before(
    here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Path("trial.html").write_text("before")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        outcome = shell("report", "trial.html")
    line = "arena: trial.html: cannot be written: No space left on device"
    assert (outcome.code, outcome.line) == (1, line)
    assert Path("trial.html").read_text() == "before"
    os.mkfifo("pipe")
    with ThreadPoolExecutor() as pool:
        read = pool.submit(Path("pipe").read_bytes)
        assert shell("report", "pipe").code == 0
        assert read.result().endswith(b"</html>\n")


def test_a_damaged_record(here: Path, shell: Shell) -> None:
    with closing(sqlite3.connect("arena.db")) as database:
        database.execute("UPDATE games SET record = substr(record, 1, 50) WHERE game_id = 'g2'")
        database.commit()
    outcome = shell("report", "trial.html")
    assert outcome.code == 1
    assert outcome.line.startswith("arena: game g2: ")
    assert outcome.line.endswith("`arena verify` has the details")
