"""Players and rascals against the referee's own machine, in memory: both sides of the wire agree.

No socket and no time: a queue carries the lines, a counter is the clock. Connections are cut at
chosen moments, and a contest with cuts must end as the one without.
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
from arena_client.protocol import Player
from arena_client.scripted import Close as Leave
from arena_client.scripted import Deaf, Rascal, Raw, Say, Wait, create
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.record import GameRecord
from arena_server.core import effects, events
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.contest import Contest

MS = 1_000_000


class PlayerEnd:
    """A player that comes back as soon as its connection is cut."""

    returns = True

    def __init__(self, bot: Bot, name: str) -> None:
        self.player = Player(bot, name)

    def opened(self) -> bytes:
        self.player.opened()
        return b""

    def hear(self, data: bytes) -> tuple[bytes, bool]:
        """What the client says to this, and whether it stays."""
        self.player.receive_data(data)
        said = self.player.data_to_send()
        while (job := self.player.next_job()) is not None:
            self.player.done(job, job.ask())
            said += self.player.data_to_send()
        return said, self.player.farewell is None

    def lost(self) -> None:
        self.player.lost()


class RascalEnd:
    """A raw script on one connection; deaf ones just say nothing more."""

    returns = False

    def __init__(self, rascal: Rascal) -> None:
        self.rascal = rascal
        self.lines = LineReader(SERVER_LINE_LIMIT)

    def opened(self) -> bytes:
        return self._do(self.rascal.opened())[0]

    def hear(self, data: bytes) -> tuple[bytes, bool]:
        said = b""
        for line in self.lines.feed(data):
            assert isinstance(line, bytes)
            more, stays = self._do(self.rascal.receive(line))
            said += more
            if not stays:
                return said, False
        return said, True

    def _do(self, acts: Any) -> tuple[bytes, bool]:
        said = b""
        for act in acts:
            if isinstance(act, Say):
                said += f"{act.text}\n".encode() * act.times
            elif isinstance(act, Raw):
                said += act.data
            elif isinstance(act, Leave):
                return said, False
            else:
                assert isinstance(act, Wait | Deaf)
        return said, True

    def lost(self) -> None:
        """It does not come back."""


End = PlayerEnd | RascalEnd


class World:
    """The referee and its clients; `cuts` are the counts of deliveries after which a line is cut."""

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
        """Until nothing is under way and no deadline is left."""
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
        said = end.opened()
        self._handle(events.Opened(conn, "memory"))
        self._say(conn, said)

    def _handle(self, event: events.Event) -> None:
        self.now += MS // 10
        for effect in self.contest.handle(event, self.now):
            self._carry_out(effect)

    def _carry_out(self, effect: effects.Effect) -> None:
        match effect:
            case effects.Send(conn, data, turn):
                self._queue.append(lambda: self._deliver(conn, data, turn))
            case effects.Close(conn):
                self._queue.append(lambda: self._drop(conn))
            case effects.Store(game_id, record):
                self.records.append(record)
                self._queue.append(lambda: self._handle(events.Stored(game_id)))
            case effects.Mute(conn):
                self._muted[conn] = deque()
            case effects.Unmute(conn):
                waiting = self._muted.pop(conn, deque())
                self._queue.extend([lambda event=event: self._hear(event) for event in waiting])
            case effects.Finished(reason):
                self.finished = reason

    def _deliver(self, conn: int, data: bytes, turn: tuple[str, int] | None) -> None:
        if (end := self._at.get(conn)) is None:
            return
        self._delivered += 1
        if turn is not None:
            self._handle(events.Handed(conn, *turn, self.now))
        if self._delivered in self._cuts and end.returns:
            self._handle(events.Lost(conn, "cut"))
            self._drop(conn)
            return
        said, stays = end.hear(data)
        self._say(conn, said)
        if not stays:
            self._queue.append(lambda: self._leave(conn))

    def _leave(self, conn: int) -> None:
        if self._at.pop(conn, None) is not None:
            self._handle(events.Lost(conn, "left"))

    def _drop(self, conn: int) -> None:
        """The connection is gone for the client, who may come back."""
        end = self._at.pop(conn, None)
        if end is None:
            return
        end.lost()
        if isinstance(end, PlayerEnd) and end.player.farewell is None:
            self._queue.append(lambda: self._connect(end))

    def _say(self, conn: int, data: bytes) -> None:
        for line in self._buffers[conn].feed(data):
            if isinstance(line, Overlong):
                event: events.Event = events.Overlong(conn, self.now, line.head)
            else:
                event = events.Received(conn, line, self.now)
            self._queue.append(lambda event=event: self._hear(event))

    def _hear(self, event: Any) -> None:
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
    """Whenever the lines are cut, the seats are taken up again and every game ends as it would have."""
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
def test_the_fault_of_a_rascal_is_its_own(name: str) -> None:
    """Each rascal gets the fault it is named for in its first game; its rival gets none, ever."""
    script = create(name)
    assert not isinstance(script, Bot)
    ends: dict[str, End] = players(greedy)
    ends["rascal"] = RascalEnd(Rascal(script, "rascal"))
    world = World(plan(games_per_pair=2, absent_ms=1000), ends).run()
    assert world.finished == "finished"
    first = world.records[0]
    assert {fault.kind for fault in first.faults} == EXPECTED[name]
    for record in world.records:
        assert all(record.names[fault.seat - 1] == "rascal" for fault in record.faults)
        assert len(record.plies) == 12
