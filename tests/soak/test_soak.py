"""The soak run, for minutes; `python -m tests.soak` plays it for as long as wanted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .everything import run as run_everything
from .run import run
from .submissions import run as run_submissions
from .upgrades import run as run_upgrades
from .workers import run as run_workers

#: Kilobytes that a server may grow from the first third of its lives to the last.
GROWTH_KB = 30_000


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_everything_is_killed_and_nothing_is_lost(tmp_path: Path, soak_seed: int) -> None:
    report = run(tmp_path, float(os.environ.get("SOAK_MINUTES", "3")), bots=50, seed=soak_seed)
    print(report)
    assert report.games > 0
    assert report.announced > report.games
    assert report.kills.keys() == {"bot", "server", "postgresql"}
    assert report.third(True) - report.third(False) < GROWTH_KB


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_workers_are_killed_and_every_game_counts_once(tmp_path: Path, soak_seed: int) -> None:
    pytest.importorskip("distributed")
    report = run_workers(tmp_path, float(os.environ.get("SOAK_MINUTES", "3")) / 3, seed=soak_seed)
    print(report)
    assert report.kills.total() > 0
    assert report.void == 0
    assert report.games > 0


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("runners", [False, True])
def test_no_admission_is_lost(runners: bool, tmp_path: Path, soak_seed: int) -> None:
    if runners:
        pytest.importorskip("distributed")
    minutes = float(os.environ.get("SOAK_MINUTES", "3")) / 3
    report = run_submissions(tmp_path, minutes, soak_seed, runners=runners)
    print(report)
    assert report.kills.total() > 0
    assert report.admitted > 0
    assert not report.faults


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_restart_by_a_signal_costs_no_game(tmp_path: Path, soak_seed: int) -> None:
    restarts = int(3 * float(os.environ.get("SOAK_MINUTES", "3")))
    report = run_upgrades(tmp_path, restarts, bots=20, seed=soak_seed)
    print(report)
    assert (report.void, report.faults, report.unannounced) == (0, 0, 0)
    assert report.resumed > 0
    assert report.games > restarts


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_everything_is_killed_at_once(tmp_path: Path, soak_seed: int) -> None:
    pytest.importorskip("distributed")
    reports = run_everything(tmp_path, float(os.environ.get("SOAK_MINUTES", "3")), soak_seed)
    for report in reports:
        print(report)
        assert report.kills.total() > 0
        assert report.told.total() > 0
    hosts = reports[0]
    assert hosts.drawn > 0
    assert all(hosts.told[who] for who in ("bots", "organiser", "visitors", "page", "site"))
