"""One simulated contest: bots, wires, disk and referee out of one seed.

It must not know: how contests are chosen, what is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from random import Random

from tests.simulation.bots import Client, Honest, Line, Onlooker
from tests.simulation.invariants import Audit, Violation
from tests.simulation.network import BREEZE, MS, Agenda, Link, Socket, Weather, dice
from tests.simulation.server import Shell

from arena_protocol.record import GameRecord
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.contest import Contest
from arena_server.core.journal import Past


class World:
    """One contest, its bots and everything between them. `run` plays it to its end."""

    def __init__(
        self, seed: int, plan: ContestPlan, zoo: Mapping[str, type[Honest]], weather: Weather = BREEZE
    ) -> None:
        self.plan = plan
        self.zoo = zoo
        self.agenda = Agenda()
        self._rng = dice(seed)
        self._weather = weather
        secrets = self._branch()
        tokens = {name: secrets.randbytes(8).hex() for name in zoo}
        entrants = [
            Entrant(name, sha256(tokens[name].encode("ascii")).hexdigest(), kind is not Onlooker)
            for name, kind in zoo.items()
        ]

        def contest(now: int, past: Past | None) -> Contest:
            return Contest(plan, entrants, lambda n: secrets.randbytes(n).hex(), now, past)

        may = {name: kind.may for name, kind in zoo.items()}
        self.audit = Audit(plan, may, lambda: self.contest.progress(), lambda: self.contest.deadline)
        self.shell = Shell(contest, self.agenda, weather, self._branch(), self.audit)
        self.clients = {name: self._client(name, kind, tokens) for name, kind in zoo.items()}

    def _branch(self) -> Random:
        """A source of chance of its own, so that one part's draws do not shift another's."""
        return dice(self._rng.getrandbits(64))

    def _client(self, name: str, kind: type[Honest], tokens: Mapping[str, str]) -> Client:
        client = Client(name, kind, self.agenda, self._branch(), self._dial)
        client.token = tokens[name]
        client.rivals = tuple(other for other in self.zoo if other != name)
        client.clock_ms = self.plan.clock_ms
        return client

    def _dial(self, client: Client, line: Line) -> Socket | None:
        line.link = Link(self.agenda, self._weather, client.rng, line)
        return self.shell.accept(line.link, client.name, client.bot.window)

    @property
    def contest(self) -> Contest:
        """The referee as it is now; another one after a crash."""
        return self.shell.contest

    @property
    def records(self) -> dict[str, GameRecord]:
        """The record of every game so far."""
        return self.audit.records

    def run(self, limit: int, arrivals: Mapping[str, int] | None = None) -> None:
        """Play until the contest has finished and all is quiet.

        `arrivals` says when which bots connect; without it all do, soon. Raises Violation if
        something that must hold does not, or after `limit` nanoseconds.
        """
        if arrivals is None:
            arrivals = {name: self._rng.randrange(50 * MS) for name in self.clients}
        for name, moment in arrivals.items():
            self.agenda.after(moment, self.clients[name].connect)
        while self.agenda.now < limit:
            action, deadline = self.agenda.next, self.shell.deadline
            if action is not None and (deadline is None or action <= deadline):
                self.agenda.step()
            elif deadline is not None:
                self.agenda.wait_until(deadline)
                self.shell.tick()
            else:
                self.audit.require(self.audit.finished is not None, "nothing happens any more")
                return
        raise Violation(f"the contest has not ended after {limit / 1e9:.0f} s of virtual time")
