"""Bots that come late and are sent by their authors: from the order of the organiser to their container."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from arena_server.core.deal import token_digest
from arena_server.core.events import Command
from arena_server.host.host import Host, HostSetup
from arena_server.host.logs import LineWriter, Log
from arena_server.host.sockets import bind
from arena_server.places.base import LocalBot
from arena_server.submissions.bot import RefusedError
from arena_server.submissions.service import SubmissionService
from arena_server.submissions.thread import SubmissionThread
from arena_server.terms.config import NO_TOKEN, ContestConfig, Entrant
from arena_server.terms.sandbox import ContainerLimits
from arena_server.terms.spec import ContestSpec, LateVersions
from arena_server.terms.submissions import SubmittedSeat
from arena_server.web.bridge import LoopBridge
from arena_server.web.host_view import HostView, NewcomerError
from arena_server.web.register import with_code

from .script import KEY, Script, setup_in
from .test_deploy import Containers, Program

pytestmark = [pytest.mark.asyncio, pytest.mark.real]

T = TypeVar("T")
PATIENCE_S = 150.0
SPEC = ContestSpec(
    config=ContestConfig(name=KEY[0], seed=1, game="tictactoe"),
    entrants=[Entrant("ann", NO_TOKEN, author_sha256=token_digest("ann-token")), Entrant("bob")],
    late=LateVersions(1, ponders=False),
)
CID = KEY[0], "cid"


class Here:
    """A server, with a scripted examiner and containers that are none."""

    def __init__(self, host: Host, view: HostView, bridge: LoopBridge, thread: SubmissionThread) -> None:
        self.host, self.view, self._bridge = host, view, bridge
        self.service, self._loop = thread.service, thread.loop
        self.containers: Containers

    async def add(self, name: str, token: str) -> str | None:
        """An order of the organiser, as it comes from the page. Raises NewcomerError."""
        entrant = self.view.newcomer(None, name, token_digest(token))
        command = Command(0, "add", name, "jan", 1, "", entrant)
        return await self._bridge.order(lambda: self.view.hosted(None), command)

    async def invite(self, owner: str) -> str | None:
        """An invitation, as it comes from the page. Raises NewcomerError."""
        _, command = with_code(Command(0, "invite", owner, "jan", 1))
        return await self._bridge.order(lambda: self.view.with_late_place(None), command)

    async def order(self, verb: str, name: str) -> str | None:
        return await self._bridge.order(lambda: self.view.hosted(None), Command(0, verb, name))

    async def send(self, key: tuple[str, str], data: bytes) -> None:
        """Send a version, and wait until its admission has ended."""
        over = asyncio.Event()

        def tell(event: object) -> None:
            if event is None:
                over.set()

        async def work() -> None:
            upload = self.service.begin_upload(key)
            upload.write_bytes(data)
            self.service.end_upload(key, upload, "digest", len(data), tell)
            await over.wait()

        await self._there(work())

    async def document(self, key: tuple[str, str]) -> dict[str, Any]:
        """What its author reads of its versions."""

        async def work() -> dict[str, Any]:
            return self.service.document(key)

        return await self._there(work())

    async def started(self) -> LocalBot:
        """The program that is started next."""

        async def work() -> Program:
            return await self.containers.began.get()

        return (await self._there(work())).bot

    async def running(self, count: int) -> None:
        """Wait until this number of programs runs."""

        async def work() -> None:
            while len(self.containers.running) != count:
                await asyncio.sleep(0.01)

        await self._there(work())

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.wrap_future(future)


@asynccontextmanager
async def serving(folder: Path, spec: ContestSpec = SPEC) -> AsyncIterator[Here]:
    """A server of the contest; versions are kept in `folder`."""
    sock, log_fd = bind("127.0.0.1", 0), os.open(folder / "log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    lines = LineWriter(log_fd)
    log = Log(lines)
    setup = HostSetup(database=folder / "arena.db", software="arena/test", max_connections=100)
    host = Host(setup, sock, log)
    bridge = LoopBridge(asyncio.get_running_loop())
    view = HostView(host, bridge)
    rules = replace(setup_in(folder / "sent"), late=SubmittedSeat(1, ContainerLimits(pids=7)))
    found: list[Here] = []

    @asynccontextmanager
    async def place() -> AsyncIterator[Containers]:
        found[0].containers = Containers()
        yield found[0].containers

    try:
        thread = SubmissionThread([rules], {KEY[0]: Script()}, place, host, log)
        found.append(Here(host, view, bridge, thread))
        with thread:
            await thread.ready()
            task = asyncio.create_task(host.run([spec]))
            async with asyncio.timeout(PATIENCE_S):
                while not (task.done() or (KEY[0] in host.contests and host.contests[KEY[0]].contest)):
                    await asyncio.sleep(0.01)
                yield found[0]
                host.stop()
                await task
    finally:
        lines.close()
        os.close(log_fd)


async def logs_in(here: Here, bot: LocalBot, token: str) -> bool:
    """Whether this token logs the bot in."""
    port = here.host._sock.getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"HELLO 1 {bot.name} token={token}\n".encode())
    try:
        while line := await asyncio.wait_for(reader.readline(), PATIENCE_S):
            if line.startswith((b"WELCOME", b"ERROR")):
                return line.startswith(b"WELCOME")
        return False
    finally:
        writer.close()


async def test_who_is_added_sends_a_version_that_plays_also_after_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path) as here:
        assert await here.add("cid", "cid-token") is None
        assert here.view.author_of(None, "cid", "cid-token") == (KEY[0], True)
        assert here.view.author_of(None, "cid", "ann-token") is None
        assert here.view.author_of(None, "ann", "ann-token") == (KEY[0], True)
        await here.send(CID, b"its bot")
        bot = await here.started()
        assert bot.sandbox is not None
        assert (bot.name, bot.sandbox.limits.pids) == ("cid", 7)
        assert not await logs_in(here, bot, "cid-token")
        assert await logs_in(here, bot, bot.token)
        for use in (here.add("dan", "dan-token"), here.invite("jan")):
            with pytest.raises(NewcomerError, match=r"^no place for another bot: submissions.late is 1; "):
                await use
    async with serving(tmp_path) as here:
        again = await here.started()
        assert (again.name, again.token == bot.token) == ("cid", False)
        assert here.view.author_of(None, "cid", "cid-token") == (KEY[0], True)
        assert await logs_in(here, again, again.token)


@pytest.mark.soak
async def test_one_that_leaves_has_no_container_and_its_place_is_free(tmp_path: Path) -> None:
    async with serving(tmp_path) as here:
        assert await here.add("cid", "cid-token") is None
        await here.send(CID, b"its bot")
        await here.started()
        assert await here.order("remove", "cid") is None
        await here.running(0)
        assert await here.invite("jan") is None
        assert here.view.author_of(None, "cid", "cid-token") is None
        assert await here.add("cid", "newer") is None
        assert (await here.started()).name == "cid", "its versions are its own"
        assert await here.order("remove", "cid") is None
    async with serving(tmp_path) as here:
        assert await here.add("dan", "dan-token") is None
        assert await here.order("remove", "dan") is None
        assert await here.add("cid", "newest") is None
        assert (await here.started()).name == "cid"
        assert here.view.author_of(None, "cid", "newest") == (KEY[0], True)


async def test_nobody_gets_what_another_author_has_sent_to_an_earlier_contest(tmp_path: Path) -> None:
    async with serving(tmp_path) as here:
        assert await here.add("cid", "cid-token") is None
        await here.send(CID, b"its bot")
    async with serving(tmp_path, replace(SPEC, new=True)) as here:
        assert await here.add("cid", "of another") is None
        assert (await here.document(CID))["versions"] == []
    assert (tmp_path / "sent/friday/cid~1/1.tar.gz").read_bytes() == b"its bot"


@pytest.mark.soak
async def test_a_contest_that_takes_no_versions_of_late_bots(tmp_path: Path) -> None:
    async with serving(tmp_path, replace(SPEC, late=LateVersions())) as here:
        assert await here.add("cid", "cid-token") is None
        assert here.view.author_of(None, "cid", "cid-token") == (KEY[0], False)


@pytest.mark.soak
async def test_a_folder_that_cannot_be_used_costs_its_bot_alone(tmp_path: Path) -> None:
    async with serving(tmp_path) as here:
        (tmp_path / "sent/friday/cid").symlink_to(tmp_path / "nowhere")
        assert await here.add("cid", "cid-token") is None
        with pytest.raises(RefusedError, match=r"^the server cannot keep versions of this bot; its log says"):
            await here.document(CID)
        await here.send(KEY, b"another bot")
        assert (await here.started()).name == "ann"
    assert "submissions: " in (tmp_path / "log").read_text()


@pytest.mark.soak
async def test_an_admission_of_a_late_bot_goes_on(tmp_path: Path) -> None:
    service = SubmissionService([setup_in(tmp_path)], {KEY[0]: Script()})
    service.enter(CID)
    upload = service.begin_upload(CID)
    upload.write_bytes(b"its bot")
    service.end_upload(CID, upload, "digest", 7, lambda _: None)
    service.close()
    again = SubmissionService([setup_in(tmp_path)], {KEY[0]: Script()})
    again.enter(CID)
    admitting = asyncio.create_task(again.admit_all())
    async with asyncio.timeout(20):
        while again.document(CID)["active"] is None:
            await asyncio.sleep(0)
    admitting.cancel()
    again.close()
