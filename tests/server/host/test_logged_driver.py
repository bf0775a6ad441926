"""A driver that keeps the private logs of bots, and sends them by chunks."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.server.peers import PATIENCE_S, Peer, Recorder, RunningDriver, Scripted, ScriptedRouter

from arena_server.core.effects import CloseConnection, Effect, Send, ShowLog
from arena_server.core.events import Event, Lost, Opened, Received
from arena_server.core.log_events import (
    LogEvent,
    LoggedIn,
)
from arena_server.host import bot_logs
from arena_server.host.batches import Run
from arena_server.host.bot_logs import (
    BotLogs,
    LoggedDriver,
)
from arena_server.host.sockets import bind


class LoggingRecorder(Recorder):
    """Passes on what happens to the logs, as the run of a contest does."""

    def __init__(self, logs: BotLogs) -> None:
        super().__init__()
        self._logs = logs

    def log(self, event: LogEvent) -> None:
        super().log(event)
        self._logs.happened(event)


@asynccontextmanager
async def logged(tmp_path: Path, answer: Callable[[Event], list[Effect]]) -> AsyncIterator[RunningDriver]:
    """A `LoggedDriver` on loopback, with a core that answers events as `answer` says."""
    loop = asyncio.get_running_loop()
    core, sock = Scripted(answer), bind("127.0.0.1", 0)
    logs = BotLogs(tmp_path, lambda _: None)
    recorder = LoggingRecorder(logs)
    logs.begin(loop, fresh=True)
    driver = LoggedDriver(ScriptedRouter(core=core), loop, 100, recorder.log)
    run = Run(core, recorder, recorder)
    driver.keep_logs(run, logs)
    driver.add(run)
    listener = driver.pool.listen(sock)
    here = RunningDriver(core, recorder, driver, run, sock)
    try:
        yield here
    finally:
        listener.close()
        for peer in here._peers:
            peer.close()
        driver.pool.close()
        await driver.pool.drained(PATIENCE_S)
        driver.stop()
        await asyncio.to_thread(logs.close)


def referee(event: Event) -> list[Effect]:
    """Connection 1 is the bot `mine`; any other connection gets its log by `show`."""
    match event:
        case Opened(1, _):
            return [Send(1, b"WELCOME mine\n"), LoggedIn(1, "p", "mine", "test/1", resumed=False, slot=1)]
        case Received(1, b"MOVE 4", _):
            return [Send(1, b"PLAYED 1\n")]
        case Received(1, b"QUIT", _):
            return [Send(1, b"BYE reason=quit\n"), CloseConnection(1)]
        case Received(conn, b"show", _):
            return [ShowLog(conn, "mine", b"BYE reason=log\n")]
    return []


async def lines_of(peer: Peer) -> list[str]:
    """The lines up to the end, without LOG and time."""
    return [re.sub(r"^LOG \S+ ", "", line) for line in (await peer.everything()).decode().splitlines()]


@pytest.mark.asyncio
class TestLoggedDriver:
    async def test_the_lines_of_a_bot_and_no_others(self, tmp_path: Path) -> None:
        async with logged(tmp_path, referee) as here:
            bot, reader = await here.visit(), await here.visit()
            await here.core.until(Opened, 2)
            await bot.say(b"MOVE 4\n" + b"x" * 2000 + b"\n")
            assert await bot.line() == b"WELCOME mine"
            assert await bot.line() == b"PLAYED 1"
            await reader.say(b"hello\nshow\n")
            lines = await lines_of(reader)
            assert lines[:2] == ["* login peer=p agent=test/1 resumed=False slot=1", "C MOVE 4"]
            assert "S PLAYED 1" in lines
            assert lines[-1] == "BYE reason=log"
            await bot.say(b"QUIT\n")
            assert await bot.everything() == b"BYE reason=quit\n"
        lines = [line.partition(" ")[2] for line in (tmp_path / "mine.log").read_text("ascii").splitlines()]
        assert lines[-2:] == ["C QUIT", "S BYE reason=quit"]
        assert any(line.startswith("C xxx") and line.endswith("...") for line in lines)

    async def test_a_reader_that_ends_its_input_gets_the_whole_log(self, tmp_path: Path) -> None:
        async with logged(tmp_path, referee) as here:
            await here.visit()
            await here.core.until(Opened)
            (tmp_path / "mine.log.1").write_bytes(b"".join(b"t C MOVE %d\n" % at for at in range(40_000)))
            here.core.readers = {2: b""}
            reader = await here.visit(receive_buffer=4096)
            await reader.say(b"show\n")
            reader.sock.shutdown(socket.SHUT_WR)
            lines = await lines_of(reader)
        assert len(lines) == 40_002
        assert lines[-1] == "BYE reason=log"

    async def test_a_long_log_goes_by_chunks(self, tmp_path: Path) -> None:
        async with logged(tmp_path, referee) as here:
            await here.visit()
            await here.core.until(Opened)
            (tmp_path / "mine.log.1").write_bytes(b"".join(b"t C MOVE %d\n" % at for at in range(40_000)))
            reader = await here.visit()
            await reader.say(b"show\n")
            lines = await lines_of(reader)
        assert lines[:40_000] == [f"C MOVE {at}" for at in range(40_000)]
        assert lines[40_000:] == ["* login peer=p agent=test/1 resumed=False slot=1", "BYE reason=log"]

    @pytest.mark.real
    async def test_a_reader_that_does_not_read_is_disconnected(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bot_logs, "CHUNK_S", 0.01)
        async with logged(tmp_path, referee) as here:
            (tmp_path / "mine.log").write_bytes(b"t C PING 1\n" * 800_000)
            reader = await here.visit(receive_buffer=4096)
            await here.core.until(Opened)
            await reader.say(b"show\n")
            async with asyncio.timeout(PATIENCE_S):
                while len(here.driver.pool):
                    await asyncio.sleep(0.01)

    async def test_the_newest_reader_of_a_log_replaces_the_one_before(self, tmp_path: Path) -> None:
        async with logged(tmp_path, referee) as here:
            (tmp_path / "mine.log").write_bytes(b"t C PING 1\n" * 800_000)
            first = await here.visit(receive_buffer=4096)
            await here.core.until(Opened)
            await first.say(b"show\n")
            assert await first.line() == b"WELCOME mine"
            seen = await first.line() + b"\n"
            second = await here.visit()
            await here.core.until(Opened, 2)
            await second.say(b"show\n")
            assert (await second.everything()).endswith(b"\nBYE reason=log\n")
            seen += await first.everything(or_reset=True)  # it is closed while lines wait to be sent
            assert (b"LOG t C PING 1\n" * 800_000).startswith(seen)
            assert len(seen) < 15 * 800_000

    async def test_a_reader_may_leave(self, tmp_path: Path) -> None:
        async with logged(tmp_path, referee) as here:
            (tmp_path / "mine.log").write_bytes(b"t C PING 1\n" * 800_000)
            reader = await here.visit(receive_buffer=4096)
            await here.core.until(Opened)
            await reader.say(b"show\n")
            await here.core.until(Received)
            reader.sock.close()
            await here.core.until(Lost)
