"""The life of a contest at its edges: fields of 0 to 7 bots, and an order or a death at each moment of it.

A `Cell` is one contest, `played` plays it and checks what has to hold at its end and at a second start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random

from tests.simulation.crashes import HOUR, QUEUED, Steady
from tests.simulation.edge_cells import LATE, NAMES, Cell, config_of
from tests.simulation.invariants import InvariantChecker
from tests.simulation.network import MS, SECOND
from tests.simulation.strangers import GUESTS, Visitor, check_told
from tests.simulation.world import Part, Plan, World

from arena_protocol.record import VOID
from arena_server.core.contest import Contest
from arena_server.core.deal import number_of
from arena_server.core.effects import Effect, Journal, Reply
from arena_server.core.events import Command, Event, Hours, TimeUp
from arena_server.core.facts import Order
from arena_server.core.life import FINAL, FINISHED, RUNNING, ContestPhase, RunState, reason_of
from arena_server.core.overview import KICKED, WITHDRAWN, BotState
from arena_server.stats.standings import Row, row_json
from arena_server.terms.config import Entrant

#: The digest of the token that an order makes.
NEW_TOKEN = "5" * 64
#: How often, once a second, is looked at what a server that was started again does not know: it may be down.
LOOKS = 20


class Player(Steady):
    """Is sent away by orders, and may err where that is looked at."""

    may = frozenset({"disconnect", "organiser", "illegal", "never-ready", "timeout"})


class Erring(Player):
    """Sends an illegal move now and then."""

    def move(self) -> str:
        return "MOVE 0" if self.sometimes(9) else super().move()


class Watched:
    """A world in which the script of its cell is played, and what was answered."""

    def __init__(
        self,
        cell: Cell,
        beside: Sequence[Plan] | None = None,
        name: str = "end",
        contest: Callable[..., Contest] = Contest,
    ) -> None:
        self.cell, self.rng = cell, Random(cell.seed)
        kind = Erring if cell.terms.startswith("probation") else Player
        late = (LATE,) if LATE in cell.script else ()
        kinds = dict.fromkeys((*NAMES[: cell.bots], *late), kind)
        config = replace(config_of(cell), name=name)
        here = NAMES[: cell.bots]
        quorum = cell.bots - self.is_absent if cell.terms == "quorum" else 0
        self.world = World(
            cell.seed,
            config,
            kinds,
            QUEUED,
            slots=dict.fromkeys(here, 2) if cell.terms == "two at once" else {},
            late=frozenset(late),
            frozen=frozenset(here if cell.terms == "frozen" else ()),
            beside=beside,
            contest=partial(contest, quorum=quorum),
        )
        #: Called with the status of the contest at moments of the script, and when it ends or goes on.
        self.look: Callable[[str], None] = lambda status: None
        #: Each order and its answer: None if it was carried out.
        self.answers: list[tuple[str, str | None]] = []
        self.steps = [step for step in cell.script.split("; ") if step]
        self._writes: int | None = None
        self._given: dict[int, str] = {}
        self._looks = 0
        self._begun = self._power_cut = False
        server = self.world.server
        server.disk.boundary = self._boundary
        server.looked_at = self._looked_at
        self.visitors = [Visitor(kind, self.world) for kind in GUESTS[cell.guests]]
        self.watch(self.world.checker)

    @property
    def part(self) -> Part:
        """The contest that gets the orders."""
        return self.world.parts[0]

    @property
    def is_absent(self) -> bool:
        """Whether the last bot never comes."""
        return self.cell.absent and self.cell.bots > 2

    @property
    def name(self) -> str:
        return self.part.plan.config.name

    # -- what is observed

    def watch(self, checker: InvariantChecker) -> None:
        """See the answers to orders of a contest."""
        handled: Callable[[Event, list[Effect], int], None] = checker.handled

        def watched(event: Event, effects: list[Effect], now: int) -> None:
            handled(event, effects, now)
            if isinstance(event, Command):
                self._answered(event, effects)

        checker.handled = watched  # type: ignore[method-assign]

    def _answered(self, command: Command, effects: list[Effect]) -> None:
        """An order has one answer: it is carried out, or refused by one line and leaves no trace."""
        replies = [each for each in effects if isinstance(each, Reply)]
        assert [each.number for each in replies] == [command.number]
        (reply,) = replies
        said = f"{command.verb} {command.target}".strip()
        self.answers.append((said, reply.problem))
        if reply.problem is not None:
            assert re.fullmatch(r"[^\n]{8,300}", reply.problem), (said, reply.problem)
            assert effects == [reply], f"{said} was refused, and left {effects}"
            return
        entries = [entry for each in effects if isinstance(each, Journal) for entry in each.entries]
        # A contest that is archived takes the order again, and keeps nothing.
        if (command.verb, entries) != ("archive", []):
            assert any(entry[1] == "order" for entry in entries), f"{said} is not in the journal"
        else:
            assert self.part.contest.life.is_archived

    # -- when

    def _boundary(self) -> None:
        server = self.world.server
        if not server.alive:
            return
        if self._writes is not None:
            self._writes += 1
            if self._writes - 1 == self.cell.kill:
                self._power_cut |= self.cell.power
                server.crash(self.cell.power)
        elif not self._begun and self.cell.moment not in ("before", "over") and self._is_now():
            self._begin()

    def _is_now(self) -> bool:
        progress = self.part.contest.status.progress()
        match self.cell.moment:
            case "first":
                return progress.done == 0 and progress.plies > 0
            case "between":
                return progress.done > 0 and progress.running == 0 and progress.ended is None
        return 0 < progress.running == progress.left

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._writes = 0
            self.world.queue.after(0, self._next)

    def _looked_at(self, name: str, status: str) -> None:
        if name == self.name:
            self._look(status)
        if status != RUNNING and name == self.name:
            self._begin()

    # -- the script

    def _next(self) -> None:
        if not self.steps:
            # A power cut may have taken back what was answered, too.
            self._looks += 1
            ending = self.world.server.reasons.get(self.name)
            if ending in (None, "stopped") and self._looks < LOOKS:
                if ending is None and (again := self._lost()):
                    self._do(again)
                self.world.queue.after(SECOND, self._next)
            return
        if not self.world.server.alive:
            self.world.queue.after(50 * MS, self._next)
            return
        self._do(self.steps.pop(0))
        self.world.queue.after(3 * MS, self._look)
        self.world.queue.after(4 * MS if self.steps else SECOND, self._next)

    def _look(self, status: str | None = None) -> None:
        status = status or self.world.server.reasons.get(self.name, RUNNING)
        # The process that has ended knew more than its disk.
        if status == RUNNING or self.world.server.alive:
            self.look(status)

    def _lost(self) -> str:
        """What the next server does not know of the end of the script: the time is no fact."""
        if not self.world.server.alive:
            return "day"
        life = self.part.contest.life
        if life.phase is ContestPhase.PLANNED:  # who was kicked, or has left, keeps its quorum away
            return "start"
        if life.run_state is RunState.PAUSED and "resume" in self.cell.script:
            return "resume"
        return "time" if "time" in self.cell.script and not life.time_up else ""

    def _do(self, step: str) -> None:
        world, server = self.world, self.world.server
        bot, other = self.rng.sample(NAMES[: self.cell.bots], 2)
        game = self.rng.choice(self.part.checker.begun or ["g1"])
        verb, _, target = step.format(bot=bot, other=other, game=game).partition(" ")
        match verb:
            case "stop" | "suspend":
                server.order(self.name, verb)
            case "come":
                world.clients[LATE].connect()
            case "time":
                self._feed(TimeUp())
            case "night" | "day":
                self._feed(Hours(verb == "day"))
            case _:
                self._feed(self._command(verb, target))

    def _feed(self, event: Event) -> None:
        """To a contest that is over, too, unless its server has been started again since."""
        process = self.world.server.process
        process.call(partial(process.feed, self.name, event))

    def _command(self, verb: str, target: str) -> Command:
        about = target.split(" ")[0]
        stored = self.world.server.disk.past(self.name).results
        games = tuple(
            g for g in stored if about in g.names or (about[:1] == "g" and g.number == _number(about))
        )
        entrant = self.part.entrants.get(about)
        if verb == "token":
            entrant = Entrant(about, NEW_TOKEN)
        self._given[len(self._given)] = verb
        return Command(
            10_000 + len(self._given),
            verb,
            target,
            "the jury",
            0,
            "seen",
            entrant,
            "7" * 64,
            1 << 50,
            games=games,
        )

    # -- the run

    def run(self) -> None:
        here = NAMES[: self.cell.bots - self.is_absent]
        if self.cell.moment == "before":
            self.world.queue.after(1, self._begin)
        for visitor in self.visitors:
            self.world.queue.after(20 * MS, visitor.connect)
        slots = [f"{name}/2" for name in here if self.cell.terms == "two at once"]
        self.world.run(HOUR, dict.fromkeys([*here, *slots], 20 * MS))
        assert self.was_played(), "the script was not played"
        # A server that was stopped after the end of its contest is not there again.
        left = self.steps if self.world.server.alive else []
        assert not (self._begun and left), "the script was not played"

    def was_played(self) -> bool:
        """Whether the moment of the script has come."""
        return self._begun


def _number(game: str) -> int:
    return number_of(game) if re.fullmatch(r"g[0-9]{1,9}", game) else 0


def played(cell: Cell, look: Callable[[World, Part, str], None] | None = None) -> Watched:
    """Play a cell and check it; `look` is called with the status at moments of it."""
    watched = Watched(cell)
    if look is not None:
        watched.look = partial(look, watched.world, watched.part)
    watched.run()
    world = watched.world
    assert world.ending is not None
    if world.server.alive and "end" in world.server.process.runs:
        check_end(world)
        stops = not {"stop", "suspend"}.isdisjoint(cell.script.split("; "))
        check_told(world, watched.part, watched.visitors, stops=stops)
    check_second_start(world)
    return watched


def check_end(world: World, part: Part | None = None) -> None:
    """Each game was played, or is named with a reason; the table is whole."""
    part = part or world.parts[0]
    progress = part.contest.status.progress()
    ending = world.server.reasons[part.plan.config.name]
    assert progress.ended == ending
    assert progress.running == 0
    assert progress.holds == () == progress.waiting
    check_table(progress.standings)
    counted = [record for record in part.checker.records.values() if record.end != VOID]
    fixtures = part.contest._games.fixtures
    numbers = {number_of(record.game_id) for record in counted}
    assert progress.done == len(numbers - fixtures.annulled) - fixtures.rulings.struck
    if progress.total is not None:
        left = sum(progress.unplayed.values())
        assert progress.done + left == progress.total or progress.separated, (
            progress,
            "games without a reason",
        )
        assert (
            (ending == FINISHED) == (left == 0 and progress.done > 0)
            or reason_of(ending)
            or ending
            in (
                "stopped",
                "aborted",
            )
        )
    assert all(cause and count > 0 for cause, count in progress.unplayed.items())
    overview = part.contest.status.overview()
    check_orders(overview.orders, overview.bots)


def check_orders(orders: Sequence[Order], bots: Sequence[BotState]) -> None:
    """Who is kicked or withdrawn at the end follows from the orders that stand, whatever was between them."""
    kicked: set[str] = set()
    withdrawn: set[str] = set()
    stood: list[Order] = []
    for order in orders:
        back = order.verb == "undo"
        if back:
            last = stood.pop()
            assert order.target == str(last.number), "the order that was taken back is not the last one"
            order = last
        else:
            stood.append(order)
        name = order.target.split(" ")[0]
        match order.verb:
            case "kick":
                (kicked.discard if back else kicked.add)(name)
            case "lift":
                kicked.discard(name)
            case "remove" | "disqualify":
                (withdrawn.discard if back else withdrawn.add)(name)
            case "add" if back:
                withdrawn.add(name)
            case "add":  # who comes again begins without faults
                withdrawn.discard(name)
                kicked.discard(name)
    known = {bot.name for bot in bots}
    assert {bot.name for bot in bots if bot.where == WITHDRAWN} == withdrawn
    assert {bot.name for bot in bots if bot.where == KICKED} == (kicked & known) - withdrawn


def check_table(rows: Sequence[Row]) -> None:
    """Ranks are whole, from 1; equals share one, and the next are left out."""
    ranks = [row.rank for row in rows]
    assert all(type(rank) is int for rank in ranks)
    assert ranks == sorted(ranks)
    assert all(rank in (place, ranks[place - 2]) for place, rank in enumerate(ranks, start=1))
    assert len({row.name for row in rows}) == len(rows)
    for row in map(row_json, rows):
        assert row["rank"] is not None or row["games"] == 0
    assert sum(row.wins for row in rows) <= sum(row.games for row in rows)


def check_second_start(world: World, part: Part | None = None) -> None:
    """What a server that is started again knows of the contest is what was there; nothing of it is lost."""
    part = part or world.parts[0]
    name, final = part.plan.config.name, world.server.reasons[part.plan.config.name] in FINAL
    world.server.disk.settle()
    past = world.server.disk.past(name)
    again = part.make(world.queue.now, past, world.server.reasons[name] if final else None)
    progress = again.status.progress()
    check_table(progress.standings)
    if not (world.server.alive and name in world.server.process.runs):
        return
    before = part.contest.status.progress()
    assert [row_json(row) for row in progress.standings] == [row_json(row) for row in before.standings]
    assert (progress.done, progress.void) == (before.done, before.void)
    if final:
        assert progress.total == before.total
    overview = again.status.overview()
    check_orders(overview.orders, overview.bots)
    orders = [(order.verb, order.target) for order in part.contest.status.overview().orders]
    assert [(order.verb, order.target) for order in again.status.overview().orders] == orders
