"""Running games for the site: the lines of a spectator in, events for browsers out.

    LiveFeed --lines--> LiveHub --events--> channel of a game      snapshot, started, played, zombie, over
                                        --> channel of the wall    boards
                                        --> channel of the contest contest

All of it runs on the web thread's loop. The lines are those that any spectator gets, past the
contest's delay; nothing else of a running game reaches the site. Lines are parsed only for games
that a browser shows, and the feed is connected only while a browser watches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing, suppress
from typing import Any, Final, Protocol

from arena_protocol import messages as wire
from arena_protocol.errors import ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_server.web.streams import Channel, Viewer, encode_event

#: How long the feed stays connected after the last viewer has gone.
LINGER_S: Final = 30.0
#: A browser without an event for longer than this knows that its connection is dead.
SYNC_S: Final = 10.0
#: Events of the wall and of the contest are collected for so long.
WALL_S: Final = 0.5
CONTEST_S: Final = 2.0
#: Games shown on the wall, and games listed as running.
WALL_GAMES: Final = 60
LISTED_GAMES: Final = 200
#: A browser that comes back and missed more events than this gets a snapshot instead.
MISSED: Final = 50
#: How long a game stays after its end, for browsers that come back to it.
KEPT_S: Final = 120.0
RETRY_S: Final = (0.5, 1.0, 2.0, 5.0)


#: Opens a connection to the referee.
Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class FeedError(Exception):
    """The feed cannot be read; the text says why in one line."""


class LiveFeed(Protocol):
    """Where the lines come from."""

    def lines(self) -> AsyncGenerator[list[bytes], None]:
        """Batches of lines, without line ends, that a `WATCH *` spectator receives after WELCOME.

        It begins with what has been shown of the running games, then an empty batch. Raises
        FeedError; ends when the contest is over.
        """


class SocketFeed:
    """A spectator's connection to the referee's own port."""

    def __init__(
        self, connect: Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
    ) -> None:
        self._connect = connect

    async def lines(self) -> AsyncGenerator[list[bytes], None]:
        try:
            reader, writer = await self._connect()
        except OSError as error:
            raise FeedError(f"the referee cannot be reached: {error}") from None
        try:
            # PONG follows the lines of the running games.
            writer.write(b"HELLO 1 web role=spectator agent=web/1\nWATCH *\nPING shown\n")
            buffer = LineReader(SERVER_LINE_LIMIT)
            while data := await reader.read(65536):
                lines = [line for line in buffer.feed(data) if not isinstance(line, Overlong)]
                yield [line for line in lines if game_of(line) is not None]
                for line in lines:
                    verb, _, rest = line.partition(b" ")
                    if verb == b"PING":
                        writer.write(b"PONG " + rest + b"\n")
                    elif verb == b"PONG":
                        yield []
                    elif verb == b"ERROR":
                        raise FeedError(rest.decode("latin-1"))
                    elif verb == b"BYE":
                        return
        except OSError as error:
            raise FeedError(f"the connection to the referee is lost: {error}") from None
        finally:
            writer.close()
        raise FeedError("the referee closed the connection")


def game_of(line: bytes) -> str | None:
    """The id of the game that a spectator's line is about."""
    verb, _, rest = line.partition(b" ")
    if verb in (b"GAME", b"START", b"OVER"):
        return rest.partition(b" ")[0].decode("latin-1") or None
    tag = line.rfind(b" game=")
    return None if tag < 0 else line[tag + 6 :].partition(b" ")[0].decode("latin-1")


class LiveGame:
    """One running game. `read` catches up with its lines; the rest is what is known then."""

    def __init__(self, game_id: str, epoch: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.game_id = game_id
        self.channel = Channel()
        self.plies = 0
        self.over = False
        self.changed = True
        self._epoch = epoch
        self._clock = clock
        self._pending: list[bytes] = []
        self._info: dict[str, Any] = {}
        self._rules: Game[Any] | None = None
        self._position: Any = None
        self._sequence = ""
        self._played: list[dict[str, Any]] = []
        self._faults: list[dict[str, Any]] = []
        self._end: dict[str, Any] | None = None
        self._started = False
        self._events: list[bytes] = []
        #: When the last line came.
        self._at = clock()

    def add(self, line: bytes) -> None:
        """Take one line; it is parsed at the next `read`, at once for a game that is watched."""
        self._pending.append(line)
        self._at = self._clock()
        self.changed = True
        if line.startswith(b"PLAYED "):
            self.plies += 1
        elif line.startswith(b"OVER "):
            self.over = True
        if self.channel.viewers:
            self.read()

    def read(self) -> None:
        """Parse what came, and publish an event for each line. Lines that make no sense are skipped."""
        pending, self._pending = self._pending, []
        for line in pending:
            with suppress(ProtocolError, GameError):
                message = wire.parse_server(line)
                event = None if message is None else self._event(message)
                if event is not None:
                    kind, data = event
                    encoded = encode_event(kind, data, f"{self._epoch}-{len(self._events) + 1}")
                    self._events.append(encoded)
                    self.channel.publish(encoded)

    def _event(self, message: wire.ServerMessage) -> tuple[str, dict[str, Any]] | None:
        match message:
            case wire.Game():
                self._info = plain_game(message)
                self._rules = make_game(message.game, {**message.options, "seats": message.seats})
            case wire.State(text):
                self._info["board"] = text
                self._begin()
            case wire.Next(text):
                self._sequence = text
                self._info["sequence"] = text
                self._begin()
            case wire.Start():
                self._started = True
                return "started", {}
            case wire.Played():
                return "played", self._play(message)
            case wire.Zombie():
                fault = {
                    "seat": message.seat,
                    "ply": message.ply,
                    "kind": message.reason,
                    "line": (message.line or b"").hex(),
                }
                self._faults.append(fault)
                return "zombie", fault
            case wire.Over():
                self._end = {
                    "end": message.end,
                    "totals": list(message.total),
                    "nonce": message.nonce,
                    "sequence": message.sequence,
                }
                return "over", self._end
        return None

    def _begin(self) -> None:
        assert self._rules is not None
        self._position = self._rules.start(Deal(self._info["board"], self._sequence))

    def _play(self, message: wire.Played) -> dict[str, Any]:
        assert self._rules is not None
        self._position = self._rules.play(self._position, message.move).position
        if message.reveal is not None:
            self._position = self._rules.extend(self._position, message.reveal)
        ply = {
            "ply": message.ply,
            "seat": message.seat,
            "move": message.move,
            "time_ms": message.time,
            "clock": list(message.clock),
            "points": message.points,
            "total": list(message.total),
            "reveal": message.reveal,
            "zombie": any(fault["seat"] == message.seat for fault in self._faults),
        }
        self._played.append(ply)
        return ply | {"state": self.state()}

    def state(self) -> str:
        """The position as STATE prints it."""
        return "" if self._rules is None else self._rules.state_text(self._position)

    def snapshot(self) -> dict[str, Any]:
        """Everything that has been shown of the game."""
        self.read()
        return {
            "game": self._info,
            "started": self._started,
            "plies": self._played,
            "faults": self._faults,
            "state": self.state(),
            "over": self._end,
            "since_ms": self.since_ms(),
        }

    def since_ms(self) -> int:
        """Milliseconds since the last line: how long the clock of the seat to move has run."""
        return int(1000 * (self._clock() - self._at))

    def join(self, viewer: Viewer, last_id: str | None) -> list[bytes]:
        """Subscribe a viewer: what it missed if that is little, else a snapshot; then a sync."""
        self.read()
        self.channel.viewers.add(viewer)
        epoch, _, number = (last_id or "").rpartition("-")
        seen = int(number) if epoch == self._epoch and number.isascii() and number.isdigit() else -1
        if len(self._events) - MISSED <= seen <= len(self._events):
            return [*self._events[seen:], self.sync()]
        here = f"{self._epoch}-{len(self._events)}"
        return [encode_event("snapshot", self.snapshot(), here)]

    def sync(self) -> bytes:
        """A sign of life with the age of the last line, by which clocks are set right."""
        return encode_event("sync", {"since_ms": self.since_ms(), "plies": self.plies})

    def summary(self) -> dict[str, Any]:
        """The game as the wall shows it."""
        self.read()
        totals = self._played[-1]["total"] if self._played else [0] * len(self._info.get("names", ()))
        clocks = self._played[-1]["clock"] if self._played else None
        last = self._played[-1] if self._played else None
        return {
            "game_id": self.game_id,
            "game": self._info.get("game"),
            "options": self._info.get("options"),
            "names": self._info.get("names"),
            "state": self.state(),
            "ply": self.plies,
            "last": None if last is None else {"seat": last["seat"], "move": last["move"]},
            "visible": self._sequence_visible(),
            "totals": totals if self._end is None else self._end["totals"],
            "clock": clocks,
            "clock_ms": self._info.get("clock_ms"),
            "end": None if self._end is None else self._end["end"],
        }

    def _sequence_visible(self) -> str:
        return getattr(self._position, "visible", "")

    def line_item(self) -> dict[str, Any]:
        """The game in the list of running ones."""
        self.read()
        return {"game_id": self.game_id, "names": self._info.get("names"), "plies": self.plies}


def plain_game(message: wire.Game) -> dict[str, Any]:
    return {
        "game_id": message.game_id,
        "game": message.game,
        "options": dict(message.options),
        "names": list(message.names),
        "clock_ms": message.clock,
        "increment_ms": message.increment,
        "zombie": message.zombie,
        "commit": message.commit,
        "board": "",
        "sequence": "",
    }


class LiveHub:
    """All running games, and the channels of the site. Every method runs on the web thread's loop."""

    def __init__(
        self,
        feed: LiveFeed,
        contest: Callable[[], Awaitable[dict[str, Any]]],
        epoch: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`contest` gives the document of the contest channel, without the running games."""
        self.games: dict[str, LiveGame] = {}
        #: Why there are no live games; None while the feed works.
        self.problem: str | None = "not connected yet"
        self.wall = Channel()
        self.board = Channel()
        self._feed = feed
        self._contest = contest
        self._epoch = epoch
        self._connections = 0
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self._linger: asyncio.TimerHandle | None = None
        self._shown = asyncio.Event()
        self._viewers = 0
        self._contest_event = b""
        self._over = False

    # -- viewers

    async def ready(self) -> None:
        """Wait until the feed has delivered its first lines, or has failed."""
        self._start()
        with suppress(TimeoutError):
            async with asyncio.timeout(5):
                await self._shown.wait()

    def arrive(self) -> None:
        """Count a viewer: the feed stays connected."""
        self._viewers += 1
        self._start()

    def depart(self) -> None:
        """A viewer has gone; without any the feed is left after LINGER_S."""
        self._viewers -= 1
        if not self._viewers:
            self._linger = asyncio.get_running_loop().call_later(LINGER_S, self.stop)

    def _start(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        if not self._tasks and not self._over:
            self._tasks = [
                asyncio.create_task(self._read()),
                asyncio.create_task(self._every(SYNC_S, self._sync)),
                asyncio.create_task(self._every(WALL_S, self._publish_wall)),
                asyncio.create_task(self._every(CONTEST_S, self._publish_contest)),
            ]
            for task in self._tasks:
                task.add_done_callback(_report)

    def stop(self) -> None:
        """Leave the feed and forget the games."""
        for task in self._tasks:
            task.cancel()
        self._tasks = []
        self._shown.clear()
        self._drop_games()
        self.problem = "not connected yet"

    # -- the feed

    async def _read(self) -> None:
        failures = 0
        while not self._over:
            self._connections += 1
            try:
                async with aclosing(self._feed.lines()) as batches:
                    async for lines in batches:
                        self._take(lines)
                        if not lines:
                            failures = 0
                            self.problem = None
                            self._shown.set()
                self._over = True
            except FeedError as error:
                self.problem = str(error)
                self._shown.set()
                self._drop_games()
                await asyncio.sleep(RETRY_S[min(failures, len(RETRY_S) - 1)])
                failures += 1

    def _take(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            game_id = game_of(line)
            if game_id is None:
                continue
            game = self.games.get(game_id)
            if game is None:
                if not line.startswith(b"GAME "):
                    continue
                game = self.games[game_id] = LiveGame(
                    game_id, f"{self._epoch}.{self._connections}", self._clock
                )
            game.add(line)
            if game.over:
                asyncio.get_running_loop().call_later(KEPT_S, self._forget, game)

    def _forget(self, game: LiveGame) -> None:
        if self.games.get(game.game_id) is game and not game.channel.viewers:
            del self.games[game.game_id]

    def _drop_games(self) -> None:
        """The feed starts again: browsers come back and get snapshots."""
        for game in self.games.values():
            for viewer in tuple(game.channel.viewers):
                viewer.close()
        self.games.clear()

    # -- what is published at intervals

    @staticmethod
    async def _every(seconds: float, publish: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            await publish()

    async def _sync(self) -> None:
        for game in self.games.values():
            if game.channel.viewers:
                game.channel.publish(game.sync())
        self.wall.publish(encode_event("sync", {}))
        self.board.publish(encode_event("sync", {}))

    async def _publish_wall(self) -> None:
        if self.wall.viewers:
            shown = self._on_wall()
            changed = [game.summary() for game in shown if game.changed]
            if changed:
                for game in shown:
                    game.changed = False
                self.wall.publish(
                    encode_event("boards", {"changed": changed, "shown": [game.game_id for game in shown]})
                )

    def _on_wall(self) -> list[LiveGame]:
        running = [game for game in self.games.values() if not game.over]
        over = [game for game in self.games.values() if game.over]
        return [*running, *over[::-1]][:WALL_GAMES]

    def wall_snapshot(self) -> bytes:
        """All boards of the wall."""
        shown = self._on_wall()
        boards = {"changed": [game.summary() for game in shown], "shown": [game.game_id for game in shown]}
        return encode_event("boards", boards)

    async def _publish_contest(self) -> None:
        if self.board.viewers:
            event = await self.contest_event()
            if event != self._contest_event:
                self._contest_event = event
                self.board.publish(event)

    async def contest_event(self) -> bytes:
        """The contest with its standings and running games."""
        return encode_event("contest", await self._contest() | {"running": self.running()})

    def running(self) -> list[dict[str, Any]]:
        """The games that run, the oldest first."""
        games = [game for game in self.games.values() if not game.over]
        return [game.line_item() for game in games[:LISTED_GAMES]]


def _report(task: asyncio.Task[None]) -> None:
    """Log an error of ours that ended a task."""
    if not task.cancelled() and task.exception() is not None:
        task.get_loop().call_exception_handler(
            {"message": "the live pages have failed", "exception": task.exception(), "task": task}
        )
