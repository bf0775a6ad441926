"""A real server is killed at random moments; its bots keep their own record of every line.

`make test` kills it 5 times, `make soak` 50 times, and ends it 100 times by a signal, with each kind of
database. The moments come from the seed below, and the machine decides where in a contest they fall: the
outcome must not depend on it.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest
from tests.ports import quiet_port
from tests.server.host.recording_bots import ONCE, Bots, the_contest
from tests.server.postgres import cluster
from tests.server.programs import Gate, Server, arena
from tests.server.records import keep, shown

from arena_protocol.record_codec import decode
from arena_protocol.verify import verify
from arena_server.errors import StoreError
from arena_server.stats.standings import Row
from arena_server.store.archiving import Archiving
from arena_server.store.backup import back_up
from arena_server.store.database import Database, Postgres
from arena_server.store.reader import Results

#: Name, points and number of games of each bot.
Table = list[tuple[str, int, int]]


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
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, undisturbed: Callable[[int], Table]
) -> None:
    other, copy = tmp_path_factory.mktemp("other") / "arena.db", tmp_path / "copy.db"
    keep(other, 1, 2)
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "arena", tmp_path], check=False)
    if mount.returncode:
        pytest.skip("NO FULL DISK: mount failed")
    try:
        remount: list[str | Path] = ["mount", "-o", "remount,size=100m", tmp_path]

        def more() -> None:
            with suppress(OSError), (tmp_path / "filler").open("wb", buffering=0) as file:
                while file.write(b"x" * 512):
                    pass
            with pytest.raises(StoreError, match=rf"^{copy}: cannot be written: No space left on device$"):
                back_up(other, copy)
            with Archiving(other, 1) as archive, pytest.raises(OSError, match=rf"No space left .*{copy}"):
                archive.copy(copy)
            subprocess.run(remount, check=True)

        line = stopped_and_gone_on(tmp_path, lambda: None, more)
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
