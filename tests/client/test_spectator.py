"""The spectator without I/O: a game's lines in, updates and answers out; every error is a ClientError."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_client.errors import ClientError
from arena_client.spectator import ALL_GAMES, Spectator

#: The lines of a server to a spectator of g1, an insertion game of three plies.
GAME_LINES = (
    dedent("""
        ARENA 1 insertion-arena/0.1
        WELCOME spectator session=7f resume=9c
        PING here
        GAME g1 insertion seat=0 seats=2 names=ann,bob clock=20000 increment=0 zombie=6 plies=3 \
        colours=6 lookahead=2 start=empty
        STATE ...../...../...../...../..... game=g1
        NEXT 44 game=g1
        START g1
        ZOMBIE ply=1 reason=illegal seat=1 line=4d4f56452030ff game=g1
        PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=4 game=g1
        PLAYED 9 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 game=g77
        PLAYED 2 seat=2 move=6 time=4 clock=20000,19996 points=0 total=0,0 game=g1
        PLAYED 3 seat=1 move=6 time=0 clock=20000,19996 points=30 total=30,0 game=g1
        OVER g1 total=30,0 end=complete nonce=00 sequence=444
    """)
    .strip()
    .replace("        colours", "colours")
    .encode()
    + b"\n"
)
ANSWERS = b"HELLO 1 spectator role=spectator\nWATCH g1\nPONG here\n"
WELCOME = GAME_LINES[: GAME_LINES.index(b"PING")]
OFFER = GAME_LINES[GAME_LINES.index(b"GAME") : GAME_LINES.index(b"STATE")]


def watch(chunks: Iterable[bytes], target: str = "g1") -> tuple[list[str], bytes, Spectator]:
    """Feed a spectator; return the messages' types, all that it sends, and the spectator."""
    spectator = Spectator("spectator", None, target)
    types: list[str] = []
    sent = b""
    for chunk in chunks:
        types += [type(update.message).__name__ for update in spectator.receive(chunk)]
        sent += spectator.data_to_send()
    return types, sent, spectator


def test_every_message_about_the_game_is_an_update() -> None:
    types, sent, spectator = watch([GAME_LINES])
    assert types == ["Game", "State", "Next", "Start", "Zombie", "Played", "Played", "Played", "Over"]
    assert sent == ANSWERS
    assert spectator.finished


def test_an_update_has_the_game_after_the_message() -> None:
    *_, (message, game) = Spectator("spectator", None, "g1").receive(GAME_LINES)
    assert (game.game_id, game.totals) == ("g1", (30, 0))
    assert game.over is message


def test_a_trace_receives_every_line_of_both_directions() -> None:
    lines: list[tuple[str, bytes]] = []
    spectator = Spectator("eye", None, "*", trace=lambda direction, line: lines.append((direction, line)))
    list(spectator.receive(b"ARENA 1 insertion-arena/0.1\n"))
    assert lines == [("<", b"ARENA 1 insertion-arena/0.1"), (">", b"HELLO 1 eye role=spectator")]


def test_a_token_is_that_of_a_registered_name() -> None:
    spectator = Spectator("eye", "s3cret", "*")
    list(spectator.receive(b"ARENA 1 insertion-arena/0.1\n"))
    assert spectator.data_to_send() == b"HELLO 1 eye token=s3cret\n"


def test_byte_by_byte_it_is_the_same() -> None:
    chunks = [GAME_LINES[index : index + 1] for index in range(len(GAME_LINES))]
    assert watch(chunks)[:2] == watch([GAME_LINES])[:2]


def test_a_spectator_of_all_games_stays_until_bye() -> None:
    _, sent, spectator = watch([GAME_LINES], ALL_GAMES)
    assert sent == ANSWERS.replace(b"g1", b"*")
    assert not spectator.finished
    assert list(spectator.receive(b"BYE reason=finished\nGAME after the end\n")) == []
    assert spectator.finished
    assert list(spectator.receive(b"")) == []


@all_of(
    ("lines", "message"),
    [
        (
            b"ERROR no-such-game no such game is being played\n",
            "game g1 is not being played now; without a game id all games are shown",
        ),
        (b"ERROR flood too many lines\n", "the server refuses spectator: flood: too many lines"),
        (
            b"WELCOME again session=1 resume=2\n",
            "the server broke the protocol: WELCOME has no meaning while watching: "
            "'WELCOME again session=1 resume=2'",
        ),
        (
            OFFER.replace(b"seats=2", b"seats=3"),
            "the server broke the protocol: g1: the server sent GAME with seats that do not add up: "
            "'GAME g1 insertion seat=0 seats=3 names=ann,bob clock=20000 increment=0 zombie=6 '",
        ),
        (
            OFFER.replace(b"seat=0", b"seat=1"),
            "spectator is offered a game; watch under a name that does not play",
        ),
        (
            b"",
            "the server closed the connection: it has ended, or this spectator read too slowly; watch again",
        ),
    ],
)
def test_why_it_cannot_go_on_is_one_line(lines: bytes, message: str) -> None:
    spectator = Spectator("spectator", None, "g1")
    list(spectator.receive(WELCOME))
    with pytest.raises(ClientError) as caught:
        list(spectator.receive(lines))
    assert str(caught.value) == message


def test_a_refusal_before_the_log_in_has_the_code_of_error() -> None:
    with pytest.raises(ClientError, match=r"^the server refuses spectator: full: full house$") as caught:
        list(Spectator("spectator", None, "*").receive(b"ERROR full full house\n"))
    assert caught.value.code == "full"


def test_a_target_that_the_wire_cannot_carry() -> None:
    with pytest.raises(ClientError, match=r"^the protocol cannot carry this: "):
        list(Spectator("spectator", None, "two words").receive(WELCOME))


def test_a_log_in_that_takes_too_long() -> None:
    spectator = Spectator("spectator", None, "*")
    assert "is it an arena server" in spectator.timeout_message()
    list(spectator.receive(WELCOME[: WELCOME.index(b"WELCOME")]))
    assert not spectator.welcomed
    assert spectator.timeout_message().startswith("the server did not answer the log-in; ")
    list(spectator.receive(WELCOME[WELCOME.index(b"WELCOME") :]))
    assert spectator.welcomed


@given(st.lists(st.binary() | st.sampled_from(GAME_LINES.splitlines(keepends=True)), max_size=20))
@settings(max_examples=200, deadline=None)
def test_any_bytes_lead_to_updates_or_one_error(chunks: list[bytes]) -> None:
    spectator = Spectator("spectator", None, "*")
    with suppress(ClientError):
        for chunk in chunks:
            list(spectator.receive(chunk))
            spectator.data_to_send()
