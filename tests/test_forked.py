"""A forked command is the process that `python -m arena_cli` is."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Any

import pytest

from .forked import Arena
from .server.programs import ARENA, PATIENCE_S, contest

pytestmark = pytest.mark.real


OTHERS = (("standings",), ("nothing",), ("serve", "-h"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("verify", "no such file"),
        *(pytest.param(each, marks=pytest.mark.soak) for each in OTHERS),
    ],
)
def test_output_and_status_are_the_same(arguments: tuple[str, ...], tmp_path: Path) -> None:
    there = {**os.environ, "COLUMNS": "100"}  # `-h` takes as much of a line
    options: dict[str, Any] = {
        "cwd": tmp_path,
        "env": there,
        "stdin": DEVNULL,
        "stdout": PIPE,
        "stderr": PIPE,
    }
    with Arena(arguments, **options) as forked, Popen([*ARENA, *arguments], text=True, **options) as started:
        assert forked.communicate(timeout=PATIENCE_S) == started.communicate(timeout=PATIENCE_S)
    assert forked.returncode == started.returncode


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(contest("a", "b"))
    command = ["serve", "c.toml", "--port", "0", "--no-web"]
    with Arena(command, cwd=tmp_path, stdout=PIPE, stderr=PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("listening on ")
        assert server.poll() is None
        with pytest.raises(TimeoutExpired):
            server.wait(0)
        server.send_signal(number)
        assert server.wait(PATIENCE_S) == (-9 if number == signal.SIGKILL else 0)
        assert server.poll() == server.returncode
