"""ClientProtocol on one connection: log-in, games, answers, ends, and any bytes of a server."""

from __future__ import annotations

import contextlib
import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_client import ClientError
from arena_client.protocol import ClientProtocol
from arena_protocol.framing import SERVER_LINE_LIMIT

from .fake_server import (
    BOARD,
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
from .harness import GREETING, HELLO, Four, Harness, playing


def test_a_whole_contest_line_by_line() -> None:
    client = Harness()
    assert client.receive("ARENA 1 fake/1") == [HELLO]
    assert client.receive("WELCOME me session=s1 resume=r1") == []
    assert (client.receive(OFFER, *DEALT), client.run_jobs()) == ([], ["READY g1"])
    assert (client.receive(START, TURN_1), client.run_jobs()) == ([], ["MOVE 4"])
    assert (client.receive(PLAYED_1, PLAYED_2, TURN_3), client.run_jobs()) == ([], ["MOVE 4"])
    assert (client.receive(PLAYED_3, PLAYED_4, OVER), client.run_jobs()) == ([], [])
    assert (client.receive(BYE), client.protocol.bye_reason) == ([], "finished")
    assert client.calls == ["new g1", "choose 1", "choose 3", "over 60"]


def test_the_first_line_names_token_and_games() -> None:
    bot = Four()
    bot.games = ("insertion", "xo")
    client = Harness(bot, token="s3cret")
    assert client.receive("ARENA 1 fake/1") == [
        "HELLO 1 me games=insertion,xo token=s3cret agent=arena-client"
    ]


@all_of(
    "more", [{"name": "no name"}, {"token": "two words"}, {"token": "x" * 2000}, {"token": ""}, {"name": "é"}]
)
def test_a_log_in_that_cannot_be_sent(more: dict[str, str]) -> None:
    with pytest.raises(ClientError, match=r"^this log-in cannot be sent: "):
        ClientProtocol(Four(), more.get("name", "me"), token=more.get("token"))


def test_ping_is_answered_at_any_time_of_the_game() -> None:
    client = playing()
    assert client.receive("PING a1") == ["PONG a1"]
    client.receive(TURN_1)
    job = client.job()
    assert client.receive("PING a2") == ["PONG a2"]
    client.protocol.complete(job, 4)
    assert client.sent() == ["MOVE 4"]


def test_blank_lines_and_unknown_verbs_ask_for_nothing() -> None:
    client = playing()
    assert client.receive("", "NEWS of a newer version", "PONG x") == []


def test_only_one_question_at_a_time() -> None:
    client = playing()
    client.receive(TURN_1)
    assert client.job().kind == "choose"
    assert client.protocol.next_job() is None


def test_a_job_is_completed_once() -> None:
    client = playing()
    client.receive(TURN_1)
    job = client.job()
    client.protocol.complete(job, 4)
    with pytest.raises(AssertionError, match="one job at a time, and each is completed once"):
        client.protocol.complete(job, 4)


def test_the_deal_is_complete_before_the_bot_is_asked() -> None:
    client = Harness()
    client.receive(*GREETING, OFFER)
    assert client.protocol.next_job() is None
    client.receive(DEALT[0])
    assert client.protocol.next_job() is None, "insertion has a NEXT"
    client.receive(DEALT[1])
    assert client.job().view.visible == "61"


def test_a_game_without_next_is_dealt_with_state() -> None:
    client = Harness()
    client.receive(*GREETING, "GAME g3 tictactoe seat=1 seats=2 names=me,rival clock=1000 increment=0")
    client.receive("STATE .../.../...")
    assert client.run_jobs() == ["READY g3"]


def test_an_unknown_game_is_dealt_with_state() -> None:
    client = Harness()
    client.receive(
        *GREETING, "GAME g3 hex seat=1 seats=2 names=me,rival clock=1000 increment=0", "STATE 11/11"
    )
    assert client.run_jobs() == ["READY g3"]


@pytest.mark.parametrize(
    ("value", "line"), [("a1", "MOVE a1"), (14, "MOVE 14"), (0, "MOVE 0"), (-3, "MOVE -3")]
)
def test_moves_are_sent_as_they_are(value: int | str, line: str) -> None:
    client = playing()
    client.receive(TURN_1)
    client.protocol.complete(client.job(), value)
    assert client.sent() == [line]


def test_any_integer_type_is_a_move() -> None:
    class Numpyish:
        def __index__(self) -> int:
            return 7

    client = playing()
    client.receive(TURN_1)
    client.protocol.complete(client.job(), Numpyish())
    assert client.sent() == ["MOVE 7"]


@all_of("value", [None, 4.0, [4], b"4", True, False, np.True_])
def test_an_answer_of_a_wrong_type(value: object) -> None:
    client = playing()
    client.receive(TURN_1)
    with pytest.raises(ClientError, match=r"^the bot's move must be an int or a str, not "):
        client.protocol.complete(client.job(), value)


@all_of("value", ["", "4\nQUIT", "4 5", "ä", "x" * 1024])
def test_a_text_that_cannot_be_sent_as_a_move(value: str) -> None:
    client = playing()
    client.receive(TURN_1)
    with pytest.raises(ClientError, match=r"^the bot's move .* cannot be sent: "):
        client.protocol.complete(client.job(), value)


def test_a_move_that_is_late_is_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    client = playing()
    client.receive(TURN_1)
    job = client.job()
    with caplog.at_level(logging.WARNING, "arena_client"):
        client.receive("ZOMBIE ply=1 reason=timeout", PLAYED_1.replace("move=4", "move=6"), PLAYED_2)
    client.protocol.complete(job, 4)
    assert client.sent() == []
    assert caplog.messages == [
        "g1: me used up its clock at ply 1; the referee plays 6 for it until the game ends"
    ]


def test_an_illegal_move_is_logged_with_the_move(caplog: pytest.LogCaptureFixture) -> None:
    client = playing()
    client.receive(TURN_1)
    client.protocol.complete(client.job(), 0)
    assert client.sent() == ["MOVE 0"]
    with caplog.at_level(logging.WARNING, "arena_client"):
        client.receive("ZOMBIE ply=1 reason=illegal")
    assert caplog.messages == [
        'g1: me sent an illegal move "0" at ply 1; the referee plays 6 for it until the game ends'
    ]


def test_a_zombie_of_another_seat_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    client = playing()
    client.receive("ZOMBIE ply=1 reason=illegal seat=2", TURN_1)
    assert client.run_jobs() == ["MOVE 4"]
    assert caplog.messages == []


def test_a_zombie_sends_no_ready() -> None:
    client = Harness()
    client.receive(*GREETING, OFFER, *DEALT)
    job = client.job()
    client.receive("ZOMBIE ply=1 reason=never-ready", START)
    client.protocol.complete(job, None)
    assert client.sent() == []


def test_the_next_game_waits_for_a_search_of_the_last() -> None:
    client = playing()
    client.receive(TURN_1)
    job = client.job()
    client.receive("ZOMBIE ply=1 reason=timeout", PLAYED_1, OVER)
    client.receive(OFFER.replace("g1", "g2"), *DEALT)
    assert client.protocol.next_job() is None
    client.protocol.complete(job, 4)
    assert (client.run_jobs(), client.calls) == (["READY g2"], ["new g1", "over 60", "new g2"])


def test_a_game_of_the_same_id_after_its_end_is_a_new_one() -> None:
    """No answer in a void game is sent in its repetition."""
    client = playing()
    client.receive(TURN_1)
    client.run_jobs()
    client.receive(PLAYED_1, "OVER g1 total=0,0 end=void", OFFER, *DEALT)
    assert client.run_jobs() == ["READY g1"]
    client.receive(START, TURN_1)
    assert client.run_jobs() == ["MOVE 4"]
    assert client.calls == ["new g1", "choose 1", "over 0", "new g1", "choose 1"]


def test_a_search_that_outlives_its_game_does_not_answer_in_the_next() -> None:
    """Even if the next game has the same id."""
    client = playing()
    client.receive(TURN_1)
    job = client.job()
    client.receive("OVER g1 total=0,0 end=void", OFFER, "STATE 4.351/4.233/1.552/44215/44526", DEALT[1])
    client.protocol.complete(job, 5)
    assert client.run_jobs() == ["READY g1"]
    client.receive(START, TURN_1)
    assert client.run_jobs() == ["MOVE 4"]


def test_the_result_of_a_game_without_new_game_is_not_delivered() -> None:
    client = Harness()
    client.receive(*GREETING, OFFER, *DEALT, "OVER g1 total=0,0 end=void")
    assert client.protocol.next_job() is None
    assert client.calls == []


@pytest.mark.parametrize(
    ("lines", "sent"),
    [((), []), (("ARENA 1 fake/1",), []), (GREETING, ["QUIT"]), ((*GREETING, BYE), [])],
)
def test_quit_is_sent_once_logged_in(lines: tuple[str, ...], sent: list[str]) -> None:
    client = Harness()
    client.receive(*lines)
    client.protocol.quit()
    assert client.sent() == sent


def test_quit_between_two_connections_ends_at_once() -> None:
    client = playing()
    client.protocol.connection_lost()
    client.protocol.quit()
    assert (client.sent(), client.protocol.bye_reason) == ([], "quit")


def test_after_quit_nothing_is_asked_or_sent_and_the_end_of_the_connection_is_the_end() -> None:
    client = playing()
    client.protocol.quit()
    assert client.sent() == ["QUIT"]
    assert client.receive(TURN_1) == []
    assert (client.run_jobs(), client.calls) == ([], ["new g1"])
    client.protocol.connection_lost()
    assert client.protocol.bye_reason == "quit"


def test_after_bye_nothing_is_asked_or_sent() -> None:
    client = playing()
    assert client.receive(TURN_1, "BYE reason=stopped", "PING x") == []
    assert (client.protocol.bye_reason, client.protocol.next_job(), client.protocol.results_pending) == (
        "stopped",
        None,
        False,
    )


def test_the_last_result_is_delivered_after_bye() -> None:
    client = playing()
    client.receive(TURN_1)
    client.run_jobs()
    client.receive(PLAYED_1, "OVER g1 total=30,0 end=complete", BYE)
    assert client.protocol.results_pending
    job = client.job()
    assert (job.kind, client.protocol.results_pending) == ("game_over", True)
    client.protocol.complete(job, job.call())
    assert not client.protocol.results_pending
    assert client.calls[-1] == "over 30"


def test_an_error_in_a_game_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    client = playing()
    with caplog.at_level(logging.WARNING, "arena_client"):
        client.receive("ERROR not-your-turn MOVE answers a TURN")
    assert caplog.messages == ["me: the server sent ERROR not-your-turn: MOVE answers a TURN"]
    client.receive(TURN_1)
    assert client.run_jobs() == ["MOVE 4"]


@all_of(
    ("line", "text"),
    [
        ("ARENA 2 fake/1", "^the server has version 2 of the protocol, this client 1$"),
        ("ERROR token no", "^the server refuses me: token: no$"),
        ("ERROR strange-new-code no", "^the server refuses me: strange-new-code: no$"),
        (
            "TURN 1 clock=1,1 lag=0 credit=0",
            "^the server broke the protocol: TURN has no meaning before ARENA",
        ),
        (
            "ARENA one fake/1",
            r"^the server broke the protocol: .*: 'ARENA one fake/1'; is it an arena server",
        ),
        ("X" * (SERVER_LINE_LIMIT + 1), "^the server sent a line of more than 65536 bytes: 'XXX"),
    ],
)
def test_what_ends_the_client(line: str, text: str) -> None:
    with pytest.raises(ClientError, match=text):
        Harness().receive(line)


CONTEST = [
    *GREETING,
    OFFER,
    *DEALT,
    START,
    TURN_1,
    PLAYED_1,
    PLAYED_2,
    "PING x",
    "",
    TURN_3,
    PLAYED_3,
    PLAYED_4,
    OVER,
    "ERROR syntax what",
    "ZOMBIE ply=3 reason=illegal",
    "BYE reason=slow",
    "TURN 9 clock=1 lag=0 credit=0",
    f"GAME g2 insertion seat=9 seats=2 names=a,b clock=1 increment=0 board={BOARD}",
    "GAME g1 insertion seat=1 seats=2 names=me,rival colours=99 clock=1 increment=0",
]


def follow(client: Harness, data: bytes, size: int) -> list[str]:
    """Feed the bytes in chunks of `size` and run the bot after each; return the lines sent."""
    sent = []
    for start in range(0, len(data), size):
        client.protocol.receive_data(data[start : start + size])
        sent += client.run_jobs()
    return sent


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from(CONTEST), st.text(max_size=30)), max_size=25),
    st.lists(st.tuples(st.integers(0, 2000), st.binary(max_size=3)), max_size=2),
    st.sampled_from([1, 16, 4096]),
)
def test_any_bytes_of_a_server_lead_to_lines_or_a_client_error(
    lines: list[str], changes: list[tuple[int, bytes]], size: int
) -> None:
    """Lines in any order with bytes exchanged, in chunks and byte by byte."""
    data = "".join(f"{line}\n" for line in [*GREETING, *lines]).encode()
    for place, piece in changes:
        data = data[:place] + piece + data[place + 1 :]
    client = Harness()
    with contextlib.suppress(ClientError):
        assert all(line.partition(" ")[0] in VERBS for line in follow(client, data, size))
    assert all(line.partition(" ")[0] in VERBS for line in client.sent())


VERBS = {"HELLO", "READY", "MOVE", "PONG"}


def test_a_trace_receives_every_line_of_both_directions() -> None:
    lines: list[tuple[str, bytes]] = []
    client = Harness(trace=lambda direction, line: lines.append((direction, line)))
    client.receive("ARENA 1 fake/1", "WELCOME me session=s1 resume=r1")
    client.receive("", "PING a")
    assert lines == [
        ("<", b"ARENA 1 fake/1"),
        (">", HELLO.encode()),
        ("<", b"WELCOME me session=s1 resume=r1"),
        ("<", b""),
        ("<", b"PING a"),
        (">", b"PONG a"),
    ]


@all_of("size", [1, 2, 7, 64, 4096])
def test_the_size_of_the_chunks_changes_nothing(size: int) -> None:
    chunks = [
        ["ARENA 1 fake/1"],
        ["WELCOME me session=s1 resume=r1", OFFER, *DEALT],
        [START, TURN_1],
        [PLAYED_1, "PING x", PLAYED_2, TURN_3],
        [PLAYED_3, PLAYED_4, OVER, BYE],
    ]
    client = Harness()
    sent = [follow(client, "".join(f"{line}\n" for line in lines).encode(), size) for lines in chunks]
    assert sent == [[HELLO], ["READY g1"], ["MOVE 4"], ["PONG x", "MOVE 4"], []]
    assert client.calls == ["new g1", "choose 1", "choose 3", "over 60"]


def test_hello_names_the_contest() -> None:
    client = ClientProtocol(Four(), "mine", contest="friday")
    client.connection_made()
    client.receive_data(b"ARENA 1 arena/test\n")
    assert client.data_to_send().split()[-1] == b"contest=friday"
