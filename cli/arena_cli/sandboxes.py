"""Images of bots that run in containers, made before a contest begins."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from arena_server.config_schema import BotTable
    from arena_server.launch.sandbox import Sandbox


def sandbox_of(bot: BotTable, folder: Path, place: str) -> Sandbox:
    """Return the container of a bot, its image pinned by the digest that it has now.

    `build` is relative to `folder`. Raises ConfigError, with what the engine says.
    """
    from arena_server.errors import ConfigError
    from arena_server.launch.base import LaunchError
    from arena_server.launch.docker import Docker
    from arena_server.launch.sandbox import Sandbox

    docker = Docker()
    try:
        if bot.build is not None:
            context = folder / bot.build
            if not (context / "Dockerfile").is_file():
                raise ConfigError(
                    f"{place}: build: expected a folder with a Dockerfile, got {str(context)!r}"
                )
            typer.echo(f"building the image of {bot.name} from {bot.build} ...", err=True)
            image = asyncio.run(docker.build(str(context)))
        else:
            assert bot.image is not None
            image = asyncio.run(docker.image(bot.image))
    except LaunchError as error:
        raise ConfigError(f"{place}: {'build' if bot.build is not None else 'image'}: {error}") from None
    given = {key: getattr(bot, key) for key in ("cpus", "memory", "pids")}
    return Sandbox(image, **{key: value for key, value in given.items() if value is not None})
