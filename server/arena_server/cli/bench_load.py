"""The loading half of `arena bench referee`: instant bots, or bare talkers, on trio.

trio is the client's other event loop, and this is a process of its own: the measured server
shares neither loop nor interpreter with what loads it.
"""

from __future__ import annotations

import logging
from functools import partial

import trio

from arena_client import trio_shell
from arena_client.scripted import Fixed
from arena_server.descriptors import raise_descriptor_limit

#: A line as long as the usual MOVE.
LINE = b"MOVE 6\n"


def bench_load(kind: str, games: int, host: str, port: int) -> None:
    """Play with two bots a game, or talk on as many connections as there are games, to the server's end."""
    raise_descriptor_limit()
    # The server leaves in the middle of games once it has measured; that is no news to anybody.
    logging.getLogger("arena_client").setLevel(logging.ERROR)
    trio.run(_play if kind == "referee" else _talk, games, host, port)


async def _play(games: int, host: str, port: int) -> None:
    async with trio.open_nursery() as nursery:
        for number in range(2 * games):
            play = partial(trio_shell.play, Fixed("6"), host, port, name=f"b{number}")
            nursery.start_soon(play)


async def _talk(talkers: int, host: str, port: int) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(talkers):
            nursery.start_soon(_converse, host, port)


async def _converse(host: str, port: int) -> None:
    """Say a line, wait for it to come back, and so on."""
    stream = await trio_shell.connect(host, port)
    try:
        while True:
            await stream.send_all(LINE)
            left = len(LINE)
            while left:
                data = await stream.receive_some(4096)
                if not data:
                    return
                left -= len(data)
    except trio.BrokenResourceError:
        return  # the server has measured enough
