"""The ways through a connection, the lines that cross on them, and any bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.messages import Error, Game, Move, Pong, Ready, Turn, encode
from arena_protocol.session import (
    CLIENT_SAYS,
    GAME_WATCHED,
    IN_GAME,
    LOGGED_IN,
    SERVER_SAYS,
    ZOMBIE_OTHER,
    ClientSession,
    ServerSession,
    State,
)

from .sessions import (
    CLIENT_LINES,
    GAME,
    SERVER_LINES,
    client_at,
    command,
    refused,
    remark,
    server_at,
    server_line,
)
from .wire import BAD_LINES, TRANSCRIPT

# -- ways through a game ------------------------------------------------------------------


def hear(client: ClientSession, *events: str) -> State:
    for event in events:
        assert client.receive(server_line(event)) is not None
    return client.state


def test_a_game_is_at_hand_from_its_offer_to_its_end():
    client = client_at(State.LOBBY)
    assert (client.game_id, client.seat) == (None, 0)
    client.receive(GAME.replace("g1", "g7").replace("seat=1", "seat=2").encode())
    assert (client.game_id, client.seat) == ("g7", 2)
    client.receive(b"OVER g7 total=0,0 end=void")
    assert (client.game_id, client.seat) == (None, 0)


def test_one_game_follows_another_on_the_same_connection():
    client = client_at(State.TURN)
    client.send(Move("4"))
    assert hear(client, "PLAYED", "OVER", "GAME", "STATE") is State.OFFERED


def test_a_game_that_hides_nothing_has_no_next():
    client = client_at(State.OFFERED)
    hear(client, "STATE")
    client.send(Ready("g1"))
    assert hear(client, "START", "TURN") is State.TURN


def test_ready_may_come_before_the_state_has_been_read():
    client = client_at(State.OFFERED)
    client.send(Ready("g1"))
    assert hear(client, "STATE", "NEXT", "START") is State.PLAYING


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ("GAME STATE NEXT", State.OFFERED),
        ("GAME STATE START PLAYED PLAYED TURN", State.TURN),
        ("GAME STATE NEXT START PLAYED PLAYED", State.PLAYING),
        ("GAME STATE NEXT START PLAYED ZOMBIE PLAYED OVER", State.LOBBY),
        ("GAME STATE NEXT ZOMBIE START PLAYED", State.ZOMBIE),
    ],
)
def test_a_seat_taken_up_again_is_told_the_game_from_its_start(events, state):
    assert hear(client_at(State.LOBBY), *events.split()) is state


def test_a_ready_that_crosses_start_is_harmless():
    server = server_at(State.OFFERED)
    server.send(remark("START"))
    assert server.receive(b"READY g1") == Ready("g1")
    assert server.state is State.PLAYING


def test_a_move_that_crosses_its_zombie_answers_no_turn():
    client = client_at(State.TURN)
    client.send(Move("4"))
    assert hear(client, "ZOMBIE", "PLAYED", "OVER") is State.LOBBY
    assert refused(server_at(State.ZOMBIE), b"MOVE 4")[0] is ErrorCode.NOT_YOUR_TURN


def test_a_zombie_of_another_seat_changes_nothing_for_this_one():
    assert hear(client_at(State.TURN), ZOMBIE_OTHER) is State.TURN
    client = client_at(State.TURN)
    client.receive(b"ZOMBIE ply=1 reason=illegal seat=1")
    assert client.state is State.ZOMBIE


def test_a_spectator_sees_any_number_of_games():
    client = client_at(State.WATCHING)
    watched = [GAME_WATCHED, "STATE", "NEXT", "START", ZOMBIE_OTHER, "PLAYED", "OVER"]
    assert hear(client, *watched, "TURN", *watched) is State.WATCHING
    assert (client.game_id, client.seat) == (None, 0)
    client.receive(b"OVER g99 total=0,0 end=void")


def test_a_game_that_crosses_a_watch_is_played():
    client = client_at(State.WATCHING)
    hear(client, "GAME", "ERROR", "STATE", "NEXT")
    client.send(Ready("g1"))
    assert client.state is State.READY


def test_a_ping_is_answered_in_any_state_after_the_log_in():
    for state in LOGGED_IN:
        client = client_at(state)
        client.receive(b"PING 17")
        assert client.send(Pong("17")) == b"PONG 17\n"
        assert client.state is state


@pytest.mark.parametrize(
    ("state", "code", "after"),
    [
        (State.OPENED, "full", State.CLOSED),
        (State.GREETED, "weather", State.CLOSED),
        (State.LOBBY, "flood", State.CLOSED),
        (State.LOBBY, "no-such-game", State.LOBBY),
        (State.WATCHING, "flood", State.CLOSED),
        (State.ZOMBIE, "flood", State.ZOMBIE),
        (State.TURN, "not-your-turn", State.TURN),
    ],
)
def test_an_error_closes_before_log_in_and_a_flood_outside_a_game(state, code, after):
    client, server = client_at(state), server_at(state)
    client.receive(server.send(Error(code, "well"))[:-1])
    assert client.state is server.state is after


# -- lines and bytes ----------------------------------------------------------------------


def test_blank_lines_say_nothing_in_any_state():
    for state in State:
        assert client_at(state).receive(b"") is None
        assert server_at(state).receive(b"\r") is None


def test_a_client_ignores_verbs_it_does_not_know():
    client = client_at(State.TURN)
    assert client.receive(b"WEATHER fine") is None
    with pytest.raises(ProtocolError, match=r"^syntax: TURN: lag=, credit= must be given$"):
        client.receive(b"TURN 1 clock=5,5")
    assert client.state is State.TURN


def test_a_line_printed_before_is_sent_as_it_is():
    message = Turn(1, (5, 5), 0, 0)
    line = encode(message)
    server = server_at(State.PLAYING)
    assert server.send(message, line) is line
    assert server.state is State.TURN


def test_a_message_without_a_form_is_not_sent_and_changes_nothing():
    client = client_at(State.TURN)
    with pytest.raises(
        LocalProtocolError, match=r"^MOVE: move must be printable ASCII without spaces, not ''$"
    ):
        client.send(Move(""))
    assert client.state is State.TURN


def test_a_side_never_says_what_only_the_other_may():
    with pytest.raises(LocalProtocolError, match=r"^MOVE has no meaning in the lobby$"):
        server_at(State.LOBBY).send(Move("4"))
    with pytest.raises(LocalProtocolError, match=r"^GAME has no meaning in the lobby$"):
        client_at(State.LOBBY).send(Game("g1", "xo", 1, 2, ("a", "b"), 5, 0))


anything = st.sampled_from(
    [*CLIENT_LINES.values(), *SERVER_LINES.values()]
    + [line.decode("latin-1") for _, line, _ in [*TRANSCRIPT, *BAD_LINES]]
).map(lambda line: line.encode("latin-1")) | st.binary(max_size=40)


@given(st.sampled_from([server_at, client_at]), st.sampled_from(State), st.lists(anything, max_size=8))
def test_any_bytes_in_any_state_give_a_message_or_none_or_a_protocol_error(at, state, lines):
    session = at(state)
    for line in lines:
        before = session.state, session.game_id, session.seat
        try:
            message = session.receive(line)
        except ProtocolError:
            message = None
        if message is None:
            assert (session.state, session.game_id, session.seat) == before
        assert (session.game_id is not None) == (session.state in IN_GAME) == bool(session.seat)


@given(st.data())
def test_both_machines_walk_together_whatever_is_said(data):
    client, server = ClientSession(), ServerSession()
    for _ in range(data.draw(st.integers(0, 20))):
        said = [
            (table, event)
            for table in (CLIENT_SAYS, SERVER_SAYS)
            for event, moves in table.items()
            if server.state in moves
        ]
        if not said:
            break
        table, event = data.draw(st.sampled_from(said))
        if table is CLIENT_SAYS:
            assert server.receive(client.send(command(event))[:-1]) == command(event)
        else:
            assert client.receive(server.send(remark(event))[:-1]) == remark(event)
        assert (client.state, client.game_id, client.seat) == (server.state, server.game_id, server.seat)
