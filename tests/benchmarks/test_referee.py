"""The benchmark of the referee: its figures, its table, its errors."""

from __future__ import annotations

import asyncio

import pytest
from benchmarks.referee import run
from benchmarks.referee.server import Figures, Window

from arena_server.errors import ArenaError


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["referee", "echo"])
def test_a_server_and_its_load_are_measured(kind: str) -> None:
    figures = run._run(kind, games=2, seconds=0.3)
    assert figures.lines > 10
    assert figures.seconds >= 0.3
    assert figures.cpu_us > 0
    if kind == "referee":
        assert figures.p50_us is not None
        assert figures.p99_us is not None
        assert 0 < figures.p50_us <= figures.p99_us
    else:
        assert figures.p50_us is None


@pytest.mark.slow
def test_both_are_measured_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "QUICK_GAMES", (1, 3))
    monkeypatch.setattr(run, "QUICK_SECONDS", 0.3)
    said: list[str] = []
    measured = run.measure(quick=True, say=said.append)
    assert said == ["1 games at once ...", "3 games at once ..."]
    assert [row["games"] for row in measured["rows"]] == [1, 3]
    for row in measured["rows"]:
        assert row["ratio"] == pytest.approx(row["plies_per_second"] / row["echo_lines_per_second"], abs=0.01)
        assert row["share_p50_us"] <= row["share_p99_us"]


def test_the_table_has_a_line_a_row() -> None:
    row = run._row(10, Figures(8000, 2.0, 15.0), Figures(2000, 2.0, 90.0, 50.0, 120.0))
    assert (row["plies_per_second"], row["echo_lines_per_second"], row["ratio"]) == (1000, 4000, 0.25)
    assert row["cpu_ratio"] == 6.0
    table = run.text_table({"cores": 2, "seconds": 2.0, "rows": [row]})
    assert table.splitlines()[2].split() == [
        "10",
        "1,000",
        "4,000",
        "0.250",
        "90.0",
        "15.0",
        "6.00",
        "50.0",
        "120.0",
    ]


def test_a_server_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArenaError, match=r"^the measured server ended with status 1; see above$"):
        run._run("referee", games=0, seconds=0.1)


@pytest.mark.slow
def test_a_load_that_never_comes_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "START_S", 0.0)
    with pytest.raises(ArenaError, match=r"^echo, 1 games: no figures within 0 s$"):
        run._run("echo", games=1, seconds=0.01)


def test_only_what_is_in_the_window_counts() -> None:
    async def measure() -> Figures:
        window = Window()
        window.count()
        window.span(5)

        def ready() -> bool:
            asyncio.get_running_loop().call_soon(lambda: [window.span(1000 * n) for n in range(1, 101)])
            return True

        figures = await window.measure(ready, 0.01)
        window.span(7)
        return figures

    figures = asyncio.run(measure())
    assert (figures.lines, figures.p50_us, figures.p99_us) == (100, 51.0, 100.0)
