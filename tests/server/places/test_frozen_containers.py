"""Bots in containers that stand still while others are on move, and what they use of the processor."""

from __future__ import annotations

import asyncio
import signal
import sys

import pytest
from tests.server.places.containers import (
    PATIENCE_S,
    PRELUDE,
    bot,
    containers,
    is_frozen,
    launching,
    own,
    real_engine,
    referee,
)

from arena_server.places.cgroup import ControlGroup
from arena_server.places.docker_launcher import RELAY_IMAGE, BotContainer, ContainerLauncher
from arena_server.terms.sandbox import MB, ContainerLimits, Sandbox

pytestmark = [pytest.mark.real, pytest.mark.asyncio]


def stands_still(container: BotContainer) -> bool:
    """Whether all of its programs are frozen."""
    return container._group is not None and is_frozen(container._group)


#: Answers every line of the referee, and computes all the time.
SPINNING = """
import threading
def spin():
    while True: pass
threading.Thread(target=spin, daemon=True).start()
sock = socket.create_connection((os.environ["ARENA_HOST"], int(os.environ["ARENA_PORT"])))
sock.sendall(b'"ready"\\n')
while sock.recv(1): pass
"""


@real_engine
async def test_a_bot_that_is_frozen_stands_still_until_it_is_thawed() -> None:
    async with launching() as (found, launcher):
        running = await launcher.start(bot(SPINNING))
        assert await found.answer() == "ready"
        await running.set_frozen(True)
        async with asyncio.timeout(PATIENCE_S):
            while not stands_still(running):
                await asyncio.sleep(0.001)
        before = await running.cpu_time()
        assert before is not None
        assert before[1].used > 0
        await containers()
        assert await running.cpu_time() == before
        await running.set_frozen(False)
        async with asyncio.timeout(PATIENCE_S):
            while await running.cpu_time() == before:
                await asyncio.sleep(0.001)
        await running.set_frozen(True)
        await running.end()
    assert await containers() == []


#: Computes all the time, and answers each line of the referee.
ANSWERING = """
import threading
def spin():
    while True: pass
threading.Thread(target=spin, daemon=True).start()
sock = socket.create_connection((os.environ["ARENA_HOST"], int(os.environ["ARENA_PORT"])))
sock.sendall(b'"ready"\\n')
for line in sock.makefile("rb"):
    sock.sendall(b'"answer"\\n')
"""


@real_engine
@pytest.mark.soak
async def test_a_bot_that_rests_stands_still_until_a_line_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_server.places.idle.IDLE_S", 0.1)
    async with launching() as (found, launcher):
        running = await launcher.start(bot(ANSWERING))
        assert await found.answer() == "ready"
        for _ in range(3):
            await running.set_resting(True)
            async with asyncio.timeout(PATIENCE_S):
                while not stands_still(running):
                    await asyncio.sleep(0.001)
            found.send(b"GAME\n")
            assert await found.answer() == "answer"
            await running.set_resting(False)
        await running.set_resting(True)
        async with asyncio.timeout(PATIENCE_S):
            while not stands_still(running):
                await asyncio.sleep(0.001)
        await running.end()
    assert await containers() == []


@real_engine
@pytest.mark.soak
async def test_the_engine_freezes_where_this_process_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControlGroup, "of", lambda *_: None)
    async with launching() as (found, launcher):
        running = await launcher.start(bot("tell('ready'); time.sleep(1000)"))
        assert await found.answer() == "ready"
        for frozen in (True, False, True):
            await running.set_frozen(frozen)
            assert await running._state("Paused") == str(frozen).lower()
        assert await running.cpu_time() is None
        await running.end()
        await running.set_frozen(False)  # too late: no error
    assert await containers() == []


@real_engine
@pytest.mark.soak
async def test_a_bot_that_is_throttled_by_its_own_limit_is_known() -> None:
    async with launching() as (found, launcher):
        limits = ContainerLimits(memory=64 * MB, cpus=0.05)
        running = await launcher.start(bot(SPINNING, Sandbox(RELAY_IMAGE, limits)))
        assert await found.answer() == "ready"
        async with asyncio.timeout(PATIENCE_S):
            while (time := await running.cpu_time()) is None or time[1].throttled == 0:
                await asyncio.sleep(0.01)
        await running.end()


HELD = """
import asyncio, sys
from arena_server.places.base import LocalBot
from arena_server.terms.sandbox import Sandbox
from arena_server.places.docker_launcher import ContainerLauncher

async def main():
    async with ContainerLauncher("127.0.0.1", int(sys.argv[1]), sys.argv[4]) as launcher:
        words = ["python", "-c", sys.argv[2]]
        running = await launcher.start(LocalBot("held", words, "t", sandbox=Sandbox(sys.argv[3])))
        await asyncio.to_thread(sys.stdin.readline)
        await running.set_frozen(True)
        print("frozen", flush=True)
        await asyncio.sleep(1000)
asyncio.run(main())
"""


@real_engine
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.soak
async def test_nothing_is_left_when_the_launcher_is_killed(frozen: bool) -> None:
    async with referee() as found:
        words = [
            sys.executable,
            "-c",
            HELD,
            str(found.port),
            PRELUDE + "tell(3); time.sleep(1000)",
            RELAY_IMAGE,
            own("killed"),
        ]
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert await found.answer() == 3
        assert len(await containers()) == 2
        if frozen:
            process.stdin.write(b"\n")
            assert await process.stdout.readline() == b"frozen\n"
        process.send_signal(signal.SIGKILL)
        await process.wait()
        async with asyncio.timeout(PATIENCE_S):
            while await containers():
                await asyncio.sleep(0.1)
        # The next run of the contest, which begins before the sweeper of the killed one looks again.
        async with ContainerLauncher("127.0.0.1", found.port, own("killed")) as launcher:
            await launcher.start(bot("tell(4); time.sleep(1000)"))
            assert await found.answer() == 4
            await asyncio.sleep(4)
            assert len(await containers()) == 2
    assert await containers() == []
