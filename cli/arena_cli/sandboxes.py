"""Containers of bots, whose images are fetched or built before they are needed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from arena_server.terms.sandbox import ContainerLimits, Sandbox

#: What a player on a command line begins with that runs in a container.
IMAGE, BUILD = "image:", "build:"
#: What an image begins with that is a file of `docker save`.
SAVED = "file:"
_PINNED = re.compile(r"[^@\s]+@sha256:[0-9a-f]{64}")


def is_contained(player: str) -> bool:
    """Whether a player on a command line runs in a container."""
    return player.startswith((IMAGE, BUILD))


def image_name(player: str) -> str:
    """`mybot` for `image:registry/mybot:3` and `build:../mybot`."""
    source = player.partition(":")[2]
    if player.startswith(BUILD):
        return Path(source).resolve().name
    return source.rpartition("/")[2].partition(":")[0].partition("@")[0]


def player_sandbox(player: str, limits: ContainerLimits) -> Sandbox:
    """Return the container of `image:NAME` or `build:FOLDER`. Raises ConfigError."""
    if player.startswith(BUILD):
        return built(player.removeprefix(BUILD), Path(), limits, f"{player}: ")
    return fetched(player.removeprefix(IMAGE), limits, f"{player}: ")


def fetched(image: str, limits: ContainerLimits, place: str, folder: Path = Path()) -> Sandbox:
    """Return the container of an image, pinned by its present digest.

    Without an engine here NAME@sha256:DIGEST is as it stands, and file:SAVED, relative to `folder`, has the
    digest of its file: a worker may have an engine.

    Raises ConfigError, with `place` and what the engine says.
    """
    from arena_server.errors import ConfigError
    from arena_server.places.base import LaunchError
    from arena_server.places.docker import Docker, NoEngineError
    from arena_server.places.workers.images import saved_digest
    from arena_server.terms.sandbox import Sandbox

    try:
        if image.startswith(SAVED):
            path = (folder / image.removeprefix(SAVED)).resolve()
            sandbox = Sandbox(saved_digest(path), limits, str(path))
            with suppress(NoEngineError):
                asyncio.run(Docker().load(sandbox.image, path))
            return sandbox
        try:
            return Sandbox(asyncio.run(Docker().image(image)), limits)
        except NoEngineError:
            if _PINNED.fullmatch(image):
                return Sandbox(image, limits)
            raise
    except LaunchError as error:
        raise ConfigError(f"{place}{error}") from None


def built(
    source: str,
    folder: Path,
    limits: ContainerLimits,
    place: str,
    images: Mapping[str, str] | None = None,
) -> Sandbox:
    """Return the container of an image that is built from `source`, which is relative to `folder`.

    Without a Dockerfile it is built on that of `images` (else the usual one) for its language. Raises
    ConfigError, with `place` and what the engine says.
    """
    from arena_server.errors import ConfigError
    from arena_server.places.base import LaunchError
    from arena_server.places.docker import Docker
    from arena_server.submissions.archive import ArchiveError, language_of
    from arena_server.terms.sandbox import Sandbox
    from arena_server.terms.submissions import SubmissionRules

    context = folder / source
    images = SubmissionRules().languages if images is None else images
    try:
        language = language_of(context, images, f"expected a folder with a Dockerfile, got {str(context)!r}")
    except ArchiveError as error:
        raise ConfigError(f"{place}{error}") from None
    dockerfile = None if language is None else language.dockerfile(images[language.name])
    typer.echo(f"building the image of {source} ...", err=True)
    try:
        return Sandbox(asyncio.run(Docker().build(str(context), dockerfile)), limits)
    except LaunchError as error:
        raise ConfigError(f"{place}{error}") from None
