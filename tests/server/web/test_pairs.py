"""Two games of one deal: which they are, where they part, and who did better with the same luck."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.protocol.records import RECORD, a_record

from arena_protocol.record import GameRecord
from arena_protocol.record_codec import to_json
from arena_server.web import archive as module
from arena_server.web.archive import Archive
from arena_server.web.shown_results import OVER, NotFoundError

from ..records import Kept, game, opening, tomorrow
from .node import Node


def begin(path: Path, deals: str = "paired", delay_ms: int = 0) -> Kept:
    header = opening(names=("a", "b"))
    config = replace(header.config, deals=deals, games_per_pair=4, spectator_delay_ms=delay_ms)
    kept = Kept(path, replace(header, config=config, games=4))
    kept.start()
    return kept


def store(kept: Kept, *numbers: int, void: bool = False) -> None:
    """Games 1 and 2 are on one deal, 3 and 4 on the next one."""
    for number in numbers:
        names = ("a", "b") if number % 2 else ("b", "a")
        kept.append((number, "offer", names, (number + 1) // 2, ()))
        kept.writer.store(f"g{number}", game(number, names, end="void" if void else "complete"))
        kept.next()


class TestDocument:
    def test_it_stays_right_while_the_contest_runs(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "CHUNK", 2)
        kept = begin(path)
        archive = Archive(path, tomorrow)
        store(kept, 1, 3)
        assert archive.contest(1)["paired"] is True
        assert json.loads(archive.pairs(1, 0)) == []
        store(kept, 2)
        assert json.loads(archive.pairs(1, 0)) == [["g1", ["g2"]]]
        assert json.loads(archive.pairs(1, 1)) == [["g2", ["g1"]]]
        store(kept, 4, void=True)
        assert json.loads(archive.pairs(1, 0)) == [["g1", ["g2"]]]
        kept.close("finished")
        # No other game will be played on it.
        assert json.loads(archive.pairs(1, 0)) == [["g1", ["g2"]], ["g3", []]]
        assert json.loads(archive.pairs(1, 1)) == [["g2", ["g1"]], ["g4", ["g3"]]]
        with pytest.raises(NotFoundError, match=r"^contest 1 has no games beyond 4$"):
            archive.pairs(1, 2)
        assert all(archive.state(1, f"g{number}") == OVER for number in (1, 2, 3, 4))

    def test_a_game_that_spectators_may_not_see_yet_is_in_none(self, path: Path) -> None:
        kept = begin(path, delay_ms=10**9)
        store(kept, 1, 2)
        assert json.loads(Archive(path).pairs(1, 0)) == []
        kept.close("finished")
        assert json.loads(Archive(path, live=True).pairs(1, 0)) == []
        assert json.loads(Archive(path).pairs(1, 0)) == [["g1", ["g2"]], ["g2", ["g1"]]]

    def test_there_is_none_where_each_game_has_a_deal_of_its_own(self, path: Path) -> None:
        kept = begin(path, "fresh")
        store(kept, 1)
        kept.close("finished")
        archive = Archive(path, tomorrow)
        assert "paired" not in archive.contest(1)
        with pytest.raises(NotFoundError, match=r"^contest 1 deals each game afresh$"):
            archive.pairs(1, 0)


def together(node: Node, *records: GameRecord) -> dict[str, object]:
    found: dict[str, object] = node("together", records=[json.dumps(to_json(record)) for record in records])
    return found


class TestTogether:
    def test_the_first_ply_of_another_move_and_the_sum_of_both(self, node: Node) -> None:
        one = a_record(options={"plies": 20})
        turned = replace(one, game_id="g2", names=one.names[::-1])
        last = one.plies[-1]
        other = replace(turned, plies=(*one.plies[:-1], last._replace(move="1" if last.move != "1" else "2")))
        found = together(node, one, other)
        assert found["ply"] == 20
        first, second = one.names
        mover, its = one.names[last.seat - 1], other.names[last.seat - 1]
        assert found["parting"] == (
            f"The games part at ply 20: {mover} plays {last.move} in {one.game_id}, "
            f"{its} plays {other.plies[-1].move} in g2."
        )
        total = sum(one.totals)
        assert [(row["name"], row["sum"]) for row in found["rows"]] == [(first, total), (second, total)]  # type: ignore[attr-defined]
        assert found["better"] == f"With the same luck {first} and {second} did equally well: {total} each."

    def test_games_that_are_the_same_and_one_that_is_shorter(self, node: Node) -> None:
        turned = replace(RECORD, game_id="g2", names=RECORD.names[::-1])
        assert together(node, RECORD, turned)["ply"] is None
        cut = replace(turned, plies=RECORD.plies[:-1], totals=(0, 30))
        found = together(node, RECORD, cut)
        assert found["ply"] == len(RECORD.plies)
        assert str(found["parting"]).endswith(f" in {RECORD.game_id}, g2 is over.")
