"""Sessions of both sides in any state, and a line for every row of the tables."""

import pytest

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.messages import ClientMessage, ServerMessage
from arena_protocol.session import (
    CLIENT_TRANSITIONS,
    ERROR_FATAL,
    GAME_WATCHED,
    SERVER_TRANSITIONS,
    ZOMBIE_OTHER,
    ClientSession,
    ServerSession,
    State,
)

GAME = "GAME g1 insertion seat=1 seats=2 names=a,b clock=5 increment=0"

#: A line for every row of the tables. PING and PONG stand in both.
CLIENT_LINES = {
    "HELLO": "HELLO 1 a",
    "READY": "READY g1",
    "MOVE": "MOVE 4",
    "WATCH": "WATCH *",
    "QUIT": "QUIT",
    "PING": "PING x",
    "INFO": "INFO game=g1 ply=1",
    "STORE": "STORE 1 data=00",
    "PONG": "PONG x",
}
SERVER_LINES = {
    "ARENA": "ARENA 1 s",
    "WELCOME": "WELCOME a session=1 resume=2",
    "GAME": GAME,
    GAME_WATCHED: GAME.replace("seat=1", "seat=0"),
    "STATE": "STATE x",
    "NEXT": "NEXT 1",
    "START": "START g1",
    "TURN": "TURN 1 clock=5,5 lag=0 credit=0",
    "PLAYED": "PLAYED 1 seat=1 move=4 time=0 clock=5,5 points=0 total=0,0",
    "ZOMBIE": "ZOMBIE ply=1 reason=illegal",
    ZOMBIE_OTHER: "ZOMBIE ply=1 reason=illegal seat=2",
    "OVER": "OVER g1 total=0,0 end=complete",
    "PING": "PING x",
    "INFO": "INFO game=g1 ply=1",
    "PONG": "PONG x",
    "ERROR": "ERROR unexpected well",
    ERROR_FATAL: "ERROR flood well",
    "LOG": "LOG 2026-11-22T18:00:00.123456Z C MOVE 4",
    "BYE": "BYE reason=quit",
}

#: The messages that lead to each state.
PATHS = {
    State.OPENED: "",
    State.CONNECTED: "ARENA",
    State.GREETED: "ARENA HELLO",
    State.LOBBY: "ARENA HELLO WELCOME",
    State.OFFERED: "ARENA HELLO WELCOME GAME",
    State.READY: "ARENA HELLO WELCOME GAME STATE NEXT READY",
    State.PLAYING: "ARENA HELLO WELCOME GAME STATE NEXT READY START",
    State.TURN: "ARENA HELLO WELCOME GAME STATE NEXT READY START TURN",
    State.ZOMBIE: "ARENA HELLO WELCOME GAME STATE NEXT READY START TURN ZOMBIE",
    State.WATCHING: "ARENA HELLO WELCOME WATCH",
    State.CLOSED: "BYE",
}


def client_line(event: str) -> bytes:
    return CLIENT_LINES[event].encode()


def server_line(event: str) -> bytes:
    return SERVER_LINES[event].encode()


def client_at(state: State) -> ClientSession:
    """A client that was led into a state by what it sent and received."""
    client = ClientSession()
    for event in PATHS[state].split():
        if event in SERVER_LINES:
            client.receive(server_line(event))
        else:
            client.send(client_message(event))
    assert client.state is state
    return client


def server_at(state: State) -> ServerSession:
    """A server that was led into a state by what it sent and received."""
    server = ServerSession()
    for event in PATHS[state].split():
        if event in SERVER_LINES:
            server.send(server_message(event))
        else:
            server.receive(client_line(event))
    assert server.state is state
    return server


def client_message(event: str) -> ClientMessage:
    """A line of the client as a message."""
    server = ServerSession()
    server.state = next(iter(CLIENT_TRANSITIONS[event]))
    server.game_id = "g1"
    message = server.receive(client_line(event))
    assert message is not None
    return message


def server_message(event: str) -> ServerMessage:
    """A line of the server as a message."""
    client = ClientSession()
    client.state = next(iter(SERVER_TRANSITIONS[event]))
    client.game_id, client.seat = "g1", 1
    message = client.receive(server_line(event))
    assert message is not None
    return message


def refused(server: ServerSession, line: bytes) -> tuple[ErrorCode, str]:
    with pytest.raises(ProtocolError) as caught:
        server.receive(line)
    return caught.value.code, caught.value.text
