"""Patience, sockets, the mind's thread and what the package imports: the parts beside player and view."""

from __future__ import annotations

import asyncio
import importlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import repeat

import pytest
import trio

from arena_client import Bot, ClientError, GameView
from arena_client.bot_thread import Mind
from arena_client.protocol import Player
from arena_client.retry import FIRST, LONGEST, TRIES, Patience, Tries, backoff
from arena_client.transport import LinkError, cause, describe, tune, where

from .fake_server import DEALT, OFFER


class TestPatience:
    def test_waits_double_up_to_the_longest(self) -> None:
        waits = list(backoff(8, first=1.0, longest=10.0, jitter=lambda: 0.0))
        assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]

    def test_jitter_takes_up_to_a_half_away(self) -> None:
        assert list(backoff(4, first=1.0, longest=9.0, jitter=lambda: 0.5)) == [0.75, 1.5, 3.0]

    def test_the_real_jitter_stays_within_its_bounds(self) -> None:
        waits = list(backoff())
        assert len(waits) == TRIES - 1
        assert all(FIRST / 2 <= wait <= LONGEST for wait in waits)
        assert list(backoff()) != waits, "two bots do not come back at the same moment"

    def test_giving_up_is_one_clear_line(self) -> None:
        tries = Tries(Patience(delays=lambda: iter([1.0, 2.0])), "here:1")
        assert [tries.after("refused", welcomed=False) for _ in range(2)] == [1.0, 2.0]
        with pytest.raises(ClientError, match=r"^gave up on here:1 after 3 tries: refused$"):
            tries.after("refused", welcomed=False)

    def test_a_log_in_begins_the_count_anew(self) -> None:
        tries = Tries(Patience(delays=lambda: iter([1.0])), "here:1")
        assert [tries.after("lost", welcomed=True) for _ in range(5)] == [1.0] * 5
        with pytest.raises(ClientError, match=r"^gave up on here:1: gone$"):
            tries.after("gone", welcomed=False)

    def test_time_spent_in_vain_counts_too(self) -> None:
        tries = Tries(Patience(delays=lambda: repeat(1.0), vain=25.0), "here:1")
        assert [tries.after("silence", welcomed=False, lasted=10.0) for _ in range(2)] == [1.0, 1.0]
        assert tries.after("lost", welcomed=True, lasted=1000.0) == 1.0
        assert [tries.after("silence", welcomed=False, lasted=10.0) for _ in range(2)] == [1.0, 1.0]
        with pytest.raises(ClientError, match=r"^gave up on here:1 after 3 tries: silence$"):
            tries.after("silence", welcomed=False, lasted=10.0)

    def test_the_server_may_ask_for_more(self) -> None:
        tries = Tries(Patience(delays=lambda: iter([1.0, 9.0])), "here:1")
        assert tries.after("rate", welcomed=False, at_least=7) == 7
        assert tries.after("rate", welcomed=False, at_least=7) == 9.0


class TestSockets:
    @pytest.mark.parametrize("port", [0, -1, 65536])
    def test_a_port_that_cannot_be_one(self, port: int) -> None:
        with pytest.raises(ClientError, match=f"^a port is a number from 1 to 65535, not {port}$"):
            where("here", port)

    def test_where(self) -> None:
        assert where("here", 65535) == "here:65535"

    def test_small_lines_leave_at_once_and_a_dead_peer_is_noticed(self) -> None:
        with socket.socket() as sock:
            tune(sock)
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)

    def test_an_option_that_the_system_lacks_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(socket, "TCP_USER_TIMEOUT", raising=False)
        with socket.socket() as sock:
            tune(sock)
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    @pytest.mark.parametrize(
        ("error", "text"),
        [
            (ConnectionRefusedError(111, "Connect call failed"), os.strerror(111)),
            (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
            (OSError("h has no address"), "h has no address"),
            (TimeoutError(), "no answer in time"),
            (trio.TooSlowError(), "no answer in time"),
        ],
    )
    def test_a_failure_in_a_few_words(self, error: BaseException, text: str) -> None:
        assert describe(error) == text

    def test_a_failure_is_told_by_its_cause(self) -> None:
        broken = trio.BrokenResourceError("socket connection broken")
        broken.__cause__ = ConnectionResetError(104, "x")
        assert describe(broken) == os.strerror(104)
        several = OSError("all attempts to connect to h:1 failed")
        several.__cause__ = ExceptionGroup("", [broken, ConnectionRefusedError(111, "x")])
        assert describe(several) == os.strerror(104)

    def test_a_fault_explains_more_than_a_lost_connection(self) -> None:
        lost, stopped, fault = LinkError("gone"), asyncio.CancelledError(), ClientError("no move")
        inner = BaseExceptionGroup("", [stopped, fault])
        assert cause(BaseExceptionGroup("", [lost, inner])) is fault
        assert cause(BaseExceptionGroup("", [lost, stopped])) is stopped
        assert cause(BaseExceptionGroup("", [lost])) is lost


class Echo(Bot):
    def choose(self, view: GameView) -> int:
        return 4


def due(bot: Bot) -> Player:
    """A player whose bot is to be asked about a new game."""
    player = Player(bot, "me")
    player.opened()
    greeting = ("ARENA 1 fake/1", "WELCOME me session=s1 resume=r1")
    player.receive_data("".join(f"{line}\n" for line in (*greeting, OFFER, *DEALT)).encode())
    player.data_to_send()
    return player


class TestMind:
    def test_an_answer_comes_through_the_loop(self) -> None:
        posted: list[Callable[[], None]] = []
        there = threading.Event()

        def post(answer: Callable[[], None]) -> None:
            posted.append(answer)
            there.set()

        woken: list[bool] = []
        player = due(Echo())
        mind = Mind(player, post, lambda: woken.append(True))
        mind.think()
        assert there.wait(20)
        assert (player.data_to_send(), woken) == (b"", []), "nothing happens off the loop"
        posted.pop()()
        assert (player.data_to_send(), woken) == (b"READY g1\n", [True])
        mind.close()

    def test_a_loop_that_is_gone_ends_the_thread(self) -> None:
        """The bot comes back from a search after the visit was cancelled: nobody is told, nothing breaks."""
        tried = threading.Event()

        def post(answer: Callable[[], None]) -> None:
            tried.set()
            raise RuntimeError("Event loop is closed")

        before = set(threading.enumerate())
        mind = Mind(due(Echo()), post, lambda: None)
        mind.think()
        assert tried.wait(20)
        for thread in set(threading.enumerate()) - before:
            thread.join(20)
            assert not thread.is_alive()

    def test_closing_ends_the_thread(self) -> None:
        posted = threading.Event()
        before = set(threading.enumerate())
        mind = Mind(due(Echo()), lambda answer: posted.set(), lambda: None)
        mind.think()
        assert posted.wait(20)
        (thread,) = set(threading.enumerate()) - before
        assert (thread.name, thread.daemon) == ("bot me", True)
        mind.close()
        thread.join(20)
        assert not thread.is_alive()

    def test_closing_a_mind_that_never_thought(self) -> None:
        Mind(due(Echo()), lambda answer: None, lambda: None).close()


def test_trio_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trio", None)
    monkeypatch.delitem(sys.modules, "arena_client.trio_client")
    wanted = r"^arena_client.trio_client needs trio: pip install 'insertion-arena\[trio\]'$"
    with pytest.raises(ImportError, match=wanted):
        importlib.import_module("arena_client.trio_client")


def test_a_bot_author_needs_next_to_nothing() -> None:
    """The client and its scripted bots import nothing beyond the standard library and msgpack."""
    program = (
        "import sys; before = set(sys.modules);"
        "import arena_client, arena_client.scripted;"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(*tops - set(sys.stdlib_module_names))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    tops = {top for top in shown.stdout.split() if "cython" not in top}  # msgpack's own runtime
    assert tops == {"arena_client", "arena_protocol", "msgpack"}
