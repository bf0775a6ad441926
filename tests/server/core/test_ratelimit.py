"""The rate limits: failed log-ins by address and name, and lines that need no answer."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import rows

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_server.core.events import Opened, Received
from arena_server.core.ratelimit import (
    INFO_BYTES,
    KEPT,
    LINES,
    LOG_INS,
    Budget,
    InfoBudget,
    Limit,
    LoginRateLimiter,
)
from arena_server.terms.config import Entrant

from .contest_harness import MS, ContestHarness


def test_a_hundred_lines_a_second_never_overflow() -> None:
    lines = Limit[None](LINES)
    assert all(lines.admits(None, 10**15 + i * 10 * MS) for i in range(5000))
    assert not all(lines.admits(None, 2 * 10**15 + i * 5 * MS) for i in range(3000))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 3), st.sampled_from("ab")), max_size=60))
def test_a_limit_admits_what_a_bucket_of_its_budget_has(steps: list[tuple[int, int, str]]) -> None:
    """The oracle counts what is left of each key step by step."""
    limit, now, left = Limit[str](Budget(5, 4)), 0, {"a": 20, "b": 20}
    for pause, cost, key in steps:
        now += pause
        left = {each: min(20, rest + pause) for each, rest in left.items()}
        admitted = left[key] >= 4 * cost
        assert limit.wait(key, now, cost) == max(0, 4 * cost - left[key])
        assert limit.admits(key, now, cost) == admitted
        left[key] -= 4 * cost * admitted


TRIES, PAUSE_MS = LOG_INS.burst, LOG_INS.period // MS


TOKEN = "s3cret"


def locked(name: str = "ann", address: str = "1.2.3.4") -> LoginRateLimiter:
    guesses = LoginRateLimiter()
    for _ in range(TRIES):
        guesses.deny(address, name, 0)
    return guesses


def refusal(
    guesses: LoginRateLimiter, now: int, name: str = "ann", address: str = "1.2.3.4"
) -> ProtocolError:
    with pytest.raises(ProtocolError, match=r"^rate: too many wrong log-ins; wait, then try again$") as error:
        guesses.deny(address, name, now)
    return error.value


def test_after_ten_denials_a_client_has_to_wait() -> None:
    guesses = locked()
    assert refusal(guesses, 0).retry_after == PAUSE_MS
    assert refusal(guesses, (PAUSE_MS - 1) * MS).retry_after == 1
    assert refusal(guesses, PAUSE_MS * MS - 1).retry_after == 1
    guesses.deny("1.2.3.4", "ann", PAUSE_MS * MS)


def test_each_pause_gives_one_more_try() -> None:
    guesses = locked()
    guesses.deny("1.2.3.4", "ann", PAUSE_MS * MS)
    assert refusal(guesses, PAUSE_MS * MS).retry_after == PAUSE_MS
    long_after = 100 * PAUSE_MS * MS
    for _ in range(TRIES):
        guesses.deny("1.2.3.4", "ann", long_after)
    refusal(guesses, long_after)


def test_other_names_and_other_addresses_are_not_limited() -> None:
    guesses = locked()
    guesses.deny("1.2.3.4", "bob", 0)
    guesses.deny("1.2.3.5", "ann", 0)


def test_a_successful_login_resets_the_count() -> None:
    guesses = locked()
    guesses.right("1.2.3.4", "ann")
    guesses.deny("1.2.3.4", "ann", 0)
    guesses.right("1.2.3.4", "stranger")


def test_the_oldest_address_is_forgotten_beyond_the_limit() -> None:
    guesses = locked()
    for number in range(KEPT - 1):
        guesses.deny("1.2.3.4", f"n{number}", 0)
    refusal(guesses, 0)
    guesses.deny("1.2.3.4", "one-more", 0)
    guesses.deny("1.2.3.4", "ann", 0)


class TestInTheContest:
    def harness(self) -> ContestHarness:
        return ContestHarness(Entrant("ann", sha256(TOKEN.encode()).hexdigest()), "bob")

    def guess(
        self, harness: ContestHarness, name: str = "ann", token: str = "wrong", address: str = "9.9.9.9"
    ) -> str:
        conn = next(harness.numbers)
        harness.event(Opened(conn, f"{address}:{40000 + conn}"))
        harness.event(Received(conn, f"HELLO 1 {name} token={token}".encode(), harness.now))
        return harness.lines[conn][1][3:]

    @pytest.mark.parametrize("name", ["ann", "stranger"])
    def test_a_guesser_has_to_wait_whether_the_name_exists_or_not(self, name: str) -> None:
        harness = self.harness()
        for _ in range(TRIES):
            assert self.guess(harness, name).startswith("ERROR token no such name, or a wrong token")
        assert self.guess(harness, name) == (
            "ERROR rate too many wrong log-ins; wait, then try again retry_after=6000"
        )

    def test_the_right_token_is_accepted_whatever_others_tried_from_its_address(self) -> None:
        harness = self.harness()
        for _ in range(TRIES):
            self.guess(harness)
        assert self.guess(harness).startswith(f"ERROR {ErrorCode.RATE} ")
        assert self.guess(harness, token=TOKEN).startswith("WELCOME ann ")

    def test_each_pause_lets_one_more_wrong_token_be_denied(self) -> None:
        harness = self.harness()
        for _ in range(TRIES):
            self.guess(harness)
        assert self.guess(harness).startswith(f"ERROR {ErrorCode.RATE} ")
        harness.wait(PAUSE_MS)
        assert self.guess(harness).startswith("ERROR token ")
        assert self.guess(harness).startswith(f"ERROR {ErrorCode.RATE} ")

    def test_the_owner_logs_in_from_another_address_meanwhile(self) -> None:
        harness = self.harness()
        for _ in range(TRIES + 1):
            self.guess(harness)
        assert self.guess(harness, token=TOKEN, address="9.9.9.8").startswith("WELCOME ann ")
        assert self.guess(harness, name="bob").startswith("WELCOME bob ")

    def test_a_wrong_resume_key_is_a_guess_as_well(self) -> None:
        harness = self.harness()
        for _ in range(TRIES):
            self.guess(harness, token=f"{TOKEN} resume=guessed")
        assert self.guess(harness, token=f"{TOKEN} resume=guessed").startswith("ERROR rate ")

    @pytest.mark.parametrize("times", rows([12, 50], 2))
    def test_a_guesser_does_not_lock_out_a_bot_that_resumes(self, times: int) -> None:
        """100 wrong keys a second from the bot's own address, while it reconnects."""
        harness = self.harness()
        answer = self.guess(harness, token=TOKEN)
        for _ in range(times):
            for _ in range(100):
                refused = self.guess(harness, token="wrong resume=" + "0" * 48)
                assert refused.startswith(("ERROR token ", "ERROR rate "))
                harness.wait(10)
            key = answer.split("resume=")[1].split()[0]
            answer = self.guess(harness, token=f"{TOKEN} resume={key}")
            assert answer.startswith("WELCOME ann ")

    def test_a_name_taken_is_no_guess(self) -> None:
        harness = self.harness()
        self.guess(harness, token=TOKEN)
        for _ in range(TRIES + 1):
            assert self.guess(harness, token=TOKEN).startswith("ERROR name-taken ")


def test_notes_are_bounded_in_bytes_of_a_game() -> None:
    budget = InfoBudget()
    assert all(budget.admits(ply, INFO_BYTES // 4) for ply in range(1, 5))
    assert not budget.admits(5, 1)
