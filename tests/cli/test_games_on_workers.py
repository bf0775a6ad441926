"""`--on`: the games of a match and of a tournament in workers, as without."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.forked import Arena
from tests.server.places.workers.dask_cluster import Cluster
from tests.server.places.workers.programs import Reports
from tests.server.programs import contest, inside

from arena_cli.local_bots import local_bot
from arena_cli.workers import WORKER
from arena_protocol.record import VOID, GameRecord
from arena_protocol.record_codec import decode
from arena_server.places.cores import describe_cores, own_cores, shares
from arena_server.places.workers.base import GameJob
from arena_server.places.workers.local import LocalPool
from arena_server.store.reader import Results
from arena_server.terms.config import ContestConfig

SHORT = ("--option", "plies=6", "--seed", "5")


#: The first legal move, and no clock that matters.
BOT = "from arena_client import run\nrun(lambda view: '6')\n"


def records(database: Path) -> dict[str, GameRecord]:
    with Results(database) as results:
        rows = list(results.games.rows(results.contest(None)))
    return {row["game_id"]: decode(row["record"]) for row in rows}


def timeless(found: Mapping[str, GameRecord]) -> dict[str, GameRecord]:
    """The records without what depends on clocks, and on who has played."""
    return {
        game: replace(
            record,
            worker="",
            host="",
            cpu="",
            cores="",
            bench=0,
            usage=(),
            plies=tuple(ply._replace(time_ms=0, handed_ns=0, arrived_ns=0, clock=()) for ply in record.plies),
        )
        for game, record in found.items()
    }


@pytest.mark.real
@pytest.mark.soak
def test_engines_of_a_match_play_in_workers_the_games_that_they_play_here(tmp_path: Path) -> None:
    match = ("match", "greedy", "dummy", "--deals", "2", *SHORT, "--json")
    database = tmp_path / "match.db"
    here = inside(*match)
    there = inside(*match, "--on", "local:2", "--keep", str(database))
    assert (here.code, there.code) == (0, 0), there.err
    answers = [json.loads(outcome.out) for outcome in (here, there)]
    clocked = {"database", "contest", "most_ms", "used_ms", "most"}
    first, second = ({key: value for key, value in each.items() if key not in clocked} for each in answers)
    assert first == second
    found = records(database)
    assert sorted(found) == ["g1", "g2", "g3", "g4"]
    assert {record.worker for record in found.values()} <= {"local-1", "local-2"}
    assert all(record.bench > 0 for record in found.values())
    assert inside("verify", "--database", f"sqlite:///{database}").code == 0
    shown = inside("replay", "g1", "--database", f"sqlite:///{database}")
    played, cores = found["g1"], own_cores()
    # Two workers have a core each, if there are two; engines of a game share that of their worker.
    bound = {describe_cores(each) for each in shares(cores, 2)}
    assert {record.cores for record in found.values()} <= bound
    assert f"played by worker {played.worker} on {played.host} ({played.cpu}" in shown.out
    assert f", bound to cores {played.cores}, " in shown.out or len(cores) < 2
    assert f", {played.bench:,} plies/s before its first game)" in shown.out


def cup(folder: Path) -> Path:
    """A contest of three programs."""
    (folder / "bot.py").write_text(BOT)
    bots = "".join(
        f'[[bot]]\nname = "{name}"\ncommand = ["python", "{folder}/bot.py"]\n'
        for name in ("ann", "bob", "cid")
    )
    file = folder / "cup.toml"
    file.write_text(contest(bots=bots))
    return file


@pytest.fixture(params=["local:2", "dask"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where games are played: processes, or a cluster of two workers."""
    if request.param != "dask":
        yield request.param
        return
    pytest.importorskip("distributed", reason="the extra [cluster] is not installed")
    cluster = Cluster(tmp_path)
    try:
        cluster.start_scheduler()
        for name in ("w1", "w2"):
            cluster.start_worker(name)
        yield f"dask://{cluster.address}"
    finally:
        cluster.close()


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
def test_a_tournament_on_workers_is_that_of_a_run_without(tmp_path: Path, place: str) -> None:
    file, found = cup(tmp_path), []
    for where in ((), ("--on", place)):
        database = tmp_path / f"{len(where)}.db"
        outcome = inside("tournament", file, "--no-web", "--database", f"sqlite:///{database}", *where)
        assert outcome.code == 0, outcome.err
        found.append(timeless(records(database)))
    assert found[0] == found[1]


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
def test_a_tournament_whose_server_is_killed_goes_on(tmp_path: Path, place: str) -> None:
    """The first game of the third bot waits until the test lets it go on, so the contest is not over."""
    file = cup(tmp_path)
    gate, began = tmp_path / "gate", tmp_path / "began"
    os.mkfifo(gate)
    os.mkfifo(began)
    waits = f"open({str(began)!r}, 'w').close()\nopen({str(gate)!r}).close()\n"
    text = file.read_text()
    (tmp_path / "slow.py").write_text(waits + BOT)
    file.write_text(text[: text.rindex("bot.py")] + "slow.py" + text[text.rindex("bot.py") + len("bot.py") :])
    database = tmp_path / "arena.db"
    options = (str(file), "--no-web", "--database", f"sqlite:///{database}", "--on", place)
    with Arena(
        ["serve", *options, "--port", "0", "--absent", "30s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        began.read_text()  # a game of the third bot is under way
        server.send_signal(signal.SIGKILL)
        server.communicate()
    (tmp_path / "slow.py").write_text(BOT)
    outcome = inside("tournament", *options, "--resume")
    assert outcome.code == 0, outcome.err
    assert sorted(records(database)) == [f"g{number}" for number in range(1, 7)]
    assert inside("verify", "--database", f"sqlite:///{database}").code == 0


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
def test_a_bot_that_kills_its_workers_is_removed_and_the_others_play(tmp_path: Path, place: str) -> None:
    """A process that is no fork of ours: its parent is the worker."""
    kills = "import os\nfrom arena_client import run\nrun(lambda view: os.kill(os.getppid(), 9))\n"
    (tmp_path / "killer.py").write_text(kills)
    killer = f"command = {json.dumps(['env', sys.executable, str(tmp_path / 'killer.py')])}"
    bots = f'[[bot]]\nname = "mine"\n{killer}\n' + "".join(
        f'[[bot]]\nname = "{name}"\nengine = "dummy"\n' for name in ("ann", "bea")
    )
    file = tmp_path / "cup.toml"
    file.write_text(contest(bots=bots))
    database = tmp_path / "a.db"
    outcome = inside("tournament", file, "--no-web", "--database", f"sqlite:///{database}", "--on", place)
    assert outcome.code == 1, outcome.err
    assert ": bot mine is removed: " in outcome.err
    assert "incomplete: 4 of 6 games have no result (4 removed: mine)" in outcome.err
    found = [record for record in records(database).values() if record.end != VOID]
    assert [sorted(record.names) for record in found] == [["ann", "bea"]] * 2


@pytest.mark.real
@pytest.mark.soak
def test_a_bot_that_cannot_start_ends_the_run_with_its_line(tmp_path: Path) -> None:
    file = cup(tmp_path)
    (tmp_path / "bot.py").write_text("raise SystemExit('no licence')\n")
    outcome = inside(
        "tournament", file, "--no-web", "--database", f"sqlite:///{tmp_path}/a.db", "--on", "local:1"
    )
    assert outcome.code == 1
    last = outcome.err.splitlines()[-1]
    assert last.startswith("arena: local-1: bot ")
    assert last.endswith(" cannot start: no licence")


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def first_lines(path: Path, number: int) -> list[str]:
    with open(path) as lines:
        return [lines.readline() for _ in range(number)]


def is_gone(process: int) -> bool:
    """Whether a process has ended; one whose parent was killed may still be in the table."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.asyncio
@pytest.mark.parametrize("how", ["withdrawn", "worker killed"])
async def test_the_bots_of_a_game_end_with_its_lease(tmp_path: Path, how: str) -> None:
    """They ignore SIGTERM. Both are forks of one interpreter, whose parent is the worker."""
    began = tmp_path / "began"
    os.mkfifo(began)
    (tmp_path / "bot.py").write_text(
        "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"fd = os.open({str(began)!r}, os.O_WRONLY)\n"
        "os.write(fd, b'%d %d\\n' % (os.getpid(), os.getppid()))\n"
        "while True:\n    signal.pause()\n"
    )
    bots = [local_bot(name, (sys.executable, str(tmp_path / "bot.py"))) for name in ("ann", "bob")]
    config = ContestConfig(name="one", seed=0, dealt=(1, "00" * 16), absent_ms=600_000)
    reports, pool = Reports(), LocalPool(1, [sys.executable, *WORKER])
    await pool.open(reports)
    try:
        pool.submit(
            GameJob(
                key="k",
                game_id="g1",
                fence=1,
                config=config,
                bots=bots,
                engines=(),
                python=sys.executable,
                renew_s=1,
            )
        )
        found = await asyncio.to_thread(first_lines, began, len(bots))
        processes = [int(line.split()[0]) for line in found]
        (template,) = {int(line.split()[1]) for line in found}
        worker = parent_of(template)
        if how == "withdrawn":
            pool.withdraw("k")
        else:
            os.kill(worker, signal.SIGKILL)
        assert (await reports.ends.get())[1].record is None
    finally:
        await pool.close()
    async with asyncio.timeout(60):
        while not all(map(is_gone, [*processes, template, worker])):
            await asyncio.sleep(0.01)


#: Loaded by a worker, which plays every game with the programs of its two bots swapped.
SWAPS = """
import pickle
from dataclasses import replace
from arena_server.places.workers import dask_task

if not hasattr(dask_task, "honest"):  # a preload may be imported twice
    dask_task.honest = dask_task.play_on_worker

async def play_on_worker(payload, topic, command):
    job = pickle.loads(payload)
    engines = list(reversed(job.engines))
    return await dask_task.honest(pickle.dumps(replace(job, engines=engines)), topic, command)

dask_task.play_on_worker = play_on_worker
"""


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_swaps_programs_is_excluded_and_changes_nothing(tmp_path: Path) -> None:
    """It is the only worker until it is excluded, so how many games it plays before does not matter."""
    preload = tmp_path / "swaps.py"
    preload.write_text(SWAPS)
    cluster = Cluster(tmp_path)
    match = ("match", "greedy", "dummy", "--deals", "60", "--option", "plies=20", "--seed", "5", "--json")
    try:
        cluster.start_scheduler()
        cluster.start_worker("swapper", "--preload", str(preload))
        on = ("--on", f"dask://{cluster.address}", "--audit", "1")
        with Arena([*match, *on], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as there:
            try:
                assert there.stderr is not None
                lines = iter(there.stderr.readline, "")
                said = next(line for line in lines if "excluded" in line)
                cluster.start_worker("honest")
                out, _ = there.communicate(timeout=300)
            finally:
                there.kill()
    finally:
        cluster.close()
    assert said.startswith("swapper: it is excluded, and its games are played again")
    assert there.returncode == 0
    here = inside(*match)
    for key in ("games", "points", "pairs"):  # intervals depend on the order of the results
        assert json.loads(out)[key] == json.loads(here.out)[key]
