"""One child process: its output, its end and the end of its children."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from arena_server.places import process
from arena_server.places.process import TRACE_LINES, Child

pytestmark = [pytest.mark.asyncio, pytest.mark.real]

PATIENCE_S = 150.0
UP = "print('up', flush=True)"


@pytest.mark.soak
async def test_only_the_end_of_the_output_is_kept() -> None:
    child = await Child.start([sys.executable, "-c", "print('x' * 100_000); print('the', 'end')"], {})
    assert await child.wait() == 0
    assert child.last_lines(1) == ["the end"]
    assert sum(map(len, child.last_lines(100))) < 20_000
    await child.end()


@pytest.mark.soak
async def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await Child.start(["./no-such-program"], {}, log=tmp_path / "log")


async def test_it_can_end_in_order_after_sigterm() -> None:
    code = (
        "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); "
        "print('up', flush=True); signal.pause()"
    )
    child = await Child.start([sys.executable, "-c", code], {}, split=True)
    assert child.process.stdout is not None
    assert await child.process.stdout.readline() == b"up\n"
    assert await child.end() == 7
    assert await child.end() == 7  # the same answer again


@pytest.mark.soak
async def test_an_end_that_is_cancelled_leaves_no_process() -> None:
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    code = f"{ignore}; print('up', flush=True); signal.pause()"
    child = await Child.start([sys.executable, "-c", code], {}, split=True)
    assert child.process.stdout is not None
    assert await child.process.stdout.readline() == b"up\n"
    ending = asyncio.create_task(child.end(PATIENCE_S))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert await asyncio.wait_for(child.process.wait(), PATIENCE_S) == -signal.SIGKILL
    await child.end()


async def test_a_new_log_is_private_and_keeps_the_output_of_every_start(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    for word in ("one", "two"):
        child = await Child.start([sys.executable, "-c", f"print({word!r})"], {}, log=log)
        await child.wait()
        await child.end()
    assert log.read_text() == "one\ntwo\n"
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.soak
async def test_the_last_error_is_the_last_line_of_stderr() -> None:
    code = "import sys; print('out', flush=True); print('one\\ntwo\\n\\n', file=sys.stderr); print('out')"
    child = await Child.start([sys.executable, "-c", code], {})
    await child.wait()
    assert child.last_error() == "two"
    assert sorted(line for line in child.last_lines(9) if line) == ["one", "out", "out", "two"]
    await child.end()


CHAIN = """
import sys
print('KeyError: an older error', file=sys.stderr)
try:
    try:
        {}['first']
    except KeyError as error:
        raise ValueError('second') from error
except ValueError:
    MORE
"""


@pytest.mark.parametrize(
    ("code", "first", "last"),
    [
        (
            CHAIN.replace("MORE", "1 / 0"),
            "Traceback (most recent call last):",
            "ZeroDivisionError: division by zero",
        ),
        (
            "import sys; print('Traceback (most recent call last):\\nan older one', file=sys.stderr); 1 / 0",
            "Traceback (most recent call last):",
            "ZeroDivisionError: division by zero",
        ),
        (
            "raise ExceptionGroup('two', [ValueError(1), ValueError(2)])",
            "  + Exception Group Traceback (most recent call last):",
            "    +------------------------------------",
        ),
        (
            "import sys; sys.exit('panic: boom\\n\\ngoroutine 1 [running]:')",
            "panic: boom",
            "goroutine 1 [running]:",
        ),
    ],
)
async def test_the_trace_of_a_crash_begins_where_the_program_begins_to_tell_it(
    code: str, first: str, last: str
) -> None:
    child = await Child.start([sys.executable, "-c", code], {})
    assert await child.wait() == 1
    trace = child.trace()
    assert (trace[0], trace[-1]) == (first, last)
    assert "an older one" not in trace
    await child.end()


@pytest.mark.soak
async def test_a_long_trace_loses_its_middle() -> None:
    lines = ["Traceback (most recent call last):", *["  File"] * 102, "ZeroDivisionError: division by zero"]
    code = f"import sys; sys.exit({chr(10).join(lines)!r})"
    child = await Child.start([sys.executable, "-c", code], {})
    await child.wait()
    trace = child.trace()
    assert (len(trace), trace[0], trace[-1]) == (
        TRACE_LINES + 1,
        "Traceback (most recent call last):",
        "ZeroDivisionError: division by zero",
    )
    assert trace[TRACE_LINES // 2] == "... 24 lines ..."
    await child.end()


@pytest.mark.soak
async def test_a_program_without_a_traceback() -> None:
    child = await Child.start([sys.executable, "-c", "import sys; sys.exit('boom')"], {})
    await child.wait()
    assert child.trace() == []
    await child.end()


@pytest.mark.soak
async def test_a_log_has_a_bound_and_says_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LOG_BYTES", 10)
    for _ in range(2):
        words = [sys.executable, "-c", "print('x' * 8)\nprint('y' * 8)"]
        child = await Child.start(words, {}, log=tmp_path / "log")
        await child.wait()
        assert child.last_lines(1) == ["y" * 8]
        await child.end()
    assert (tmp_path / "log").read_text() == "xxxxxxxx\ny\n... of more than 0 MB the rest is not kept\n"


async def test_a_disk_that_is_full_does_not_stop_a_program() -> None:
    child = await Child.start([sys.executable, "-c", "print('the', 'end')"], {}, log=Path("/dev/full"))
    assert await child.wait() == 0
    assert child.last_lines(1) == ["the end"]
    await child.end()


@pytest.mark.soak
async def test_who_prints_without_end_has_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, waited = asyncio.Event(), asyncio.Queue[float]()

    async def sleep(seconds: float) -> None:
        waited.put_nowait(seconds)
        await goes_on.wait()

    monkeypatch.setattr(process, "BURST_BYTES", 100_000)
    monkeypatch.setattr(process, "BYTES_A_SECOND", 1_000)
    child = await Child.start([sys.executable, "-c", "print('x' * 1_000_000); print('the', 'end')"], {})
    with monkeypatch.context() as patched:
        patched.setattr("asyncio.sleep", sleep)
        assert 0 < await asyncio.wait_for(waited.get(), PATIENCE_S) <= 65.536
        assert child.last_lines(1) != ["the end"], "it is not read on"
        goes_on.set()
        assert await child.wait() == 0
        while child.last_lines(1) != ["the end"]:
            await waited.get()
    await child.end()


@pytest.mark.soak
async def test_the_loop_alone_waits_for_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who polls it takes its status away from the watcher of the loop, which then says 255."""
    child = await Child.start([sys.executable, "-c", f"import signal; {UP}; signal.pause()"], {}, split=True)
    assert child.process.stdout is not None
    await child.process.stdout.readline()
    monkeypatch.setattr("subprocess.Popen.poll", lambda _: pytest.fail("it was polled"))
    assert await child.end() == -signal.SIGTERM
