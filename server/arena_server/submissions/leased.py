"""Which versions of submitted bots workers play.

    VersionActivated -> its image as a file, if workers are far -> Replace to the contest -> BotReplaced
    -> VersionDeployed: the next leases are of it

Games that are out end with the version of their lease. The image of the version before stays, for their
workers may still ask for it.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress

from arena_server.host.log_events import SubmissionNoted
from arena_server.places.base import LaunchError
from arena_server.places.docker import IMAGE_S, Docker
from arena_server.submissions.bot import SubmittedBot
from arena_server.submissions.deploy import AGAIN_S, TOKEN_BYTES, ContestLink
from arena_server.submissions.versions import VersionActivated, VersionDeployed, VersionFact


class LeasedBot:
    """Has workers play the active version of one bot. `run` is its life, on the loop of the submissions.

    With an engine its images are saved as files, once each.
    """

    def __init__(self, bot: SubmittedBot, link: ContestLink, engine: Docker | None) -> None:
        self._bot = bot
        self._link = link
        self._engine = engine
        self._wanted = asyncio.Event()
        self._problem = ""
        bot.watchers.append(self._watch)

    def _watch(self, _bot: SubmittedBot, fact: VersionFact) -> None:
        if isinstance(fact, VersionActivated):
            self._wanted.set()

    async def run(self) -> None:
        """Give out the active version, and each one after it; it ends by being cancelled."""
        await self._link.begun.wait()
        playing: int | None = None
        while True:
            self._wanted.clear()
            number = self._bot.versions.active
            if number is None or number == playing:
                await self._wanted.wait()
            elif not await self._have_image(number):
                with suppress(TimeoutError):
                    async with asyncio.timeout(AGAIN_S):
                        await self._wanted.wait()
            elif await self._link.replace(self._bot, number, secrets.token_hex(TOKEN_BYTES), self._wanted):
                self._deployed(number)
                playing = number

    async def _have_image(self, number: int) -> bool:
        """See that the image is here as a file, if it has to be; else say why it is not."""
        store, image = self._bot.store, self._bot.versions.find(number).image
        path = store.image(image)
        if self._engine is None or path.exists():
            return True
        part = store.upload(path.name)
        try:
            await self._engine.call("save", "--output", str(part), image, seconds=IMAGE_S)
            part.replace(path)
        except (LaunchError, OSError) as error:
            store.forget(part)
            problem = f"its image cannot be saved for the workers: {error}"
            self._bot.say(number, f"{problem}; it is tried again in {AGAIN_S:.0f} s")
            if problem != self._problem:  # the same is said once
                self._problem = problem
                self._link.say(SubmissionNoted(self._bot.key[1], number, "cannot-start", (problem,)))
            return False
        return True

    def _deployed(self, number: int) -> None:
        versions = self._bot.versions
        before = versions.deployed
        if before != number:
            with suppress(OSError):  # a full disk: it is written with the next version
                self._bot.write(VersionDeployed(number))
        pending = versions.pending  # runners may have built it, and have to check it
        kept = (number, before, versions.active, None if pending is None else pending.number)
        self._bot.store.keep_images({versions.find(each).image for each in kept if each is not None} - {""})
