"""`handle` raises on no sequence of events, and never speaks of a connection that is not there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from arena_protocol.verify import verify
from arena_server.core.commands import VERBS
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.contest import Contest
from arena_server.core.effects import (
    ChunkMark,
    Close,
    Effect,
    Finished,
    Mute,
    PingMark,
    Send,
    Store,
    TurnMark,
    Unmute,
)
from arena_server.core.events import (
    Command,
    Event,
    Flushed,
    Lost,
    Opened,
    Overlong,
    Received,
    Stalled,
    Stop,
    Stored,
    Tick,
)

from .stage import MS

TEXTS = """
HELLO 1 ann|HELLO 1 bob|HELLO 1 eve|HELLO 1 eye|HELLO 2 ann|HELLO 1 ann resume=s3|HELLO 1 bob resume=s1
READY g1|READY g2|READY g3|MOVE 7|MOVE 7|MOVE 0|MOVE|PING 1|PONG 1|QUIT|WATCH *|WATCH g1|WATCH g7||what?
"""
LINES = st.sampled_from([text.encode() for line in TEXTS.split("\n")[1:-1] for text in line.split("|")])
CONNS = st.integers(1, 5)
GAMES = st.sampled_from(["g1", "g2", "g3", "x"])
MARKERS = st.one_of(
    st.builds(TurnMark, st.integers(0, 3), st.integers(0, 4)),
    st.builds(PingMark, st.integers(0, 3)),
    st.just(ChunkMark()),
)
TARGETS = st.one_of(
    st.sampled_from(["", "ann", "bob", "eye", "dan", "g1", "g2", "g3", "g7", "g0", "g-1", "g" + "9" * 5000]),
    st.text(max_size=5),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("received"), CONNS, st.one_of(LINES, LINES, LINES, st.binary(max_size=9))),
        st.tuples(st.just("received"), CONNS, LINES),
        st.tuples(st.just("opened")),
        st.tuples(st.just("lost"), CONNS),
        st.tuples(st.just("overlong"), CONNS),
        st.tuples(st.just("flushed"), CONNS, MARKERS),
        st.tuples(st.just("command"), st.sampled_from([*VERBS, "dance"]), TARGETS),
        st.tuples(st.just("stalled"), st.sampled_from([1, 250, 400])),
        st.tuples(st.just("wait"), st.sampled_from([1, 50, 400, 6000])),
        st.tuples(st.just("stored"), GAMES),
        st.tuples(st.just("tick")),
    ),
    max_size=80,
)

#: From nothing to a game that has begun and a spectator who watches it.
PROLOGUE: list[tuple[Any, ...]] = [
    ("opened",),
    ("opened",),
    ("received", 1, b"HELLO 1 ann"),
    ("received", 2, b"HELLO 1 bob"),
    ("opened",),
    ("received", 3, b"HELLO 1 eye"),
    ("received", 3, b"WATCH *"),
    ("received", 1, b"READY g1"),
    ("received", 2, b"READY g1"),
]


class Careless:
    """A shell that hands over whatever it is told to, and checks what comes back."""

    def __init__(self, game: str) -> None:
        secrets = count(1)
        options = {"plies": 3, "start": "empty"} if game == "insertion" else {}
        plan = ContestPlan(
            name="any", seed=1, game=game, options=options, clock_ms=100, ready_ms=300, login_ms=500,
            handover_ms=200, stall_ms=300, lag_quota_ms=50, absent_ms=5000, probation=2,
            out_of_turn_limit=1, flood_limit=4, spectator_delay_ms=60,
        )  # fmt: skip
        entrants = [Entrant("ann"), Entrant("bob"), Entrant("eve"), Entrant("eye", plays=False)]
        self.contest = Contest(plan, entrants, lambda _: f"s{next(secrets)}", 0)
        self.now = 0
        self.open: set[int] = set()
        self.conns = count(1)
        self.stored: list[str] = []
        self.finished = 0

    def do(self, verb: str, *args: Any) -> None:
        if verb == "wait":
            self.now += args[0] * MS
        elif verb == "opened":
            args = (next(self.conns),)
            self.open.add(args[0])
        elif verb == "lost":
            self.open.discard(args[0])
        self.handle(self._event(verb, args))

    def _event(self, verb: str, args: tuple[Any, ...]) -> Event:
        makers: dict[str, Callable[..., Event]] = {
            "opened": lambda conn: Opened(conn, "somewhere"),
            "received": lambda conn, line: Received(conn, line, self.now),
            "overlong": lambda conn: Overlong(conn, self.now),
            "lost": lambda conn: Lost(conn, "gone"),
            "flushed": lambda conn, marker: Flushed(conn, marker, self.now),
            "command": lambda verb, target: Command(1, verb, target),
            "stalled": lambda ms: Stalled(self.now - ms * MS, self.now),
            "stored": Stored,
            "wait": lambda _: Tick(),
            "tick": Tick,
            "stop": Stop,
        }
        return makers[verb](*args)

    def handle(self, event: Event) -> None:
        for effect in self.contest.handle(event, self.now):
            self._check(effect)
        deadline = self.contest.deadline
        assert deadline is None or not isinstance(event, Tick) or deadline > self.now
        self.contest.progress()

    def _check(self, effect: Effect) -> None:
        if isinstance(effect, Send | Close | Mute | Unmute):
            assert effect.conn in self.open
        if isinstance(effect, Close):
            self.open.discard(effect.conn)
        if isinstance(effect, Store):
            assert effect.game_id not in self.stored
            self.stored.append(effect.game_id)
            verify(effect.record)
        self.finished += isinstance(effect, Finished)
        assert self.finished <= 1


@settings(max_examples=300, deadline=None)
@given(STEPS, st.sampled_from(["insertion", "tictactoe"]), st.sampled_from([0, 2, 4, 7, 9]), st.booleans())
def test_any_events_at_all(steps: list[tuple[Any, ...]], game: str, far: int, stop: bool) -> None:
    shell = Careless(game)
    for step in [*PROLOGUE[:far], *steps]:
        shell.do(*step)
    if stop:
        shell.do("stop")
    for game_id in list(shell.stored):
        shell.do("stored", game_id)
    shell.do("wait", 10**7)
    for game_id in list(shell.stored):
        shell.do("stored", game_id)
    if stop:
        assert shell.finished == 1
        assert shell.contest.progress().running == 0


def test_the_bytes_do_not_depend_on_the_order_of_hashes() -> None:
    script = (
        "from tests.server.core.test_simulation import *\n"
        "world = play(1, (Honest, *BAD, Onlooker))\n"
        "print(world.audit.digest.hexdigest(), len(world.records))\n"
    )
    root = Path(__file__).parents[3]
    prints = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=root,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(prints) == 1
