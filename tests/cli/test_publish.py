"""`arena publish` and `arena verify --published`: what is shown, and which databases go on from a head."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.server.programs import Shell
from tests.server.records import Kept, change, game, opening

from arena_protocol.record import FaultRecord
from arena_server.errors import StoreError
from arena_server.store.published import MOST_BYTES, PublishedHead
from arena_server.store.reader import Results
from arena_server.web.archive import Archive

FILES = {"head.json", "index.html", "standings.json"}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an SQLite file may be created, in the current folder."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home" / "arena.db"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_published(here: Path, shell: Shell) -> None:
    outcome = shell("publish", "public/cup")
    assert outcome.out == "published: 6 of 6 games of trial to public/cup\n"
    found = contents(Path("public/cup"))
    assert set(found) == FILES
    shown = Archive(here / "arena.db").contest(1)
    head = json.loads(found["head.json"])
    assert json.loads(found["standings.json"]) == shown | {"published": head}
    assert (head["games"], head["head"], head["started_at"]) == (6, shown["head"], shown["started_at"])
    page = found["index.html"].decode()
    assert all(f"<bdi>{name}</bdi></td>" in page for name in ("first", "six", "zero"))
    assert head["head"] in page
    assert not re.search(r"<script|https?://|src=", page)
    again = json.loads(shell("publish", "public/cup", "--json").out)
    assert again["published"] == json.loads(contents(Path("public/cup"))["head.json"])


def test_no_line_of_a_bot_and_no_secret(here: Path, shell: Shell) -> None:
    plain = json.loads(shell("standings", "--json").out)
    assert plain["contest"]["secret"] is not None
    assert plain["first_faults"]
    shell("publish", "public")
    text = b"".join(contents(Path("public")).values()).decode()
    assert "MOVE" not in text
    assert not re.search(rf"\b{plain['contest']['secret']}\b.*secret|secret", text)


@pytest.mark.parametrize("target", ["public", "public/head.json"])
def test_a_database_that_goes_on(here: Path, shell: Shell, target: str) -> None:
    shell("publish", "public")
    assert shell("verify", "--published", target).out == "verified: 6 games, all as published\n"
    file = Path("public/head.json")
    head = json.loads(file.read_text())
    with Results(here / "arena.db") as results:
        before = results.games.head(results.contest(), 4).hex()
    file.write_text(json.dumps(head | {"games": 4, "head": before}))
    assert (
        shell("verify", "--published", target).out == "verified: 6 games, all as published; 2 stored since\n"
    )
    assert json.loads(shell("verify", "--published", target, "--json").out)["verified"] == 6


SET_BACK = (
    "DELETE FROM faults WHERE game_pk IN (SELECT id FROM games WHERE place > 4)",
    "DELETE FROM games WHERE place > 4",
)


@pytest.mark.parametrize(
    ("statements", "line"),
    [
        (SET_BACK, "and the database has 4: it was set back; restore the newest copy"),
        (
            ("UPDATE games SET chain = x'00' WHERE place = 6",),
            "and others stand in their place: records were",
        ),
        (("UPDATE contests SET name = 'other'",), "and the database has no such contest: it is another one"),
        (("UPDATE contests SET id = 7",), "and the database has no such contest: it is another one"),
        (
            ("UPDATE contests SET started_at = '2006-01-01 00:00:00.000000'",),
            "and the database has no such contest: it is another one",
        ),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_database_that_was_set_back(shell: Shell, statements: tuple[str, ...], line: str) -> None:
    shell("publish", "public")
    before = contents(Path("public"))
    change(Path("arena.db"), *statements)
    published = r"arena: 6 games of contest 1 trial were published at \S+, "
    for words in (("verify", "--published", "public"), ("publish", "public")):
        outcome = shell(*words)
        assert outcome.code == 1
        assert re.match(published + re.escape(line), outcome.err)
        assert outcome.err.count("\n") == 1
    assert contents(Path("public")) == before, "an earlier head is never overwritten by a set back one"


def test_a_record_behind_a_true_head_is_checked_too(here: Path, shell: Shell) -> None:
    shell("publish", "public")
    change(Path("arena.db"), "UPDATE games SET record = x'00' WHERE place = 2")
    outcome = shell("verify", "--published", "public")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("arena: not verified: ")


class TestRunningContest:
    def play(self, path: Path, number: int, totals: tuple[int, int], delay_ms: int = 0) -> None:
        header = opening("cup", new=False)
        kept = Kept(path, replace(header, config=replace(header.config, spectator_delay_ms=delay_ms)))
        kept.start()
        faults = (FaultRecord(2, 1, "illegal", b"MOVE 16"),)
        kept.writer.store(f"g{number}", game(number, totals=totals, faults=faults))
        kept.close("stopped")

    def check(self, path: Path, head: PublishedHead) -> int:
        with Results(path) as results:
            return head.check(results)[1]

    def test_a_folder_that_was_restored_and_played_on(self, path: Path, shell: Shell) -> None:
        heads = []
        for number in (1, 2, 3):
            self.play(path, number, (30, 10))
            assert shell("publish", "public").code == 0
            heads.append(PublishedHead.read(Path("public")))
            shutil.copytree(path.parent, path.parent.with_name(f"kept{number}"))
        assert [self.check(path, head) for head in heads] == [2, 1, 0]
        restored = path.parent.with_name("kept1") / "arena.db"
        assert self.check(restored, heads[0]) == 0
        with pytest.raises(StoreError, match=r"2 games of contest 1 cup were .* has 1: it was set back"):
            self.check(restored, heads[1])
        for number in (2, 3):
            self.play(restored, number, (10, 30))
        assert self.check(restored, heads[0]) == 2
        with pytest.raises(StoreError, match="others stand in their place"):
            self.check(restored, heads[1])

    def test_nothing_before_the_spectator_delay(self, path: Path, shell: Shell) -> None:
        self.play(path, 1, (987, 654), delay_ms=3_600_000)
        assert shell("publish", "public").out == "published: 0 of 6 games of cup to public\n"
        found = contents(Path("public"))
        assert json.loads(found["head.json"])["games"] == 0
        assert json.loads(found["head.json"])["head"] == "00" * 32
        assert not re.search(rb"987|654|illegal", b"".join(found.values()))
        assert self.check(path, PublishedHead.read(Path("public"))) == 1

    @pytest.mark.parametrize("name", ["cup", "next"])
    def test_a_folder_belongs_to_one_contest_until_it_is_replaced_on_purpose(
        self, path: Path, shell: Shell, name: str
    ) -> None:
        """The final table of a contest was replaced by that of another one, also of the same name."""
        self.play(path, 1, (30, 10))
        shell("publish", "public")
        before = contents(Path("public"))
        kept = Kept(path, opening(name, new=True))
        kept.start()
        kept.close()
        outcome = shell("publish", "public", "--contest", name)
        assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)
        assert re.fullmatch(
            r"arena: 1 game of contest 1 cup were published at \S+, and this is contest 2 "
            rf"{name}, which began at \S+: publish it to another folder, or replace the other by "
            r"--replace\n",
            outcome.err,
        )
        assert contents(Path("public")) == before
        assert shell("publish", "public", "--contest", "1").code == 0, "the number of its own contest"
        assert self.check(path, PublishedHead.read(Path("public"))) == 0
        replaced = shell("publish", "public", "--contest", name, "--replace")
        assert replaced.out == f"published: 0 of 6 games of {name} to public\n"
        assert PublishedHead.read(Path("public")).contest == 2
        assert shell("publish", "public", "--contest", name).code == 0

    def test_a_contest_of_another_database_is_another_one(self, path: Path, shell: Shell) -> None:
        self.play(path, 1, (30, 10))
        shell("publish", "public")
        file = Path("public/head.json")
        file.write_text(json.dumps(json.loads(file.read_text()) | {"started_at": "2006-01-01T00:00:00Z"}))
        outcome = shell("publish", "public")
        assert (outcome.code, "the database has no such contest" in outcome.err) == (1, True)
        assert shell("publish", "public", "--replace").code == 0

    def test_what_is_replaced_on_purpose_is_another_contest(self, path: Path, shell: Shell) -> None:
        """An order to cron with the option hides no database that was set back."""
        self.play(path, 1, (30, 10))
        shell("publish", "public")
        file = Path("public/head.json")
        file.write_text(json.dumps(json.loads(file.read_text()) | {"games": 2}))
        outcome = shell("publish", "public", "--replace")
        assert (outcome.code, "it was set back" in outcome.err) == (1, True)


def plain_head() -> dict[str, object]:
    now = "2026-11-23T12:00:00Z"
    return {"contest": 1, "name": "a", "started_at": now, "games": 2, "head": "ab" * 32, "written_at": now}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda _: b"{", "JSONDecodeError"),
        (lambda _: b"[1]", "TypeError"),
        (lambda _: b"\xff", "UnicodeDecodeError"),
        (lambda _: b"[" * 4000, "RecursionError|JSONDecodeError"),
        (lambda _: b" " * (MOST_BYTES + 1), f"ValueError: more than {MOST_BYTES} bytes"),
        (lambda plain: json.dumps({**plain, "games": True}).encode(), "whole numbers"),
        (lambda plain: json.dumps({**plain, "games": -1}).encode(), "whole numbers"),
        (lambda plain: json.dumps({**plain, "head": "AB" * 32}).encode(), "head has not its form"),
        (lambda plain: json.dumps({**plain, "name": "a\u001b"}).encode(), "name has not its form"),
        (lambda plain: json.dumps({**plain, "name": 7}).encode(), "TypeError"),
        (lambda plain: json.dumps({"contest": 1} | {"games": plain["games"]}).encode(), "KeyError"),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_file_that_is_no_head(
    shell: Shell, spoil: Callable[[dict[str, object]], bytes], reason: str
) -> None:
    assert str(PublishedHead.of(plain_head())) == (
        "2 games of contest 1 a were published at 2026-11-23T12:00:00Z"
    )
    Path("public").mkdir()
    Path("public/head.json").write_bytes(spoil(plain_head()))
    for words in (("verify", "--published", "public"), ("publish", "public")):
        outcome = shell(*words)
        assert outcome.code == 1
        assert re.match(
            rf"arena: public/head\.json: expected the head\.json of arena publish \(.*({reason})", outcome.err
        )
        assert outcome.err.count("\n") == 1
        assert all(part.isprintable() for part in outcome.err.split("\n"))


@pytest.mark.usefixtures("here")
def test_what_cannot_be_done(shell: Shell) -> None:
    assert (
        shell("verify", "--published", "none").err
        == "arena: none: cannot be read: No such file or directory\n"
    )
    for words in (["g1"], ["--contest", "trial"], ["--head", "ab" * 32]):
        outcome = shell("verify", "--published", "public", *words)
        assert "--published: it names the contest and the head; leave the other choices out" in outcome.err
        assert outcome.code != 0
    assert shell("verify", "--renew-head", "--published", "public").code != 0
    Path("file").write_text("")
    assert re.match("arena: file: cannot be written: .*exists", shell("publish", "file").err)
    Path("public").mkdir()
    held = os.open("public", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert shell("publish", "public").err == (
        "arena: public: another arena publish is writing it; try again later\n"
    )
    os.close(held)
    assert shell("publish", "public").code == 0
    Path("public/standings.json").unlink()
    Path("public/standings.json").mkdir()
    assert re.match("arena: public/standings.json.*: cannot be written: ", shell("publish", "public").err)
