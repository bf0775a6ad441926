"""Where the running games of a contest come from: this process, or a server elsewhere.

    TranscriptFeed   a contest of this process: how far each transcript may be shown, across threads
    SocketFeed       a spectator's connection to the port for bots of a server

Both run on the web thread's loop, and give nothing but what a spectator may see, past the delay.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Final, NamedTuple, Protocol

from arena_protocol import messages as wire
from arena_protocol.errors import ClientError, ErrorCode
from arena_protocol.link import Link
from arena_server.core.transcript import Transcript
from arena_server.web.bridge import EventTaker, LoopBridge, TranscriptNews, UnavailableError
from arena_server.web.gamestream import GameSource, LineSource, TranscriptSource, game_of
from arena_server.web.host_view import UnknownContestError

#: News are collected for so long: 500 viewers of a fast game take one write each, not one a ply.
FLUSH_S: Final = 0.1
#: How long a server may take to answer, and how long it may be silent before it is asked.
ANSWER_S: Final = 10.0
READ_BYTES: Final = 65_536


class FeedError(Exception):
    """The feed cannot be read; the text says why in one line."""


class LiveFeed(Protocol):
    """The running games of one contest."""

    def batches(self) -> AsyncGenerator[Sequence[GameSource], None]:
        """The games that have news, FLUSH_S apart or more; the first time all that run.

        A game that begins again has another source. Raises FeedError; ends with the contest.
        """


class TranscriptFeed:
    """The games of a contest of this process; `contest` finds it, as `HostView.hosted` does."""

    def __init__(self, bridge: LoopBridge, contest: Callable[[], EventTaker], news: TranscriptNews) -> None:
        self._bridge = bridge
        self._contest = contest
        self._news = news

    async def batches(self) -> AsyncGenerator[Sequence[GameSource], None]:
        woken, closing = asyncio.Event(), asyncio.Event()
        sources: dict[Transcript, TranscriptSource] = {}
        self._news.listen(asyncio.get_running_loop(), woken, closing)
        try:
            if not self._news.over:
                await self._bridge.observe(self._contest)
            while True:
                woken.clear()
                closed = self._news.over  # nothing is added after that
                yield self._update(sources, self._news.take())
                if closed:
                    return
                await woken.wait()
                with suppress(TimeoutError):
                    async with asyncio.timeout(FLUSH_S):
                        await closing.wait()
        except (UnavailableError, UnknownContestError) as error:
            raise FeedError(str(error)) from None
        finally:
            self._news.ignore()
            self._bridge.ignore(self._contest)

    def _update(
        self, sources: dict[Transcript, TranscriptSource], news: dict[Transcript, int]
    ) -> list[TranscriptSource]:
        changed = []
        for transcript, end in news.items():
            source = sources.get(transcript)
            if source is None:
                source = sources[transcript] = TranscriptSource(transcript, self._news.delay)
            source.show(end)
            if source.over:
                del sources[transcript]
            changed.append(source)
        return changed


class _OtherContestsError(FeedError):
    """A server plays, but not the contest that is wanted."""


class GameServer(NamedTuple):
    """A server elsewhere: how errors call it, and what opens a connection to it or raises OSError."""

    name: str
    connect: Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class SocketFeed:
    """The games of `contest`, at the first of the `servers` that has it."""

    def __init__(self, servers: Sequence[GameServer], contest: str) -> None:
        self._servers = servers
        self._contest = contest
        self._sources: dict[str, LineSource] = {}
        self._news: dict[str, LineSource] = {}
        #: Whether the games under way have come.
        self._begun = False

    async def batches(self) -> AsyncGenerator[Sequence[GameSource], None]:
        problems: list[str] = []
        self._begun = False
        for server in self._servers:
            try:
                async with aclosing(self._watch(server)) as batches:
                    async for batch in batches:
                        yield batch
            except _OtherContestsError:
                continue  # another server plays it, and may be the one that cannot be reached
            except FeedError as error:
                if self._begun:
                    raise FeedError(f"{server.name}: {error}") from None
                problems.append(f"{server.name}: {error}")
        names = ", ".join(server.name for server in self._servers)
        raise FeedError("; ".join(problems) or f"no server plays this contest now ({names})")

    async def _watch(self, server: GameServer) -> AsyncGenerator[list[GameSource], None]:
        """The batches of one server. Raises FeedError."""
        self._sources, self._news = {}, {}
        try:
            async with asyncio.timeout(ANSWER_S):
                reader, writer = await server.connect()
        except TimeoutError:
            raise _silent() from None
        except OSError as error:
            raise FeedError(f"cannot be reached: {_reason(error)}") from None
        try:
            async with aclosing(self._read(reader, writer)) as batches:
                async for batch in batches:
                    yield batch
        except (FeedError, ClientError, OSError) as error:
            if self._begun and self._news:  # the last lines come with the end
                yield self._take_news()
            if isinstance(error, FeedError):
                raise
            if isinstance(error, OSError):
                raise FeedError(f"the connection is lost: {_reason(error)}") from None
            if error.code == ErrorCode.CONTEST:
                raise _OtherContestsError from None
            raise FeedError(str(error)) from None
        finally:
            writer.close()

    async def _read(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> AsyncGenerator[list[GameSource], None]:
        hello = wire.Hello(wire.VERSION, "web", role=wire.SPECTATOR, agent="web/1", contest=self._contest)
        link = Link(hello, checked=False)
        link.opened()
        asked = True
        due = 0.0
        while True:
            collecting = self._begun and self._news
            wait = due - time.monotonic() if collecting else ANSWER_S
            try:
                async with asyncio.timeout(wait):
                    data = await reader.read(READ_BYTES)
            except TimeoutError:
                if collecting:
                    yield self._take_news()
                elif asked or not link.is_logged_in:
                    raise _silent() from None
                else:
                    asked = True
                    link.send(wire.Ping("alive"))
                    writer.write(link.data_to_send())
                continue
            if not data:
                raise FeedError("the server closed the connection")
            asked = False
            if not self._news:
                due = time.monotonic() + FLUSH_S
            for line, message in link.receive(data):
                complete = self._take(line, message, link)
                writer.write(link.data_to_send())
                if complete:
                    yield self._take_news()

    def _take(self, line: bytes, message: wire.ServerMessage | None, link: Link) -> bool:
        """Take one line. True: all games under way have come. Raises FeedError."""
        match message:
            case wire.Welcome():
                link.send(wire.Watch("*"))
                link.send(wire.Ping("shown"))  # its PONG follows the lines of the running games
            case wire.Error():
                raise link.refused(message)
            case wire.Bye(reason):
                raise FeedError(f"the contest is over there (reason={reason})")
        verb, _, rest = line.partition(b" ")
        match verb:
            case b"PONG" if not self._begun:
                self._begun = True
                return True
            case b"ERROR":
                raise FeedError(rest.decode("latin-1"))
            case b"GAME":
                game_id = rest.partition(b" ")[0].decode("latin-1")
                self._sources[game_id] = LineSource(game_id)
        self._add(line)
        return False

    def _add(self, line: bytes) -> None:
        source = self._sources.get(game_of(line) or "")
        if source is not None:
            source.add(line, time.monotonic_ns())
            self._news[source.game_id] = source
            if source.over:
                del self._sources[source.game_id]

    def _take_news(self) -> list[GameSource]:
        news, self._news = self._news, {}
        return list(news.values())


def _reason(error: OSError) -> str:
    # The text of an error of asyncio's own repeats the address.
    refused = isinstance(error, ConnectionError) and error.errno is not None
    return os.strerror(error.errno or 0) if refused else str(error.strerror or error)


def _silent() -> FeedError:
    return FeedError(f"no answer within {ANSWER_S:g} s")
