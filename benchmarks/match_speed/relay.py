"""A bare relay of lines between two bots, as a measure of what any referee over TCP pays: it judges nothing.

python benchmarks/match_speed/relay.py BOT PLIES
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys

PLAYED = b"PLAYED 12 1 6 time=0 clock=19999,19998 points=1 total=12,13 reveal=4\n"
TURN = b"TURN 13 clock=19999,19998\n"


def main(bot: str, plies: int) -> None:
    """Pass `plies` moves on: what was played to both bots, and a turn to the one that did not move."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        environment = {
            **os.environ,
            "ARENA_HOST": host,
            "ARENA_PORT": str(port),
            "ARENA_NAME": "bot",
            "ARENA_TOKEN": "0",
        }
        bots = [subprocess.Popen([bot], env=environment) for _ in range(2)]
        seats = [listener.accept()[0] for _ in bots]
    for seat in seats:
        seat.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        seat.sendall(b"ARENA 1 relay\n")
        seat.recv(4096)
    seats[0].send(TURN)
    for ply in range(plies):
        mover, other = seats[ply % 2], seats[1 - ply % 2]
        mover.recv(4096)
        other.send(PLAYED + TURN)
        mover.send(PLAYED)
    for seat in seats:
        seat.close()
    for each in bots:
        each.wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
