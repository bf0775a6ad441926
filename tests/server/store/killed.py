"""The files of a server that was killed, and what the commands read of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena_protocol.record import FaultRecord
from arena_server.store.contest_store import ContestStore
from arena_server.store.preflight import check_contest, check_writable
from arena_server.store.reader import Results

from ..records import Kept, game, opening

FILES = ("arena.db", "arena.db-wal", "arena.db-head")
GAMES = 12


def entries(number: int) -> list[tuple[object, ...]]:
    return [(number, "offer", ("a", "b"), 1, ()), *((number, "ply", ply, "6") for ply in range(4))]


class Halfway(Kept):
    """Counts the results, on the writer's thread."""

    results = 0

    def _committed(self, batches: int, game_ids: list[str]) -> None:
        self.results += len(game_ids)
        super()._committed(batches, game_ids)


def killed_files() -> Any:
    """The fixture of these files, for a module of tests."""

    @pytest.fixture(scope="module")
    def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
        """The files that a server leaves when it is killed: a part of the contest is in the WAL alone."""
        folder = tmp_path_factory.mktemp("killed")
        kept = Halfway(folder / "arena.db")
        kept.start()
        maintain = ContestStore.maintain

        def maintain_halfway(store: ContestStore, *, idle: bool = False) -> None:
            if kept.results == GAMES // 2:  # no result is checkpointed later
                maintain(store, idle=idle)

        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr("arena_server.store.contest_store.CHECKPOINT_ROWS", 1)
            monkeypatch.setattr(ContestStore, "maintain", maintain_halfway)
            for number in range(1, GAMES + 1):
                kept.append(*entries(number))
                kept.wait_for(number)
                faults = (FaultRecord(2, 1, "illegal", b"MOVE 0\xff"),) if number % 3 == 0 else ()
                kept.writer.store(f"g{number}", game(number, totals=(30 + number, 10), faults=faults))
                assert kept.next() == [f"g{number}"]
        kept.append(*entries(GAMES + 1))
        kept.wait_for(GAMES + 1)
        left = tmp_path_factory.mktemp("left")
        for name in FILES:
            shutil.copy(folder / name, left / name)
        kept.close("stopped")
        return left

    return killed


def standings(database: Path) -> object:
    with Results(database) as results:
        contest = results.contest()
        return contest.name, contest.status, contest.games, contest.scoring, results.sums.standings(contest)


def export(database: Path) -> object:
    with Results(database) as results:
        return [sorted(row.items()) for row in results.games.rows(results.contest())]


def serve(database: Path) -> object:
    header = opening(new=False)
    check_writable(database)
    check_contest(database, header.config, header.names, new=False, seeded=True)
    with ContestStore(database) as store:
        return store.find(header)


COMMANDS: list[Callable[[Path], object]] = [standings, export, serve]
