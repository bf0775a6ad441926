"""One cell of the fault table: a bot does one thing wrong at one moment, and what comes of it.

The scene is a simulated contest with the published limits and no chance in it: `ann` does it,
`bob` plays on honestly, `eve` is entered and never comes, so that the contest stays open for
a while after ann's and bob's last game. ann has seat 1 in g1 and thinks for no time; bob for ten
milliseconds a move. Six plies make a game.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.simulation.bots import Honest, Wire
from tests.simulation.network import CALM, MS, SECOND
from tests.simulation.world import World

from arena_protocol.record import GameRecord
from arena_server.core.config import ContestPlan
from arena_server.core.effects import Close, Effect, Finished, Note, Send
from arena_server.core.events import Event
from arena_server.core.journal import Past

FAULTS = (
    "crash", "hang", "slow bytes", "half a line then close", "reset", "silent vanish", "flood",
    "never reads", "garbage bytes", "over-long line", "illegal move", "move out of turn",
)  # fmt: skip
MOMENTS = (
    "before login", "waiting for a game", "own turn", "other's turn", "at the last millisecond",
    "after the end",
)  # fmt: skip

THINKING = 10 * MS
BYTE_EVERY = 5 * SECOND
BACK = 100 * MS


class Ann(Honest):
    """Does `fault` once, at `moment`."""

    fault: str
    moment: str
    back: int = BACK

    def __init__(self, rng: Random, wire: Wire) -> None:
        super().__init__(rng, wire)
        self.did = False
        self.dead = False
        self.line_of_deed = 0
        self.connections = 0
        self.games = 0

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str | None:
        self.connections += 1
        hello = super().hello(name, token, resume, rivals)
        if self.moment == "before login" and not self.did:
            self.do(hello)
            return None
        return None if self.dead else hello

    def heard(self, verb: str, tokens: list[str]) -> None:
        self.games += verb == "OVER"
        if self._is_the_moment(verb, tokens):
            self.do(None, self.wire.clock_ms * MS if self.moment == "at the last millisecond" else 0)
        elif not self.dead:
            super().lines(verb, tokens)

    def _is_the_moment(self, verb: str, tokens: list[str]) -> bool:
        return not self.did and (
            (self.moment == "waiting for a game" and verb == "WELCOME")
            or (self.moment in ("own turn", "at the last millisecond") and tokens[:2] == ["TURN", "3"])
            or (self.moment == "other's turn" and tokens[:2] == ["PLAYED", "3"])
            or (self.moment == "after the end" and verb == "OVER" and self.games == 2)
        )

    def offered(self, game_id: str) -> None:
        self.wire.say(f"READY {game_id}")

    def answer(self, line: str) -> None:
        self.wire.say(line)

    def do(self, hello: str | None, after: int = 0) -> None:
        """The deed."""
        self.did = True
        self.line_of_deed = self.connections
        wire = self.wire
        if self.fault in ("crash", "hang", "silent vanish", "never reads"):
            self.dead = True
            self.returns = self.fault == "never reads"
        deeds = {
            "crash": lambda: wire.drop(after),
            "hang": lambda: None,
            "slow bytes": lambda: wire.dribble(hello or self._slowly(), BYTE_EVERY, after),
            "half a line then close": lambda: (wire.bytes(b"MOV", after), wire.drop(after, self.back)),
            "reset": lambda: wire.reset(after, self.back),
            "silent vanish": lambda: wire.vanish(after),
            "flood": lambda: [wire.say("READY g1", after) for _ in range(130)],
            "never reads": wire.stop_reading,
            "garbage bytes": lambda: wire.bytes(b"\x00\xff\x1b[2J\xc3(\n", after),
            "over-long line": lambda: wire.overlong(after),
            "illegal move": lambda: wire.say("MOVE 0", after),
            "move out of turn": lambda: [wire.say("MOVE 7", after) for _ in range(12)],
        }
        deeds[self.fault]()

    def _slowly(self) -> str:
        return "MOVE 7" if "turn" in self.moment or "last" in self.moment else "PING x"


class Bob(Honest):
    """Plays honestly, and thinks for ten milliseconds each time."""

    thinking: int = THINKING

    def offered(self, game_id: str) -> None:
        self.wire.say(f"READY {game_id}")

    def answer(self, line: str) -> None:
        self.wire.say(line, self.thinking)


@dataclass
class Outcome:
    """What came of it, in the words of docs/faults.md.

    `record` is of the game in which it happened, or of ann's first; `other` of the other game.
    `told` is what the connection of the deed was sent that is no game. `took` is how long the
    game took from its offer to its result, in nanoseconds.
    """

    record: GameRecord | None
    other: GameRecord | None
    told: list[str]
    ending: str
    bob: list[bytes]
    took: int

    @property
    def verdict(self) -> str:
        """The fault and its ply."""
        if self.record is None:
            return "no game"
        faults = [f"{fault.kind} at ply {fault.ply}" for fault in self.record.faults]
        return ", ".join(faults) or "no fault"

    @property
    def connection(self) -> str:
        """What it was told, each once, and how it ended."""
        return ", ".join([*(f"`{text}`" for text in dict.fromkeys(self.told)), self.ending])

    @property
    def pays(self) -> str:
        """Who loses what by it: a clock, moves, or nothing."""
        zombie = self._first_zombie_ply
        if zombie:
            clock = "its clock, and " if self.waited >= 1 else ""
            return f"the bot: {clock}its moves from ply {zombie} on"
        return f"the bot: {self.waited:g} s of its clock" if self.waited else "nobody"

    @property
    def sees(self) -> str:
        """What it is like for bob."""
        if self.record is None:
            return "no game begins"
        zombie = self._first_zombie_ply
        if self.took > 30 * SECOND:
            return "30 s to `START`, then 6 after 6"
        if zombie:
            wait = f"{self.waited:.0f} s of waiting, then " if self.waited >= 1 else ""
            return f"{wait}6 after 6 from ply {zombie} on"
        return f"{self.waited:g} s of waiting" if self.waited else "a game like any other"

    @property
    def _first_zombie_ply(self) -> int:
        plies = self.record.plies if self.record is not None else ()
        return next((number for number, ply in enumerate(plies, start=1) if ply.zombie), 0)

    @property
    def waited(self) -> float:
        """The seconds that ann's moves took altogether."""
        plies = self.record.plies if self.record is not None else ()
        return sum(ply.time_ms for ply in plies if ply.time_ms not in (0, THINKING // MS)) / 1000


class Spectator:
    """Stands between shell and audit, and keeps what concerns one connection."""

    def __init__(self, world: World, ann: Ann) -> None:
        self.ann = ann
        self.told: list[str] = []
        self.ending = "kept"
        self._audit = world.checker
        self._over = False
        self._deed: int | None = None

    def handled(self, event: Event, effects: list[Effect], now: int) -> None:
        self._audit.handled(event, effects, now)
        if self._deed is None and self.ann.did:
            self._deed = self.ann.wire.conn  # type: ignore[attr-defined]
        self._over = self._over or any(isinstance(effect, Finished) for effect in effects)
        for effect in effects:
            if self._deed is not None and not self._over:
                self._keep(effect)

    def carried_out(self, effect: Effect, now: int) -> None:
        self._audit.carried_out(effect, now)

    def restarted(self, past: Past, power: bool, now: int) -> None:
        self._audit.restarted(past, power, now)

    def _keep(self, effect: Effect) -> None:
        if isinstance(effect, Send) and effect.conn == self._deed:
            self.told += [text for line in effect.data.splitlines() if (text := remark(line))]
        elif isinstance(effect, Close) and effect.conn == self._deed:
            self.ending = "closed"
        elif isinstance(effect, Note) and effect.event == "lost" and effect.fields["conn"] == self._deed:
            self.ending = f"lost ({effect.fields['reason']})"


def remark(line: bytes) -> str:
    """What a line says that is no part of a game; `` if it is one."""
    words = line.decode("ascii").split()
    return " ".join(words[:2]) if words[0] in ("ERROR", "BYE") else ""


def play(fault: str, moment: str) -> Outcome:
    """Play one cell. The simulation's audit looks on."""
    plan = ContestPlan(
        name="cell", seed=5, options={"plies": 6, "start": "empty"}, games_per_pair=2, absent_ms=120_000
    )
    ann_kind: type[Honest] = type("TheAnn", (Ann,), {"fault": fault, "moment": moment, "may": _any()})
    world = World(1, plan, {"ann": ann_kind, "bob": Bob, "eve": Honest}, CALM)
    ann = world.clients["ann"].bot
    assert isinstance(ann, Ann)
    onlooker = Spectator(world, ann)
    world.server.observer = onlooker
    world.run(3600 * SECOND, {"ann": 0, "bob": SECOND})
    assert ann.did, "the moment never came"
    record, other = ordered(list(world.records.values()), moment)
    bob = [line for connection in world.clients["bob"].connections for line in connection.lines]
    took = world.checker.took[record.game_id] if record is not None else 0
    return Outcome(record, other, onlooker.told, onlooker.ending, bob, took)


def ordered(records: list[GameRecord], moment: str) -> tuple[GameRecord | None, GameRecord | None]:
    """The game of the deed, and the other one."""
    first, second = [*records, None, None][:2]
    return (second, first) if moment == "after the end" else (first, second)


def _any() -> frozenset[str]:
    return frozenset(
        ("timeout", "illegal", "malformed", "flood", "out-of-turn", "disconnect", "never-ready", "quit")
    )
