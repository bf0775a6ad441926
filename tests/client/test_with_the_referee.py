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

from arena_client import Bot, as_bot
from arena_client.protocol import ClientProtocol
from arena_client.scripted import Close as Leave
from arena_client.scripted import Raw, Say, ScriptedClient, StopReading, Wait, create
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.record import GameRecord
from arena_server.core import effects, events
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.contest import Contest

MS = 1_000_000


class PlayerEnd:
    """A client that connects again as soon as its connection is cut."""

    returns = True

    def __init__(self, bot: Bot, name: str) -> None:
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


class World:
    """The referee and its clients; after each number of deliveries in `cuts` that connection is cut."""

    def __init__(self, plan: ContestPlan, ends: dict[str, End], cuts: frozenset[int] = frozenset()) -> None:
        numbers = count(1)
        self.now = 0
        self.contest = Contest(
            plan, [Entrant(name) for name in ends], lambda size: f"{next(numbers):0{2 * size}x}", 0
        )
        self.records: list[GameRecord] = []
        self.finished: str | None = None
        self._cuts = cuts
        self._delivered = 0
        self._conns = count(1)
        self._at: dict[int, End] = {}
        self._buffers: dict[int, LineReader] = {}
        self._muted: dict[int, deque[events.Event]] = {}
        self._queue: deque[Callable[[], None]] = deque()
        for end in ends.values():
            self._connect(end)

    def run(self) -> World:
        """Run until nothing is in transit and no deadline is left."""
        for _ in range(200_000):
            if self._queue:
                self._queue.popleft()()
            elif self.finished is None and self.contest.deadline is not None:
                self.now = max(self.now, self.contest.deadline)
                self._handle(events.Tick())
            else:
                return self
        raise AssertionError("the contest does not end")

    def _connect(self, end: End) -> None:
        conn = next(self._conns)
        self._at[conn] = end
        self._buffers[conn] = LineReader(CLIENT_LINE_LIMIT)
        sent = end.opened()
        self._handle(events.Opened(conn, "memory"))
        self._send(conn, sent)

    def _handle(self, event: events.Event) -> None:
        self.now += MS // 10
        for effect in self.contest.handle(event, self.now):
            self._carry_out(effect)

    def _carry_out(self, effect: effects.Effect) -> None:
        match effect:
            case effects.Send(conn, data, marker):
                self._queue.append(lambda: self._deliver(conn, data, marker))
            case effects.Close(conn):
                self._queue.append(lambda: self._drop(conn))
            case effects.Store(game_id, record):
                self.records.append(record)
                self._queue.append(lambda: self._handle(events.Stored(game_id)))
            case effects.Mute(conn):
                self._muted[conn] = deque()
            case effects.Unmute(conn):
                waiting = self._muted.pop(conn, deque())
                self._queue.extend([lambda event=event: self._receive(event) for event in waiting])
            case effects.Finished(reason):
                self.finished = reason

    def _deliver(self, conn: int, data: bytes, marker: effects.Marker | None) -> None:
        if (end := self._at.get(conn)) is None:
            return
        self._delivered += 1
        if marker is not None:
            self._handle(events.Flushed(conn, marker, self.now))
        if self._delivered in self._cuts and end.returns:
            self._handle(events.Lost(conn, "cut"))
            self._drop(conn)
            return
        sent, stays = end.feed(data)
        self._send(conn, sent)
        if not stays:
            self._queue.append(lambda: self._leave(conn))

    def _leave(self, conn: int) -> None:
        if self._at.pop(conn, None) is not None:
            self._handle(events.Lost(conn, "left"))

    def _drop(self, conn: int) -> None:
        """Close the connection at the client's side; a ClientProtocol connects again."""
        end = self._at.pop(conn, None)
        if end is None:
            return
        end.lost()
        if isinstance(end, PlayerEnd) and end.protocol.bye_reason is None:
            self._queue.append(lambda: self._connect(end))

    def _send(self, conn: int, data: bytes) -> None:
        for line in self._buffers[conn].feed(data):
            if isinstance(line, Overlong):
                event: events.Event = events.Overlong(conn, self.now, line.head)
            else:
                event = events.Received(conn, line, self.now)
            self._queue.append(lambda event=event: self._receive(event))

    def _receive(self, event: Any) -> None:
        if event.conn in self._muted:
            self._muted[event.conn].append(event)
        elif event.conn in self._at:
            self._handle(event)


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "arena_client")


def greedy(view: Any) -> str:
    return max(view.legal_moves, key=view.position.gain)


def plan(**more: Any) -> ContestPlan:
    fields = {"options": {"plies": 12, "lookahead": 3}, "games_per_pair": 4, "probation": 0} | more
    return ContestPlan(name="test", seed=2006, **fields)


def players(*bots: Any) -> dict[str, End]:
    return {
        f"bot{number}": PlayerEnd(as_bot(bot), f"bot{number}") for number, bot in enumerate(bots, start=1)
    }


def results(world: World) -> dict[str, tuple[tuple[int, ...], int]]:
    return {record.game_id: (record.totals, len(record.faults)) for record in world.records}


def contest(cuts: frozenset[int] = frozenset()) -> World:
    return World(plan(), players(greedy, create("first-legal"), create("zero-based")), cuts).run()


def test_a_round_robin_of_players() -> None:
    world = contest()
    assert world.finished == "finished"
    assert len(world.records) == 12
    for record in world.records:
        faulty = {fault.kind for fault in record.faults}
        assert faulty == ({"illegal"} if "bot3" in record.names else set())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    world = World(plan(games_per_pair=2, absent_ms=1000), ends).run()
    assert world.finished == "finished"
    first = world.records[0]
    assert {fault.kind for fault in first.faults} == EXPECTED[name]
    for record in world.records:
        assert all(record.names[fault.seat - 1] == "script" for fault in record.faults)
        assert len(record.plies) == 12
