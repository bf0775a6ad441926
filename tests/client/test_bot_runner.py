"""Bots run on a thread, in the loop or as tasks; their answers reach the protocol in the loop."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from tests.slices import all_of

from arena_client import AsyncBot, Bot, ClientError, GameView, LeaveContest
from arena_client.bot import AnyBot
from arena_client.bot_runner import BotRunner, Work
from arena_client.protocol import ClientProtocol, Job

from .fake_server import DEALT, OFFER


class Echo(Bot):
    def choose(self, view: GameView) -> int:
        return 4


def due(bot: AnyBot) -> ClientProtocol:
    """Return a protocol whose next job is `new_game`."""
    protocol = ClientProtocol(bot, "me")
    protocol.connection_made()
    greeting = ("ARENA 1 fake/1", "WELCOME me session=s1 resume=r1")
    protocol.receive_data("".join(f"{line}\n" for line in (*greeting, OFFER, *DEALT)).encode())
    protocol.data_to_send()
    return protocol


def no_tasks(work: Work, job: Job) -> None:
    raise AssertionError("only an AsyncBot runs as a task")


def test_an_answer_passes_through_the_loop() -> None:
    posted: list[Callable[[], None]] = []
    there = threading.Event()

    def post(answer: Callable[[], None]) -> None:
        posted.append(answer)
        there.set()

    woken: list[bool] = []
    protocol = due(Echo())
    runner = BotRunner(protocol, post, no_tasks, lambda: woken.append(True))
    runner.poll()
    assert there.wait(20)
    assert (protocol.data_to_send(), woken) == (b"", []), "the protocol changes in the loop only"
    posted.pop()()
    assert (protocol.data_to_send(), woken) == (b"READY g1\n", [True])
    runner.close()


def test_a_closed_loop_ends_the_thread() -> None:
    """The bot returns from a search after the client was cancelled."""
    tried = threading.Event()

    def post(answer: Callable[[], None]) -> None:
        tried.set()
        raise RuntimeError("Event loop is closed")

    before = set(threading.enumerate())
    runner = BotRunner(due(Echo()), post, no_tasks, lambda: None)
    runner.poll()
    assert tried.wait(20)
    for thread in set(threading.enumerate()) - before:
        thread.join(150)
        assert not thread.is_alive()


def test_closing_ends_the_thread() -> None:
    posted = threading.Event()
    before = set(threading.enumerate())
    runner = BotRunner(due(Echo()), lambda answer: posted.set(), no_tasks, lambda: None)
    runner.poll()
    assert posted.wait(20)
    (thread,) = set(threading.enumerate()) - before
    assert (thread.name, thread.daemon) == ("bot me", True)
    runner.close()
    thread.join(150)
    assert not thread.is_alive()


def test_closing_a_runner_without_a_thread() -> None:
    BotRunner(due(Echo()), lambda answer: None, no_tasks, lambda: None).close()


class Instant(Echo):
    instant = True


class Task(AsyncBot):
    async def choose(self, view: GameView) -> int:
        return 4


def test_an_instant_bot_runs_in_poll() -> None:
    protocol = due(Instant())
    BotRunner(protocol, lambda answer: None, no_tasks, lambda: None).poll()
    assert protocol.data_to_send() == b"READY g1\n"


def test_an_async_bot_runs_as_a_task() -> None:
    spawned: list[tuple[Work, Job]] = []
    woken: list[bool] = []
    protocol = due(Task())
    runner = BotRunner(
        protocol, lambda answer: None, lambda *task: spawned.append(task), lambda: woken.append(True)
    )
    runner.poll()
    work, job = spawned.pop()
    assert (protocol.data_to_send(), woken) == (b"", [])
    run_to_end(work, job)
    assert (protocol.data_to_send(), woken) == (b"READY g1\n", [True])


def run_to_end(work: Work, job: Job) -> None:
    """Run a coroutine that waits for nothing."""
    with pytest.raises(StopIteration):
        work(job).send(None)


@all_of("base", [Instant, Task])
@all_of(
    ("raised", "sent"), [(KeyError("opening"), b""), (ClientError("no"), b""), (LeaveContest(), b"QUIT\n")]
)
def test_poll_raises_what_a_bot_raised_and_leaves_if_it_asked_to(
    base: type[Bot] | type[AsyncBot], raised: Exception, sent: bytes
) -> None:
    class Now(Instant):
        def new_game(self, view: GameView) -> None:
            raise raised

    class Later(Task):
        async def new_game(self, view: GameView) -> None:
            raise raised

    protocol = due(Now() if base is Instant else Later())
    runner = BotRunner(protocol, lambda answer: None, run_to_end, lambda: None)
    if sent or base is Task:
        runner.poll()
    if not sent:
        with pytest.raises(type(raised)) as caught:
            runner.poll()
        assert caught.value is raised
    assert protocol.data_to_send() == sent


def test_a_note_after_the_end_of_the_loop_is_dropped() -> None:
    def post(answer: Callable[[], None]) -> None:
        raise RuntimeError("the loop is closed")

    protocol = due(Echo())
    BotRunner(protocol, post, no_tasks, lambda: None)
    assert protocol.view is not None
    protocol.view.note(depth=1)
    assert protocol.data_to_send() == b""
