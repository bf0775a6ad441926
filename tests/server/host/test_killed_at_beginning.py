"""A server ends at each place of its beginning while a second one of the same files waits, and goes on.

`make test` has one row with each kind of database, the soak run all.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from tests.server.programs import PATIENCE_S, Players, Server, contest
from tests.slices import rows

from arena_server.store.database import Database
from arena_server.store.reader import Results

#: The module, the function in it, and whether the first server stops before its call or behind it.
PLACES: Final = (
    ("arena_server.store.contest_store", "ContestStore.enter", "before"),
    ("arena_server.store.preflight", "check_writable", "after"),
    ("arena_server.store.ownership", "BeginLock.__init__", "after"),
    ("arena_server.store.preflight", "check_contest", "after"),
    ("arena_server.host.sockets", "bind", "after"),
    ("arena_cli.web_ports", "bind_web", "after"),
    ("arena_cli.serve", "_serve_to_the_end", "before"),
    ("arena_server.host.host", "Host._begin_all", "before"),
    ("arena_server.store.ownership", "ContestLock.__init__", "after"),
    ("arena_server.store.contest_store", "ContestStore.enter", "after"),
    ("arena_server.host.stages", "WhenEntered.serving", "before"),
    ("arena_server.store.ownership", "BeginLock.release", "before"),
)
SIGNALS: Final = (signal.SIGKILL, signal.SIGTERM)

#: `arena`, which writes a byte and waits for the end of a pipe where the function is called first.
HELD: Final = """
import importlib, os, sys
module, name, when, told, until = sys.argv[1:6]
owner = importlib.import_module(module)
*path, name = name.split(".")
for each in path:
    owner = getattr(owner, each)
original, calls = getattr(owner, name), []

def stop(here):
    if here == when and not calls:
        calls.append(here)
        os.write(int(told), b".")
        os.read(int(until), 1)

def held(*values, **more):
    stop("before")
    found = original(*values, **more)
    stop("after")
    return found

setattr(owner, name, held)
sys.argv = ["arena", *sys.argv[6:]]
from arena_cli import main
main()
"""


class HeldServer:
    """`arena serve` of files, which stands still at a place of its start; use it in a `with` statement."""

    def __init__(self, place: tuple[str, str, str], *command: str) -> None:
        told, theirs = os.pipe()
        until, self._until = os.pipe()
        held = [sys.executable, "-c", HELD, *place, str(theirs), str(until), "serve", *command]
        self.process = subprocess.Popen(
            held, pass_fds=[theirs, until], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        os.close(theirs)
        os.close(until)
        stands = os.read(told, 1)
        os.close(told)
        assert stands, self.process.communicate()

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal, and let it go on if it still can; its status and what it said."""
        self.process.send_signal(number)
        os.close(self._until)
        _, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, err

    def __enter__(self) -> HeldServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        with suppress(OSError):
            os.close(self._until)


def url_of(database: Database) -> str:
    return f"sqlite:///{database}" if isinstance(database, Path) else database.url


@pytest.mark.real
@pytest.mark.parametrize(
    ("place", "number"), rows([(place, number) for place in PLACES for number in SIGNALS], 24)
)
def test_the_next_server_begins_all_contests_once(
    tmp_path: Path, database: Database, place: tuple[str, str, str], number: int
) -> None:
    """The second one waits, or comes when the first has ended: what becomes of its contests is the same."""
    one, two = (
        contest(*names).replace('name = "trial"', f'name = "{name}"', 1)
        for name, names in (("one", ("a", "b")), ("two", ("c", "d")))
    )
    (tmp_path / "two.toml").write_text(two)
    (tmp_path / "contest.toml").write_text(one)
    files = [str(tmp_path / name) for name in ("contest.toml", "two.toml")]
    command = [*files, "--port", "0", "--no-web", "--database", url_of(database)]
    options = [files[1], "--until-finished"]
    with HeldServer(place, *command) as first, ThreadPoolExecutor() as pool:
        second = pool.submit(Server, one, tmp_path, *options, url=url_of(database))
        status, err = first.end(number)
        with second.result() as server:
            Players(server.port, [(name, "first-legal") for name in "abcd"]).join()
            outcome = server.end()
    assert (status, "Traceback" in err) == (0 if number == signal.SIGTERM else -number, False), err
    assert outcome.code == 0, outcome.err
    with Results(database) as results:
        found = results.contests()
        games = [results.sums.games_played(each) for each in found]
    assert sorted((each.name, each.status) for each in found) == [("one", "finished"), ("two", "finished")]
    assert games == [2, 2]
