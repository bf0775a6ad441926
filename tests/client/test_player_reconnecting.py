"""The player without I/O: lines in, lines and jobs out, over as many connections as a test likes.

Here a connection that is lost, and what the next one goes on with.
"""

from __future__ import annotations

import pytest

from .fake_server import (
    DEALT,
    OFFER,
    PLAYED_1,
    PLAYED_2,
    START,
    TURN_1,
    TURN_3,
)
from .table import GREETING, Table, playing


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
