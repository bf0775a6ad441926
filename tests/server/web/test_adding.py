"""Contests that are added to a running server: one after the other, each once, none by half."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request

from arena_server.core.contest import Contest
from arena_server.core.log_events import LogEvent
from arena_server.errors import ArenaError, ConfigError
from arena_server.host.host import Host
from arena_server.host.log_events import ContestAdded
from arena_server.store.added import keep_added, text_of_added
from arena_server.terms.config import ContestConfig, Entrant
from arena_server.terms.spec import ContestSpec
from arena_server.web.adding import FILE_FORM, ContestAdder
from arena_server.web.bridge import LoopBridge
from arena_server.web.ports import Adding

pytestmark = pytest.mark.asyncio

FULL = "no place for it"


@dataclass
class FakeHost:
    """Contests by name; `fails` is raised in place of one more."""

    contests: dict[str, Any] = field(default_factory=dict)
    log: list[LogEvent] = field(default_factory=list)
    fails: ArenaError | None = None
    most: int = 100
    #: Of a server that has just started: the contests that it has when all of them have begun.
    own: dict[str, Any] = field(default_factory=dict)

    async def begun(self) -> None:
        await asyncio.sleep(0)
        self.contests |= self.own

    def check_place(self, slots: int) -> None:
        if slots > self.most:
            raise ValueError(FULL)

    async def add(self, spec: ContestSpec) -> Any:
        await asyncio.sleep(0)
        if self.fails is not None:
            raise self.fails
        assert spec.name not in self.contests
        contest = Contest(spec.config, spec.entrants, lambda n: "0" * 2 * n, 0, quorum=2)
        self.contests[spec.name] = hosted = SimpleNamespace(
            name=spec.name, contest=contest, log=self.log.append
        )
        return hosted


class Added:
    """A host to which contests are added, and the names that have been entered."""

    def __init__(self, folder: Path) -> None:
        self.host = FakeHost()
        self.database = folder / "arena.db"
        self.entered: list[str] = []
        adding = Adding(database=self.database, beside=["own"], read=self._read, entered=self.entered.append)
        bridge = LoopBridge(asyncio.get_running_loop())
        self.adder = ContestAdder(cast(Host, self.host), bridge, adding)

    def _read(self, text: str, source: str) -> ContestSpec:
        if text.startswith("bad"):
            raise ConfigError(f"{source}: bad")
        config = ContestConfig(name=text.split()[0], seed=1, game="tictactoe")
        return ContestSpec(config=config, entrants=[Entrant("ann"), Entrant("bob")])

    async def send(self, text: str, **more: object) -> tuple[int, dict[str, Any]]:
        return await self.send_body(json.dumps({"file": "c.toml", "text": text, **more}).encode())

    async def send_body(self, body: bytes) -> tuple[int, dict[str, Any]]:
        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": body, "more_body": False}

        scope = {"type": "http", "method": "POST", "headers": [], "client": ("1.2.3.4", 5)}
        response = await self.adder.answer(Request(scope, receive))
        return response.status_code, json.loads(bytes(response.body))


DONE = {"done": True, "contest": "sunday", "phase": "planned", "ended": None}


async def test_it_is_kept_and_begins_and_the_same_again_changes_nothing(tmp_path: Path) -> None:
    added = Added(tmp_path)
    for _ in range(2):
        assert await added.send("sunday\n1", by="jan") == (200, DONE)
    assert added.entered == ["sunday"]
    assert added.host.log == [ContestAdded("sunday", "jan (1.2.3.4)")]
    assert text_of_added(added.database, "sunday") == "sunday\n1"


async def test_two_at_once_with_one_name_are_one_contest(tmp_path: Path) -> None:
    added = Added(tmp_path)
    answers = await asyncio.gather(added.send("sunday 1"), added.send("sunday 1"), added.send("sunday 2"))
    assert list(answers[:2]) == [(200, DONE), (200, DONE)]
    assert answers[2] == (409, {"error": "the server has a contest sunday; choose another contest.name"})
    assert added.entered == ["sunday"]


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        pytest.param(None, (200, DONE), id="it begins"),
        pytest.param(
            "away", (409, {"error": "the contest sunday of this server could not begin: away"}), id="it fails"
        ),
    ],
)
async def test_a_file_that_is_sent_again_to_a_server_that_has_just_started(
    tmp_path: Path, failure: str | None, expected: tuple[int, dict[str, Any]]
) -> None:
    added = Added(tmp_path)
    await added.send("sunday 1")
    hosted = added.host.contests.pop("sunday")
    added.host.own["sunday"] = hosted if failure is None else SimpleNamespace(contest=None, failure=failure)
    assert await added.send("sunday 1") == expected
    assert added.entered == ["sunday"], "once"


@pytest.mark.parametrize("text", ["own 1", "elsewhere 2"])
async def test_a_name_that_is_in_use(tmp_path: Path, text: str) -> None:
    """Of a contest of the command line, or one that was added to another server of the database."""
    added = Added(tmp_path)
    added.host.contests["own"] = object()
    keep_added(added.database, "elsewhere", "elsewhere 1", ["theirs"])
    name = text.split()[0]
    assert await added.send(text) == (
        409, {"error": f"the server has a contest {name}; choose another contest.name"},
    )  # fmt: skip
    assert text_of_added(added.database, "own") is None
    assert text_of_added(added.database, "elsewhere") == "elsewhere 1"


async def test_one_that_was_kept_and_did_not_begin_is_begun_by_the_same_again(tmp_path: Path) -> None:
    """The server was killed, or the loop gave no answer in time."""
    added = Added(tmp_path)
    keep_added(added.database, "sunday", "sunday 1", ["own"])
    assert await added.send("sunday 1") == (200, DONE)
    assert added.entered == ["sunday"]


async def test_one_that_cannot_begin_is_not_kept(tmp_path: Path) -> None:
    added = Added(tmp_path)
    added.host.fails = ArenaError("the server is stopping")
    assert await added.send("sunday") == (409, {"error": "the server is stopping"})
    added.host.fails, added.host.most = None, 1
    assert await added.send("sunday") == (409, {"error": FULL})
    assert await added.send("bad") == (422, {"error": "c.toml: bad"})
    assert (text_of_added(added.database, "sunday"), added.entered) == (None, [])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"7",
        b"{}",
        b'{"text": "sunday"}',
        b'{"file": "c.toml"}',
        b'{"file": "c.toml", "text": 7}',
        b'{"file": "c\\n.toml", "text": "sunday"}',
        b'{"file": "c.toml", "text": "sunday", "other": "x"}',
    ],
)
async def test_a_body_that_is_no_file(tmp_path: Path, body: bytes) -> None:
    assert await Added(tmp_path).send_body(body) == (400, {"error": f"expected {FILE_FORM}"})


async def test_a_client_that_goes_away_leaves_nothing_by_half(tmp_path: Path) -> None:
    added = Added(tmp_path)
    asked = asyncio.ensure_future(added.send("sunday 1"))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert await added.send("sunday 1") == (200, DONE)
    assert added.entered == ["sunday"]
