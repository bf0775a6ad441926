"""A season at its edges: orders and deaths before, at and after the change from one stage to the next.

The first stage is a contest of `edges.py`. When it is over the real store has what its server leaves, the
rule of the server draws who comes, and the second stage begins beside it, with the same machines of the bots;
so does a third one, where there is one.
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

STAGES = ONE, TWO, THREE = "end-one", "end-two", "end-three"
RULES: Mapping[str, str] = {
    "the first two": '{ stage = "one", first = 2 }',
    "all": '{ stage = "one" }',
    "all behind the first": '{ stage = "one", after = 1 }',
    "by ratings": '{ stage = "one", first = 2, by = "ratings" }',
}
#: A stage, and the moment of it; at the change the first is over and the second has not begun.
MOMENTS = (
    *("one before", "one first", "one last", "change", "two before", "two first", "two last", "two over"),
    *("three before", "three first", "three over"),
)
ORDERED = (*SCRIPTS, "kick {bot}; stop", "disqualify {bot} lost", "token {bot}", "remove {bot}; kick {other}")


class SeasonCell(NamedTuple):
    """`cell` has the first stage; `form` is that of the second, `moment` one of MOMENTS.

    `third` is the format of the third one, empty if there is none.
    """

    cell: Cell
    form: str
    rule: str
    moment: str
    third: str = ""


def drawn_season(rng: Random, moment: str, script: str) -> SeasonCell:
    """A season whose stages are contests, if no bot leaves."""
    while True:
        cell = any_cell(rng, moment.split()[-1], script, range(2, 6))
        case = SeasonCell(cell, rng.choice(list(FORMATS)), rng.choice(list(RULES)), moment)
        if moment.startswith("three") or (not moment.startswith("two") and rng.random() < 0.3):
            case = case._replace(third=rng.choice(list(FORMATS)))
        later = [cell._replace(form=form, bots=max(3, cell.bots)) for form in (case.form, case.third) if form]
        # How many come is not known: terms that an even number refuses are none of a season.
        fewer = [refused(each._replace(bots=bots)) or "" for each in later for bots in range(2, each.bots)]
        if any(map(refused, (cell, *later))) or any("games_per_pair" in problem for problem in fewer):
            continue
        if _is_season(case):
            return case


def stages_of(folder: Path, case: SeasonCell) -> list[SeasonStage]:
    """The stages as a file has them."""
    path = folder / "season.toml"
    bots = "".join(f'[[bot]]\nname = "{name}"\n' for name in NAMES[: case.cell.bots])
    two = _stage("two", case.form, RULES[case.rule])
    three = _stage("three", case.third, '{ stage = "two", first = 3 }') if case.third else ""
    head = '[contest]\nname = "end"\ngames_per_pair = 2\n[[stage]]\nname = "one"\n'
    path.write_text(f"{head}{two}{three}{bots}")
    return load_stages(path)


def _stage(name: str, form: str, rule: str) -> str:
    options = "".join(f"{key} = {json.dumps(value)}\n" for key, value in FORMATS[form].items())
    return f'[[stage]]\nname = "{name}"\nformat = "{form.split()[0]}"\nentrants_from = {rule}\n{options}'


def _is_season(case: SeasonCell) -> bool:
    """Whether the file is taken: each stage has bots enough, if no bot leaves."""
    with TemporaryDirectory() as folder:
        try:
            stages_of(Path(folder), case)
        except ConfigError:
            return False
    return True


class Season(Watched):
    """The stages of a season; the script is played in that of its moment."""

    def __init__(self, case: SeasonCell) -> None:
        self.case = case
        self._stage, *_ = case.moment.split()
        #: The stages that are to come, and why the next one does not begin; who was drawn, and drawn again.
        self.to_come = [TWO, THREE][: 1 + bool(case.third)]
        self.problem: str | None = None
        self.drawn: dict[str, list[list[str]]] = {name: [] for name in self.to_come}
        super().__init__(case.cell, [], ONE)
        server = self.world.server
        server.begins = self._starts
        server.awaits = lambda: self._leads_on and not self._is_held
        server.is_closed = lambda name: name != self.part.plan.config.name

    @property
    def part(self) -> Part:
        """The last stage that has begun."""
        return self.world.parts[-1]

    @property
    def _leads_on(self) -> bool:
        """Whether a stage is still to begin."""
        return bool(self.to_come) and self.problem is None

    @property
    def _ending(self) -> str | None:
        return self.world.server.reasons.get(self.part.plan.config.name)

    @property
    def _is_held(self) -> bool:
        """The last one is drained: another server goes on with it."""
        return self._ending == STOPPED

    # -- the change

    def _starts(self, process: SimulatedProcess) -> None:
        """A server is started: it looks at what has begun."""
        for name, run in process.runs.items():
            run.contest.leads_on = name == self.part.plan.config.name and self._leads_on
        if self._ending not in (None, STOPPED):
            process.later(0, self._plan)

    def _looked_at(self, name: str, status: str) -> None:
        if status == RUNNING:
            return
        if name == self.part.plan.config.name and status != STOPPED:
            self._plan()
        # A moment that does not come is after the end, as in `edges.py`.
        if name == f"end-{self._stage}" or self._stage == "change" or STAGES.index(name) > self._number:
            self._begin()

    @property
    def _number(self) -> int:
        return STAGES.index(f"end-{self._stage}")

    def _plan(self) -> None:
        """Draw who comes on a thread, which takes a while."""
        if self._leads_on:
            number = len(self.world.parts)
            self.world.server.process.later(self.rng.randrange(1, 20) * MS, lambda: self._begin_stage(number))

    def _begin_stage(self, number: int) -> None:
        world, ending, last = self.world, self._ending, self.part
        if number != len(world.parts) or not self._leads_on or ending in (None, STOPPED):
            return
        with TemporaryDirectory() as folder:
            plan, entrants = self._draw(Path(folder), str(ending))
        last.contest.leads_on = False
        if plan is None:
            return
        del self.to_come[0]
        part = world.prepare(plan)
        part.entrants = entrants
        part.clients = {name: client for name, client in world.clients.items() if name in entrants}
        self.watch(part.checker)
        world.begin(part)
        part.contest.leads_on = self._leads_on
        if plan.config.name == f"end-{self._stage}" and self.cell.moment == "before":
            self._begin()

    def _draw(self, folder: Path, ending: str) -> tuple[Plan | None, dict[str, Entrant]]:
        world, name, last = self.world, self.to_come[0], self.part
        stages = stages_of(folder, self.case)
        stage = next(each for each in stages if each.name == name)
        path = folder / "arena.db"
        for part in world.parts:
            write(world, path, str(world.server.reasons[part.plan.config.name]), part=part)
        begun = begun_stages(stages, latest_contests(path, [each.name for each in stages]))
        try:
            with Results(path) as results:
                late = late_bots(results, begun.values(), stage.pool)
                names, origin = draw_entrants(results, stage, {last.plan.config.name: len(world.parts)}, late)
            self.drawn[name].append(names)
            self._expect(names, stage.sources[0], self.drawn[name][0])
            file = stage.seated(names, "season.toml", late)
            # The file of the stages does not say the game of the cell, which may need more bots.
            form = self.case.third if name == THREE else self.case.form
            if fewer := refused(self.cell._replace(form=form, bots=len(names))):
                raise ConfigError(fewer)
        except (StoreError, ConfigError) as problem:
            self.problem = str(problem)
            assert "\n" not in self.problem
            done = last.contest.status.progress().done
            if isinstance(problem, StoreError):
                assert ending == ABORTED or done == 0, self.problem
            return None, {}
        assert ending != ABORTED
        config = replace(
            config_of(self.cell),
            name=name,
            format=form.split()[0],
            format_options=dict(FORMATS[form]),
            seed=self.cell.seed + len(world.parts),
            absent_ms=4_000,  # BYE lets them come after 2 s
            origin=origin,
        )
        digests = {bot.name: bot.token_sha256 for bot in file.bot}
        entrants = {
            bot: replace(world.entrants[bot], token_sha256=digest or world.entrants[bot].token_sha256)
            for bot, digest in digests.items()
        }
        self._check_tokens(entrants)
        kinds = {bot: world.kinds[bot] for bot in names}
        slots = {bot: count for bot, count in world.parts[0].plan.slots.items() if bot in kinds}
        return Plan(config, kinds, slots=slots), entrants

    def _expect(self, names: list[str], source: Source, first: list[str]) -> None:
        """Who comes, by the table and the states of the bots alone; `first` came when it was drawn first."""
        overview = self.part.contest.status.overview()
        out = {bot.name for bot in overview.bots if bot.where in (KICKED, WITHDRAWN)}
        ranks = {row.name: row.rank for row in overview.progress.standings if row.name not in out}
        assert len(set(names)) == len(names)
        assert out.isdisjoint(names), (names, out)
        left = max(0, len(ranks) - source.after)
        assert len(names) == (left if source.first is None else min(source.first, left))
        assert self._ending not in FINAL or names == first
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
        newest = {name: each.token_sha256 for name, each in self.world.entrants.items()}
        for part in self.world.parts:
            own = {name: each.token_sha256 for name, each in part.entrants.items()}
            for order in part.contest.status.overview().orders:
                if order.verb in ("token", "add"):
                    newest[order.target] = NEW_TOKEN if order.verb == "token" else own[order.target]
        assert all(each.token_sha256 == newest[name] for name, each in entrants.items())

    # -- when

    def was_played(self) -> bool:
        return self._begun or self.problem is not None or self._is_held

    def _is_now(self) -> bool:
        return self.part.plan.config.name == f"end-{self._stage}" and super()._is_now()


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
    assert not season.to_come or season.problem is not None or season._is_held
    with TemporaryDirectory() as folder:
        path = Path(folder) / "arena.db"
        for part in world.parts:
            write(world, path, world.server.reasons[part.plan.config.name], part=part)
        with Results(path) as results:
            for number in range(2, len(world.parts) + 1):
                assert check_entrants(results, results.contest(str(number))) is None
    return season
