"""The poller says to each connection what its socket is ready for, with epoll and without."""

from __future__ import annotations

import select
import socket
from contextlib import closing
from selectors import EVENT_READ, EVENT_WRITE

import pytest

from arena_server.host.poller import Poller


class Watching:
    """A connection that remembers what the poller says."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def readable(self) -> None:
        self.told.append("read")

    def writable(self) -> None:
        self.told.append("write")


@pytest.mark.parametrize("epoll", [True, False])
def test_a_connection_is_told_what_it_asks_for(epoll: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not epoll:
        monkeypatch.delattr(select, "epoll", raising=False)
        monkeypatch.setattr("arena_server.host.poller.READABLE", EVENT_READ)
        monkeypatch.setattr("arena_server.host.poller._WRITABLE", EVENT_WRITE)
    ours, theirs = socket.socketpair()
    poller, connection = Poller(), Watching()

    def told(events: int) -> list[str]:
        poller.watch(ours, events, connection)
        connection.told.clear()
        for fd, ready in poller.poll(0):
            poller.notify(fd, ready)
        return connection.told

    with closing(poller), ours, theirs:
        assert told(0) == told(EVENT_READ) == []
        assert told(EVENT_READ | EVENT_WRITE) == ["write"]
        theirs.send(b"x")
        assert told(EVENT_READ | EVENT_WRITE) == ["write", "read"]
        assert told(EVENT_WRITE) == ["write"]
        assert told(EVENT_READ) == ["read"]
        assert told(0) == told(0) == []
        theirs.close()
        assert told(EVENT_READ) == ["read"]  # the end of input, and with epoll an error besides
        poller.watch(ours, 0, connection)
        poller.notify(ours.fileno(), EVENT_READ)
        assert connection.told == ["read"]
