"""How the server's loop is asked from the organiser's thread, and what the pages answer."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from arena_server.admin.desk import Desk, Unresponsive
from arena_server.admin.office import Office
from arena_server.admin.pages import Desktop
from arena_server.admin.view import ServerView
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.events import Command
from arena_server.logs import LineWriter, Log
from arena_server.server import Service, Setup

Value = TypeVar("Value")


PLAN = ContestPlan(name="trial", seed=7)


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
