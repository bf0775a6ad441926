"""Every cell of docs/faults.md over real sockets: `make test` plays a handful, `make soak` all 72."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from .real_fault_case import play_for_real
from .test_faults import CELLS, outcome, written

#: Those of a dead link take as long as the system's patience, slow bytes as long as they are slow, and who
#: hangs in the lobby is given time for every ping.
QUICK = [
    cell
    for cell in CELLS
    if cell[0] not in ("silent vanish", "slow bytes") and cell != ("hang", "waiting for a game")
]
HANDFUL = Random("a handful of faults").sample(QUICK, 5)


def check(fault: str, moment: str, folder: Path) -> None:
    out = play_for_real(fault, moment, outcome(fault, moment), folder)
    # The time that a bot was away has two decimals in the table only.
    words = tuple(text.replace("0.09 s", "0.1 s") for text in written()[fault, moment])
    assert words == (out.verdict, out.connection, out.cost, out.seen)
    for record in filter(None, (out.record, out.other)):
        seat = record.names.index("bob") + 1
        assert not any(each.seat == seat for each in record.faults)
        assert not any(ply.zombie for ply in record.plies if ply.seat == seat)
        assert (record.end, len(record.plies)) == ("complete", 6)
    assert not any(line.startswith((b"ERROR", b"ZOMBIE")) for line in out.bob)


@pytest.mark.real
@pytest.mark.parametrize(("fault", "moment"), HANDFUL)
def test_a_handful_of_cells(fault: str, moment: str, tmp_path: Path) -> None:
    check(fault, moment, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize(("fault", "moment"), CELLS)
def test_a_cell(fault: str, moment: str, tmp_path: Path) -> None:
    check(fault, moment, tmp_path)
