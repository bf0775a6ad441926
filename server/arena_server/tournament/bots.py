"""Keeping the bots of a tournament running. It must not know: engines, the wire, who wins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena_server.tournament.child import Child

#: Seconds before each further try to start a bot that ended; then its games go on without it.
RESTARTS_S = (0.5, 1.0, 2.0, 4.0)
#: What a bot may take to leave after the server's BYE.
LEAVE_S = 2.0
#: How many of a crashed bot's last lines are shown.
LAST_LINES = 5


@dataclass(frozen=True, slots=True)
class LocalBot:
    """A bot that the tournament starts; {host} {port} {name} {token} in `command` are filled in."""

    name: str
    command: Sequence[str]
    token: str

    def filled(self, host: str, port: int) -> list[str]:
        """The command line, filled in."""
        values = {"{host}": host, "{port}": str(port), "{name}": self.name, "{token}": self.token}
        return [_fill(word, values) for word in self.command]

    def environment(self, host: str, port: int) -> dict[str, str]:
        """Where the bot finds the contest."""
        return {
            "ARENA_HOST": host,
            "ARENA_PORT": str(port),
            "ARENA_NAME": self.name,
            "ARENA_TOKEN": self.token,
        }


def _fill(word: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        word = word.replace(key, value)
    return word


@dataclass
class Keeper:
    """Starts one bot, and again if it ends before the contest does."""

    bot: LocalBot
    host: str
    port: int
    logs: Path | None
    say: Callable[[str], None]
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    async def keep(self) -> None:
        """Keep the bot running until `contest_over`, or until it has ended too often."""
        for wait in (*RESTARTS_S, None):
            status, last_words = await self._one_life()
            if self._over.is_set() or wait is None:
                break
            # BYE reaches the bots just before the server's own end reaches us.
            try:
                await asyncio.wait_for(self._over.wait(), wait)
            except TimeoutError:
                self._complain(f"ended {_how(status)}; starting it again", last_words)
            else:
                break
        if not self._over.is_set():
            self._complain("has ended too often; its games go on without it", last_words)
        elif status:
            # A crash may be what the contest ended by, and the author wants to know why.
            self._complain(f"ended {_how(status)}", last_words)

    def contest_over(self) -> None:
        """The bot may leave now and is not started again."""
        self._over.set()

    async def _one_life(self) -> tuple[int | None, list[str]]:
        log = None if self.logs is None else self.logs / f"{self.bot.name}.log"
        try:
            child = await Child.start(
                self.bot.filled(self.host, self.port), self.bot.environment(self.host, self.port), log=log
            )
        except OSError as error:
            return None, [str(error)]
        try:
            await self._wait(child)
            return child.process.returncode, child.last_lines(LAST_LINES)
        finally:
            await child.end()

    async def _wait(self, child: Child) -> None:
        """Wait for the bot's end; once the contest is over, not for long."""
        ended, over = asyncio.ensure_future(child.wait()), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait([ended, over], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait([ended], timeout=LEAVE_S)
        finally:
            ended.cancel()
            over.cancel()

    def _complain(self, what: str, last_words: list[str]) -> None:
        self.say(f"bot {self.bot.name} {what}")
        for line in last_words:
            self.say(f"  {self.bot.name}: {line}")


def _how(status: int | None) -> str:
    if status is None:
        return "before it began"
    return f"with status {status}" if status >= 0 else f"by signal {-status}"
