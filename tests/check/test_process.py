"""A bot as a process: what it is given, how its end is seen, what is kept of its stderr."""

from __future__ import annotations

import os
import select
import sys

import pytest

from arena_check.bot.process import STDERR_TAIL, ByHand, Process

#: Prints its arguments and where it is to play.
TELL = """
import os, sys
given = [os.environ["ARENA_" + key] for key in ("HOST", "NAME", "PORT", "TOKEN")]
print(sys.argv[1:], given, file=sys.stderr)
"""
#: Prints the id of a child, and waits for it for ever.
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print(child.pid, file=sys.stderr, flush=True)
child.wait()
"""
WHERE = ("127.0.0.1", 2006, "me", "s3cret")


def run(script: str, *words: str) -> tuple[int | None, str]:
    """Run a script to its end; its exit status and stderr."""
    process = Process([sys.executable, "-c", script, *words])
    process.start(*WHERE)
    assert process.exited is not None
    assert select.select([process.exited], [], [], 60)[0]
    status = process.status()
    return status, process.stop()


@pytest.mark.real
def test_the_words_and_the_environment_say_where_to_play() -> None:
    status, said = run(TELL, "{host}:{port}", "--name={name}", "{token}", "{}")
    assert status == 0
    assert said == ("['127.0.0.1:2006', '--name=me', 's3cret', '{}'] ['127.0.0.1', 'me', '2006', 's3cret']\n")


@pytest.mark.real
@pytest.mark.soak
def test_the_end_of_a_long_stderr_is_kept() -> None:
    status, said = run("import sys; sys.stderr.write('x' * 10000 + 'end'); sys.exit(3)")
    assert status == 3
    assert said == "x" * (STDERR_TAIL - 3) + "end"


@pytest.mark.real
def test_a_bot_that_goes_on_is_killed_with_its_children() -> None:
    process = Process([sys.executable, "-c", PARENT])
    process.start(*WHERE)
    assert process.status() is None
    exited = process.exited
    assert exited is not None
    assert not select.select([exited], [], [], 0)[0]
    child = os.pidfd_open(_await_line(process))
    process.stop()
    assert process.status() is None
    assert select.select([child], [], [], 60)[0]
    os.close(child)


def _await_line(process: Process) -> int:
    """The number that a script writes to its stderr; it writes nothing else."""
    assert process._stderr is not None
    while not (said := os.pread(process._stderr.fileno(), 100, 0)).endswith(b"\n"):
        assert process.status() is None
    return int(said)


@pytest.mark.real
@pytest.mark.soak
def test_a_command_that_is_none_is_an_os_error() -> None:
    process = Process(["/no/such/program"])
    with pytest.raises(FileNotFoundError):
        process.start(*WHERE)
    assert process.stop() == ""
    assert process.status() is None


def test_nothing_is_known_of_a_bot_that_is_started_by_hand() -> None:
    bot = ByHand()
    bot.start(*WHERE)
    assert (bot.exited, bot.printed(), bot.stop()) == (None, "", "")


#: Prints a line without a flush, and waits for ever.
PRINTS = """
import sys
print("MOVE 6")
sys.stderr.write("said")
sys.stderr.flush()
import time
while True:
    time.sleep(60)
"""


@pytest.mark.real
@pytest.mark.soak
def test_what_it_prints_is_seen_without_a_flush() -> None:
    process = Process([sys.executable, "-c", PRINTS])
    assert process.printed() == ""
    process.start(*WHERE)
    while process.printed() != "MOVE 6\n":
        assert process.status() is None
    assert process.stop() == "said"
    assert process.printed() == ""


@pytest.mark.real
@pytest.mark.soak
def test_without_terminals_what_is_flushed_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> tuple[int, int]:
        raise OSError("out of pty devices")

    monkeypatch.setattr(os, "openpty", none)
    process = Process([sys.executable, "-c", "print('MOVE 6', flush=True)"])
    process.start(*WHERE)
    while process.printed() != "MOVE 6\n":
        pass
    process.stop()


@pytest.mark.real
def test_the_end_of_a_long_stdout_is_kept() -> None:
    process = Process([sys.executable, "-c", "print('x' * 100_000 + 'end')"])
    process.start(*WHERE)
    while not process.printed().endswith("end\n"):
        pass
    assert len(process.printed()) <= 4000
    process.stop()
