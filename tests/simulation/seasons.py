"""A season at its edges: orders and deaths before, at and after the change from one stage to the next.

The first stage is a contest of `edges.py`. When it is over the real store has what its server leaves, the
rule of the server draws who comes, and the second stage begins beside it, with the same machines of the bots.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.simulation.edge_cells import FORMATS, NAMES, SCRIPTS, Cell, any_cell, config_of, refused
from tests.simulation.edges import NEW_TOKEN, Watched, check_end, check_second_start
from tests.simulation.network import MS
from tests.simulation.process import SimulatedProcess
from tests.simulation.publication import write
from tests.simulation.world import Part, Plan

from arena_server.core.life import ABORTED, FINAL, RUNNING, STOPPED
from arena_server.core.overview import KICKED, WITHDRAWN
from arena_server.errors import ConfigError, StoreError
from arena_server.stats.qualifying import Source
from arena_server.store.preflight import latest_contests
from arena_server.store.reader import Results
from arena_server.store.stages import begun_stages, check_entrants, draw_entrants, late_bots
from arena_server.terms.config import Entrant
from arena_server.terms.stages import SeasonStage, load_stages

ONE, TWO = "end-one", "end-two"
RULES: Mapping[str, str] = {
    "the first two": '{ stage = "one", first = 2 }',
    "all": '{ stage = "one" }',
    "all behind the first": '{ stage = "one", after = 1 }',
    "by ratings": '{ stage = "one", first = 2, by = "ratings" }',
}
#: A stage, and the moment of it; at the change the first is over and the second has not begun.
MOMENTS = ("one before", "one first", "one last", "change", "two before", "two first", "two last", "two over")
ORDERED = (*SCRIPTS, "kick {bot}; stop", "disqualify {bot} lost", "token {bot}", "remove {bot}; kick {other}")


class SeasonCell(NamedTuple):
    """`cell` has the first stage; `form` is that of the second, `moment` one of MOMENTS."""

    cell: Cell
    form: str
    rule: str
    moment: str


def drawn_season(rng: Random, moment: str, script: str) -> SeasonCell:
    """A season whose stages are contests, if no bot leaves."""
    while True:
        cell = any_cell(rng, moment.split()[-1], script, range(2, 6))
        case = SeasonCell(cell, rng.choice(list(FORMATS)), rng.choice(list(RULES)), moment)
        second = cell._replace(form=case.form, bots=max(3, cell.bots))
        if refused(cell) is refused(second) is None and _is_season(case):
            return case


def stages_of(folder: Path, case: SeasonCell) -> list[SeasonStage]:
    """The stages as a file has them."""
    path = folder / "season.toml"
    bots = "".join(f'[[bot]]\nname = "{name}"\n' for name in NAMES[: case.cell.bots])
    options = "".join(f"{key} = {json.dumps(value)}\n" for key, value in FORMATS[case.form].items())
    format_ = case.form.split()[0]
    two = f'[[stage]]\nname = "two"\nformat = "{format_}"\nentrants_from = {RULES[case.rule]}\n{options}'
    path.write_text(f'[contest]\nname = "end"\ngames_per_pair = 2\n[[stage]]\nname = "one"\n{two}{bots}')
    return load_stages(path)


def _is_season(case: SeasonCell) -> bool:
    """Whether the file is taken: each stage has bots enough, if no bot leaves."""
    with TemporaryDirectory() as folder:
        try:
            stages_of(Path(folder), case)
        except ConfigError:
            return False
    return True


class Season(Watched):
    """The two stages of a season; the script is played in that of its moment."""

    def __init__(self, case: SeasonCell) -> None:
        self.case = case
        self._stage, *_ = case.moment.split()
        #: Why the second does not begin; who was drawn, and drawn again.
        self.problem: str | None = None
        self.drawn: list[list[str]] = []
        super().__init__(case.cell, [], ONE)
        server = self.world.server
        server.begins = self._starts
        server.awaits = lambda: self.two is None and self.problem is None and not self._is_held
        server.is_closed = lambda name: self.two is not None

    @property
    def two(self) -> Part | None:
        """The second stage, once it has begun."""
        return next(iter(self.world.parts[1:]), None)

    @property
    def part(self) -> Part:
        return self.two or self.world.parts[0]

    @property
    def _is_held(self) -> bool:
        """The first one is drained: another server goes on with it."""
        return self.world.ending == STOPPED

    # -- the change

    def _starts(self, process: SimulatedProcess) -> None:
        """A server is started: it looks at what has begun."""
        for name, run in process.runs.items():
            run.contest.leads_on = name == ONE and self.two is None and self.problem is None
        if self.world.ending not in (None, STOPPED):
            process.later(0, self._plan)

    def _looked_at(self, name: str, status: str) -> None:
        if status == RUNNING:
            return
        if name == ONE and self.two is None and self.problem is None and status != STOPPED:
            self._plan()
        # A moment that does not come is after the end, as in `edges.py`.
        if name == TWO or self._stage != "two":
            self._begin()

    def _plan(self) -> None:
        """Draw who comes on a thread, which takes a while."""
        if self.two is None and self.problem is None:
            self.world.server.process.later(self.rng.randrange(1, 20) * MS, self._begin_two)

    def _begin_two(self) -> None:
        world, ending = self.world, self.world.ending
        if self.two is not None or self.problem is not None or ending in (None, STOPPED):
            return
        with TemporaryDirectory() as folder:
            plan, entrants = self._draw(Path(folder), str(ending))
        one = world.server.runs[ONE].contest
        one.leads_on = False
        if plan is None:
            return
        part = world.prepare(plan)
        part.entrants = entrants
        part.clients = {name: client for name, client in world.clients.items() if name in entrants}
        self.watch(part.checker)
        world.begin(part)
        if self._stage == "two" and self.cell.moment == "before":
            self._begin()

    def _draw(self, folder: Path, ending: str) -> tuple[Plan | None, dict[str, Entrant]]:
        world = self.world
        one, two = stages_of(folder, self.case)
        path = folder / "arena.db"
        write(world, path, ending)
        begun = begun_stages((one, two), latest_contests(path, [ONE, TWO]))
        try:
            with Results(path) as results:
                late = late_bots(results, begun.values(), two.pool)
                names, origin = draw_entrants(results, two, {ONE: 1}, late)
            self.drawn.append(names)
            self._expect(names, two.sources[0])
            file = two.seated(names, "season.toml", late)
        except (StoreError, ConfigError) as problem:
            self.problem = str(problem)
            assert "\n" not in self.problem
            done = self.world.contest.status.progress().done
            if isinstance(problem, StoreError):
                assert ending == ABORTED or done == 0, self.problem
            return None, {}
        assert ending != ABORTED
        config = replace(
            config_of(self.cell),
            name=TWO,
            format=self.case.form.split()[0],
            format_options=dict(FORMATS[self.case.form]),
            seed=self.cell.seed + 1,
            absent_ms=4_000,  # BYE lets them come after 2 s
            origin=origin,
        )
        digests = {bot.name: bot.token_sha256 for bot in file.bot}
        entrants = {
            name: replace(world.entrants[name], token_sha256=digest or world.entrants[name].token_sha256)
            for name, digest in digests.items()
        }
        self._check_tokens(entrants)
        kinds = {name: world.kinds[name] for name in names}
        return Plan(config, kinds), entrants

    def _expect(self, names: list[str], source: Source) -> None:
        """Who comes, by the table and the states of the bots alone."""
        overview = self.world.contest.status.overview()
        out = {bot.name for bot in overview.bots if bot.where in (KICKED, WITHDRAWN)}
        ranks = {row.name: row.rank for row in overview.progress.standings if row.name not in out}
        assert len(set(names)) == len(names)
        assert out.isdisjoint(names), (names, out)
        left = max(0, len(ranks) - source.after)
        assert len(names) == (left if source.first is None else min(source.first, left))
        assert self.world.ending not in FINAL or names == self.drawn[0]
        if source.by == "table":
            come = [ranks[name] for name in names]
            assert come == sorted(come)
            stay = [ranks[name] for name in set(ranks) - set(names)]
            if source.after:
                assert max(stay) <= min(come, default=max(stay))
            elif stay and come:
                assert max(come) <= min(stay)

    def _check_tokens(self, entrants: Mapping[str, Entrant]) -> None:
        """Each has the token that it had last."""
        own = {name: each.token_sha256 for name, each in self.world.entrants.items()}
        newest = dict(own)
        for order in self.world.contest.status.overview().orders:
            if order.verb in ("token", "add"):
                newest[order.target] = NEW_TOKEN if order.verb == "token" else own[order.target]
        assert all(each.token_sha256 == newest[name] for name, each in entrants.items())

    # -- when

    def was_played(self) -> bool:
        return self._begun or self.problem is not None or self._is_held

    def _is_now(self) -> bool:
        in_two = self.two is not None
        return in_two == (self._stage == "two") and self.cell.moment != "change" and super()._is_now()


def played(case: SeasonCell) -> Season:
    """Play a season and check it."""
    season = Season(case)
    season.run()
    world = season.world
    for part in world.parts:
        name = part.plan.config.name
        assert name in world.server.reasons, f"{name} has not ended"
        check_end(world, part)
        check_second_start(world, part)
    if season.two is None:
        assert season.problem is not None or world.ending == STOPPED
        return season
    with TemporaryDirectory() as folder:
        path = Path(folder) / "arena.db"
        for part in world.parts:
            write(world, path, world.server.reasons[part.plan.config.name], part=part)
        with Results(path) as results:
            assert check_entrants(results, results.contest("2")) is None
    return season
