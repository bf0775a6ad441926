"""Simulated contests on one server: bots, network, disk and server out of one seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from tests.simulation.bots import HONEST, Honest, Spectator
from tests.simulation.client import Client, Connection
from tests.simulation.invariants import Counts, InvariantChecker, Violation
from tests.simulation.network import LOCAL, MS, EventQueue, FaultProfile, Link, ServerSocket, seeded
from tests.simulation.server import Hosted, SimulatedServer

from arena_protocol.record import GameRecord
from arena_server.core.admission import ConnectionLimits
from arena_server.core.contest import Contest
from arena_server.core.journal import Past
from arena_server.core.orders import ORDERS
from arena_server.core.router import UNLIMITED
from arena_server.terms.config import ContestConfig, Entrant

#: The orders that have a target.
TARGETED = frozenset(verb for verb, order in ORDERS.items() if order.about)


@dataclass(frozen=True, slots=True)
class Plan:
    """A contest to be simulated. `slots`: how many games each bot may play at once; 1 if it is not there.

    Those of `late` are no entrants until they are added. `named`: its bots say `contest=` in HELLO.
    `contest` makes what referees it. The bots of `frozen` are so while they are not on move. One that is
    not `listed` is as the game of a visitor: no answer names it.
    """

    config: ContestConfig
    kinds: Mapping[str, type[Honest]]
    slots: Mapping[str, int] = field(default_factory=dict)
    named: bool = False
    contest: Callable[..., Contest] = Contest
    late: frozenset[str] = frozenset()
    frozen: frozenset[str] = frozenset()
    listed: bool = True


class Order(NamedTuple):
    """What the organiser orders at a moment: `stop`, or `void` or `replay` of the game that `pick` draws."""

    at: int
    verb: str
    pick: int = 0


class Part:
    """One contest of a world: its entrants, its checker and the machines of its bots."""

    def __init__(
        self, plan: Plan, world: Worlds, secrets: Random, tokens: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """A bot of `tokens` has this one, as in another contest."""
        self.plan = plan
        self._secrets = secrets
        self._world = world
        tokens = {name: tokens.get(name) or secrets.randbytes(8).hex() for name in plan.kinds}
        self.entrants = {
            name: Entrant(
                name,
                sha256(tokens[name].encode("ascii")).hexdigest(),
                kind is not Spectator,
                plan.slots.get(name, 1),
                ponders=name not in plan.frozen,
            )
            for name, kind in plan.kinds.items()
        }
        may = {name: kind.may for name, kind in plan.kinds.items()}
        self.checker = InvariantChecker(
            plan.config,
            may,
            lambda: self.contest.status.progress(),
            self._counts,
            lambda: self.contest.deadlines.next,
            plan.slots,
        )
        #: By the bot's name, and beyond its first slot by name and slot.
        self.clients: dict[str, Client] = {}
        self.tokens = tokens

    def make(self, now: int, past: Past | None, ended: str | None = None) -> Contest:
        """The contest of a server that is started, or started again."""
        plan, secrets = self.plan, self._secrets
        entrants = [each for name, each in self.entrants.items() if name not in plan.late]
        draw = lambda n: secrets.randbytes(n).hex()  # noqa: E731
        return plan.contest(plan.config, entrants, draw, now, past, ended=ended)

    @property
    def hosted(self) -> Hosted:
        """What a server has of it."""
        return Hosted(self.make, self.checker, self.plan.listed)

    @property
    def contest(self) -> Contest:
        """The contest of the last process of the server that had it."""
        return self._world.server.runs[self.plan.config.name].contest

    def _counts(self) -> Counts:
        games = self.contest._games
        running = sum(live.counts and not live.announced for live in games._games.values())
        return Counts(games.fixtures.results.done, games.fixtures.results.void, running)

    def connect_bots(self) -> None:
        """Make the machines of the bots."""
        for name, kind in self.plan.kinds.items():
            self.clients[name] = self._client(name, kind)
        for name, count in self.plan.slots.items():
            for slot in range(2, count + 1):
                client = self.clients[f"{name}/{slot}"] = self._client(name, self.plan.kinds[name])
                client.slot = slot

    def _while_it_runs(self, check: Callable[..., None]) -> Callable[..., None]:
        """A server that is started again has no contest any more that is over: its keys open nothing."""

        def checked(*told: str) -> None:
            if self.plan.config.name in self._world.server.process.runs:
                check(*told)

        return checked

    def _client(self, name: str, kind: type[Honest]) -> Client:
        world, config = self._world, self.plan.config
        # A spectator has no seat to resume: its key is worth nothing.
        refused = self._while_it_runs(self.checker.key_refused) if kind is not Spectator else lambda _: None
        # A script says HELLO in ways of its own, and a bot that misbehaves may be kept out.
        kept_out = self._while_it_runs(self.checker.kept_out) if kind in HONEST else lambda name, line: None
        client = Client(name, kind, world.queue, world.branch(), world.dial, refused, kept_out)
        client.token = self.tokens[name]
        client.rivals = tuple(other for other in self.plan.kinds if other != name)
        client.clock_ms = config.clock_ms
        client.asks = config.storage_bytes > 0
        client.contest = config.name if self.plan.named else None
        return client


class Worlds:
    """Several contests on one server, and everything between them. `run` plays all to their ends."""

    def __init__(
        self,
        seed: int,
        plans: Sequence[Plan],
        faults: FaultProfile = LOCAL,
        orders: Sequence[Order] = (),
        limits: ConnectionLimits = UNLIMITED,
        *,
        several: bool = False,
    ) -> None:
        """`several`: a bot has one token for all contests, and the server has those that are over, too."""
        self.queue = EventQueue()
        self._orders = orders
        self._rng = seeded(seed)
        self._faults = faults
        self._several = several
        self.parts: list[Part] = []
        for plan in plans:
            self.parts.append(self._new_part(plan))
        hosted = {part.plan.config.name: part.hosted for part in self.parts}
        # With half of the seeds a page watches too.
        watched = seed % 2 == 1
        self.server = SimulatedServer(
            hosted,
            self.queue,
            faults,
            self.branch(),
            observed=watched,
            limits=limits,
            serves_over=several,
        )
        self.server.resumed = self._come_back
        for part in self.parts:
            part.connect_bots()

    def _new_part(self, plan: Plan) -> Part:
        tokens = self.parts[0].tokens if self._several and self.parts else {}
        return Part(plan, self, self.branch(), tokens)

    def add(self, plan: Plan) -> Part:
        """Begin one more contest beside the others, with machines of its own."""
        self.begin(part := self.prepare(plan))
        part.connect_bots()
        for client in part.clients.values():
            self.queue.after(self._rng.randrange(50 * MS), client.connect)
        return part

    def prepare(self, plan: Plan) -> Part:
        """One more contest, which has not begun."""
        return self._new_part(plan)

    def begin(self, part: Part) -> None:
        """Begin a contest that was prepared, beside the others."""
        self.parts.append(part)
        self.server.add(part.plan.config.name, part.hosted)

    def branch(self) -> Random:
        """A source of chance of its own, so that the draws of one part do not shift those of another."""
        return seeded(self._rng.getrandbits(64))

    def dial(self, client: Client, connection: Connection) -> ServerSocket | None:
        connection.link = Link(self.queue, self._faults, client.rng, connection)
        return self.server.accept(connection.link, client.name, client.bot.window)

    def run(self, limit: int, arrivals: Mapping[str, int] | None = None) -> None:
        """Play until every contest has finished and nothing is left to happen.

        `arrivals` says when which bots of the first contest connect; all others do within 50 ms. Raises
        Violation if something that must hold does not, or after `limit` nanoseconds.
        """
        for part in self.parts:
            for name, client in part.clients.items():
                if arrivals is None or part is not self.parts[0]:
                    self.queue.after(self._rng.randrange(50 * MS), client.connect)
                elif name in arrivals:
                    self.queue.after(arrivals[name], client.connect)
        for order in self._orders:
            self.queue.after(order.at, partial(self._give, order))
        self.server.start()
        while self.queue.next is not None and not self.server.gone:
            if self.queue.next > limit:
                raise Violation(f"the contest has not ended after {limit / 1e9:.0f} s of virtual time")
            self.queue.step()
        for part in self.parts:
            if part.plan.config.name not in self.server.closed:
                part.checker.over(self.queue.now)

    def _give(self, order: Order) -> None:
        part = self.parts[order.pick % len(self.parts)]
        begun = part.checker.begun
        target = begun[order.pick % len(begun)] if begun and order.verb in TARGETED else ""
        self.server.order(part.plan.config.name, order.verb, target)

    def _come_back(self) -> None:
        """The server is there again after a stop, which was final for its clients."""
        for part in self.parts:
            clients = part.clients.values() if part.plan.config.name in self.server.process.runs else ()
            for client in clients:
                if client.reads and client.bot.returns:
                    self.queue.after(self._rng.randrange(50 * MS), client.connect)


class World(Worlds):
    """One contest, its bots by name and everything between them."""

    def __init__(
        self,
        seed: int,
        config: ContestConfig,
        kinds: Mapping[str, type[Honest]],
        faults: FaultProfile = LOCAL,
        slots: Mapping[str, int] = MappingProxyType({}),
        orders: Sequence[Order] = (),
        late: frozenset[str] = frozenset(),
        frozen: frozenset[str] = frozenset(),
        beside: Sequence[Plan] | None = None,
        contest: Callable[..., Contest] = Contest,
    ) -> None:
        """Those of `beside` are on the same server; None: this contest is alone on one that ends with it."""
        self.config = config
        self.kinds = kinds
        plan = Plan(config, kinds, slots, named=bool(beside), contest=contest, late=late, frozen=frozen)
        several = beside is not None
        super().__init__(seed, [plan, *(beside or ())], faults, orders, several=several)
        self._part = self.parts[0]
        self.entrants = self._part.entrants
        self.checker = self._part.checker
        self.clients = self._part.clients

    @property
    def contest(self) -> Contest:
        """The contest of the current process of the server."""
        return self._part.contest

    @property
    def ending(self) -> str | None:
        """How it has ended; None while it goes on."""
        return self.server.reasons.get(self.config.name)

    @property
    def records(self) -> dict[str, GameRecord]:
        """The record of every game so far."""
        return self.checker.records
