"""Private logs of bots: lines, bounds, file modes; and a driver that sends them by chunks."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import stat
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.peers import PATIENCE_S, Peer, Recorder, RunningDriver, Scripted, ScriptedRouter

from arena_protocol.messages import Log, parse_server
from arena_server.core.effects import CloseConnection, Effect, Send, ShowLog
from arena_server.core.events import Event, Lost, Opened, Received
from arena_server.core.log_events import (
    ConnectionLost,
    GameOver,
    GameResumed,
    GameStarted,
    LogEvent,
    LoggedIn,
    ResultReturned,
)
from arena_server.errors import ArenaError
from arena_server.host import bot_logs
from arena_server.host.batches import Run
from arena_server.host.bot_logs import (
    BotLogs,
    LoggedDriver,
    escape,
    format_time,
)
from arena_server.host.log_events import BotUsage, SubmissionNoted
from arena_server.host.sockets import bind


class Loop:
    """The part of an event loop that the logs use; `run` does what waits."""

    def __init__(self) -> None:
        self._calls: list[Callable[[], object]] = []
        self.answered = threading.Event()

    def call_later(self, _: float, call: Callable[[], object]) -> None:
        self._calls.append(call)

    def call_soon_threadsafe(self, call: Callable[..., object], *arguments: object) -> None:
        call(*arguments)
        self.answered.set()

    def run(self) -> None:
        calls, self._calls = self._calls, []
        for call in calls:
            call()


@pytest.fixture
def loop() -> Loop:
    return Loop()


def begin(folder: Path, loop: Loop, *, fresh: bool = False) -> BotLogs:
    logs = BotLogs(folder, lambda _: None)
    logs.begin(loop, fresh=fresh)  # type: ignore[arg-type] # what it uses of a loop
    return logs


def login(conn: int, bot: str | None) -> LoggedIn:
    return LoggedIn(conn, "p", bot, "test/1", resumed=False, slot=1)


def log_in(logs: BotLogs, conn: int, bot: str) -> None:
    logs.happened(login(conn, bot))


def text(path: Path) -> list[str]:
    """The lines of a log without their times."""
    lines = path.read_text("ascii").splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [CS*]( |$)", line) for line in lines)
    return [line.partition(" ")[2] for line in lines]


def test_how_long_a_bot_waited_for_a_processor_is_in_the_logs_of_both(tmp_path: Path, loop: Loop) -> None:
    logs = begin(tmp_path / "logs", loop)
    logs.happened(GameStarted("g1", ("ann", "bob")))
    logs.happened(GameResumed("g2", ("ann", "eve"), 3))
    for game, bot in (("g1", "bob"), ("g2", "eve")):
        logs.happened(BotUsage(game, bot, 1, 1000, 0, 1064))
    logs.happened(GameOver("g1", "complete", (1, 2)))
    logs.happened(BotUsage("g1", "bob", 1, 2000, 0, 7))
    logs.close()
    # The name of the other one may be hidden until the contest is over, and its processor time is its own.
    assert text(tmp_path / "logs/ann.log") == [
        "* opponent-usage game=g1 pressure_ms=1064",
        "* opponent-usage game=g2 pressure_ms=1064",
    ]
    own = "* usage game=g1 slot=1 used_ms={} throttled_ms=0 pressure_ms={}"
    assert text(tmp_path / "logs/bob.log") == [own.format(1000, 1064), own.format(2000, 7)]


@given(st.binary(max_size=60).filter(lambda data: b"\n" not in data))
def test_every_line_is_text_of_the_protocol_and_can_be_read_back(line: bytes) -> None:
    escaped = escape(line)
    assert escaped.endswith(b"\n")
    message = parse_server(b"LOG " + format_time(0) + b"C" + escaped[:-1])
    assert isinstance(message, Log)
    back = re.sub(rb"\\x(..)", lambda found: bytes.fromhex(found[1].decode()), escaped[:-1])
    assert back.removeprefix(b" ") == line


def test_plain_lines_are_kept_as_they_are() -> None:
    assert escape(b"TURN 1 clock=20000,20000 lag=0") == b" TURN 1 clock=20000,20000 lag=0\n"
    assert escape(b" a  b\\\x07 ") == b" \\x20a \\x20b\\x5c\\x07\\x20\n"
    assert escape(b"") == b"\n"
    assert escape(b"x" * 9000) == b" " + b"x" * bot_logs.LINE_BYTES + b"...\n"


def test_times() -> None:
    assert format_time(1_700_000_000_123_456_789) == b"2023-11-14T22:13:20.123456Z "


class TestBotLogs:
    def test_both_directions_and_events_from_the_login_on(self, tmp_path: Path, loop: Loop) -> None:
        logs = begin(tmp_path / "logs" / "friday", loop)
        logs.sent(1, b"WELCOME mine session=1 resume=k3y\n")
        log_in(logs, 1, "mine")
        log_in(logs, 2, "other")
        logs.sent(1, b"START g1\nTURN 1 clock=9,9 lag=3 credit=2\n")
        logs.received(1, b"MOVE 4", 7)
        logs.received(2, b"MOVE 5", 8)
        logs.happened(ConnectionLost(1, "p", "mine", "closed"))
        logs.released(1)
        logs.received(1, b"MOVE 6", 9)
        logs.happened(login(3, None))
        logs.received(3, b"WATCH *", 9)
        logs.close()
        folder = tmp_path / "logs" / "friday"
        assert [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder)] == [0o700, 0o700]
        assert text(folder / "mine.log") == [
            "* login peer=p agent=test/1 resumed=False slot=1",
            "S START g1",
            "S TURN 1 clock=9,9 lag=3 credit=2",
            "C MOVE 4",
            "* lost peer=p reason=closed",
        ]
        assert text(folder / "other.log") == ["* login peer=p agent=test/1 resumed=False slot=1", "C MOVE 5"]
        assert sorted(path.name for path in folder.iterdir()) == ["mine.log", "other.log"]

    def test_lines_that_come_with_hello_belong_to_the_log(self, tmp_path: Path, loop: Loop) -> None:
        logs = begin(tmp_path, loop)
        for line in (b"PING 1", b"PING 2"):
            logs.received(1, line, 1)
        log_in(logs, 1, "mine")
        logs.received(1, b"PING 3", 2)
        logs.close()
        assert text(tmp_path / "mine.log")[1:] == ["C PING 1", "C PING 2", "C PING 3"]
        assert len(list(tmp_path.iterdir())) == 1

    def test_files_are_private(self, tmp_path: Path, loop: Loop) -> None:
        before = os.umask(0)
        try:
            logs = begin(tmp_path / "logs", loop)
            log_in(logs, 1, "mine")
            logs.close()
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / "logs" / "mine.log").stat().st_mode) == 0o600

    def test_lines_are_written_at_the_next_flush(self, tmp_path: Path, loop: Loop) -> None:
        logs = begin(tmp_path, loop)
        log_in(logs, 1, "mine")
        loop.run()
        answers: list[bytes] = []
        logs.read("mine", answers.append)
        assert loop.answered.wait(PATIENCE_S)
        assert answers[0].endswith(b"Z * login peer=p agent=test/1 resumed=False slot=1\n")
        logs.close()

    def test_a_log_is_bounded_and_keeps_its_end(
        self, tmp_path: Path, loop: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bot_logs, "LOG_BYTES", 2000)
        monkeypatch.setattr(bot_logs, "MOST_BATCHES", 1000)
        logs = begin(tmp_path, loop)
        log_in(logs, 1, "mine")
        for number in range(200):
            logs.received(1, b"MOVE %d" % number, number)
            loop.run()
        answers: list[bytes] = []
        logs.read("mine", answers.append)
        logs.close()
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2100
        kept = [int(line.split()[-1]) for line in answers[0].splitlines()]
        assert kept == list(range(200 - len(kept), 200))
        assert len(kept) > 20

    def test_a_bot_without_lines_has_an_empty_log(self, tmp_path: Path, loop: Loop) -> None:
        logs = begin(tmp_path, loop)
        answers: list[bytes] = []
        logs.read("mine", answers.append)
        logs.close()
        assert answers == [b""]

    @pytest.mark.parametrize("fresh", [False, True])
    def test_a_new_contest_of_the_same_name_deletes_the_logs_of_the_last_one(
        self, tmp_path: Path, loop: Loop, fresh: bool
    ) -> None:
        for name in ("mine.log", "mine.log.1", "notes.txt"):
            (tmp_path / name).write_text("old\n")
        begin(tmp_path, loop, fresh=fresh).close()
        left = {path.name for path in tmp_path.iterdir()}
        assert left == ({"notes.txt"} if fresh else {"mine.log", "mine.log.1", "notes.txt"})

    def test_too_many_lines_between_two_flushes_are_counted(
        self, tmp_path: Path, loop: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bot_logs, "MOST_LINES", 3)
        logs = begin(tmp_path, loop)
        log_in(logs, 1, "mine")
        for number in range(5):
            logs.received(1, b"PING 1", number)
        logs.close()
        assert len(text(tmp_path / "mine.log")) == 3
        assert logs.dropped == 3

    def test_a_disk_that_does_not_take_lines_loses_them(
        self, tmp_path: Path, loop: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bot_logs, "MOST_BATCHES", 0)
        logs = begin(tmp_path, loop)
        log_in(logs, 1, "mine")
        logs.close()
        assert logs.dropped == 1

    def test_a_file_that_cannot_be_written_loses_lines_and_no_more(self, tmp_path: Path, loop: Loop) -> None:
        (tmp_path / "elsewhere").write_text("")
        (tmp_path / "mine.log").symlink_to(tmp_path / "elsewhere")  # is not followed
        logs = begin(tmp_path, loop)
        log_in(logs, 1, "mine")
        log_in(logs, 2, "other")
        logs.close()
        assert logs.dropped == 1
        assert (tmp_path / "elsewhere").read_text() == ""
        assert text(tmp_path / "other.log") == ["* login peer=p agent=test/1 resumed=False slot=1"]

    def test_what_happened_to_a_version_is_there_for_its_author(self, tmp_path: Path, loop: Loop) -> None:
        logs = begin(tmp_path, loop)
        logs.happened(SubmissionNoted("mine", 3, "failed", ("no such file",)))
        logs.close()
        assert text(tmp_path / "mine.log") == ["* submission number=3 what=failed reason=no such file"]

    def test_which_worker_has_played_a_game_is_there_for_both_authors(
        self, tmp_path: Path, loop: Loop
    ) -> None:
        logs = begin(tmp_path, loop)
        logs.happened(ResultReturned("g1", ("mine", "other"), "local-1", "box"))
        logs.close()
        line = "* returned game=g1 worker=local-1 host=box"
        assert text(tmp_path / "mine.log") == text(tmp_path / "other.log") == [line]

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path, loop: Loop) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(ArenaError, match=r"^bot logs: .*file: cannot be used: "):
            begin(tmp_path / "file", loop)


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
            return [Send(1, b"WELCOME mine\n"), login(1, "mine")]
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
        assert text(tmp_path / "mine.log")[-2:] == ["C QUIT", "S BYE reason=quit"]
        assert any(line.startswith("C xxx") and line.endswith("...") for line in text(tmp_path / "mine.log"))

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
