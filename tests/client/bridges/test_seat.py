"""A program behind a seat sees one unbroken contest, whatever becomes of the connections."""

from __future__ import annotations

import pytest
from tests.slices import all_of

from arena_client.bridges.seat import Seat
from arena_client.errors import ClientError
from arena_protocol.errors import ErrorCode

from ..fake_server import DEALT, OFFER, OVER, PLAYED_1, PLAYED_2, START, TURN_1, TURN_3

ARENA = "ARENA 1 fake/1"
WELCOME = "WELCOME me session=s1 resume=r1"
GAME = (OFFER, *DEALT)
LOG_IN = "HELLO 1 me token=t agent=arena-bridge/1"
RESUME = "HELLO 1 me resume=r1 agent=arena-bridge/1"


class Wire:
    """A seat whose test plays the server and the program."""

    def __init__(self, token: str | None = "t") -> None:
        self.trace: list[str] = []
        self.seat = Seat("me", token, trace=lambda way, line: self.trace.append(f"{way} {line.decode()}"))
        self.seat.link.opened()

    def receive(self, *lines: str) -> list[str]:
        """Give the seat lines of the server; return the lines for the program."""
        self.seat.receive_data("".join(f"{line}\n" for line in lines).encode())
        return [line.decode() for line in self.seat.lines_for_program()]

    def answer(self, *lines: str) -> list[str]:
        for line in lines:
            self.seat.answer(line.encode())
        return self.sent()

    def sent(self) -> list[str]:
        return self.seat.link.data_to_send().decode().splitlines()

    def reconnect(self, *lines: str) -> list[str]:
        self.seat.link.closed()
        self.seat.link.opened()
        return self.receive(*lines)


def logged_in() -> Wire:
    wire = Wire()
    wire.receive(ARENA, WELCOME)
    wire.sent()
    return wire


class TestOneConnection:
    def test_the_seat_logs_in_and_answers_ping_by_itself(self) -> None:
        wire = Wire()
        assert wire.receive(ARENA) == []
        assert wire.sent() == [LOG_IN]
        assert wire.receive(WELCOME, "PING x", "") == []
        assert wire.sent() == ["PONG x"]
        assert wire.trace[:2] == [f"< {ARENA}", f"> {LOG_IN}"]

    def test_a_game_passes_through_unchanged(self) -> None:
        wire = logged_in()
        assert wire.receive(*GAME) == [*GAME]
        assert wire.answer("READY g1") == ["READY g1"]
        assert wire.receive(START, TURN_1) == [START, TURN_1]
        assert wire.answer("MOVE 4") == ["MOVE 4"]
        assert wire.receive(PLAYED_1, PLAYED_2, TURN_3, "NOVELTY 1") == [
            PLAYED_1,
            PLAYED_2,
            TURN_3,
            "NOVELTY 1",
        ]
        assert wire.seat.ply == 2
        assert wire.receive("ZOMBIE ply=3 reason=timeout", OVER) == ["ZOMBIE ply=3 reason=timeout", OVER]
        assert wire.seat.unanswered
        wire.receive("BYE reason=finished")
        assert wire.seat.link.bye == "finished"

    def test_what_a_bridge_does_by_itself_is_dropped(self) -> None:
        wire = logged_in()
        assert wire.answer("HELLO 1 me", "PONG x", "", "QUIT", "NONSENSE") == ["QUIT", "NONSENSE"]

    def test_a_game_that_is_left_is_quit_and_the_next_login_is_by_token(self) -> None:
        wire = logged_in()
        wire.receive(*GAME)
        wire.seat.leave_game()
        assert wire.sent() == ["QUIT"]
        assert wire.answer("READY g1") == []
        assert wire.receive(START, "BYE reason=quit") == []
        assert wire.seat.link.bye is None
        assert wire.reconnect(ARENA) == []
        assert wire.sent() == [LOG_IN]


class TestLostConnections:
    def test_an_answer_that_may_be_lost_is_sent_again(self) -> None:
        wire = logged_in()
        wire.receive(*GAME)
        wire.answer("READY g1")
        wire.receive(START, TURN_1)
        wire.answer("MOVE 4")
        assert wire.reconnect(ARENA, WELCOME, *GAME) == []
        assert wire.sent() == [RESUME, "READY g1"]
        assert wire.receive(START, TURN_1) == []
        assert wire.sent() == ["MOVE 4"]

    def test_an_answer_in_between_is_sent_once_the_turn_is_there(self) -> None:
        wire = logged_in()
        wire.receive(*GAME)
        wire.answer("READY g1")
        wire.receive(START, TURN_1)
        wire.seat.link.closed()
        assert wire.answer("MOVE 4") == []
        wire.seat.link.opened()
        assert wire.receive(ARENA, WELCOME, *GAME, START, TURN_1) == []
        assert wire.sent() == [RESUME, "READY g1", "MOVE 4"]

    def test_only_what_is_new_is_passed_on(self) -> None:
        wire = logged_in()
        wire.receive(*GAME)
        wire.answer("READY g1")
        wire.receive(START, TURN_1)
        wire.answer("MOVE 4")
        assert wire.reconnect(ARENA, WELCOME, *GAME, START, PLAYED_1, PLAYED_2, TURN_3) == [
            PLAYED_1,
            PLAYED_2,
            TURN_3,
        ]

    def test_a_key_that_is_spent_is_replaced_by_the_token(self) -> None:
        wire = logged_in()
        wire.reconnect(ARENA, "ERROR token name or token is wrong")
        assert wire.sent() == [RESUME]
        wire.reconnect(ARENA)
        assert wire.sent() == [LOG_IN]

    def test_slow_ends_the_connection_and_not_the_contest(self) -> None:
        wire = logged_in()
        wire.receive("BYE reason=slow")
        assert wire.seat.link.bye is None
        assert wire.seat.link.refusal == "the server sent BYE: the client did not read what it was sent"

    def test_a_full_server_may_be_tried_again(self) -> None:
        wire = Wire()
        wire.receive(ARENA, "ERROR rate wait retry_after=1500")
        assert wire.seat.link.refusal == "rate: wait"
        assert wire.seat.link.retry_after_s == 1.5


class TestRefusals:
    @all_of(
        ("lines", "text"),
        [
            (["ARENA 2 fake/2"], "the server has version 2 of the protocol, this client 1"),
            ([ARENA, "ERROR token wrong"], "the server refuses me: token: wrong"),
            ([ARENA, "ERROR name-taken in use"], "the server refuses me: name-taken: in use"),
            (["HTTP/1.1 400 Bad Request"], "'HTTP/1.1 400 Bad Request'; is it an arena server?"),
            (
                [ARENA, WELCOME, "TURN x"],
                "the server broke the protocol: TURN: ply must be a whole number of at most 12 digits, "
                "not 'x': 'TURN x'",
            ),
            (["x" * 70_000], "the server sent a line of more than 65536 bytes"),
        ],
    )
    def test_what_another_connection_would_not_help(self, lines: list[str], text: str) -> None:
        with pytest.raises(ClientError) as error:
            Wire().receive(*lines)
        assert text in str(error.value)

    def test_the_code_of_another_version(self) -> None:
        with pytest.raises(ClientError) as error:
            Wire().receive("ARENA 2 fake/2")
        assert error.value.code is ErrorCode.VERSION

    def test_a_name_that_cannot_stand_in_hello(self) -> None:
        with pytest.raises(ClientError, match="this log-in cannot be sent"):
            Seat("two words")
