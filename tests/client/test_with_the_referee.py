"""Clients and scripts against the referee in memory: both sides of the wire agree.

A queue carries the lines and a counter is the clock. Connections are cut at chosen moments, and a
contest with cuts ends like the one without.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena_client import AsyncBot, Bot, as_bot
from arena_client.protocol import ClientProtocol
from arena_client.script import Close as Leave
from arena_client.script import Raw, Say, ScriptedClient, StopReading, Wait
from arena_client.scripted import create
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader
from arena_server.core.contest import Contest
from arena_server.core.effects import Effect, Journal, Marker, Store
from arena_server.core.events import Event, Lost, Stored, Tick
from arena_server.terms.config import ContestConfig, Entrant

from ..server.core.harness import MS, BytesHarness


class PlayerEnd:
    """A client that connects again as soon as its connection is cut."""

    returns = True

    def __init__(self, bot: Bot | AsyncBot, name: str) -> None:
        self.protocol = ClientProtocol(bot, name)

    def opened(self) -> bytes:
        self.protocol.connection_made()
        return b""

    def feed(self, data: bytes) -> tuple[bytes, bool]:
        """Return what the client sends, and whether it stays."""
        self.protocol.receive_data(data)
        sent = self.protocol.data_to_send()
        while (job := self.protocol.next_job()) is not None:
            self.protocol.complete(job, job.call())
            sent += self.protocol.data_to_send()
        return sent, self.protocol.bye_reason is None

    def lost(self) -> None:
        self.protocol.connection_lost()


class ScriptEnd:
    """A script on one connection."""

    returns = False

    def __init__(self, script: ScriptedClient) -> None:
        self.script = script
        self.lines = LineReader(SERVER_LINE_LIMIT)

    def opened(self) -> bytes:
        return self._do(self.script.opened())[0]

    def feed(self, data: bytes) -> tuple[bytes, bool]:
        sent = b""
        for line in self.lines.feed(data):
            assert isinstance(line, bytes)
            more, stays = self._do(self.script.receive(line))
            sent += more
            if not stays:
                return sent, False
        return sent, True

    def _do(self, acts: Any) -> tuple[bytes, bool]:
        sent = b""
        for act in acts:
            if isinstance(act, Say):
                sent += f"{act.text}\n".encode() * act.times
            elif isinstance(act, Raw):
                sent += act.data
            elif isinstance(act, Leave):
                return sent, False
            else:
                assert isinstance(act, Wait | StopReading)
        return sent, True

    def lost(self) -> None:
        """It does not connect again."""


End = PlayerEnd | ScriptEnd


class Loopback(BytesHarness):
    """A contest and its clients in one thread; what one side sends waits in a queue for the other.

    `cuts` are the counts of deliveries at which a connection is cut. An event takes 0.1 ms.
    """

    def __init__(
        self, config: ContestConfig, ends: dict[str, End], cuts: frozenset[int] = frozenset()
    ) -> None:
        numbers = count(1)
        entrants = [Entrant(name) for name in ends]
        super().__init__(Contest(config, entrants, lambda size: f"{next(numbers):0{2 * size}x}", 0))
        self.flushes = self.stores = False
        self._cuts = cuts
        self._delivered = 0
        self._conns = count(1)
        self._ends: dict[int, End] = {}
        self._queue: deque[Callable[[], object]] = deque()
        for end in ends.values():
            self._accept(end)

    def run(self) -> Loopback:
        """Run until nothing is in transit and no deadline is left."""
        for _ in range(200_000):
            if self._queue:
                self._queue.popleft()()
            elif self.finished is None and self.contest.deadline is not None:
                self.now = max(self.now, self.contest.deadline)
                self.event(Tick())
            else:
                return self
        raise AssertionError("the contest does not end")

    def _accept(self, end: End) -> None:
        conn = next(self._conns)
        self._ends[conn] = end
        data = end.opened()
        self.connect(conn)
        self._queue.append(lambda: self.receive(conn, data))

    def _handle(self, event: Event) -> list[Effect]:
        self.now += MS // 10
        return super()._handle(event)

    # -- what the contest sends (Harness)

    def sent(self, conn: int, data: bytes, marker: Marker | None) -> None:
        self._queue.append(lambda: self._deliver(conn, data, marker))

    def closed(self, conn: int) -> None:
        self._queue.append(lambda: self._drop(conn))

    def write(self, effect: Journal | Store) -> None:
        if isinstance(effect, Store):
            self._queue.append(lambda: self.event(Stored(effect.game_id)))

    def _deliver(self, conn: int, data: bytes, marker: Marker | None) -> None:
        """The bytes reach the socket, and the client reads them."""
        if (end := self._ends.get(conn)) is None:
            return
        self._delivered += 1
        if marker is not None:
            self.flush(conn)
        if self._delivered in self._cuts and end.returns and conn in self.open:
            self.event(Lost(conn, "cut"))
            self._drop(conn)
            return
        answer, stays = end.feed(data)
        self._queue.append(lambda: self.receive(conn, answer))
        if not stays:
            self._queue.append(lambda: self._leave(conn))

    def _leave(self, conn: int) -> None:
        if self._ends.pop(conn, None) is not None and conn in self.open:
            self.event(Lost(conn, "left"))

    def _drop(self, conn: int) -> None:
        """Close the connection at the client's side; a ClientProtocol connects again."""
        end = self._ends.pop(conn, None)
        if end is None:
            return
        end.lost()
        if isinstance(end, PlayerEnd) and end.protocol.bye_reason is None:
            self._queue.append(lambda: self._accept(end))


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "arena_client")


def greedy(view: Any) -> str:
    return str(max(view.legal_moves, key=view.position.gain))


def config(**more: Any) -> ContestConfig:
    fields: dict[str, Any] = {
        "options": {"plies": 12, "lookahead": 3},
        "games_per_pair": 4,
        "probation": 0,
    } | more
    return ContestConfig(name="test", seed=2006, **fields)


def players(*bots: Any) -> dict[str, End]:
    return {
        f"bot{number}": PlayerEnd(as_bot(bot), f"bot{number}") for number, bot in enumerate(bots, start=1)
    }


def results(world: Loopback) -> dict[str, tuple[tuple[int, ...], int]]:
    return {record.game_id: (record.totals, len(record.faults)) for record in world.records.values()}


def contest(cuts: frozenset[int] = frozenset()) -> Loopback:
    return Loopback(config(), players(greedy, create("first-legal"), create("zero-based")), cuts).run()


def test_a_round_robin_of_players() -> None:
    world = contest()
    assert world.finished == "finished"
    assert len(world.records) == 12
    for record in world.records.values():
        faulty = {fault.kind for fault in record.faults}
        assert faulty == ({"illegal"} if "bot3" in record.names else set())


@settings(max_examples=24, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.frozensets(st.integers(1, 700), max_size=12))
def test_cut_connections_change_no_result(cuts: frozenset[int]) -> None:
    """After every cut the seat is resumed, and every game ends as without cuts."""
    whole, cut = contest(), contest(cuts)
    assert cut.finished == "finished"
    assert results(cut) == results(whole)


EXPECTED = {
    "silent": {"timeout"},
    "never-ready": {"never-ready"},
    "out-of-turn": set(),
    "slow-bytes": set(),
    "malformed": {"malformed"},
    "garbage": {"malformed"},
    "overlong": {"malformed"},
    "flooder": {"flood"},
    "move-flooder": {"out-of-turn"},
    "quitter": {"quit"},
    "disconnector": {"disconnect"},
    "resetter": {"disconnect"},
    "half-line": {"disconnect"},
    "vanisher": {"timeout"},
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_fault_of_a_script_is_its_own(name: str) -> None:
    """Each script gets its fault in its first game; its rival never gets one."""
    script = create(name)
    assert not isinstance(script, Bot)
    ends: dict[str, End] = players(greedy)
    ends["script"] = ScriptEnd(ScriptedClient(script, "script"))
    world = Loopback(config(games_per_pair=2, absent_ms=1000), ends).run()
    absent = EXPECTED[name] & {"disconnect", "quit"}
    assert world.finished == ("incomplete" if absent else "finished")
    first = world.records["g1"]
    assert {fault.kind for fault in first.faults} == EXPECTED[name]
    for record in world.records.values():
        assert all(record.names[fault.seat - 1] == "script" for fault in record.faults)
        assert len(record.plies) == 12
