"""Webhooks of a running server: a thread for each, woken by what happens in its contest."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Final

from arena_protocol.record import GameRecord
from arena_server.core.cut import may_name
from arena_server.core.log_events import CommandDone, LogEvent
from arena_server.host.host import HostObserver
from arena_server.host.log_events import ContestTakenUp
from arena_server.host.loop_link import LoopLink
from arena_server.host.observers import Attachment
from arena_server.host.run import ContestRun
from arena_server.store.database import Database
from arena_server.webhooks.delivery import Cursors, Delivery, cursors_path
from arena_server.webhooks.message import Cursor, Message, notice_of, over_of

#: How long the end of the server waits for what is due, beyond the spectator delay of the last results.
CLOSE_S: Final = 5.0


class HookThread:
    """Runs a Delivery; `wake` may be called on any thread and never waits."""

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self._woken = threading.Event()
        self._closing = self._ended = False
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Something happened."""
        self._woken.set()

    def close(self, deadline: float) -> None:
        """Deliver what is due before `deadline` (monotonic seconds), then end.

        Results that are left are for the next server.
        """
        self._closing = True
        self._woken.set()
        self._thread.join(max(0.0, deadline - time.monotonic()))
        self._ended = True
        self._woken.set()

    def _run(self) -> None:
        while not self._ended:
            self._woken.clear()
            pause = self.delivery.step()
            if pause is None and self._closing:
                break
            if pause != 0:
                self._woken.wait(pause)
        self.delivery.close()


class HookObserver(Attachment):
    """Passes on what happens in one contest."""

    def __init__(self, hosted: ContestRun, database: Database) -> None:
        self._hosted = hosted
        self._database = database
        self._anonymous = hosted.spec.config.anonymous
        self._to_host = LoopLink(asyncio.get_running_loop())
        #: Before the contest has a row.
        self._since = int(time.time())
        self._taken_up: Cursor | None = None
        self._threads: list[HookThread] = []
        self._events = 0

    def started(self) -> None:
        """Raises ArenaError if the file of the cursors cannot be used."""
        cursors = Cursors(cursors_path(self._database, self._hosted.name))
        for number, hook in enumerate(self._hosted.spec.webhooks, start=1):
            # Before a game can end: a server that is killed right after it has to find the hook known.
            cursors.begin(hook, self._since, self._taken_up)
            delivery = Delivery(
                *(hook, number, self._database, self._hosted.name, cursors, self._report),
                delay_ms=self._hosted.spec.config.spectator_delay_ms,
            )
            self._threads.append(HookThread(delivery))

    def happened(self, event: LogEvent) -> None:
        if isinstance(event, ContestTakenUp):
            self._taken_up = Cursor(event.contest, 0, event.games)
        self._events += 1
        # An order of the jury says who has played a game.
        if isinstance(event, CommandDone) and not may_name(anonymous=self._anonymous, over=False):
            return
        self._send(notice_of(self._hosted.name, event, time.time(), self._events))

    def _send(self, message: Message | None) -> None:
        if message is not None:
            for each in self._threads:
                each.delivery.notice(message)
                each.wake()

    def recorded(self, record: GameRecord) -> None:
        for each in self._threads:
            each.wake()

    def stored(self) -> None:
        self._events += 1
        ended = self._hosted.reason
        assert ended is not None, "it is stored because the contest has ended"
        self._send(over_of(self._hosted.name, ended, time.time(), self._events))
        for each in self._threads:
            each.wake()

    def close(self, deadline: float) -> None:
        """End the threads."""
        for each in self._threads:
            each.close(deadline)

    def _report(self, event: LogEvent) -> None:
        self._to_host.post(self._hosted.log, event)


class Webhooks(HostObserver):
    """Delivers to the hooks of all contests of a host; call `close` when the host has ended."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._observers: list[HookObserver] = []
        self._delay_ms = 0

    def added(self, hosted: ContestRun) -> None:
        if hosted.spec.webhooks:
            observer = HookObserver(hosted, self._database)
            self._observers.append(observer)
            self._delay_ms = max(self._delay_ms, hosted.spec.config.spectator_delay_ms)
            hosted.attach(observer)

    def close(self) -> None:
        """Wait for the last messages, but not for long."""
        deadline = time.monotonic() + CLOSE_S + min(self._delay_ms / 1000, CLOSE_S)
        for observer in self._observers:
            observer.close(deadline)
