"""A match that was ended goes on by the same command; stored games and a match of scripted reports."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.forked import Arena
from tests.server.programs import PATIENCE_S, inside
from tests.server.records import Kept
from tests.slices import all_of

from arena_cli.engine_games import play
from arena_cli.match_league import played_before
from arena_cli.match_run import MatchPlan, MatchRun
from arena_cli.workers import WorkerOptions
from arena_engines.registry import create
from arena_protocol.games import make_game
from arena_server.core.deal import Setting
from arena_server.core.formats import format_of
from arena_server.errors import ArenaError
from arena_server.places.local import LocalRun
from arena_server.places.reporter import result_json
from arena_server.places.supervisor import ProgressListener
from arena_server.stats.elo import Sprt
from arena_server.store.database import ContestHeader
from arena_server.store.ownership import is_played
from arena_server.store.reader import Results

PLAYERS = ("greedy", "dummy")
PLAN = MatchPlan(game="insertion", options={"plies": 6}, deals=6, clock_ms=60_000, seed=1)
#: Decided after a few pairs that one player wins.
QUICK = Sprt(0.0, 2000.0, 0.4, 0.4)


def played(
    path: Path,
    games: int,
    plan: MatchPlan = PLAN,
    status: str | None = None,
    annulled: tuple[int, ...] = (),
    run: MatchRun | None = None,
) -> None:
    """A match, of PLAYERS by default, that its server left after this number of games, or ended."""
    spec = (run or MatchRun(plan, PLAYERS)).spec
    config, names = spec.config, [entrant.name for entrant in spec.entrants]
    rules = make_game(config.game, config.options)
    form = format_of(config, names, rules.seats)
    kept = Kept(path, ContestHeader(config, rules.options(), names, 12, True, True))
    kept.start()
    for pairing in form.planned(1, games + 1):
        record = play(
            Setting.of(config, rules, pairing), [create(name, "insertion") for name in pairing.names]
        )
        kept.append((pairing.number, "offer", pairing.names, pairing.deal, ()))
        kept.writer.store(record.game_id, record)
        kept.next()
    for number in annulled:
        kept.append((0, "annulled", number, "w1"))
    kept.close(status)


def resumed(path: Path, players: tuple[str, ...] = PLAYERS, plan: MatchPlan = PLAN) -> MatchRun:
    run = MatchRun(plan, players)
    run.resume(f"sqlite:///{path}")
    return run


def test_nothing_of_an_excluded_worker_counts(tmp_path: Path) -> None:
    """The answer is that of a match without its results, also on the next server."""
    plan = replace(PLAN, workers=WorkerOptions(on="local:1"))
    rules = make_game("insertion", {"plies": 6})
    run, other, spec = (*(MatchRun(plan, PLAYERS) for _ in "ab"), MatchRun(plan, PLAYERS).spec)
    form = format_of(spec.config, [entrant.name for entrant in spec.entrants], rules.seats)
    for pairing in form.planned(1, 9):
        engines = [create(name, "insertion") for name in pairing.names]
        record = replace(
            play(Setting.of(spec.config, rules, pairing), engines), worker=f"w{pairing.deal % 2}"
        )
        for each in (run, other) if record.worker == "w0" else (run,):
            each.record(record)
            each.result(result_json(record))
    assert (run.games, other.games) == (8, 4)
    run.voided("w1")
    run.voided("w1")
    assert run.games == 4
    assert run.answer() | {"most_ms": 0} == other.answer() | {"most_ms": 0}
    played(tmp_path / "m.db", 5, annulled=(2,))
    assert resumed(tmp_path / "m.db").games == 4


@pytest.mark.parametrize("status", [None, "stopped", "incomplete"])
def test_games_that_were_played_count(
    tmp_path: Path, status: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    played(tmp_path / "m.db", 5, status=status)
    run = resumed(tmp_path / "m.db")
    whole = MatchRun(replace(PLAN, deals=2), PLAYERS)
    whole.play_here()
    assert (run.games, run.spec.new) == (5, False)
    assert run.answer() | {"most_ms": 0} == whole.answer() | {"most_ms": 0}
    said = capsys.readouterr().err.splitlines()[0]
    assert (
        said == f"match: sqlite:///{tmp_path}/m.db has 5 of 12 games of it; it goes on (--new begins another)"
    )


@pytest.mark.parametrize(
    ("status", "players", "other"),
    [
        ("finished", PLAYERS, {}),
        ("aborted", PLAYERS, {}),
        (None, ("dummy", "greedy"), {}),
        (None, PLAYERS, {"variables": {"DEPTH": "3"}}),
        (None, PLAYERS, {"seed": 2}),
        (None, PLAYERS, {"deals": 7}),
        (None, PLAYERS, {"clock_ms": 1000}),
        (None, PLAYERS, {"test": QUICK}),
    ],
    ids=str,
)
def test_another_match_begins(
    tmp_path: Path, status: str | None, players: tuple[str, ...], other: Mapping[str, Any]
) -> None:
    """It is over, or decided, or what was ended is not the match of this command."""
    played(tmp_path / "m.db", 12, status=status)
    run = resumed(tmp_path / "m.db", players, replace(PLAN, **other))
    assert (run.games, run.decided, run.spec.new) == (0, False, True)
    assert run.answer()["games"] == 0


def test_a_new_database_has_none(tmp_path: Path) -> None:
    assert resumed(tmp_path / "new.db").games == 0


@pytest.mark.real
@pytest.mark.soak
def test_a_decided_match_is_over_for_good(tmp_path: Path) -> None:
    words = ("match", *PLAYERS, "--keep", "m.db", "--option", "plies=6", "--sprt", "--elo1", "2000")
    outcome = inside(*words, "--alpha", "0.4", "--beta", "0.4", "--json", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["verdict"] != "open"
    with Results(tmp_path / "m.db") as results:
        contest = results.contest()
        assert contest.status == "aborted"
        assert all(record is not None for _, record in results.games.records(contest))


@pytest.mark.soak
@pytest.mark.real
def test_a_killed_match_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    words = ["match", *PLAYERS, "--option", "plies=30", "--deals", "4", "--json"]
    kept = [*words, "--keep", "m.db"]
    running = Arena(kept, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stderr is not None
    try:
        lines = [running.stderr.readline() for _ in range(2)]
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=PATIENCE_S)
    finally:
        running.kill()
    assert all(" | " in line for line in lines), lines
    outcome = inside(*kept, cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    assert outcome.err.splitlines()[0].endswith(" games of it; it goes on (--new begins another)")
    unlike = ("most_ms", "database", "contest")
    found, whole = (json.loads(each.out) for each in (outcome, inside(*words, cwd=tmp_path)))
    assert {key: value for key, value in found.items() if key not in unlike} == {
        key: value for key, value in whole.items() if key not in unlike
    }
    with Results(tmp_path / "m.db") as results:
        assert [contest.status for contest in results.contests()] == ["finished"]


@pytest.mark.parametrize("words", [(), ("--new", "--no-affinity")])
def test_new_begins_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    played(tmp_path / "m.db", 5, MatchPlan(game="insertion", options={}, deals=6, clock_ms=20_000, seed=2006))
    begun: list[tuple[bool, bool]] = []

    async def script(local: LocalRun, listener: ProgressListener, stop: asyncio.Event) -> bool:
        begun.append((local.spec.new, local.shares_cores))
        listener.report({"ended": "finished"})
        return True

    monkeypatch.setattr("arena_cli.local_contest.run_local", script)
    outcome = inside("match", *PLAYERS, "--keep", "m.db", "--deals", "6", *words, cwd=tmp_path)
    assert (outcome.code, begun) == (0, [(bool(words), not words)])


def test_new_without_a_database() -> None:
    outcome = inside("match", *PLAYERS, "--new")
    assert (outcome.code, outcome.line) == (
        2,
        "arena: --new: expected with --keep, which has the matches before",
    )


def test_errors_of_a_kept_database_name_the_options_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("no database, but a text")

    def said(command: str, keep: str) -> str:
        return inside(*command.split(), "--keep", keep, cwd=tmp_path).line

    for command in ("match greedy random --deals 1", "climb greedy"):
        assert said(command, "foo://x").startswith("arena: --keep: expected a URL such as ")
        assert said(command, "/").startswith("arena: --keep: expected a URL such as ")
        assert said(command, "text").endswith("; restore it or choose another --keep")

    def raises(*_: object) -> None:
        raise is_played(Path("x.db"), 1)

    monkeypatch.setattr("arena_cli.match_run.earlier_results", raises)
    monkeypatch.setattr("arena_cli.paired.finished_results", raises)
    line = "arena: x.db: contest 1 is being played by another server; stop that one, or "
    assert said("match greedy random --deals 1", "x.db") == f"{line}begin a new contest by --new"
    assert said("climb greedy", "x.db") == f"{line}begin a new contest in another file"


LEAGUE = ("greedy", "dummy", "random")
SHORT = replace(PLAN, deals=1)
#: Matches by their players, each with the games that were played and the status: None is killed.
WHOLE = [((0, 1), 2, "finished"), ((0, 2), 2, "finished"), ((1, 2), 2, "finished")]


@all_of(
    ("matches", "taken", "seed"),
    [
        ([], [], 1),
        ([((0, 1), 1, None)], [], 1),
        ([((0, 1), 1, "stopped")], [], 1),
        ([((0, 1), 2, "aborted")], [], 1),
        (WHOLE[:1], ["match-1-2"], 1),
        (WHOLE[:1], [], 2),
        ([WHOLE[0], ((0, 2), 1, None)], ["match-1-2"], 1),
        (WHOLE[:2], ["match-1-2", "match-1-3"], 1),
        (WHOLE, [], 1),
        ([*WHOLE, ((0, 1), 1, None)], [], 1),
        ([*WHOLE, WHOLE[0]], ["match-1-2"], 1),
        ([*WHOLE, WHOLE[0], ((0, 2), 1, None)], ["match-1-2"], 1),
        ([*WHOLE, *WHOLE], [], 1),
    ],
)
def test_a_league_that_was_ended_plays_no_finished_match_again(
    matches: list[tuple[tuple[int, int], int, str | None]], taken: list[str], seed: int, tmp_path: Path
) -> None:
    database = tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
    for pair, games, status in matches:
        name = "-".join(["match", *(str(at + 1) for at in pair)])
        run = MatchRun(SHORT, [LEAGUE[at] for at in pair], 0, name)
        played(database, games, SHORT, status, run=run)
    before = played_before(LEAGUE, 2, replace(SHORT, seed=seed), f"sqlite:///{database}")
    assert {name: [result["game"] for result in results] for name, results in before.items()} == {
        name: ["g1", "g2"] for name in taken
    }


def test_a_finished_match_of_a_league_counts_as_if_it_were_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = MatchPlan(game="insertion", options={"plies": 6}, deals=1, clock_ms=20_000, seed=2006)
    first = MatchRun(plan, LEAGUE[:2], 0, "match-1-2")
    played(tmp_path / "m.db", 2, plan, "finished", run=first)
    begun: list[str] = []

    def plays(run: MatchRun, *_: object) -> bool:
        begun.append(run.spec.name)
        run.play_here()
        run.last = {"ended": "finished"}
        return False

    monkeypatch.setattr(MatchRun, "play_processes", plays)
    words = ["match", *LEAGUE, "--option", "plies=6", "--deals", "1", "--json"]
    outcome = inside(*words, "--keep", "m.db", cwd=tmp_path)
    assert (outcome.code, begun) == (0, ["match-1-3", "match-2-3"])
    assert outcome.err.splitlines()[0] == "match: sqlite:///m.db has all 2 games of match-1-2"
    whole = inside(*words, "--keep", "other.db", cwd=tmp_path)
    assert begun[2:] == ["match-1-2", "match-1-3", "match-2-3"]
    tables = [json.loads(each.out)["table"] for each in (outcome, whole)]
    assert tables[0][0][1] == tables[1][0][1]
    assert tables[0][1][0] == tables[1][1][0]


def test_a_league_without_a_game_prints_its_error_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ArenaError("bot x cannot start")

    monkeypatch.setattr(MatchRun, "play_processes", fails)
    outcome = inside("match", "greedy", "random", "dummy", "--keep", "m.db", cwd=tmp_path)
    assert (outcome.code, outcome.out, outcome.line) == (1, "", "arena: bot x cannot start")
