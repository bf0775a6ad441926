"""`arena admin contest add`: what is refused, and what the server has after its restart."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests.server.programs import contest
from tests.server.records import keep, opening
from tests.server.web.organised import Organised, answer_of

from arena_cli.added import read_added
from arena_cli.admin_contests import EXPECTED, manage
from arena_cli.admin_status import show_contests
from arena_cli.prepare import PlannedStage, Prepared, prepare
from arena_cli.serve_options import ServeOptions, WebOptions
from arena_server.core.contest import Contest
from arena_server.core.events import Command
from arena_server.errors import ArenaError, ConfigError
from arena_server.host.run import ContestRun
from arena_server.places.workers.base import Workers
from arena_server.store.added import keep_added, path_of_added
from arena_server.terms.config import ContestConfig, Entrant
from arena_server.terms.file import load_contest, parse_contest
from arena_server.terms.spec import ContestSpec
from arena_server.web.admin_file import Access, find_access, path_of
from arena_server.web.host_view import contest_row

QUORM = "contest.quorm: unknown key; did you mean 'quorum'?"
ALONE = "its text is sent alone"
BY_COMMAND = "give its file to arena serve"
REMOTE = '[[bot]]\nname = "a"\ntoken_sha256 = "' + 64 * "0" + '"\n'


def text(name: str = "sunday", server: str | None = None, **keys: str) -> str:
    """A file without a table [server], unless it is given."""
    whole = contest(*(() if "bots" in keys else ("a", "b")), seed=None, **keys)
    table = "" if server is None else f"[server]\n{server}"
    return whole.replace('name = "trial"', f'name = "{name}"', 1).replace("[server]\n", table, 1)


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """A server of the contest `trial`, without its ports."""
    keep(tmp_path / "arena.db")
    server = parse_contest(contest("a", "b", server="play = 1"), "c.toml").server
    return Prepared([], tmp_path / "arena.db", server, None, None, None)  # type: ignore[arg-type]  # no port is used


def added(prepared: Prepared, of: str) -> ContestSpec:
    return read_added(prepared, ServeOptions(new=True), of, "s.toml")


def test_a_contest_of_a_text_is_that_of_a_file(prepared: Prepared, tmp_path: Path) -> None:
    spec = added(prepared, text(contest="quorum = 2\nstarts_at = 2030-01-01T00:00:00Z"))
    assert (spec.name, spec.quorum, spec.keep, spec.new) == ("sunday", 2, True, False)
    assert spec.timetable.starts_at is not None
    assert [entrant.name for entrant in spec.entrants] == ["a", "b"]
    assert added(prepared, text(server="play = 1")).name == "sunday"


@pytest.mark.parametrize(
    ("of", "line"),
    [
        ("[contest", "not a TOML file: Expected ']' at the end of a table declaration (at end of document)"),
        (text(contest="quorm = 2"), QUORM),
        (text(server="play = 2"), "server: expected the same table as of the server, or none"),
        (
            text(game='library = "x.txt"'),
            f"game.library: expected game.board in a contest that is added: {ALONE}",
        ),
        (
            text(contest='[[webhook]]\nurl = "https://x.example"\nsecret_file = "x"\n'),
            f"webhook 1: secret_file: expected secret in a contest that is added: {ALONE}",
        ),
        (
            text(bots='[[bot]]\nname = "a"\nperson = true\n[[bot]]\nname = "b"\n'),
            f"bot a: expected no person in a contest that is added: {BY_COMMAND}",
        ),
        (
            text(bots=f'{REMOTE}submit = true\n[[bot]]\nname = "b"\n'),
            f"bot a: expected no submit in a contest that is added: {BY_COMMAND}",
        ),
        (
            text(contest="[submissions]\nlate = 3\n"),
            f"submissions.late: expected none in a contest that is added: {BY_COMMAND}",
        ),
        (
            text(contest="ends_at = 2020-01-01T00:00:00Z"),
            "contest.ends_at: expected a moment to come, got 2020-01-01 00:00:00+0000",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_text_is_one_line(prepared: Prepared, of: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        added(prepared, of)
    assert str(caught.value) == f"s.toml: {line}"


def test_a_server_with_workers_has_one_contest(prepared: Prepared) -> None:
    with pytest.raises(ConfigError, match=r"^s\.toml: expected one contest with --on, got another$"):
        added(replace(prepared, workers=cast(Workers, object())), text())


def test_the_name_of_a_stage_that_is_to_begin_is_taken(prepared: Prepared) -> None:
    planned = [cast(PlannedStage, SimpleNamespace(stage=SimpleNamespace(name="cup-final")))]
    season = replace(prepared, planned=planned)
    with pytest.raises(ConfigError) as refusal:
        added(season, text("cup-final"))
    assert str(refusal.value) == (
        "s.toml: contest.name: expected a name that no stage of the server has, got 'cup-final'"
    )
    assert added(season, text("cup-finals")).name == "cup-finals"


def test_one_that_the_database_has_goes_on_with_an_end_that_is_past(prepared: Prepared) -> None:
    keep(prepared.database, contest=opening("sunday"))
    assert added(prepared, text(contest="ends_at = 2020-01-01T00:00:00Z")).name == "sunday"


class TestRestart:
    """The files that the next server of the same command line has."""

    def served(self, path: Path, *, keep: bool = True, new: bool = False) -> dict[str, tuple[bool, bool]]:
        options = ServeOptions(
            database=f"sqlite:///{path.parent / 'arena.db'}", port=0, new=new, web=WebOptions(web=False)
        )
        found = prepare([path], options, keep=keep)
        found.close()
        assert found.own == {load_contest(path).contest.name}
        assert all(each.config.software for each in found.specs)
        return {spec.name: (spec.new, spec.keep) for spec in found.specs}

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        """The file of `trial`, beside which two contests were added; another was to another server."""
        path = tmp_path / "c.toml"
        path.write_text(contest("a", "b", server="play = 1"))
        keep_added(tmp_path / "arena.db", "sunday", text(), ["trial", "other"])
        keep_added(tmp_path / "arena.db", "monday", text("monday", server="play = 2"), ["trial"])
        keep_added(tmp_path / "arena.db", "theirs", text("theirs"), ["other"])
        return path

    def test_it_has_what_was_added(self, path: Path) -> None:
        """With its own table [server], whatever that was when they were added."""
        assert self.served(path) == dict.fromkeys(("trial", "monday", "sunday"), (False, True))

    def test_a_new_contest_is_that_of_the_command_line_alone(self, path: Path) -> None:
        assert self.served(path, new=True) == {
            "trial": (True, False), "monday": (False, True), "sunday": (False, True),
        }  # fmt: skip

    def test_a_file_of_the_command_line_comes_before_one_that_was_added(self, path: Path) -> None:
        keep_added(path.parent / "arena.db", "trial", "no longer a file", ["trial"])
        path_of_added(path.parent / "arena.db", "trial").write_text(text("trial", contest="quorum = 2"))
        assert list(self.served(path)) == ["trial", "monday", "sunday"]

    def test_a_tournament_plays_its_own(self, path: Path) -> None:
        assert list(self.served(path, keep=False)) == ["trial"]

    def test_an_added_file_that_was_changed_is_refused_as_any_other(self, path: Path) -> None:
        added = path_of_added(path.parent / "arena.db", "sunday")
        added.write_text(added.read_text() + "[odd]\n")
        with pytest.raises(ConfigError, match=r"^.*arena\.db-contests/sunday\.toml: odd: unknown key"):
            self.served(path)


class TestCommand:
    def refused(self, act: str | None, about: str | None, reason: str = "") -> str:
        def find(_: str | None) -> Access:
            raise AssertionError("no server is asked")

        with pytest.raises(ConfigError) as caught:
            manage(act, about, find, {"by": "", "reason": reason}, as_json=False)
        return str(caught.value)

    @pytest.mark.parametrize(
        ("given", "got"),
        [
            ((None, None), "nothing"),
            (("start", None), "start"),
            (("dance", "x"), "dance x"),
            (("add", None), "add"),
        ],
    )
    def test_what_is_expected(self, given: Sequence[str | None], got: str) -> None:
        assert self.refused(given[0], given[1]) == f"arena admin contest: expected {EXPECTED}, got {got!r}"

    def test_a_reason_is_kept_with_orders_alone(self) -> None:
        line = "--reason: expected with an order, with which it is kept"
        assert self.refused("add", "c.toml", reason="why") == line

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        assert self.refused("add", str(tmp_path / "c.toml")) == f"{tmp_path / 'c.toml'}: no such file"

    def test_a_server_of_several_contests_is_one(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"

        def found(name: str | None) -> str:
            return find_access(database, name, None, {}, known=False).address

        for name, port in (("one", 1), ("two", 1)):
            path_of(database, name).write_text(json.dumps({"address": f"h:{port}", "token": "t"}))
        assert [found(name) for name in (None, "one", "three")] == ["h:1"] * 3
        with pytest.raises(ArenaError, match=r"no server plays a contest 'three' here; there are: one, two$"):
            find_access(database, "three", None, {})
        path_of(database, "three").write_text(json.dumps({"address": "h:3", "token": "t"}))
        assert found("three") == "h:3"
        with pytest.raises(ConfigError, match="more than one contest is played here; choose by --contest"):
            found(None)


def test_the_status_of_several_contests_is_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    def run(name: str, contest: object, failure: ArenaError | None = None) -> ContestRun:
        return cast(ContestRun, SimpleNamespace(name=name, contest=contest, failure=failure))

    config = ContestConfig(name="c", seed=1, game="tictactoe")
    bots = [Entrant("ann"), Entrant("bob")]
    waits, over = (Contest(config, bots, lambda n: "0" * 2 * n, 0, quorum=2) for _ in range(2))
    for number, verb in enumerate(("abort", "archive")):
        over.handle(Command(number, verb, "", "jan", 0), 0)
    failed = run("b", None, ArenaError("a.db: damaged"))
    rows = [contest_row(each) for each in (run("a", waits), failed, run("c", None), run("d", over))]
    show_contests(rows, as_json=True)
    assert json.loads(capsys.readouterr().out) == rows
    assert [(row["contest"], row["phase"], row["ended"]) for row in rows] == [
        ("a", "planned", None), ("b", "failed", None), ("c", "opening", None), ("d", "archived", "aborted"),
    ]  # fmt: skip
    show_contests(rows, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "a: open, 0 of 8 games, 0 running, 0 connected; not begun: 0 of 2 bots are there; bots are missing",
        "b: failed: a.db: damaged",
        "c: opening",
        "d: aborted, archived, 0 of 8 games",
    ]


@pytest.mark.real
def test_contests_come_to_a_running_server_and_stay(tmp_path: Path) -> None:
    """Added, served, killed, served again, archived, killed, and shown."""
    for name in ("sunday", "monday"):
        (tmp_path / f"{name}.toml").write_text(text(name))
    (tmp_path / "bad.toml").write_text(text(contest="quorm = 2"))
    config = contest("a", "b")
    with Organised(tmp_path, config=config) as server:
        server.ready()
        add = ("contest", "add", str(tmp_path / "sunday.toml"))
        for _ in range(2):  # the first answer was lost
            said = server.admin(*add)
            assert (said.code, said.out) == (0, "sunday: added: the contest is planned\n")
        said = server.admin("contest", "add", str(tmp_path / "bad.toml"))
        assert (said.code, said.line) == (2, f"arena: {tmp_path}/bad.toml: {QUORM}")
        assert answer_of(server, "HELLO 1 a contest=sunday").startswith("WELCOME")
        assert answer_of(server, "HELLO 1 a contest=x").endswith("there are: trial, sunday")
        server.end(signal.SIGKILL)
    with Organised(tmp_path, config=config) as server:
        server.ready()
        assert answer_of(server, "HELLO 1 a contest=sunday").startswith("WELCOME")
        assert json.loads(server.admin(*add, "--json").out) == {
            "order": "add", "contest": "sunday", "done": True, "phase": "planned", "ended": None,
        }  # fmt: skip
        lines = server.admin("status").out.splitlines()
        assert [line.partition(",")[0] for line in lines] == ["trial: open", "sunday: open"]
        assert server.admin("contest", "archive", "sunday").code == 1
        assert server.admin("abort", "--contest", "sunday").code == 0
        said = server.admin("contest", "archive", "sunday", "--by", "jan", "--reason", "done")
        assert (said.code, said.out) == (0, "sunday: archived: the contest is shown, and served no more\n")
        server.end(signal.SIGKILL)
    with Organised(tmp_path, config=config) as server:
        server.ready()
        shown = json.loads(server.admin("status", "--contest", "sunday", "--json").out)
        assert (shown["phase"], shown["state"]) == ("archived", "aborted")
        assert answer_of(server, "HELLO 1 a contest=sunday") == "BYE reason=aborted"
        assert answer_of(server, "HELLO 1 a").startswith("WELCOME"), "the only one that is served"
        orders = json.loads(server.admin("orders", "--contest", "sunday", "--json").out)
        assert [(each["verb"], each["reason"]) for each in orders] == [("abort", ""), ("archive", "done")]
