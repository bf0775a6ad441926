"""`Bridge` between a program of a few lines and a server that follows a script."""

from __future__ import annotations

import asyncio
import io
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from arena_client.bridges.adapters import Adapter
from arena_client.bridges.run import Bridge, Program
from arena_client.bridges.seat import Seat
from arena_client.errors import ClientError

from ..fake_server import DEALT, OFFER, OVER

pytestmark = [pytest.mark.real, pytest.mark.asyncio]

#: Notes each start in a file and says HELLO; ends at once in the first, third ... of them, and is silent in
#: the others.
EVERY_SECOND_ENDS = """
import sys
print("HELLO 1 me", flush=True)
with open(sys.argv[1], "a+") as starts:
    starts.write("+")
    starts.seek(0)
    ends = len(starts.read()) % 2 == 1
sys.exit(7 if ends else len(sys.stdin.read()) * 0)
"""
#: A game whose READY the program did not send.
FORFEITED = "".join(f"{line}\n" for line in (OFFER, *DEALT, "ZOMBIE ply=1 reason=timeout", OVER)).encode()

#: Leaves a child behind that holds its pipes, and ends with status 7.
LEAVES_A_CHILD = """
import os, signal, sys
if os.fork():
    os._exit(7)
signal.pause()
"""


async def test_a_program_has_ended_although_a_child_of_it_holds_its_pipes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena_client.bridges.run.REST_S", 0.1)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        program = [sys.executable, "-c", LEAVES_A_CHILD]
        bridge = Bridge(program, Adapter("me"), Seat("me"), host, port, stderr=io.BytesIO())
        async with asyncio.timeout(60):
            with pytest.raises(ClientError, match=r"\(exit status 7\); given up after 3 times$"):
                await bridge.run()


@pytest.mark.soak
async def test_ends_between_games_without_an_answer_are_counted_over_the_games(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    starts.touch()
    served = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"ARENA 1 fake/1\n")
        await reader.readline()
        writer.write(b"WELCOME me session=s1 resume=r1\n")
        for game in range(3):
            # The bridge has seen the end of the start before, so that no game is given up.
            while not reader.at_eof() and len(starts.read_text()) < 2 * game + 2:
                await asyncio.sleep(0.01)
            writer.write(FORFEITED)
        writer.write(b"BYE reason=finished\n")
        writer.close()
        with suppress(ConnectionError):  # the bridge has left
            await writer.wait_closed()
        served.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        program = [sys.executable, "-c", EVERY_SECOND_ENDS, str(starts)]
        bridge = Bridge(program, Adapter("me"), Seat("me"), host, port, stderr=io.BytesIO())
        with pytest.raises(ClientError, match=r"\(exit status 7\); given up after 3 times$"):
            await bridge.run()
        await served.wait()
    assert starts.read_text() == "+" * 5


#: Writes its first line behind a byte order mark, in two pieces, as a runtime of Windows does.
MARKED = """
import os, time
os.write(1, b"\\xef\\xbb")
os.write(1, b"\\xbf\\r\\nOK\\r\\n\\xef\\xbb\\xbfOK\\n")
"""


async def test_the_first_line_of_a_program_has_no_byte_order_mark() -> None:
    program = await Program.start([sys.executable, "-c", MARKED])
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    program.watch(lines.put_nowait, io.BytesIO())
    found = []
    while (line := await lines.get()) is not None:
        found.append(line)
    await program.end(60)
    assert found == [b"OK", b"\xef\xbb\xbfOK"]
