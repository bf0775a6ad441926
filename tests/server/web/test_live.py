"""The running games of a contest: one connection while anyone watches, the wall and the table of results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from arena_server.errors import StoreError
from arena_server.web import live as module
from arena_server.web.feeds import FeedError
from arena_server.web.live import LiveHub
from arena_server.web.streams import StreamPart

from .spectating import OFFER, OVER, PLAYED, START, FakeViewer, ScriptedFeed, join

pytestmark = pytest.mark.asyncio
LIMIT_S = 150.0


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


@pytest.mark.real
async def test_the_feed_is_connected_while_someone_watches(monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch: pytest.MonkeyPatch,
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


async def test_the_end_of_the_contest() -> None:
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


async def test_running_games_and_their_boards(monkeypatch: pytest.MonkeyPatch) -> None:
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
        "viewers": 2,
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
async def test_a_game_is_forgotten_some_time_after_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch: pytest.MonkeyPatch,
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
    assert board.events()[0][2] == {"standings": [], "running": [], "viewers": 1}
    hub.stop()


async def test_an_error_of_ours_is_reported() -> None:
    feed = ScriptedFeed()
    hub = LiveHub(feed, document, "e")
    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    hub.arrive()
    feed.put(ZeroDivisionError())
    await turns()
    assert [type(each["exception"]) for each in failures] == [ZeroDivisionError]
    hub.stop()


async def test_a_browser_with_several_streams_is_one_viewer() -> None:
    hub = LiveHub(ScriptedFeed(), document, "e")
    one, other = FakeViewer(), FakeViewer()
    for channel, viewer in ((hub.wall, one), (hub.board, one), (hub.board, other)):
        channel.viewers.add(StreamPart(viewer, 0))  # type: ignore[arg-type]
    assert hub.count_viewers() == 2
