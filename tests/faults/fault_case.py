"""One cell of the fault table: a bot does one thing wrong at one moment, and what comes of it.

The case is a simulated contest with the published limits and no chance in it: `ann` is at fault, `bob`
plays honestly, `eve` is entered and never connects, so that the contest stays open for a while after
the last game of ann and bob. ann has seat 1 in g1 and thinks for no time; bob for ten milliseconds a
move. A game has six plies.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.simulation.bots import OVERLONG, Honest, Wire
from tests.simulation.network import CALM, MS, SECOND
from tests.simulation.world import World

from arena_client.script import Act, Close, Raw, Say, StopReading, drip
from arena_protocol.record import FaultKind, GameRecord
from arena_server.core import effects
from arena_server.core.effects import Effect, Finished, Send
from arena_server.core.events import Event
from arena_server.core.journal import Past
from arena_server.core.log_events import ConnectionLost
from arena_server.terms.config import ContestConfig

FAULTS = (
    "crash", "hang", "slow bytes", "half a line then close", "reset", "silent vanish", "flood",
    "never reads", "garbage bytes", "over-long line", "illegal move", "move out of turn",
)  # fmt: skip
MOMENTS = (
    "before login", "waiting for a game", "own turn", "other's turn", "at the last millisecond",
    "after the end",
)  # fmt: skip

THINKING = 10 * MS
BYTE_EVERY_MS = 5_000
BACK = 100 * MS


class Ann(Honest):
    """Makes `fault` once, at `moment`."""

    fault: str
    moment: str
    back: int = BACK

    def __init__(self, rng: Random, wire: Wire) -> None:
        super().__init__(rng, wire)
        self.done = False
        self.dead = False
        #: The number of the connection on which the fault was made (1, 2, ...), and of the last one.
        self.faulty_connection = 0
        self.connections = 0
        self.games = 0

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str | None:
        self.connections += 1
        hello = super().hello(name, token, resume, rivals)
        if self.moment == "before login" and not self.done:
            self.do(hello)
            return None
        return None if self.dead else hello

    def received(self, verb: str, tokens: list[str]) -> None:
        self.games += verb == "OVER"
        if self._is_the_moment(verb, tokens):
            self.do(None, self.wire.clock_ms * MS if self.moment == "at the last millisecond" else 0)
        elif not self.dead:
            super().received(verb, tokens)

    def _is_the_moment(self, verb: str, tokens: list[str]) -> bool:
        return not self.done and (
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
        """Make the fault, `after` nanoseconds from now."""
        self.done = True
        self.faulty_connection = self.connections
        if self.fault in ("crash", "hang", "silent vanish", "never reads"):
            self.dead = True
            self.returns = self.fault == "never reads"
        if self.fault == "silent vanish":
            self.wire.vanish(after)
        else:
            back = self.back if self.fault in ("half a line then close", "reset") else None
            self.wire.act(*self._acts(hello), after=after, back=back)

    def _acts(self, hello: str | None) -> tuple[Act, ...]:
        turn = "turn" in self.moment or "last" in self.moment
        acts: dict[str, tuple[Act, ...]] = {
            "crash": (Close(),),
            "hang": (),
            # The first byte at once, and one every five seconds after it.
            "slow bytes": drip(hello or ("MOVE 7" if turn else "PING x"), BYTE_EVERY_MS)[1:],
            "half a line then close": (Raw(b"MOV"), Close()),
            "reset": (Close(reset=True),),
            "flood": (Say("READY g1", 130),),
            "never reads": (StopReading(),),
            "garbage bytes": (Raw(b"\x00\xff\x1b[2J\xc3(\n"),),
            "over-long line": (OVERLONG,),
            "illegal move": (Say("MOVE 0"),),
            "move out of turn": (Say("MOVE 7", 12),),
        }
        return acts[self.fault]


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

    `record` is of the game in which the fault was made, or of ann's first; `other` of the other game.
    `lines` is what the faulty connection was sent that is not part of a game, `bob` all that bob
    received. `took` is the time from the game's offer to its result, in nanoseconds.
    """

    record: GameRecord | None
    other: GameRecord | None
    lines: list[str]
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
        """Its lines, each once, and how it ended."""
        return ", ".join([*(f"`{text}`" for text in dict.fromkeys(self.lines)), self.ending])

    @property
    def cost(self) -> str:
        """What the fault costs its bot: a clock, moves, or nothing."""
        zombie = self._first_zombie_ply
        if zombie:
            clock = "its clock, and " if self.waited >= 1 else ""
            return f"{clock}its moves from ply {zombie} on"
        return f"{self.waited:g} s of its clock" if self.waited else "nothing"

    @property
    def seen(self) -> str:
        """What bob sees of it."""
        if self.record is None:
            return "no game"
        zombie = self._first_zombie_ply
        if self.took > 30 * SECOND:
            return "`START` after 30 s, then only moves 6"
        if zombie:
            wait = f"{self.waited:.0f} s of waiting, then " if self.waited >= 1 else ""
            return f"{wait}only moves 6 from ply {zombie} on"
        return f"{self.waited:g} s of waiting" if self.waited else "a normal game"

    @property
    def _first_zombie_ply(self) -> int:
        plies = self.record.plies if self.record is not None else ()
        return next((number for number, ply in enumerate(plies, start=1) if ply.zombie), 0)

    @property
    def waited(self) -> float:
        """The seconds that ann's moves took altogether."""
        plies = self.record.plies if self.record is not None else ()
        return sum(ply.time_ms for ply in plies if ply.time_ms not in (0, THINKING // MS)) / 1000


class ConnectionObserver:
    """Observes the faulty connection, and passes everything on to the invariant checker."""

    def __init__(self, world: World, ann: Ann) -> None:
        self.ann = ann
        self.lines: list[str] = []
        self.ending = "kept"
        self._checker = world.checker
        self._over = False
        self._conn: int | None = None

    def handled(self, event: Event, effects: list[Effect], now: int) -> None:
        self._checker.handled(event, effects, now)
        self._see(effects)

    def routed(self, event: Event, effects: list[Effect], now: int) -> None:
        self._checker.routed(event, effects, now)
        self._see(effects)

    def _see(self, effects: list[Effect]) -> None:
        if self._conn is None and self.ann.done:
            self._conn = self.ann.wire.conn  # type: ignore[attr-defined]
        self._over = self._over or any(map(ends, effects))
        for effect in effects:
            if self._conn is not None and not self._over:
                self._keep(effect)

    def carried_out(self, effect: Effect, now: int) -> None:
        self._checker.carried_out(effect, now)

    def restarted(self, past: Past, power: bool, now: int) -> None:
        self._checker.restarted(past, power, now)

    def _keep(self, effect: Effect) -> None:
        if isinstance(effect, Send) and effect.conn == self._conn:
            self.lines += [text for line in effect.data.splitlines() if (text := outside_games(line))]
        elif isinstance(effect, effects.CloseConnection) and effect.conn == self._conn:
            self.ending = "closed"
        elif isinstance(effect, ConnectionLost) and effect.conn == self._conn:
            self.ending = f"lost ({effect.reason})"


def ends(effect: Effect) -> bool:
    """Whether the contest is over: its bots learn that before it waits for its spectators."""
    return isinstance(effect, Finished) or (
        isinstance(effect, Send)
        and effect.data.startswith((b"BYE reason=finished", b"BYE reason=incomplete"))
    )


def outside_games(line: bytes) -> str:
    """The first two words of a line that is not part of a game; an empty text for one that is."""
    words = line.decode("ascii").split()
    return " ".join(words[:2]) if words[0] in ("ERROR", "BYE") else ""


def play(fault: str, moment: str) -> Outcome:
    """Play one cell; the simulation's invariants are checked."""
    options: dict[str, object] = {"plies": 6, "start": "empty"}
    config = ContestConfig(name="cell", seed=5, options=options, games_per_pair=2, absent_ms=120_000)
    may = frozenset(FaultKind) - {FaultKind.VOID}
    kind: type[Honest] = type("TheAnn", (Ann,), {"fault": fault, "moment": moment, "may": may})
    world = World(1, config, {"ann": kind, "bob": Bob, "eve": Honest}, CALM)
    ann = world.clients["ann"].bot
    assert isinstance(ann, Ann)
    observer = ConnectionObserver(world, ann)
    world.server.observe(config.name, observer)
    world.run(3600 * SECOND, {"ann": 0, "bob": SECOND})
    assert ann.done, "the moment never came"
    record, other = ordered(list(world.records.values()), moment)
    bob = [line for connection in world.clients["bob"].connections for line in connection.lines]
    took = world.checker.took[record.game_id] if record is not None else 0
    return Outcome(record, other, observer.lines, observer.ending, bob, took)


def ordered(records: list[GameRecord], moment: str) -> tuple[GameRecord | None, GameRecord | None]:
    """The game of the fault, and the other one."""
    first, second = [*records, None, None][:2]
    return (second, first) if moment == "after the end" else (first, second)
