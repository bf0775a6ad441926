"""The attacking processes of `arena bench hostile`: each repeats one attack until it is killed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

from arena_server.host.listener import raise_descriptor_limit

#: Connections of each attack.
FLOODERS = 10
NON_READERS = 10
LORISES = 1000
CALLERS = 20

_CHUNK = b"READY g1\n" * 400
_WATCH = b"HELLO 1 onlooker role=spectator\nWATCH *\n"

Address = tuple[str, int]


def bench_attack(kind: str, host: str, port: int) -> None:
    """Attack until killed."""
    raise_descriptor_limit()
    attack, number = _ATTACKS[kind]
    asyncio.run(_many(attack, number, (host, port)))


async def _many(attack: Callable[[Address], Awaitable[None]], number: int, address: Address) -> None:
    async def repeat() -> None:
        while True:
            with suppress(OSError):
                await attack(address)
            await asyncio.sleep(0)

    await asyncio.gather(*(repeat() for _ in range(number)))


async def _flood(address: Address) -> None:
    """Send READY without an offer until the server closes the connection."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(_WATCH)
        while not reader.at_eof():
            writer.write(_CHUNK)
            await writer.drain()
            await reader.read(4096)
    finally:
        writer.close()


async def _no_read(address: Address) -> None:
    """Watch all games with a small receive buffer and never read, until the server closes."""
    loop = asyncio.get_running_loop()
    sock = socket.socket()
    with sock:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        await loop.sock_connect(sock, address)
        await loop.sock_sendall(sock, _WATCH)
        while True:
            await asyncio.sleep(1)
            await loop.sock_sendall(sock, b"\n")


async def _loris(address: Address) -> None:
    """Send HELLO at one byte per second until the server closes."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        for byte in b"HELLO 1 slow-as-slow-can-be token=" + b"x" * 900:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(1)
            if reader.at_eof():
                return
    finally:
        writer.close()


async def _connect(address: Address) -> None:
    """Connect and close."""
    _, writer = await asyncio.open_connection(*address)
    writer.close()


_numbers = count()


async def _guess(address: Address) -> None:
    """Try a token."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(b"HELLO 1 unknown token=guess%d\n" % next(_numbers))
        await reader.read()
    finally:
        writer.close()


_ATTACKS: dict[str, tuple[Callable[[Address], Awaitable[None]], int]] = {
    "flood": (_flood, FLOODERS),
    "no-read": (_no_read, NON_READERS),
    "loris": (_loris, LORISES),
    "connect": (_connect, CALLERS),
    "guess": (_guess, CALLERS),
}
