"""Runs the bot's methods, so that the event loop stays free to answer PING.

A Bot runs on one thread of its own, or in the event loop if it is `instant`; an AsyncBot runs as a
task of the event loop.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, cast

from arena_client.bot import AsyncBot
from arena_client.errors import ClientError, LeaveContest
from arena_client.protocol import ClientProtocol, Job

#: Schedules a function in the event loop from another thread; RuntimeError if the loop is closed.
Post = Callable[[Callable[[], None]], object]

#: An async function that runs a job, and the function that starts it as a task of the event loop.
Work = Callable[[Job], Coroutine[Any, Any, None]]
Spawn = Callable[[Work, Job], object]


class BotRunner:
    """Takes the jobs of `protocol` and completes them; `wake` is called in the loop after each.

    Call `poll` after every change of the protocol, and `close` at the end.
    """

    def __init__(self, protocol: ClientProtocol, post: Post, spawn: Spawn, wake: Callable[[], None]) -> None:
        self._protocol = protocol
        self._post = post
        self._spawn = spawn
        self._wake = wake
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        protocol.on_note = self._flush_note

    def poll(self) -> None:
        """Start the next job, if there is one. Raises what the bot raised, or ClientError."""
        if self._failure is not None:
            raise self._failure
        bot = self._protocol.bot
        while (job := self._protocol.next_job()) is not None:
            if isinstance(bot, AsyncBot):
                self._spawn(self._run_task, job)
            elif bot.instant:
                self._run_now(job)
            else:
                self._queue(job)

    def close(self) -> None:
        """Let the thread end when the bot returns; a search that never ends is abandoned."""
        if self._thread is not None:
            self._jobs.put(None)

    def _run_now(self, job: Job) -> None:
        try:
            value = job.call()
        except LeaveContest:
            self._protocol.quit()
        else:
            self._protocol.complete(job, value)

    async def _run_task(self, job: Job) -> None:
        try:
            value = await cast("Awaitable[object]", job.call())
        except Exception as error:  # poll() raises it in the task of the connection
            self._fail(error)
        else:
            self._complete(job, value)

    def _queue(self, job: Job) -> None:
        if self._thread is None:
            # A daemon: a bot that never returns must not keep the process alive.
            name = f"bot {self._protocol.name}"
            self._thread = threading.Thread(target=self._run_thread, name=name, daemon=True)
            self._thread.start()
        self._jobs.put(job)

    def _run_thread(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                answer = partial(self._complete, job, job.call())
            except BaseException as error:  # poll() raises it in the event loop
                answer = partial(self._fail, error)
            try:
                self._post(answer)
            except RuntimeError:
                return  # the event loop is closed and needs no answer

    def _flush_note(self) -> None:
        """Let the loop send a note now, not with the next move."""
        with suppress(RuntimeError):  # the event loop is closed
            self._post(self._wake)

    def _complete(self, job: Job, value: object) -> None:
        try:
            self._protocol.complete(job, value)
        except ClientError as error:
            self._failure = error
        self._wake()

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, LeaveContest):
            self._protocol.quit()
        else:
            self._failure = error
        self._wake()
