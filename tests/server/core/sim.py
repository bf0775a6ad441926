"""A contest in virtual time: network, disk and bots out of one seed, and no socket.

Every connection delivers its lines in order, each direction with a latency of its own; a
record becomes durable after a while; TURN reaches the socket a little after it is said; the
referee stalls now and then, so that lines are handled later than they arrived. Like the
real shell, the simulated one hands over all lines that have arrived before it ticks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heappop, heappush
from random import Random

from arena_protocol.errors import LocalProtocolError, ProtocolError
from arena_protocol.messages import parse_client
from arena_protocol.record import GameRecord
from arena_protocol.session import ClientSession
from arena_server.core.contest import Contest
from arena_server.core.effects import Close, Effect, Finished, Mute, Note, Send, Store, Unmute
from arena_server.core.events import Event, Handed, Lost, Opened, Overlong, Received, Stored, Tick
from arena_server.core.plan import ContestPlan, Entrant

from .zoo import MS, Honest, Onlooker


@dataclass(eq=False)
class Line:
    """One simulated connection, seen from the network. `heard` is all that came to the client."""

    conn: int
    host: Host
    session: ClientSession = field(default_factory=ClientSession)
    heard: list[bytes] = field(default_factory=list)
    #: The client has said what it may not, so that its own view of the order is off.
    unruly: bool = False
    muted: bool = False
    held: list[tuple[bytes | None, int]] = field(default_factory=list)
    to_server: int = 0
    to_client: int = 0


class Host:
    """The machine that one bot runs on: it connects, and connects again."""

    def __init__(self, world: World, name: str, kind: type[Honest], rng: Random) -> None:
        self.world = world
        self.name = name
        self.rng = rng
        self.bot = kind(rng, self)
        self.line: Line | None = None
        self.resume: str | None = None
        self.lines: list[Line] = []

    def connect(self) -> None:
        self.line = self.world.open(self)
        self.lines.append(self.line)

    def heard(self, line: Line, text: bytes) -> None:
        """A line of the server's reached the client."""
        if line is not self.line:
            return
        line.heard.append(text)
        if not line.unruly:
            line.session.receive(text)  # raises if the server may not say this now
        tokens = text.decode("ascii").split()
        if tokens[0] == "ARENA":
            key = f" resume={self.resume}" if self.resume and self.bot.resumes else ""
            self.say(f"HELLO 1 {self.name}{key}")
        if tokens[0] == "WELCOME":
            self.resume = tokens[3].partition("=")[2]
        self.bot.heard(tokens[0], tokens)

    def cut(self, line: Line) -> None:
        """The server closed the connection: come back, unless the contest is over or we were refused."""
        last = line.heard[-1].decode("ascii") if line.heard else ""
        if line is self.line:
            self.line = None
            if last.startswith("ERROR flood"):
                self.world.at(50 * MS, self.connect)
            elif last.startswith("ERROR token"):
                self.resume = None
                self.world.at(50 * MS, self.connect)
            elif last.startswith("ERROR name-taken"):
                self.world.at(50 * MS, self.connect)

    # -- what the bot can do (zoo.Wire)

    def say(self, line: str, after: int = 0) -> None:
        """Send a line, on the connection that is open now."""
        here = self.line
        self.world.at(after, lambda: self._send(here, line))

    def _send(self, line: Line | None, text: str) -> None:
        if line is not None and line is self.line:
            data = text.encode("latin-1")
            try:
                message = parse_client(data)
                if message is not None:
                    line.session.send(message)
            except ProtocolError:
                pass  # the bot misbehaves; the server will say what it thinks of it
            except LocalProtocolError:
                line.unruly = True
            self.world.uplink(line, data)

    def overlong(self, after: int = 0) -> None:
        here = self.line
        self.world.at(after, lambda: self._overlong(here))

    def _overlong(self, line: Line | None) -> None:
        if line is not None and line is self.line:
            self.world.uplink(line, None)

    def drop(self, after: int = 0, back: int | None = None) -> None:
        here = self.line
        self.world.at(after, lambda: self._drop(here, back))

    def _drop(self, line: Line | None, back: int | None) -> None:
        if line is self.line:
            self.line = None
            if line is not None:
                self.world.lose(line)
            if back is not None:
                self.world.at(back, self._reconnect)

    def _reconnect(self) -> None:
        if self.line is None:
            self.connect()


class World:
    """One contest, its bots and everything between them. `run` plays it to its end."""

    def __init__(self, seed: int, plan: ContestPlan, zoo: dict[str, type[Honest]]) -> None:
        self.rng = Random(seed)
        self.plan = plan
        self.zoo = zoo
        self.now = 0
        self.busy_until = 0
        entrants = [Entrant(name, plays=kind is not Onlooker) for name, kind in zoo.items()]
        secrets = Random(self.rng.getrandbits(64))
        self.contest = Contest(plan, entrants, lambda n: secrets.randbytes(n).hex(), 0)
        self.hosts = {
            name: Host(self, name, kind, Random(self.rng.getrandbits(64))) for name, kind in zoo.items()
        }
        self.lines: dict[int, Line] = {}
        self.records: dict[str, GameRecord] = {}
        self.awaited: set[str] = set()
        self.durable: set[str] = set()
        self.offered: dict[str, int] = {}
        self.took: dict[str, int] = {}
        self.finished: str | None = None
        self.events = 0
        self.digest = sha256()
        self._queue: list[tuple[int, int, Callable[[], object]]] = []
        self._order = 0

    def at(self, after: int, action: Callable[[], object]) -> None:
        self._order += 1
        heappush(self._queue, (self.now + after, self._order, action))

    def run(self, limit: int) -> None:
        """Play until the contest has finished and all is quiet, `limit` nanoseconds at most."""
        for host in self.hosts.values():
            self.at(self.rng.randrange(50 * MS), host.connect)
        while self.now < limit:
            deadline = self.contest.deadline
            if self._queue and (deadline is None or self._queue[0][0] <= deadline):
                self.now, _, action = heappop(self._queue)
                action()
            elif deadline is not None:
                self.now = max(self.now, deadline)
                self.handle(Tick())
            else:
                return
        raise AssertionError(f"the contest has not ended after {limit / 1e9:.0f} s of virtual time")

    # -- the server's side

    def handle(self, event: Event) -> None:
        """Let the contest judge an event, now or when the referee's stall is over."""
        if self.rng.randrange(400) == 0:
            self.busy_until = self.now + self.rng.randrange(20 * MS)
        self.events += 1
        for effect in self.contest.handle(event, max(self.now, self.busy_until)):
            self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, Send):
            self.digest.update(b"%d %b" % (effect.conn, effect.data))
            self._send(effect)
        elif isinstance(effect, Store):
            self._store(effect)
        elif isinstance(effect, Finished):
            assert self.finished is None
            self.finished = effect.reason
        elif isinstance(effect, Note):
            self._note(effect)
        else:
            self._control(effect)

    def _control(self, effect: Close | Mute | Unmute) -> None:
        line = self.lines.get(effect.conn)
        if line is None:
            return
        if isinstance(effect, Close):
            del self.lines[effect.conn]
            self._downlink(line, lambda: line.host.cut(line))
        elif isinstance(effect, Mute):
            line.muted = True
        else:
            line.muted = False
            held, line.held = line.held, []
            for data, arrived in held:
                self._receive(line, data, arrived)

    def _note(self, note: Note) -> None:
        game = str(note.fields.get("game"))
        if note.event == "game":
            self.offered[game] = self.now

    def _store(self, effect: Store) -> None:
        assert effect.game_id not in self.records, "a second result"
        self.records[effect.game_id] = effect.record
        self.awaited.add(effect.game_id)
        self.took[effect.game_id] = self.now - self.offered[effect.game_id]
        self.at(self.rng.randrange(5 * MS), lambda: self._stored(effect.game_id))

    def _stored(self, game_id: str) -> None:
        self.awaited.discard(game_id)
        self.durable.add(game_id)
        self.handle(Stored(game_id))

    def _send(self, effect: Send) -> None:
        for game_id in self.awaited:
            assert f"OVER {game_id} ".encode() not in effect.data, "told before it was durable"
        line = self.lines.get(effect.conn)
        if line is None:
            return
        if effect.turn is not None:
            if not line.host.bot.reads:
                return
            game_id, ply = effect.turn
            late = self.rng.randrange(50_000) if self.rng.randrange(3) == 0 else 0
            self.at(late, lambda: self._handed(line, game_id, ply))
        for text in effect.data.splitlines():
            self._downlink(line, lambda text=text: line.host.heard(line, text))  # type: ignore[misc]

    def _handed(self, line: Line, game_id: str, ply: int) -> None:
        if line.conn in self.lines:
            self.handle(Handed(line.conn, game_id, ply, self.now))

    # -- the network

    def open(self, host: Host) -> Line:
        line = Line(len(host.lines) * 1000 + list(self.hosts).index(host.name) + 1, host)
        self.lines[line.conn] = line
        self.at(self._latency(), lambda: self.handle(Opened(line.conn, host.name)))
        return line

    def _latency(self) -> int:
        return self.rng.randrange(100_000, 2 * MS)

    def _downlink(self, line: Line, action: Callable[[], object]) -> None:
        line.to_client = max(line.to_client, self.now + 50_000 + self._latency())
        self.at(line.to_client - self.now, action)

    def uplink(self, line: Line, data: bytes | None) -> None:
        """Bytes of a client on their way; None is a line too long."""
        line.to_server = max(line.to_server, self.now + self._latency())
        moment = line.to_server
        self.at(moment - self.now, lambda: self._receive(line, data, moment))

    def _receive(self, line: Line, data: bytes | None, arrived: int) -> None:
        if line.conn not in self.lines:
            return
        if line.muted:
            line.held.append((data, arrived))
        elif data is None:
            self.handle(Overlong(line.conn, arrived, b"MOVE"))
        else:
            self.handle(Received(line.conn, data, arrived))

    def lose(self, line: Line) -> None:
        """The client cut the connection; the server notices after what was under way."""
        line.to_server = max(line.to_server, self.now + self._latency())
        self.at(line.to_server - self.now, lambda: self._lost(line))

    def _lost(self, line: Line) -> None:
        if self.lines.pop(line.conn, None) is not None:
            self.handle(Lost(line.conn, "gone"))
