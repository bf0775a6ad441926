"""What `arena analyse` and `arena bench search` print."""

from __future__ import annotations

import json
from pathlib import Path

from arena_server.cli import analyse, bench_search


def test_analyse_prints_a_table_or_json(tmp_path: Path) -> None:
    path = tmp_path / "positions.txt"
    path.write_text("53351/34233/13552/44215/44526 6163\n")
    answer = json.loads(analyse.run("insertion", "champion", 2, path, as_json=True))
    assert answer["positions"][0]["move"] == 4
    assert "nodes in" in analyse.run("insertion", "champion", 2, path, as_json=False)


def test_bench_search_prints_a_table_or_json() -> None:
    bench = json.loads(bench_search.run("champion", 1, as_json=True))
    assert bench_search.run("champion", 1).endswith(f"Nodes: {bench['signature']}")
