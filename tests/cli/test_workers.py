"""`--on` and the options beside it: what they mean, and what is refused."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from tests.ports import quiet_port
from tests.server.programs import contest, inside

from arena_cli.workers import AUDIT, WorkerOptions
from arena_server.places.workers.trusted import TrustedWorkers


@pytest.mark.parametrize("where", ["local:0", "local:257", "here", "dask://host", "tls:host:8786"])
def test_a_place_that_does_not_exist(where: str) -> None:
    outcome = inside("match", "greedy", "random", "--on", where)
    expected = "local:N with N from 1 to 256, dask://HOST:PORT or tls://HOST:PORT"
    assert (outcome.code, outcome.line) == (2, f"arena: --on: expected {expected}, got {where!r}")


def test_a_share_of_games_is_between_0_and_1() -> None:
    outcome = inside("match", "greedy", "random", "--on", "local:1", "--audit", "5")
    assert (outcome.code, outcome.line) == (2, "arena: --audit: expected a share from 0 to 1, got 5")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("dask://h:1", "--share", "0"), "--share: expected more than 0 and at most 1, got 0"),
        (("dask://h:1", "--share", "2"), "--share: expected more than 0 and at most 1, got 2"),
        (
            ("local:2", "--share", "0.5"),
            "--share: expected with --on dask:// or tls://, whose workers several may use",
        ),
        (("local:2", "--lease", "999ms"), "--lease: expected a duration of at least 1s, got '999ms'"),
        (
            ("local:2", "--trust", "w1"),
            "--trust: expected with --on dask:// or tls://, whose workers have names",
        ),
        (
            ("dask://h:1", "--trust", "w1,w 1"),
            "--trust: expected names of workers with commas between, got 'w 1'",
        ),
    ],
)
def test_shares_of_threads_and_names_are_of_a_cluster(options: tuple[str, ...], problem: str) -> None:
    outcome = inside("match", "greedy", "random", "--on", *options)
    assert (outcome.code, outcome.line) == (2, f"arena: {problem}")


def test_where_games_are_played_twice() -> None:
    for on, share, expected in (
        ("local:2", None, None),
        ("local:2", 0.5, 0.5),
        ("dask://127.0.0.1:1", None, AUDIT),
        ("tls://127.0.0.1:1", None, AUDIT),
        ("dask://127.0.0.1:1", 0.0, None),
    ):
        workers = WorkerOptions(on=on, audit=share).workers([])
        assert workers is not None
        assert (None if workers.audit is None else workers.audit.share) == expected
    trusting = WorkerOptions(on="dask://127.0.0.1:1", trust="w1, w2").workers([])
    assert trusting is not None
    assert trusting.audit is not None
    assert trusting.trusted == trusting.audit.trusted == {"w1", "w2"}
    assert isinstance(trusting.audit.pool, TrustedWorkers)


def test_how_many_games_are_played_is_said_once() -> None:
    outcome = inside("match", "greedy", "random", "--on", "local:2", "--concurrency", "2")
    assert outcome.line == "arena: --concurrency: expected without --on, which says how many games are played"


def test_a_league_is_played_by_a_tournament() -> None:
    outcome = inside("match", "greedy", "random", "dummy", "--on", "local:2")
    assert (outcome.code, outcome.line) == (
        2,
        "arena: match: expected 2 players for 2 seats with --on, got 3; "
        "arena tournament plays a round-robin of more with --on",
    )


def test_every_bot_needs_a_program(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(contest("ann", "bob", seed=None))
    outcome = inside("serve", file, "--on", "local:1", "--database", f"sqlite:///{tmp_path}/arena.db")
    assert outcome.line == (
        f"arena: {file}: bot ann: expected engine, command, image, build or submit, "
        "because with --on every bot is started by a worker"
    )
    assert (outcome.code, (tmp_path / "arena.db").exists()) == (2, False)


def test_the_server_of_a_tournament_gets_every_option() -> None:
    first = {"--on": "dask://127.0.0.1:1", "--lease": "7s", "--audit": "0.5"}
    values = {**first, "--share": "0.25", "--trust": "w1,w2"}
    options = WorkerOptions(on=values["--on"], lease="7s", audit=0.5, share=0.25, trust="w1,w2")
    assert options.arguments() == values
    assert {f"--{each.name}" for each in fields(WorkerOptions)} == values.keys()
    assert set(WorkerOptions().arguments().values()) == {None}


def test_bots_that_come_late_have_no_workers(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(contest("ann", "bob") + "[submissions]\nlate = 2\n")
    outcome = inside("serve", file, "--on", "local:1", "--database", f"sqlite:///{tmp_path}/arena.db")
    assert outcome.line == (
        f"arena: {file}: submissions.late: expected none with --on, whose workers play the bots of the file"
    )


def test_validation_games_need_bots_that_log_in(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(contest("ann", "bob", contest="validation = true"))
    outcome = inside("serve", file, "--on", "local:1", "--database", f"sqlite:///{tmp_path}/arena.db")
    assert outcome.line == (
        f"arena: {file}: contest: expected neither validation nor probation_for with --on, "
        "because validation games need bots that log in"
    )


def test_workers_play_one_contest(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(contest("ann", "bob").replace("trial", name))
    outcome = inside("serve", tmp_path, "--on", "local:1")
    assert outcome.line == "arena: --on: expected one contest, got 2"


@pytest.mark.real
@pytest.mark.soak
def test_without_a_scheduler_there_is_one_line() -> None:
    pytest.importorskip("distributed", reason="the extra [cluster] is not installed")
    address = f"127.0.0.1:{quiet_port()}"
    outcome = inside("match", "greedy", "dummy", "--on", f"dask://{address}")
    assert outcome.code == 1
    assert outcome.line.startswith(f"arena: --on dask://{address}: no Dask scheduler answers there")


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_cli.workers.find_spec", lambda _: None)
    outcome = inside("match", "greedy", "dummy", "--on", "dask://127.0.0.1:8786")
    assert outcome.code == 2
    assert outcome.line.startswith("arena: --on dask:// needs the extra [cluster]: ")
