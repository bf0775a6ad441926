"""Where running games come from: a transcript of this process, across threads, and a server elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import pytest
from tests.server.core.match_runner import Runner

from arena_protocol import messages as wire
from arena_server.core.events import Command, Observe
from arena_server.core.transcript import Transcript
from arena_server.web import bridge as bridge_module
from arena_server.web import feeds, scenes
from arena_server.web.bridge import EventTaker, LoopBridge, TranscriptNews, UnavailableError
from arena_server.web.feeds import FeedError, GameServer, SocketFeed, TranscriptFeed
from arena_server.web.gamestream import GameSource, GameStream, TranscriptSource

from .spectating import INFO, OFFER, OVER, PLAYED, START, join

DELAY = 2_000_000_000


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "FLUSH_S", 0.0)


def a_transcript(plies: int = 0, **config: object) -> Transcript:
    """A running game after this number of plies."""
    steps = [("ready", 1, 0), ("ready", 2, 0)]
    for number in range(plies):
        steps += [("sent", number % 2 + 1, 0), ("move", number % 2 + 1, 1)]
    runner = Runner("insertion", **config).run(steps)
    transcript = Transcript(runner.setting, 0)
    for now, facts in runner.steps:
        for fact in facts:
            transcript.write(fact, now)
    return transcript


class Contest:
    """Answers Observe, and shows then what is running."""

    def __init__(self, bridge: LoopBridge, news: TranscriptNews, *running: Transcript) -> None:
        self.observed: list[bool] = []
        self._bridge = bridge
        self._news = news
        self._running = running

    def feed(self, event: Command | Observe) -> None:
        assert isinstance(event, Observe)
        self.observed.append(event.on)
        for transcript in self._running:
            self._news.shown(transcript, len(transcript.lines))
        self._bridge.replied(event.number, None)


def a_feed(*running: Transcript) -> tuple[TranscriptFeed, TranscriptNews, Contest]:
    bridge, news = LoopBridge(asyncio.get_running_loop()), TranscriptNews(DELAY)
    contest = Contest(bridge, news, *running)
    return TranscriptFeed(bridge, lambda: contest, news), news, contest


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def messages(source: GameSource) -> list[str]:
    return [type(shown.message).__name__ for shown in source.read()]


@pytest.mark.asyncio
class TestTranscriptFeed:
    async def test_the_games_under_way_come_first_and_then_what_is_new(self) -> None:
        transcript = a_transcript(1)
        feed, news, contest = a_feed(transcript)
        async with aclosing(feed.batches()) as batches:
            (game,) = await anext(batches)
            assert game.game_id == "g1"
            assert messages(game) == ["Game", "State", "Next", "Start", "Played"]
            assert messages(game) == []
            transcript.close((0, 0), "void", 5, opened=False)
            news.shown(transcript, len(transcript.lines) - 1)
            (again,) = await anext(batches)
            assert not again.over  # OVER may not be shown yet
            await asyncio.to_thread(news.shown, transcript, len(transcript.lines))
            (again,) = await anext(batches)
            assert again is game
            assert game.over
            assert messages(game) == ["Over"]
            assert contest.observed == [True]
        await turns()
        assert contest.observed == [True, False]

    async def test_news_of_a_game_are_one_number_however_many_come(self) -> None:
        transcript = a_transcript(3)
        feed, news, _ = a_feed()
        async with aclosing(feed.batches()) as batches:
            assert await anext(batches) == []
            for end in range(1, len(transcript.lines)):
                news.shown(transcript, end)
            assert len(news._news) == 1
            (game,) = await anext(batches)
            assert messages(game) == ["Game", "State", "Next", "Start", "Played", "Played"]
            assert not game.over

    async def test_a_reader_that_stands_still_is_cut(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bridge_module, "MOST_NEWS", 3)
        feed, news, _ = a_feed()
        async with aclosing(feed.batches()) as batches:
            await anext(batches)
            for _ in range(4):
                news.shown(a_transcript(), 1)
            assert len(news._news) <= 3
            with pytest.raises(FeedError, match=r"^the pages were too slow for the games, and begin again$"):
                await anext(batches)
        feed, news, _ = a_feed(a_transcript())
        async with aclosing(feed.batches()) as batches:
            assert len(await anext(batches)) == 1

    async def test_the_end_of_the_contest_comes_behind_its_last_lines(self) -> None:
        transcript = a_transcript(1)
        feed, news, _ = a_feed(transcript)
        found: list[GameSource] = []
        async with aclosing(feed.batches()) as batches:
            found += await anext(batches)
            transcript.close((0, 0), "void", 5, opened=False)
            news.shown(transcript, len(transcript.lines))
            news.closed(None)
            async for batch in batches:
                found += batch
        assert [game.over for game in found] == [True, True]
        async with aclosing(feed.batches()) as batches:  # and once more, for a later visitor
            assert [batch async for batch in batches] == [[]]

    async def test_a_contest_that_failed(self) -> None:
        feed, news, _ = a_feed(a_transcript())
        async with aclosing(feed.batches()) as batches:
            await anext(batches)
            news.closed("contest x was closed")
            with pytest.raises(FeedError, match=r"^contest x was closed$"):
                await anext(batches)

    async def test_a_contest_that_has_not_begun(self) -> None:
        def missing() -> EventTaker:
            raise UnavailableError("the contest has not begun yet")

        bridge = LoopBridge(asyncio.get_running_loop())
        feed = TranscriptFeed(bridge, missing, TranscriptNews(0))
        with pytest.raises(FeedError, match=r"^the contest has not begun yet$"):
            await anext(feed.batches())

    async def test_a_web_thread_that_has_ended_is_no_fault(self) -> None:
        loop = asyncio.new_event_loop()
        news = TranscriptNews(0)
        news.listen(loop, asyncio.Event(), asyncio.Event())
        loop.close()
        news.shown(a_transcript(), 1)
        news.closed(None)


def test_the_clock_of_a_transcript_runs_from_the_moment_at_which_it_may_be_shown() -> None:
    transcript = a_transcript(1)
    source = TranscriptSource(transcript, DELAY)
    now = (transcript.moments[-1] + DELAY) / 1e9 + 1.5
    game = GameStream(source, "e", lambda: now)
    source.show(len(transcript.lines))
    assert game.snapshot()["since_ms"] in (1499, 1500)


def test_a_stream_of_a_transcript_shows_what_its_lines_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more of the hidden sequence than a spectator knows, though the referee's position has all."""
    monkeypatch.setattr(scenes, "IN_PAGES", frozenset())
    transcript = a_transcript(2, lookahead=2)
    source = TranscriptSource(transcript, 0)
    game = GameStream(source, "e")
    viewer = join(game)
    for end in range(1, len(transcript.lines) + 1):
        source.show(end)
        game.read()
    snapshot, started, *played = viewer.events()
    assert (snapshot[1], started[1]) == ("snapshot", "started")
    assert [data["ply"] for _, _, data in played] == [1, 2]
    shown = game.snapshot()["game"]["sequence"] + "".join(data["reveal"] or "" for _, _, data in played)
    assert game.summary()["visible"] == game.summary()["scene"]["coming"] == shown[2:]
    assert [data["scene"]["coming"] for _, _, data in played] == [shown[1:3], shown[2:4]]
    lines = transcript.read(0, 1, 10**9)[0].splitlines()
    texts = [message.text for line in lines if isinstance(message := wire.parse_server(line), wire.State)]
    assert texts == [game.snapshot()["game"]["board"]]


class Server:
    """A scripted server on a real socket; `ends` says whether it closes the connection behind its lines."""

    def __init__(self, *lines: bytes, ends: bool = True) -> None:
        self.lines = lines
        self.ends = ends
        self.received = b""
        self.done = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"ARENA 1 test\n")
        self.received = await reader.readline()
        if self.lines[0].partition(b" ")[0] not in (b"", b"ERROR", b"WELCOME"):
            writer.write(b"WELCOME web session=1 resume=2\n")
            self.received += await reader.readuntil(b"PING shown\n")
        writer.write(b"".join(line + b"\n" for line in self.lines))
        await writer.drain()
        if not self.ends:
            self.received += await reader.read()
        writer.close()
        self.done.set()


def connector(port: int) -> Callable[[], asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]:
    return lambda: asyncio.ensure_future(asyncio.open_connection("127.0.0.1", port))


async def refuse() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    raise ConnectionRefusedError(111, "Connection refused")


@pytest.mark.asyncio
class TestSocketFeed:
    async def read(self, *servers: Server) -> tuple[list[list[str]], str]:
        """The messages of each batch, and the error at the end."""
        running = [await asyncio.start_server(server.serve, "127.0.0.1", 0) for server in servers]
        ports = [each.sockets[0].getsockname()[1] for each in running]
        named = [GameServer(f"S{number}", connector(port)) for number, port in enumerate(ports, 1)]
        found: list[list[str]] = []
        error = ""
        try:
            async with aclosing(SocketFeed(named, "friday").batches()) as batches:
                async for batch in batches:
                    found.append([name for game in batch for name in messages(game)])
        except FeedError as raised:
            error = str(raised)
        for server, each in zip(servers, running, strict=True):
            await server.done.wait()
            each.close()
            await each.wait_closed()
        return found, error

    async def test_the_games_under_way_are_one_batch(self) -> None:
        server = Server(*OFFER, b"PING t1", START, b"PONG shown", PLAYED[0], INFO, b"BYE reason=finished")
        found, error = await self.read(server)
        assert found == [["Game", "State", "Next", "Start"], ["Played", "Info"]]
        assert error == "S1: the contest is over there (reason=finished)"
        hello = b"HELLO 1 web agent=web/1 role=spectator contest=friday\n"
        assert server.received == hello + b"WATCH *\nPING shown\n"

    async def test_what_follows_is_news(self) -> None:
        """And a server that is silent is asked whether it is there."""
        server = Server(*OFFER, b"PONG shown", START, *PLAYED, OVER, b"x" * 70_000, ends=False)
        running = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        port = running.sockets[0].getsockname()[1]
        feed = SocketFeed([GameServer("S1", connector(port))], "friday")
        async with aclosing(feed.batches()) as batches:
            (game,) = await anext(batches)
            assert messages(game) == ["Game", "State", "Next"]
            found: list[str] = []
            while not game.over:
                await anext(batches)
                found += messages(game)
            assert found == ["Start", "Played", "Played", "Over"]
        await server.done.wait()
        running.close()
        await running.wait_closed()

    async def test_a_silent_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(feeds, "ANSWER_S", 0.3)
        server = Server(b"PONG shown", ends=False)
        found, error = await self.read(server)
        assert (found, error) == ([[]], "S1: no answer within 0.3 s")
        assert server.received.endswith(b"PING alive\n")

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            (b"", "no answer within 0.05 s"),
            (b"ERROR full no place", "the server refuses web: full: no place"),
            (b"ERROR token no guests", "the server refuses web: token: no guests"),
            (b"WELCOME", "the server broke the protocol: WELCOME: name must be given: 'WELCOME'"),
        ],
    )
    async def test_a_server_that_does_not_log_it_in(
        self, monkeypatch: pytest.MonkeyPatch, line: bytes, error: str
    ) -> None:
        if not line:
            monkeypatch.setattr(feeds, "ANSWER_S", 0.05)
        server = Server(line, ends=line != b"")
        assert await self.read(server) == ([], f"S1: {error}")

    async def test_the_first_server_that_has_the_contest(self) -> None:
        other = Server(b"ERROR contest there are: monday")
        right = Server(*OFFER, b"PONG shown")
        found, error = await self.read(other, right)
        assert found == [["Game", "State", "Next"]]
        assert error == "S2: the server closed the connection"

    async def test_servers_of_other_contests(self) -> None:
        others = Server(b"ERROR contest there are: monday"), Server(b"ERROR contest there are: sunday")
        assert await self.read(*others) == ([], "no server plays this contest now (S1, S2)")

    async def test_no_server_has_it(self) -> None:
        feed = SocketFeed([GameServer("a:1", refuse), GameServer("b:2", refuse)], "friday")
        with pytest.raises(FeedError) as raised:
            await anext(feed.batches())
        why = "cannot be reached: Connection refused"
        assert str(raised.value) == f"a:1: {why}; b:2: {why}"

    async def test_a_server_that_does_not_answer_at_all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(feeds, "ANSWER_S", 0.01)

        async def never() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            await asyncio.Event().wait()
            raise AssertionError

        with pytest.raises(FeedError, match=r"^a:1: no answer within 0.01 s$"):
            await anext(SocketFeed([GameServer("a:1", never)], "friday").batches())
