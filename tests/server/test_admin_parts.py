"""The organiser's door, part by part: what is counted, who may come in, how the loop is asked."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.admin.access import (
    TOKEN_VARIABLE,
    Access,
    AccessFile,
    choose_token,
    find_access,
    path_of,
)
from arena_server.admin.desk import Desk, Unresponsive
from arena_server.admin.monitor import BOUNDS, Histogram, Monitor
from arena_server.admin.office import Office
from arena_server.admin.pages import Desktop
from arena_server.admin.view import ServerView
from arena_server.core.effects import Note
from arena_server.core.events import Command
from arena_server.core.plan import ContestPlan, Entrant
from arena_server.errors import ArenaError, ConfigError
from arena_server.logs import LineWriter, Log
from arena_server.service import Service, Setup
from arena_server.store.url import Server
from arena_server.watcher import Watcher

Value = TypeVar("Value")
PLAN = ContestPlan(name="trial", seed=7)


class TestMonitor:
    def test_the_bounds_of_the_buckets(self) -> None:
        milliseconds = [bound / 1e6 for bound in BOUNDS]
        assert milliseconds[:5] == [0.05, 0.1, 0.2, 0.5, 1]
        assert milliseconds[-3:] == [2000, 5000, 10000]
        assert milliseconds == sorted(set(milliseconds))

    @given(st.lists(st.integers(0, 2 * 10**10) | st.sampled_from(BOUNDS)))
    def test_a_histogram_counts_every_duration_once_and_in_its_bucket(self, durations: list[int]) -> None:
        histogram = Histogram()
        for duration in durations:
            histogram.observe(duration)
        for index, bound in enumerate(BOUNDS):
            assert sum(histogram.counts[: index + 1]) == sum(each <= bound for each in durations)
        assert sum(histogram.counts) == len(durations)
        assert histogram.total == sum(durations)

    def test_a_copy_does_not_change_any_more(self) -> None:
        monitor = Monitor()
        before = monitor.counts()
        monitor.ply(1)
        monitor.noted(Note("warning", "stall", {"ms": 250}))
        assert sum(before.plies.counts) == before.stalls == 0
        assert sum(monitor.counts().plies.counts) == 1

    def test_how_long_the_disk_took(self) -> None:
        moments = iter([0, 1_000, 2_000, 60_000, 400_000])
        monitor = Monitor(lambda: next(moments))
        monitor.journaled()
        monitor.journaled()
        monitor.kept("g1")
        monitor.durable(1, [])
        monitor.durable(2, ["g1"])
        counts = monitor.counts()
        assert (counts.journal.total, sum(counts.journal.counts)) == (60_000 + 399_000, 2)
        assert (counts.store.total, sum(counts.store.counts)) == (398_000, 1)

    def test_a_group_is_counted_once_however_often_it_is_told(self) -> None:
        monitor = Monitor(lambda: 0)
        monitor.journaled()
        monitor.durable(1, [])
        monitor.durable(1, [])
        assert sum(monitor.counts().journal.counts) == 1

    def test_what_notes_tell(self) -> None:
        monitor = Monitor()
        for note in (
            Note("info", "over", {"game": "g1", "end": "complete", "totals": "1,0", "faults": ""}),
            Note(
                "info", "over", {"game": "g2", "end": "complete", "totals": "1,0", "faults": "a:flood,b:quit"}
            ),
            Note("info", "over", {"game": "g3", "end": "void", "totals": "1,0", "faults": "b:quit"}),
            Note("warning", "stall", {"ms": 250}),
            Note("warning", "stall", {"ms": 3250}),
            Note("warning", "refused", {"code": "token"}),
            Note("warning", "order", {"verb": "kick", "target": "a"}),
            Note("info", "login", {"bot": "a"}),
        ):
            monitor.noted(note)
        counts = monitor.counts()
        assert counts.endings == {"complete": 2, "void": 1}
        assert counts.faults == {"flood": 1, "quit": 2}
        assert (counts.stalls, counts.stalled_ms) == (2, 3500)
        assert counts.refused == {"token": 1}
        assert counts.orders == {"kick": 1}

    def test_a_watcher_that_nobody_needs_does_nothing(self) -> None:
        watcher = Watcher()
        watcher.ply(1)
        watcher.journaled()
        watcher.kept("g1")
        watcher.durable(1, ["g1"])
        watcher.noted(Note("info", "over"))


class TestAccess:
    def test_a_fresh_token_has_128_bits(self, tmp_path: Path) -> None:
        tokens = {choose_token(tmp_path / "arena.db", {}) for _ in range(20)}
        assert len(tokens) == 20
        assert {len(token) for token in tokens} == {32}

    def test_the_token_of_the_environment_goes_first(self, tmp_path: Path) -> None:
        given = {TOKEN_VARIABLE: "a-token-long-enough"}
        assert choose_token(tmp_path / "arena.db", given) == "a-token-long-enough"
        assert choose_token(Server("postgresql://host/name"), given) == "a-token-long-enough"

    @pytest.mark.parametrize("token", ["", "short", "with a blank in it", "not-quite-ascii-é", "x" * 15])
    def test_a_token_that_can_be_guessed_or_not_be_said(self, token: str) -> None:
        with pytest.raises(ConfigError) as caught:
            choose_token(Path("arena.db"), {TOKEN_VARIABLE: token})
        assert str(caught.value) == (
            f"ARENA_ADMIN_TOKEN: expected at least 16 ASCII characters without a blank, "
            f"got {len(token)} characters"
        )

    def test_a_database_without_a_folder_needs_the_environment(self) -> None:
        with pytest.raises(ConfigError) as caught:
            choose_token(Server("postgresql://user:secret@host/name"), {})
        assert str(caught.value) == (
            "the admin port needs ARENA_ADMIN_TOKEN in the environment: beside postgresql://host/name "
            "there is no place for a file with a token"
        )

    def test_the_file_is_for_its_owner_only_and_goes_with_the_server(self, tmp_path: Path) -> None:
        database, access = tmp_path / "arena.db", Access("127.0.0.1:9", "t" * 32)
        path = path_of(database, "trial")
        with AccessFile(database, "trial", access, {}):
            assert path.name == "arena.db-trial.admin"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert find_access(database, None, None, {}) == access
            assert find_access(database, "trial", None, {}) == access
        assert list(tmp_path.iterdir()) == []

    def test_a_file_left_behind_is_replaced_and_never_readable_by_others(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        path = path_of(database, "trial")
        path.write_text("old")
        path.chmod(0o644)
        with AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_the_file_of_another_server_is_left_alone(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        newer = Access("127.0.0.1:10", "n" * 32)
        with AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}):
            AccessFile(database, "trial", newer, {}).__enter__()
        assert find_access(database, None, None, {}) == newer

    def test_a_file_that_somebody_removed_is_no_reason_to_fail(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        with AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}):
            path_of(database, "trial").unlink()

    def test_a_token_of_the_environment_is_not_written_down(self, tmp_path: Path) -> None:
        database, given = tmp_path / "arena.db", {TOKEN_VARIABLE: "e" * 16}
        with AccessFile(database, "trial", Access("127.0.0.1:9", "e" * 16), given):
            assert "e" * 16 not in path_of(database, "trial").read_text()
            assert find_access(database, None, None, given) == Access("127.0.0.1:9", "e" * 16)
            with pytest.raises(
                ConfigError, match=r"^the server has its token from ARENA_ADMIN_TOKEN; set the same here$"
            ):
                find_access(database, None, None, {})

    def test_a_server_database_has_no_file(self) -> None:
        server, given = Server("postgresql://host/name"), {TOKEN_VARIABLE: "e" * 16}
        with AccessFile(server, "trial", Access("127.0.0.1:9", "e" * 16), given):
            assert find_access(server, None, "127.0.0.1:9", given) == Access("127.0.0.1:9", "e" * 16)

    def test_no_folder_to_write_to(self, tmp_path: Path) -> None:
        database = tmp_path / "nowhere" / "arena.db"
        with (
            pytest.raises(ArenaError, match=r"arena.db-trial.admin: cannot be written: No such file or dir"),
            AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}),
        ):
            pass

    def test_no_server_plays_here(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        words = (
            f"{database}: no server with an admin port plays here; start it by arena serve --admin-port 0, "
            "or say where it is by --connect, and its token by ARENA_ADMIN_TOKEN"
        )
        for contest, connect in ((None, None), ("trial", None)):
            with pytest.raises(ArenaError) as caught:
                find_access(database, contest, connect, {})
            assert str(caught.value) == words
        with pytest.raises(ConfigError, match=r"^--connect: the server's token is needed too: set "):
            find_access(database, None, "127.0.0.1:9", {})

    def test_several_servers_play_here(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        for number, name in enumerate(("spring", "autumn")):
            AccessFile(database, name, Access(f"127.0.0.1:{number}", "t" * 32), {}).__enter__()
        AccessFile(tmp_path / "other.db", "winter", Access("127.0.0.1:7", "t" * 32), {}).__enter__()
        with pytest.raises(ConfigError) as caught:
            find_access(database, None, None, {})
        assert str(caught.value) == (
            f"{database}: more than one server plays here; choose by --contest: autumn, spring"
        )
        assert find_access(database, "spring", None, {}).address == "127.0.0.1:0"

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"address": 1}', "\xff"])
    def test_a_file_that_is_none(self, tmp_path: Path, text: str) -> None:
        path = path_of(tmp_path / "arena.db", "trial")
        path.write_text(text, encoding="latin-1")
        with pytest.raises(ArenaError, match=r"arena.db-trial.admin: cannot be read: "):
            find_access(tmp_path / "arena.db", None, None, {})

    def test_what_is_said_on_the_command_line_goes_before_the_file(self, tmp_path: Path) -> None:
        database, given = tmp_path / "arena.db", {TOKEN_VARIABLE: "e" * 16}
        with AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}):
            assert find_access(database, None, "host:1", {}) == Access("host:1", "t" * 32)
            assert find_access(database, None, None, given) == Access("127.0.0.1:9", "e" * 16)
            assert find_access(database, None, "host:1", given) == Access("host:1", "e" * 16)


class Contest:
    """Takes orders, and answers as it is told."""

    def __init__(self, desk: Desk, problem: str | None, *, answers: bool = True) -> None:
        self.commands: list[Command] = []
        self._desk = desk
        self._problem = problem
        self._answers = answers

    def feed(self, event: Command) -> None:
        self.commands.append(event)
        if self._answers:
            self._desk.reply(event.number, self._problem)


async def elsewhere(call: Callable[[], Value]) -> Value:
    """Call on another thread, as the door does."""
    return await asyncio.to_thread(call)


@pytest.mark.asyncio
class TestDesk:
    async def test_a_question_is_answered_on_the_loops_thread(self) -> None:
        desk = Desk(asyncio.get_running_loop())
        assert await elsewhere(lambda: desk.ask(threading.get_ident)) == threading.get_ident()

    async def test_what_goes_wrong_is_the_askers(self) -> None:
        desk = Desk(asyncio.get_running_loop())
        with pytest.raises(ZeroDivisionError):
            await elsewhere(lambda: desk.ask(lambda: 1 // 0))

    async def test_a_loop_that_does_not_answer(self) -> None:
        loop = asyncio.new_event_loop()  # it never runs
        desk = Desk(loop, ask_s=0)
        with pytest.raises(Unresponsive, match=r"^no answer from the loop within 0 s$"):
            await elsewhere(lambda: desk.ask(lambda: None))
        loop.close()
        with pytest.raises(Unresponsive, match=r"^the server has ended$"):
            await elsewhere(lambda: desk.ask(lambda: None))

    @pytest.mark.parametrize("problem", [None, "no bot of this contest is called 'x'"])
    async def test_an_order_and_its_answer(self, problem: str | None) -> None:
        desk = Desk(asyncio.get_running_loop())
        contest = Contest(desk, problem)
        for _ in range(2):
            assert await elsewhere(lambda: desk.order(lambda: contest, "kick", "x")) == problem
        assert contest.commands == [Command(1, "kick", "x"), Command(2, "kick", "x")]

    async def test_an_order_that_is_not_durable_in_time(self) -> None:
        desk = Desk(asyncio.get_running_loop(), order_s=0)
        contest = Contest(desk, None, answers=False)
        with pytest.raises(Unresponsive) as caught:
            await elsewhere(lambda: desk.order(lambda: contest, "pause", ""))
        assert str(caught.value) == (
            "no answer from the contest (the order may yet be obeyed: pause) within 0 s"
        )
        desk.reply(1, None)  # late; nobody waits for it any more
        desk.reply(7, None)

    async def test_nobody_takes_orders_yet(self) -> None:
        desk = Desk(asyncio.get_running_loop())

        def nobody() -> Contest:
            raise LookupError

        with pytest.raises(LookupError):
            await elsewhere(lambda: desk.order(nobody, "pause", ""))


class TestPages:
    """What the pages say of a server whose contest has not begun, and of one that is leaving."""

    @pytest.fixture
    def service(self) -> Iterator[Service]:
        setup = Setup(
            plan=PLAN,
            entrants=[Entrant("a"), Entrant("b")],
            database=Path("arena.db"),
            max_connections=10,
        )
        sock, log_fd = socket.socket(), os.open(os.devnull, os.O_WRONLY)
        lines = LineWriter(log_fd)
        yield Service(setup, sock, Log(lines))
        lines.close()
        os.close(log_fd)
        sock.close()

    async def ask(
        self, service: Service, *pages: tuple[str, str], body: bytes = b""
    ) -> list[tuple[int, str]]:
        view = ServerView(service, PLAN)
        answers = Desktop(Desk(asyncio.get_running_loop()), view).pages()
        got = [await elsewhere(lambda page=page: answers[page].call(body)) for page in pages]  # type: ignore[misc]
        return [(answer.status, answer.body.decode().rstrip()) for answer in got]

    @pytest.mark.asyncio
    async def test_before_the_contest_has_begun(self, service: Service) -> None:
        words = "the contest has not begun yet: the database is being opened"
        pages = (("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/status"), ("POST", "/orders"))
        assert await self.ask(service, *pages, body=b'{"verb": "pause"}') == [
            (200, "ok"),
            (503, words),
            (503, json.dumps({"error": words})),
            (503, json.dumps({"error": words})),
        ]
        ((status, text),) = await self.ask(service, ("GET", "/metrics"))
        assert status == 200
        assert "arena_connections_max 0.0" in text
        assert "arena_games{" not in text  # not known yet, so not said

    @pytest.mark.asyncio
    async def test_on_the_way_out(self, service: Service) -> None:
        service.stop()
        assert await self.ask(service, ("GET", "/readyz")) == [(503, "the server is stopping")]

    @pytest.mark.asyncio
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"[" * 4096,
            b"pause",
            b"\xff",
            b"[]",
            b'"pause"',
            b"{}",
            b'{"verb": 1}',
            b'{"verb": "void", "target": 7}',
        ],
    )
    async def test_what_is_no_order(self, service: Service, body: bytes) -> None:
        expected = json.dumps({"error": 'expected {"verb": "...", "target": "..."}'})
        assert await self.ask(service, ("POST", "/orders"), body=body) == [(400, expected)]

    def test_a_loop_that_stands_still(self, service: Service) -> None:
        loop = asyncio.new_event_loop()  # it never runs
        answer = Desktop(Desk(loop, ask_s=0), ServerView(service, PLAN)).pages()
        found = answer["GET", "/healthz"].call(b"")
        loop.close()
        assert (found.status, json.loads(found.body)) == (
            503,
            {"error": "no answer from the loop within 0 s"},
        )

    def test_a_door_that_cannot_be_opened_is_told_in_the_log(self, service: Service) -> None:
        reader, fd = os.pipe()
        lines = LineWriter(fd)
        closed = socket.socket()
        closed.close()
        loop = asyncio.new_event_loop()
        office = Office(closed, "t", Desk(loop), ServerView(service, PLAN), Log(lines))
        office.open()
        office.close()
        loop.close()
        assert lines.close()
        os.close(fd)
        with os.fdopen(reader) as pipe:
            said = pipe.read().splitlines()
        assert all(" error admin-fault trace=" in line for line in said)
        assert "Invalid file" in said[-1]


def test_the_access_file_is_json(tmp_path: Path) -> None:
    with AccessFile(tmp_path / "arena.db", "trial", Access("127.0.0.1:9", "t" * 32), {}):
        read = json.loads(path_of(tmp_path / "arena.db", "trial").read_text())
    assert read == {"address": "127.0.0.1:9", "token": "t" * 32}
