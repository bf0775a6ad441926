"""The player without I/O: lines in, lines and jobs out, over as many connections as a test likes."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_client import Bot, ClientError, GameView, Result
from arena_client.player import Job, Player
from arena_protocol.lines import SERVER_LINE_LIMIT

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

HELLO = "HELLO 1 me agent=arena-client"
GREETING = ("ARENA 1 fake/1", "WELCOME me session=s1 resume=r1")


class Four(Bot):
    def __init__(self) -> None:
        self.told: list[str] = []

    def new_game(self, view: GameView) -> None:
        self.told.append(f"new {view.game_id}")

    def choose(self, view: GameView) -> int | str:
        self.told.append(f"choose {view.ply}")
        return 4

    def game_over(self, view: GameView, result: Result) -> None:
        self.told.append(f"over {result.mine}")


class Table:
    """A player on a connection, with the bot asked as soon as it is due unless a test holds it back."""

    def __init__(self, bot: Bot | None = None, **more: Any) -> None:
        self.bot = bot or Four()
        self.player = Player(self.bot, "me", **more)
        self.player.opened()

    def hear(self, *lines: str) -> list[str]:
        """Let the player read the lines in one piece; what it says."""
        self.player.receive_data("".join(f"{line}\n" for line in lines).encode())
        return self.said()

    def said(self) -> list[str]:
        return self.player.data_to_send().decode().splitlines()

    def think(self) -> list[str]:
        """Answer all jobs that are due; what the player says after them."""
        while (job := self.player.next_job()) is not None:
            self.player.done(job, job.ask())
        return self.said()

    def job(self) -> Job:
        job = self.player.next_job()
        assert job is not None
        return job

    def again(self) -> None:
        """The connection is lost and another one opened."""
        self.player.lost()
        self.player.opened()


def playing(**more: Any) -> Table:
    """A table where the first turn is just to come."""
    table = Table(**more)
    table.hear(*GREETING, OFFER, *DEALT)
    table.think()
    table.hear(START)
    return table


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


class TestReconnecting:
    def test_the_resume_token_takes_the_seat_up(self) -> None:
        table = playing(token="s3cret")
        table.again()
        assert table.hear("ARENA 1 fake/1") == ["HELLO 1 me resume=r1 agent=arena-client"]
        table.hear("WELCOME me session=s2 resume=r2")
        table.again()
        assert table.hear("ARENA 1 fake/1") == ["HELLO 1 me resume=r2 agent=arena-client"]

    def test_a_spent_resume_token_falls_back_on_name_and_token(self) -> None:
        table = playing(token="s3cret")
        table.again()
        table.hear("ARENA 1 fake/1", "ERROR token who are you")
        assert table.player.refusal == "token: who are you"
        table.again()
        assert table.hear("ARENA 1 fake/1") == ["HELLO 1 me token=s3cret agent=arena-client"]

    def test_our_own_ghost_is_waited_for(self) -> None:
        table = playing()
        table.again()
        table.hear("ARENA 1 fake/1", "ERROR token spent")
        table.again()
        table.hear("ARENA 1 fake/1", "ERROR name-taken this name is connected already")
        assert table.player.refusal == "name-taken: this name is connected already"

    @pytest.mark.parametrize("code", ["full", "rate"])
    def test_a_refusal_that_passes(self, code: str) -> None:
        table = Table()
        table.hear("ARENA 1 fake/1", f"ERROR {code} later retry_after=7")
        assert (table.player.refusal, table.player.retry_after) == (f"{code}: later", 7)
        table.again()
        assert (table.player.refusal, table.player.retry_after) == (None, 0)

    def test_a_reader_too_slow_comes_back(self) -> None:
        table = playing()
        table.hear("BYE reason=slow")
        assert table.player.farewell is None
        assert table.player.refusal == "the server said BYE: the client does not read what it is sent"

    def test_the_plies_so_far_are_caught_up(self) -> None:
        table = playing()
        table.hear(TURN_1)
        table.think()
        table.again()
        table.hear(*GREETING)
        assert table.hear(OFFER, *DEALT, START, PLAYED_1, PLAYED_2, TURN_3) == []
        view = table.player.view
        assert view is not None
        assert (view.board, view.visible, view.totals) == ("1.351/5.423/6.552/14215/44526", "63", (30, 0))
        assert table.think() == ["MOVE 4"]
        assert table.bot.told == ["new g1", "choose 1", "choose 3"]  # type: ignore[attr-defined]

    def test_a_move_that_the_old_connection_lost_is_sent_again(self) -> None:
        table = playing()
        table.hear(TURN_1)
        assert table.think() == ["MOVE 4"]
        table.again()
        assert table.hear(*GREETING, OFFER, *DEALT, START, TURN_1) == [
            "HELLO 1 me resume=r1 agent=arena-client",
            "MOVE 4",
        ]
        assert table.bot.told == ["new g1", "choose 1"]  # type: ignore[attr-defined]

    def test_an_answer_for_other_plies_is_not_sent(self) -> None:
        """A server that restarts may have lost the last plies: the answer to them is no answer any more."""
        table = playing()
        table.hear(TURN_1)
        table.think()
        table.hear(PLAYED_1, PLAYED_2, TURN_3)
        table.think()
        table.again()
        other = PLAYED_2.replace("move=6", "move=9")
        assert table.hear(*GREETING, OFFER, *DEALT, START, PLAYED_1, other, TURN_3)[1:] == []
        assert table.think() == ["MOVE 4"]
        assert table.bot.told == ["new g1", "choose 1", "choose 3", "choose 3"]  # type: ignore[attr-defined]

    def test_thinking_goes_on_between_two_connections(self) -> None:
        table = playing()
        table.hear(TURN_1)
        job = table.job()
        table.player.lost()
        table.player.done(job, 4)
        assert table.said() == []
        table.player.opened()
        assert table.hear(*GREETING, OFFER, *DEALT, START, TURN_1)[1:] == ["MOVE 4"]

    def test_nothing_new_is_thought_of_between_two_connections(self) -> None:
        table = playing()
        table.hear(TURN_1)
        table.player.lost()
        assert table.player.next_job() is None

    def test_ready_is_said_again_when_the_game_has_not_begun(self) -> None:
        table = Table()
        table.hear(*GREETING, OFFER, *DEALT)
        assert table.think() == ["READY g1"]
        table.again()
        assert table.hear(*GREETING, OFFER, *DEALT)[1:] == ["READY g1"]
        assert table.bot.told == ["new g1"]  # type: ignore[attr-defined]

    def test_a_game_that_ended_meanwhile_is_forgotten(self) -> None:
        table = playing()
        table.hear(TURN_1)
        job = table.job()
        table.again()
        table.hear(*GREETING)
        table.player.done(job, 4)
        assert (table.said(), table.player.next_job(), table.player.view) == ([], None, None)

    def test_a_bot_that_starts_from_nothing_in_the_middle(self) -> None:
        """A new process of the same bot: it warms up, says no READY, and moves."""
        table = Table()
        table.hear(*GREETING, OFFER, *DEALT, START, PLAYED_1, PLAYED_2, TURN_3)
        assert table.think() == ["MOVE 4"]


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
