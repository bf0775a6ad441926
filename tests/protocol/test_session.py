"""Every message in every state, paths through games, crossing lines, any bytes."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol import session as session_module
from arena_protocol.codec import Direction
from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.messages import TABLE, Error, Move, Pong, Ready, Turn, encode
from arena_protocol.session import (
    BEFORE_LOGIN,
    CLIENT_TRANSITIONS,
    ERROR_FATAL,
    GAME_WATCHED,
    IN_GAME,
    LOGGED_IN,
    SERVER_TRANSITIONS,
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
    client_line,
    client_message,
    refused,
    server_at,
    server_line,
    server_message,
)
from .wire import BAD_LINES, TRANSCRIPT


def row(event: str, state: State) -> str:
    """The row a line belongs to: before log-in each ERROR is the last line."""
    return ERROR_FATAL if event == "ERROR" and state in BEFORE_LOGIN else event


# -- the tables ---------------------------------------------------------------------------


def test_the_tables_hold_every_verb_of_their_side() -> None:
    client = {shape.verb for shape in TABLE if shape.direction is not Direction.SERVER}
    server = {shape.verb for shape in TABLE if shape.direction is not Direction.CLIENT}
    assert set(CLIENT_TRANSITIONS) == client == set(CLIENT_LINES)
    assert set(SERVER_TRANSITIONS) == server | {GAME_WATCHED, ZOMBIE_OTHER, ERROR_FATAL} == set(SERVER_LINES)


def test_every_state_can_be_reached_and_left() -> None:
    moves = [
        move
        for table in (CLIENT_TRANSITIONS, SERVER_TRANSITIONS)
        for row in table.values()
        for move in row.items()
    ]
    reached = {State.OPENED}
    while new := {after for before, after in moves if before in reached} - reached:
        reached |= new
    assert reached == set(State)
    assert {before for before, after in moves if after is not before} == set(State) - {State.CLOSED}


@all_of("event", CLIENT_TRANSITIONS)
@all_of("state", State)
def test_messages_of_a_client_are_accepted_or_refused_by_the_table(state: State, event: str) -> None:
    client, server = client_at(state), server_at(state)
    after = CLIENT_TRANSITIONS[event].get(state)
    if after is not None:
        assert client.send(client_message(event)) == client_line(event) + b"\n"
        assert server.receive(client_line(event)) == client_message(event)
        assert client.state is server.state is after
        return
    with pytest.raises(LocalProtocolError, match=f"^{event} has no meaning {state.value}$"):
        client.send(client_message(event))
    if state is State.CLOSED:
        assert server.receive(client_line(event)) is None
    else:
        with pytest.raises(ProtocolError):
            server.receive(client_line(event))
    assert client.state is server.state is state


@all_of("event", SERVER_TRANSITIONS)
@all_of("state", State)
def test_messages_of_a_server_are_accepted_or_refused_by_the_table(state: State, event: str) -> None:
    if event == ERROR_FATAL and state in IN_GAME:
        event = "ERROR"
    client, server = client_at(state), server_at(state)
    message, line, verb = server_message(event), server_line(event), event.split()[0]
    after = SERVER_TRANSITIONS[row(event, state)].get(state)
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


# -- paths through a game ------------------------------------------------------------------


def feed(client: ClientSession, *events: str) -> State:
    for event in events:
        assert client.receive(server_line(event)) is not None
    return client.state


def test_a_game_is_at_hand_from_its_offer_to_its_end() -> None:
    client = client_at(State.LOBBY)
    assert (client.game_id, client.seat) == (None, 0)
    client.receive(GAME.replace("g1", "g7").replace("seat=1", "seat=2").encode())
    assert (client.game_id, client.seat) == ("g7", 2)
    client.receive(b"OVER g7 total=0,0 end=void")
    assert (client.game_id, client.seat) == (None, 0)


def test_one_game_follows_another_on_the_same_connection() -> None:
    client = client_at(State.TURN)
    client.send(Move("4"))
    assert feed(client, "PLAYED", "OVER", "GAME", "STATE") is State.OFFERED


def test_a_game_that_hides_nothing_has_no_next() -> None:
    client = client_at(State.OFFERED)
    feed(client, "STATE")
    client.send(Ready("g1"))
    assert feed(client, "START", "TURN") is State.TURN


def test_ready_may_come_before_the_state_has_been_read() -> None:
    client = client_at(State.OFFERED)
    client.send(Ready("g1"))
    assert feed(client, "STATE", "NEXT", "START") is State.PLAYING


@all_of(
    ("events", "state"),
    [
        ("GAME STATE NEXT", State.OFFERED),
        ("GAME STATE START PLAYED PLAYED TURN", State.TURN),
        ("GAME STATE NEXT START PLAYED PLAYED", State.PLAYING),
        ("GAME STATE NEXT START PLAYED ZOMBIE PLAYED OVER", State.LOBBY),
        ("GAME STATE NEXT ZOMBIE START PLAYED", State.ZOMBIE),
    ],
)
def test_a_resumed_seat_receives_the_game_from_its_start(events: str, state: State) -> None:
    assert feed(client_at(State.LOBBY), *events.split()) is state


def test_a_ready_that_crosses_start_is_harmless() -> None:
    server = server_at(State.OFFERED)
    server.send(server_message("START"))
    assert server.receive(b"READY g1") == Ready("g1")
    assert server.state is State.PLAYING


def test_a_move_that_crosses_its_zombie_answers_no_turn() -> None:
    client = client_at(State.TURN)
    client.send(Move("4"))
    assert feed(client, "ZOMBIE", "PLAYED", "OVER") is State.LOBBY
    assert refused(server_at(State.ZOMBIE), b"MOVE 4")[0] is ErrorCode.NOT_YOUR_TURN


def test_a_zombie_of_another_seat_changes_nothing_for_this_one() -> None:
    assert feed(client_at(State.TURN), ZOMBIE_OTHER) is State.TURN
    client = client_at(State.TURN)
    client.receive(b"ZOMBIE ply=1 reason=illegal seat=1")
    assert client.state is State.ZOMBIE


def test_a_spectator_sees_any_number_of_games() -> None:
    client = client_at(State.WATCHING)
    watched = [GAME_WATCHED, "STATE", "NEXT", "START", ZOMBIE_OTHER, "PLAYED", "OVER"]
    assert feed(client, *watched, "TURN", *watched) is State.WATCHING
    assert (client.game_id, client.seat) == (None, 0)
    client.receive(b"OVER g99 total=0,0 end=void")


def test_a_game_that_crosses_a_watch_is_played() -> None:
    client = client_at(State.WATCHING)
    feed(client, "GAME", "ERROR", "STATE", "NEXT")
    client.send(Ready("g1"))
    assert client.state is State.READY


def test_a_ping_is_answered_in_any_state_after_the_log_in() -> None:
    for state in LOGGED_IN:
        client = client_at(state)
        client.receive(b"PING 17")
        assert client.send(Pong("17")) == b"PONG 17\n"
        assert client.state is state


@all_of(
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
def test_an_error_closes_before_log_in_and_a_flood_outside_a_game(
    state: State, code: str, after: State
) -> None:
    client, server = client_at(state), server_at(state)
    client.receive(server.send(Error(code, "well"))[:-1])
    assert client.state is server.state is after


# -- lines and bytes ----------------------------------------------------------------------


def test_blank_lines_change_nothing_in_any_state() -> None:
    for state in State:
        assert client_at(state).receive(b"") is None
        assert server_at(state).receive(b"") is None


def test_a_client_ignores_verbs_it_does_not_know() -> None:
    client = client_at(State.TURN)
    assert client.receive(b"WEATHER fine") is None
    with pytest.raises(ProtocolError, match=r"^syntax: TURN: lag=, credit= must be given$"):
        client.receive(b"TURN 1 clock=5,5")
    assert client.state is State.TURN


def test_verbs_of_a_newer_server_are_ignored_once_it_has_greeted() -> None:
    assert client_at(State.CONNECTED).receive(b"JUMP") is None


def test_a_line_printed_before_is_sent_as_it_is() -> None:
    message = Turn(1, (5, 5), 0, 0)
    line = encode(message)
    server = server_at(State.PLAYING)
    assert server.send(message, line) is line
    assert server.state is State.TURN


anything = st.sampled_from(
    [*CLIENT_LINES.values(), *SERVER_LINES.values()]
    + [line.decode("latin-1") for _, line, _ in [*TRANSCRIPT, *BAD_LINES]]
).map(lambda line: line.encode("latin-1")) | st.binary(max_size=40)


@given(st.sampled_from([server_at, client_at]), st.sampled_from(State), st.lists(anything, max_size=8))
def test_any_bytes_in_any_state_give_a_message_or_none_or_a_protocol_error(
    at: Callable[[State], ServerSession | ClientSession], state: State, lines: list[bytes]
) -> None:
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
def test_both_machines_stay_in_step_on_random_paths(data: st.DataObject) -> None:
    client, server = ClientSession(), ServerSession()
    for _ in range(data.draw(st.integers(0, 20))):
        said = [
            (table, event)
            for table in (CLIENT_TRANSITIONS, SERVER_TRANSITIONS)
            for event, moves in table.items()
            if server.state in moves
        ]
        if not said:
            break
        table, event = data.draw(st.sampled_from(said))
        if table is CLIENT_TRANSITIONS:
            assert server.receive(client.send(client_message(event))[:-1]) == client_message(event)
        else:
            assert client.receive(server.send(server_message(event))[:-1]) == server_message(event)
        assert (client.state, client.game_id, client.seat) == (server.state, server.game_id, server.seat)


# -- what a server advances by without a message ---------------------------------------------


@all_of("state", State)
@all_of("line", [b"MOVE 4", b"MOVE 4 x=1", b"MOVE  4", b"READY g1", b""])
def test_a_move_that_was_parsed_before_needs_no_parser(state: State, line: bytes) -> None:
    """`moved` takes nothing but a line that `receive` has taken, and does the same."""
    assert server_at(State.TURN).receive(b"MOVE 4") == Move("4")
    session = server_at(state)
    before = session.state, session.game_id, session.seat
    move = session.moved(line)
    assert (move == "4") == (state is State.TURN and line == b"MOVE 4")
    if move is None:
        assert (session.state, session.game_id, session.seat) == before
    else:
        parsed = server_at(state)
        parsed.receive(line)
        assert (session.state, session.game_id, session.seat) == (parsed.state, parsed.game_id, parsed.seat)


def test_a_move_that_came_out_of_place_is_not_remembered() -> None:
    refused(server_at(State.PLAYING), b"MOVE o77")
    assert server_at(State.TURN).moved(b"MOVE o77") is None


def test_so_many_moves_are_remembered_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_MOVES", {})
    monkeypatch.setattr(session_module, "_MOST_MOVES", 1)
    for line in (b"MOVE a1", b"MOVE a2"):
        server_at(State.TURN).receive(line)
    assert server_at(State.TURN).moved(b"MOVE a1") == "a1"
    assert server_at(State.TURN).moved(b"MOVE a2") is None


@all_of("state", State)
def test_a_turn_is_opened_while_none_is_and_nowhere_else(state: State) -> None:
    session = server_at(state)
    session.opened_turn()
    assert session.state is SERVER_TRANSITIONS["TURN"].get(state, state)


@all_of("state", State)
@all_of("verb", ["GAME", "START", "ZOMBIE", "OVER"])
def test_lines_that_were_printed_before_obey_the_table(state: State, verb: str) -> None:
    session = server_at(state)
    if state in SERVER_TRANSITIONS[verb]:
        session.sent_lines((verb,), "g1", 1)
        assert session.state is SERVER_TRANSITIONS[verb][state]
        assert (session.game_id, session.seat) == (("g1", 1) if session.state in IN_GAME else (None, 0))
    else:
        with pytest.raises(LocalProtocolError, match=f"^{verb} has no meaning {state.value}$"):
            session.sent_lines((verb,), "g1", 1)
