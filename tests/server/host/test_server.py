"""`arena serve` as a process: the effective connection cap."""

from __future__ import annotations

import resource
import signal
import socket
from pathlib import Path

import pytest
from tests.server.programs import Server, contest

pytestmark = pytest.mark.real


def few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))


@pytest.mark.parametrize(
    ("options", "server", "cap"),
    [((), "", 36), (("--admin-port", "0"), "", 1), ((), "max_connections = 36", None)],
)
@pytest.mark.soak
def test_a_limit_of_open_files_that_lowers_the_cap_is_a_warning(
    tmp_path: Path, options: tuple[str, ...], server: str, cap: int | None
) -> None:
    with Server(contest("a", "b", server=server), tmp_path, *options, before=few_descriptors) as process:
        with socket.create_connection(("127.0.0.1", process.port)) as sock:
            assert sock.recv(1) == b"A"
        lines = process.end(signal.SIGTERM).err.splitlines()
    found = [line.split(" ", 1)[1] for line in lines if "connection-cap" in line]
    assert found == ([] if cap is None else [f"warning connection-cap cap={cap} wanted=4000 open_files=100"])
