"""The Docker engine of this machine, by its own command `docker` (or one that takes the same words)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from arena_server.places.base import LaunchError, inherited
from arena_server.places.process import Child
from arena_server.places.spawned import (
    TETHER_GRACE_S,
    last_output,
    spawn,
    tethered,
)

#: What the command needs of our environment to find its engine; no secret of ours.
ENGINE_VARIABLES = ("DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")
#: BuildKit takes BUILD_LIMITS and ignores them (docker/buildx#644); the engine's own builder keeps them.
CLASSIC_BUILDER = {"DOCKER_BUILDKIT": "0"}
#: What a step of a stranger's build may use.
BUILD_LIMITS = ("--memory", "1g", "--memory-swap", "1g", "--cpu-period", "100000", "--cpu-quota", "100000")
#: How many processes and threads a step of a stranger's build may have; the engine's builder has no option
#: for it, so its container gets the limit as soon as it is named.
BUILD_PIDS = 512
#: What an image is called that came as a file: `docker image prune` leaves what has a name.
LOADED = "insertion-arena-bot:{}"
#: What the command says where no engine answers, or not to us.
_NO_ENGINE = re.compile("to the docker daemon|error during connect", re.IGNORECASE)
#: The images on which a Dockerfile builds, each with the name of its stage.
_FROM = re.compile(r"(?im)^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?")
#: Seconds for the end of a command whose answer is not wanted any more.
CALL_GRACE_S = 5.0
#: Seconds for the engine's answer, and for one that fetches or builds an image. Starting or removing a
#: container takes well under a second on an idle machine: an engine that needs so long hangs.
ANSWER_S = 60.0
IMAGE_S = 3600.0
#: Seconds from one look to the next for a container that the engine has not made yet.
MAKING_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


class NoAnswerError(LaunchError):
    """The engine hangs."""


class NoEngineError(LaunchError):
    """There is no engine, or none that we may use."""


@dataclass(frozen=True, slots=True)
class Docker:
    """Runs commands of the engine. `program` is its command."""

    program: str = "docker"

    def words(self, *words: str) -> list[str]:
        return [self.program, *words]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the command; it is not that of a container."""
        own = os.environ
        return inherited(own) | {name: own[name] for name in ENGINE_VARIABLES if name in own}

    @property
    def is_local(self) -> bool:
        """Whether the engine is on this machine, as far as the environment says."""
        return (self.environment.get("DOCKER_HOST") or "unix:").startswith("unix:")

    async def call(self, *words: str, seconds: float | None = None) -> str:
        """Run `docker WORDS` and return its stdout, after ANSWER_S `seconds` at most.

        Raises LaunchError with its last line if it fails, NoAnswerError if it takes longer.
        """
        call = asyncio.ensure_future(self._call(words, ANSWER_S if seconds is None else seconds))
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            # Not left behind: it may be removing a container, and a closed loop cannot close its pipes.
            await asyncio.wait([call], timeout=CALL_GRACE_S)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            raise

    async def _call(self, words: Sequence[str], seconds: float) -> str:
        is_long = seconds > ANSWER_S
        try:
            # In a session of its own: it may be removing a container. A build must not outlive us.
            command = self.words(*words)
            process = await spawn(
                tethered(command, seconds + TETHER_GRACE_S) if is_long else command,
                self.environment,
                stdin=asyncio.subprocess.PIPE if is_long else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise NoEngineError(
                f"{self.program}: {error.strerror}; bots in containers need a Docker engine"
            ) from None
        assert process.stdout is not None
        assert process.stderr is not None
        out, errors = bytearray(), bytearray()
        reading = asyncio.gather(_read(process.stdout, out), _read(process.stderr, errors))
        try:
            async with asyncio.timeout(seconds):
                status = await process.wait()
                await last_output(reading)
        except TimeoutError:
            raise NoAnswerError(
                f"the Docker engine did not answer {self.program} {words[0]} within {seconds:g} s; "
                f"see {self.program} info, and restart it"
            ) from None
        finally:
            if process.returncode is None:  # the engine hangs, or the call was cancelled
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM if is_long else signal.SIGKILL)
                await process.wait()
            process.close()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        if status:
            problem = _last_line(errors) or f"{self.program} {words[0]} ended with {status}"
            raise (NoEngineError if _NO_ENGINE.search(problem) else LaunchError)(problem)
        return out.decode("utf-8", "replace").strip()

    async def child(
        self, words: Sequence[str], variables: Mapping[str, str] | None = None, **options: object
    ) -> Child:
        """Start `docker WORDS`; `variables` are for `--env NAME`, so that no value stands on a command line.

        Raises LaunchError.
        """
        try:
            return await Child.start(
                self.words(*words),
                self.environment | dict(variables or {}),
                **options,  # type: ignore[arg-type]
            )
        except OSError as error:
            raise LaunchError(f"{self.program}: {error.strerror}") from None

    async def image(self, name: str) -> str:
        """Return the digest of an image, which is fetched if it is not here. Raises LaunchError."""
        try:
            return await self.call("image", "inspect", "--format", "{{.Id}}", name)
        except (NoAnswerError, NoEngineError):
            raise
        except LaunchError:
            await self.call("pull", "--quiet", name, seconds=IMAGE_S)
            return await self.call("image", "inspect", "--format", "{{.Id}}", name)

    async def load(self, image: str, path: Path) -> None:
        """Take an image from a file of `docker save`, if it is not here. Raises LaunchError."""
        inspect = "image", "inspect", "--format", "{{.Id}}", image
        try:
            await self.call(*inspect)
        except (NoAnswerError, NoEngineError):
            raise
        except LaunchError:
            await self.call("load", "--input", str(path), seconds=IMAGE_S)
            await self.call(*inspect)
            if image.startswith("sha256:"):
                await self.call("tag", image, LOADED.format(image.removeprefix("sha256:")[:16]))

    async def volumes(self, image: str) -> list[str]:
        """The folders that an image (VOLUME) wants to write to on the disk. Raises LaunchError."""
        found = json.loads(await self.call("image", "inspect", "--format", "{{json .Config.Volumes}}", image))
        return sorted(found or ())

    async def build(self, folder: str, dockerfile: str | None = None) -> str:
        """Build the image of a folder, and return its digest. Raises LaunchError.

        `dockerfile` is the text of one that stands for that of the folder.
        """
        await self.call("version")  # an engine that hangs is known before a build is waited for
        await self._find_bases(Path(folder, "Dockerfile"), dockerfile)
        with TemporaryDirectory() as place:
            words = ["build", "--quiet"]
            if dockerfile is not None:
                path = Path(place, "Dockerfile")
                path.write_text(dockerfile, encoding="utf-8")
                words += ["--file", str(path)]
            return (await self.call(*words, folder, seconds=IMAGE_S)).splitlines()[-1]

    async def _find_bases(self, path: Path, text: str | None) -> None:
        """See that the images of FROM are here: a build that cannot fetch one does not say which.

        Raises LaunchError.
        """
        with suppress(OSError):  # the build names a file that is missing
            text = path.read_text(encoding="utf-8", errors="replace") if text is None else text
        stages = {"scratch"}
        for base, stage in _FROM.findall(text or ""):
            # A variable has its value in the build.
            if "$" not in base and base not in stages:
                try:
                    await self.image(base)
                except (NoAnswerError, NoEngineError):
                    raise
                except LaunchError as error:
                    raise LaunchError(f"FROM {base}: not here, and cannot be fetched: {error}") from None
            stages.add(stage)

    def strangers_build(self, folder: str, digest: str, tag: str, *, network: bool) -> list[str]:
        """The command that builds the image of a stranger, tags it and writes its digest to a file.

        Its environment needs CLASSIC_BUILDER for the limits of a step. What it runs has no `network`, if
        so wanted, and is removed in any case.
        """
        words = ["build", "--force-rm", "--iidfile", digest, "--tag", tag]
        words += [] if network else ["--network", "none"]
        return self.words(*words, *BUILD_LIMITS, folder)

    async def limit_build_step(self, container: str, label: str) -> None:
        """Bound the processes of a step's container. One with `label` is that of a bot, and keeps its limits.

        A step can print another container's name in the place of its own.
        """
        with suppress(LaunchError):  # the step is over
            found = await self.call(
                "inspect", "--format", f'{{{{index .Config.Labels "{label}"}}}}', container
            )
            if not found:
                await self.call("update", "--pids-limit", str(BUILD_PIDS), container)

    async def end_runs(self, runs: Mapping[str, Child]) -> None:
        """Remove the containers of commands `docker run --name NAME`, and end the commands.

        The engine may still be making a container, which it then keeps without a command. Once its
        command has ended there is none to come.
        """
        left = set(runs)
        for pause in (*MAKING_S, 0.0):
            ended = {name for name in left if runs[name].process.returncode is not None}
            try:
                removed = (await self.call("rm", "--force", "--volumes", *sorted(left))).split()
            except (NoAnswerError, NoEngineError):
                break
            except LaunchError:  # one of them is not there: older versions say so by their status
                removed = []
            left -= ended.union(removed)
            if not left:
                break
            waits = [asyncio.ensure_future(runs[name].process.wait()) for name in left]
            try:
                await asyncio.wait(waits, timeout=pause)
            finally:
                for each in waits:
                    each.cancel()
        for child in runs.values():
            await child.end()

    async def remove(self, label: str) -> None:
        """Remove all containers with this label."""
        found = (await self.call("ps", "--all", "--quiet", "--filter", f"label={label}")).split()
        if found:
            await self.call("rm", "--force", "--volumes", *found, seconds=ANSWER_S + len(found))


async def _read(stream: asyncio.StreamReader, into: bytearray) -> None:
    while data := await stream.read(65536):
        into += data


def _last_line(errors: bytes | bytearray) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""
