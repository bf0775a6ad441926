"""A process that rests stands still with its children, and nothing of it is left by a killed server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena_server.places.docker_launcher import _SWEEP

#: Notes what it is asked; lists `late` from the look on whose number is in the file `late`.
ENGINE = """
cd "$(dirname "$0")"
echo "$@" >>calls
[ "$1" = ps ] || exit 0
[ "$(grep -c ^ps calls)" -lt "$(cat late)" ] || echo late
"""

SERVER = """
import asyncio, sys
from pathlib import Path
from arena_server.places import idle, sweeper
from arena_server.places.base import LocalBot
from arena_server.places.process import ProcessLauncher

idle.IDLE_S, sweeper.GRACE_S = 0.0, 0

def states(session):
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its_session = each.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(its_session) == session:
            found.append(state)
    return found

async def main():
    async with sweeper.Sweeper() as watching:
        launcher = ProcessLauncher("127.0.0.1", 1, sweeper=watching, measures=True)
        await (await launcher.start(LocalBot("eve", ["true"], "t"))).end()
        bot = await launcher.start(LocalBot("ann", ["sh", "-c", sys.argv[1]], "t"))
        while len(states(bot._child.process.pid)) < 2:
            await asyncio.sleep(0.01)
        for resting in (True, False, True):
            await bot.set_resting(resting)
            while [state == "T" for state in states(bot._child.process.pid)] != [resting, resting]:
                await asyncio.sleep(0.01)
            mark, got = await bot.cpu_time()
            print(resting, len(mark.split()), got.used > 0, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="the states of processes are read from /proc")
def test_a_program_that_spins_is_stopped_goes_on_and_ends_with_the_server_that_is_killed(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # By job control the child is in another group of its session.
    program = f"exec >{pipe}; trap '' TERM; set -m; while :; do :; done & echo up; wait"
    words = [sys.executable, "-c", SERVER, program]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server, pipe.open() as output:
        assert output.readline() == "up\n"
        assert server.stdout is not None
        assert [server.stdout.readline() for _ in range(3)] == [
            f"{resting} 2 True\n" for resting in (True, False, True)
        ]
        server.kill()
        assert output.read() == "", "its last process has ended"


@pytest.mark.real
@pytest.mark.parametrize(("word", "looks"), [("done\n", 1), ("", 4)])
def test_containers_that_appear_after_a_kill_are_sought_several_times(
    tmp_path: Path, word: str, looks: int
) -> None:
    engine = tmp_path / "engine"
    engine.write_text(ENGINE)
    (tmp_path / "late").write_text(str(looks))
    words = ["sh", "-c", _SWEEP, "sweeper", f"sh {engine}", "run=1", "0", "0", "0"]
    subprocess.run(words, input=word, text=True, check=True)
    asked = "ps --all --quiet --filter label=run=1"
    assert (tmp_path / "calls").read_text().splitlines() == [asked] * looks + ["rm --force --volumes late"], (
        "it is removed at the look at which it is there"
    )
