"""`arena why`: faults, times and deciding plies of one bot's game."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.server.programs import Shell

from arena_cli.why import OwnPly, PostMortem, examine, report
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_protocol.record import FaultRecord, GameRecord, InfoRecord, PlyRecord, UsageRecord
from arena_protocol.record_codec import decode, encode


@pytest.fixture
def records(here: Path, shell: Shell) -> dict[str, GameRecord]:
    """The games of the contest by id."""
    assert shell("export", "records").code == 0
    files = sorted((here / "records").glob("*.record"))
    return {file.stem: decode(file.read_bytes()) for file in files}


def seats(record: GameRecord) -> range:
    return range(1, len(record.names) + 1)


class TestExamine:
    def test_it_agrees_with_the_record(self, records: dict[str, GameRecord]) -> None:
        """Every ply once, the points add up to the totals, the charges to the clock."""
        for record in records.values():
            for seat in seats(record):
                found = examine(record, seat)
                name = record.names[seat - 1]
                assert found.bot == name
                assert [ply.ply for ply in found.plies] == [
                    number for number, ply in enumerate(record.plies, start=1) if ply.seat == seat
                ]
                points = dict.fromkeys(record.names, 0)
                for scored in found.scored:
                    points[scored.bot] += scored.points
                    others = max(total for other, total in points.items() if other != name)
                    assert scored.margin == points[name] - others
                assert tuple(points.values()) == record.totals
                used = sum(ply.time_ms for ply in found.plies if not ply.zombie)
                if found.plies and not found.plies[-1].zombie:
                    assert found.clock_ms - used == found.plies[-1].clock_ms

    def test_the_best_move_at_once_by_trying_all(self, records: dict[str, GameRecord]) -> None:
        record = records["g1"]
        game: Any = make_game(record.game, {**record.options, "seats": 2})
        position = game.start(Deal(record.board, record.sequence))
        best = {ply.ply: ply for seat in (1, 2) for ply in examine(record, seat).plies}
        for number, ply in enumerate(record.plies, start=1):
            gains = {move: game.play(position, move).points for move in game.legal_moves(position)}
            assert best[number].best_points == max(gains.values())
            if best[number].best is None:
                assert ply.points == max(gains.values())
            else:
                assert gains[best[number].best] == max(gains.values()) > ply.points
            position = game.play(position, ply.move).position

    def test_the_leader_leads_from_its_ply_on_and_not_before(self, records: dict[str, GameRecord]) -> None:
        for record in records.values():
            found = examine(record, 1)
            leads = [
                record.names[ply.total.index(max(ply.total))] if len(set(ply.total)) > 1 else None
                for ply in record.plies
            ]
            if found.led_from is not None:
                assert set(leads[found.led_from - 1 :]) == {found.leader}
                assert found.led_from == 1 or leads[found.led_from - 2] != found.leader

    def test_an_illegal_move_with_line_and_legal_moves(self, records: dict[str, GameRecord]) -> None:
        record = next(record for record in records.values() if "zero" in record.names)
        found = examine(record, record.names.index("zero") + 1)
        (fault,) = found.faults
        assert (fault.bot, fault.kind, fault.line) == ("zero", "illegal", "MOVE 0")
        assert fault.legal == tuple(str(move) for move in range(1, 16))
        assert all(ply.zombie for ply in found.plies)

    def test_a_forfeit_is_decided_by_no_ply(self, records: dict[str, GameRecord]) -> None:
        record = forfeited(records["g1"])
        found = examine(record, 1)
        assert (found.outcome, found.leader, found.led_from) == ("lost", record.names[1], None)
        assert found.faults[0].legal != ()

    def test_a_void_game_has_no_result(self, records: dict[str, GameRecord]) -> None:
        fault = FaultRecord(0, 3, "void", b"")
        found = examine(replace(records["g1"], end="void", faults=(fault,)), 1)
        assert found.outcome == "has no result"
        assert found.faults[0].bot is None
        assert found.faults[0].text == "the server aborted the game at ply 3"

    def test_a_draw_has_no_leader(self, records: dict[str, GameRecord]) -> None:
        found = examine(replace(records["g1"], totals=(5, 5)), 1)
        assert (found.outcome, found.leader, found.led_from) == ("drew", None, None)
        assert "points: no bot has most" in list(report(found))

    def test_only_own_notes_are_shown(self, records: dict[str, GameRecord]) -> None:
        infos = (InfoRecord(1, 1, depth=4, eval=-30, line="6,6"), InfoRecord(2, 1, text="secret"))
        found = examine(replace(records["g1"], infos=infos), 1)
        assert found.plies[0].note == "depth=4 eval=-30 line=6,6"
        assert examine(records["g1"], 1).plies[0].note == ""


def forfeited(record: GameRecord) -> GameRecord:
    """The game up to an illegal move of seat 1 that ends it."""
    number = len(record.plies) - len(record.plies) % 2
    fault = FaultRecord(1, number - 1, "illegal", b'MOVE "\xff')
    plies = record.plies[: number - 2]
    return replace(record, plies=plies, faults=(fault,), end="forfeit", totals=(0, 1))


def own(ply: int, time_ms: int, **more: Any) -> OwnPly:
    fields = {
        "zombie": False,
        "waited_ms": time_ms,
        "clock_ms": 1000,
        "points": 0,
        "best": None,
        "best_points": 0,
        "note": "",
    }
    return OwnPly(ply, "6", time_ms=time_ms, **fields | more)


def post_mortem(**more: Any) -> PostMortem:
    fields: dict[str, Any] = {
        "contest": "c",
        "game_id": "g1",
        "game": "insertion",
        "bot": "a",
        "names": ("a", "b"),
        "totals": (1, 2),
        "outcome": "lost",
        "end": "complete",
        "ply_count": 4,
        "clock_ms": 2000,
        "faults": (),
        "plies": (),
        "scored": (),
        "leader": "b",
        "led_from": 3,
    }
    return PostMortem(**fields | more)


class TestReport:
    def test_the_slowest_plies_come_first_and_all_in_order(self) -> None:
        plies = tuple(own(ply, time) for ply, time in ((1, 5), (3, 900), (5, 0), (7, 40)))
        lines = list(report(post_mortem(plies=plies), top=2))
        assert lines[5] == "time of a: 945 ms of 2000 ms at 4 plies, median 22 ms, 1000 ms left on the clock"
        assert [line.split()[1] for line in lines[6:8]] == ["3", "7"]
        assert lines[8:10] == ["  ms per ply, in order:", "    ply 1      5 900   0  40"]

    def test_lag_and_notes_stand_beside_a_slow_ply(self) -> None:
        lines = list(report(post_mortem(plies=(own(1, 5, waited_ms=9, note="depth=3"),))))
        assert "  ply 1          5 ms, 9 ms with lag, 1000 ms left   (depth=3)" in lines

    def test_plies_at_which_more_was_there_with_the_most_first(self) -> None:
        plies = (
            own(1, 0, best="3", best_points=30),
            own(3, 0, best="9", best_points=90, points=30),
            own(5, 0, zombie=True, best="1", best_points=500),
        )
        lines = list(report(post_mortem(plies=plies)))
        at = lines.index("  more was there at once at 2 own plies, 90 points together; the most:")
        assert lines[at + 1 :] == [
            "  ply 3    6 scored 30, 9 scores 90",
            "  ply 1    6 scored 0, 3 scores 30",
        ]

    @pytest.mark.parametrize(
        ("held", "waited", "why"),
        [
            (4310, 160, ["  what kept it from running most was the limit `cpus` of its container"]),
            (None, 100, ["  what kept it from running most was other programs on its machine"]),
            (99, 99, []),
        ],
    )
    def test_what_its_program_got(self, held: int | None, waited: int, why: list[str]) -> None:
        usage = UsageRecord(1, 9120, held, waited)
        others = (UsageRecord(2, 70, 5, 1064),)
        lines = list(report(post_mortem(plies=(own(1, 5),), usage=usage, others=others)))
        at = lines.index("    ply 1    5") + 1
        shown = "an unknown time" if held is None else f"{held:,} ms"
        assert lines[at : lines.index("", at)] == [
            f"  its program: 9,120 ms of processor time, {shown} held back by its own limit, "
            f"{waited} ms kept waiting by a busy machine",
            *why,
            "  the program of b: 1,064 ms kept waiting by a busy machine",
        ]

    def test_without_a_charged_ply(self) -> None:
        lines = list(report(post_mortem(plies=(own(1, 0, zombie=True, points=30),))))
        assert "  the server moved for a at 1 plies, for 30 points" in lines
        assert "time of a: no ply was charged" in lines


class TestCommand:
    def test_a_game_of_the_database_and_its_record_file(
        self, here: Path, shell: Shell, records: dict[str, GameRecord]
    ) -> None:
        bot = records["g1"].names[0]
        from_database = shell("why", "g1", "--bot", bot)
        assert from_database.code == 0
        assert from_database.out.startswith(f"trial g1, insertion: {bot} against ")
        assert shell("why", "records/g1.record", "--bot", bot) == from_database

    def test_every_fault_has_kind_ply_and_line(self, shell: Shell, records: dict[str, GameRecord]) -> None:
        game = next(game for game, record in records.items() if "zero" in record.names)
        fault = records[game].faults[0]
        lines = shell("why", game, "--bot", "zero").out.splitlines()
        assert lines[3] == "faults of zero: 1"
        assert lines[4].startswith(f"  illegal at ply {fault.ply}: zero sent an illegal move")
        assert lines[5] == '    line   "MOVE 0"'
        rival = next(name for name in records[game].names if name != "zero")
        assert "  of others: zero sent an illegal move" in shell("why", game, "--bot", rival).out

    def test_json_has_all_of_it(self, shell: Shell, records: dict[str, GameRecord]) -> None:
        bot = records["g1"].names[1]
        found = json.loads(shell("why", "g1", "--bot", bot, "--json").out)
        assert found["bot"] == bot
        assert [ply["ply"] for ply in found["plies"]] == [2, 4, 6, 8]
        assert found["totals"] == list(records["g1"].totals)

    def test_bytes_that_are_no_text_are_escaped(
        self, here: Path, shell: Shell, records: dict[str, GameRecord]
    ) -> None:
        record = forfeited(records["g1"])
        (here / "bad.record").write_bytes(encode(record))
        done = shell("why", "bad.record", "--bot", record.names[0])
        assert r'    line   "MOVE \"\u00ff"' in done.out.splitlines()

    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            (["g1", "--bot", "missing"], "--bot: no 'missing' in game g1 of "),
            (["g99", "--bot", "six"], "g99"),
            (["g1"], "missing option '--bot'"),
        ],
    )
    def test_errors_are_one_line(self, here: Path, shell: Shell, arguments: list[str], line: str) -> None:
        done = shell("why", *arguments)
        assert done.code != 0
        assert line in done.line

    def test_a_record_with_a_move_that_is_not_legal(
        self, here: Path, shell: Shell, records: dict[str, GameRecord]
    ) -> None:
        record = records["g1"]
        first: PlyRecord = record.plies[0]._replace(move="16")
        (here / "bad.record").write_bytes(encode(replace(record, plies=(first, *record.plies[1:]))))
        done = shell("why", "bad.record", "--bot", record.names[0])
        assert done.code == 1
        assert done.line.startswith(
            "arena: bad.record: a move of insertion is a number from 1 to 15, not '16'; "
        )
