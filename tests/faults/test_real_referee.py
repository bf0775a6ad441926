"""Faults of the platform on a real server, as docs/faults.md has them: they cost no bot anything.

Killing it and filling its disk are in `test_kill.py`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.slices import rows

from arena_client import asyncio_client
from arena_client.bot import Bot, GameView
from arena_protocol.record import GameRecord
from arena_protocol.record_codec import decode
from arena_protocol.verify import verify
from arena_server.store.reader import Results

from ..server.programs import ARENA, EAGER, PATIENCE_S, Server, contest
from ..server.records import shown

pytestmark = pytest.mark.real

#: The server stands still for longer than the clock; a busy machine takes less of it.
CLOCK_MS, STANDS_STILL_S = 2000, 2.5
THINKS_MS = 200

#: A server whose wall clock jumps at SIGUSR1; the stamps of the kernel do not.
JUMPY = """
import signal, sys, time
true_time, jumps = time.time_ns, []
time.time_ns = lambda: true_time() + sum(jumps)
signal.signal(signal.SIGUSR1, lambda *_: jumps.append({jump}))
from arena_cli import main
main()
"""
HOUR = 3_600_000_000_000


class Saboteur(Bot):
    """Plays 7 at once; at ply 3 of the first game it first does something to the server."""

    def __init__(self, deed: Callable[[], None]) -> None:
        self._deed = deed

    def choose(self, view: GameView) -> int:
        if (view.game_id, view.ply) == ("g1", 3):
            self._deed()
        return 7


def play(server: Server, deed: Callable[[], None]) -> list[GameRecord]:
    """A contest of two games, to its end; the records in the order of the games."""

    async def both() -> list[str]:
        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.gather(
                *(
                    asyncio_client.play(bot, "127.0.0.1", server.port, name=name, policy=EAGER)
                    for name, bot in (("a", Saboteur(deed)), ("b", Saboteur(lambda: None)))
                )
            )

    assert asyncio.run(both()) == ["finished", "finished"]
    with Results(server.database) as results:
        records = [decode(shown(data)) for _, data in results.games.records(results.contest())]
    for record in records:
        verify(record)
    return records


def config(stall_limit: str) -> str:
    game = f'plies = 6\nstart = "empty"\nclock = "{CLOCK_MS}ms"'
    return contest("a", "b", contest=f'stall_limit = "{stall_limit}"', game=game)


def stop_for_a_while(server: Server) -> None:
    """It is not so much as scheduled, as on a machine that is far too busy."""
    process = server.process
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    threading.Timer(STANDS_STILL_S, process.send_signal, [signal.SIGCONT]).start()


@pytest.mark.soak
def test_a_server_stopped_for_less_than_the_limit_charges_no_clock(tmp_path: Path) -> None:
    """The move lay in the kernel, stamped, while the clock would have run out."""
    with Server(config("30s"), tmp_path, program=ARENA) as server:  # `waitid` takes a child
        records = play(server, lambda: stop_for_a_while(server))
    assert [(record.game_id, record.end, record.faults) for record in records] == [
        ("g1", "complete", ()),
        ("g2", "complete", ()),
    ]


def test_a_server_stopped_beyond_the_limit_voids_the_game_and_plays_it_again(tmp_path: Path) -> None:
    with Server(config("1s"), tmp_path, program=ARENA) as server:  # `waitid` takes a child
        records = play(server, lambda: stop_for_a_while(server))
    assert [(record.game_id, record.end) for record in records] == [
        ("g1", "void"),
        ("g2", "complete"),
        ("g3", "complete"),
    ]
    assert [(fault.seat, str(fault.kind)) for record in records for fault in record.faults] == [(0, "void")]
    assert (records[2].names, records[2].board) == (records[0].names, records[0].board)


@pytest.mark.parametrize("jump", rows([HOUR, -HOUR], 2))
def test_setting_the_wall_clock_gives_no_time_and_takes_none(jump: int, tmp_path: Path) -> None:
    program = (sys.executable, "-c", JUMPY.format(jump=jump))
    with Server(config("30s"), tmp_path, program=program) as server:

        def set_the_clock() -> None:
            server.process.send_signal(signal.SIGUSR1)
            threading.Event().wait(THINKS_MS / 1000)

        first, second = play(server, set_the_clock)
    assert [(record.end, record.faults) for record in (first, second)] == [("complete", ())] * 2
    # A clock that believes the jump charges 0. The charge may be below THINKS_MS: the time from the sending
    # of TURN to the server's next look at its clock is not charged, and a busy machine makes that long.
    assert first.plies[2].time_ms > 0
