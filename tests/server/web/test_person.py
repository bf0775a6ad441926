"""A person's seat over a scripted referee: lines, orders, lost connections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

from arena_protocol import messages as wire
from arena_server.web import person as module
from arena_server.web.person import PersonSeat, SeatError
from arena_server.web.ports import MoveScript, invite

from .spectating import NEXT, OVER, PLAYED, START, STATE, FakeViewer

GAME = (
    b"GAME g7 insertion seat=1 seats=2 names=ann,bob plies=4 colours=6 lookahead=2 "
    b"clock=1000 increment=0 zombie=6 commit=ab"
)
LIMIT_S = 150.0
pytestmark = pytest.mark.asyncio


def welcome(resume: str) -> bytes:
    return f"WELCOME ann session=1 resume={resume}".encode()


class Referee:
    """Accepts connections; the test writes to the last one and reads what came."""

    def __init__(self) -> None:
        self.connections: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
        self.refuses = False
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        send(writer, b"ARENA 1 x")
        self.connections.put_nowait((reader, writer))

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.refuses:
            raise ConnectionRefusedError("refused")
        if self._server is None:
            self._server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        return await asyncio.open_connection(host, port)

    async def next(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(LIMIT_S):
            return await self.connections.get()

    def close(self) -> None:
        for writer in self._writers:
            writer.close()
        if self._server is not None:
            self._server.close()


@pytest_asyncio.fixture
async def referee() -> AsyncIterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


class Seat:
    """A seat whose link has been used, and a viewer that keeps the last seat event."""

    def __init__(self, referee: Referee, **casual: Any) -> None:
        self.invitation = invite("ann", "friday", "insertion")
        self.seat = PersonSeat(self.invitation, referee.connect, **casual)
        self.viewer = FakeViewer()
        self.events: list[tuple[str, Any]] = []
        self.session = self.seat.take()
        for event in self.seat.join(self.viewer):  # type: ignore[arg-type]
            self.viewer.send(event)

    async def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first seat event that fulfils `condition`."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                new = [(kind, data) for _, kind, data in self.viewer.events()]
                self.events += new
                for kind, data in new:
                    if kind == "seat" and condition(data):
                        return dict(data)
                await asyncio.sleep(0)

    async def close(self) -> None:
        for task in self.seat._tasks:
            task.cancel()
        await asyncio.gather(*self.seat._tasks, return_exceptions=True)


def send(writer: asyncio.StreamWriter, *lines: bytes) -> None:
    writer.write(b"".join(line + b"\n" for line in lines))


async def test_a_game_from_the_link_to_its_end(referee: Referee) -> None:
    seat = Seat(referee)
    reader, writer = await referee.next()
    hello = (await reader.readline()).decode()
    token = seat.invitation.token
    assert hello == f"HELLO 1 ann games=insertion token={token} agent=web/1 contest=friday\n"
    send(writer, welcome("r1"), b"PING t", GAME, STATE, NEXT)
    assert await reader.readline() == b"PONG t\n"
    assert (await seat.until(lambda shown: shown["state"] == "invited"))["game"] == "g7"
    seat.seat.ready()
    assert await reader.readline() == b"READY g7\n"
    send(writer, START, b"TURN 1 clock=1000,1000 lag=0 credit=0")
    assert (await seat.until(lambda shown: shown["turn"] == 1))["state"] == "playing"
    seat.seat.move(1, "6")
    assert await reader.readline() == b"MOVE 6\n"
    send(writer, *PLAYED, b"TURN 3 clock=997,996 lag=0 credit=0")
    await seat.until(lambda shown: shown["turn"] == 3)
    send(writer, b"ZOMBIE ply=3 reason=illegal", OVER)
    assert (await seat.until(lambda shown: shown["state"] == "over"))["turn"] is None
    assert [kind for kind, _ in seat.events if kind != "seat"] == [
        *("snapshot", "snapshot", "started", "played", "played", "zombie", "over")
    ]
    assert next(data for kind, data in seat.events if kind == "zombie")["seat"] == 1, "its own"
    seat.seat.quit()
    assert await reader.readline() == b"QUIT\n"
    send(writer, b"BYE reason=quit")
    await seat.until(lambda shown: shown["state"] == "finished")
    await seat.close()


async def test_a_lost_connection_is_taken_up_by_the_resume_key(
    referee: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_S", (0.0,))
    seat = Seat(referee)
    reader, writer = await referee.next()
    await reader.readline()
    send(writer, welcome("r1"), GAME, STATE, NEXT, START, b"TURN 1 clock=1000,1000 lag=0 credit=0")
    await seat.until(lambda shown: shown["turn"] == 1)
    writer.close()
    reader, writer = await referee.next()
    assert b" resume=r1 " in await reader.readline()
    send(writer, b"ERROR token the key is wrong or used")
    writer.close()
    reader, writer = await referee.next()
    assert f" token={seat.invitation.token} ".encode() in await reader.readline()
    assert (await seat.until(lambda shown: shown["problem"]))["problem"] == "token: the key is wrong or used"
    send(writer, welcome("r2"), GAME, STATE, NEXT, START, *PLAYED, b"TURN 3 clock=997,996 lag=0 credit=0")
    shown = await seat.until(lambda shown: shown["turn"] == 3)
    assert (shown["problem"], shown["state"]) == (None, "playing")
    late = FakeViewer()
    for event in seat.seat.join(late):  # type: ignore[arg-type]
        late.send(event)
    (_, kind, _), (_, second, snapshot) = late.events()
    assert (kind, second, len(snapshot["plies"])) == ("seat", "snapshot", 2)
    await seat.close()


async def test_what_ends_a_connection_and_not_the_contest(
    referee: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_S", (0.0,))
    seat = Seat(referee)
    for line, problem in (
        (b"ERROR full no place", "full: no place"),
        (b"ERROR game xo is played", "the server refuses ann: game: xo is played"),
        (b"TURN x", "the server broke the protocol: TURN: ply must be"),
        (b"WELCOME ann session=1 resume=2\nBYE reason=slow", None),
    ):
        reader, writer = await referee.next()
        assert (await reader.readline()).startswith(b"HELLO 1 ann games=insertion token=")
        with pytest.raises(SeatError, match=r"^the referee cannot be reached now$"):
            seat.seat._send(wire.Ping("x"))
        send(writer, line)
        writer.close()
        if problem is not None:
            text = (await seat.until(lambda shown: shown["problem"]))["problem"]
            assert text.startswith(problem)
    reader, writer = await referee.next()
    assert (await reader.readline()).startswith(b"HELLO 1 ann games=insertion resume=2 ")
    send(writer, welcome("r1"), b"PING x")
    assert await reader.readline() == b"PONG x\n"
    with pytest.raises(
        SeatError, match=r"^the protocol cannot carry this: READY has no meaning in the lobby$"
    ):
        seat.seat._send(wire.Ready("g7"))
    await seat.close()


async def test_the_turn_stays_open_when_another_seat_becomes_a_zombie(referee: Referee) -> None:
    seat = Seat(referee)
    reader, writer = await referee.next()
    await reader.readline()
    send(writer, welcome("r1"), GAME, STATE, NEXT, START, b"TURN 1 clock=9,9 lag=0 credit=0")
    send(writer, b"ZOMBIE ply=1 reason=timeout seat=2", b"PING x")
    assert await reader.readline() == b"PONG x\n"
    seat.seat.move(1, "6")
    assert await reader.readline() == b"MOVE 6\n"
    await seat.close()


async def test_orders_out_of_place(referee: Referee, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_S", (0.0,))
    referee.refuses = True
    seat = Seat(referee)
    problem = (await seat.until(lambda shown: shown["problem"]))["problem"]
    assert problem == "the referee cannot be reached: refused"
    for order, text in (
        (seat.seat.quit, "^the referee cannot be reached now$"),
        (seat.seat.ready, "^no game waits for you$"),
        (lambda: seat.seat.move(1, "6"), "^it is not your turn$"),
        (lambda: seat.seat.move(1, "6 7"), "^a move is a word of ASCII characters$"),
    ):
        with pytest.raises(SeatError, match=text):
            order()
    await seat.close()


async def test_a_sign_of_life(referee: Referee, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SYNC_S", 0.0)
    seat = Seat(referee)
    async with asyncio.timeout(LIMIT_S):
        while b"event: sync" not in seat.viewer.data:
            await asyncio.sleep(0)
    assert json.loads(seat.viewer.data.rpartition(b"data: ")[2]) == {"since_ms": 0}
    await seat.close()


class TestCasual:
    """A seat of a game that a visitor has started."""

    async def test_it_is_given_up_when_no_page_shows_it_any_more(
        self, referee: Referee, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "ABANDONED_S", 0.0)
        seat = Seat(referee, contest="play-1", hints=False, alone=True)
        reader, writer = await referee.next()
        await reader.readline()
        send(writer, welcome("r1"), b"PING t")
        assert await reader.readline() == b"PONG t\n", "a page shows it: no QUIT before"
        shown = await seat.until(lambda shown: shown["state"] == "waiting")
        assert (shown["contest"], shown["hints"], shown["alone"]) == ("play-1", False, True)
        seat.seat.leave(seat.viewer)  # type: ignore[arg-type]
        assert await reader.readline() == b"QUIT\n"
        await seat.close()

    async def test_a_page_that_is_loaded_again_keeps_it(
        self, referee: Referee, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "ABANDONED_S", 0.0)
        seat = Seat(referee, contest="play-1")
        reader, writer = await referee.next()
        await reader.readline()
        send(writer, welcome("r1"))
        await seat.until(lambda shown: shown["state"] == "waiting")
        seat.seat.leave(seat.viewer)  # type: ignore[arg-type]
        seat.seat.join(seat.viewer)  # type: ignore[arg-type]
        await asyncio.sleep(0)
        send(writer, b"PING t")
        assert await reader.readline() == b"PONG t\n"
        await seat.close()

    async def test_without_a_connection_it_is_given_up_at_once(
        self, referee: Referee, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "ABANDONED_S", 0.0)
        referee.refuses = True
        ends: list[str] = []
        seat = Seat(referee, contest="play-1", finished=lambda: ends.append("finished"))
        seat.seat.leave(seat.viewer)  # type: ignore[arg-type]
        seat.seat.channel.viewers.add(seat.viewer)  # type: ignore[arg-type]
        shown = await seat.until(lambda shown: shown["state"] == "finished")
        assert shown["problem"] == "no page showed this seat"
        assert ends == ["finished"]
        await seat.close()

    async def test_its_end_is_told_once(self, referee: Referee) -> None:
        ends: list[str] = []
        seat = Seat(referee, contest="play-1", finished=lambda: ends.append("finished"))
        reader, writer = await referee.next()
        await reader.readline()
        send(writer, welcome("r1"), b"BYE reason=finished")
        await seat.until(lambda shown: shown["state"] == "finished")
        seat.seat.close(None)
        assert ends == ["finished"]
        await seat.close()

    async def test_a_server_that_has_gone(self, referee: Referee) -> None:
        seat = Seat(referee, contest="play-1")
        await referee.next()
        seat.seat.close("the server ended with status 1")
        shown = await seat.until(lambda shown: shown["state"] == "finished")
        assert shown["problem"] == "the server ended with status 1"
        assert seat.seat.key is None
        await seat.close()


#: A game of more plies.
LONG = GAME.replace(b"plies=4", b"plies=20")


async def playing(seat: Seat, referee: Referee) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The connection after two plies: the seat is to move at ply 3."""
    reader, writer = await referee.next()
    await reader.readline()
    send(writer, welcome("r1"), LONG, STATE, NEXT, START, *PLAYED, b"TURN 3 clock=997,996 lag=0 credit=0")
    assert (await seat.until(lambda shown: shown["turn"] == 3))["undo"] is True
    assert seat.events[0][1]["takes_back"] is True
    return reader, writer


AGAIN = [line.replace(b"g7", b"g8") for line in (LONG, STATE, NEXT, START, *PLAYED)]


class TestTakeBack:
    """The game is void, and another one on its deal is played as far as the moves stand."""

    async def test_nothing_is_shown_until_the_person_is_to_move(self, referee: Referee) -> None:
        orders: list[tuple[str, ...]] = []
        seat = Seat(referee, contest="play-1", place=1, replay=lambda *order: orders.append(order))
        reader, writer = await playing(seat, referee)
        # Two plies more, so that moves stand.
        seat.seat.move(3, "6")
        assert await reader.readline() == b"MOVE 6\n"
        third = PLAYED[0].replace(b"PLAYED 1", b"PLAYED 3")
        fourth = PLAYED[1].replace(b"PLAYED 2", b"PLAYED 4")
        send(writer, third, fourth, b"TURN 5 clock=990,990 lag=0 credit=0")
        await seat.until(lambda shown: shown["turn"] == 5)
        seat.events.clear()
        seat.seat.take_back()
        assert orders == [("g7", "ann", "ann takes back ply 3")]
        with pytest.raises(SeatError, match=r"^it is not your turn$"):
            seat.seat.take_back()
        send(writer, OVER.replace(b"complete", b"void"), *AGAIN[:3])
        assert await reader.readline() == b"READY g8\n"
        send(writer, AGAIN[3], b"TURN 1 clock=1000,1000 lag=0 credit=0")
        assert await reader.readline() == b"MOVE 6\n"
        send(writer, *AGAIN[4:], b"TURN 3 clock=997,996 lag=0 credit=0")
        note = b"ann took back ply 3 of g7; plies 1 to 2 are the same"
        assert await reader.readline() == b"INFO game=g8 ply=3 text=" + note + b"\n"
        assert (await seat.until(lambda shown: shown["turn"] == 3))["game"] == "g8"
        (snapshot,) = (data for kind, data in seat.events if kind != "seat")
        assert (len(snapshot["plies"]), snapshot["game"]["game_id"]) == (2, "g8")
        seat.seat.move(3, "7")
        assert await reader.readline() == b"MOVE 7\n"
        await seat.close()

    async def test_a_game_that_begins_with_the_moves_of_another_one(self, referee: Referee) -> None:
        script = MoveScript(("6", "6"), "played on from ply 2 of g3 of friday")
        seat = Seat(referee, contest="play-1", place=1, script=script)
        reader, writer = await referee.next()
        await reader.readline()
        send(writer, welcome("r1"), *AGAIN[:3])
        assert await reader.readline() == b"READY g8\n", "by itself"
        send(writer, AGAIN[3], b"TURN 1 clock=1000,1000 lag=0 credit=0")
        assert await reader.readline() == b"MOVE 6\n"
        send(writer, *AGAIN[4:], b"TURN 3 clock=997,996 lag=0 credit=0")
        text = b"played on from ply 2 of g3 of friday; plies 1 to %d are the same"
        moves = [line.partition(b"move=")[2].split()[0] for line in AGAIN[4:]]
        same = 2 if moves == [b"6", b"6"] else 1
        assert await reader.readline() == b"INFO game=g8 ply=3 text=" + text % same + b"\n"
        await seat.until(lambda shown: shown["turn"] == 3)
        (snapshot,) = (data for kind, data in seat.events if kind != "seat")
        assert len(snapshot["plies"]) == 2
        await seat.close()

    async def test_an_opponent_that_answers_otherwise(self, referee: Referee) -> None:
        seat = Seat(referee, contest="play-1", place=2, replay=lambda *_: None)
        reader, writer = await referee.next()
        await reader.readline()
        mine = LONG.replace(b"seat=1", b"seat=2")
        more = [line.replace(b"PLAYED 1", b"PLAYED 3").replace(b"PLAYED 2", b"PLAYED 4") for line in PLAYED]
        fifth = PLAYED[0].replace(b"PLAYED 1", b"PLAYED 5")
        send(writer, welcome("r1"), mine, STATE, NEXT, START, PLAYED[0], b"TURN 2 clock=9,9 lag=0 credit=0")
        assert (await seat.until(lambda shown: shown["turn"] == 2))["undo"] is False
        with pytest.raises(SeatError, match=r"^you have not moved yet$"):
            seat.seat.take_back()
        seat.seat.move(2, "6")
        assert await reader.readline() == b"MOVE 6\n"
        send(writer, PLAYED[1], *more, fifth, b"TURN 6 clock=9,9 lag=0 credit=0")
        await seat.until(lambda shown: shown["turn"] == 6)
        seat.seat.take_back()
        offer = mine.replace(b"g7", b"g8")
        other = AGAIN[4].replace(b"move=6", b"move=9")
        send(writer, OVER.replace(b"complete", b"void"), offer, *AGAIN[1:4], other)
        send(writer, b"TURN 2 clock=9,9 lag=0 credit=0")
        assert await reader.readline() == b"READY g8\n"
        assert (await reader.readline()).endswith(b"ply 4 of g7; plies 1 to 0 are the same\n")
        assert (await seat.until(lambda shown: shown["turn"] == 2))["state"] == "playing"
        await seat.close()

    async def test_a_game_that_ends_before_the_order(self, referee: Referee) -> None:
        seat = Seat(referee, contest="play-1", place=1, replay=lambda *_: None)
        _, writer = await playing(seat, referee)
        seat.seat.take_back()
        send(writer, OVER, b"BYE reason=finished")
        assert (await seat.until(lambda shown: shown["state"] == "finished"))["undo"] is False
        assert seat.events[-2][1]["over"]["end"] == "complete", "the page shows the end"
        await seat.close()

    async def test_there_is_a_bound(self, referee: Referee, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "MOST_TAKEN_BACK", 0)
        seat = Seat(referee, contest="play-1", place=1, replay=lambda *_: None)
        await playing(seat, referee)
        with pytest.raises(SeatError, match=r"^0 moves have been taken back, as many as may be$"):
            seat.seat.take_back()
        await seat.close()


async def test_a_finished_seat_of_a_visitor_can_still_be_asked_for_a_rematch(
    referee: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SYNC_S", 0.0)
    seat = Seat(referee, contest="play-1")
    await referee.next()
    seat.seat.close(None)
    await seat.until(lambda shown: shown["state"] == "finished")
    seat.viewer.data = b""
    async with asyncio.timeout(LIMIT_S):
        while b"event: sync" not in seat.viewer.data:
            await asyncio.sleep(0)
    seat.seat.offer_rematch("key")
    assert (await seat.until(lambda shown: shown["rematch"]))["rematch"] == "key"
    seat.seat.forget()
    await seat.close()
    assert all(task.cancelled() for task in seat.seat._tasks)
