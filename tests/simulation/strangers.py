"""Machines that are no bots of a contest: they guess keys, hold connections open, and watch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.simulation.bots import Honest
from tests.simulation.client import FINAL, PAUSE, Client, Connection
from tests.simulation.network import MS, SECOND
from tests.simulation.world import Part, Worlds

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


class Guest(Honest):
    """Logs in as a spectator, without a key, and watches nothing."""

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str:
        return "HELLO 1 guest role=spectator"


class Watcher(Guest):
    """Watches everything."""

    def received(self, verb: str, tokens: list[str]) -> None:
        if verb == "WELCOME":
            self.wire.say("WATCH *")


class Onlooker(Watcher):
    """Watches one of two contests."""

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str:
        return "HELLO 1 onlooker role=spectator contest=" + self.rng.choice(("friday", "sunday"))


KINDS = (KeyGuesser, Mute, Mute, Onlooker)
#: Who else may be there when a contest ends.
GUESTS: Mapping[str, tuple[type[Honest], ...]] = {
    "none": (),
    "mute": (Mute,),
    "guest": (Guest,),
    "watcher": (Watcher,),
    "all": (Mute, Guest, Watcher),
}


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


class Visitor(Stranger):
    """Notes when each of its connections ended, and its last line."""

    def __init__(self, kind: type[Honest], world: Worlds) -> None:
        super().__init__("visitor", kind, world.queue, world.branch(), world.dial)
        self.ends: list[tuple[int, bytes]] = []

    def disconnected(self, connection: Connection) -> None:
        if connection is self.connection:
            self.ends.append((self._queue.now, connection.lines[-1] if connection.lines else b""))
        super().disconnected(connection)


def check_told(world: Worlds, part: Part, visitors: Sequence[Visitor], *, stops: bool) -> None:
    """Who is no bot of a contest gets BYE when its end is seen, not before, and not much later.

    `stops`: its server was to end meanwhile, which all learn. An end is reported once it is durable.
    """
    config = part.plan.config
    name, ending = config.name, world.server.reasons[config.name]
    seen = world.server.ended_at[name] + config.spectator_delay_ms * MS
    told = f"BYE reason={ending}".encode()
    for visitor in visitors:
        assert visitor.connection is None, f"{visitor.bot} is still there"
        for at, last in visitor.ends:
            assert at <= seen + SECOND, f"{visitor.bot} was there after {last!r}"
            assert last != told or stops or at >= seen - SECOND // 10, f"{visitor.bot} got it too early"
