"""Admissions without an engine of the server: each stage is a task of a runner.

    EngineAwayError here -> a runner builds -> its file beside the archives -> runners check and play it

Where the engine of the server answers, it examines. A runner that is lost, or cannot tell, is followed by
another one. What a runner says of a version is as trusted as its games: only what cannot be true is found.
"""

from __future__ import annotations

import asyncio
import pickle
import re
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

from arena_server.places.base import LaunchError
from arena_server.places.workers.images import check_saved
from arena_server.places.workers.runner_tasks import NoRunnerError, RunnerLostError, RunnerPool, RunnerTask
from arena_server.submissions.admission import (
    EngineAwayError,
    Examiner,
    RejectedError,
    Say,
    printable,
)
from arena_server.submissions.bot import NO_FAULT
from arena_server.submissions.runner_examination import Examination, examine
from arena_server.submissions.told_file import told_file
from arena_server.submissions.versions import STAGE_NAMES, VersionState
from arena_server.terms.sandbox import Sandbox
from arena_server.terms.submissions import SubmissionSetup, image_file

#: How often a stage of a version may lose its runner before the version is given up.
MOST_LOST: Final = 10
#: Seconds for images on their way, beside the time that a stage may take.
TRANSFER_S: Final = 900.0
#: A runner that is silent for so long has lost its task; it may be late twice.
SILENT_S: Final = 30.0
RENEW_S: Final = SILENT_S / 3
#: What the file of an image may have beside the image.
OVERHEAD: Final = 1.1
_DIGEST: Final = re.compile("sha256:[0-9a-f]{64}")

Taken = TypeVar("Taken")


#: Makes something of the answer of a runner to the task of this key. Raises RunnerLostError and _LieError.
_Take = Callable[[str, str, list[object]], Awaitable[Taken]]


class _LieError(Exception):
    """A runner has said what cannot be true."""


class _AwayError(Exception):
    """A `runner` cannot tell; `line` is for the organiser."""

    def __init__(self, runner: str, problem: str, line: str) -> None:
        super().__init__(problem)
        self.runner = runner
        self.line = line


class RunnerExaminer:
    """Examines the versions of a contest with the engine of this machine, `own`, or on runners (`Examiner`).

    `commands` are those of check and game, as `Examination` has them. With names in `only` no other runner is
    asked.
    """

    def __init__(
        self,
        setup: SubmissionSetup,
        own: Examiner,
        runners: RunnerPool,
        commands: Sequence[Sequence[str]],
        only: Collection[str] = (),
    ) -> None:
        self._only = only
        self._setup = setup
        self._own = own
        self._runners = runners
        self._commands = commands
        self._run, self._numbers = secrets.token_hex(8), count(1)
        #: Runners that have said what cannot be true: they examine nothing any more.
        self._liars: set[str] = set()
        #: The lines for the organiser: each is written once.
        self._noted: set[tuple[str, str]] = set()
        #: How often each stage of a version was lost.
        self._lost: Counter[tuple[str, str]] = Counter()

    async def build(self, archive: Path, place: Path, tag: str, say: Say) -> str:
        try:
            return await self._own.build(archive, place, tag, say)
        except EngineAwayError:
            pass
        part = archive.with_name(f"{archive.name}.image.part")
        most = self._setup.rules.image_bytes * OVERHEAD

        async def take(runner: str, key: str, answer: list[object]) -> str:
            match answer:
                case ["built", str(image), int(size)] if _DIGEST.fullmatch(image) and 0 < size <= most:
                    await self._runners.fetch(runner, key, part, size)
                    try:
                        await asyncio.to_thread(check_saved, part, image)
                    except LaunchError as error:
                        raise _LieError(str(error)) from None
                    part.replace(archive.with_name(image_file(image)))
                    return image
            raise _LieError(f"expected an image of at most {most:.0f} bytes, got {answer!s:.100}")

        data = await asyncio.to_thread(archive.read_bytes)
        examination = self._examination(VersionState.BUILDING, archive.parent.name, archive=data, tag=tag)
        try:
            return await self._examine(examination, say, take)
        finally:
            part.unlink(missing_ok=True)

    async def has(self, image: str, bot: str) -> bool:
        if not (saved := self._setup.saved(bot, image)):
            return await self._own.has(image, bot)
        with suppress(LaunchError):  # a power cut may have taken a part of it
            await asyncio.to_thread(check_saved, Path(saved), image)
            return True
        return False

    async def check(self, image: str, bot: str, say: Say) -> None:
        await self._examine_image(VersionState.CHECKING, image, bot, say)

    async def play(self, image: str, bot: str, say: Say) -> None:
        await self._examine_image(VersionState.PLAYING, image, bot, say)

    async def discard(self, tag: str) -> None:
        await self._own.discard(tag)

    async def _examine_image(self, stage: VersionState, image: str, bot: str, say: Say) -> None:
        if not self._setup.saved(bot, image):  # the engine of this machine has built it
            examines = self._own.check if stage is VersionState.CHECKING else self._own.play
            await examines(image, bot, say)
            return

        async def take(_runner: str, _key: str, answer: list[object]) -> None:
            if answer != ["passed"]:
                raise _LieError(f"expected the end of a stage, got {answer!s:.100}")

        await self._examine(self._examination(stage, bot, image=image), say, take)

    def _examination(
        self, stage: VersionState, bot: str, *, archive: bytes = b"", tag: str = "", image: str = ""
    ) -> Examination:
        return Examination(
            stage=stage,
            bot=bot,
            setup=replace(self._setup, bots={}, folder=Path(), config=Path()),
            file=told_file(self._setup.config, bot, self._setup.seats),
            commands=self._commands,
            renew_s=RENEW_S,
            archive=archive,
            tag=tag,
            image=image,
        )

    async def _examine(self, examination: Examination, say: Say, take: _Take[Taken]) -> Taken:
        """Have runners try in turn. Raises RejectedError; EngineAwayError when none is left to try."""
        key = examination.stage, examination.tag or examination.image
        avoid, last = set(self._liars), ""
        while True:
            try:
                return await self._attempt(examination, avoid, say, take)
            except NoRunnerError as error:
                raise EngineAwayError(last or str(error)) from None
            except _AwayError as error:
                runner, last, line = error.runner, str(error), error.line
            except RunnerLostError as error:
                runner, last = error.runner, str(error)
                line = _elsewhere(examination, last)
                self._lost[key] += 1
                if self._lost[key] >= MOST_LOST:
                    raise RejectedError(f"{NO_FAULT}{MOST_LOST} times a runner was lost: {last}") from None
            avoid.add(runner)
            if (runner, line) not in self._noted:
                self._noted.add((runner, line))
                self._runners.note(runner, line)
            say(f"a runner has not examined it: {last}; it is tried elsewhere")

    async def _attempt(
        self, examination: Examination, avoid: Collection[str], say: Say, take: _Take[Taken]
    ) -> Taken:
        """Have one runner try. Raises RejectedError, NoRunnerError, RunnerLostError and _AwayError."""
        rules = self._setup.rules
        building = examination.stage is VersionState.BUILDING
        saved = "" if building else self._setup.saved(examination.bot, examination.image)
        task = RunnerTask(
            key=f"arena-examination-{self._run}-{next(self._numbers)}",
            function=examine,
            payload=pickle.dumps(examination),
            images=() if building else (Sandbox(examination.image, saved=saved),),
            silent_s=SILENT_S,
            most_s=(rules.build_s if building else rules.check_s) + TRANSFER_S,
            only=self._only,
        )
        runner, answer = await self._runners.run(task, avoid, say)
        plain = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        try:
            match plain:
                case ["rejected", str(reason)]:
                    raise RejectedError(printable(reason))
                case ["away", str(reason)]:
                    reason = printable(reason)
                    raise _AwayError(runner, reason, _elsewhere(examination, reason))
            return await take(runner, task.key, plain)
        except _LieError as error:
            self._liars.add(runner)
            line = f"it examines no version any more: {error}"
            raise _AwayError(runner, str(error), line) from None


def _elsewhere(examination: Examination, problem: str) -> str:
    what = STAGE_NAMES[examination.stage]
    return f"the {what} of a version of {examination.bot} is tried elsewhere: {problem}"
