"""One simulated contest: bots, network, disk and server out of one seed."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from random import Random
from types import MappingProxyType

from tests.simulation.bots import Honest, Spectator
from tests.simulation.client import Client, Connection
from tests.simulation.invariants import InvariantChecker, Violation
from tests.simulation.network import LOCAL, MS, EventQueue, FaultProfile, Link, ServerSocket, seeded
from tests.simulation.server import SimulatedServer

from arena_protocol.record import GameRecord
from arena_server.core.config import ContestConfig, Entrant
from arena_server.core.contest import Contest
from arena_server.core.journal import Past


class World:
    """One contest, its bots by name and everything between them. `run` plays it to its end."""

    def __init__(
        self,
        seed: int,
        config: ContestConfig,
        kinds: Mapping[str, type[Honest]],
        faults: FaultProfile = LOCAL,
        slots: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """`slots`: how many games each bot may play at once; 1 if it is not there."""
        self.config = config
        self.kinds = kinds
        self.queue = EventQueue()
        self._rng = seeded(seed)
        self._faults = faults
        secrets = self._branch()
        tokens = {name: secrets.randbytes(8).hex() for name in kinds}
        entrants = [
            Entrant(
                name,
                sha256(tokens[name].encode("ascii")).hexdigest(),
                kind is not Spectator,
                slots.get(name, 1),
            )
            for name, kind in kinds.items()
        ]

        def contest(now: int, past: Past | None) -> Contest:
            return Contest(config, entrants, lambda n: secrets.randbytes(n).hex(), now, past)

        may = {name: kind.may for name, kind in kinds.items()}
        self.checker = InvariantChecker(
            config, may, lambda: self.contest.progress(), lambda: self.contest.deadline, slots
        )
        self.server = SimulatedServer(contest, self.queue, faults, self._branch(), self.checker)
        #: By the bot's name, and beyond its first slot by name and slot.
        self.clients = {name: self._client(name, kind, tokens) for name, kind in kinds.items()}
        for name, count in slots.items():
            for slot in range(2, count + 1):
                client = self.clients[f"{name}/{slot}"] = self._client(name, kinds[name], tokens)
                client.slot = slot

    def _branch(self) -> Random:
        """A source of chance of its own, so that the draws of one part do not shift those of another."""
        return seeded(self._rng.getrandbits(64))

    def _client(self, name: str, kind: type[Honest], tokens: Mapping[str, str]) -> Client:
        # A spectator has no seat to resume: its key is worth nothing.
        refused = self.checker.key_refused if kind is not Spectator else lambda _: None
        client = Client(name, kind, self.queue, self._branch(), self._dial, refused)
        client.token = tokens[name]
        client.rivals = tuple(other for other in self.kinds if other != name)
        client.clock_ms = self.config.clock_ms
        return client

    def _dial(self, client: Client, connection: Connection) -> ServerSocket | None:
        connection.link = Link(self.queue, self._faults, client.rng, connection)
        return self.server.accept(connection.link, client.name, client.bot.window)

    @property
    def contest(self) -> Contest:
        """The contest of the current process of the server."""
        return self.server.contest

    @property
    def records(self) -> dict[str, GameRecord]:
        """The record of every game so far."""
        return self.checker.records

    def run(self, limit: int, arrivals: Mapping[str, int] | None = None) -> None:
        """Play until the contest has finished and nothing is left to happen.

        `arrivals` says when which bots connect; without it all do within 50 ms. Raises Violation if
        something that must hold does not, or after `limit` nanoseconds.
        """
        if arrivals is None:
            arrivals = {name: self._rng.randrange(50 * MS) for name in self.clients}
        for name, moment in arrivals.items():
            self.queue.after(moment, self.clients[name].connect)
        self.server.start()
        while self.queue.next is not None:
            if self.queue.next > limit:
                raise Violation(f"the contest has not ended after {limit / 1e9:.0f} s of virtual time")
            self.queue.step()
        self.checker.require(self.checker.finished is not None, "nothing happens any more")
