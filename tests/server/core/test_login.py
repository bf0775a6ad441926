"""Logging in: names, tokens, resume keys, and refusals that do not say what was wrong."""

from __future__ import annotations

from hashlib import sha256

import pytest
from tests.slices import all_of

from arena_protocol.games.insertion import Insertion
from arena_server.core.log_events import ConnectionRefused, LoggedIn
from arena_server.terms.config import Entrant

from .contest_harness import ContestHarness

SECRET = Entrant("ann", sha256(b"s3cret").hexdigest().upper())


DENIED = "ERROR token no such name, or a wrong token or resume key"


def test_the_server_sends_the_first_line() -> None:
    harness = ContestHarness("ann", "bob")
    harness.connect("ann")
    assert harness.received("ann") == ["ARENA 1 insertion-arena/0.1"]


def test_welcome() -> None:
    harness = ContestHarness(SECRET, "bob")
    harness.log_in("ann", " games=xo,insertion token=s3cret agent=test/1")
    assert harness.last_line("ann") == "WELCOME ann session=id2 resume=key1"
    assert harness.logged(LoggedIn) == [LoggedIn(1, "peer-1", "ann", "test/1", resumed=False, slot=1)]


def test_the_epoch_of_the_rules_is_said_if_it_is_not_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Insertion, "EPOCH", 2)
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    assert harness.last_line("ann") == "WELCOME ann session=id2 resume=key1 epoch=2"
    harness.log_in("bob")
    (offer,) = [line for line in harness.received("bob") if line.startswith("GAME ")]
    assert " epoch=2 clock=" in offer


def test_another_role_plays() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann", " role=player")
    harness.log_in("bob")
    assert harness.received("ann")[-3].startswith("GAME ")


def test_a_spectator_may_use_any_name_and_nothing_but_watch() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann", " role=spectator", conn="the name of a bot")
    harness.log_in("passer-by", " role=spectator")
    harness.log_in("passer-by", " role=spectator", conn="a second one")
    harness.send("passer-by", "WATCH *")
    harness.wait(11_000)
    assert not harness.is_closed("passer-by")
    assert harness.is_closed("a second one")
    assert harness.last_line("a second one") == f"{DENIED}; a spectator sends WATCH"
    harness.log_in("ann")
    assert harness.last_line("ann").startswith("WELCOME ann "), "a spectator takes no name"


class TestLogs:
    """HELLO with role=log."""

    def harness(self) -> ContestHarness:
        return ContestHarness(SECRET, Entrant("bob", sha256(b"other").hexdigest()), "free", logs=True)

    def test_the_token_of_a_slot_opens_the_log_too(self) -> None:
        harness = self.harness()
        harness.connect("reader")
        harness.send("reader", "HELLO 1 ann token=s3cret.2 role=log")
        assert harness.last_line("reader") == "BYE reason=log"

    def test_the_token_opens_the_log_while_the_bot_plays_on(self) -> None:
        harness = self.harness()
        harness.log_in("ann", " token=s3cret")
        harness.connect("reader")
        harness.send("reader", "HELLO 1 ann token=s3cret role=log")
        assert harness.received("reader")[1:] == ["WELCOME ann session=id4 resume=key3", "BYE reason=log"]
        assert harness.shown == [(harness.conns["reader"], "ann")]
        assert harness.is_gone("reader")
        assert not harness.is_gone("ann")
        harness.send("ann", "PING 1")
        assert harness.last_line("ann") == "PONG 1"

    @all_of(
        "hello",
        [
            "ann",
            "ann token=wrong",
            "ann token=other",
            "bob token=s3cret",
            "ann resume=key1",
            "ann token=s3cret resume=key1",
            "ann token=wrong resume=key1",
            "free",
            "free token=s3cret",
            "stranger token=s3cret",
        ],
    )
    def test_nothing_else_does(self, hello: str) -> None:
        harness = self.harness()
        harness.log_in("ann", " token=s3cret")
        assert harness.last_line("ann").endswith("resume=key1")
        harness.connect("reader")
        harness.send("reader", f"HELLO 1 {hello} role=log")
        assert harness.received("reader")[1:] == [DENIED]
        assert harness.is_gone("reader")
        assert harness.shown == []

    def test_the_key_of_a_reader_resumes_nothing(self) -> None:
        harness = self.harness()
        harness.connect("reader")
        harness.send("reader", "HELLO 1 ann token=s3cret role=log")
        key = harness.received("reader")[1].rpartition("=")[2]
        harness.connect("thief")
        harness.send("thief", f"HELLO 1 ann resume={key}")
        assert harness.last_line("thief") == DENIED

    def test_a_log_is_sent_after_the_end_of_the_contest_too(self) -> None:
        harness = self.harness()
        harness.stop()
        harness.connect("reader")
        harness.connect("late")
        assert not harness.is_gone("reader")
        harness.send("reader", "HELLO 1 ann token=s3cret role=log")
        assert [bot for _, bot in harness.shown] == ["ann"]
        harness.send("late", "HELLO 1 ann token=s3cret")
        assert harness.last_line("late") == "BYE reason=stopped"
        harness.connect("silent")
        harness.wait(11_000)
        assert harness.is_gone("silent")


@pytest.mark.parametrize("games", ["", " games=insertion"])
def test_a_name_that_is_not_registered_is_denied_like_a_wrong_token(games: str) -> None:
    harness = ContestHarness(SECRET, "bob")
    harness.connect("stranger")
    harness.send("stranger", f"HELLO 1 stranger{games}")
    assert harness.last_line("stranger") == DENIED


def test_a_contest_without_spectators_denies_them_all_alike() -> None:
    harness = ContestHarness(SECRET, "bob", guests=False)
    for name in ("ann", "stranger"):
        harness.connect(name)
        harness.send(name, f"HELLO 1 {name} role=spectator")
        assert harness.last_line(name) == DENIED


@all_of(
    ("hello", "error"),
    [
        ("HELLO 2 ann token=s3cret", "ERROR version this server speaks version 1"),
        ("HELLO 1 ann token=s3cret games=xo,go", "ERROR game this contest plays insertion"),
        ("HELLO 1 ann token=wrong", DENIED),
        ("HELLO 1 ann", DENIED),
        ("HELLO 1 stranger token=s3cret", DENIED),
        ("HELLO 1 stranger games=insertion", DENIED),
        ("HELLO 1 ann resume=key1", DENIED),
        ("HELLO 1 stranger resume=key1", DENIED),
        ("READY g1", "ERROR login the first line must be HELLO, not READY"),
        ("PING 1", "ERROR login the first line must be HELLO, not PING"),
    ],
)
def test_a_refused_first_line_is_the_last(hello: str, error: str) -> None:
    harness = ContestHarness(SECRET, "bob")
    harness.connect("ann")
    harness.send("ann", hello)
    assert harness.last_line("ann") == error
    assert harness.is_closed("ann")
    assert harness.logged(ConnectionRefused) == [ConnectionRefused(1, "peer-1", None, error.split()[1])]
    harness.send("ann", "HELLO 1 ann token=s3cret")
    assert harness.last_line("ann") == error


@pytest.mark.parametrize(
    ("line", "code"), [("HELLO 1 -x-", "name"), ("HELLO", "syntax"), ("GET / HTTP/1.1", "unknown-verb")]
)
def test_a_first_line_that_cannot_be_read(line: str, code: str) -> None:
    harness = ContestHarness("ann", "bob")
    harness.connect("ann")
    harness.send("ann", line)
    assert harness.last_line("ann").startswith(f"ERROR {code} ")
    assert harness.is_closed("ann")


def test_a_first_line_too_long() -> None:
    harness = ContestHarness("ann", "bob")
    harness.connect("ann")
    harness.send_overlong("ann")
    assert harness.last_line("ann") == "ERROR too-long a line may have 1024 bytes at most"
    assert harness.is_closed("ann")


def test_a_first_line_that_does_not_come() -> None:
    harness = ContestHarness("ann", "bob", login_ms=700)
    harness.connect("ann")
    harness.send("ann", "")  # a blank line keeps nothing alive here
    harness.wait(699)
    assert not harness.is_closed("ann")
    harness.wait(1)
    assert harness.last_line("ann") == "ERROR login the first line did not come within 700 ms"
    assert harness.is_closed("ann")


def test_the_login_deadline_ends_with_the_login() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.wait(100_000)
    assert not harness.is_closed("ann")


def test_a_connected_name_is_taken_until_its_connection_is_gone() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.log_in("ann", conn="ann again")
    assert harness.last_line("ann again") == "ERROR name-taken ann is connected already"
    harness.disconnect("ann")
    harness.log_in("ann", conn="ann once more")
    assert harness.last_line("ann once more").startswith("WELCOME ann ")


def test_a_wrong_token_does_not_show_that_the_name_is_taken() -> None:
    harness = ContestHarness(SECRET, "bob")
    harness.log_in("ann", " token=s3cret")
    harness.log_in("ann", " token=wrong", conn="thief")
    assert harness.last_line("thief") == DENIED


def test_a_resume_key_takes_over_and_works_until_the_next_one_is_used() -> None:
    harness = ContestHarness(SECRET, "bob")
    harness.log_in("ann", " token=s3cret")
    harness.log_in("ann", " resume=key1", conn="second")
    assert harness.last_line("ann") == "BYE reason=replaced"
    assert harness.is_closed("ann")
    assert harness.last_line("second") == "WELCOME ann session=id4 resume=key3"
    harness.log_in("ann", " resume=key1", conn="third")  # WELCOME was lost
    assert harness.last_line("second") == "BYE reason=replaced"
    assert harness.last_line("third") == "WELCOME ann session=id6 resume=key5"
    harness.log_in("ann", " resume=key5", conn="fourth")
    assert harness.last_line("fourth").startswith("WELCOME ann ")
    for number, key in enumerate(("key1", "key3")):
        harness.log_in("ann", f" resume={key}", conn=f"thief {number}")
        assert harness.last_line(f"thief {number}") == DENIED


@pytest.mark.parametrize("answer", ["READY g1", "MOVE 7"])
@pytest.mark.parametrize("known", [False, True], ids=["parsed", "remembered"])
def test_a_resume_key_works_until_the_bot_has_answered_behind_the_next_welcome(
    answer: str, known: bool
) -> None:
    harness = ContestHarness("ann", "bob")
    for name in ("ann", "bob"):
        harness.log_in(name)
    if answer.startswith("MOVE"):
        harness.send("ann", "READY g1")
        harness.send("bob", "READY g1")
        if known:  # a line that was parsed before takes a shorter way
            harness.send("ann", answer)
            harness.send("bob", answer)
    harness.log_in("ann", " resume=key1", conn="back")
    harness.send("back", "PING 1")  # it may have been sent before WELCOME was read
    harness.log_in("ann", " resume=key1", conn="back again")
    assert harness.last_line("back") == "BYE reason=replaced"
    harness.send("back again", answer)
    harness.log_in("ann", " resume=key1", conn="thief")
    assert harness.last_line("thief") == DENIED


def test_a_resume_key_does_not_outlive_quit() -> None:
    harness = ContestHarness(SECRET, "bob")
    harness.log_in("ann", " token=s3cret")
    harness.send("ann", "QUIT")
    harness.log_in("ann", " resume=key1", conn="second")
    assert harness.last_line("second") == DENIED
