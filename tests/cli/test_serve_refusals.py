"""What `arena serve` refuses, in one line with nothing started; what is there when it listens."""

from __future__ import annotations

import socket
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import typer
from tests.server.programs import contest, inside
from tests.server.records import PATIENCE_S, Kept, keep, opening

from arena_cli import serve
from arena_cli.prepare import Prepared, prepare
from arena_cli.serve_options import ServeOptions, WebOptions
from arena_server.errors import ConfigError, StoreError
from arena_server.store.database import ContestHeader
from arena_server.store.ownership import BeginLock
from arena_server.terms import config as config_module
from arena_server.terms.file import config_of, load_contest


def test_a_wrong_configuration(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b", contest="probatoin = 1"))
    outcome = inside("serve", "c.toml", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.line == "arena: c.toml: contest.probatoin: unknown key; did you mean 'probation'?"
    assert not (tmp_path / "arena.db").exists()


def test_fewer_connections_than_places_that_are_kept(tmp_path: Path) -> None:
    text = contest("a", "b", server="max_connections = 17")
    (tmp_path / "c.toml").write_text(text)
    outcome = inside("serve", "c.toml", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.line == (
        "arena: c.toml: server.max_connections: expected at least 18, one for each of 2 slots of bots "
        "and 16 for clients that log in or watch, got 17"
    )
    assert not (tmp_path / "arena.db").exists()


def test_two_servers_of_one_folder_that_start_at_once(tmp_path: Path) -> None:
    """The second one waits until the first has begun, and is refused then: none of it is divided."""
    names = "first", "second"
    for name in names:
        text = contest("a", "b", seed=None).replace('name = "trial"', f'name = "{name}"', 1)
        (tmp_path / f"{name}.toml").write_text(text)
    database = tmp_path / "arena.db"
    options = ServeOptions(database=f"sqlite:///{database}", port=0, web=WebOptions(web=False))
    files = [tmp_path / f"{name}.toml" for name in names]
    prepared = prepare(files, options)
    with ThreadPoolExecutor() as pool:
        other = pool.submit(prepare, files, options)
        begun = [
            Kept(database, ContestHeader(spec.config, {}, ["a", "b"], games=1)) for spec in prepared.specs
        ]
        for each in begun:
            entered = threading.Event()
            each.find()
            each.writer.enter(each.opening.config, entered.set)
            assert entered.wait(PATIENCE_S)
        prepared.close()
        with pytest.raises(StoreError) as refused:
            other.result()
    for each in begun:
        each.close()
    line = "contest 1 is being played by another server; stop that one, or begin a new contest by --new"
    assert str(refused.value) == f"{database}: {line}"
    BeginLock(database, wait_s=0).release()  # what was refused gave it up


def test_a_key_that_decides_nothing_is_refused_in_a_new_contest_alone(tmp_path: Path) -> None:
    """A contest goes on, and is shown, with an end that is past; another one does not begin."""
    path, database = tmp_path / "c.toml", tmp_path / "arena.db"
    path.write_text(contest("a", "b", contest="ends_at = 2026-01-01T00:00:00Z", seed=None))
    line = f"{path}: contest.ends_at: expected a moment to come, got 2026-01-01 00:00:00+0000"

    def served(*, new: bool = False) -> frozenset[str]:
        web = WebOptions(web=False)
        prepared = prepare([path], ServeOptions(database=f"sqlite:///{database}", port=0, new=new, web=web))
        prepared.close()
        return prepared.over

    for tried in ("serve", "tournament", "simulate", "rehearse"):
        outcome = inside(tried, path, cwd=tmp_path)
        assert (outcome.code, outcome.out, outcome.line) == (2, "", f"arena: {line}")
    assert not database.exists()
    keep(database, contest=opening("other"))
    with pytest.raises(ConfigError) as caught:
        served()
    assert str(caught.value) == line
    file = load_contest(path)
    names = [bot.name for bot in file.bot]
    header = ContestHeader(config_of(file), {}, names, games=1, new=True)
    begun = Kept(database, header)
    begun.start()
    begun.close()  # and left as it is
    assert served() == frozenset()
    keep(database, status="finished", contest=header)
    assert served() == {file.contest.name}
    with pytest.raises(ConfigError) as caught:
        served(new=True)
    assert str(caught.value) == line


def test_a_format_whose_library_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_module, "find_spec", lambda _: None)
    (tmp_path / "c.toml").write_text(contest("a", "b", contest='format = "swiss"'))
    outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.line.startswith('arena: contest.format = "swiss" needs the extra [swiss]: run ')
    assert not (tmp_path / "arena.db").exists()


def test_a_port_in_use(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        outcome = inside("serve", "c.toml", "--port", str(port), cwd=tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.line == (
        f"arena: cannot listen on 127.0.0.1:{port}: the port is in use; "
        "choose another by --port (0 picks one)"
    )


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid"])
def test_an_address_of_another_machine(tmp_path: Path, host: str) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b", seed=None))
    outcome = inside("serve", "c.toml", "--host", host, "--port", "0", cwd=tmp_path)
    assert outcome.code == 1
    assert outcome.line.startswith(f"arena: cannot listen on {host}:0: ")


@pytest.mark.parametrize("options", [["--host", "0.0.0.0"], []])
def test_a_seed_where_bots_come_from_elsewhere(tmp_path: Path, options: list[str]) -> None:
    guest = '[[bot]]\nname = "a"\n[[bot]]\nname = "guest"\n'
    if not options:
        guest += f'token_sha256 = "{"0" * 64}"\n'
    (tmp_path / "c.toml").write_text(contest(bots=guest))
    outcome = inside("serve", "c.toml", "--port", "0", *options, cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.line.startswith("arena: contest.seed: expected no seed where bots connect by themselves (")


def test_a_wrong_duration(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b"))
    outcome = inside("serve", "c.toml", "--absent", "soon", cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.line == (
        "arena: --absent: expected a duration such as '500ms', '20s', '2m' or '1h', got 'soon'"
    )


def test_a_database_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b"))
    (tmp_path / "arena.db").write_bytes(b"not a database, just text" * 100)
    outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert "arena.db: the database is damaged (file is not a database); restore it" in outcome.line


def test_a_database_locked_by_another_program(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b"))
    with closing(sqlite3.connect(tmp_path / "arena.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.line == (
        "arena: arena.db: the database is locked by another program; stop it or choose another --database"
    )


def test_a_database_url_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b"))
    outcome = inside("serve", "c.toml", "--database", "mysql://x", cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.line == (
        "arena: --database: expected a URL such as sqlite:///arena.db or postgresql://host/name, "
        "got 'mysql://x'"
    )


def test_admin_finds_its_file_as_soon_as_the_server_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b"))
    found: list[object] = []

    def no_host(prepared: Prepared, *_: object) -> None:
        assert prepared.web.organiser is not None
        for port in (prepared.sock, prepared.web.organiser):
            port.close()

    def echo(line: str) -> None:
        found.append((line.split()[0], [path.name for path in tmp_path.glob("*.admin")]))

    monkeypatch.setattr(serve, "_serve_to_the_end", no_host)
    monkeypatch.setattr(typer, "echo", echo)
    assert inside("serve", "c.toml", "--port", "0", "--no-web", "--admin-port", "0", cwd=tmp_path).code == 0
    assert found == [("listening", ["arena.db-trial.admin"])]
    assert not list(tmp_path.glob("*.admin"))
