"""Running games: from a spectator's lines to the events of browsers, with a scripted feed and a clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_server.errors import StoreError
from arena_server.web import gamestream
from arena_server.web import live as module
from arena_server.web.feeds import FeedError
from arena_server.web.gamestream import GameStream, LineSource, LineStream, game_of
from arena_server.web.live import LiveHub
from arena_server.web.streams import Channel

GAME = (
    b"GAME g7 insertion seat=0 seats=2 names=ann,bob plies=4 colours=6 lookahead=2 "
    b"clock=1000 increment=0 zombie=6 commit=ab"
)
STATE = b"STATE ...../...../...../...../..... game=g7"
NEXT = b"NEXT 12 game=g7"
START = b"START g7"
PLAYED = [
    b"PLAYED 1 seat=1 move=6 time=3 clock=997,1000 points=0 total=0,0 reveal=3 game=g7",
    b"PLAYED 2 seat=2 move=7 time=4 clock=997,996 points=0 total=0,0 reveal=4 game=g7",
]
INFO = b"INFO game=g7 ply=1 seat=1 depth=2 eval=-30 nodes=9 line=6,7 text=hello game=g2"
ZOMBIE = b"ZOMBIE ply=3 reason=illegal seat=1 line=4d game=g7"
OVER = b"OVER g7 total=0,0 end=complete nonce=00 sequence=1234"
OFFER = [GAME, STATE, NEXT]
LIMIT_S = 60.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class FakeViewer:
    """Keeps what it is sent."""

    def __init__(self) -> None:
        self.data = b""
        self.closed = False

    def send(self, event: bytes) -> None:
        self.data += event

    def close(self) -> None:
        self.closed = True

    def events(self) -> list[tuple[str | None, str, Any]]:
        found = []
        for block in self.data.decode().split("\n\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            found.append((fields.get("id"), fields["event"], json.loads(fields["data"])))
        self.data = b""
        return found


def a_game(*lines: bytes, clock: Callable[[], float] | None = None) -> LineStream:
    game = LineStream("g7", "e", Channel(), clock or Clock())
    for line in lines:
        game.add(line)
    return game


def join(game: GameStream, last: str | None = None) -> FakeViewer:
    viewer = FakeViewer()
    for event in game.join(viewer, last):  # type: ignore[arg-type]
        viewer.send(event)
    return viewer


class TestLiveGame:
    def test_a_viewer_gets_a_snapshot_and_then_each_event(self) -> None:
        clock = Clock()
        game = a_game(*OFFER, START, PLAYED[0], clock=clock)
        clock.now = 1.5
        viewer = join(game)
        ((number, kind, data),) = viewer.events()
        assert (number, kind) == ("e-2", "snapshot")
        assert data["game"]["names"] == ["ann", "bob"]
        assert (data["game"]["board"], data["game"]["sequence"]) == ("...../...../...../...../.....", "12")
        assert (data["started"], data["over"], data["since_ms"]) == (True, None, 1500)
        assert data["state"] == "...../...../...../...../1...."
        assert [ply["move"] for ply in data["plies"]] == ["6"]
        for line in (PLAYED[1], ZOMBIE, OVER):
            game.add(line)
        played, zombie, over = viewer.events()
        assert played[:2] == ("e-3", "played")
        assert played[2] == {
            "ply": 2,
            "seat": 2,
            "move": "7",
            "time_ms": 4,
            "clock": [997, 996],
            "points": 0,
            "total": [0, 0],
            "reveal": "4",
            "zombie": False,
            "state": "...../...../...../...../12...",
        }
        assert zombie == ("e-4", "zombie", {"seat": 1, "ply": 3, "kind": "illegal", "line": "4d"})
        assert over[1:] == ("over", {"end": "complete", "totals": [0, 0], "nonce": "00", "sequence": "1234"})

    @pytest.mark.parametrize("last", [f"e-{'9' * 5000}", "e-10000000000", "e-\u0663", "e--1", "e-", "-", "x"])
    def test_a_last_event_that_was_never_sent_gives_a_snapshot(self, last: str) -> None:
        viewer = join(a_game(*OFFER, START, *PLAYED), last)
        assert [kind for _, kind, _ in viewer.events()] == ["snapshot"]

    def test_a_browser_that_comes_back_gets_what_it_missed(self) -> None:
        clock = Clock()
        game = a_game(*OFFER, START, *PLAYED, clock=clock)
        clock.now = 2
        missed = join(game, "e-1").events()
        assert [(number, kind) for number, kind, _ in missed] == [
            ("e-2", "played"),
            ("e-3", "played"),
            (None, "sync"),
        ]
        assert missed[-1][2] == {"since_ms": 2000, "plies": 2}
        assert [kind for _, kind, _ in join(game, "e-3").events()] == ["sync"]

    @pytest.mark.parametrize("last", ["other-1", "e-9", "e--1", "e-x", "x", "", "e-²", "-"])
    def test_any_other_id_gets_a_snapshot(self, last: str) -> None:
        assert [kind for _, kind, _ in join(a_game(*OFFER, START), last).events()] == ["snapshot"]

    def test_a_browser_that_missed_a_lot_gets_a_snapshot(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gamestream, "MISSED", 1)
        game = a_game(*OFFER, START, *PLAYED)
        assert [kind for _, kind, _ in join(game, "e-1").events()] == ["snapshot"]
        assert [kind for _, kind, _ in join(game, "e-2").events()] == ["played", "sync"]

    def test_a_note_is_an_event_with_what_it_says(self) -> None:
        game = a_game(*OFFER, START)
        viewer = join(game)
        viewer.events()
        said = {"seat": 1, "ply": 1, "depth": 2, "eval": -30, "nodes": 9, "line": "6,7"}
        game.add(INFO)
        game.add(b"INFO game=g7 ply=1 seat=2 eval=0")
        assert viewer.events() == [
            ("e-2", "info", said | {"text": "hello game=g2"}),
            ("e-3", "info", {"seat": 2, "ply": 1, "eval": 0}),
        ]
        game.add(b"INFO game=g7 ply=1 eval=5")  # of no seat
        assert viewer.events() == []
        assert [info["seat"] for info in game.snapshot()["infos"]] == [1, 2]

    def test_only_a_turn_starts_the_clock(self) -> None:
        """`since_ms`, by which pages show the clock that runs."""
        clock = Clock()
        game = a_game(*OFFER, clock=clock)
        clock.now = 2.0
        game.add(START)
        for now, line, since in (
            (2.5, INFO, 500),
            (3.0, PLAYED[0], 0),
            (4.5, INFO, 1500),
            (5.0, ZOMBIE, 2000),
        ):
            clock.now = now
            game.add(line)
            assert game.snapshot()["since_ms"] == since

    def test_lines_are_parsed_only_when_someone_looks(self) -> None:
        game = a_game(*OFFER, START, *PLAYED)
        assert game._info == {}
        assert game.summary()["ply"] == 2
        assert game._info["game"] == "insertion"

    @given(
        st.lists(
            st.sampled_from(
                [*OFFER, START, *PLAYED, INFO, ZOMBIE, OVER, b"", b"PLAYED x game=g7", b"\xff game=g7"]
            )
        )
    )
    def test_any_lines_leave_a_snapshot(self, lines: list[bytes]) -> None:
        game = a_game()
        viewer = join(game)
        for line in lines:
            game.add(line)
        assert json.dumps(game.snapshot())
        assert json.dumps(game.summary())
        assert viewer.events()[0][1] == "snapshot"

    @given(st.integers(0, 2**64), st.randoms(use_true_random=False))
    def test_the_states_are_those_of_the_rules(self, seed: int, chance: Any) -> None:
        rules = make_game("insertion", {"plies": "30", "lookahead": "5"})
        deal = rules.deal(seed)
        position = rules.start(deal)
        head = GAME.replace(b"plies=4", b"plies=30").replace(b"lookahead=2", b"lookahead=5")
        game = a_game(
            head,
            f"STATE {deal.board} game=g7".encode(),
            f"NEXT {rules.preview(deal)} game=g7".encode(),
            START,
        )
        viewer = join(game)
        viewer.events()
        for ply in range(1, 31):
            seat, move = rules.to_move(position), chance.choice(rules.legal_moves(position))
            step = rules.play(position, move)
            position = step.position
            reveal = rules.reveal(deal, ply)
            total = ",".join(map(str, rules.totals(position)))
            line = f"PLAYED {ply} seat={seat} move={move} time=1 clock=1,1 points={step.points} total={total}"
            game.add((line + (f" reveal={reveal}" if reveal else "") + " game=g7").encode())
            ((_, kind, data),) = viewer.events()
            assert (kind, data["state"]) == ("played", rules.state_text(position))
        fresh = rules.start(Deal(deal.board, deal.sequence))
        for ply in game.snapshot()["plies"]:
            fresh = rules.play(fresh, ply["move"]).position
        assert game.snapshot()["state"] == rules.state_text(fresh)


@pytest.mark.parametrize(
    ("line", "game"),
    [
        (GAME, "g7"),
        (STATE, "g7"),
        (START, "g7"),
        (PLAYED[0], "g7"),
        (OVER, "g7"),
        (b"PLAYED 1 game=g8 later=1", "g8"),
        (INFO, "g7"),  # a bot chooses the text
        (b"INFO ply=1", None),
        (b"PLAYED 1 game=", None),
        (b"ERROR no-such-game watch game=g8", None),
        (b"ARENA 1 x", None),
        (b"WELCOME web session=1 resume=2", None),
        (b"PING x", None),
        (b"", None),
        (b"GAME", None),
    ],
)
def test_the_game_of_a_line(line: bytes, game: str | None) -> None:
    assert game_of(line) == game


class ScriptedFeed:
    """Batches of lines put in by the test; an exception ends the connection, None the contest."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[list[bytes] | Exception | None] = asyncio.Queue()
        self.connections = 0

    def put(self, batch: list[bytes] | Exception | None) -> None:
        self._queue.put_nowait(batch)

    async def batches(self) -> AsyncGenerator[list[LineSource], None]:
        self.connections += 1
        sources: dict[str | None, LineSource] = {}
        while (batch := await self._queue.get()) is not None:
            if isinstance(batch, Exception):
                raise batch
            for line in batch:
                if line.startswith(b"GAME "):
                    sources[game_of(line)] = LineSource(str(game_of(line)))
                if (source := sources.get(game_of(line))) is not None:
                    source.add(line, 0)
            yield [source for name, source in sources.items() if name in map(game_of, batch)]


async def document() -> dict[str, Any]:
    return {"contest": {"id": 1}, "standings": []}


async def turns() -> None:
    """Let every task that is ready run."""
    for _ in range(10):
        await asyncio.sleep(0)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():
            await asyncio.sleep(0)


@pytest.mark.asyncio
class TestLiveHub:
    @pytest.mark.real
    async def test_the_feed_is_connected_while_someone_watches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "LINGER_S", 0.0)
        feed = ScriptedFeed()
        hub = LiveHub(feed, document, "e")
        assert feed.connections == 0
        hub.arrive()
        feed.put([*OFFER, START])
        feed.put([])
        await hub.ready()
        assert (list(hub.games), hub.problem, feed.connections) == (["g7"], None, 1)
        hub.arrive()
        hub.depart()
        await turns()
        assert hub.games
        hub.depart()
        await until(lambda: hub.problem == "not connected yet")
        assert hub.games == {}
        hub.arrive()
        feed.put([])
        await hub.ready()
        assert feed.connections == 2
        hub.stop()

    async def test_a_lost_connection_is_built_again_and_browsers_come_back_to_a_snapshot(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "RETRY_S", (0.0,))
        feed = ScriptedFeed()
        hub = LiveHub(feed, document, "e")
        hub.arrive()
        feed.put([*OFFER, START])
        feed.put([])
        await hub.ready()
        viewer = join(hub.games["g7"])
        ((last, _, _),) = viewer.events()
        feed.put(FeedError("the referee closed the connection"))
        await turns()
        assert viewer.closed
        assert (hub.games, hub.problem) == ({}, "the referee closed the connection")
        feed.put([*OFFER, START, PLAYED[0]])
        feed.put([])
        await turns()
        assert hub.problem is None
        (event,) = join(hub.games["g7"], last).events()
        assert (event[1], len(event[2]["plies"])) == ("snapshot", 1)
        hub.stop()

    async def test_the_end_of_the_contest(self) -> None:
        feed = ScriptedFeed()
        hub = LiveHub(feed, document, "e")
        hub.arrive()
        feed.put([*OFFER, START, OVER])
        feed.put(None)
        await turns()
        assert hub.games["g7"].over
        assert hub.running() == []
        hub.depart()
        hub.arrive()
        await turns()
        assert feed.connections == 1
        hub.stop()

    async def test_running_games_and_their_boards(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "WALL_S", 0.0)
        monkeypatch.setattr(module, "CONTEST_S", 0.0)
        feed = ScriptedFeed()
        hub = LiveHub(feed, document, "e")
        hub.arrive()
        other = [line.replace(b"g7", b"g8") for line in [*OFFER, START]]
        feed.put([*OFFER, START, *other, b"PLAYED 1 game=g99", OVER])
        feed.put([])
        await hub.ready()
        wall, board = FakeViewer(), FakeViewer()
        hub.wall.viewers.add(wall)  # type: ignore[arg-type]
        hub.board.viewers.add(board)  # type: ignore[arg-type]
        wall.send(hub.wall_snapshot())
        ((_, _, boards),) = wall.events()
        assert boards["shown"] == ["g8", "g7"]  # running games first
        assert boards["changed"][0]["names"] == ["ann", "bob"]
        while not board.data:
            await asyncio.sleep(0)
        assert board.events()[0][2] == {
            "contest": {"id": 1},
            "standings": [],
            "running": [{"game_id": "g8", "names": ["ann", "bob"]}],
        }
        wall.events()
        feed.put([PLAYED[0].replace(b"g7", b"g8")])
        while not wall.data:
            await asyncio.sleep(0)
        ((_, _, boards),) = wall.events()
        assert [(game["game_id"], game["ply"], game["visible"]) for game in boards["changed"]] == [
            ("g8", 1, "23")
        ]
        hub.stop()

    @pytest.mark.real
    async def test_a_game_is_forgotten_some_time_after_its_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "KEPT_S", 0.0)
        feed = ScriptedFeed()
        hub = LiveHub(feed, document, "e")
        hub.arrive()
        feed.put([*OFFER, START, OVER])
        feed.put([])
        await hub.ready()
        await until(lambda: not hub.games)
        hub.stop()

    async def test_the_contest_is_published_again_when_its_database_answers_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "CONTEST_S", 0.0)
        errors = [StoreError("away"), StoreError("away")]

        async def document() -> dict[str, Any]:
            if errors:
                raise errors.pop()
            return {"standings": []}

        hub = LiveHub(ScriptedFeed(), document, "e")
        board = FakeViewer()
        hub.board.viewers.add(board)  # type: ignore[arg-type]
        hub.arrive()
        await until(lambda: bool(board.data))
        assert board.events()[0][2] == {"standings": [], "running": []}
        hub.stop()

    async def test_an_error_of_ours_is_reported(self) -> None:
        feed = ScriptedFeed()
        hub = LiveHub(feed, document, "e")
        failures: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
        hub.arrive()
        feed.put(ZeroDivisionError())
        await turns()
        assert [type(each["exception"]) for each in failures] == [ZeroDivisionError]
        hub.stop()
