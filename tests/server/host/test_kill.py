"""A real server is killed at random moments; its bots keep their own record of every line.

`make test` kills it 5 times, `make soak` 50 times, and ends it 100 times by a signal, with each kind of
database. The moments come from the seed below, and the machine decides where in a contest they fall: the
outcome must not depend on it.
"""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest
from tests.ports import quiet_port
from tests.server.postgres import cluster
from tests.server.programs import PATIENCE_S, Gate, Server, arena, contest, inside
from tests.server.records import shown

from arena_client import asyncio_client
from arena_client.bot import Bot, GameView, Result
from arena_client.retry import RetryPolicy
from arena_protocol.record_codec import decode
from arena_protocol.verify import verify
from arena_server.errors import StoreError
from arena_server.stats.standings import Row
from arena_server.store.database import Database, Postgres
from arena_server.store.reader import Results

NAMES = ("ann", "bob", "cid")
#: Come back at once, for as long as a server may need to start on a busy machine.
DOGGED = RetryPolicy(delays=lambda: iter([0.05] * 600))
ONCE = RetryPolicy(delays=lambda: iter([]))


class RecordingBot(Bot):
    """Its moves depend on game and ply alone; it records every ply and result that it receives."""

    instant = True

    def __init__(self, playing: threading.Event, gate: Gate | None) -> None:
        self._playing = playing
        self._gate = gate
        self.moves: dict[str, tuple[str, ...]] = {}
        self.results: dict[str, tuple[int, ...]] = {}

    def choose(self, view: GameView) -> int:
        before = self.moves.get(view.game_id, ())
        assert view.moves[: len(before)] == before, "an announced ply was taken back"
        self.moves[view.game_id] = view.moves
        self._playing.set()
        if self._gate is not None:
            self._gate.wait(view.game_id)
        return 1 + (view.ply * 7 + int(view.game_id[1:])) % 15

    def game_over(self, view: GameView, result: Result) -> None:
        assert view.game_id not in self.results, "a result was announced twice"
        self.results[view.game_id] = result.totals


class Bots:
    """Three recording bots on a thread of their own."""

    def __init__(self, port: int, policy: RetryPolicy = DOGGED, gate: Gate | None = None) -> None:
        self._policy = policy
        self._playing = threading.Event()
        self.players = {name: RecordingBot(self._playing, gate) for name in NAMES}
        self.ends: list[str | BaseException] = []
        self._thread = threading.Thread(target=self._run, args=(port,), daemon=True)
        self._thread.start()

    def _run(self, port: int) -> None:
        self.ends += asyncio.run(self._play(port))

    async def _play(self, port: int) -> list[str | BaseException]:
        return await asyncio.gather(
            *(
                asyncio_client.play(bot, "127.0.0.1", port, name=name, policy=self._policy)
                for name, bot in self.players.items()
            ),
            return_exceptions=True,
        )

    def wait_for_play(self) -> None:
        assert self._playing.wait(PATIENCE_S)

    def join(self) -> None:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


#: Name, points and number of games of each bot.
Table = list[tuple[str, int, int]]


def the_contest(games: int) -> str:
    return contest(*NAMES, contest=f"games_per_pair = {games}", game='plies = 100\nclock = "60s"')


def url_of(database: Database) -> str:
    return f"sqlite:///{database}" if isinstance(database, Path) else database.url


def table(database: Database) -> Table:
    with Results(database) as results:
        rows: tuple[Row, ...] = results.sums.standings(results.contest())
        assert len(results.contests()) == 1
    return [(row.name, row.points, row.games) for row in rows]


def ended(server: Server, within: float) -> bool:
    """Whether the server ends by itself within these seconds."""
    try:
        server.process.wait(within)
    except subprocess.TimeoutExpired:
        return False
    return True


def finished(database: Database) -> bool:
    """Whether the contest is stored as finished; a server would begin another one."""
    try:
        with Results(database) as results:
            return results.contest().status == "finished"
    except StoreError:  # no server has come so far
        return False


def survive(
    folder: Path,
    database: Database,
    games: int,
    kills: int,
    seed: int,
    how: Sequence[int] = (signal.SIGKILL,),
) -> int:
    """Play a contest whose server gets a signal of `how` up to `kills` times; returns how often it did."""
    chance, port, done = Random(seed), quiet_port(), 0
    options = ("--port", str(port), "--until-finished", "--log-level", "error")
    bots = Bots(port)
    while True:
        with Server(the_contest(games), folder, *options, url=url_of(database)) as server:
            if done == kills or ended(server, chance.uniform(0.0, 0.5)):
                assert server.end().code == 0
                break
            server.end(chance.choice(how))
            done += 1
        if finished(database):
            break
    bots.join()
    check(database, bots)
    return done


def check(database: Database, bots: Bots) -> None:
    """What the bots received is what is stored, and every record verifies."""
    with Results(database) as results:
        latest = results.contest()
        assert latest.status == "finished"
        records = {game_id: decode(shown(data)) for game_id, data in results.games.records(latest)}
    assert not any(isinstance(end, AssertionError) for end in bots.ends), bots.ends
    for record in records.values():
        verify(record)
        assert record.faults == ()
    for bot in bots.players.values():
        for game_id, totals in bot.results.items():
            assert records[game_id].totals == totals
        for game_id, moves in bot.moves.items():
            assert tuple(ply.move for ply in records[game_id].plies)[: len(moves)] == moves


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Table]:
    """The table of a contest by its games a pair; nothing happens to its server."""

    @cache
    def played(games: int) -> Table:
        folder = tmp_path_factory.mktemp("undisturbed")
        assert survive(folder, folder / "arena.db", games, kills=0, seed=0) == 0
        return table(folder / "arena.db")

    return played


@pytest.mark.real
def test_a_server_that_is_killed_five_times_loses_nothing(
    tmp_path: Path, database: Database, undisturbed: Callable[[int], Table]
) -> None:
    done = survive(tmp_path, database, games=4, kills=5, seed=2006)
    assert done > 0
    assert table(database) == undisturbed(4)


@pytest.mark.soak
def test_a_server_that_is_killed_or_ended_fifty_times_loses_nothing(
    tmp_path: Path, database: Database, undisturbed: Callable[[int], Table], soak_seed: int
) -> None:
    """The next one goes on with its running games; `tests.soak.upgrades` has more bots, and ends alone."""
    how = signal.SIGKILL, signal.SIGTERM
    done = survive(tmp_path, database, games=30, kills=50, seed=soak_seed, how=how)
    assert done > 0  # how many games are over before a kill depends on the machine
    assert table(database) == undisturbed(30)
    with Results(database) as results:
        assert {row["end"] for row in results.games.rows(results.contest())} == {"complete"}


def play_while(
    folder: Path, database: Postgres, games: int, disturb: Callable[[Server, int], bool], seed: int
) -> str:
    """Play a contest with one server while `disturb` is called at random moments, until it returns False.

    What the server logged.
    """
    chance, port, done = Random(seed), quiet_port(), 0
    bots = Bots(port)
    with Server(
        the_contest(games), folder, "--port", str(port), "--until-finished", url=database.url
    ) as server:
        bots.wait_for_play()
        while not ended(server, chance.uniform(0.0, 1.0)) and disturb(server, done):
            done += 1
        outcome = server.end()
    assert outcome.code == 0, outcome.err
    bots.join()
    check(database, bots)
    return outcome.err


@pytest.mark.soak
def test_a_lost_connection_or_a_restart_of_postgresql_ends_no_server(
    tmp_path: Path, undisturbed: Callable[[int], Table], soak_seed: int
) -> None:
    chance = Random(soak_seed)
    with cluster() as running:
        database = running.database()

        def disturb(_server: Server, done: int) -> bool:
            if chance.random() < 0.3:
                running.kill()
                running.start()
            else:
                end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                import psycopg

                with psycopg.connect(running.url("postgres"), autocommit=True) as connection:
                    more = "" if chance.random() < 0.5 else " ORDER BY random() LIMIT 1"
                    connection.execute(f"{end} AND usename = 'arena'{more}")
            return done < 40

        said = play_while(tmp_path, database, 30, disturb, soak_seed)
        assert "database-reconnected" in said
        assert table(database) == undisturbed(30)


@pytest.mark.soak
def test_a_standby_takes_over_and_no_announced_result_is_lost(
    tmp_path: Path, undisturbed: Callable[[int], Table], soak_seed: int
) -> None:
    """The primary answers what its standby has; it is killed in the middle of the contest."""
    with (
        cluster(options="-c synchronous_standby_names=*") as first,
        cluster(standby_of=first, options="-c synchronous_standby_names=") as second,
    ):
        name = urlsplit(first.database().url).path.strip("/")
        hosts = f"{first.folder},{second.folder}"
        url = f"postgresql://arena@/{name}?host={hosts}&target_session_attrs=read-write"

        def disturb(_server: Server, done: int) -> bool:
            if done < 3:
                return True
            first.kill()
            second.promote()
            return False

        said = play_while(tmp_path, Postgres(url), 10, disturb, soak_seed)
        assert said.count("database-reconnected") == 1
        assert table(Postgres(second.url(name))) == undisturbed(10)


def stopped_and_gone_on(folder: Path, limit: Callable[[], None], more: Callable[[], object]) -> str:
    """The last line of a server whose disk fails; after `more` the contest has to go on."""
    port, path = quiet_port(), folder / "arena.db"
    options = ("--port", str(port), "--until-finished", "--log-level", "error")
    bots = Bots(port)
    with Server(the_contest(4), folder, *options, before=limit) as server:
        outcome = server.end()
    assert outcome.code == 1
    more()
    with Server(the_contest(4), folder, *options) as server:
        assert server.end().code == 0
    bots.join()
    check(path, bots)
    return outcome.line.removeprefix(f"arena: {path}: ")


@pytest.mark.real
@pytest.mark.soak
def test_a_disk_that_fails_is_a_clear_stop(tmp_path: Path, undisturbed: Callable[[int], Table]) -> None:
    """No file may grow beyond the limit: every write that would fails."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_001, 400_001))

    line = stopped_and_gone_on(tmp_path, limit, lambda: None)
    assert table(tmp_path / "arena.db") == undisturbed(4)
    assert line == "the disk fails (disk I/O error); nothing more can be kept"


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="NO FULL DISK: only root mounts one")
def test_a_full_disk_is_a_clear_stop_and_with_room_again_the_contest_goes_on(
    tmp_path: Path, undisturbed: Callable[[int], Table]
) -> None:
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "arena", tmp_path], check=False)
    if mount.returncode:
        pytest.skip("NO FULL DISK: mount failed")
    try:
        remount: list[str | Path] = ["mount", "-o", "remount,size=100m", tmp_path]
        line = stopped_and_gone_on(tmp_path, lambda: None, lambda: subprocess.run(remount, check=True))
        assert table(tmp_path / "arena.db") == undisturbed(4)
        assert line == "the disk is full; nothing more can be kept"
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def stopped_in_its_first_game(folder: Path, text: str, *options: str) -> Server:
    gate = Gate(0)
    with Server(text, folder, *options) as server:
        bots = Bots(server.port, ONCE, gate)
        bots.wait_for_play()
        assert server.end(signal.SIGTERM).code == 0
        gate.open()
        bots.join()
    return server


@pytest.mark.real
def test_a_server_that_was_stopped_goes_on_with_its_games(tmp_path: Path) -> None:
    port = quiet_port()
    options = ("--port", str(port), "--log-level", "error")
    stopped_in_its_first_game(tmp_path, the_contest(2), *options)
    with Server(the_contest(2), tmp_path, *options, "--until-finished") as server:
        bots = Bots(port)
        bots.join()
        assert server.end().code == 0
    check(tmp_path / "arena.db", bots)
    assert [games for _, _, games in table(tmp_path / "arena.db")] == [4, 4, 4]
    with Results(tmp_path / "arena.db") as results:
        assert {row["end"] for row in results.games.rows(results.contest())} == {"complete"}


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a server that was killed after some results."""
    folder = tmp_path_factory.mktemp("killed")
    gate = Gate(30)
    with Server(the_contest(30), folder) as server:
        bots = Bots(server.port, ONCE, gate)
        assert server.process.stderr is not None
        overs = (line for line in server.process.stderr if " info over " in line)
        for _ in range(5):
            next(overs)
        server.end(signal.SIGKILL)
        gate.open()
        bots.join()
    return folder


@pytest.fixture
def killed(killed_once: Path, tmp_path: Path) -> Path:
    """A copy of its database."""
    shutil.copytree(killed_once, tmp_path, dirs_exist_ok=True)
    (tmp_path / "c.toml").write_text(the_contest(30))
    return tmp_path / "arena.db"


COMMANDS = (
    ("serve", "c.toml", "--port", "0"),
    ("standings",),
    ("verify",),
    ("export", "records"),
    ("replay", "g1"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_announced_results_that_are_missing_are_reported(killed: Path, command: tuple[str, ...]) -> None:
    killed.with_name("arena.db-wal").unlink()
    outcome = inside(*command, cwd=killed.parent)
    assert (outcome.code, outcome.out) == (1, "")
    assert re.fullmatch(
        r"arena: arena.db: (\d+ announced results of contest 1 trial are missing"
        r"|the database has no tables, and \d+ announced results with it); restore the database with its "
        "-wal file, or (accept what is left by arena verify --renew-head"
        "|delete arena.db-head to give them up)",
        outcome.line,
    )


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("how", ["missing", "zeros"])
def test_a_head_that_is_missing_or_all_zeros(killed: Path, command: tuple[str, ...], how: str) -> None:
    head = killed.with_name("arena.db-head")
    head.write_bytes(bytes(head.stat().st_size))
    if how == "missing":
        head.unlink()
    outcome = inside(*command, cwd=killed.parent)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.line.startswith("arena: arena.db: arena.db-head ")
    accepted = inside("verify", "--renew-head", cwd=killed.parent)
    assert accepted.code == 0
    assert re.fullmatch(r"verified: \d+ games of 1 contests; written: arena.db-head\n", accepted.out)
    assert inside("standings", cwd=killed.parent).code == 0


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("size", ["missing", "empty"])
def test_a_missing_or_empty_database_beside_its_wal(
    killed: Path, command: tuple[str, ...], size: str
) -> None:
    killed.unlink()
    if size == "empty":
        killed.touch()
    outcome = inside(*command, cwd=killed.parent)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.line == (
        f"arena: arena.db: the database is {size} and its log arena.db-wal is not; restore the database, "
        "or delete arena.db-wal too"
    )


@pytest.mark.real
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.soak
def test_a_database_deleted_or_replaced_under_a_server_stops_it(tmp_path: Path, replaced: bool) -> None:
    # More games than are played before the test has deleted the file.
    with Server(the_contest(3000), tmp_path, "--log-level", "error") as server:
        bots = Bots(server.port, ONCE)
        bots.wait_for_play()
        data = server.database.read_bytes()
        server.database.unlink()
        if replaced:
            server.database.write_bytes(data)
        outcome = server.end()
        bots.join()
    assert outcome.code == 1
    assert outcome.line == (
        f"arena: {server.database}: arena.db was deleted or replaced while the server had it open; "
        "nothing more can be kept"
    )


@pytest.mark.real
@pytest.mark.parametrize("remove", [None, "arena.db-locks"])
def test_two_servers_cannot_play_the_same_contest(tmp_path: Path, remove: str | None) -> None:
    with (
        Server(the_contest(2), tmp_path) as server,
        socket.create_connection(("127.0.0.1", server.port)) as ann,
    ):
        ann.sendall(b"HELLO 1 ann\n")
        lines = ann.makefile("rb")
        assert [lines.readline().split()[0] for _ in range(2)] == [b"ARENA", b"WELCOME"]
        if remove is not None:
            (tmp_path / remove).unlink()
        outcome = arena("serve", server.config, "--port", "0", "--database", f"sqlite:///{server.database}")
        ann.sendall(b"PING 1\n")
        assert lines.readline() == b"PONG 1\n", "the first one plays on"
        lines.close()
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.line == (
        f"arena: {tmp_path}/arena.db: contest 1 is being played by another server; "
        "stop that one, or begin a new contest by --new"
    )


@pytest.mark.real
@pytest.mark.soak
def test_another_config_is_no_continuation(tmp_path: Path) -> None:
    server = stopped_in_its_first_game(tmp_path, the_contest(2))
    server.config.write_text(the_contest(4))
    outcome = arena("serve", server.config, "--port", "0", "--database", f"sqlite:///{server.database}")
    assert (outcome.code, outcome.out) == (2, "")  # systemd and compose do not start it again
    assert outcome.line == (
        f"arena: {tmp_path}/arena.db: contest 1 trial is unfinished, and was begun with games_per_pair=2 "
        "where there is 4 now; go on with the same configuration, or begin a new contest by --new"
    )
    stopped_in_its_first_game(tmp_path, the_contest(4), "--new")
    with Results(tmp_path / "arena.db") as results:
        assert [each.id for each in results.contests()] == [1, 2]
