"""Forks of a server run programs as new interpreters do, and leave nothing."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from arena_server.places.cores import own_cores
from arena_server.places.forks import Forks
from arena_server.places.process import Child

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.real,
    pytest.mark.skipif(sys.platform != "linux", reason="programs are forked on Linux alone"),
]

ENVIRONMENT = {"PATH": os.defpath, "ARENA_NAME": "ann"}
#: What a program sees of its interpreter, and how it may end.
PROGRAM = """
import atexit, os, sys, threading
print(__name__, __file__, type(__builtins__), sys.argv, sys.path[0], sys.modules["__main__"].__file__)
print({name: value for name, value in os.environ.items() if name != "LC_CTYPE"})
print(os.getpgid(0) == os.getpid(), sys.stdin.read(), os.getppid() != 1)
print(sorted(set(os.listdir("/proc/self/fd")) - {os.listdir("/proc/self/fd")[-1]})[:3])
atexit.register(print, "the last words")
threading.Thread(target=print, args=("a thread",)).start()
sys.stdout.flush()
"""
WAITS = "import os, signal\nprint('up', flush=True)\nwhile True: signal.pause()\n"


@pytest_asyncio.fixture
async def forks() -> AsyncIterator[Forks]:
    made = Forks({("-P", "-m", "json.tool"): ("json",), (): ("json",)})
    with made.used():
        yield made
    for server in made._servers.values():
        server.close()


def script(folder: Path, text: str) -> list[str]:
    path = folder / "bot.py"
    path.write_text(text)
    return [sys.executable, str(path)]


async def forked(forks: Forks, command: list[str], cores: tuple[int, ...] = ()) -> Child:
    child = await forks.start(command, ENVIRONMENT, None, cores)
    assert child is not None
    return child


async def outcome(child: Child) -> tuple[int, list[str]]:
    """Its exit status, and its lines: what it printed, then its last traceback."""
    status = await child.wait()
    trace = child.trace() or [child.last_error()]
    lines = sorted(line for line in child.last_lines(100) if line not in trace)
    await child.end()
    return status, lines + [line for line in trace if line]


#: Starts a fork of a server, and says which processes these are.
STARTER = """
import asyncio, sys
from arena_server.places.forks import Forks

async def main():
    forks = Forks({(): ("json",)})
    with forks.used():
        child = await forks.start(sys.argv[1:], {"PATH": "/bin"}, None, ())
        print(forks._servers[()]._process.pid, child.process.pid, flush=True)
        await child.wait()

asyncio.run(main())
"""


@pytest.mark.soak
async def test_a_template_that_stands_still_ends_with_its_parent(tmp_path: Path) -> None:
    words = [sys.executable, "-c", STARTER, *script(tmp_path, WAITS)]
    parent = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout is not None
    server, fork = map(int, (await parent.stdout.readline()).split())
    ends = [os.pidfd_open(pid) for pid in (server, fork)]
    for pid in (server, fork):
        os.kill(pid, signal.SIGSTOP)
    parent.kill()
    await parent.wait()
    try:
        for end in ends:  # it is readable when the process has ended
            assert await asyncio.to_thread(select.select, [end], [], [], 30) == ([end], [], [])
    finally:
        for end in ends:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(end, signal.SIGKILL)
            os.close(end)


@pytest.mark.parametrize(
    "end",
    [
        "",
        "sys.exit(3)",
        "sys.exit('no licence')",
        "raise SystemExit",
        "def f():\n    raise ValueError('deep')\nf()",
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError(1) from error",
        "os.kill(os.getpid(), 9)",
        "os.abort()",
        "sys.excepthook = lambda *_: print('mine'); raise ValueError",
    ],
)
async def test_a_program_runs_and_ends_as_in_an_interpreter_of_its_own(
    tmp_path: Path, forks: Forks, end: str
) -> None:
    command = [*script(tmp_path, PROGRAM + end), "a word", "--option"]
    there = await outcome(await forked(forks, command))
    assert there == await outcome(await Child.start(command, ENVIRONMENT))


@pytest.mark.soak
async def test_a_program_that_is_no_python(tmp_path: Path, forks: Forks) -> None:
    command = script(tmp_path, "def f(:\n")
    there = await outcome(await forked(forks, command))
    assert there == await outcome(await Child.start(command, ENVIRONMENT))
    assert there[0] == 1


@pytest.mark.soak
async def test_a_module_runs_with_its_arguments(tmp_path: Path, forks: Forks) -> None:
    file = tmp_path / "some.json"
    file.write_text('{"a": 1}')
    for words in (["--compact", str(file)], [str(tmp_path / "none")], ["--no-such-option"]):
        command = [sys.executable, "-P", "-m", "json.tool", *words]
        there = await outcome(await forked(forks, command))
        assert (there[0], there[1][-1:]) == (
            (here := await outcome(await Child.start(command, ENVIRONMENT)))[0],
            here[1][-1:],
        )


@pytest.mark.soak
async def test_a_module_of_the_working_folder_is_found_where_an_interpreter_finds_it(
    tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mybot.py").write_text("import sys\nprint(__name__, __file__, sys.argv, sys.path[0])")
    # It stands in for a module that the interpreter has not imported.
    (tmp_path / "tabnanny.py").write_text("print('here')")
    for words in (
        ["-m", "mybot", "a word"],
        ["-P", "-m", "mybot"],
        ["-m", "tabnanny"],
        ["-P", "-m", "tabnanny"],
    ):
        command = [sys.executable, *words]
        there = await outcome(await forked(forks, command))
        here = await outcome(await Child.start(command, ENVIRONMENT))
        # Of an error, what runpy says: an interpreter puts its own name before it.
        assert (there[0], there[1][-1].rpartition("Error: ")[2]) == (
            here[0],
            here[1][-1].removeprefix(f"{sys.executable}: "),
        )


@pytest.mark.soak
async def test_nothing_of_a_program_is_left_for_the_next(tmp_path: Path, forks: Forks) -> None:
    """Of what it does to a module imported before the fork, to the interpreter, to random numbers."""
    command = script(
        tmp_path,
        "import builtins, json, os, random, sys\n"
        "print(hasattr(json, 'seen'), hasattr(builtins, 'seen'), 'SEEN' in os.environ, os.getcwd() == '/')\n"
        "print(random.random())\n"
        "json.seen = builtins.seen = sys.seen = 1; os.environ['SEEN'] = '1'; os.chdir('/'); random.seed(1)\n",
    )
    runs = [await outcome(await forked(forks, command)) for _ in range(3)]
    assert [(status, lines[1]) for status, lines in runs] == [(0, "False False False False")] * 3
    assert len({lines[0] for _, lines in runs}) == 3


@pytest.mark.soak
async def test_a_program_has_its_cores(tmp_path: Path, forks: Forks) -> None:
    command = script(tmp_path, "import os; print(sorted(os.sched_getaffinity(0)))")
    own = own_cores()
    assert await outcome(await forked(forks, command, own[-1:])) == (0, [str([own[-1]])])
    assert await outcome(await forked(forks, command)) == (0, [str([*own])])


async def running(forks: Forks, tmp_path: Path) -> Child:
    """A program that waits for ever."""
    child = await forked(forks, script(tmp_path, f"import os; print(os.getpid())\n{WAITS}"))
    while "up" not in child.last_lines(1):
        await asyncio.sleep(0.005)
    return child


async def test_a_program_is_ended_with_its_group(tmp_path: Path, forks: Forks) -> None:
    child = await running(forks, tmp_path)
    assert child.last_lines(2)[0] == str(child.process.pid)
    assert await child.end() == -signal.SIGTERM
    assert await child.end() == -signal.SIGTERM
    child.terminate()  # it has ended


async def test_what_is_left_when_a_game_ends_is_killed(tmp_path: Path) -> None:
    made = Forks({(): ()})
    with made.used():
        child = await running(made, tmp_path)
        (server,) = made._servers.values()
    assert (made._servers, server._process.returncode) == ({}, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(child.process.pid, 0)
    assert await child.end() == -signal.SIGKILL
    with made.used():  # the next game has a new server
        assert await outcome(await forked(made, script(tmp_path, "print(1)"))) == (0, ["1"])
    for server in made._servers.values():
        server.close()


async def test_the_forks_of_a_template_that_is_killed_are_killed(tmp_path: Path, forks: Forks) -> None:
    child = await running(forks, tmp_path)
    (server,) = forks._servers.values()
    server._process.kill()
    assert await child.wait() == -signal.SIGKILL
    assert await child.end() == -signal.SIGKILL
    assert await outcome(await forked(forks, script(tmp_path, "print(1)"))) == (0, ["1"])


@pytest.mark.soak
async def test_a_template_that_cannot_import_forks_nothing(tmp_path: Path) -> None:
    made = Forks({(): ("no_such_module",)})
    with made.used():
        assert await made.start(script(tmp_path, "print(1)"), ENVIRONMENT, None, ()) is None


@pytest.mark.soak
async def test_a_template_that_stands_still_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena_server.places.forks.END_S", 0.01)
    made = Forks({(): ()})
    with made.used():
        child = await running(made, tmp_path)
        (server,) = made._servers.values()
        os.kill(server._process.pid, signal.SIGSTOP)
    assert server._process.returncode == -signal.SIGKILL
    assert await child.end() == -signal.SIGKILL


@pytest.mark.parametrize("words", [["-c", "print(1)"], ["no-such-file.py"], ["-"], []])
async def test_what_is_not_forked(forks: Forks, words: list[str]) -> None:
    assert await forks.start([sys.executable, *words], ENVIRONMENT, None, ()) is None
    assert await forks.start(["python-of-another-kind", __file__], ENVIRONMENT, None, ()) is None
    assert forks._servers == {}


@pytest.mark.soak
async def test_a_command_that_is_too_long_is_not_forked(tmp_path: Path, forks: Forks) -> None:
    command = [*script(tmp_path, "print(1)"), "x" * 200_000]
    assert await forks.start(command, ENVIRONMENT, None, ()) is None


@pytest.mark.soak
async def test_a_template_ends_in_order_though_its_answers_were_not_read(tmp_path: Path) -> None:
    """The socket is reset, not only closed."""
    made = Forks({(): ()})
    with made.used():
        child = await running(made, tmp_path)
        (server,) = made._servers.values()
        server._stop_reading()
        os.kill(child.process.pid, signal.SIGKILL)
        select.select([server._sock], [], [])  # until the answer is there
    assert server._process.returncode == 0
    await child.end()
