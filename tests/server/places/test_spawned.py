"""A program has ended when its process has, although a child of it still holds its output."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from arena_server.places import spawned
from arena_server.places.base import LaunchError
from arena_server.places.docker import Docker
from arena_server.places.process import Child
from arena_server.submissions.admission import RejectedError, run_step

pytestmark = pytest.mark.real

PATIENCE_S = 150.0
#: Ends with status 3, and leaves a helper in a session of its own, which has inherited stdout and stderr.
PROGRAM = """#!{python}
import os, signal, sys
print("giving up", file=sys.stderr, flush=True)
if not os.fork():
    os.setsid()
    with open(r"{pid}", "w") as file:
        file.write(str(os.getpid()))
    os.rename(r"{pid}", r"{helper}")
    signal.pause()
while not os.path.exists(r"{helper}"):
    pass
os._exit(3)
"""


async def _child(program: str) -> str:
    child = await Child.start([program], dict(os.environ))
    status = await child.wait()
    assert await child.end() == status
    return f"{status}: {child.last_error()}"


async def _docker(program: str) -> str:
    with pytest.raises(LaunchError) as caught:
        await Docker(program).call("version")
    return f"3: {caught.value}"


async def _step(program: str) -> str:
    with pytest.raises(RejectedError) as caught:
        await run_step([program], dict(os.environ), PATIENCE_S, lambda _: None)
    return f"3: {caught.value}"


@contextmanager
def _helper_ended(pid: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(int(pid.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("run", [_child, _docker, _step])
def test_a_helper_that_holds_the_output_hides_no_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[[str], Awaitable[str]]
) -> None:
    monkeypatch.setattr(spawned, "REST_S", 0.5)
    left: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", left.append)
    helper, program = tmp_path / "helper", tmp_path / "program"
    program.write_text(PROGRAM.format(python=sys.executable, pid=tmp_path / "pid", helper=helper))
    program.chmod(0o755)

    async def bounded() -> str:
        return await asyncio.wait_for(run(str(program)), PATIENCE_S / 2)

    with _helper_ended(helper):
        assert asyncio.run(bounded()) == "3: giving up"
        gc.collect()
    assert left == []  # such as `Event loop is closed`


SERVER = """
import asyncio, sys
from arena_server.submissions.admission import run_step
asyncio.run(run_step(["sh", "-c", sys.argv[1]], {}, 600.0, print))
"""


def test_a_step_ends_with_the_server_that_is_killed(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    step = f"exec >{pipe}; trap '' HUP; echo running; exec sleep 600"
    server = subprocess.Popen([sys.executable, "-c", SERVER, step])
    with pipe.open() as output:
        assert output.readline() == "running\n"
        server.kill()
        server.wait()
        assert output.read() == "", "its last process has ended"


@pytest.mark.parametrize(
    ("seconds", "program", "status"),
    [(60, "exit 3", 3), (0.1, "sleep 600", 124), (60, "kill $PPID; sleep 600", 143)],
)
@pytest.mark.soak
def test_a_tethered_program_has_a_limit_of_its_own(seconds: float, program: str, status: int) -> None:
    command = spawned.tethered(["sh", "-c", program], seconds)
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.wait(PATIENCE_S) == status


@pytest.mark.soak
def test_a_tethered_program_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        spawned.tethered(["no-such-program"], 1.0)
