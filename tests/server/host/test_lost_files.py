"""Files of a database that are damaged, missing or replaced after a kill, or under a server that runs."""

from __future__ import annotations

import re
import shutil
import signal
from pathlib import Path

import pytest
from tests.server.host.recording_bots import ONCE, Bots, the_contest
from tests.server.programs import Gate, Server, inside


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
