"""The thread of the submitted bots of a server, with an event loop of its own.

Neither a slow disk, nor the output of a build, nor what bots send through their relays reaches the loop of
the referee.
"""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Final, Self

from arena_server.errors import ArenaError
from arena_server.host.host import Host
from arena_server.host.log_events import WebFault
from arena_server.host.logs import Log
from arena_server.host.loop_link import LoopLink
from arena_server.places.base import Launcher, LaunchError
from arena_server.places.docker import Docker
from arena_server.submissions.admission import Examiner
from arena_server.submissions.deploy import ContestLink, DeployedBot, HostLink
from arena_server.submissions.leased import LeasedBot
from arena_server.submissions.service import SubmissionService
from arena_server.terms.submissions import SubmissionSetup

#: Where bots run, once it is entered; it raises LaunchError.
Place = Callable[[], AbstractAsyncContextManager[Launcher]]


class SubmissionThread:
    """Runs the submitted bots of a host, inside a `with` statement that encloses the host's run.

    `service` belongs to `loop`. Enter it on the loop of the host, and await `ready` before the host runs.
    """

    def __init__(
        self,
        setups: Sequence[SubmissionSetup],
        examiners: Mapping[str, Examiner],
        place: Place | None,
        host: Host,
        log: Log,
        saver: Docker | None = None,
    ) -> None:
        """Without a place workers play; a `saver` saves the images for those on other machines."""
        self.loop: Final = asyncio.new_event_loop()
        self.service: Final = SubmissionService(setups, examiners)
        self._setups = setups
        self._place = place
        self._saver = saver
        self._log = log
        host_loop = asyncio.get_running_loop()
        self._link, self._to_host = LoopLink(self.loop), LoopLink(host_loop)
        self._links = {
            setup.contest: ContestLink(self._to_host, self._link, partial(self._enter, setup.contest))
            for setup in setups
        }
        host.observe(HostLink(self._links))
        self.service.watchers.append(lambda bot, fact: self._links[bot.key[0]].note(bot, fact))
        self._ready: asyncio.Future[None] = host_loop.create_future()
        self._main: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="submissions", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    async def ready(self) -> None:
        """Wait until bots can be started. Raises ArenaError if they cannot."""
        await self._ready

    def __exit__(self, *_: object) -> None:
        """End the containers; admissions that are under way begin again at the next start."""
        self._link.post(self._stop)
        self._thread.join()
        self.loop.close()
        self.service.close()

    def _stop(self) -> None:
        if self._main is not None:
            self._main.cancel()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self._main = self.loop.create_task(self._serve())
            self.loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            pass
        except LaunchError as error:
            self._tell(error)
        except Exception as error:  # the thread's boundary: the contest goes on without submissions
            for line in traceback.format_exception(error):
                for part in line.rstrip().splitlines():
                    self._log.write(WebFault(part))
            self._tell(LaunchError("the submitted bots cannot run; the log above tells why"))

    def _tell(self, problem: LaunchError | None) -> None:
        """Report to the loop of the host how it began, once."""

        def tell() -> None:
            if not self._ready.done():
                self._ready.set_exception(problem) if problem else self._ready.set_result(None)

        self._to_host.post(tell)

    async def _serve(self) -> None:
        place: AbstractAsyncContextManager[Launcher | None]
        place = nullcontext() if self._place is None else self._place()
        async with place as launcher:
            self._tell(None)
            async with asyncio.TaskGroup() as group:
                group.create_task(self.service.admit_all())
                for setup in self._setups:
                    group.create_task(self._play(setup, launcher))

    async def _play(self, setup: SubmissionSetup, launcher: Launcher | None) -> None:
        """Run the bots of a contest until it is over."""
        link = self._links[setup.contest]
        playing = asyncio.create_task(self._play_all(setup, link, launcher))
        over = asyncio.create_task(link.over.wait())
        try:
            await asyncio.wait([over, playing], return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                playing.result()
        finally:
            for task in (over, playing):
                task.cancel()
            await asyncio.gather(over, playing, return_exceptions=True)

    def _enter(self, contest: str, name: str, joined: bool) -> None:
        try:
            self.service.enter((contest, name), joined=joined)
        except ArenaError as error:  # its folder cannot be used: the others play on
            self._log.write(WebFault(str(error)))

    async def _play_all(self, setup: SubmissionSetup, link: ContestLink, launcher: Launcher | None) -> None:
        """Run each bot while it takes part; it ends by being cancelled."""
        running: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                name, takes_part = await link.news.get()
                if (task := running.pop(name, None)) is not None:
                    task.cancel()
                    await asyncio.wait([task])
                if takes_part and (bot := self.service.bots.get((setup.contest, name))) is not None:
                    if launcher is None:
                        life = LeasedBot(bot, link, self._saver).run()
                    else:
                        life = DeployedBot(bot, setup.seat(name), link, launcher).run()
                    running[name] = group.create_task(life)
