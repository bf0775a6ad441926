"""The only way out of a bot's container: connections to PORT of its loopback go to the referee.

It runs by itself, in a container of its own with any Python 3, whose network the bot's container shares:
nothing is there but loopback. The referee is a Unix socket in a folder that only this container has.
It ends with its stdin, which the launcher holds: if the launcher is killed, nothing is left of it.
"""

import asyncio
import socket
import sys


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, before=None) -> None:  # type: ignore[no-untyped-def]
    """Copy until the end of one direction, and end the other side's; await `before()` before each part."""
    try:
        while data := await reader.read(65536):
            if before is not None:
                await before()
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


async def join(first: tuple, second: tuple, before=None) -> None:  # type: ignore[no-untyped-def, type-arg]
    """Copy both ways until both have ended; await `before()` before each part that goes to the first."""
    for _, writer in (first, second):
        sock = writer.get_extra_info("socket")
        if sock.family == socket.AF_INET:
            # A line of the protocol is a packet: it must not wait for the next one.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    await asyncio.gather(copy(first[0], second[1]), copy(second[0], first[1], before))
    for _, writer in (first, second):
        writer.close()


async def main(path: str, port: int) -> None:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            referee = await asyncio.open_unix_connection(path)
        except OSError:
            writer.close()
            return
        await join((reader, writer), referee)

    server = await asyncio.start_server(accept, "127.0.0.1", port)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    async with server:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
