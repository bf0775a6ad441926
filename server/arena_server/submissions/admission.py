"""The admission of a version: build, check, one game. Each is a process with limits of its own.

    unpack -> docker build -> `arena check bot image:ID` -> `arena check game image:ID` -> admitted

Check and game are the commands that an author has at home, with the file of the contest: the same clocks,
limits and sandbox. What they print is the author's to read.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol

from arena_server.places.base import LaunchError
from arena_server.places.docker import CLASSIC_BUILDER, Docker
from arena_server.places.docker_launcher import LABEL
from arena_server.places.spawned import (
    TETHER_GRACE_S,
    Spawned,
    last_output,
    spawn,
    tethered,
)
from arena_server.submissions.archive import DOCKERFILE, ArchiveError, language_of, unpack
from arena_server.submissions.dockerfile import DOCKERFILE_BYTES, check_dockerfile
from arena_server.terms.sandbox import MB
from arena_server.terms.submissions import SubmissionSetup

#: Before the commands: the games that count go first.
LOW_PRIORITY: Final = ("nice", "-n", "10")
#: Seconds from SIGTERM to SIGKILL.
GRACE_S: Final = 5.0
#: What is kept of a line of output.
LINE_CHARACTERS: Final = 500
#: How a notice of the command `docker` on its CLASSIC_BUILDER begins; it is not the author's to act on.
BUILDER_NOTICE: Final = b"DEPRECATED: The legacy builder "

#: How the builder names the container of a step, before it starts it.
_STEP: Final = re.compile(r"---> Running in ([0-9a-f]{12})")
#: The most steps whose processes are limited: a step can print such lines without end.
MOST_STEPS: Final = 100
#: What sets colours in a terminal.
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")

Say = Callable[[str], None]


class RejectedError(Exception):
    """A version does not pass a stage; the text is one line."""


class EngineAwayError(Exception):
    """No engine answers; no version is to blame, and its admission begins again later."""


class Examiner(Protocol):
    """What examines a version; the methods are called in this order. Raises RejectedError or EngineAwayError.

    Lines for the author go to `say`.
    """

    async def build(self, archive: Path, place: Path, tag: str, say: Say) -> str:
        """Build the image in the empty folder `place`; return its digest."""

    async def has(self, image: str, bot: str) -> bool:
        """Whether an image that was built is still here, so that the version need not be built again."""

    async def check(self, image: str, bot: str, say: Say) -> None:
        """Check that it keeps to the protocol."""

    async def play(self, image: str, bot: str, say: Say) -> None:
        """Play a game to its end without a fault."""

    async def discard(self, tag: str) -> None:
        """Remove the image of a version that is not admitted, as far as possible."""


@dataclass(frozen=True, slots=True)
class EngineExaminer:
    """Examines the versions of a contest with the engine of this machine.

    `check` and `play` are command lines, in which {image} and {bot} are replaced.
    """

    setup: SubmissionSetup
    check_command: Sequence[str]
    play_command: Sequence[str]
    docker: Docker = field(default_factory=Docker)

    async def build(self, archive: Path, place: Path, tag: str, say: Say) -> str:
        rules = self.setup.rules
        folder, digest = place / "folder", place / "digest"
        folder.mkdir()
        try:
            await asyncio.to_thread(unpack, archive, folder, rules.limits)
            completed = self._complete(folder)
            with (folder / DOCKERFILE).open("rb") as file:
                data = file.read(DOCKERFILE_BYTES + 1)
            bases = check_dockerfile(data, rules.images, network=rules.build_network)
        except ArchiveError as error:
            raise RejectedError(str(error)) from None
        await self._find_engine()
        await self._find_bases(bases)
        if completed:
            say(completed)
        words = self.docker.strangers_build(str(folder), str(digest), tag, network=rules.build_network)
        limits: list[asyncio.Task[None]] = []

        def note(line: str) -> None:
            say(line)
            if (step := _STEP.fullmatch(line)) is not None and len(limits) < MOST_STEPS:
                limits.append(asyncio.create_task(self.docker.limit_build_step(step[1], LABEL)))

        try:
            await run_step(words, self.docker.environment | CLASSIC_BUILDER, rules.build_s, note)
        finally:
            await asyncio.gather(*limits)
        image = digest.read_text(encoding="ascii").strip()
        size = await self._ask("image", "inspect", "--format", "{{.Size}}", image)
        if int(size) > rules.image_bytes:
            await self.discard(tag)
            most = rules.image_bytes // MB
            raise RejectedError(f"expected an image of at most {most} MB, got {int(size) // MB} MB")
        return image

    def _complete(self, folder: Path) -> str:
        """Write the Dockerfile of a folder that has none, and return what is to be said of it.

        Raises ArchiveError if its language is unclear.
        """
        languages = self.setup.rules.languages
        language = language_of(
            folder, languages, "expected a Dockerfile at the top of the archive, there is none"
        )
        if language is None:
            return ""
        image = languages[language.name]
        (folder / DOCKERFILE).write_text(language.dockerfile(image), encoding="utf-8")
        return f"no Dockerfile: {language.file} is built as {language.title} on {image}"

    async def _find_engine(self) -> None:
        """Raises EngineAwayError."""
        try:
            await self.docker.call("version", "--format", "{{.Server.Version}}")
        except LaunchError as error:
            raise EngineAwayError(str(error)) from None

    async def has(self, image: str, bot: str) -> bool:
        with suppress(LaunchError):
            await self.docker.call("image", "inspect", "--format", "{{.Id}}", image)
            return True
        return False

    async def _find_bases(self, images: Sequence[str]) -> None:
        """See that the organiser's images are here, which no author can mend. Raises EngineAwayError."""
        for image in images:
            try:
                await self.docker.image(image)
            except LaunchError as error:
                raise EngineAwayError(f"image {image}: {error}") from None

    async def check(self, image: str, bot: str, say: Say) -> None:
        await self._find_engine()
        report = _CheckReport(say)
        try:
            await self._run(self.check_command, image, bot, report.note)
        except RejectedError as error:
            # Its last line counts the cases; the author needs the first one.
            raise RejectedError(report.reason or str(error)) from None

    async def play(self, image: str, bot: str, say: Say) -> None:
        await self._run(self.play_command, image, bot, say)

    async def discard(self, tag: str) -> None:
        with suppress(RejectedError):
            await self._ask("image", "rm", "--force", tag)

    async def _run(self, command: Sequence[str], image: str, bot: str, say: Say) -> None:
        words = [word.replace("{image}", image).replace("{bot}", bot) for word in command]
        await run_step([*LOW_PRIORITY, *words], self.docker.environment, self.setup.rules.check_s, say)

    async def _ask(self, *words: str) -> str:
        try:
            return await self.docker.call(*words)
        except LaunchError as error:
            raise RejectedError(str(error)) from None


def tag_of(contest: str, bot: str, number: int) -> str:
    """The name of a version's image on this machine: `docker image prune` leaves it."""
    return f"insertion-arena-bot:{sha256(f'{contest}/{bot}'.encode()).hexdigest()[:16]}-v{number}"


async def run_step(command: Sequence[str], environment: Mapping[str, str], seconds: float, say: Say) -> None:
    """Run a command to its end, at most so long; its output goes to `say`.

    Raises RejectedError, with its last line, if it fails or takes too long. None of its processes is left.
    """
    try:
        process = await spawn(
            # When this process is killed, the step ends too; and at its limit, whatever becomes of us.
            tethered(command, seconds + GRACE_S + TETHER_GRACE_S),
            environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as error:
        raise RejectedError(f"{command[0]}: {error.strerror}") from None
    last = _LastLine(say)
    assert process.stdout is not None
    reading = asyncio.ensure_future(_read(process.stdout, last))
    try:
        async with asyncio.timeout(seconds):
            status = await process.wait()
            await last_output(reading)
    except TimeoutError:
        raise RejectedError(f"it took longer than {seconds:g} s") from None
    finally:
        reading.cancel()
        await _end(process)
    last.feed(b"\n")
    if status:
        raise RejectedError(last.text or f"it ended with status {status}")


async def _read(stream: asyncio.StreamReader, last: _LastLine) -> None:
    while data := await stream.read(65536):
        last.feed(data)


class _CheckReport:
    """Takes the lines of `arena check bot`: the `reason` is the failure that it shows in full."""

    def __init__(self, say: Say) -> None:
        self._say = say
        #: The line of each failure, by the id of its case.
        self._failures: dict[str, str] = {}
        self._failed = self._error = ""
        self._in_stderr = False

    def note(self, line: str) -> None:
        self._say(line)
        head, _, rest = line.partition(" ")
        if head == "failed":
            text = " ".join(rest.split())
            self._failures[text.partition(" ")[0]] = text
            self._failed = self._failed or text
        elif head in self._failures and rest.startswith("failed "):
            self._failed = self._failures[head]
        elif head in ("stderr", "next"):
            self._in_stderr = head == "stderr" and not self._error
        elif self._in_stderr:
            self._error = line

    @property
    def reason(self) -> str:
        return f"{self._failed} ({self._error})" if self._error else self._failed


class _LastLine:
    """Cuts output into lines for people, and keeps the last one that is not blank."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._rest = b""
        self._in_notice = False
        self.text = ""

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        # A line without an end is not kept in memory.
        self._rest = self._rest[: LINE_CHARACTERS * 4]
        for line in lines:
            text = printable(line.decode("utf-8", "replace"))
            if text and not self._is_notice(line):
                self.text = text
                self._say(text)

    def _is_notice(self, line: bytes) -> bool:
        """Whether `docker build` says this of its builder: before all output, in lines that are indented."""
        self._in_notice = not self.text and (
            line.startswith(BUILDER_NOTICE) or (self._in_notice and line.startswith(b" "))
        )
        return self._in_notice


def printable(text: str) -> str:
    """One line of printable characters, cut short: what a stranger's program writes may hold any."""
    shown = "".join(each if each.isprintable() else " " for each in _COLOURS.sub("", text)).strip()
    return shown if len(shown) <= LINE_CHARACTERS else f"{shown[:LINE_CHARACTERS]}..."


async def _end(process: Spawned) -> None:
    """End a process and all of its session: it may have started others."""
    try:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE_S):
                    await process.wait()
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.close()
    await process.wait()
