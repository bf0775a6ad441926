"""`arena rehearse`: a contest is played for real and nothing is left; what records say of the machine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.server.programs import ARENA, Shell, arena, contest
from tests.slices import all_of

from arena_cli import rehearsal
from arena_cli.rehearsal_figures import (
    BotReport,
    Measured,
    Percentiles,
    RunCounts,
    games_at_once,
    measure,
    usual_move_ms,
    verdict,
)
from arena_protocol.record import VOID, GameRecord, PlyRecord
from arena_server.core.log_events import GameOver, GameStarted, GameVoided, LoopStalled
from arena_server.errors import ArenaError
from arena_server.places.base import inherited
from arena_server.places.process import Child
from arena_server.terms.config import ContestConfig

MS = 1_000_000
CONFIG = ContestConfig(name="trial", seed=1, clock_ms=1_000)
FINE = Measured(
    seconds=10,
    complete=True,
    games=20,
    plies=1_000,
    seats=4,
    at_once=2,
    cpu_us=100,
    answer=Percentiles(100, 200, 300),
    machine=Percentiles(50, 60, 70),
    lost_ms=2,
    lost_share=0.002,
    faults=0,
    void=0,
    stalls=0,
    plies_a_seat=25,
    bots_busy=0.1,
)


def write(folder: Path, text: str) -> Path:
    path = folder / "trial.toml"
    path.write_text(text)
    return path


@pytest.mark.real
@pytest.mark.parametrize("game", ["insertion", "tictactoe"])
def test_a_whole_contest_is_played_and_nothing_is_left(tmp_path: Path, game: str) -> None:
    options = 'plies = 6\nclock = "10s"' if game == "insertion" else 'clock = "10s"'
    bots = "".join(f'[[bot]]\nname = "{name}"\nconcurrency = 2\n' for name in ("ann", "bob", "cid"))
    write(tmp_path, contest(contest=f'game = "{game}"\ngames_per_pair = 4', game=options, bots=bots))
    outcome = arena("rehearse", "trial.toml", "--json", cwd=tmp_path)
    found = json.loads(outcome.out)
    assert outcome.err == ""
    assert (found["complete"], found["games"], found["bots"], found["seats"]) == (True, 3 * 4, 3, 6)
    assert found["plies"] == 3 * 4 * 6 if game == "insertion" else found["plies"] >= 3 * 4 * 5
    assert (found["faults"], found["void"]) == (0, 0)
    assert outcome.code == (0 if found["takes_it"] else 1)
    assert 0 < found["answer"]["p50"] <= found["answer"]["p99"] <= found["answer"]["max"]
    assert found["machine"]["max"] > 0 < found["cpu_us"]
    assert os.listdir(tmp_path) == ["trial.toml"]


@pytest.mark.real
@pytest.mark.soak
def test_a_contest_without_an_end_is_ended_after_its_seconds(tmp_path: Path) -> None:
    write(tmp_path, contest("ann", "bob", "cid", "dan", contest='format = "ladder"'))
    outcome = arena("rehearse", "trial.toml", "--seconds", "2", "--move-time", "5ms", cwd=tmp_path)
    lines = outcome.out.splitlines()
    assert lines[0].startswith(
        "trial: insertion, 4 bots on 4 connections, 5 ms a move; a part of the contest: "
    )
    assert lines[-1].startswith("does this machine take it? ")
    assert os.listdir(tmp_path) == ["trial.toml"]


@pytest.mark.real
@pytest.mark.soak
def test_ctrl_c_ends_it_without_a_word_and_leaves_nothing(tmp_path: Path) -> None:
    write(tmp_path, contest("ann", "bob", contest='format = "ladder"'))
    process = subprocess.Popen(
        [*ARENA, "rehearse", "trial.toml"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any(tmp_path.glob(".arena-rehearsal-*/arena.db")):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
    assert os.listdir(tmp_path) == ["trial.toml"]


def test_a_contest_that_cannot_be_is_refused_in_one_line(tmp_path: Path, shell: Shell) -> None:
    path = write(tmp_path, contest("ann", "bob", contest="games_per_pair = 3"))
    outcome = shell("rehearse", str(path))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"arena: {path}: contest.games_per_pair: expected a multiple of 2")


@pytest.mark.real
def test_bots_that_fail_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(program: str) -> BotReport:
        command = [sys.executable, "-c", program]
        child = await Child.start(command, inherited(os.environ), split=True)
        try:
            return await rehearsal._read(child)
        finally:
            await child.end()

    with pytest.raises(ArenaError, match="the bots of the rehearsal failed: no seats"):
        asyncio.run(read("raise SystemExit('no seats')"))
    report = asyncio.run(read("""print('{"thought": {"g1": [[3, 250]]}, "busy": 0.5}')"""))
    assert report == BotReport({"g1": {3: 250}}, 0.5)


@pytest.mark.real
@pytest.mark.soak
def test_bots_without_a_server_say_so_in_one_line() -> None:
    given = {"host": "127.0.0.1", "port": 1, "move_ms": 0, "seats": [["ann", "secret", 1]]}
    command = [sys.executable, "-m", "arena_cli.rehearsal_bots"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Connect call failed" in done.stderr
    assert done.stderr.count("\n") == 1


# -- what the records say


def ply(seat: int, handed: int, took: int, *, zombie: bool = False) -> PlyRecord:
    """TURN was sent `handed` microseconds after START, and MOVE arrived `took` later."""
    arrived = (handed + took) * 1_000
    return PlyRecord(seat, "1", took // 1_000, handed * 1_000, arrived, (0, 0), 0, (0, 0), zombie)


def record(*plies: PlyRecord, end: str = "complete") -> GameRecord:
    return GameRecord(
        software="s", contest="c", game_id="g1", game="insertion", options={}, names=("ann", "bob"), seed=1,
        nonce="", commit="", board="", sequence="", clock_ms=1_000, increment_ms=0, margin_ms=0,
        plies=plies, faults=(), final="", totals=(0, 0), end=end,
    )  # fmt: skip


def counts(*records: GameRecord) -> RunCounts:
    async def make() -> RunCounts:
        return RunCounts()

    found = asyncio.run(make())
    for each in records:
        found.recorded(each)
    return found


def test_the_machine_took_what_the_bot_did_not_think() -> None:
    game = record(
        ply(1, 100, 5_000), ply(2, 5_300, 9_000), ply(1, 14_400, 2_700), ply(2, 17_100, 0, zombie=True)
    )
    reports = [BotReport({"g1": {1: 4_000, 3: 400}}, 0.2), BotReport({"g1": {2: 9_100}}, 0.3)]
    found = measure(CONFIG, counts(game, record(end=VOID)), reports, 2, complete=False)
    assert (found.games, found.plies, found.seats, found.plies_a_seat) == (1, 4, 2, 1.0)
    assert found.answer == Percentiles(100, 100, 200)
    assert found.machine == Percentiles(1_000, 1_000, 2_300), "never less than nothing"
    assert (found.lost_ms, found.lost_share) == (5 + 2 - 4, 0.003)
    assert found.bots_busy == 0.3


def test_events_are_counted_until_the_rehearsal_is_stopped() -> None:
    found = counts()
    for event in (
        GameStarted("g1", ("ann", "bob")),
        GameStarted("g2", ("cid", "dan")),
        LoopStalled(300),
        GameOver("g1", "complete", (1, 0)),
        GameVoided("g2", "stalled", True),
        GameStarted("g3", ("cid", "dan")),
    ):
        found.happened(event)
    found.stopping = True
    found.happened(GameVoided("g3", "stopped", True))
    assert (found.at_once, found.void, found.stalls, found.running) == (2, 1, 1, 1)
    assert found.began is not None
    assert found.began <= found.ended


@all_of(
    ("change", "takes", "words"),
    [
        ({}, True, "yes: in no game a bot lost more than 2 ms of its clock, 0.2%, to the machine"),
        (
            {"lost_ms": 30, "lost_share": 0.03},
            True,
            "yes, but a bot lost 30 ms of its clock, 3.0%, in one game",
        ),
        ({"lost_ms": 60, "lost_share": 0.06}, False, "no: a bot lost 60 ms of its clock, 6.0%, in one game"),
        ({"lost_share": 0.06, "bots_busy": 0.9}, True, "perhaps: a bot lost 2 ms"),
        (
            {"faults": 2, "void": 1},
            False,
            "no: 2 faults of bots that make none, 1 void games; the machine is",
        ),
        ({"games": 0, "plies": 0}, False, "no: no ply was played in the time given"),
    ],
)
def test_the_verdict_in_words(change: dict[str, float], takes: bool, words: str) -> None:
    found = verdict(CONFIG, replace(FINE, **change))  # type: ignore[arg-type]
    assert found[0] is takes
    assert found[1].startswith(words)


def test_how_many_games_the_referee_judges_at_once() -> None:
    """100 us a ply are 10,000 plies a second, half of them 5,000; a game of 10 ms a move has 100."""
    assert games_at_once(FINE, 10) == 50
    assert usual_move_ms(CONFIG, FINE) == 1_000 / 2 / 25
    assert FINE.load == 100e-6 * 1_000 / 10


def test_percentiles() -> None:
    assert Percentiles.of(list(range(200, 0, -1))) == Percentiles(100, 198, 200)
    assert Percentiles.of([]) == Percentiles(0, 0, 0)
