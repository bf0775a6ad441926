"""The benchmark of the referee: its figures, its table, its errors."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from benchmarks.referee import load, run
from benchmarks.referee.load import Figures, Load, cpu_seconds

from arena_server.errors import ArenaError


@pytest.mark.real
@pytest.mark.soak
def test_referee_and_echo_are_measured_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "QUICK_SECONDS", 0.3)
    monkeypatch.setattr(run, "WARM_UP_S", 0.1)
    reported: list[str] = []
    measured = run.compare((1, 3), quick=True, report=reported.append)
    assert reported == ["1 games at once ...", "3 games at once ..."]
    assert [row["games"] for row in measured["rows"]] == [1, 3]
    for row in measured["rows"]:
        assert row["plies_per_second"] > 0
        assert row["referee_cpu_us"] > row["echo_cpu_us"] > 0
        assert row["ratio"] == pytest.approx(row["plies_per_second"] / row["echo_lines_per_second"], abs=0.01)


def test_a_row_compares_referee_and_echo() -> None:
    row = run._row(10, Figures(8000, 2.0, 15.0), Figures(2000, 2.0, 90.0))
    assert (row["plies_per_second"], row["echo_lines_per_second"], row["ratio"]) == (1000, 4000, 0.25)
    assert row["cpu_ratio"] == 6.0
    table = run.text_table({"cores": 2, "seconds": 2.0, "rows": [row]})
    assert table.splitlines()[2].split() == ["10", "1,000", "4,000", "0.250", "90.0", "15.0", "6.00"]


@pytest.mark.real
@pytest.mark.soak
def test_a_server_that_does_not_start() -> None:
    with (
        pytest.raises(ArenaError, match=r"^the measured server did not start; see above$"),
        run._process([sys.executable, "-c", "pass"], "."),
    ):
        pass


@pytest.mark.real
@pytest.mark.soak
def test_a_server_that_closes_the_connections_ends_the_run() -> None:
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{code}; s.accept()[0].recv(64)"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        bots = Load(("127.0.0.1", int(server.stdout.readline())), 1, echo=False)
        with pytest.raises(RuntimeError, match=r"^the server closed a connection$"):
            bots.run(60)
        bots.close()


def test_a_server_that_answers_nothing_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "START_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        bots = Load(silent.getsockname(), 1, echo=False)
        with pytest.raises(RuntimeError, match=r"^the server answered nothing within 0 s$"):
            load.measure(os.getpid(), bots, 1.0, 0.0)
        bots.close()


def test_cpu_time_of_a_process_grows() -> None:
    before = cpu_seconds(os.getpid())
    sum(range(3_000_000))
    assert cpu_seconds(os.getpid()) > before
