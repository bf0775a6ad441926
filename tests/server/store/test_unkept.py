"""A writer that keeps nothing promises what `Writer` promises, and opens no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_server.store.unkept import UnkeptWriter
from arena_server.terms.config import ContestConfig

from ..records import game


def test_all_that_it_is_given_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[object] = []
    writer = UnkeptWriter(told.append, lambda batches, games: told.append((batches, games)))
    writer.start()
    writer.enter(ContestConfig(name="gone", seed=1))
    assert writer.append([(0, "drawn")])
    writer.store("g1", game(1))
    assert writer.append([])
    writer.store("g2", game(2))
    writer.end("finished", lambda: told.append("ended"))
    writer.close()
    assert told == [None, (1, ["g1"]), (2, ["g2"]), "ended"]
    assert not list(tmp_path.iterdir())
