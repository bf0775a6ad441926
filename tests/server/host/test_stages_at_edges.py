"""Planned contests of a host whose contests end in any order and any way, and whose server is killed.

The host is a fake on a loop without a clock, and `make` reads a table: only `PlannedContests` is real.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from types import SimpleNamespace
from typing import Any, Final

import pytest

from arena_server.core.life import ABORTED, FINISHED, STOPPED
from arena_server.errors import StoreError
from arena_server.host.begin_right import BeginRight
from arena_server.host.observers import Attachment
from arena_server.host.stages import PlannedContest, PlannedContests

from ...slices import all_of

NAMES: Final = ("a", "b", "c", "d", "e", "f")


class Lock:
    """The lock of the database, as a server sees it: `held` counts."""

    held = 0

    def take(self) -> Lock:
        self.held += 1
        return self

    def release(self) -> None:
        self.held -= 1


class Run:
    """A contest of the host."""

    def __init__(self, name: str, *, over: bool = False) -> None:
        self.name, self.over, self.failure = name, asyncio.Event(), None
        self.spec = SimpleNamespace(over=over)
        self.reason: str | None = None
        self.contest = SimpleNamespace(leads_on=False)
        self.attachments: list[Attachment] = []

    def attach(self, attachment: Attachment) -> None:
        self.attachments.append(attachment)

    def end(self, reason: str) -> None:
        self.reason = reason
        self.over.set()
        for each in self.attachments:
            each.stored()


class Season:
    """Contests that lead to each other: `status` has how each that has begun has ended, None if it runs."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        first = rng.randint(1, 2)
        self.upstream: dict[str, Sequence[str]] = dict.fromkeys(NAMES[:first], ())
        for number, name in enumerate(NAMES[first : rng.randint(first + 1, 6)], start=first):
            self.upstream[name] = rng.sample(NAMES[:number], rng.randint(1, min(2, number)))
        self.status: dict[str, str | None] = dict.fromkeys(NAMES[:first])
        self.leaving = False
        self.tasks: list[asyncio.Task[object]] = []
        self.serve()

    # -- the host

    def serve(self) -> None:
        """A server begins with the contests that have begun; one that was stopped goes on."""
        self.status = {name: None if how == STOPPED else how for name, how in self.status.items()}
        self.contests = {name: Run(name, over=how is not None) for name, how in self.status.items()}
        self.left = 0
        self.lock = Lock()
        self.right = BeginRight(self.lock.take, self.lock.take())
        chain = [
            PlannedContest(name, names, self._make(name))
            for name, names in self.upstream.items()
            if name not in self.status
        ]
        host: Any = self
        self.log: list[object] = []
        self.planned = PlannedContests(host, chain, SimpleNamespace(write=self.log.append))  # type: ignore[arg-type]
        going = [name for name, how in self.status.items() if how is None]
        for name in going:
            self._start(self.contests[name])
        # Beside a contest that is played those that are over are looked up later.
        if not going:
            self._show()
        self.planned.serving()
        if going:
            self._show()
        self.right.release()  # the first contests are stored

    def _show(self) -> None:
        for name, run in self.contests.items():
            if (how := self.status[name]) is not None:
                self._start(run)
                run.reason = how
                run.over.set()

    def observe(self, observer: object) -> None:
        """As the host: its observer is `planned`."""

    def _start(self, run: Run) -> None:
        self.planned.added(run)  # type: ignore[arg-type]
        for each in run.attachments:
            each.started()

    async def add(self, spec: Any) -> None:
        assert self.lock.held == 1, "another server may begin it, too"
        await self.pause()
        assert spec.name not in self.status, f"{spec.name} begins twice"
        assert all(self.status[name] == FINISHED for name in self.upstream[spec.name])
        self.status[spec.name] = None
        run = self.contests[spec.name] = Run(spec.name)
        self._start(run)

    def leave_at_end(self) -> None:
        self.left += 1

    def _make(self, name: str) -> Callable[[], Any]:
        def make() -> Any:
            ended = [self.status[each] for each in self.upstream[name]]
            if ABORTED in ended:
                raise StoreError(f"{name} does not begin")
            return None if STOPPED in ended else SimpleNamespace(name=name, entrants=())

        return make

    # -- what happens

    async def pause(self) -> None:
        for _ in range(self.rng.randrange(4)):
            await asyncio.sleep(0)

    async def settle(self) -> None:
        await asyncio.sleep(0)
        while self.planned._beginning:
            await asyncio.sleep(0)
        assert self.lock.held == 0, "nothing begins, and no other server may begin anything"

    def end_one(self, *ways: str) -> None:
        running = [name for name, how in self.status.items() if how is None]
        if running:
            name = self.rng.choice(running)
            how = self.status[name] = self.rng.choice(ways)
            self.contests[name].end(how)

    async def kill(self) -> None:
        """Whatever the server was about, it does no more."""
        tasks = list(self.planned._beginning.values())
        for task in tasks:
            task.cancel()
        self.leaving = True  # what the loop still calls
        await asyncio.gather(*tasks, asyncio.sleep(0), return_exceptions=True)
        self.leaving = False
        self.serve()

    def may_begin(self, name: str) -> bool:
        """Whether a contest that has not begun may, with this server."""
        return name not in self.status and all(
            self.status[each] in (None, FINISHED) if each in self.status else self.may_begin(each)
            for each in self.upstream[name]
        )

    def check(self) -> None:
        """When nothing is under way."""
        for name, run in self.contests.items():
            leads = any(name in names and self.may_begin(each) for each, names in self.upstream.items())
            assert run.contest.leads_on == leads, (name, self.upstream, self.status)
        assert self.planned.awaited == any(map(self.may_begin, self.upstream))
        due = [name for name in self.upstream if self.may_begin(name)]
        assert not any(all(each in self.status for each in self.upstream[name]) for name in due) or any(
            how is None for how in self.status.values()
        ), "a contest whose time has come does not begin"
        aborted = {
            name
            for name, names in self.upstream.items()
            if name not in self.status
            and all(self.status.get(each) is not None for each in names)
            and any(self.status[each] == ABORTED for each in names)
        }
        assert set(self.planned.problems) == aborted


async def play(seed: int) -> None:
    rng = Random(seed)
    season = Season(rng)
    await season.settle()
    season.check()
    for _ in range(rng.randrange(12)):
        match rng.randrange(6):
            case 0:
                await season.kill()
            case 1:
                await season.pause()
            case 2:
                await season.settle()
                season.check()
            case _:
                season.end_one(FINISHED, FINISHED, FINISHED, STOPPED, ABORTED)
    await season.settle()
    season.check()
    await season.kill()  # what was stopped goes on
    await season.settle()
    while None in season.status.values():
        season.end_one(FINISHED)
        await season.settle()
        season.check()
    ended = {name for name, how in season.status.items() if how == ABORTED}
    for name, names in season.upstream.items():
        assert (name in season.status) == all(season.status.get(each) == FINISHED for each in names) or ended


def in_turn(function: Callable[[], object]) -> Any:
    async def call() -> object:
        await asyncio.sleep(0)
        return function()

    return call()


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio, "to_thread", in_turn)


@all_of("seed", range(60))
def test_each_begins_once_when_those_before_it_are_over(seed: int) -> None:
    asyncio.run(play(seed))


@pytest.mark.soak
def test_the_same_in_many_seasons(soak_seed: int) -> None:
    for number in range(5_000):
        asyncio.run(play(soak_seed * 100_000 + number))
