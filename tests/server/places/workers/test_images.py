"""Images on their way from a server to workers whose engines lack them: scripted engines, no process."""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from arena_server.places.base import LaunchError
from arena_server.places.docker import Docker
from arena_server.places.docker_launcher import RELAY_IMAGE
from arena_server.places.workers import images as images_module
from arena_server.places.workers.images import (
    PART,
    RunnerImages,
    SavedImages,
    images_of,
    saved_digest,
)
from arena_server.terms.sandbox import Sandbox

MINE, OTHER = "sha256:" + "a" * 64, "sha256:" + "b" * 64
PINNED = f"registry.example/mine@{MINE}"
pytestmark = pytest.mark.asyncio


class Engine(Docker):
    """An engine with these images; `registry` has more, and a file has the image that its text names."""

    here: set[str]
    registry: set[str]
    calls: list[str]

    @classmethod
    def with_images(cls, *here: str, registry: tuple[str, ...] = ()) -> Engine:
        made = cls()
        for name, value in (("here", set(here)), ("registry", set(registry)), ("calls", [])):
            object.__setattr__(made, name, value)
        return made

    __slots__ = ("calls", "here", "registry")

    async def call(self, *words: str, seconds: float | None = None) -> str:
        self.calls.append(words[0] if words[0] != "image" else words[1])
        await asyncio.sleep(0)
        match words:
            case ("version", *_):
                return "1"
            case ("image", "inspect", *_, image) if image not in self.here:
                raise LaunchError(f"No such image: {image}")
            case ("pull", *_, image):
                if image not in self.registry:
                    raise LaunchError(f"pull access denied for {image}")
                self.here.add(image)
            case ("save", "--output", path, image):
                if image not in self.here:
                    raise LaunchError(f"No such image: {image}")
                await asyncio.to_thread(Path(path).write_bytes, image.encode().ljust(2 * PART + 5))
            case ("load", "--input", path):
                self.here.add((await asyncio.to_thread(Path(path).read_bytes)).decode().strip())
        return words[-1]


class Link:
    """Between a server and the runners that ask it."""

    def __init__(self, saved: SavedImages) -> None:
        self.saved = saved
        self.asked: list[str] = []
        self.sending: list[asyncio.Task[int]] = []

    def ask(self, runner: RunnerImages) -> Callable[[str], None]:
        def put(image: str) -> Callable[..., Awaitable[bool]]:
            async def take(offset: int, data: bytes, last: bool, problem: str) -> bool:
                return runner.take(image, "cup", offset, data, last, problem)

            return take

        def ask(image: str) -> None:
            self.asked.append(image)
            self.sending.append(asyncio.create_task(self.saved.send(image, put(image))))

        return ask


async def linked(server: Engine, sandbox: Sandbox, *runners: Engine) -> tuple[Link, list[str]]:
    """Two games at once on each runner need the image; what is said of each runner."""
    saved = SavedImages(server)
    saved.add(sandbox)
    link, problems = Link(saved), []
    for engine in runners:
        runner = RunnerImages(engine)
        having = [runner.have([RELAY_IMAGE, sandbox.image], "cup", link.ask(runner)) for _ in range(2)]
        one, two = await asyncio.gather(*having)
        assert one == two
        problems.append(one)
    await asyncio.gather(*link.sending, return_exceptions=True)
    await saved.close()
    return link, problems


async def test_a_runner_that_lacks_an_image_is_sent_it_once() -> None:
    server, has = Engine.with_images(RELAY_IMAGE, MINE), Engine.with_images(RELAY_IMAGE, MINE)
    lacks, another = Engine.with_images(RELAY_IMAGE), Engine.with_images(RELAY_IMAGE)
    link, problems = await linked(server, Sandbox(MINE), has, lacks, another)
    assert problems == ["", "", ""]
    assert link.asked == [MINE, MINE]
    assert [sending.result() for sending in link.sending] == [2 * PART + 5] * 2
    assert server.calls == ["save"]
    assert lacks.calls.count("load") == 1
    assert "tag" in lacks.calls  # else `docker image prune` would take it


async def test_an_image_that_was_found_is_not_looked_for_with_each_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = Engine.with_images(RELAY_IMAGE, MINE)
    runner = RunnerImages(engine)
    for trusted, calls in ((60.0, 4), (0.0, 8)):
        monkeypatch.setattr(images_module, "TRUSTED_S", trusted)
        for _ in range(2 if trusted else 1):
            assert await runner.have([RELAY_IMAGE, MINE], "cup", lambda _: None) == ""
        assert len(engine.calls) == calls


async def test_a_pinned_image_comes_from_its_registry_and_needs_nothing_of_the_server() -> None:
    runner = Engine.with_images(RELAY_IMAGE, registry=(PINNED,))
    server = Engine.with_images()
    link, problems = await linked(server, Sandbox(PINNED), runner)
    assert (problems, link.asked, server.calls) == ([""], [], [])


async def test_a_saved_image_needs_no_engine_of_the_server(tmp_path: Path) -> None:
    path = tmp_path / "mine.tar"
    path.write_text(MINE)
    server, runner = Engine.with_images(), Engine.with_images(RELAY_IMAGE)
    _, problems = await linked(server, Sandbox(MINE, saved=str(path)), runner)
    assert (problems, server.calls) == ([""], [])
    assert MINE in runner.here


@pytest.mark.parametrize(
    ("sandbox", "problem"),
    [
        (Sandbox(MINE), f"image {MINE}: image {MINE} is not here either: No such image: {MINE}"),
        (Sandbox(MINE, saved="gone.tar"), f"image {MINE}: image {MINE}: No such file or directory"),
        (Sandbox(MINE, saved="other.tar"), f"image {MINE}: No such image: {MINE}"),
    ],
)
async def test_an_image_that_is_nowhere_is_said_by_the_runner(
    sandbox: Sandbox, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.tar").write_text(OTHER)
    _, problems = await linked(Engine.with_images(), sandbox, Engine.with_images(RELAY_IMAGE))
    assert problems == [problem]


async def test_a_part_that_was_not_asked_for_is_not_taken() -> None:
    runner = RunnerImages(Engine.with_images(RELAY_IMAGE))
    assert not runner.take(MINE, "cup", 0, b"x", True, "")
    asked = asyncio.Event()
    having = asyncio.create_task(runner.have([MINE], "cup", lambda _: asked.set()))
    await asked.wait()
    assert not runner.take(MINE, "cup", 5, b"x", False, "")
    assert runner.take(MINE, "cup", 0, b"x", False, "")
    assert not runner.take(MINE, "cup", 0, b"x", False, "")
    assert runner.take(MINE, "cup", 1, b"", True, "the disk is full")
    assert await having == f"image {MINE}: the disk is full"


async def test_the_next_server_is_asked_while_the_last_one_is_waited_for() -> None:
    runner, asked = RunnerImages(Engine.with_images()), asyncio.Queue[str]()
    having = [
        asyncio.create_task(runner.have([MINE], source, lambda _, source=source: asked.put_nowait(source)))  # type: ignore[misc]
        for source in ("gone", "cup")
    ]
    assert [await asked.get(), await asked.get()] == ["gone", "cup"]
    assert runner.take(MINE, "cup", 0, MINE.encode(), True, "")
    assert await having[1] == ""
    assert runner.take(MINE, "gone", 0, b"", True, "late")
    assert await having[0] == f"image {MINE}: late"


async def test_a_server_that_falls_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images_module, "SILENT_S", 0.0)
    runner = RunnerImages(Engine.with_images(RELAY_IMAGE))
    assert await runner.have([MINE], "cup", lambda _: None) == (
        f"image {MINE}: the server has not sent it within 0 s"
    )


async def test_a_runner_that_takes_no_part_is_sent_no_more(tmp_path: Path) -> None:
    path = tmp_path / "mine.tar"
    path.write_bytes(b"x")
    saved = SavedImages(Engine.with_images())
    saved.add(Sandbox(MINE, saved=str(path)))

    async def refuse(*_: Any) -> bool:
        return False

    with pytest.raises(LaunchError, match=f"the worker took 0 bytes of image {MINE}"):
        await saved.send(MINE, refuse)


async def test_the_images_of_seats() -> None:
    assert images_of([None, Sandbox(MINE)]) == ("-", MINE)
    assert images_of([None, None]) == ()


def archive(path: Path, manifest: object) -> Path:
    data = json.dumps(manifest).encode()
    with tarfile.open(path, "w") as made:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(data)
        made.addfile(member, io.BytesIO(data))
    return path


async def test_the_digest_of_a_saved_image(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    for config in (f"{'a' * 64}.json", f"blobs/sha256/{'a' * 64}"):
        assert saved_digest(archive(path, [{"Config": config}])) == MINE
    wrong: list[object] = [[], [{}], [{"Config": "../x.json"}], {"Config": 3}, [1, 2]]
    for manifest in wrong:
        with pytest.raises(LaunchError, match="expected a file of `docker save` with one image"):
            saved_digest(archive(path, manifest))
    path.write_bytes(b"no archive")
    with pytest.raises(LaunchError, match="expected a file of `docker save` with one image"):
        saved_digest(path)
    with pytest.raises(LaunchError, match=r"gone\.tar: No such file or directory"):
        saved_digest(tmp_path / "gone.tar")
