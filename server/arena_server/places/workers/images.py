"""Images of containers on their way to a worker whose engine lacks them.

    worker: RunnerImages.have -> not in its engine -> not in a registry -> asks --events--> the server
    server: SavedImages.send -> parts of PART bytes --Client.run--> receive -> `docker load`

The server needs no engine for an image that it has as a file. A worker is sent what it asks for once.
"""

from __future__ import annotations

import asyncio
import json
import tarfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from arena_server.places.base import LaunchError
from arena_server.places.docker import IMAGE_S, Docker
from arena_server.places.docker_launcher import RELAY_IMAGE
from arena_server.terms.sandbox import Sandbox

#: The resource of Dask that a worker with a container engine has, for as many games as it has threads.
ENGINE: Final = "engine"
#: Seconds for the engine of a worker to answer that joins.
VERSION_S: Final = 10.0
#: Seconds until an image that was here is looked for again: that costs three commands of the engine.
TRUSTED_S: Final = 60.0
PART: Final = 4 * 1024 * 1024
#: Seconds between two parts, after which a worker asks no longer; saving comes before the first one.
SILENT_S: Final = 300.0
BARE: Final = "sha256:"
#: The longest configuration of an image.
CONFIG_BYTES: Final = 8 * 1024 * 1024

#: Takes a part of an image: its offset, bytes, whether it is the last one, and why there are no more.
Put = Callable[[int, bytes, bool, str], Awaitable[bool]]


def images_of(sandboxes: Sequence[Sandbox | None]) -> tuple[str, ...]:
    """The image of each seat as a record has it, `-` for a seat without a container; empty: all are."""
    images = tuple("-" if each is None else each.image for each in sandboxes)
    return images if set(images) != {"-"} else ()


def saved_digest(path: Path) -> str:
    """The digest of the image in a file of `docker save`. Raises LaunchError."""
    expected = f"expected a file of `docker save` with one image, got {str(path)!r}"
    try:
        with tarfile.open(path) as archive:
            found = archive.extractfile("manifest.json")
            (image,) = json.loads(b"[]" if found is None else found.read())
        config: str = image["Config"]
    except OSError as error:
        raise LaunchError(f"{path}: {error.strerror or error}") from None
    except (tarfile.TarError, KeyError, ValueError, TypeError):
        raise LaunchError(expected) from None
    digest = config.rpartition("/")[2].removesuffix(".json")
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise LaunchError(expected)
    return f"{BARE}{digest}"


def check_saved(path: Path, image: str) -> None:
    """Raise LaunchError unless the configuration in a file of `docker save` has the digest of `image`.

    The engine that loads the file compares the layers with the configuration.
    """
    if saved_digest(path) != image:
        raise LaunchError(f"expected a file with image {image}, got one with {saved_digest(path)}")
    with tarfile.open(path) as archive:
        found = archive.extractfile("manifest.json")
        assert found is not None, "it was read just now"
        (manifest,) = json.loads(found.read())
        try:
            config = archive.extractfile(manifest["Config"])
        except KeyError:
            config = None
        if config is None or f"{BARE}{sha256(config.read(CONFIG_BYTES)).hexdigest()}" != image:
            raise LaunchError(f"expected a file with image {image}, whose configuration is another one")


# -- on the server


class SavedImages:
    """The images of a contest as files: those that its file names, others from the engine of this machine."""

    def __init__(self, docker: Docker | None = None) -> None:
        self._docker = docker or Docker()
        self._paths: dict[str, str] = {RELAY_IMAGE: ""}
        self._files: dict[str, asyncio.Task[Path]] = {}
        self._folder: TemporaryDirectory[str] | None = None

    def add(self, sandbox: Sandbox) -> None:
        """Its image may be asked for."""
        self._paths[sandbox.image] = sandbox.saved

    def __contains__(self, image: str) -> bool:
        return image in self._paths

    async def send(self, image: str, put: Put) -> int:
        """Hand a file over in parts, as long as they are taken, and return the bytes that were.

        What it cannot have it says instead. Raises LaunchError then.
        """
        try:
            path = await self._file(image)
            with path.open("rb") as file:
                sent, part = 0, await asyncio.to_thread(file.read, PART)
                while True:
                    following = await asyncio.to_thread(file.read, PART)
                    if not await put(sent, part, not following, ""):
                        raise LaunchError(f"the worker took {sent} bytes of image {image}")
                    sent += len(part)
                    if not following:
                        return sent
                    part = following
        except OSError as error:
            problem = f"image {image}: {error.strerror or error}"
        except LaunchError as error:
            problem = f"image {image} is not here either: {error}"
        await put(0, b"", True, problem)
        raise LaunchError(problem)

    async def _file(self, image: str) -> Path:
        if path := self._paths[image]:
            return Path(path)
        if (saving := self._files.get(image)) is None or (saving.done() and saving.exception() is not None):
            saving = self._files[image] = asyncio.create_task(self._save(image))
        return await asyncio.shield(saving)

    async def _save(self, image: str) -> Path:
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="arena-images-", ignore_cleanup_errors=True)
        path = Path(self._folder.name, f"{len(self._files)}.tar")
        await self._docker.call("save", "--output", str(path), image, seconds=IMAGE_S)
        return path

    async def close(self) -> None:
        """Forget all files that were saved here."""
        for saving in self._files.values():
            saving.cancel()
        await asyncio.gather(*self._files.values(), return_exceptions=True)
        if self._folder is not None:
            self._folder.cleanup()


# -- on the worker


class _Incoming:
    """A file that the server sends; `over` has a problem, or nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0
        self._taken = asyncio.Event()
        self.over: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def take(self, offset: int, data: bytes, last: bool, problem: str) -> bool:
        if self.over.done() or (offset != self._size and not problem):
            return False
        self._taken.set()
        if data:
            with self._path.open("ab") as file:
                file.write(data)
            self._size += len(data)
        if last:
            self.over.set_result(problem)
        return True

    async def wait(self) -> str:
        """Wait for its end. Raises TimeoutError if nothing comes any more."""
        while not self.over.done():
            self._taken.clear()
            taking = asyncio.ensure_future(self._taken.wait())
            try:
                async with asyncio.timeout(SILENT_S):
                    waits: list[asyncio.Future[object]] = [self.over, taking]  # type: ignore[list-item]
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                taking.cancel()
        return self.over.result()


class RunnerImages:
    """The images that the engine of this worker has, or gets."""

    def __init__(self, docker: Docker | None = None) -> None:
        self._docker = docker or Docker()
        #: By image and who sends it: a server that is gone sends no more, and the next one has to be asked.
        self._getting: dict[tuple[str, str], asyncio.Task[str]] = {}
        #: When each was found.
        self._found: dict[str, float] = {}
        self._incoming: dict[tuple[str, str], _Incoming] = {}

    async def have(self, images: Sequence[str], source: str, ask: Callable[[str], None]) -> str:
        """See that all `images` are here, and return why one is not. `ask` has the `source` send one."""
        now = asyncio.get_running_loop().time()
        for image in images:
            if now - self._found.get(image, -TRUSTED_S) < TRUSTED_S:
                continue
            getting = self._getting.get((image, source))
            if getting is None or getting.done():  # looked for again: it may have been removed
                getting = asyncio.create_task(self._get(image, source, ask))
                self._getting[image, source] = getting
            if problem := await asyncio.shield(getting):
                return problem
        return ""

    def take(self, image: str, source: str, offset: int, data: bytes, last: bool, problem: str) -> bool:
        """Take a part of an image that is waited for."""
        incoming = self._incoming.get((image, source))
        return incoming is not None and incoming.take(offset, data, last, problem)

    async def _get(self, image: str, source: str, ask: Callable[[str], None]) -> str:
        try:
            await self._docker.call("version", "--format", "{{.Server.Version}}")
            if not await self._is_here(image):
                await self._ask_for(image, source, ask)
        except TimeoutError:
            return f"image {image}: the server has not sent it within {SILENT_S:.0f} s"
        except (LaunchError, OSError) as error:
            return f"image {image}: {error}"
        self._found[image] = asyncio.get_running_loop().time()
        return ""

    async def _is_here(self, image: str) -> bool:
        """Whether the engine has it, or has found it in a registry."""
        with suppress(LaunchError):
            if image.startswith(BARE):  # the engine would take it for a name
                await self._docker.call("image", "inspect", "--format", "{{.Id}}", image)
            else:
                await self._docker.image(image)
            return True
        return False

    async def _ask_for(self, image: str, source: str, ask: Callable[[str], None]) -> None:
        with TemporaryDirectory(prefix="arena-image-", ignore_cleanup_errors=True) as folder:
            path = Path(folder, "image.tar")
            incoming = self._incoming[image, source] = _Incoming(path)
            try:
                ask(image)
                if problem := await incoming.wait():
                    raise LaunchError(problem)
            finally:
                del self._incoming[image, source]
            await self._docker.load(image, path)


runner_images: Final = RunnerImages()


def receive(image: str, source: str, offset: int, data: bytes, last: bool, problem: str) -> bool:
    """Runs on a worker: a part of an image that it has asked for."""
    return runner_images.take(image, source, offset, data, last, problem)


async def offer_engine(dask_worker: Any = None) -> bool:
    """Runs on a worker: whether it has a container engine, which the scheduler then knows as a resource.

    Dask fills the parameter of this name in.
    """
    if ENGINE in dask_worker.state.total_resources:  # by its own command
        return True
    try:
        await Docker().call("version", "--format", "{{.Server.Version}}", seconds=VERSION_S)
    except LaunchError:
        return False
    await dask_worker.set_resources(**{ENGINE: dask_worker.state.nthreads})
    return True
