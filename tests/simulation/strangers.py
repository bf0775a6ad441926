"""Machines that are no bots of a contest: they guess keys, hold connections open, and watch."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.bots import Honest
from tests.simulation.client import FINAL, PAUSE, Client, Connection
from tests.simulation.world import Worlds

#: Connections that a stranger opens one after the other; then it leaves.
TRIES = 40


class KeyGuesser(Honest):
    """Tries wrong tokens and keys for the name of a bot."""

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str:
        word = "token" if self.sometimes(2) else "resume"
        return f"HELLO 1 {name} {word}=guess{self.rng.getrandbits(32)}"


class Mute(Honest):
    """Never says HELLO."""

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> None:
        return None


class Onlooker(Honest):
    """Watches everything, without a key."""

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str:
        return "HELLO 1 onlooker role=spectator contest=" + self.rng.choice(("friday", "sunday"))

    def received(self, verb: str, tokens: list[str]) -> None:
        if verb == "WELCOME":
            self.wire.say("WATCH *")


KINDS = (KeyGuesser, Mute, Mute, Onlooker)


class Stranger(Client):
    """Comes again at once, whatever wait the server asks for, up to TRIES times."""

    def pause(self) -> int:
        # Not all at one moment, as after the death of a server: the listener takes 500 in a second.
        return self.rng.randrange(PAUSE, 6 * PAUSE)

    def disconnected(self, connection: Connection) -> None:
        if connection is not self.connection:
            return
        self.connection = None
        last = connection.lines[-1] if connection.lines else b""
        if len(self.connections) < TRIES and not last.startswith(FINAL):
            self._queue.after(self.pause(), self.connect)

    def lines(self) -> Iterator[bytes]:
        """All that it was sent."""
        for connection in self.connections:
            yield from connection.lines


def surround(world: Worlds, each: int) -> list[Stranger]:
    """Add `each` strangers of every kind on the address of each bot."""
    found = []
    for part in world.parts:
        for name in part.plan.kinds:
            for kind in KINDS:
                for _ in range(each):
                    stranger = Stranger(name, kind, world.queue, world.branch(), world.dial)
                    world.queue.after(world.branch().randrange(6 * PAUSE), stranger.connect)
                    found.append(stranger)
    return found
