"""ClientProtocol over several connections: resume keys, refusals, and answers that are sent again."""

from __future__ import annotations

import pytest

from arena_client.retry import RetryPolicy, RetryState

from .fake_server import (
    DEALT,
    OFFER,
    PLAYED_1,
    PLAYED_2,
    START,
    TURN_1,
    TURN_3,
)
from .harness import GREETING, Harness, playing


class TestReconnecting:
    def test_the_resume_key_is_used_and_renewed(self) -> None:
        client = playing(token="s3cret")
        client.reconnect()
        assert client.receive("ARENA 1 fake/1") == ["HELLO 1 me resume=r1 agent=arena-client"]
        client.receive("WELCOME me session=s2 resume=r2")
        client.reconnect()
        assert client.receive("ARENA 1 fake/1") == ["HELLO 1 me resume=r2 agent=arena-client"]

    def test_after_a_refused_resume_key_name_and_token_are_used(self) -> None:
        client = playing(token="s3cret")
        client.reconnect()
        client.receive("ARENA 1 fake/1", "ERROR token wrong key")
        assert client.protocol.link.refusal == "token: wrong key"
        client.reconnect()
        assert client.receive("ARENA 1 fake/1") == ["HELLO 1 me token=s3cret agent=arena-client"]

    def test_a_name_taken_by_the_own_old_connection_is_tried_again(self) -> None:
        client = playing()
        client.reconnect()
        client.receive("ARENA 1 fake/1", "ERROR token spent")
        client.reconnect()
        client.receive("ARENA 1 fake/1", "ERROR name-taken this name is connected already")
        assert client.protocol.link.refusal == "name-taken: this name is connected already"

    @pytest.mark.parametrize("code", ["full", "rate"])
    def test_a_temporary_refusal(self, code: str) -> None:
        client = Harness()
        client.receive("ARENA 1 fake/1", f"ERROR {code} later retry_after=7000")
        assert (client.protocol.link.refusal, client.protocol.link.retry_after_s) == (f"{code}: later", 7)
        client.reconnect()
        assert (client.protocol.link.refusal, client.protocol.link.retry_after_s) == (None, 0)

    def test_a_slow_reader_connects_again(self) -> None:
        client = playing()
        client.receive("BYE reason=slow")
        assert client.protocol.bye_reason is None
        assert client.protocol.link.refusal == "the server sent BYE: the client did not read what it was sent"

    def test_it_waits_for_the_next_contest_as_long_as_the_server_wants(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The stages of a season: no such log-in is a failed try, and none is worth a warning."""
        client = playing(token="s3cret")
        retry = RetryState(RetryPolicy(delays=lambda: iter([1.0])), "here:1")
        client.receive("BYE reason=finished again=2000")
        for _ in range(3):
            reason = client.protocol.end_reason("closed")
            assert reason == "the contest is over (finished), and another one may follow"
            assert client.protocol.wait_after(retry, "here:1", reason, 0.1) == 2.0
            client.reconnect()
            assert client.receive("ARENA 1 fake/1") == ["HELLO 1 me token=s3cret agent=arena-client"]
            client.receive("BYE reason=finished again=2000")
        assert caplog.messages == []
        client.reconnect()
        client.receive("ARENA 1 fake/1", "BYE reason=short")
        assert client.protocol.bye_reason == "short"

    def test_a_lost_connection_is_worth_a_warning(self, caplog: pytest.LogCaptureFixture) -> None:
        retry = RetryState(RetryPolicy(delays=lambda: iter([1.0])), "here:1")
        assert playing().protocol.wait_after(retry, "here:1", "closed", 0.1) == 1.0
        assert caplog.messages == ["me: no connection to here:1 (closed), next try in 1.0 s"]

    def test_the_plies_so_far_are_read_before_the_answer(self) -> None:
        client = playing()
        client.receive(TURN_1)
        client.run_jobs()
        client.reconnect()
        client.receive(*GREETING)
        assert client.receive(OFFER, *DEALT, START, PLAYED_1, PLAYED_2, TURN_3) == []
        view = client.protocol.view
        assert view is not None
        assert (view.board, view.visible, view.totals) == ("1.351/5.423/6.552/14215/44526", "63", (30, 0))
        assert client.run_jobs() == ["MOVE 4"]
        assert client.calls == ["new g1", "choose 1", "choose 3"]

    def test_a_move_that_the_old_connection_lost_is_sent_again(self) -> None:
        client = playing()
        client.receive(TURN_1)
        assert client.run_jobs() == ["MOVE 4"]
        client.reconnect()
        assert client.receive(*GREETING, OFFER, *DEALT, START, TURN_1) == [
            "HELLO 1 me resume=r1 agent=arena-client",
            "MOVE 4",
        ]
        assert client.calls == ["new g1", "choose 1"]

    def test_an_answer_for_other_plies_is_not_sent(self) -> None:
        """A restarted server may have lost the last plies; the answer to them is not sent."""
        client = playing()
        client.receive(TURN_1)
        client.run_jobs()
        client.receive(PLAYED_1, PLAYED_2, TURN_3)
        client.run_jobs()
        client.reconnect()
        other = PLAYED_2.replace("move=6", "move=9")
        assert client.receive(*GREETING, OFFER, *DEALT, START, PLAYED_1, other, TURN_3)[1:] == []
        assert client.run_jobs() == ["MOVE 4"]
        assert client.calls == ["new g1", "choose 1", "choose 3", "choose 3"]

    def test_a_job_continues_between_two_connections(self) -> None:
        client = playing()
        client.receive(TURN_1)
        job = client.job()
        client.protocol.connection_lost()
        client.protocol.complete(job, 4)
        assert client.sent() == []
        client.protocol.connection_made()
        assert client.receive(*GREETING, OFFER, *DEALT, START, TURN_1)[1:] == ["MOVE 4"]

    def test_no_job_begins_between_two_connections(self) -> None:
        client = playing()
        client.receive(TURN_1)
        client.protocol.connection_lost()
        assert client.protocol.next_job() is None

    def test_ready_is_sent_again_if_the_game_has_not_started(self) -> None:
        client = Harness()
        client.receive(*GREETING, OFFER, *DEALT)
        assert client.run_jobs() == ["READY g1"]
        client.reconnect()
        assert client.receive(*GREETING, OFFER, *DEALT)[1:] == ["READY g1"]
        assert client.calls == ["new g1"]

    def test_a_game_that_ended_meanwhile_is_dropped(self) -> None:
        client = playing()
        client.receive(TURN_1)
        job = client.job()
        client.reconnect()
        client.receive(*GREETING)
        client.protocol.complete(job, 4)
        assert (client.sent(), client.protocol.next_job(), client.protocol.view) == ([], None, None)

    def test_a_new_process_continues_a_game(self) -> None:
        """It warms up, sends no READY, and moves."""
        client = Harness()
        client.receive(*GREETING, OFFER, *DEALT, START, PLAYED_1, PLAYED_2, TURN_3)
        assert client.run_jobs() == ["MOVE 4"]
