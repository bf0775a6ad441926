"""A webhook in virtual time: the real Delivery and its file, and a receiver that answers by a script.

The receiver accepts, refuses, answers too late with and without having taken the message, and is away for a
while. The server is killed before a message is sent, before its answer counts, and before and after the file
is written. A process of the server has a Delivery of its own, as a real one has.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

from tests.simulation.disk import RECORD, Written
from tests.simulation.network import MS, SECOND, one_in
from tests.simulation.process import SimulatedProcess
from tests.simulation.publication import write
from tests.simulation.shown import OVER, Cut
from tests.simulation.wall import Wall
from tests.simulation.world import World

from arena_protocol.record_codec import decode
from arena_server.core.life import RUNNING
from arena_server.terms.spec import Webhook
from arena_server.webhooks.delivery import KEEP_S, Cursors, Delivery
from arena_server.webhooks.message import TIMEOUT_S, Cursor, Message

#: At a boundary of a delivery the server is killed with a chance of one in this.
KILLED_ONE_IN = 12


class Killed(BaseException):
    """The process ended in the midst of a delivery."""


class KilledCursors(Cursors):
    """`boundary` is called before and after a place is kept."""

    boundary: Callable[[], None]

    def take(self, hook: Webhook, cursor: Cursor) -> None:
        self.boundary()
        super().take(hook, cursor)
        self.boundary()


class SimulatedHook:
    """Delivers the results of the contest of a world; raises Violation by the checker of that."""

    def __init__(self, world: World, wall: Wall, cut: Cut, rng: Random, folder: Path, batch: int) -> None:
        self._world, self._wall, self._cut, self._rng = world, wall, cut, rng
        self._hook = Webhook("https://example.org/hook", "a secret of the receiver", batch=batch)
        self._database, self._file = folder / "arena.db", folder / "cursors"
        self._delivery: Delivery | None = None
        self._process: SimulatedProcess | None = None
        #: What the database has: how many results, and the status.
        self._written: tuple[int, str] | None = None
        self._waits = False
        #: How long the last attempt took, and until when the receiver is away.
        self._took = self._away_until = 0
        #: The place that comes next in this process.
        self._next = 1
        #: When the answer to each result came, by its place.
        self.confirmed: dict[int, int] = {}
        self._identities: dict[int, str] = {}
        self.attempts = self.repeats = self.kills = 0

    # -- the server's side

    def begin(self, process: SimulatedProcess) -> None:
        """A process begins, and goes on with what the one before it has kept."""
        self._process, self._waits = process, False
        cursors = KilledCursors(self._file)
        cursors.boundary = self._boundary
        cursors.begin(self._hook, int(self._wall.at(0)), None)
        self._note_kept()
        self._delivery = Delivery(
            self._hook,
            1,
            self._database,
            self._world.config.name,
            cursors,
            lambda event: None,
            send=self._send,
            clock=lambda: self._wall.at(self._world.queue.now),
            steady=lambda: self._world.queue.now / SECOND,
        )
        self._later(process, 0)

    def wake(self) -> None:
        """Something has happened on the disk, or the contest is over."""
        if self._waits and self._process is not None:
            self._waits = False
            self._later(self._process, 0)

    def _later(self, process: SimulatedProcess, delay: int) -> None:
        self._world.queue.after(delay, lambda: self._step(process))

    def _step(self, process: SimulatedProcess) -> None:
        if process is not self._process or not process.alive:
            return
        assert self._delivery is not None
        self._write()
        self._took = 0
        try:
            pause = self._delivery.step()
        except Killed:
            return
        self._waits = pause is None
        if pause is not None:
            # What is left of a pause may be less than a nanosecond, and the clock has to go on.
            self._later(process, self._took + ceil(pause * SECOND))

    def _write(self) -> None:
        """Have the database as the server has left it up to now."""
        state = len(self._results()), self._status
        if state != self._written and state[0]:
            for file in self._database.parent.glob(f"{self._database.name}*"):
                file.unlink()
            write(self._world, self._database, self._status, self._wall.set)
            self._written = state

    def _results(self) -> list[Written]:
        durable = self._world.server.disk.durable(self._world.config.name)
        return [each for each in durable if each.kind == RECORD]

    @property
    def _status(self) -> str:
        return self._world.server.reasons.get(self._world.config.name, RUNNING)

    def _boundary(self) -> None:
        """The server may be killed here; one whose contest is over is started again to deliver the rest."""
        if not one_in(self._rng, KILLED_ONE_IN):
            return
        self.kills += 1
        process, self._process = self._process, None
        if self._world.server.finished is None:
            self._world.server.crash()
        elif process is not None:
            self._world.queue.after(SECOND, lambda: self.begin(process))
        raise Killed

    def _note_kept(self) -> None:
        """What was confirmed, and not kept, may come again; nothing is kept that was not confirmed."""
        ((_, taken),) = json.loads(self._file.read_bytes()).values()
        kept = max((place for _, _, place in taken), default=0)
        last = max(self.confirmed, default=0)
        self._require(kept <= last, f"place {kept} is kept, and {last} was confirmed")
        late = [self.confirmed[place] for place in range(kept + 1, last + 1)]
        # The last message may be on its way to the file: a slow answer came long behind the one before.
        *before, _ = sorted({*late}) or [0]
        soon = not before or max(before) - min(before) <= KEEP_S * SECOND
        self._require(soon, f"{len(late)} results were confirmed, and are not kept")
        self.repeats += len(late)
        self._next = kept + 1

    # -- the receiver's side

    def _send(self, message: Message, seconds: int) -> str | None:
        """One attempt; what it tells is judged whatever the receiver answers."""
        now, body = self._world.queue.now, json.loads(message.body)
        games = body["games"] if body["type"] == "games" else [body]
        self._judge(games, now)
        if len(games) == 1:
            first = self._identities.setdefault(self._next, message.identity)
            self._require(first == message.identity, f"place {self._next} came by two names")
        self.attempts += 1
        self._boundary()
        problem = self._answer(now)
        self._boundary()
        if problem is None:
            for each in games:
                self.confirmed[each["game"]["place"]] = now
            self._next += len(games)
        return problem

    def _judge(self, games: list[dict[str, Any]], now: int) -> None:
        results, over = self._results(), self._status in OVER
        for place, each in enumerate((each["game"] for each in games), start=self._next):
            self._require(each["place"] == place, f"place {each['place']} came where {place} is next")
            record = decode(results[place - 1].data)
            told = each["id"], tuple(each["names"]), tuple(each["totals"]), each["end"]
            true = record.game_id, record.names, record.totals, record.end
            self._require(told == true, f"place {place} is delivered as {told}, and is {true}")
            may = self._cut.may_result(results[place - 1].at, now // MS * MS, over=over)
            self._require(may, f"place {place} is delivered before its time")

    def _answer(self, now: int) -> str | None:
        if now < self._away_until:
            return "Connection refused"
        match self._rng.randrange(12):
            case 0:
                return "answered with status 500"
            case 1 | 2:  # the server cannot know whether it has taken the message
                self._took = int(TIMEOUT_S * SECOND)
                return f"no answer within {TIMEOUT_S:g} s"
            case 3:
                self._away_until = now + self._rng.randrange(20 * SECOND)
                return "Connection refused"
            case _:
                self._took = self._rng.randrange(200 * MS)
                return None

    def over(self) -> None:
        """Nothing will happen any more: every result has been delivered."""
        missing = sorted(set(range(1, len(self._results()) + 1)) - self.confirmed.keys())
        self._require(not missing, f"the results at {missing} were never delivered")

    def _require(self, holds: bool, what: str) -> None:
        self._world.checker.require(holds, f"webhook: {what}")
