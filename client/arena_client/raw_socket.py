"""A rascal on a real connection: blocking, one process or thread each, as badly as the script says.

It must not know: what the lines mean, which misbehaviour it performs.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable, Iterable

from arena_client.rascal import Act, Close, Deaf, Rascal, Raw, Say, Wait
from arena_protocol.lines import SERVER_LINE_LIMIT, LineBuffer, Overlong

READ_SIZE = 4096

#: SO_LINGER on with no time: close() then sends RST instead of FIN.
_RESET = struct.pack("ii", 1, 0)


def visit(
    rascal: Rascal,
    host: str,
    port: int,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Play the script on one connection and return how it ended: `closed`, `deaf` or `gone`.

    `closed`: by the script; `gone`: by the server. A deaf rascal stays until the server closes.
    Raises OSError if there is nobody to connect to.
    """
    with socket.create_connection((host, port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            return _perform(rascal, sock, sleep)
        except OSError:
            return "gone"


def _perform(rascal: Rascal, sock: socket.socket, sleep: Callable[[float], None]) -> str:
    lines = LineBuffer(SERVER_LINE_LIMIT)
    end = _act(rascal.opened(), sock, sleep)
    while end is None:
        data = sock.recv(READ_SIZE)
        if not data:
            return "gone"
        for line in lines.feed(data):
            if end is None and not isinstance(line, Overlong):
                end = _act(rascal.receive(line), sock, sleep)
    return end


def _act(acts: Iterable[Act], sock: socket.socket, sleep: Callable[[float], None]) -> str | None:
    """Do what the script says; how the connection ended, or None while it goes on."""
    for act in acts:
        match act:
            case Say(text, times):
                sock.sendall(f"{text}\n".encode() * times)
            case Raw(data):
                sock.sendall(data)
            case Wait(ms):
                sleep(ms / 1000)
            case Deaf():
                _await_hang_up(sock)
                return "deaf"
            case Close(reset):
                if reset:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                return "closed"
    return None


def _await_hang_up(sock: socket.socket) -> None:
    """Wait until the server has closed its side, without reading a byte."""
    poll = select.poll()
    # Not asking for POLLIN keeps unread lines from waking us; POLLRDHUP is Linux's word for FIN.
    poll.register(sock, getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR)
    poll.poll()
