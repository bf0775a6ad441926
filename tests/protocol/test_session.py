"""The tables of both sessions: every message in every state, and the code of every refusal."""

import pytest

from arena_protocol.codec import Direction
from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.messages import TABLE, Ready
from arena_protocol.session import (
    BEFORE_LOGIN,
    CLIENT_SAYS,
    ERROR_FATAL,
    GAME_WATCHED,
    IN_GAME,
    LOGGED_IN,
    SERVER_SAYS,
    ZOMBIE_OTHER,
    ClientSession,
    State,
)

from .sessions import (
    CLIENT_LINES,
    SERVER_LINES,
    client_at,
    client_line,
    command,
    refused,
    remark,
    server_at,
    server_line,
)


def row(event: str, state: State) -> str:
    """The row a line belongs to: before log-in each ERROR is the last line."""
    return ERROR_FATAL if event == "ERROR" and state in BEFORE_LOGIN else event


# -- the tables ---------------------------------------------------------------------------


def test_the_tables_hold_every_verb_of_their_side():
    client = {shape.verb for shape in TABLE if shape.direction is not Direction.SERVER}
    server = {shape.verb for shape in TABLE if shape.direction is not Direction.CLIENT}
    assert set(CLIENT_SAYS) == client == set(CLIENT_LINES)
    assert set(SERVER_SAYS) == server | {GAME_WATCHED, ZOMBIE_OTHER, ERROR_FATAL} == set(SERVER_LINES)


def test_every_state_can_be_reached_and_left():
    moves = [move for table in (CLIENT_SAYS, SERVER_SAYS) for row in table.values() for move in row.items()]
    reached = {State.OPENED}
    while new := {after for before, after in moves if before in reached} - reached:
        reached |= new
    assert reached == set(State)
    assert {before for before, after in moves if after is not before} == set(State) - {State.CLOSED}


@pytest.mark.parametrize("event", CLIENT_SAYS)
@pytest.mark.parametrize("state", State)
def test_what_a_client_says_is_accepted_or_refused_by_the_table(state, event):
    client, server = client_at(state), server_at(state)
    after = CLIENT_SAYS[event].get(state)
    if after is not None:
        assert client.send(command(event)) == client_line(event) + b"\n"
        assert server.receive(client_line(event)) == command(event)
        assert client.state is server.state is after
        return
    with pytest.raises(LocalProtocolError, match=f"^{event} has no meaning {state.value}$"):
        client.send(command(event))
    if state is State.CLOSED:
        assert server.receive(client_line(event)) is None
    else:
        with pytest.raises(ProtocolError):
            server.receive(client_line(event))
    assert client.state is server.state is state


@pytest.mark.parametrize("event", SERVER_SAYS)
@pytest.mark.parametrize("state", State)
def test_what_a_server_says_is_accepted_or_refused_by_the_table(state, event):
    if event == ERROR_FATAL and state in IN_GAME:
        event = "ERROR"
    client, server = client_at(state), server_at(state)
    message, line, verb = remark(event), server_line(event), event.split()[0]
    after = SERVER_SAYS[row(event, state)].get(state)
    if after is not None:
        assert server.send(message) == line + b"\n"
        assert client.receive(line) == message
        assert client.state is server.state is after
        return
    with pytest.raises(LocalProtocolError, match=f"^{verb} has no meaning {state.value}$"):
        server.send(message)
    if state is State.CLOSED:
        assert client.receive(line) is None
    else:
        with pytest.raises(ProtocolError, match=f"^unexpected: {verb} has no meaning {state.value}$"):
            client.receive(line)
    assert client.state is server.state is state


# -- the codes of a refusal ---------------------------------------------------------------


def test_the_first_line_must_be_hello():
    assert refused(server_at(State.CONNECTED), b"MOVE 4") == (
        ErrorCode.LOGIN,
        "the first line must be HELLO, not MOVE",
    )


@pytest.mark.parametrize(
    "line", [b"HELLO 2 a b", b"HELLO 0", b"HELLO 2\r", b"HELLO 12 a/b c==d", b"HELLO 2 \xe9"]
)
def test_a_hello_of_another_version_is_told_so_whatever_its_shape(line):
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
def test_any_other_hello_that_cannot_be_read_is_a_matter_of_syntax(state, line):
    assert refused(server_at(state), line)[0] is ErrorCode.SYNTAX


@pytest.mark.parametrize("state", [state for state in LOGGED_IN if state is not State.TURN])
def test_a_move_that_answers_no_turn_has_a_code_of_its_own(state):
    assert refused(server_at(state), b"MOVE 4") == (
        ErrorCode.NOT_YOUR_TURN,
        "MOVE answers a TURN, and none is open",
    )


@pytest.mark.parametrize(
    ("state", "line", "text"),
    [
        (State.GREETED, b"MOVE 4", "MOVE has no meaning before WELCOME"),
        (State.LOBBY, b"HELLO 1 a", "HELLO has no meaning in the lobby"),
        (State.LOBBY, b"READY g1", "READY has no meaning in the lobby"),
        (State.TURN, b"WATCH *", "WATCH has no meaning while a TURN is open"),
        (State.WATCHING, b"READY g1", "READY has no meaning while watching"),
    ],
)
def test_anything_else_out_of_place_is_unexpected(state, line, text):
    assert refused(server_at(state), line) == (ErrorCode.UNEXPECTED, text)


@pytest.mark.parametrize("state", IN_GAME)
def test_ready_must_name_the_game_at_hand(state):
    assert refused(server_at(state), b"READY g2") == (
        ErrorCode.NO_SUCH_GAME,
        "READY must name g1, not 'g2'",
    )
    with pytest.raises(LocalProtocolError, match=r"^READY must name g1, not 'g2'$"):
        client_at(state).send(Ready("g2"))


@pytest.mark.parametrize("line", [b"START g2", b"OVER g2 total=0,0 end=void"])
def test_the_server_must_name_the_game_at_hand_too(line):
    client = client_at(State.READY)
    with pytest.raises(
        ProtocolError, match=f"^no-such-game: {line[:5].decode().strip()} must name g1, not 'g2'$"
    ):
        client.receive(line)
    assert client.state is State.READY


def test_a_line_that_cannot_be_read_changes_nothing():
    server = server_at(State.TURN)
    assert refused(server, b"MOVE 4 ")[0] is ErrorCode.SYNTAX
    assert refused(server, b"JUMP")[0] is ErrorCode.UNKNOWN_VERB
    assert server.state is State.TURN


@pytest.mark.parametrize(
    "line", [b"SSH-2.0-OpenSSH_9.2", b"HTTP/1.1 400 Bad Request", b"JUMP", b"\x16\x03\x01"]
)
def test_who_does_not_begin_with_arena_is_no_server(line):
    client = ClientSession()
    assert client.receive(b"") is None
    with pytest.raises(ProtocolError, match=r"^unexpected: a server says ARENA first$"):
        client.receive(line)
    assert client.state is State.OPENED


def test_verbs_of_a_newer_server_are_ignored_once_it_has_greeted():
    assert client_at(State.CONNECTED).receive(b"JUMP") is None
