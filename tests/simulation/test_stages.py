"""A stage that follows another: format and ending of the first, restart between the two, and the rule.

The first stage is simulated, and the real store has what its server leaves; the second begins there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from tests.simulation.crashes import HOUR, Steady
from tests.simulation.network import MS
from tests.simulation.publication import write
from tests.simulation.test_endings import BOTS, CONFIG, FORMATS, HAPPENS, OWNERS, SHORT, SOON, when
from tests.simulation.world import World

from arena_server.errors import StoreError
from arena_server.stats.qualifying import Source
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import ContestHeader
from arena_server.store.preflight import latest_contests
from arena_server.store.reader import Results
from arena_server.store.stages import LEADS_ON, begun_stages, check_entrants, draw_entrants
from arena_server.terms.stages import SeasonStage, load_stages

RULES: Mapping[str, str] = {
    "the first two": 'entrants_from = { stage = "one", first = 2 }',
    "all behind the first": 'entrants_from = { stage = "one", after = 1 }',
    "by ratings": 'entrants_from = { stage = "one", first = 3, by = "ratings" }',
    "the last, then the first": (
        'entrants_from = [{ stage = "one", after = 3 }, { stage = "one", first = 1 }]'
    ),
}


class Cell(NamedTuple):
    form: str
    ending: str
    restarted: bool


CELLS = [
    Cell(*each)
    for each in product(FORMATS, HAPPENS, (False, True))
    if each[1] != "short" or each[0] == "swiss"
]


def stages_of(folder: Path, rule: str) -> list[SeasonStage]:
    path = folder / "season.toml"
    bots = "".join(f'[[bot]]\nname = "{name}"\n' for name in BOTS)
    stages = f'[[stage]]\nname = "one"\n[[stage]]\nname = "two"\n{RULES[rule]}\n'
    path.write_text(f'[contest]\nname = "end"\n{stages}{bots}')
    return load_stages(path)


def first_stage(cell: Cell) -> tuple[World, str]:
    """The first stage, and how it has ended."""
    config = replace(CONFIG, name="end-one", format=cell.form, format_options=dict(FORMATS[cell.form]))
    if cell.ending == "short":
        config = replace(config, format_options=SHORT, owners=OWNERS)
    world = World(1, config, dict.fromkeys(BOTS, Steady))
    happens, _ = HAPPENS[cell.ending]
    looks: list[str] = []
    world.server.looked_at = lambda _, status: looks.append(status)
    when(world, partial(happens, world))
    if cell.restarted:
        world.queue.after(SOON - 20 * MS, world.server.crash)
    world.run(HOUR, {name: 0 for name in BOTS if not (cell.ending == "absent" and name == "dan")})
    return world, looks[-1]


def begin(
    path: Path, stage: SeasonStage, names: list[str], origin: Mapping[str, object], *, new: bool
) -> None:
    """The transaction with which a contest begins; its server is killed after it."""
    config = replace(CONFIG, name=stage.name, format="round-robin", origin=origin)
    with ContestStore(path) as store:
        header = ContestHeader(config, {}, names, 2, new=new)
        store.find(header)
        with store.transaction():
            store.enter(header, config)


def check(world: World, ending: str, folder: Path, rule: str, *, leads: bool) -> None:
    one, two = stages_of(folder, rule)
    path = folder / "arena.db"
    write(world, path, ending)
    for _ in range(2):  # a server that is killed before the stage has begun draws the same again
        begun = begun_stages((one, two), latest_contests(path, [one.name, two.name]))
        assert list(begun) == [one.name]
        with Results(path) as results:
            if not leads:
                with pytest.raises(
                    StoreError, match=r"stage two does not begin: (end-one|no game of end-one)"
                ):
                    draw_entrants(results, two, {one.name: 1})
                return
            names, origin = draw_entrants(results, two, {one.name: 1})
    ranks = {row.name: row.rank for row in world.contest.status.progress().standings}
    _expect(names, two.sources, ranks)
    begin(path, two, names, origin, new=False)
    begun = begun_stages((one, two), latest_contests(path, [one.name, two.name]))
    assert begun[two.name].names == tuple(names)
    assert (begun[one.name].is_closed, begun[two.name].is_closed) == (True, False)
    begin(path, two, names[::-1], origin, new=True)
    with Results(path) as results:
        assert check_entrants(results, results.contest("2")) is None
        assert check_entrants(results, results.contest("3")) == (
            f"entrants: expected {', '.join(names)}, who come from end-one, found {', '.join(names[::-1])}"
        )


def _expect(names: list[str], sources: tuple[Source, ...], ranks: Mapping[str, int]) -> None:
    """Each source by itself: how many come, and that none of a better place stays out."""
    assert len(set(names)) == len(names)
    (source, *rest) = sources
    if source.by == "ratings":
        assert len(names) == 3
    elif rest:
        assert len(names) == 2
        assert ranks[names[0]] == max(ranks.values())
        assert ranks[names[1]] == 1
    else:
        out = set(ranks) - set(names)
        assert len(names) == (2 if source.first else 3)
        assert [ranks[name] for name in names] == sorted(ranks[name] for name in names)
        if source.first:
            assert max(map(ranks.__getitem__, names)) <= min(map(ranks.__getitem__, out))
        else:
            assert {ranks[name] for name in out} == {1}


def name_of(cell: Cell) -> str:
    return f"{cell.form} {cell.ending} {'again' if cell.restarted else 'once'}"


def play(cell: Cell, folder: Path) -> None:
    world, ending = first_stage(cell)
    leads = ending in LEADS_ON and world.contest.status.progress().done > 0
    for number, rule in enumerate(RULES):
        (folder / str(number)).mkdir()
        check(world, ending, folder / str(number), rule, leads=leads)


def test_the_cells_lead_on_and_do_not() -> None:
    reached = {ending for _, endings in HAPPENS.values() for ending in endings}
    assert reached > set(LEADS_ON)


@pytest.mark.parametrize("cell", Random(6).sample(CELLS, 1), ids=name_of)
def test_who_comes(cell: Cell, tmp_path: Path) -> None:
    play(cell, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("cell", CELLS, ids=name_of)
def test_who_comes_in_every_cell(cell: Cell, tmp_path: Path) -> None:
    play(cell, tmp_path)
