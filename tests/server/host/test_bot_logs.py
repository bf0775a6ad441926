"""Private logs of bots: lines, bounds, file modes."""

from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.peers import PATIENCE_S

from arena_protocol.messages import Log, parse_server
from arena_server.core.log_events import (
    ConnectionLost,
    GameOver,
    GameResumed,
    GameStarted,
    LoggedIn,
    ResultReturned,
)
from arena_server.errors import ArenaError
from arena_server.host import bot_logs
from arena_server.host.bot_logs import (
    BotLogs,
    escape,
    format_time,
)
from arena_server.host.log_events import BotUsage, SubmissionNoted


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


def log_in(logs: BotLogs, conn: int, bot: str | None) -> None:
    logs.happened(LoggedIn(conn, "p", bot, "test/1", resumed=False, slot=1))


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
        log_in(logs, 3, None)
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
