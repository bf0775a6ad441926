"""Bots for the tests of the shells: what they play, and what they saw of it."""

from __future__ import annotations

import threading

from arena_client import Bot, GameView, Result

from .fake_server import BYE, Connection, play_game


def four(view: GameView) -> int:
    return 4


class Diary(Bot):
    """Plays 4 and writes down what it was told, and on which thread."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.threads: set[threading.Thread] = set()

    def new_game(self, view: GameView) -> None:
        self.threads.add(threading.current_thread())
        self.told.append(("new", view.game_id))

    def choose(self, view: GameView) -> int:
        self.threads.add(threading.current_thread())
        self.told.append(("choose", view.ply, view.board, view.visible))
        return 4

    def game_over(self, view: GameView, result: Result) -> None:
        self.told.append(("over", result.totals))


class Instant(Diary):
    instant = True


class Thinker(Bot):
    """Thinks until it is let go; `asked` tells that it does."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.let_go = threading.Event()
        self.times = 0

    def choose(self, view: GameView) -> int:
        self.times += 1
        self.asked.set()
        assert self.let_go.wait(20)
        return 4


def whole_visit(connection: Connection) -> None:
    connection.log_in()
    play_game(connection)
    connection.say(BYE)
    connection.expect_end()
