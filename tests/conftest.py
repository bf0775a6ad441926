"""What holds for all tests: no process is left behind, and `make test` draws the same examples every time."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

from . import forked, in_memory, statements, tether
from .guard import Guard

# A deadline per example and a limit on the time of drawing are timing assertions: a busy machine fails them.
settings.register_profile(
    "fixed",
    max_examples=10,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
#: `make soak`: from a seed that it prints.
settings.register_profile("soak", parent=settings.get_profile("fixed"), max_examples=1000, derandomize=False)
settings.load_profile("fixed")
#: How many of the examples that a property asks for are drawn, by profile. One that asks for none draws those
#: of its profile.
EXAMPLES = {"fixed": 0.1, "soak": 10}
#: Empty until a worker of xdist has collected, and thereby compiled, the tests of this clone.
COMPILED = Path(__file__).parent / "__pycache__" / "compiled"


def pytest_configure(config: pytest.Config) -> None:
    """Before anything is started."""
    memory = in_memory.folder()
    if memory is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
    if not COMPILED.exists():
        COMPILED.parent.mkdir(exist_ok=True)
        COMPILED.touch()
    config.add_cleanup(tether.begin())
    config.add_cleanup(forked.end)
    guard, patch = Guard(), pytest.MonkeyPatch()
    guard.install(patch)
    statements.share(partial(patch.setattr, raising=False))
    config.add_cleanup(patch.undo)
    config.pluginmanager.register(guard)
    # A shell without job control starts a program in the background with SIGINT ignored, nohup with SIGHUP
    # ignored. Children inherit that: no test could interrupt one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    # Hypothesis draws constants of all modules loaded so far, so that examples depend on the tests before.
    # It has no setting against that.
    assert callable(providers._get_local_constants)
    nothing = providers._local_constants
    providers._get_local_constants = lambda: nothing


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    group(items)
    profile = settings.get_current_profile_name()
    share, unasked = EXAMPLES.get(profile, 1), settings.get_profile(profile).max_examples
    functions = {item.function for item in items if isinstance(item, pytest.Function)}
    for function in filter(is_hypothesis_test, functions):
        asked = function._hypothesis_internal_use_settings
        if asked.max_examples != unasked:
            count = max(1, int(asked.max_examples * share))
            function._hypothesis_internal_use_settings = settings(asked, max_examples=count)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """The parameters of a soak test are thousands, which need not be made to leave them out."""
    expression = collector.config.option.markexpr
    if expression.startswith("not soak") and " or " not in expression:
        marks = getattr(obj, "pytestmark", ())
        if isinstance(marks, list) and any(mark.name == "soak" for mark in marks):
            return []
    return None


@contextmanager
def one_compiles() -> Iterator[None]:
    """In a new clone one worker compiles all modules; the others wait, and find them compiled."""
    if "PYTEST_XDIST_WORKER" not in os.environ or COMPILED.read_text():
        yield
        return
    with COMPILED.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if COMPILED.read_text():
            fcntl.flock(lock, fcntl.LOCK_UN)
        yield
        COMPILED.write_text("all")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """8,000 tests live until the end: the garbage collector does not look at them again and again.

    And it does not look for garbage as often as a program does that runs for weeks: a tenth of the time.
    """
    gc.disable()
    try:
        with one_compiles():
            return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


#: The lanes of the tests that need a real clock or a process, by folder; all others are one more. Each takes
#: as long as the others. `make test` has a worker more than there are lanes: while they wait, it does not.
LANES = {"tests/server/web": "web", "tests/docs": "web", "tests/server": "server"}
#: Tests of numba and compiled kernels: to load these takes a second, which one worker does for all.
KERNELS = (
    "tests/engines",
    "tests/benchmarks/test_figures.py",
    "tests/benchmarks/test_rivals.py",
    "tests/cli/test_engines.py",
    "tests/cli/test_local_bots.py",
    "tests/docs/test_engines_page.py",
    "tests/museum/test_history.py",
)


def is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


def names_of(file: Path) -> tuple[str, str]:
    """The groups of the tests in this file: of those that are not `real`, and of those that are."""
    lane = next((lane for root, lane in LANES.items() if file.is_relative_to(root)), "else")
    return "kernels" if any(map(file.is_relative_to, KERNELS)) else str(file), f"real-{lane}"


def group(items: list[pytest.Item]) -> None:
    """With xdist the tests of a group run one after the other, on one worker; the first groups begin first.

    The lanes are groups: of their tests one a lane runs at once, whatever the number of workers. The
    others of a file are a group, so that what a fixture or a cache has for them is made once, and those of
    numba. Groups with `slow` tests, those of the simulation (seconds each) and large ones begin early: at the
    end no worker is left alone with a long one.
    """
    groups: dict[str, list[pytest.Item]] = {}
    root = items[0].config.rootpath if items else Path()
    names = {path: names_of(path.relative_to(root)) for path in {item.path for item in items}}
    for item in items:
        name = names[item.path][item.get_closest_marker("real") is not None]
        item.add_marker(pytest.mark.xdist_group(name))
        groups.setdefault(name, []).append(item)

    def rank(name: str) -> tuple[bool, bool, int]:
        slow = name.startswith("tests/simulation") or any(map(is_slow, groups[name]))
        return not name.startswith("real-"), not slow, -len(groups[name])

    if "PYTEST_XDIST_WORKER" in os.environ:
        items[:] = [item for name in sorted(groups, key=rank) for item in groups[name]]


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """A worker of xdist reports one phase of a test that passed, not three, nor that it begins and ends.

    That is half of what xdist costs.
    """
    plugins = session.config.pluginmanager.get_plugins()
    worker = next((each for each in plugins if type(each).__name__ == "WorkerInteractor"), None)
    if worker is not None:
        send = worker.sendevent

        def send_less(name: str, **what: Any) -> None:
            report = what["data"] if name == "testreport" else {}
            spare = report.get("when") in ("setup", "teardown") and report["outcome"] == "passed"
            if not spare and name not in ("logstart", "logfinish"):
                send(name, **what)

        worker.sendevent = send_less


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Stop unless xdist has read the groups: some versions of pytest and xdist do not fit."""
    ungrouped = next((each for each in ids if "@" not in each), None)
    if ungrouped is not None and node.config.getoption("dist") == "loadgroup":
        pytest.exit(f"expected xdist to group {ungrouped}: install the versions of constraints.txt", 3)


@pytest.fixture(scope="session")
def soak_seed(pytestconfig: pytest.Config) -> int:
    """Where the draws of a soak run begin; `make soak` chooses and prints it."""
    return int(pytestconfig.getoption("--hypothesis-seed") or 1)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of three bots, one of which sends illegal moves; do not change it.

    The contest is played once for all workers of a run.
    """
    from tests.server.programs import play_three

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "three-played"
    with (shared / "three-played.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            play_three(tmp_path_factory.mktemp("three")).rename(folder)
    return folder
