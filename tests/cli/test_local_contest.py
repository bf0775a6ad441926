"""Contests whose bots are all of this machine: their configuration, and the names of their bots."""

from __future__ import annotations

import sys
from dataclasses import replace
from hashlib import sha256

import pytest
from tests.slices import all_of

from arena_cli.local_bots import local_bot
from arena_cli.local_contest import LocalContest, bot_names, fault_lines, seat
from arena_cli.workers import ARENA
from arena_server.errors import ConfigError
from arena_server.terms.config import ContestConfig, ContestConfigError
from arena_server.terms.sandbox import ContainerLimits, Sandbox


def contest(**values: object) -> LocalContest:
    setting: dict[str, object] = {
        "name": "match",
        "game": "insertion",
        "options": {"plies": "20"},
        "group": seat(["greedy", "dummy"], "insertion"),
        "deals": 3,
        "clock_ms": 1500,
    }
    return LocalContest(**(setting | values))  # type: ignore[arg-type] # the values of a test


def test_the_contest_of_a_host() -> None:
    spec = contest(seed=7, byoyomi_ms=500).spec()
    config = spec.config
    assert (config.format, config.deals, config.games_per_pair) == ("matches", "paired", 6)
    assert (config.seed, config.probation, config.absent_ms, config.guests) == (7, 0, 30_000, False)
    assert (config.clock_ms, config.byoyomi_ms, config.options) == (1500, 500, {"plies": 20})
    assert [(each.name, each.concurrency) for each in spec.entrants] == [("greedy", 1), ("dummy", 1)]
    assert (spec.new, spec.seeded) == (True, True)


def test_a_match_like_a_contest_has_the_terms_of_its_games() -> None:
    like = ContestConfig(
        name="like",
        seed=9,
        stall_ms=77,
        clock_ms=78,
        rest_ms=79,
        scoring="wins",
        guests=True,
        storage_bytes=80,
    )
    config = contest(like=like, options={"seats": "2"}).spec().config
    assert (config.stall_ms, config.clock_ms, config.scoring, config.options) == (
        77,
        78,
        "wins",
        {"seats": 2},
    )
    assert (config.storage_bytes, contest().spec().config.storage_bytes) == (80, 0)
    assert (config.rest_ms, config.guests, config.format, config.absent_ms) == (0, False, "matches", 30_000)


def test_a_bot_logs_in_with_its_token() -> None:
    group = seat(["greedy", "dummy"], "insertion")
    digests = [sha256(bot.token.encode("ascii")).hexdigest() for bot in group]
    assert [each.token_sha256 for each in contest(group=group).spec().entrants] == digests


def test_without_a_seed_a_secret_is_drawn() -> None:
    first, second = contest().spec(), contest().spec()
    assert not first.seeded
    assert first.config.seed != second.config.seed
    assert first.config.seed.bit_length() > 200


def test_an_option_that_is_no_number_is_a_text() -> None:
    group = seat(["greedy"] * 3, "insertion")
    spec = contest(options={"board": "12345/12345", "seats": "3"}, group=group).spec()
    assert spec.config.options == {"board": "12345/12345", "seats": 3}


def test_a_number_out_of_its_range_is_one_line() -> None:
    with pytest.raises(ContestConfigError, match=r"^clock_ms must be from 1 to 864000000, not 900000000$"):
        contest(clock_ms=900_000_000).spec()


@all_of(
    ("player", "command", "name"),
    [
        ("greedy", None, "greedy"),
        ("champion:depth=5", None, "champion-depth-5"),
        ("./new", ["./new"], "new"),
        ("bots/old.exe --fast", ["bots/old.exe", "--fast"], "old"),
        ("python my/bot.py", [sys.executable, "my/bot.py"], "bot"),
        ("python -u bot.py", [sys.executable, "-u", "bot.py"], "bot"),
        ("python3.12 x", ["python3.12", "x"], "x"),
        ("php bot.php", ["php8.3", "bot.php"], "bot"),
        ("tclsh bot.tcl --depth 3", ["/usr/bin/tclsh8.6", "bot.tcl", "--depth", "3"], "bot"),
        ("deno run --allow-net bot.ts", ["deno", "run", "--allow-net", "bot.ts"], "bot"),
        ("java -cp build Mine", ["java", "-cp", "build", "Mine"], "Mine"),
        ("node bot.js", ["node", "bot.js"], "bot"),
        ("env DEPTH=3 python bot.py", ["env", "-i", "DEPTH=3", "python", "bot.py"], "bot"),
        ("env DEPTH=3 ./bot", ["env", "DEPTH=3", "./mine"], "mine"),
        ("env A=1", ["env", "A=1"], "env"),
        ("sh -c 'exit 3'", ["sh", "-c", "exit 3"], "sh"),
        ("arena bot greedy", [*ARENA, "bot", "greedy"], "greedy"),
        ("a/arena bot --game xo xo:time=200", ["a/arena", "bot", "xo:time=200"], "xo-time-200"),
        ("arena bridge -- ./brain", [*ARENA, "bridge", "--", "./brain.exe", "--fast"], "brain"),
        ("arena bridge --", [*ARENA, "bridge", "--"], "arena"),
        ("arena", list(ARENA), "arena"),
        ("/opt/é é", ["/opt/é é"], "bot"),
        ("./" + "x" * 99, ["./" + "x" * 99], "x" * 24),
    ],
)
def test_a_bot_is_named_after_its_program(player: str, command: list[str] | None, name: str) -> None:
    assert bot_names([player], [command]) == [name]


def test_equal_names_get_a_letter() -> None:
    assert bot_names(["greedy"] * 3, [None] * 3) == ["greedy", "greedy-b", "greedy-c"]


def test_no_bot_has_the_name_of_the_referee() -> None:
    assert bot_names(["referee"] * 2, [None] * 2) == ["referee-b", "referee-c"]


def test_games_at_once_are_processes_of_the_same_bots() -> None:
    """The database and the standings know two players, however many games are played at once."""
    group = seat(["python x.py", "greedy"], "insertion")
    two = contest(group=group, concurrency=2)
    assert [(bot.name, bot.slot) for bot in two.processes()] == [
        ("x", 1),
        ("greedy", 1),
        ("x", 2),
        ("greedy", 2),
    ]
    assert [bot.token for bot in two.processes()] == [bot.token for bot in group] * 2
    assert [bot.log_name for bot in two.processes()] == ["x.log", "greedy.log", "x@2.log", "greedy@2.log"]
    assert [(each.name, each.concurrency) for each in two.spec().entrants] == [("x", 2), ("greedy", 2)]


def test_a_bot_without_a_command_is_not_started() -> None:
    group = [local_bot("you", []), *seat(["greedy"], "insertion")]
    assert [bot.name for bot in contest(group=group).processes()] == ["greedy"]


def test_variables_are_for_programs() -> None:
    group = seat(["python x.py", "greedy", "zero-based"], "insertion", variables={"DEPTH": "3"})
    assert [bot.variables for bot in group] == [{"DEPTH": "3"}, {}, {}]


def test_every_player_has_a_command_and_a_token_of_its_own() -> None:
    group = seat(["python x.py", "greedy", "zero-based"], "insertion")
    assert [bot.name for bot in group] == ["x", "greedy", "zero-based"]
    assert len({bot.token for bot in group}) == 3
    assert group[0].command == [sys.executable, "x.py"]
    assert group[1].command[-4:] == ["bot", "greedy", "--game", "insertion"]


@pytest.mark.parametrize(
    ("player", "line"),
    [
        ("./no-such-program", "match: no program './no-such-program' here or on the path"),
        ("chmapion", "no engine 'chmapion' for insertion"),
    ],
)
def test_a_player_that_does_not_exist(player: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        seat(["greedy", player], "insertion")
    assert str(caught.value).startswith(line)


def test_a_fault_is_a_sentence() -> None:
    fault = {"seat": 2, "ply": 2, "kind": "illegal", "line": b"MOVE 0".hex()}
    assert fault_lines({"names": ["a", "b"], "faults": [fault]}, "insertion") == [
        'b sent an illegal move "0" at ply 2; the referee plays 6 for it until the game ends'
    ]


def test_the_bots_of_a_match_that_are_started_are_known_and_frozen_by_the_limits() -> None:
    bots = seat(["greedy", "dummy"], "insertion")
    for ponder in (True, False):
        group = [bots[0], replace(bots[1], sandbox=Sandbox("x", ContainerLimits(ponder=ponder)))]
        spec = contest(group=group).spec()
        assert [each.ponders for each in spec.entrants] == [True, ponder]
        assert spec.started == {bot.name for bot in contest(group=group).processes()} >= {"dummy"}
