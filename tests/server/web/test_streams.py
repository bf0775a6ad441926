"""Server-sent events: their text, and a viewer that reads too slowly."""

from __future__ import annotations

import asyncio
import threading

import pytest
from starlette.routing import Route

from arena_server.web.app import application
from arena_server.web.streams import BACKLOG, BACKLOGS, Channel, EventStream, Viewer, combined, encode_event

from .running import LIMIT_S, read_all, running


@pytest.mark.parametrize("event_id", [None, "e-1"])
def test_an_event(event_id: str | None) -> None:
    head = "" if event_id is None else "id: e-1\n"
    text = f'{head}event: played\ndata: {{"text":"a\\nb"}}\n\n'
    assert encode_event("played", {"text": "a\nb"}, event_id) == text.encode()


class Unread(asyncio.Transport):
    """A transport whose peer reads nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.unsent = b""
        self.aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.unsent += data

    def get_write_buffer_size(self) -> int:
        return len(self.unsent)

    def abort(self) -> None:
        self.aborted = True


def test_a_viewer_is_dropped_with_the_event_that_exceeds_its_backlog() -> None:
    transport = Unread()
    viewer = Viewer(transport, chunked=False)
    viewer.send(b"x" * BACKLOG)
    assert not transport.aborted
    viewer.send(b"x")
    assert transport.aborted


def test_streams_in_one_connection_are_told_apart_and_end_one_by_one() -> None:
    channels = [Channel(), Channel()]

    def stream(channel: Channel) -> EventStream:
        def join(viewer: Viewer) -> list[bytes]:
            channel.viewers.add(viewer)
            return [encode_event("boards", {}, "e-1")]

        return EventStream(join, channel.viewers.discard)

    transport = Unread()
    viewer = Viewer(transport, chunked=False)
    whole = combined([stream(channels[0]), "no game g9 is running", stream(channels[1])])
    assert list(whole.join(viewer)) == []
    of = [f'id:\nevent: of\ndata: {{"stream":{place}}}\n\n' for place in range(3)]
    boards = "id: e-1\nevent: boards\ndata: {}\n\n"
    refused = 'event: refused\ndata: {"error":"no game g9 is running"}\n\n'
    assert transport.unsent.decode() == of[0] + boards + of[1] + refused + of[2] + boards
    transport.unsent = b""
    channels[1].publish(encode_event("sync", {}))
    assert transport.unsent.decode() == f"{of[2]}event: sync\ndata: {{}}\n\n"
    transport.unsent = b""
    (first,) = channels[0].viewers
    first.close()
    assert (
        transport.unsent.decode() == f'{of[0]}event: refused\ndata: {{"error":"this stream has ended"}}\n\n'
    )
    assert not transport.aborted
    whole.leave(viewer)
    assert [channel.viewers for channel in channels] == [set(), set()]


@pytest.mark.parametrize(("streams", "backlogs"), [(1, 1), (3, 3), (50, BACKLOGS)])
def test_a_connection_with_several_streams_may_hold_more(streams: int, backlogs: int) -> None:
    assert combined(["no such game"] * streams).backlog == backlogs * BACKLOG


class Flood:
    """A stream whose first event is a few times what a viewer may leave unread."""

    EVENT = b"data: " + b"x" * (40 * BACKLOG) + b"\n\n"

    def __init__(self) -> None:
        self.channel = Channel()
        self.left = threading.Event()

    def join(self, viewer: Viewer) -> list[bytes]:
        self.channel.viewers.add(viewer)
        return [self.EVENT]

    def leave(self, viewer: Viewer) -> None:
        self.channel.viewers.discard(viewer)
        self.left.set()

    def make(self) -> object:
        class Stream:
            """A route's endpoint that is an ASGI application."""

            async def __call__(self, scope: object, receive: object, send: object) -> None:
                await EventStream(flood.join, flood.leave)(scope, receive, send)  # type: ignore[arg-type]

        flood = self
        return application([Route("/flood", Stream())])


def test_a_viewer_that_does_not_read_is_disconnected() -> None:
    flood = Flood()
    with running(flood.make) as server, server.connect() as sock:  # type: ignore[arg-type]
        sock.sendall(b"GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert flood.left.wait(LIMIT_S)
        assert not flood.channel.viewers
        try:
            received = len(read_all(sock))
        except ConnectionResetError:
            received = 0
        assert received < len(Flood.EVENT)


def test_a_stream_ends_with_the_server_and_leaves_no_error_in_the_log() -> None:
    stream = Flood()
    stream.EVENT = b"data: x\n\n"
    with running(stream.make) as server:  # type: ignore[arg-type]
        sock = server.connect()
        sock.sendall(b"GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n")
        data = b""
        while not data.endswith(b"data: x\n\n\r\n"):
            data += sock.recv(65536)
    with sock:
        assert sock.recv(1) == b""
    assert stream.left.is_set()
    assert server.log == ""
