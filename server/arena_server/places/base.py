"""What a place where bots run offers, and what it knows of a bot.

Launcher.start(bot) -> Running.wait() -> Ended
Running.end()
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from arena_server.core.deal import slot_token
from arena_server.errors import ArenaError
from arena_server.places.cgroup import CpuTime
from arena_server.terms.sandbox import Sandbox

#: What a bot inherits of this process's environment. Everything else may be a secret of the
#: organiser, such as ARENA_ADMIN_TOKEN or a password of the database.
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "XDG_CACHE_HOME", "ARENA_DEBUG")

#: How an interpreter runs a module of ours: not with `-m` alone, which puts the working folder first on the
#: path, where a file of the user, such as random.py, would be imported in the place of a module.
RUN_MODULE: Final = ("-P", "-m")

Cause = tuple[object, ...]
#: What `frozen_bots.py` asks of who runs the bots, and what it is answered: JSON objects.
Order = Mapping[str, Any]
#: One of these is a key of each order, with the name of the bot.
ORDERS: Final = ("freeze", "thaw", "measure", "rests", "plays")
Answer = dict[str, Any]

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


@dataclass(frozen=True, slots=True)
class LocalBot:
    """One run of a bot's program: a process, where processes are the place.

    A `contest` is named where the server cannot tell by name and token which one is meant.
    {host} {port} {name} {token} {slot} in `command` are replaced. A bot that plays several games at once
    has a process for each, in `slot` 1, 2, ...
    """

    name: str
    command: Sequence[str]
    token: str
    slot: int = 1
    contest: str | None = None
    #: The container that it runs in; `command` is then what is run there, empty for the image's own.
    sandbox: Sandbox | None = None
    #: The cores that its program may use, beside the limits of its sandbox; empty: all.
    cores: Sequence[int] = ()
    #: What its environment has beside that.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: The launcher of a plug-in that starts it (`launchers.py`); empty for none.
    launcher: str = ""
    #: What a machine has to have for it (`places/workers/`): amounts by name; empty for nothing.
    resources: Mapping[str, float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name for messages; no bot's name has a blank."""
        return self.name if self.slot == 1 else f"{self.name} slot {self.slot}"

    @property
    def log_name(self) -> str:
        """The name of its log file; no bot's name has a `@`."""
        return f"{self.name}.log" if self.slot == 1 else f"{self.name}@{self.slot}.log"

    def command_line(self, host: str, port: int) -> list[str]:
        """Return `command` with the values filled in."""
        values = {
            "{host}": host,
            "{port}": str(port),
            "{name}": self.name,
            "{token}": slot_token(self.token, self.slot),
            "{slot}": str(self.slot),
        }
        return [_replace(word, values) for word in self.command]

    def environment(self, host: str, port: int, own: Mapping[str, str]) -> dict[str, str]:
        """Return its whole environment: what it inherits of `own`, its variables, and those of the arena."""
        return {
            **inherited(own),
            **self.variables,
            "ARENA_HOST": host,
            "ARENA_PORT": str(port),
            "ARENA_NAME": self.name,
            "ARENA_TOKEN": slot_token(self.token, self.slot),
            **({"ARENA_SLOT": str(self.slot)} if self.slot > 1 else {}),
            **({"ARENA_CONTEST": self.contest} if self.contest is not None else {}),
        }


def inherited(own: Mapping[str, str]) -> dict[str, str]:
    """What a process that needs no secret of ours inherits of our environment `own`."""
    return {name: own[name] for name in INHERITED if name in own}


def _replace(word: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        word = word.replace(key, value)
    return word


class BotError(ArenaError):
    """A bot's program that cannot play."""


class LaunchError(ArenaError):
    """A program that the launcher cannot start; the text is one line."""


@dataclass(frozen=True, slots=True)
class BotEnded:
    """How a run of a bot ended. `status` is the exit status, or the negative signal; None: it did not start.

    `exceeded` is the limit of its place that stopped it, in ASCII; empty if none did. `error` is the last
    line of its stderr, `trace` its last traceback, `lines` its last lines.
    """

    status: int | None
    error: str = ""
    trace: Sequence[str] = ()
    lines: Sequence[str] = ()
    exceeded: str = ""

    @property
    def cause(self) -> Cause:
        """Equal for equal crashes, wherever their objects lie in memory."""
        return self.status, *(_ADDRESS.sub("0x0", line) for line in self.trace or [self.error])

    def __str__(self) -> str:
        if self.status is None:
            return "before it began"
        return f"with status {self.status}" if self.status >= 0 else f"by signal {-self.status}"


class Running(Protocol):
    """A bot that was started."""

    async def wait(self) -> BotEnded:
        """Wait until it has ended by itself."""

    async def end(self) -> None:
        """End it and all that it has started, if it has not ended; call it in any case."""

    async def set_frozen(self, frozen: bool) -> None:
        """Have it stand still, or go on, where its place can do that; one order after the other."""

    async def cpu_time(self) -> tuple[str, CpuTime] | None:
        """Its mark, and what it got of the processor so far; None if its place does not say."""


class Launcher(Protocol):
    """A place where bots run; it knows the address of the server that they connect to."""

    async def start(self, bot: LocalBot) -> Running:
        """Start a bot. Raises LaunchError if that is not possible."""


class BotGames(Protocol):
    """The games of a contest, as far as the restarts of its bots depend on them."""

    async def game_of(self, name: str, slot: int) -> str | None:
        """Return the game that a bot plays in this slot, None between two games."""

    async def abandon(self, name: str, slot: int, game: str, exceeded: str) -> None:
        """Have the referee play for a bot in its game, and wait for the end of the game.

        `exceeded`: as in BotEnded.
        """
