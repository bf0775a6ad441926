"""How fast a webhook catches up with a backlog of results: `python -m benchmarks.webhooks [SECONDS]`.

The rival is a loop over http.client on one connection that posts the same messages from memory, in their
order, and waits a second after a refusal, as docs/operating.md promises. Ours reads them from the database,
signs them, and keeps its place on the disk. Prints results a second, and the ratio to the rival of the run.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

from tests.server.records import Kept, game, opening

from arena_server.terms.spec import Webhook
from arena_server.webhooks.delivery import FIRST_PAUSE_S, Cursors, Delivery

GAMES = 10_000
SECONDS = 10.0
BATCH = 100
SECRET = "a secret of the receiver"
#: By name: the seconds before an answer, and of how many messages one is refused.
RECEIVERS = {"at once": (0.0, 0), "after 20 ms": (0.02, 0), "refuses a fifth": (0.0, 5)}


def receive(pipe: Connection, pause_s: float, refused: int) -> None:
    """A receiver in a process of its own; sends its port through `pipe`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = 0
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return writer.close()
            (length,) = (
                int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"
            )
            await reader.readexactly(length)
            await asyncio.sleep(pause_s)
            asked += 1
            status = b"503 No" if refused and asked % refused == 0 else b"200 OK"
            writer.write(b"HTTP/1.1 %s\r\ncontent-length: 0\r\n\r\n" % status)

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def rival(url: str, messages: list[bytes], seconds: float) -> float:
    """Results a second."""
    parts = urlsplit(url)
    connection = HTTPConnection(str(parts.hostname), parts.port)
    begin, done = time.perf_counter(), 0
    while done < len(messages) and time.perf_counter() < begin + seconds:
        connection.request("POST", "/hook", messages[done], {"content-type": "application/json"})
        response = connection.getresponse()
        response.read()
        if response.status == 200:
            done += 1
        else:
            time.sleep(FIRST_PAUSE_S)
    connection.close()
    return done / (time.perf_counter() - begin)


def ours(url: str, database: Path, batch: int, seconds: float) -> float:
    """Results a second."""
    hook = Webhook(url, SECRET, batch=batch)
    path = database.with_name(f"cursors-{batch}-{urlsplit(url).port}")
    cursors = Cursors(path)
    cursors.begin(hook, 0, None)
    delivery = Delivery(hook, 1, database, "trial", cursors, lambda event: None)
    begin = time.perf_counter()
    while (pause := delivery.step()) is not None and time.perf_counter() < begin + seconds:
        time.sleep(pause)
    taken = time.perf_counter() - begin
    delivery.close()
    ((_, ((_, _, place),)),) = json.loads(path.read_text()).values()
    return float(place) / taken


def messages_of(database: Path, folder: Path) -> list[bytes]:
    """The bodies that ours sends."""
    found: list[bytes] = []
    hook = Webhook("http://127.0.0.1/", SECRET)
    cursors = Cursors(folder / "cursors")
    cursors.begin(hook, 0, None)

    def keep(message: object, seconds: int) -> None:
        found.append(message.body)  # type: ignore[attr-defined]

    delivery = Delivery(hook, 1, database, "trial", cursors, lambda event: None, send=keep)
    while delivery.step() is not None:
        pass
    return found


def measure(players: dict[str, Callable[[str], float]]) -> None:
    for name, (pause_s, refused) in RECEIVERS.items():
        here, there = multiprocessing.Pipe()
        process = multiprocessing.Process(target=receive, args=(there, pause_s, refused), daemon=True)
        process.start()
        url = f"http://127.0.0.1:{here.recv()}/hook"
        rates = {player: play(url) for player, play in players.items()}
        process.terminate()
        first = next(iter(rates.values()))
        print(f"{name:16}" + "".join(f"{rate:12,.0f} ({rate / first:5.1f})" for rate in rates.values()))


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "arena.db"
        kept = Kept(database, opening(names=("a", "b")))
        kept.start()
        for number in range(1, GAMES + 1):
            kept.writer.store(f"g{number}", game(number))
        kept.close("finished")
        time.sleep(opening().config.spectator_delay_ms / 1000)
        messages = messages_of(database, Path(name))
        print(f"{GAMES:,} results waiting; results a second (ratio to http.client)\n")
        print(f"{'receiver':16}{'http.client':>20}{'ours':>20}{f'batch = {BATCH}':>20}")
        measure(
            {
                "http.client": lambda url: rival(url, messages, seconds),
                "ours": lambda url: ours(url, database, 1, seconds),
                "batch": lambda url: ours(url, database, BATCH, seconds),
            }
        )


if __name__ == "__main__":
    main()
