"""The containers in which submitted bots play, one version after the other.

    VersionActivated -> Replace to the contest -> its running games end -> BotReplaced
    -> the old container ends, VersionDeployed, the new one starts with a token of its own

After a restart of the server the version that was deployed goes on with the running games.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from arena_server.core.deal import token_digest
from arena_server.core.events import Event, Replace
from arena_server.core.log_events import (
    BotJoined,
    BotLeft,
    BotReplaced,
    GameOver,
    GameResumed,
    GameStarted,
    LogEvent,
    LoggedIn,
)
from arena_server.host.host import HostObserver
from arena_server.host.log_events import SubmissionNoted
from arena_server.host.loop_link import LoopLink
from arena_server.host.observers import Attachment
from arena_server.host.run import ContestRun
from arena_server.places.base import (
    BotError,
    Launcher,
    LocalBot,
    Order,
    Running,
)
from arena_server.places.frozen_bots import StartedBots
from arena_server.places.games import ObservedGames
from arena_server.places.restarts import Orders, RestartingBot, program_of
from arena_server.submissions.bot import SubmittedBot
from arena_server.submissions.versions import VersionActivated, VersionDeployed, VersionFact, fact_json
from arena_server.terms.sandbox import Sandbox
from arena_server.terms.submissions import SubmittedSeat

#: 128 bits, as hexadecimal digits.
TOKEN_BYTES: Final = 16
#: Seconds until a version that cannot start is tried again.
AGAIN_S: Final = 30.0


def noted(name: str, fact: VersionFact) -> SubmissionNoted:
    """What the logs say of a fact."""
    plain = fact_json(fact)
    reason = plain.get("reason", plain.get("why", plain.get("image")))
    what = plain["stage"] if plain["fact"] == "stage" else plain["fact"]
    return SubmissionNoted(name, fact.number, what, () if reason is None else (str(reason),))


class ContestLink(Attachment):
    """Between a contest on the host's loop and its submitted bots on this one."""

    def __init__(
        self,
        to_host: LoopLink,
        to_bots: LoopLink,
        enter: Callable[[str, bool], None],
    ) -> None:
        """`to_bots` leads to the loop of the submissions.

        `enter` is called there with each bot whose versions are sent, and whether it has joined just now.
        """
        self._to_host, self._to_bots = to_host, to_bots
        self._enter = enter
        self._hosted: ContestRun | None = None
        self.games = ObservedGames(self.feed)
        self.bots: dict[str, DeployedBot] = {}
        #: The versions that are to play, by bot and version.
        self._awaited: dict[tuple[str, str], asyncio.Event] = {}
        #: Each bot whose versions are sent, with whether it takes part from now on.
        self.news: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()
        self._orders = Orders()
        #: The contest has begun, and takes events; it is over.
        self.begun, self.over = asyncio.Event(), asyncio.Event()

    def feed(self, event: Event) -> None:
        """Hand an event to the contest. Runs on this loop."""
        self._to_host.post(self._feed, event)

    def note(self, bot: SubmittedBot, fact: VersionFact) -> None:
        """Have the contest's log and the bot's own say what happened to a version."""
        self.say(noted(bot.key[1], fact))

    def say(self, event: SubmissionNoted) -> None:
        """Write to the contest's log and to the bot's own."""
        self._to_host.post(self._note, event)

    def _take(self, event: LogEvent) -> None:
        self.games.happened(event)
        match event:
            case LoggedIn(bot=str(name), slot=slot) if name in self.bots:
                self.bots[name].logged_in(slot)
            case BotReplaced(name, version) if (name, version) in self._awaited:
                self._awaited[name, version].set()

    async def replace(self, bot: SubmittedBot, number: int, token: str, wanted: asyncio.Event) -> bool:
        """Have the contest take a version; False if another one is `wanted` before it did."""
        version, name = bot.versions.find(number), bot.key[1]
        done = self._awaited[name, version.name] = asyncio.Event()
        self.feed(Replace(name, token_digest(token), version.name, version.image))
        other, begun = asyncio.ensure_future(wanted.wait()), asyncio.ensure_future(done.wait())
        try:
            await asyncio.wait([other, begun], return_when=asyncio.FIRST_COMPLETED)
        finally:
            other.cancel()
            begun.cancel()
            del self._awaited[name, version.name]
        return done.is_set()

    def _hear(self, name: str, takes_part: bool, joined: bool) -> None:
        self._enter(name, joined)
        self.news.put_nowait((name, takes_part))

    def _obey(self, order: Order) -> None:
        name, slot = program_of(order)
        answered = partial(self._to_host.post, self._started.answered)
        self._orders.give(self.bots[name].running(slot), order, answered)

    # -- on the host's loop

    def attach(self, hosted: ContestRun) -> None:
        """The contest is about to begin."""
        self._hosted = hosted
        hosted.attach(self)
        self._started = StartedBots(hosted, self.bots, partial(self._to_bots.post, self._obey))

    def started(self) -> None:
        for name, takes_part in self._sent.items():
            self._to_bots.post(self._hear, name, takes_part, False)
        self._to_bots.post(self.begun.set)

    @property
    def _sent(self) -> Mapping[str, bool]:
        assert self._hosted is not None
        assert self._hosted.contest is not None
        return self._hosted.contest.entrants.sent

    def stored(self) -> None:
        self._to_bots.post(self.over.set)

    def happened(self, event: LogEvent) -> None:
        match event:
            # Before the answer to the order: its author has no token yet.
            case BotJoined(name) if name in self._sent:
                self._to_bots.post(self._hear, name, True, True)
            case BotLeft(name) if name in self._sent:
                self._to_bots.post(self._hear, name, False, False)
        if isinstance(event, LoggedIn | GameStarted | GameResumed | GameOver | BotReplaced):
            self._to_bots.post(self._take, event)

    def _note(self, event: SubmissionNoted) -> None:
        if self._hosted is not None:
            self._hosted.log(event)

    def _feed(self, event: Event) -> None:
        if self._hosted is not None and not self._hosted.over.is_set():
            self._hosted.feed(event)


class HostLink(HostObserver):
    """Leads each contest of a host to its link."""

    def __init__(self, contests: Mapping[str, ContestLink]) -> None:
        self._contests = contests

    def added(self, hosted: ContestRun) -> None:
        if hosted.name in self._contests:
            self._contests[hosted.name].attach(hosted)


class DeployedBot:
    """Runs the active version of one bot. `run` is its life, on the loop of the submissions."""

    def __init__(self, bot: SubmittedBot, seat: SubmittedSeat, link: ContestLink, launcher: Launcher) -> None:
        self._bot = bot
        self._seat = seat
        self._link = link
        self._launcher = launcher
        self._wanted = asyncio.Event()
        self._running: list[RestartingBot] = []
        bot.watchers.append(self._watch)
        link.bots[bot.key[1]] = self

    def _watch(self, _bot: SubmittedBot, fact: VersionFact) -> None:
        if isinstance(fact, VersionActivated):
            self._wanted.set()

    def logged_in(self, slot: int) -> None:
        """A program of this bot has logged in."""
        for each in self._running:
            if each.bot.slot == slot:
                each.logged_in.set()

    def running(self, slot: int) -> Running | None:
        """Its program in a slot, if it runs."""
        return next((each.running for each in self._running if each.bot.slot == slot), None)

    async def run(self) -> None:
        """Play with the active version, and with each one after it; it ends by being cancelled."""
        await self._link.begun.wait()
        versions = self._bot.versions
        number = versions.active if versions.deployed is None else versions.deployed
        playing: asyncio.Task[None] | None = None
        try:
            while True:
                if number is None:
                    await self._wanted.wait()
                    number = versions.active
                assert number is not None, "a version is active from now on"
                self._wanted.clear()
                token = secrets.token_hex(TOKEN_BYTES)
                if not await self._link.replace(self._bot, number, token, self._wanted):
                    number = versions.active
                    continue
                await _cancel(playing)
                with suppress(
                    OSError
                ):  # a full disk: the next start begins with another version, and replaces it
                    self._bot.write(VersionDeployed(number))
                playing = asyncio.create_task(self._play(number, token))
                if versions.active == number:
                    await self._wanted.wait()
                number = versions.active
        finally:
            await _cancel(playing)

    async def _play(self, number: int, token: str) -> None:
        """Run the containers of a version until it is cancelled."""
        contest, name = self._bot.key
        sandbox = Sandbox(self._bot.versions.find(number).image, self._seat.limits)
        slots = range(1, self._seat.slots + 1)
        bots = [LocalBot(name, (), token, slot, contest, sandbox) for slot in slots]

        def say(line: str) -> None:
            self._bot.say(number, line)

        problem = ""
        while True:
            self._running = [RestartingBot(bot, self._launcher, self._link.games, say) for bot in bots]
            tasks = [asyncio.create_task(each.run()) for each in self._running]
            try:
                await asyncio.gather(*tasks)
            except BotError as error:
                say(f"{error}; it is tried again in {AGAIN_S:.0f} s")
                if str(error) != problem:  # the same is said once
                    problem = str(error)
                    self._link.say(SubmissionNoted(name, number, "cannot-start", (problem,)))
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(AGAIN_S)


async def _cancel(task: asyncio.Task[None] | None) -> None:
    """Cancel a task, and wait for its end. Raises what has ended it before."""
    if task is not None:
        task.cancel()
        # Not suppressed around `await task`: that would take our own cancellation for the task's.
        (ended,) = await asyncio.gather(task, return_exceptions=True)
        if isinstance(ended, Exception):
            raise ended
