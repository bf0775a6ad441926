"""What a bot sends beside its moves: notes about its game, and bytes that the server keeps for it."""

from __future__ import annotations

import pytest

from arena_client import ClientError, GameView

from .fake_server import (
    DEALT,
    OFFER,
    OVER,
    PLAYED_1,
    PLAYED_2,
    PLAYED_3,
    PLAYED_4,
    START,
    TURN_1,
)
from .harness import Four, Harness, playing


class TestNotes:
    """`view.note`: INFO before the move, and only where it belongs."""

    NOTE = "INFO game=g1 ply=1 depth=9 eval=-30 nodes=120000 line=4,7,12 text=two runs ahead"

    @staticmethod
    def noting() -> Harness:
        class Noting(Four):
            def choose(self, view: GameView) -> int | str:
                view.note("two  runs\nahead", depth=9, eval=-30, nodes=120_000, line=(4, "7", 12))
                return super().choose(view)

        return playing(bot=Noting())

    def test_a_note_leaves_before_its_move(self) -> None:
        client = self.noting()
        client.receive(TURN_1)
        assert client.run_jobs() == [self.NOTE, "MOVE 4"]

    def test_a_note_of_a_search_that_goes_on_waits_for_no_move(self) -> None:
        client = self.noting()
        woken: list[bool] = []
        client.protocol.on_note = lambda: woken.append(True)
        client.receive(TURN_1)
        client.job().call()
        assert woken == [True]
        assert client.sent() == [self.NOTE]

    @pytest.mark.parametrize(
        "lines",
        [
            ["ZOMBIE ply=1 reason=timeout"],
            ["ZOMBIE ply=1 reason=timeout", PLAYED_1, PLAYED_2, PLAYED_3, PLAYED_4, OVER],
            ["BYE reason=finished"],
        ],
    )
    def test_a_note_that_is_too_late_is_dropped(self, lines: list[str]) -> None:
        client = self.noting()
        client.receive(TURN_1)
        job = client.job()
        client.receive(*lines)
        job.call()
        assert client.sent() == []

    def test_a_note_without_a_connection_is_dropped(self) -> None:
        client = self.noting()
        client.receive(TURN_1)
        job = client.job()
        client.protocol.connection_lost()
        job.call()
        client.protocol.connection_made()
        assert client.sent() == []

    def test_of_many_notes_the_last_are_sent(self) -> None:
        client = playing()
        client.receive(TURN_1)
        view = client.job().view
        for depth in range(100):
            view.note(depth=depth)
        assert client.sent() == [f"INFO game=g1 ply=1 depth={depth}" for depth in range(68, 100)]


class Keeps(Four):
    """Keeps a number that it counts up in each game."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = b""

    def choose(self, view: GameView) -> int:
        self.kept = b"%d" % (int(self.kept or b"0") + 1)
        return 4

    def game_over(self, view: GameView, result: object) -> None:
        self.kept = b"x" * 401


def keeping(welcome: str) -> Harness:
    client = Harness(Keeps())
    assert client.receive("ARENA 1 fake/1") == ["HELLO 1 me agent=arena-client storage=1"]
    client.receive(f"WELCOME me session=s1 resume=r1{welcome}", OFFER, *DEALT)
    client.run_jobs()
    return client


def test_what_a_bot_keeps_goes_with_its_game_and_behind_it_at_once() -> None:
    client = keeping(" storage=500 stored=3431")
    client.receive(START, TURN_1)
    assert client.run_jobs() == ["STORE 2 data=3432 game=g1", "MOVE 4"]
    client.receive(PLAYED_1, PLAYED_2, OVER.replace("g2", "g1"))
    sent = client.run_jobs()
    assert sent == [f"STORE 401 data={'78' * 400}", "STORE 401 data=78 at=400"]


def test_a_server_that_keeps_nothing_gets_nothing() -> None:
    client = keeping("")
    client.receive(START, TURN_1)
    assert client.run_jobs() == ["MOVE 4"]


def test_more_than_the_server_keeps() -> None:
    client = keeping(" storage=1 stored=3939")
    client.receive(START, TURN_1)
    with pytest.raises(ClientError, match="the bot keeps 3 bytes, and the server 1 at most"):
        client.run_jobs()


def test_after_another_log_in_the_bot_has_what_is_newer() -> None:
    client = keeping(" storage=500 stored=3431")
    client.receive(START, TURN_1)
    client.run_jobs()
    client.protocol.connection_lost()
    client.protocol.connection_made()
    client.receive("ARENA 1 fake/1", "WELCOME me session=s2 resume=r2 storage=500 stored=3431")
    assert client.protocol.bot.kept == b"42"
