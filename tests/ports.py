"""Ports for tests that say beforehand where a server will listen, and listen there again and again."""

from __future__ import annotations

import atexit
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

#: What port 0 and every connection take theirs from, on Linux.
TAKEN_BY_CHANCE = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST = 10_000
#: A process keeps its ports to itself by an address each, until it ends.
_kept: list[socket.socket] = []


@atexit.register
def _let_go() -> None:
    for each in _kept:
        each.close()


def quiet_port() -> int:
    """A free port that no other program gets by chance, nor another process of the tests.

    Another program may get a port that was bound and closed.
    """
    highest = int(TAKEN_BY_CHANCE.read_text().split()[0])
    draw = Random(os.getpid() + len(_kept))
    while True:
        port = draw.randrange(LOWEST, highest)
        name, probe = socket.socket(socket.AF_UNIX), socket.socket()
        try:
            name.bind(f"\0arena-tests-port-{port}")
            probe.bind(("127.0.0.1", port))
        except OSError:
            name.close()
        else:
            _kept.append(name)
            return port
        finally:
            probe.close()


@contextmanager
def deaf_port() -> Iterator[int]:
    """A port without a listener: it is bound, so that no other program can listen on it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])
