"""The hash chain of a database: every record in the order of storing, also over a restart."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from arena_protocol.record_codec import encode
from arena_server.store.chain import GENESIS, extend
from arena_server.store.reader import Results

from ..records import Kept, game, keep, opening


def chained(folder: Path) -> list[tuple[int, str, bytes, bytes]]:
    """Place, game, record, value of every game in the order of storing."""
    with closing(sqlite3.connect(folder / "arena.db")) as database:
        return database.execute("SELECT place, game_id, record, chain FROM games ORDER BY id").fetchall()


class TestChain:
    def test_every_record_is_chained_in_the_order_of_storing(self, tmp_path: Path) -> None:
        keep(tmp_path / "arena.db", 3, 1, 2)
        value = bytes(32)
        for place, (found, game_id, record, chain) in enumerate(chained(tmp_path), start=1):
            number = (3, 1, 2)[place - 1]
            assert (found, game_id, record) == (place, f"g{number}", encode(game(number)))
            value = sha256(value + sha256(record).digest()).digest()
            assert chain == value
        with Results(tmp_path / "arena.db") as results:
            assert results.contest().head == value

    def test_each_contest_has_a_chain_of_its_own(self, tmp_path: Path) -> None:
        for _ in range(2):
            keep(tmp_path / "arena.db", 1)
        assert [(place, chain) for place, _, _, chain in chained(tmp_path)] == [
            (1, extend(GENESIS, encode(game(1))))
        ] * 2

    @pytest.mark.real
    def test_a_contest_that_goes_on_goes_on_with_its_chain(self, tmp_path: Path) -> None:
        path = tmp_path / "arena.db"
        keep(path, 1, 2, status="stopped")
        with Results(path) as results:
            stopped = results.contest().head
        assert stopped == chained(tmp_path)[-1][3]
        kept = Kept(path, opening(new=False))
        kept.start()
        kept.writer.store("g3", game(3))
        assert kept.next() == ["g3"]
        with Results(path) as results:
            assert results.contest().head is None
        kept.close("finished")
        places = [place for place, _, _, _ in chained(tmp_path)]
        assert places == [1, 2, 3]
        assert chained(tmp_path)[-1][3] == extend(stopped, encode(game(3)))
