"""A stage of an admission on a worker with a container engine: what is sent there, and what runs there.

Examination --RunnerTask--> examine -> EngineExaminer with the engine there -> an answer of plain values

["built", IMAGE, BYTES]     its file waits there for who fetches it (`runner_tasks.give_part`)
["passed"]
["rejected", REASON]        the version does not pass
["away", REASON]            this machine cannot tell
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir, mkstemp
from typing import Any, Final

from arena_server.places.base import LaunchError
from arena_server.places.docker import IMAGE_S
from arena_server.places.docker_launcher import RELAY_IMAGE
from arena_server.places.workers.images import runner_images, saved_digest
from arena_server.places.workers.process import HANDED_BACK
from arena_server.places.workers.runner_tasks import leave_file
from arena_server.submissions.admission import EngineAwayError, EngineExaminer, RejectedError, Say
from arena_server.submissions.store import LOG_BYTES
from arena_server.submissions.versions import VersionState
from arena_server.terms.submissions import SubmissionSetup

#: Stands in a command for the file of the contest.
CONFIG: Final = "{config}"
#: How files and folders of an examination begin; the number of their process follows.
_PREFIX: Final = "arena-examination-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """One `stage` of the admission of a version of `bot`: `archive` to build as `tag`, or `image` to examine.

    `setup` is that of the contest, `file` what its file says there, `commands` by stage what the interpreter
    there runs, with CONFIG, {image} and {bot} in it. A worker says every `renew_s` seconds that it goes on.
    """

    stage: VersionState
    bot: str
    setup: SubmissionSetup
    file: str
    commands: Sequence[Sequence[str]]
    renew_s: float
    archive: bytes = b""
    tag: str = ""
    image: str = ""


async def examine(payload: bytes, topic: str, key: str) -> list[Any]:
    """Runs on a worker: a pickled Examination."""
    from distributed import get_worker

    examination: Examination = pickle.loads(payload)  # noqa: S301 - who may submit to Dask runs any code there
    dask = get_worker()
    room = LOG_BYTES

    def say(line: str) -> None:
        nonlocal room
        if room > 0:  # the store of the version takes no more
            room -= len(line)
            dask.log_event(topic, {"key": key, "said": line})

    def ask(image: str) -> None:
        dask.log_event(topic, {"lacks": image, "address": dask.address, "name": str(dask.name)})

    working = asyncio.ensure_future(
        carry_out(examination, key, say, lambda images: _have(images, topic, ask))
    )
    try:
        while not working.done():
            task = dask.state.tasks.get(key)
            if task is None or task.state not in ("executing", "long-running"):
                return ["away", HANDED_BACK]
            dask.log_event(topic, {"key": key})
            await asyncio.wait([working], timeout=examination.renew_s)
        return working.result()
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def _have(images: Sequence[str], topic: str, ask: Callable[[str], None]) -> str:
    return await runner_images.have(images, topic, ask)


async def carry_out(
    examination: Examination, key: str, say: Say, have: Callable[[Sequence[str]], Any]
) -> list[Any]:
    """Examine a version with the engine of this machine; `have` gets images, or says why one is not here."""
    await asyncio.to_thread(sweep, Path(gettempdir()))
    with TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        config = Path(folder, "contest.toml")
        config.write_text(examination.file, encoding="utf-8")
        check, play = (
            [sys.executable, *(word.replace(CONFIG, str(config)) for word in command)]
            for command in examination.commands
        )
        examiner = EngineExaminer(replace(examination.setup, config=config), check, play)
        image, bot = examination.image, examination.bot
        try:
            if examination.stage is VersionState.BUILDING:
                return await _build(examiner, examination, key, Path(folder), say)
            if problem := await have([RELAY_IMAGE, image]):
                return ["away", problem]
            examines = examiner.check if examination.stage is VersionState.CHECKING else examiner.play
            await examines(image, bot, say)
        except RejectedError as error:
            return ["rejected", str(error)]
        except (EngineAwayError, LaunchError, OSError) as error:
            return ["away", str(error)]
    return ["passed"]


async def _build(
    examiner: EngineExaminer, examination: Examination, key: str, folder: Path, say: Say
) -> list[Any]:
    """Build the image, and leave it as a file. Raises as `EngineExaminer.build`, LaunchError and OSError."""
    archive, place, tag = folder / "archive", folder / "place", examination.tag
    await asyncio.to_thread(archive.write_bytes, examination.archive)
    place.mkdir()
    descriptor, name = mkstemp(prefix=f"{_PREFIX}{os.getpid()}-")
    os.close(descriptor)
    path, left = Path(name), False
    try:
        image = await examiner.build(archive, place, tag, say)
        await examiner.docker.call("save", "--output", name, image, seconds=IMAGE_S)
        if await asyncio.to_thread(saved_digest, path) != image:
            return ["away", "its engine keeps images by another digest than that of their configuration"]
        left = True
        leave_file(key, path)
        return ["built", image, path.stat().st_size]
    finally:
        # The server has the file; a worker that plays the version gets it from there.
        await examiner.discard(tag)
        if not left:
            path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what examinations of processes have left that are gone: a worker may have been killed."""
    for path in folder.glob(f"{_PREFIX}*"):
        number = path.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdecimal() and not _is_alive(int(number)):
            if path.is_dir():
                rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):  # it may be another account's
                    path.unlink()


def _is_alive(pid: int) -> bool:
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
