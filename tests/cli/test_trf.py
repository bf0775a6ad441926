"""TRF16 of a Swiss: its columns, and what a program of others reads in it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import cast

import pytest
from tests.server.core.formats.drawn import Field
from tests.server.core.formats.test_swiss import tournament
from tests.server.programs import Shell

from arena_cli.trf import report
from arena_server.core.formats.rounds_json import rounds_json
from arena_server.core.formats.swiss import Swiss
from arena_server.stats.standings import Standings, row_json
from arena_server.store.schema import ContestRow
from arena_server.terms.formats import OptionValue, Terms


def trf(field: Field, ended: datetime | None = datetime(2026, 11, 24)) -> str:
    form = field.form
    assert isinstance(form, Swiss)
    row = SimpleNamespace(name="open", started_at=datetime(2026, 11, 23), ended_at=ended)
    contest = cast("ContestRow", row)
    rows = [row_json(row) for row in Standings(field.terms.names, ranked_by=form.scores).rows()]
    document = rounds_json(form.rounds(), form.terms.seeds, form.RANKED_BY)
    return report(contest, rows, form, document["rounds"])


def small(**options: OptionValue) -> Field:
    """ann beats bob, cid has the bye; dan is absent; the second round has been drawn."""
    names = ("ann", "bob", "cid", "dan")
    win = {"ann": 3, "bob": 2, "cid": 1}
    field = Field(
        Swiss,
        Terms(names, 2, 1, options=options),
        Random(1),
        lambda pair, _: (1, 0) if win[pair[0]] > win[pair[1]] else (0, 1),
    )
    field.leave("dan", for_good=True)
    for name in names[:3]:
        field.enter(name)
    field.start()
    field.end()
    field.next_round()
    return field


def test_the_columns() -> None:
    lines = trf(small(), None).splitlines()
    assert lines[:8] == [
        "012 open",
        "042 2026/11/23",
        "052 2026/11/23",
        "062 4",
        "072 0",
        "082 0",
        "092 Individual: Swiss-System",
        "XXR 2",
    ]
    assert [line[4:8] for line in lines[8:]] == ["   1", "   2", "   3", "   4"]
    assert [line[14:47].rstrip() for line in lines[8:]] == ["ann", "bob", "cid", "dan"]
    assert [line[80:84] for line in lines[8:]] == [" 1.0", " 1.0", " 1.0", " 0.0"]
    assert [line[91:99] for line in lines[8:]] == ["   2 w 1", "   1 b 0", "0000 - U", "0000 - Z"]
    assert [line[101:109] for line in lines[8:]] == ["   3 b  ", "0000 - U", "   1 w  ", "0000 - Z"]


def test_rules_of_the_pairing() -> None:
    """The planned rounds, not those so far; pairs that do not meet; virtual points up to the next round."""
    field = small(rounds=3, acceleration="baku", forbidden_pairs=[["dan", "cid"], ["bob", "dan", "ann"]])
    assert trf(field).splitlines()[7:14] == [
        "XXR 3",
        "XXP    1    2",
        "XXP    1    4",
        "XXP    2    4",
        "XXP    3    4",
        "XXA    1  1.0  0.5  0.0",
        "XXA    2  1.0  0.5  0.0",
    ]


def test_a_walkover_is_no_result_of_a_game() -> None:
    field = small()
    field.leave("cid", for_good=True)
    field.next_round()
    rounds = [line[101:109] for line in trf(field).splitlines()[8:]]
    assert rounds == ["   3 b +", "0000 - U", "   1 w -", "0000 - Z"]


@pytest.mark.parametrize("seed", range(5))
def test_a_program_of_others_reads_the_same_tournament(seed: int) -> None:
    parser = pytest.importorskip("caissify_pairings.trf")
    field = tournament(seed)
    field.finish()
    form = field.form
    assert isinstance(form, Swiss)
    read = parser.parse_trf(trf(field))
    assert read["tournament"]["name"] == "open"
    assert [player["name"] for player in read["players"]] == list(form.terms.names)
    scores = form.scores()
    values = {"1": 1.0, "+": 1.0, "U": 1.0, "=": 0.5, "0": 0.0, "-": 0.0, "Z": 0.0}
    for player in read["players"]:
        results = player["results"].values()
        assert (
            player["score"] == sum(values[result["result"]] for result in results) == scores[player["name"]]
        )
        for number, result in player["results"].items():
            if result["opponent"] is not None:
                other = read["players"][result["opponent"] - 1]["results"][number]
                assert other["opponent"] == player["starting_number"]
                assert {result["color"], other["color"]} == {"w", "b"}


def test_a_contest_of_another_format_has_none(here: Path, shell: Shell) -> None:
    outcome = shell("export", "out", "--format", "trf")
    assert (outcome.code, outcome.line) == (
        2,
        "arena: --format trf: expected a Swiss, trial is a round-robin",
    )
