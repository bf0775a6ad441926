"""The benchmark of attacks: a whole run, its figures, its errors."""

from __future__ import annotations

import os
from array import array
from pathlib import Path

import pytest
from benchmarks.referee import hostile
from benchmarks.referee.hostile import ATTACKS, Phase

from arena_server.errors import ArenaError

MS = 1_000_000


@pytest.mark.real
@pytest.mark.soak
def test_all_attacks_are_measured_and_the_server_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "QUICK_SECONDS", 0.3)
    monkeypatch.setattr(hostile, "SETTLING_S", 0.1)
    monkeypatch.setattr(hostile, "QUICK_IDLE", 50)
    monkeypatch.setattr(hostile, "HONEST", 4)
    lines: list[str] = []
    measured = hostile.measure(quick=True, say=lines.append)
    assert measured["alive"]
    assert [row["phase"] for row in measured["rows"]] == ["quiet", *ATTACKS, "all at once", "elsewhere"]
    assert {row["faults"] for row in measured["rows"]} == {0}
    assert measured["rows"][0]["p99_ratio"] == 1.0
    assert measured["idle"]["connections"] == 50
    assert lines == [
        "quiet ...",
        *(f"{name} ..." for name in (*ATTACKS, "all at once", "elsewhere")),
        "idle connections ...",
    ]


def test_a_phase_summarises_its_round_trips() -> None:
    spans = array("q", [*range(MS, 100 * MS, MS), 900 * MS])
    assert Phase.of("quiet", spans, 2.0, 1) == Phase("quiet", 50.0, 51_000.0, 900_000.0, 1)


def test_a_phase_without_a_move_is_an_error() -> None:
    with pytest.raises(ArenaError, match=r"^flood: no honest bot made a move within 2 s$"):
        Phase.of("flood", array("q"), 2.0, 0)


def test_the_memory_is_only_known_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hostile._resident_kib(os.getpid()) > 1000
    monkeypatch.setattr(hostile, "Path", lambda name: Path("nowhere"))
    with pytest.raises(ArenaError, match=r"^the memory of a process is only known on Linux$"):
        hostile._resident_kib(1)


@pytest.mark.real
def test_a_server_that_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hostile, "CONFIG", "[contest]\nname = 'no such key'\nlogin = '{login}'\n")
    with (
        pytest.raises(ArenaError, match=r"^the attacked server did not start; see above$"),
        hostile._server("1s"),
    ):
        pass
    assert capfd.readouterr().err.startswith("arena: ")


def test_the_table() -> None:
    row = {
        "phase": "flood", "turns_per_second": 1900, "turns_ratio": 0.95, "p50_us": 300, "p50_ratio": 1.1,
        "p99_us": 900, "p99_ratio": 1.8, "faults": 0,
    }  # fmt: skip
    idle = {
        "connections": 10_000,
        "rss_before_kib": 40_000,
        "rss_after_kib": 71_680,
        "kib_per_thousand": 3072,
    }
    measured = {"cores": 2, "seconds": 2.0, "alive": True, "rows": [row], "idle": idle}
    lines = hostile.text_table(measured).splitlines()
    assert lines[2].split() == ["flood", "1,900", "0.950", "300", "1.10", "900", "1.80", "0"]
    assert lines[3] == "10,000 idle connections: 70.0 MiB resident, 3.00 MiB per thousand"
