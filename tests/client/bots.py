"""Bots for the tests of both clients, and one whole script of the server."""

from __future__ import annotations

import threading

from arena_client import Bot, GameView, Result

from .fake_server import BYE, Connection, play_game


def four(view: GameView) -> int:
    return 4


class Recorder(Bot):
    """Plays 4 and records its calls and their threads."""

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.threads: set[threading.Thread] = set()

    def new_game(self, view: GameView) -> None:
        self.threads.add(threading.current_thread())
        self.calls.append(("new", view.game_id))

    def choose(self, view: GameView) -> int:
        self.threads.add(threading.current_thread())
        self.calls.append(("choose", view.ply, view.board, view.visible))
        return 4

    def game_over(self, view: GameView, result: Result) -> None:
        self.calls.append(("over", result.totals))


class Instant(Recorder):
    instant = True


class Blocking(Bot):
    """`choose` sets `asked` and returns after `let_go` is set."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.let_go = threading.Event()
        self.times = 0

    def choose(self, view: GameView) -> int:
        self.times += 1
        self.asked.set()
        assert self.let_go.wait(20)
        return 4


def whole_contest(connection: Connection) -> None:
    connection.log_in()
    play_game(connection)
    connection.send_lines(BYE)
    connection.expect_end()
