"""A test with a process or a real clock fails without its marker, and no other does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

ROOT = Path(__file__).resolve().parents[1]
CONFTEST = """
import pytest
from tests.guard import Guard

def pytest_configure(config):
    config.addinivalue_line("markers", "real: x")
    guard = Guard()
    guard.install(pytest.MonkeyPatch())
    config.pluginmanager.register(guard)
"""
TESTS = """
import asyncio, subprocess, sys, threading, time
import pytest, trio
from trio.testing import MockClock

class StandingLoop(asyncio.SelectorEventLoop):
    now = 0.0
    def time(self):
        self.now += 1000.0
        return self.now

def start():
    subprocess.run([sys.executable, "-c", ""], check=True)

@pytest.fixture(scope="module")
def once():
    start()

@pytest.fixture
def each():
    start()

@pytest.fixture
def browser():
    pass

def test_bad_process(): start()
def test_bad_fixture(each): pass
def test_bad_browser(browser): pass
def test_bad_sleep(): time.sleep(0.001)
def test_bad_asyncio(): asyncio.run(asyncio.sleep(0.001))
def test_bad_trio(): trio.run(trio.sleep, 0.001)

@pytest.mark.real
def test_good_marked(each): time.sleep(0.001)
def test_good_module_fixture(once): pass
def test_good_thread():
    thread = threading.Thread(target=time.sleep, args=(0.001,))
    thread.start()
    thread.join()
def test_good_virtual_asyncio():
    with asyncio.Runner(loop_factory=StandingLoop) as runner:
        runner.run(asyncio.sleep(100))
def test_good_virtual_trio():
    trio.run(trio.sleep, 100, clock=MockClock(autojump_threshold=0))
def test_good_cancelled():
    async def main():
        task = asyncio.create_task(asyncio.sleep(100))
        await asyncio.sleep(0)
        task.cancel()
    asyncio.run(main())
"""


def test_what_needs_the_marker(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rA",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
    ]
    done = subprocess.run(
        [*command, "-c", "/dev/null", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    verdicts = {
        line.split("::")[1].split(" ")[0]: line.split(" ")[0]
        for line in done.stdout.splitlines()
        if line.startswith(("PASSED", "FAILED"))
    }
    assert len(verdicts) == 12, done.stdout
    assert verdicts == {name: "FAILED" if "_bad_" in name else "PASSED" for name in verdicts}
    assert "time.sleep(0.001): this test needs the marker `real` (tests/README.md)" in done.stdout
