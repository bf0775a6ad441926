"""The bots that `arena tournament`, `arena match` and `arena play` start as processes."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shutil import which
from tempfile import TemporaryFile

from arena_cli.options import DIGESTS_VARIABLE
from arena_cli.sandboxes import is_contained
from arena_cli.workers import ARENA
from arena_engines.jit import COMPILING, WAITING
from arena_server.errors import ArenaError, ConfigError
from arena_server.places.base import LocalBot

#: The first words of a command that mean this installation: the interpreter that runs `arena`, which can
#: import arena_client, and `arena` itself. Neither needs to be on the path.
OURS = {"python": (sys.executable,), "arena": ARENA}
#: The size of a bot's token, which is good for one run.
TOKEN_BYTES = 16


def is_command(player: str) -> bool:
    """Return whether a player on the command line is a program or a container; otherwise it is an engine.

    The parameters of an engine, behind the colon, may have slashes: `weighted:k=3/1/2`.
    """
    if is_contained(player):
        return True
    # No engine has a dot in its name: `mybot.py` is a file, and `check_command` says how to start it.
    name = player.partition(":")[0]
    return any(character in name for character in " /") or ("." in name and Path(player).is_file())


def parse_command(text: str, place: str) -> list[str]:
    """Split a quoted command and check that its program exists. Raises ConfigError."""
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"{place}: {text!r}: {str(error).lower()}") from None
    if not command:
        raise ConfigError(f"{place}: expected a program or an engine, got {text!r}")
    return check_command(command, place)


def check_command(command: Sequence[str], place: str) -> list[str]:
    """Return the command, its first word replaced by OURS. Raises ConfigError if there is no such program."""
    program, *words = command
    if program in OURS:
        return [*OURS[program], *words]
    if which(program) is None:
        raise ConfigError(f"{place}: {_no_program(program)}")
    return list(command)


def _no_program(program: str) -> str:
    """Return why `program` cannot be started, and what can."""
    path = Path(program)
    if path.is_dir():
        return f"expected a program, got the folder {program!r}"
    if not path.is_file():
        # The quotes of `arena match "python mybot.py"` do not belong where a command is a list of words.
        apart = f"; write it as words, without quotes around them: {program}" if " " in program else ""
        return f"no program {program!r} here or on the path{apart}"
    if path.suffix == ".py":
        cure = f"write python {program}"
    elif os.access(path, os.X_OK):
        cure = f"write ./{program}"
    else:
        cure = f"chmod +x {program}, or write its interpreter before it"
    if os.sep in program:
        return f"{program!r} has no permission to run: {cure}"
    return f"no program {program!r} on the path; for the file here: {cure}"


def engine_command(spec: str, game: str) -> list[str]:
    """Return the command of an engine or a scripted bot."""
    return [*ARENA, "bot", spec, "--game", game]


def local_bot(name: str, command: Sequence[str]) -> LocalBot:
    """Return the bot with a new token."""
    return local_bots(name, command, 1)[0]


def local_bots(name: str, command: Sequence[str], slots: int) -> list[LocalBot]:
    """Return a process for each slot of the bot, all with one new token."""
    return slots_of(LocalBot(name, command, ""), slots)


def slots_of(bot: LocalBot, slots: int) -> list[LocalBot]:
    """Return one for each slot of the bot, all with one new token."""
    token = secrets.token_hex(TOKEN_BYTES)
    return [replace(bot, token=token, slot=slot) for slot in range(1, slots + 1)]


def server_environment(bots: Iterable[LocalBot]) -> dict[str, str]:
    """Return the environment of the server of these bots: ours, and the digests of their tokens."""
    digests = {bot.name: sha256(bot.token.encode("ascii")).hexdigest() for bot in bots}
    return {**os.environ, DIGESTS_VARIABLE: json.dumps(digests)}


def compile_engines(
    game: str, specs: Iterable[str], step: Callable[[str], AbstractContextManager[None]]
) -> None:
    """Fill the compiler's cache, so that the bots do not all compile the same.

    `step` shows a text while something is compiled. Raises ArenaError.
    """
    from arena_cli.bot import compiles

    # Most engines compile nothing: a process to find that out costs a quarter of a second.
    wanted = sorted(spec for spec in set(specs) if compiles(spec, game))
    if not wanted:
        return
    compiled = [word for spec in wanted for word in ("--compile", spec)]
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen(  # noqa: S603 - our own command with checked names
            [*ARENA, "engines", "--game", game, *compiled], stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        # A line for each function that is compiled or waited for: if all are in the cache, of an engine only.
        first = process.stdout.readline()
        waits = first.startswith(WAITING)
        if waits or first.startswith(COMPILING):
            with step(f"{WAITING} engines ..." if waits else "compiling engines ..."):
                process.stdout.read()
        if process.wait():
            errors.seek(0)
            last = errors.read().strip().splitlines()[-1:] or [f"status {process.returncode}"]
            raise ArenaError(f"the engines cannot be compiled: {last[0].removeprefix('arena: ')}")
