"""Running games for the site: what spectators may see in, events for browsers out.

    LiveFeed --games with news--> LiveHub --> channel of a game       snapshot, started, played, ..., over
                                          --> channel of the wall     boards
                                          --> channel of the contest  contest

All of it runs on the web thread's loop. A feed gives what any spectator may see, past the contest's
delay; nothing else of a running game reaches the site. Games are read only if a browser shows
them, and there is a feed only while a browser watches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing, suppress
from typing import Any, Final

from arena_server.errors import ArenaError
from arena_server.web.feeds import FeedError, LiveFeed
from arena_server.web.gamestream import GameSource, GameStream
from arena_server.web.streams import Channel, encode_event

#: How long the feed stays connected after the last viewer has gone.
LINGER_S: Final = 30.0
#: A browser without an event for longer than this knows that its connection is dead.
SYNC_S: Final = 10.0
#: Events of the wall and of the contest are collected for so long: a board that is drawn once a second takes
#: 0.3 s a minute of a page's main thread, however quick its game is.
WALL_S: Final = 1.0
CONTEST_S: Final = 2.0
#: Games shown on the wall, and games listed as running.
WALL_GAMES: Final = 60
#: Games that are over are shown as long as there are fewer games than this.
WALL_FILL: Final = 4
LISTED_GAMES: Final = 200
#: How long a game stays after its end, for browsers that come back to it.
KEPT_S: Final = 120.0
RETRY_S: Final = (0.5, 1.0, 2.0, 5.0)


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
        self.games: dict[str, GameStream] = {}
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
        self._contest_event = self._contest_published = b""
        #: The games that the wall had last, and the problem.
        self._shown_on_wall: tuple[list[str], str | None] = [], None
        #: When `_contest_event` was made: viewers that come within CONTEST_S share it.
        self._contest_at = -CONTEST_S
        self._contest_lock = asyncio.Lock()
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

    @property
    def watched(self) -> bool:
        """Whether there are viewers."""
        return self._viewers > 0

    def count_viewers(self) -> int:
        """How many browsers watch, each of them with one stream or several."""
        channels = [self.wall, self.board, *(game.channel for game in self.games.values())]
        return len({viewer.connection for channel in channels for viewer in channel.viewers})

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
                async with aclosing(self._feed.batches()) as batches:
                    async for games in batches:
                        failures = 0
                        self.problem = None
                        self._take(games)
                        self._shown.set()
                self._over = True
            except FeedError as error:
                self.problem = str(error)
                self._shown.set()
                self._drop_games()
                await asyncio.sleep(RETRY_S[min(failures, len(RETRY_S) - 1)])
                failures += 1

    def _take(self, games: Iterable[GameSource]) -> None:
        """Games have news: publish those of games with viewers."""
        for source in games:
            game = self.games.get(source.game_id)
            if game is None or game.source is not source:
                if game is not None:
                    _send_away(game)
                epoch = f"{self._epoch}.{self._connections}"
                game = self.games[source.game_id] = GameStream(source, epoch, self._clock)
            game.changed = True
            if game.channel.viewers:
                game.read()
            if source.over:
                asyncio.get_running_loop().call_later(KEPT_S, self._forget, game)

    def _forget(self, game: GameStream) -> None:
        if self.games.get(game.game_id) is game and not game.channel.viewers:
            del self.games[game.game_id]

    def _drop_games(self) -> None:
        """The feed starts again: browsers come back and get snapshots."""
        for game in self.games.values():
            _send_away(game)
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
            names = [game.game_id for game in shown]
            # A game leaves without a change of any.
            if changed or (names, self.problem) != self._shown_on_wall:
                self._shown_on_wall = names, self.problem
                for game in shown:
                    game.changed = False
                self.wall.publish(self._boards(changed, names))

    def _on_wall(self) -> list[GameStream]:
        running = [game for game in self.games.values() if not game.over]
        over = [game for game in self.games.values() if game.over]
        return [*running, *over[::-1][: max(0, WALL_FILL - len(running))]][:WALL_GAMES]

    def wall_snapshot(self) -> bytes:
        """All boards of the wall."""
        shown = self._on_wall()
        return self._boards([game.summary() for game in shown], [game.game_id for game in shown])

    def _boards(self, changed: list[dict[str, Any]], shown: list[str]) -> bytes:
        return encode_event("boards", {"changed": changed, "shown": shown, "live": self.problem})

    async def _publish_contest(self) -> None:
        if self.board.viewers:
            try:
                event = await self.contest_event()
            except ArenaError:
                return  # the database is away: viewers keep what they have until it answers
            if event != self._contest_published:
                self._contest_published = event
                self.board.publish(event)

    async def contest_event(self) -> bytes:
        """The contest with its standings and running games, of the last CONTEST_S."""
        async with self._contest_lock:
            if self._clock() - self._contest_at >= CONTEST_S:
                document = await self._contest() | {
                    "running": self.running(),
                    "viewers": self.count_viewers(),
                }
                self._contest_event = encode_event("contest", document)
                self._contest_at = self._clock()
        return self._contest_event

    def running(self) -> list[dict[str, Any]]:
        """The games that run, the oldest first."""
        games = [game for game in self.games.values() if not game.over]
        return [game.line_item() for game in games[:LISTED_GAMES]]


def _send_away(game: GameStream) -> None:
    for viewer in tuple(game.channel.viewers):
        viewer.close()


def _report(task: asyncio.Task[None]) -> None:
    """Log an error of ours that ended a task."""
    if not task.cancelled() and task.exception() is not None:
        task.get_loop().call_exception_handler(
            {"message": "the live pages have failed", "exception": task.exception(), "task": task}
        )
