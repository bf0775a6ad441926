"""The player without I/O: lines in, lines and jobs out, over as many connections as a test likes.

Here one connection: the log-in, games, answers of every kind.
"""

from __future__ import annotations

import logging

import pytest

from arena_client import ClientError
from arena_client.protocol import Player

from .fake_server import (
    BYE,
    DEALT,
    OFFER,
    OVER,
    PLAYED_1,
    PLAYED_2,
    PLAYED_3,
    PLAYED_4,
    START,
    TURN_1,
    TURN_3,
)
from .table import GREETING, HELLO, Four, Table, playing


def test_a_whole_contest_line_by_line() -> None:
    table = Table()
    assert table.hear("ARENA 1 fake/1") == [HELLO]
    assert table.hear("WELCOME me session=s1 resume=r1") == []
    assert (table.hear(OFFER, *DEALT), table.think()) == ([], ["READY g1"])
    assert (table.hear(START, TURN_1), table.think()) == ([], ["MOVE 4"])
    assert (table.hear(PLAYED_1, PLAYED_2, TURN_3), table.think()) == ([], ["MOVE 4"])
    assert (table.hear(PLAYED_3, PLAYED_4, OVER), table.think()) == ([], [])
    assert (table.hear(BYE), table.player.farewell) == ([], "finished")
    assert table.bot.told == ["new g1", "choose 1", "choose 3", "over 60"]  # type: ignore[attr-defined]


def test_the_first_line_names_token_and_games() -> None:
    bot = Four()
    bot.games = ("insertion", "xo")
    table = Table(bot, token="s3cret")
    assert table.hear("ARENA 1 fake/1") == ["HELLO 1 me games=insertion,xo token=s3cret agent=arena-client"]


@pytest.mark.parametrize(
    "more", [{"name": "no name"}, {"token": "two words"}, {"token": "x" * 2000}, {"token": ""}, {"name": "é"}]
)
def test_a_log_in_that_cannot_be_said(more: dict[str, str]) -> None:
    with pytest.raises(ClientError, match=r"^the server could not read this log-in: "):
        Player(Four(), **({"name": "me"} | more))


def test_ping_is_answered_at_any_time_of_the_game() -> None:
    table = playing()
    assert table.hear("PING a1") == ["PONG a1"]
    table.hear(TURN_1)
    job = table.job()
    assert table.hear("PING a2") == ["PONG a2"]
    table.player.done(job, 4)
    assert table.said() == ["MOVE 4"]


def test_blank_lines_and_unknown_verbs_ask_for_nothing() -> None:
    table = playing()
    assert table.hear("", "\r", "NEWS of tomorrow", "PONG x") == []


def test_only_one_question_at_a_time() -> None:
    table = playing()
    table.hear(TURN_1)
    assert table.job().kind == "choose"
    assert table.player.next_job() is None


def test_a_job_is_done_once() -> None:
    table = playing()
    table.hear(TURN_1)
    job = table.job()
    table.player.done(job, 4)
    with pytest.raises(AssertionError, match="one job at a time, and each is done once"):
        table.player.done(job, 4)


def test_the_deal_is_complete_before_the_bot_is_asked() -> None:
    table = Table()
    table.hear(*GREETING, OFFER)
    assert table.player.next_job() is None
    table.hear(DEALT[0])
    assert table.player.next_job() is None, "insertion has a NEXT"
    table.hear(DEALT[1])
    assert table.job().view.visible == "61"


def test_a_game_without_next_is_dealt_with_state() -> None:
    table = Table()
    table.hear(*GREETING, "GAME g3 tictactoe seat=1 seats=2 names=me,rival clock=1000 increment=0")
    table.hear("STATE .../.../...")
    assert table.think() == ["READY g3"]


def test_an_unknown_game_is_dealt_with_state() -> None:
    table = Table()
    table.hear(*GREETING, "GAME g3 hex seat=1 seats=2 names=me,rival clock=1000 increment=0", "STATE 11/11")
    assert table.think() == ["READY g3"]


@pytest.mark.parametrize(
    ("value", "line"), [("a1", "MOVE a1"), (14, "MOVE 14"), (0, "MOVE 0"), (True, "MOVE 1"), (-3, "MOVE -3")]
)
def test_moves_are_sent_as_they_are(value: int | str, line: str) -> None:
    table = playing()
    table.hear(TURN_1)
    table.player.done(table.job(), value)
    assert table.said() == [line]


def test_any_integer_type_is_a_move() -> None:
    class Numpyish:
        def __index__(self) -> int:
            return 7

    table = playing()
    table.hear(TURN_1)
    table.player.done(table.job(), Numpyish())
    assert table.said() == ["MOVE 7"]


@pytest.mark.parametrize("value", [None, 4.0, [4], b"4"])
def test_an_answer_of_a_wrong_type(value: object) -> None:
    table = playing()
    table.hear(TURN_1)
    with pytest.raises(ClientError, match=r"^choose\(\) must return a move as an int or a str, not "):
        table.player.done(table.job(), value)


@pytest.mark.parametrize("value", ["", "4\nQUIT", "4 5", "ä", "x" * 1024])
def test_an_answer_that_is_no_value_of_the_wire(value: str) -> None:
    table = playing()
    table.hear(TURN_1)
    with pytest.raises(ClientError, match=r"^choose\(\) returned .*, which cannot be sent as a move: "):
        table.player.done(table.job(), value)


def test_a_move_thought_of_too_late_is_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    table = playing()
    table.hear(TURN_1)
    job = table.job()
    with caplog.at_level(logging.WARNING, "arena_client"):
        table.hear("ZOMBIE ply=1 reason=timeout", PLAYED_1.replace("move=4", "move=6"), PLAYED_2)
    table.player.done(job, 4)
    assert table.said() == []
    assert caplog.messages == [
        "g1: me is a zombie from ply 1 on (timeout): the server plays in its place until the game ends"
    ]


def test_the_zombie_of_another_seat_is_not_mine(caplog: pytest.LogCaptureFixture) -> None:
    table = playing()
    table.hear("ZOMBIE ply=1 reason=illegal seat=2", TURN_1)
    assert table.think() == ["MOVE 4"]
    assert caplog.messages == []


def test_ready_comes_too_late_for_a_zombie() -> None:
    table = Table()
    table.hear(*GREETING, OFFER, *DEALT)
    job = table.job()
    table.hear("ZOMBIE ply=1 reason=never-ready", START)
    table.player.done(job, None)
    assert table.said() == []


def test_the_next_game_waits_for_a_search_of_the_last() -> None:
    table = playing()
    table.hear(TURN_1)
    job = table.job()
    table.hear("ZOMBIE ply=1 reason=timeout", PLAYED_1, OVER)
    table.hear(OFFER.replace("g1", "g2"), *DEALT)
    assert table.player.next_job() is None
    table.player.done(job, 4)
    assert (table.think(), table.bot.told) == (["READY g2"], ["new g1", "over 60", "new g2"])  # type: ignore[attr-defined]


def test_a_game_of_the_same_id_after_its_end_is_a_new_one() -> None:
    """A void game is played again: nothing thought of the first one is an answer in the second."""
    table = playing()
    table.hear(TURN_1)
    table.think()
    table.hear(PLAYED_1, "OVER g1 total=0,0 end=void", OFFER, *DEALT)
    assert table.think() == ["READY g1"]
    table.hear(START, TURN_1)
    assert table.think() == ["MOVE 4"]
    assert table.bot.told == ["new g1", "choose 1", "over 0", "new g1", "choose 1"]  # type: ignore[attr-defined]


def test_a_search_that_outlives_its_game_is_no_answer_in_the_next() -> None:
    """Void games are played again under their id, and from another start if the deal is new."""
    table = playing()
    table.hear(TURN_1)
    job = table.job()
    table.hear("OVER g1 total=0,0 end=void", OFFER, "STATE 4.351/4.233/1.552/44215/44526", DEALT[1])
    table.player.done(job, 5)
    assert table.think() == ["READY g1"]
    table.hear(START, TURN_1)
    assert table.think() == ["MOVE 4"]


def test_the_end_of_a_game_the_bot_never_began_is_not_told() -> None:
    table = Table()
    table.hear(*GREETING, OFFER, *DEALT, "OVER g1 total=0,0 end=void")
    assert table.player.next_job() is None
    assert table.bot.told == []  # type: ignore[attr-defined]
