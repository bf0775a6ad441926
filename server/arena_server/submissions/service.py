"""The submitted bots of a server: uploads, admission, and what their authors order.

    web thread --LoopBridge--> SubmissionService, on the loop of `ServiceThread`
    begin_upload -> the web thread writes the file -> end_upload: Stored -> admission -> Activated

Every method runs on the service's loop. It has a thread of its own: neither a slow disk nor the output of
a build reaches the loop of the referee.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from arena_server.submissions.admission import EngineAwayError, Examiner, RejectedError, tag_of
from arena_server.submissions.board import AdmissionBoard, Lane, Ticket
from arena_server.submissions.bot import (
    NO_FAULT,
    Key,
    Listener,
    RefusedError,
    SubmittedBot,
    place_json,
    version_json,
)
from arena_server.submissions.store import VersionStore, set_aside
from arena_server.submissions.versions import (
    STAGE_NAMES,
    STAGES,
    ImageBuilt,
    StageBegun,
    StageTook,
    VersionAdmitted,
    VersionError,
    VersionFact,
    VersionFailed,
    VersionState,
)
from arena_server.terms.submissions import UPLOADS, SubmissionRules, SubmissionSetup

#: The pause before an admission goes on that the disk did not take, in seconds.
AGAIN_S: Final = 30.0
#: Who waits learns of his place so often, in seconds.
ANNOUNCE_S: Final = 2.0


class SubmissionService:
    """All submitted bots of a server by contest and name."""

    def __init__(
        self,
        setups: Sequence[SubmissionSetup],
        examiners: Mapping[str, Examiner],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Read what is stored of the bots of `setups`. `examiners` are by contest.

        Raises ArenaError for a folder that cannot be used, and for damage.
        """
        self._examiners = examiners
        self._clock = clock
        self._setups = {setup.contest: setup for setup in setups}
        self._board = AdmissionBoard()
        #: Set when a lane may have something to do.
        self._changed = {lane: asyncio.Event() for lane in Lane}
        self._announcing: asyncio.TimerHandle | None = None
        #: `AdmissionBoard.backlog` of a moment ago; any thread may read it, for it is replaced as a whole.
        self.backlog = self._board.backlog()
        self.bots: dict[Key, SubmittedBot] = {}
        #: Told of each fact of any bot, after it is durable.
        self.watchers: list[Callable[[SubmittedBot, VersionFact], None]] = []
        for setup in setups:
            for name in setup.bots:
                self.enter((setup.contest, name))

    def enter(self, key: Key, *, joined: bool = False) -> None:
        """One more bot, unless it is known; raises as `__init__`.

        One that has `joined` just now begins without versions: those of its name are another author's, of an
        earlier contest, and are set aside.
        """
        if key in self.bots:
            return
        contest, name = key
        setup = self._setups[contest]
        folder = setup.folder / contest / name
        if joined:
            set_aside(folder)
        bot = SubmittedBot(key, VersionStore(folder), setup.rules)
        bot.watchers.append(self._watch)
        self.bots[key] = bot
        if (pending := bot.versions.pending) is not None:
            self._enter(bot, pending.number, Lane.BUILD)

    def _watch(self, bot: SubmittedBot, fact: VersionFact) -> None:
        for watcher in self.watchers:
            watcher(bot, fact)

    def close(self) -> None:
        for bot in self.bots.values():
            bot.store.close()

    # -- admission

    def waiting(self) -> dict[str, tuple[int, float]]:
        """How many versions wait for each stage, and the longest for how many seconds. For any thread."""
        now = self._clock()
        return {
            str(lane): (number, 0.0 if since is None else max(0.0, now - since))
            for lane, (number, since) in self.backlog.items()
        }

    async def admit_all(self) -> None:
        """Admit all versions, also those that a server which was killed left behind."""
        self._announce()
        try:
            async with asyncio.TaskGroup() as group:
                for lane in Lane:
                    group.create_task(self._work(lane))
        finally:
            if self._announcing is not None:
                self._announcing.cancel()

    def _enter(self, bot: SubmittedBot, number: int, lane: Lane) -> None:
        self._board.enter(Ticket(bot.key, number, lane, self._clock()))
        self._changed[lane].set()
        self._tell_places()

    async def _work(self, lane: Lane) -> None:
        """Take one version of a lane after the other."""
        while True:
            if (ticket := self._board.take(lane, self._clock())) is None:
                self._changed[lane].clear()
                await self._changed[lane].wait()
                continue
            bot, number = self.bots[ticket.key], ticket.number
            whole, begun = False, self._clock()
            try:
                whole = await (self._build(bot, number) if lane is Lane.BUILD else self._examine(bot, number))
                if whole or not bot.versions.find(number).reason.startswith(NO_FAULT):
                    bot.store.write(
                        StageTook(number, max(0, round((self._clock() - begun) * 1000)), self._now())
                    )
                if lane is Lane.EXAMINE or not whole:
                    self._activate(bot, number)
            except (OSError, EngineAwayError) as error:
                # A full disk ends neither the submissions of the others nor this one.
                what = f"cannot write: {error.strerror}" if isinstance(error, OSError) else f"waits: {error}"
                bot.say(number, f"the server {what}; it tries again in {AGAIN_S:.0f} s")
                asyncio.get_running_loop().call_later(AGAIN_S, self._enter, bot, number, Lane.BUILD)
            else:
                if lane is Lane.BUILD and whole:
                    self._enter(bot, number, Lane.EXAMINE)
                else:
                    bot.done(number)
            finally:
                self._board.leave(lane, self._clock(), whole=whole)
                self._tell_places()

    def _announce(self) -> None:
        self._tell_places()
        self._announcing = asyncio.get_running_loop().call_later(ANNOUNCE_S, self._announce)

    def _tell_places(self) -> None:
        """Tell those who wait where they are."""
        self.backlog = self._board.backlog()
        for ticket, place in self._board.waits(self._clock()):
            self.bots[ticket.key].tell_place(ticket.number, place)

    def _activate(self, bot: SubmittedBot, number: int) -> None:
        """Let a version that was just admitted play. Raises OSError if the disk takes no more."""
        if bot.versions.find(number).state is VersionState.ADMITTED:
            with suppress(RefusedError, VersionError):  # frozen meanwhile, or active by its author's order
                self._check_open(bot)
                bot.write(bot.versions.activate(number, "admission", self._now()))

    async def _build(self, bot: SubmittedBot, number: int) -> bool:
        """Build the image; False: the admission has ended. Raises OSError if the disk takes no more."""
        contest, name = bot.key
        version = bot.versions.find(number)
        if version.state not in (VersionState.STORED, *STAGES):
            return False
        if version.image and await self._examiners[contest].has(version.image, name):
            return True  # it was built before the server was killed, or its engine was away
        stage = VersionState.BUILDING
        async with self._ending(bot, number, [stage]) as examiner:
            bot.write(StageBegun(number, stage))
            place = bot.store.workplace(number)
            tag, say = tag_of(contest, name, number), partial(bot.say, number)
            bot.write(ImageBuilt(number, await examiner.build(bot.store.archive(number), place, tag, say)))
        return bot.versions.find(number).state is not VersionState.FAILED

    async def _examine(self, bot: SubmittedBot, number: int) -> bool:
        """Check and play the image, to the end of the admission. Raises OSError if the disk takes no more."""
        image, name = bot.versions.find(number).image, bot.key[1]
        stages = [VersionState.CHECKING]
        async with self._ending(bot, number, stages) as examiner:
            for stage, examine in (
                (VersionState.CHECKING, examiner.check),
                (VersionState.PLAYING, examiner.play),
            ):
                stages.append(stage)
                bot.write(StageBegun(number, stage))
                await examine(image, name, partial(bot.say, number))
            bot.write(VersionAdmitted(number))
        return bot.versions.find(number).state is VersionState.ADMITTED

    @asynccontextmanager
    async def _ending(
        self, bot: SubmittedBot, number: int, stages: Sequence[VersionState]
    ) -> AsyncIterator[Examiner]:
        """Write how the stage that is the last of `stages` fails, if it does."""
        contest, name = bot.key
        examiner = self._examiners[contest]
        try:
            yield examiner
        except RejectedError as error:
            bot.say(number, f"{STAGE_NAMES[stages[-1]]} failed: {error}")
            bot.write(VersionFailed(number, stages[-1], str(error)))
            if image := bot.versions.find(number).image:  # it may have 1 GB
                await examiner.discard(tag_of(contest, name, number))
                if not any(each.image == image for each in bot.versions.all() if each.number != number):
                    bot.store.forget(bot.store.image(image))
        except OSError as error:
            bot.write(VersionFailed(number, stages[-1], f"{NO_FAULT}{error.strerror}"))
        finally:
            bot.store.forget_workplace(number)

    def _now(self) -> int:
        return int(self._clock() * 1000)

    def _bot(self, key: Key) -> SubmittedBot:
        """Raises RefusedError if its folder cannot be used."""
        if key not in self.bots:
            raise RefusedError("the server cannot keep versions of this bot; its log says why")
        return self.bots[key]

    def rules(self, key: Key) -> SubmissionRules:
        """What may be sent of a bot. Raises RefusedError."""
        return self._bot(key).rules

    # -- uploads

    def check_upload(self, key: Key) -> None:
        """Raise RefusedError unless the bot may send a version now."""
        bot = self._bot(key)
        self._check_open(bot)
        if bot.uploading:
            raise RefusedError("a version of this bot is being sent already")
        if sum(each.uploading for each in self.bots.values()) >= UPLOADS:
            raise RefusedError(f"{UPLOADS} versions are being sent to this server; try again in a minute")
        try:
            bot.versions.check_room(self._now(), bot.rules.per_hour, bot.rules.versions, bot.rules.per_day_ms)
        except VersionError as error:
            raise RefusedError(str(error)) from None

    def _check_open(self, bot: SubmittedBot) -> None:
        freeze = bot.rules.freeze_ms
        if freeze is not None and self._now() >= freeze:
            moment = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(freeze // 1000))
            raise RefusedError(f"the entries are frozen since {moment}: versions stay as they are")

    def begin_upload(self, key: Key) -> Path:
        """The file to write; `end_upload` has to follow. Raises RefusedError."""
        self.check_upload(key)
        bot = self._bot(key)
        bot.uploading = True
        return bot.store.upload("upload")

    def end_upload(
        self, key: Key, upload: Path, digest: str | None, size: int, listener: Listener
    ) -> int | None:
        """The version that was sent; `listener` gets what happens in its admission.

        Without a digest the upload was broken off, and nothing is kept. Raises RefusedError if it cannot be
        kept.
        """
        bot = self.bots[key]
        bot.uploading = False
        if digest is None:
            bot.store.forget(upload)
            return None
        try:
            bot.check_new(digest)
            number = bot.take(upload, digest, size, self._now())
        except RefusedError:
            bot.store.forget(upload)
            raise
        except OSError as error:
            bot.store.forget(upload)
            raise RefusedError(f"the server cannot keep the version: {error.strerror}") from None
        bot.listen(number, listener)
        self._enter(bot, number, Lane.BUILD)
        return number

    # -- what authors ask

    def document(self, key: Key) -> dict[str, Any]:
        """The versions of a bot, and what it may send, as JSON types. Raises RefusedError."""
        bot = self._bot(key)
        versions, rules = bot.versions, bot.rules
        waiting = {
            ticket.number: place_json(place)
            for ticket, place in self._board.waits(self._clock())
            if ticket.key == key
        }
        return {
            "contest": key[0],
            "bot": key[1],
            "active": versions.active,
            "deployed": versions.deployed,
            "limits": asdict(rules.limits) | {"per_hour": rules.per_hour, "versions": rules.versions},
            "freeze": rules.freeze_ms,
            "time": {
                "day_s": rules.per_day_ms // 1000,
                "took_s": round(versions.took_ms(self._now()) / 1000),
            },
            "versions": [
                version_json(each, versions.active) | {"waits": waiting.get(each.number)}
                for each in versions.all()
            ],
        }

    def log(self, key: Key, number: int) -> list[str]:
        """The output of the admission of a version. Raises RefusedError."""
        bot = self._bot(key)
        try:
            bot.versions.find(number)
        except VersionError as error:
            raise RefusedError(str(error)) from None
        return bot.store.read_log(number)

    def activate(self, key: Key, number: int | None) -> int:
        """Let a version play from the next game on, None for the one before. Raises RefusedError."""
        bot, now = self._bot(key), self._now()
        self._check_open(bot)
        try:
            versions = bot.versions
            fact = versions.roll_back(now) if number is None else versions.activate(number, "author", now)
            bot.write(fact)
        except VersionError as error:
            raise RefusedError(str(error)) from None
        except OSError as error:
            raise RefusedError(f"the server cannot write: {error.strerror}; try again later") from None
        return fact.number
