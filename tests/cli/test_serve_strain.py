"""`arena serve` under strain: a failing database, a bug, a full pipe, no descriptors, a thousand bots."""

from __future__ import annotations

import asyncio
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from tests.server.lines import LineClient
from tests.server.peers import Peer
from tests.server.programs import PATIENCE_S, Players, Server, contest

from arena_server.host.silence import SILENT_S
from arena_server.store.reader import Results

pytestmark = pytest.mark.real


def seat_of(game: str) -> int:
    """The seat that a GAME line gives."""
    return int(game.partition(" seat=")[2].split()[0])


def _entered(database: Path) -> bool:
    """Whether the contest's row is written: from then on the writer only needs a lock to commit."""
    try:
        with Results(database) as results:
            return bool(results.contests())
    except Exception:
        return False


async def _thousand(server: Server, names: list[str]) -> None:
    loop = asyncio.get_running_loop()

    async def join(name: str) -> Peer:
        sock = socket.socket()
        sock.setblocking(False)
        await loop.sock_connect(sock, ("127.0.0.1", server.port))
        peer = Peer(sock)
        assert (await peer.line()).startswith(b"ARENA 1 ")
        await peer.say(f"HELLO 1 {name}\n".encode())
        assert (await peer.line()).startswith(f"WELCOME {name} ".encode())
        return peer

    peers = await asyncio.gather(*map(join, names))
    try:
        await _talk_and_part(server, peers)
    finally:
        for peer in peers:
            peer.sock.close()


async def _talk_and_part(server: Server, peers: list[Peer]) -> None:

    async def hello_again(peer: Peer) -> None:
        await peer.say(b"PING here\n")
        while await peer.line() != b"PONG here":
            pass

    await asyncio.gather(*map(hello_again, peers))
    server.process.send_signal(signal.SIGTERM)
    for last in await asyncio.gather(*(peer.everything() for peer in peers)):
        assert b"BYE" not in last  # the next server goes on


@pytest.mark.soak
def test_a_contest_waits_for_a_program_that_holds_its_database(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path) as server, LineClient(server.port) as raw:
        raw.say("HELLO 1 a")
        raw.until("WELCOME")
        while not _entered(server.database):
            raw.say("PING x")
            raw.until("PONG x")
        with closing(
            sqlite3.connect(server.database, isolation_level=None, check_same_thread=False)
        ) as other:
            other.execute("BEGIN EXCLUSIVE")
            release = threading.Timer(SILENT_S + 2, other.execute, ["ROLLBACK"])
            release.start()
            helper = Players(server.port, [("b", "first-legal")])
            raw.play_to_the_end()  # OVER is sent only after the result is on disk
            release.join()
        outcome = server.end(signal.SIGTERM)
        helper.join()
    events = [line.split()[2] for line in outcome.err.splitlines() if line[:2] == "20"]
    assert [each for each in events if each.startswith("database-")] == [
        "database-silent",
        "database-answers",
    ]


def test_a_bug_ends_the_server_with_its_trace_in_the_log(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b"))
    program = (
        "import sys; from arena_server.core import contest\n"
        "def fault(*_): raise RuntimeError('a bug')\n"
        "contest.Handlers.received = fault\n"
        "sys.argv = ['arena', 'serve', 'c.toml', '--port', '0', '--no-web']\n"
        "from arena_cli import main; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        with LineClient(int(server.stdout.readline().rpartition(":")[2])) as raw:
            raw.say("HELLO 1 a")
            raw.say("PING 1")
            _, err = server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 1
    *log, last = err.splitlines()
    assert last == "arena: contest trial was closed at a fault of the server's own; the log has it"
    assert any(" error crash trace='RuntimeError: a bug'" in line for line in log)


def test_a_full_stderr_pipe_does_not_stop_the_games(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path) as server:
        # Each connection logs two lines, which the test does not read: 64 KiB fill the pipe.
        for _ in range(700):
            with LineClient(server.port) as raw:
                raw.say("HELLO 1 unknown token=wrong")
                raw.until("ERROR")
        players = Players(server.port, [("a", "first-legal"), ("b", "first-legal")])
        assert players.join() == {"a": "finished", "b": "finished"}


@pytest.mark.soak
def test_out_of_descriptors_it_refuses_and_connected_bots_play_on(tmp_path: Path) -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))

    with Server(contest("a", "b"), tmp_path, before=few) as server, ExitStack() as visits:
        bots = {name: visits.enter_context(LineClient(server.port)) for name in "ab"}
        for name, raw in bots.items():
            raw.say(f"HELLO 1 {name}")
            raw.until("WELCOME")
        crowd = [visits.enter_context(LineClient(server.port)) for _ in range(200)]  # there are 54 places
        lines = [line for raw in crowd[:140] for line in raw.rest()]
        # Those that give way so fast that the server has no descriptor for their last line get none.
        last = {line[:11] for line in lines if line != "reset" and not line.startswith("ARENA ")}
        assert last == {"ERROR full "}
        games = [raw.until("GAME") for raw in bots.values()]
        order = [raw for _, raw in sorted(zip(map(seat_of, games), bots.values(), strict=True))]
        for raw in order:
            raw.say(f"READY {games[0].split()[1]}")
        for _ in range(3):
            for raw in order:
                raw.until("TURN")
                raw.say("MOVE 6")
        for raw in order:
            assert " end=complete " in raw.until("OVER")


@pytest.mark.parametrize("bots", [300, pytest.param(1000, marks=pytest.mark.soak)])
@pytest.mark.soak
def test_hundreds_of_bots(tmp_path: Path, bots: int) -> None:
    names = [f"b{number}" for number in range(bots)]
    # They log in, are offered games and answer; they do not send READY, so all games stay offered.
    text = contest(*names, contest='login = "10m"')
    with Server(text, tmp_path, "--log-level", "error") as server:
        asyncio.run(_thousand(server, names))
        assert server.end().code == 0
        with Results(server.database) as results:
            assert results.contest().status == "stopped"
