"""The command `arena climb`: what it prints and refuses, and a climb that is ended and goes on."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest
from tests.forked import Arena
from tests.server.programs import PATIENCE_S, inside
from tests.server.records import Kept
from typer.testing import CliRunner

from arena_cli import climb_ladder
from arena_cli.app import app
from arena_cli.engine_games import play
from arena_cli.match_run import MatchPlan, MatchRun
from arena_cli.paired import play_paired
from arena_cli.program import user_message
from arena_engines.registry import create, engines_of
from arena_protocol.games import make_game
from arena_server.core.deal import Setting
from arena_server.core.formats import format_of
from arena_server.errors import ConfigError
from arena_server.store.database import ContestHeader
from arena_server.store.reader import Results


def arena(*arguments: str) -> tuple[str, str, int, str | None]:
    done = CliRunner().invoke(app, ["climb", *arguments])
    error = done.exception
    message = user_message(error) if isinstance(error, Exception) else None
    return done.stdout, done.stderr, done.exit_code, message


@pytest.fixture
def short(tmp_path: Path) -> str:
    """A ladder of a short game."""
    path = tmp_path / "short.json"
    rungs = [("dummy", 100), ("greedy:slip=50", 200), ("greedy", 300)]
    plain = {
        "game": "insertion",
        "options": {"plies": 8},
        "rungs": [{"player": player, "rating": rating, "margin": 20} for player, rating in rungs],
    }
    path.write_text(json.dumps(plain))
    return str(path)


def test_an_engine_climbs_twice_to_the_same_rung(short: str) -> None:
    words = ("greedy:slip=20", "--ladder", short, "--games", "24", "--clock", "60s")
    one = arena(*words, "--json")
    assert one[2] == 0, one
    assert one == arena(*words, "--json")
    answer = json.loads(one[0])
    assert {"bot", "rung", "rungs", "rung_interval", "player", "rating", "interval", "games", "met"} <= set(
        answer
    )
    assert answer["rungs"] == 3
    assert answer["games"] == 2 * sum(sum(row["pairs"]) for row in answer["met"]) <= 24
    text = arena(*words)[0].splitlines()
    assert text[0].split() == ["rung", "player", "rating", "pairs", "score"]
    assert text[-2].endswith(f"{answer['games']} games")
    rung = int(answer["rung"])
    last = "the next rung: arena match greedy:slip=20 {} --option plies=8 --sprt"
    said = [last.format(player) for player in ("dummy", "greedy:slip=50", "greedy")]
    assert text[-1] == [*said, "this is the last rung: nothing on this ladder is rated higher"][rung]


def test_where_all_games_were_won_or_lost_more_games_are_advised(short: str) -> None:
    """Neither the first rung nor the last one is that of a bot that has met one rung."""
    for bot, verb in (("greedy", "won"), ("first-legal", "lost")):
        said = arena(bot, "--ladder", short, "--games", "2", "--deals", "1", "--clock", "60s")[0].splitlines()
        assert said[-1] == f"all games were {verb}: more than 2 --games find the rung", said


def test_the_rungs_are_listed(short: str) -> None:
    lines = arena("--list", "--ladder", short)[0].splitlines()
    assert lines[1].split() == ["1", "dummy", "100", "80", "to", "120"]
    rungs = json.loads(arena("--list", "--json", "--game", "xo")[0])
    assert rungs["game"] == "xo"
    assert rungs["rungs"][0]["rung"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "climb: expected a BOT, or --list"),
        (
            ("greedy", "--game", "chess"),
            "climb: no ladder for chess; there are insertion, tictactoe, xo, and --ladder FILE",
        ),
        (("nosuch",), "no engine 'nosuch'"),
        (("greedy", "--option", "plies=8"), "climb: the ratings are those of insertion plies="),
        (("greedy", "--ladder", "nowhere.json"), "nowhere.json: cannot be read: No such file or directory"),
        (("--list", "--keep", "x.db"), "--keep: expected without --list, which plays nothing"),
    ],
)
def test_what_cannot_be_climbed(words: tuple[str, ...], message: str) -> None:
    assert str(arena(*words)[3]).startswith(message)


def test_a_ladder_of_another_game(short: str) -> None:
    message = arena("xo", "--ladder", short, "--game", "xo")[3]
    assert message == f"climb: {short} is a ladder of insertion, got --game xo"


PLAN = MatchPlan(game="insertion", options={"plies": 6}, deals=2, clock_ms=60_000, seed=1)


PLAYERS = ("greedy", "dummy")


def stored(path: Path, games: int, status: str | None) -> None:
    """The contest climb-1 of PLAYERS after this number of games."""
    spec = MatchRun(PLAN, PLAYERS, name="climb-1")._contest.spec()
    config, names = spec.config, [entrant.name for entrant in spec.entrants]
    rules = make_game(config.game, config.options)
    kept = Kept(path, ContestHeader(config, rules.options(), names, 4, True, True))
    kept.start()
    for pairing in format_of(config, names, rules.seats).planned(1, games + 1):
        engines = [create(name, "insertion") for name in pairing.names]
        record = play(Setting.of(config, rules, pairing), engines)
        kept.append((pairing.number, "offer", pairing.names, pairing.deal, ()))
        kept.writer.store(record.game_id, record)
        kept.next()
    kept.close(status)


def test_a_step_that_was_played_is_read_and_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(tmp_path / "c.db", 4, "finished")
    monkeypatch.setattr(MatchRun, "play_processes", lambda *_: pytest.fail("a game is played again"))
    found = play_paired(PLAYERS, PLAN, "climb-1", f"sqlite:///{tmp_path}/c.db")
    here = play_paired(PLAYERS, PLAN)
    assert found is not None
    assert here is not None
    assert (found.kept, here.kept) == (True, False)
    assert (found.lead, found.answer["pairs"]) == (here.lead, here.answer["pairs"])


def test_of_a_step_that_was_ended_only_the_rest_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(tmp_path / "c.db", 3, None)
    left = []

    def rest(run: MatchRun, *_: object) -> bool:
        left.append((run.games, run._contest.spec().new))
        return True

    monkeypatch.setattr(MatchRun, "play_processes", rest)
    assert play_paired(PLAYERS, PLAN, "climb-1", f"sqlite:///{tmp_path}/c.db") is None
    assert left == [(3, False)]


@pytest.mark.parametrize("status", [None, "finished"])
@pytest.mark.parametrize(
    ("players", "plan", "key"),
    [
        (("dummy", "greedy"), PLAN, "programs"),
        (PLAYERS, MatchPlan(game="xo", options={}, deals=2, clock_ms=60_000, seed=1), "game"),
        (
            PLAYERS,
            MatchPlan(game="insertion", options={"plies": 6}, deals=2, clock_ms=60_000, seed=2),
            "seed",
        ),
        (
            PLAYERS,
            MatchPlan(game="insertion", options={"plies": 6}, deals=3, clock_ms=60_000, seed=1),
            "games",
        ),
    ],
)
def test_the_state_of_another_climb_is_refused(
    tmp_path: Path, status: str | None, players: tuple[str, str], plan: MatchPlan, key: str
) -> None:
    stored(tmp_path / "c.db", 3 if status is None else 4, status)
    if plan.game == "xo":
        players = ("random", "xo1970")
    with pytest.raises(
        ConfigError, match=f"c.db: has a climb with another bot, ladder or option .climb-1 has other {key}"
    ):
        play_paired(players, plan, "climb-1", f"sqlite:///{tmp_path}/c.db")


@pytest.mark.real
@pytest.mark.soak
def test_a_killed_climb_ends_as_if_it_had_not_been(tmp_path: Path, short: str) -> None:
    words = ["climb", "greedy:slip=20", "--ladder", short, "--games", "12", "--width", "1", "--json"]
    kept = [*words, "--keep", "c.db"]
    running = Arena(kept, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stderr is not None
    try:
        line = running.stderr.readline()
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=PATIENCE_S)
    finally:
        running.kill()
    assert line.startswith("step 1: ")
    again, whole = inside(*kept, cwd=tmp_path), inside(*words, cwd=tmp_path)
    assert (again.code, whole.code) == (0, 0), again.err
    assert again.out == whole.out
    games = json.loads(again.out)["games"]
    with Results(tmp_path / "c.db") as results:
        contests = results.contests()
        assert len({contest.name for contest in contests}) == len(contests)
        assert sum(len(list(results.games.rows(contest))) for contest in contests) == games


def test_rungs_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {
        name for name, kind in engines_of("insertion").items() if kind.__module__.startswith("arena_engines.")
    }
    monkeypatch.setattr(climb_ladder, "engines_of", lambda game: own)
    listed = json.loads(arena("--list", "--json")[0])["rungs"]
    names = {each["player"].partition(":")[0] for each in listed}
    assert names <= own
    assert len(listed) > 50
