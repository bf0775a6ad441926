"""The code and the text of each refusal of a session."""

import pytest
from tests.slices import all_of

from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.messages import Game, Move, Ready
from arena_protocol.session import (
    IN_GAME,
    LOGGED_IN,
    ClientSession,
    State,
)

from .sessions import (
    client_at,
    refused,
    server_at,
)


def test_the_first_line_must_be_hello() -> None:
    assert refused(server_at(State.CONNECTED), b"MOVE 4") == (
        ErrorCode.LOGIN,
        "the first line must be HELLO, not MOVE",
    )


@all_of("line", [b"HELLO 2 a b", b"HELLO 0", b"HELLO 2\r", b"HELLO 12 a/b c==d", b"HELLO 2 \xe9"])
def test_a_hello_of_another_version_is_refused_whatever_follows(line: bytes) -> None:
    assert refused(server_at(State.CONNECTED), line) == (ErrorCode.VERSION, "this server speaks version 1")


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (State.CONNECTED, b"HELLO 1 a b"),
        (State.CONNECTED, b"HELLO 02 a b"),
        (State.CONNECTED, b"HELLO 2a b c"),
        (State.LOBBY, b"HELLO 2 a b"),
    ],
)
def test_any_other_hello_that_cannot_be_parsed_is_a_syntax_error(state: State, line: bytes) -> None:
    assert refused(server_at(state), line)[0] is ErrorCode.SYNTAX


@all_of("state", [state for state in LOGGED_IN if state is not State.TURN])
def test_a_move_that_answers_no_turn_has_a_code_of_its_own(state: State) -> None:
    assert refused(server_at(state), b"MOVE 4") == (
        ErrorCode.NOT_YOUR_TURN,
        "MOVE answers a TURN, and none is open",
    )


@all_of(
    ("state", "line", "text"),
    [
        (State.GREETED, b"MOVE 4", "MOVE has no meaning before WELCOME"),
        (State.LOBBY, b"HELLO 1 a", "HELLO has no meaning in the lobby"),
        (State.LOBBY, b"READY g1", "READY has no meaning in the lobby"),
        (State.TURN, b"WATCH *", "WATCH has no meaning while a TURN is open"),
        (State.WATCHING, b"READY g1", "READY has no meaning while watching"),
    ],
)
def test_anything_else_out_of_place_is_unexpected(state: State, line: bytes, text: str) -> None:
    assert refused(server_at(state), line) == (ErrorCode.UNEXPECTED, text)


@all_of("state", IN_GAME)
def test_ready_must_name_the_game_at_hand(state: State) -> None:
    assert refused(server_at(state), b"READY g2") == (
        ErrorCode.NO_SUCH_GAME,
        "READY must name g1, not 'g2'",
    )
    with pytest.raises(LocalProtocolError, match=r"^READY must name g1, not 'g2'$"):
        client_at(state).send(Ready("g2"))


@pytest.mark.parametrize("line", [b"START g2", b"OVER g2 total=0,0 end=void"])
def test_the_server_must_name_the_game_at_hand_too(line: bytes) -> None:
    client = client_at(State.READY)
    with pytest.raises(
        ProtocolError, match=f"^no-such-game: {line[:5].decode().strip()} must name g1, not 'g2'$"
    ):
        client.receive(line)
    assert client.state is State.READY


def test_a_line_that_cannot_be_read_changes_nothing() -> None:
    server = server_at(State.TURN)
    assert refused(server, b"MOVE 4 ")[0] is ErrorCode.SYNTAX
    assert refused(server, b"JUMP")[0] is ErrorCode.UNKNOWN_VERB
    assert server.state is State.TURN


@pytest.mark.parametrize(
    "line", [b"SSH-2.0-OpenSSH_9.2", b"HTTP/1.1 400 Bad Request", b"JUMP", b"\x16\x03\x01"]
)
def test_a_peer_whose_first_line_is_not_arena_is_refused(line: bytes) -> None:
    client = ClientSession()
    assert client.receive(b"") is None
    with pytest.raises(ProtocolError, match=r"^unexpected: the first line of a server is ARENA$"):
        client.receive(line)
    assert client.state is State.OPENED


def test_a_message_without_a_form_is_not_sent_and_changes_nothing() -> None:
    client = client_at(State.TURN)
    with pytest.raises(
        LocalProtocolError, match=r"^MOVE: move must be printable ASCII without spaces, not ''$"
    ):
        client.send(Move(""))
    assert client.state is State.TURN


def test_a_side_cannot_send_a_verb_of_the_other() -> None:
    with pytest.raises(LocalProtocolError, match=r"^MOVE has no meaning in the lobby$"):
        server_at(State.LOBBY).send(Move("4"))  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(LocalProtocolError, match=r"^GAME has no meaning in the lobby$"):
        client_at(State.LOBBY).send(
            Game("g1", "xo", 1, 2, ("a", "b"), 5, 0)  # type: ignore[arg-type]  # the mistake under test
        )
