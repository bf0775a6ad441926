"""Where the bot thinks: on one thread of its own, so that the event loop stays free for PING.

It must not know: which event loop, sockets, the wire.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

from arena_client.errors import ClientError
from arena_client.protocol import Job, Player

#: Runs a function soon in the event loop's thread; RuntimeError if that loop is gone.
Post = Callable[[Callable[[], None]], object]


class Mind:
    """Asks the bot what its player wants to know.

    `post` is the event loop's way in from another thread; `wake` is called in the loop
    after each answer. An `instant` bot is asked at once, on the loop, without a thread.
    """

    def __init__(self, player: Player, post: Post, wake: Callable[[], None]) -> None:
        self._player = player
        self._post = post
        self._wake = wake
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    def think(self) -> None:
        """Hand the bot its next job, if there is one. Raises what the bot raised, or ClientError."""
        if self._failure is not None:
            raise self._failure
        while (job := self._player.next_job()) is not None:
            if self._player.bot.instant:
                self._player.done(job, job.ask())
            else:
                self._submit(job)

    def close(self) -> None:
        """Let the thread end once the bot returns; a search that never ends is left behind."""
        if self._thread is not None:
            self._jobs.put(None)

    def _submit(self, job: Job) -> None:
        if self._thread is None:
            # A daemon: a bot that never comes back must not keep the process alive.
            self._thread = threading.Thread(target=self._work, name=f"bot {self._player.name}", daemon=True)
            self._thread.start()
        self._jobs.put(job)

    def _work(self) -> None:
        """Run in the thread: one job after the other."""
        while (job := self._jobs.get()) is not None:
            try:
                answer = partial(self._answered, job, job.ask())
            except BaseException as error:  # handed on whole: think() raises it in the loop
                answer = partial(self._failed, error)
            try:
                self._post(answer)
            except RuntimeError:
                return  # the event loop is over, nobody is waiting for this answer

    def _answered(self, job: Job, value: object) -> None:
        try:
            self._player.done(job, value)
        except ClientError as error:
            self._failure = error
        self._wake()

    def _failed(self, error: BaseException) -> None:
        self._failure = error
        self._wake()
