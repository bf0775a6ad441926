"""A bare echo on asyncio: 4 KiB reads, every byte sent back; what the transport alone costs."""

from __future__ import annotations

import asyncio
import socket


def serve() -> None:
    """Print `listening on HOST:PORT` and echo until killed."""
    asyncio.run(_serve())


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    listener.setblocking(False)
    host, port = listener.getsockname()
    print(f"listening on {host}:{port}", flush=True)
    while True:
        sock, _ = await loop.sock_accept(listener)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop.add_reader(sock, _echo, loop, sock)


def _echo(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
    try:
        data = sock.recv(4096)
    except ConnectionError:  # the load has ended with bytes on their way
        data = b""
    if data:
        sock.send(data)
    else:
        loop.remove_reader(sock)
        sock.close()
