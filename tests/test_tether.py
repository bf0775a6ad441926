"""A process that the tests started ends with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import tether

PATIENCE_S = 150.0
#: One that starts a server, of sorts, which starts another; all of them hold stdout.
PARENT = """
import subprocess, sys
import tether
end = tether.begin()
last = "import signal; print('up', flush=True); signal.pause()"
first = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {last!r}])"
child = subprocess.Popen([sys.executable, "-c", first])
sys.stdin.readline()
"""

pytestmark = pytest.mark.skipif(not (tether.PROC / "self" / "environ").exists(), reason="NO /proc, NO TETHER")


def started(program: str) -> subprocess.Popen[str]:
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=Path(tether.__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "up\n"
    return parent


@pytest.mark.real
def test_a_killed_parent_takes_all_with_it() -> None:
    with started(PARENT) as parent:
        parent.kill()
        # The end of stdout: no process holds it any more.
        out, err = parent.communicate(timeout=PATIENCE_S)
    assert out == ""
    assert "left behind by the tests, and killed: " in err


@pytest.mark.real
def test_what_is_left_behind_in_good_order_is_ended_too() -> None:
    with started(PARENT + "end()\nprint('over')") as parent:
        out, _ = parent.communicate("\n", timeout=PATIENCE_S)
    assert (out, parent.returncode) == ("over\n", 0)


@pytest.mark.real
def test_others_are_let_alone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        assert tether.kill_marked("no such mark") == []
        assert other.poll() is None


def test_one_that_takes_a_while_to_end_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is found again in the next round, and its command line is gone then."""
    process = tmp_path / "4000000"
    process.mkdir()
    (process / "environ").write_text(f"{tether.VARIABLE}=mark")
    (process / "cmdline").write_text("arena\0serve")

    def kill(number: int, _: int) -> None:
        assert number == int(process.name)
        if not (process / "cmdline").read_text():
            (process / "environ").unlink()
        (process / "cmdline").write_text("")

    monkeypatch.setattr(tether, "PROC", tmp_path)
    monkeypatch.setattr(os, "kill", kill)
    assert tether.kill_marked("mark") == ["arena serve"]


def test_without_proc_nothing_is_watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tether, "PROC", tmp_path)
    tether.begin()()
