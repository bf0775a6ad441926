"""Who may come in, and what is told to those who may not."""

from __future__ import annotations

from hashlib import sha256

import pytest

from arena_server.core.config import ContestPlan, Entrant, PlanError
from arena_server.core.contest import Contest
from arena_server.core.deal import RESUME_BYTES
from arena_server.core.ratelimit import LeakyBucket

from .stage import MS, Stage, seated

SECRET = Entrant("ann", sha256(b"s3cret").hexdigest().upper())
DENIED = "ERROR token no such name, or a wrong token or resume key"


def test_the_server_speaks_first() -> None:
    stage = Stage("ann", "bob")
    stage.open("ann")
    assert stage.heard("ann") == ["ARENA 1 insertion-arena/0.1"]


def test_welcome() -> None:
    stage = Stage(SECRET, "bob")
    stage.log_in("ann", " games=xo,insertion token=s3cret agent=test/1")
    assert stage.last("ann") == "WELCOME ann session=id2 resume=key1"
    assert stage.notes("login") == [
        {"conn": 1, "peer": "peer-1", "bot": "ann", "agent": "test/1", "resumed": False}
    ]


def test_a_stranger_may_watch_and_nothing_else() -> None:
    stage = Stage("ann", "bob")
    stage.log_in("passer-by")
    stage.log_in("passer-by", conn="a second one")
    stage.say("passer-by", "WATCH *")
    stage.wait(11_000)
    assert not stage.closed("passer-by")
    assert stage.closed("a second one")
    assert stage.last("a second one") == f"{DENIED}; a spectator sends WATCH"


def test_a_stranger_is_denied_like_anybody_where_guests_are_not_let_in() -> None:
    stage = Stage(SECRET, "bob", guests=False)
    stage.open("nobody")
    stage.say("nobody", "HELLO 1 nobody")
    assert stage.last("nobody") == DENIED


@pytest.mark.parametrize(
    ("hello", "error"),
    [
        ("HELLO 2 ann token=s3cret", "ERROR version this server speaks version 1"),
        ("HELLO 1 ann token=s3cret games=xo,go", "ERROR game this contest plays insertion"),
        ("HELLO 1 ann token=wrong", DENIED),
        ("HELLO 1 ann", DENIED),
        ("HELLO 1 nobody token=s3cret", DENIED),
        ("HELLO 1 nobody games=insertion", DENIED),
        ("HELLO 1 ann resume=key1", DENIED),
        ("HELLO 1 nobody resume=key1", DENIED),
        ("READY g1", "ERROR login the first line must be HELLO, not READY"),
        ("PING 1", "ERROR login the first line must be HELLO, not PING"),
    ],
)
def test_a_refused_first_line_is_the_last(hello: str, error: str) -> None:
    stage = Stage(SECRET, "bob")
    stage.open("ann")
    stage.say("ann", hello)
    assert stage.last("ann") == error
    assert stage.closed("ann")
    assert stage.notes("refused")[0]["code"] == error.split()[1]
    stage.say("ann", "HELLO 1 ann token=s3cret")
    assert stage.last("ann") == error


@pytest.mark.parametrize(
    ("line", "code"), [("HELLO 1 -x-", "name"), ("HELLO", "syntax"), ("GET / HTTP/1.1", "unknown-verb")]
)
def test_a_first_line_that_cannot_be_read(line: str, code: str) -> None:
    stage = Stage("ann", "bob")
    stage.open("ann")
    stage.say("ann", line)
    assert stage.last("ann").startswith(f"ERROR {code} ")
    assert stage.closed("ann")


def test_a_first_line_too_long() -> None:
    stage = Stage("ann", "bob")
    stage.open("ann")
    stage.overlong("ann")
    assert stage.last("ann") == "ERROR too-long a line may have 1024 bytes at most"
    assert stage.closed("ann")


def test_a_first_line_that_does_not_come() -> None:
    stage = Stage("ann", "bob", login_ms=700)
    stage.open("ann")
    stage.say("ann", "")  # a blank line keeps nothing alive here
    stage.wait(699)
    assert not stage.closed("ann")
    stage.wait(1)
    assert stage.last("ann") == "ERROR login the first line did not come within 700 ms"
    assert stage.closed("ann")


def test_the_limit_ends_with_the_login() -> None:
    stage = Stage("ann", "bob")
    stage.log_in("ann")
    stage.wait(100_000)
    assert not stage.closed("ann")


def test_a_connected_name_is_taken_until_its_connection_is_gone() -> None:
    stage = Stage("ann", "bob")
    stage.log_in("ann")
    stage.log_in("ann", conn="ann again")
    assert stage.last("ann again") == "ERROR name-taken ann is connected already"
    stage.hang_up("ann")
    stage.log_in("ann", conn="ann once more")
    assert stage.last("ann once more").startswith("WELCOME ann ")


def test_a_wrong_token_does_not_tell_that_the_name_is_taken() -> None:
    stage = Stage(SECRET, "bob")
    stage.log_in("ann", " token=s3cret")
    stage.log_in("ann", " token=wrong", conn="thief")
    assert stage.last("thief") == DENIED


def test_a_resume_key_takes_over_and_works_once() -> None:
    stage = Stage(SECRET, "bob")
    stage.log_in("ann", " token=s3cret")
    stage.log_in("ann", " resume=key1", conn="second")
    assert stage.last("ann") == "BYE reason=replaced"
    assert stage.closed("ann")
    assert stage.last("second") == "WELCOME ann session=id4 resume=key3"
    stage.log_in("ann", " resume=key1", conn="third")
    assert stage.last("third") == DENIED
    stage.log_in("ann", " resume=key3", conn="fourth")
    assert stage.last("fourth").startswith("WELCOME ann ")


def test_a_resume_key_does_not_outlive_quit() -> None:
    stage = Stage(SECRET, "bob")
    stage.log_in("ann", " token=s3cret")
    stage.say("ann", "QUIT")
    stage.log_in("ann", " resume=key1", conn="second")
    assert stage.last("second") == DENIED


def test_secrets_are_drawn_long_and_never_from_the_seed() -> None:
    drawn = []

    def secret(length: int) -> str:
        drawn.append(length)
        return "ab" * length

    plan = ContestPlan(name="c", seed=1)
    Contest(plan, [Entrant("ann"), Entrant("bob")], secret, 0)
    assert drawn == []
    assert RESUME_BYTES * 8 >= 128


# -- after log-in, outside a game


def test_ping_and_pong() -> None:
    stage = Stage("ann", "bob")
    stage.log_in("ann")
    stage.say("ann", "PING 17", "PONG 4", "")
    assert stage.heard("ann")[2:] == ["PONG 17"]


def test_ping_in_a_game_and_while_mute() -> None:
    stage = seated("ann", "bob")
    stage.say("ann", "PING now")
    assert stage.last("ann") == "PONG now"


def test_a_line_too_late_is_dropped_in_the_lobby_and_a_bad_one_answered() -> None:
    stage = Stage("ann", "bob")
    stage.log_in("ann")
    stage.say("ann", "MOVE 7", "READY g1", "what?")
    stage.overlong("ann")
    assert stage.heard("ann")[2:] == [
        "ERROR unknown-verb there is no verb 'what?'",
        "ERROR too-long a line may have 1024 bytes at most",
    ]
    assert not stage.closed("ann")


def test_a_flood_in_the_lobby() -> None:
    stage = Stage("ann", "bob")
    stage.log_in("ann")
    stage.say("ann", *["MOVE 7"] * 99)
    assert not stage.closed("ann")
    stage.say("ann", "MOVE 7")
    assert stage.last("ann") == "ERROR flood too many lines that were not asked for"
    assert stage.closed("ann")
    stage.log_in("ann", conn="again")
    assert stage.last("again").startswith("WELCOME")


def test_games_wipe_the_slate_of_the_lobby() -> None:
    stage = Stage("ann", "bob", "eve", flood_limit=3, options={"plies": 1, "start": "empty"})
    stage.log_in("ann")
    stage.say("ann", "MOVE 7", "MOVE 7")
    stage.log_in("bob")
    for mover in ("ann", "bob"):
        game_id = [line.split()[1] for line in stage.heard("bob") if line.startswith("GAME")][-1]
        for name in ("ann", "bob"):
            stage.say(name, f"READY {game_id}")
        stage.say(mover, "MOVE 7")
    assert stage.last("ann").startswith("OVER")
    stage.say("ann", "MOVE 7", "MOVE 7")
    assert not stage.closed("ann")
    stage.say("ann", "MOVE 7")
    assert stage.last("ann") == "ERROR flood too many lines that were not asked for"


def test_quit_in_the_lobby() -> None:
    stage = Stage("ann", "bob")
    stage.log_in("ann")
    stage.say("ann", "QUIT")
    assert stage.last("ann") == "BYE reason=quit"
    stage.log_in("bob")
    assert not any(line.startswith("GAME") for line in stage.heard("bob"))


# -- harmless talk


def test_a_thousand_pings_at_once_are_free_and_one_more_is_a_flood() -> None:
    stage = Stage("ann", "bob")
    stage.log_in("ann")
    stage.say("ann", *["PING 1"] * 998, "", "PONG 1")
    assert stage.last("ann") == "PONG 1"
    stage.say("ann", "PING 1")
    assert stage.last("ann") == "ERROR flood too many lines that were not asked for"
    assert stage.closed("ann")


def test_a_hundred_pings_a_second_are_free_for_ever() -> None:
    bucket = LeakyBucket()
    assert not any(bucket.overflows(10**15 + i * 10 * MS) for i in range(5000))
    assert sum(bucket.overflows(2 * 10**15 + i * 5 * MS) for i in range(3000)) > 0


def test_endless_blank_lines_before_the_login() -> None:
    stage = Stage("ann", "bob")
    stage.open("ann")
    stage.say("ann", *[""] * 1001)
    assert stage.last("ann").startswith("ERROR flood ")
    assert stage.closed("ann")


def test_endless_pings_in_a_game_make_a_zombie_that_is_mute() -> None:
    stage = seated("ann", "bob")
    stage.say("ann", *["PING 1"] * 1001)
    assert stage.muted("ann")
    assert "ZOMBIE ply=1 reason=flood" in stage.heard("ann")
    stage.say("ann", "PING 1")
    stage.stop()
    assert [fault.kind for fault in stage.records["g1"].faults] == ["flood", "void"]


# -- plans that make no contest

GOOD = {"name": "c", "seed": 1}


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        ({"format": "swiss"}, "format is one of round-robin, not 'swiss'"),
        ({"scoring": "goals"}, "scoring is one of points, wins, not 'goals'"),
        ({"game": "go"}, "no game 'go'"),
        ({"options": {"plies": 0}}, "plies is a whole number from 1"),
        ({"games_per_pair": 3}, "games_per_pair must be a multiple of 2"),
        ({"clock_ms": 0}, "clock_ms must be from 1 to 864000000, not 0"),
        ({"increment_ms": -1}, "increment_ms must be from 0 to 600000, not -1"),
        ({"flood_limit": 0}, "flood_limit must be from 1"),
        ({"absent_ms": -1}, "absent_ms must be from 0 to 864000000, not -1"),
    ],
)
def test_an_impossible_plan_is_one_clear_line(plan: dict[str, object], text: str) -> None:
    with pytest.raises(PlanError, match=text) as caught:
        Contest(ContestPlan(**GOOD | plan), [Entrant("a"), Entrant("b")], "x".__mul__, 0)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("entrants", "text"),
    [
        ([Entrant("a")], "a game of 2 seats needs at least 2 bots, not 1"),
        ([Entrant("a"), Entrant("onlooker", plays=False)], "needs at least 2 bots, not 1"),
        ([Entrant("a"), Entrant("a")], "two bots are called a"),
        ([Entrant("a"), Entrant("b c")], "a bot cannot be called 'b c'"),
        ([Entrant("a"), Entrant("b", "abc")], "token_sha256 of b must be 64 hexadecimal digits"),
        ([Entrant("a"), Entrant("b", "x" * 64)], "token_sha256 of b must be 64 hexadecimal digits"),
    ],
)
def test_impossible_entrants_are_one_clear_line(entrants: list[Entrant], text: str) -> None:
    with pytest.raises(PlanError, match=text):
        Contest(ContestPlan(name="c", seed=1), entrants, "x".__mul__, 0)


def test_the_contest_begins_at_the_moment_given() -> None:
    plan = ContestPlan(name="c", seed=1, absent_ms=5)
    assert Contest(plan, [Entrant("a"), Entrant("b")], "x".__mul__, 100 * MS).deadline == 105 * MS
