"""The player without I/O: lines in, lines and jobs out, over as many connections as a test likes.

Here how a visit ends, and that any bytes of a server end it well.
"""

from __future__ import annotations

import contextlib
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_client import ClientError
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
from .table import GREETING, HELLO, Table, playing


@pytest.mark.parametrize(
    ("lines", "said"),
    [((), []), (("ARENA 1 fake/1",), []), (GREETING, ["QUIT"]), ((*GREETING, BYE), [])],
)
def test_quit_is_said_to_who_understands_it(lines: tuple[str, ...], said: list[str]) -> None:
    table = Table()
    table.hear(*lines)
    table.player.quit()
    assert table.said() == said


def test_quit_between_two_connections_says_nothing() -> None:
    table = playing()
    table.player.lost()
    table.player.quit()
    assert table.said() == []


def test_after_bye_nothing_is_said_or_asked() -> None:
    table = playing()
    assert table.hear(TURN_1, "BYE reason=stopped", "PING x") == []
    assert (table.player.farewell, table.player.next_job(), table.player.settling) == ("stopped", None, False)


def test_the_last_result_is_told_after_bye() -> None:
    table = playing()
    table.hear(TURN_1)
    table.think()
    table.hear(PLAYED_1, "OVER g1 total=30,0 end=complete", BYE)
    assert table.player.settling
    job = table.job()
    assert (job.kind, table.player.settling) == ("game_over", True)
    table.player.done(job, job.ask())
    assert not table.player.settling
    assert table.bot.told[-1] == "over 30"  # type: ignore[attr-defined]


def test_an_error_in_a_game_is_told_and_goes_by(caplog: pytest.LogCaptureFixture) -> None:
    table = playing()
    with caplog.at_level(logging.WARNING, "arena_client"):
        table.hear("ERROR not-your-turn MOVE answers a TURN")
    assert caplog.messages == ["me: the server says ERROR not-your-turn: MOVE answers a TURN"]
    table.hear(TURN_1)
    assert table.think() == ["MOVE 4"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("ARENA 2 fake/1", "^the server speaks version 2 of the protocol, this client 1$"),
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
def test_what_ends_a_visit_for_good(line: str, text: str) -> None:
    with pytest.raises(ClientError, match=text):
        Table().hear(line)


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


def follow(table: Table, data: bytes, size: int) -> list[str]:
    """What a player says to these bytes in chunks of `size`, its bot asked after each."""
    said = []
    for start in range(0, len(data), size):
        table.player.receive_data(data[start : start + size])
        said += table.think()
    return said


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from(CONTEST), st.text(max_size=30)), max_size=25),
    st.lists(st.tuples(st.integers(0, 2000), st.binary(max_size=3)), max_size=2),
    st.sampled_from([1, 16, 4096]),
)
def test_any_bytes_of_a_server_lead_to_lines_or_a_client_error(
    lines: list[str], changes: list[tuple[int, bytes]], size: int
) -> None:
    """The error contract: whole lines mixed up and bytes exchanged, in chunks and byte by byte."""
    data = "".join(f"{line}\n" for line in [*GREETING, *lines]).encode()
    for place, piece in changes:
        data = data[:place] + piece + data[place + 1 :]
    table = Table()
    with contextlib.suppress(ClientError):
        assert all(line.partition(" ")[0] in VERBS for line in follow(table, data, size))
    assert all(line.partition(" ")[0] in VERBS for line in table.said())


VERBS = {"HELLO", "READY", "MOVE", "PONG"}


@pytest.mark.parametrize("size", [1, 2, 7, 64, 4096])
def test_the_size_of_the_chunks_changes_nothing(size: int) -> None:
    server_says = [
        ["ARENA 1 fake/1"],
        ["WELCOME me session=s1 resume=r1", OFFER, *DEALT],
        [START, TURN_1],
        [PLAYED_1, "PING x", PLAYED_2, TURN_3],
        [PLAYED_3, PLAYED_4, OVER, BYE],
    ]
    table = Table()
    said = [follow(table, "".join(f"{line}\n" for line in lines).encode(), size) for lines in server_says]
    assert said == [[HELLO], ["READY g1"], ["MOVE 4"], ["PONG x", "MOVE 4"], []]
    assert table.bot.told == ["new g1", "choose 1", "choose 3", "over 60"]  # type: ignore[attr-defined]
