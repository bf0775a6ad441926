"""Every cell of docs/faults.md is what happens: 12 faults at 6 moments, in virtual time."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.slices import all_of

from arena_protocol.messages import Over, Played, parse_server

from .fault_case import FAULTS, MOMENTS, THINKING, Outcome, play

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
CELLS = [(fault, moment) for fault in FAULTS for moment in MOMENTS]


@cache
def written() -> dict[tuple[str, str], tuple[str, ...]]:
    """The page's cells: what is in the record, the connection, the cost, what the other bot sees."""
    cells = {}
    fault = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"### \d+\. (.+)", line):
            fault = heading[1].lower()
        elif fault and line.startswith("| ") and line.split("|")[1].strip() in MOMENTS:
            moment, *rest = (column.strip() for column in line.strip("|").split("|"))
            cells[fault, moment] = tuple(rest)
    return cells


@cache
def outcome(fault: str, moment: str) -> Outcome:
    return play(fault, moment)


def test_the_page_has_72_cells() -> None:
    assert sorted(written()) == sorted(CELLS)
    assert len(CELLS) == 72


@all_of(("fault", "moment"), CELLS)
def test_a_cell(fault: str, moment: str) -> None:
    out = outcome(fault, moment)
    assert written()[fault, moment] == (out.verdict, out.connection, out.cost, out.seen)


@all_of(("fault", "moment"), CELLS)
def test_the_other_bot_is_never_charged(fault: str, moment: str) -> None:
    """Bob plays every ply of its own, on its own time, and receives only plies and results."""
    out = outcome(fault, moment)
    for record in filter(None, (out.record, out.other)):
        seat = record.names.index("bob") + 1
        assert {ply.time_ms for ply in record.plies if ply.seat == seat} == {THINKING // 1_000_000}
        assert not any(fault.seat == seat for fault in record.faults)
        assert (record.end, len(record.plies)) == ("complete", 6)
    verbs = {line.split()[0] for line in out.bob}
    assert verbs <= {
        b"ARENA",
        b"WELCOME",
        b"GAME",
        b"STATE",
        b"NEXT",
        b"START",
        b"TURN",
        b"PLAYED",
        b"OVER",
        b"BYE",
    }
    assert len({line for line in out.bob if line.startswith(b"WELCOME")}) == 1
    messages = [parse_server(line) for line in out.bob]
    games = len(list(filter(None, (out.record, out.other))))
    assert sum(isinstance(message, Played) for message in messages) == 6 * games
    assert sum(isinstance(message, Over) for message in messages) == games


@all_of(("fault", "moment"), CELLS)
def test_the_next_game_is_a_normal_one(fault: str, moment: str) -> None:
    """A bot that is connected for the other game plays it without a trace of the fault."""
    out = outcome(fault, moment)
    absent = fault in ("crash", "hang", "silent vanish", "never reads")
    if out.other is not None and (not absent or moment == "after the end"):
        assert out.other.faults == ()
