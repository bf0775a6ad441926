"""Compiled kernels: the same answers as plain Python, kept on disk, never stale, never corrupt."""

from __future__ import annotations

import fcntl
import importlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import arena_engines
import arena_protocol
from arena_engines import jit as module
from arena_engines.engine import EngineError
from arena_engines.insertion.champion import search
from arena_engines.jit import cache_folder, compiled, digest, has_baseline, reachable, signature_of
from arena_protocol.games.insertion import rules

SOURCE = """
STEP = {step}

def callee(a: int) -> int:
    return a {operator} STEP

def kernel(a: int, b: int) -> int:
    return callee(a) * b

def constants(a: int) -> int:
    return callee(1) + callee(2) + callee(a)

def factorial(a: int) -> tuple[int, int]:
    if a < 2:
        return 1, 1
    value, calls = factorial(a - 1)
    return value * a, calls + 1
"""


#: What another version of the rules has for `runs`.
CHANGED = """

def runs(p0: int, p1: int, p2: int) -> int:
    return 7
"""
#: Compiling takes a second or two; what waits for a lock that is held ends with an error.
LIMIT_S = 150


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache folder, and a compiler that remembers nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    module._compiled.cache_clear()
    yield tmp_path / "cache" / "insertion-arena"
    cache_folder.cache_clear()
    module._compiled.cache_clear()


def write(tmp_path: Path, step: int = 1, operator: str = "+") -> ModuleType:
    """Load a module of little kernels from its text, afresh."""
    path = tmp_path / "little.py"
    path.write_text(SOURCE.format(step=step, operator=operator))
    little = ModuleType("little")
    little.__file__ = str(path)
    sys.modules["little"] = little
    exec(compile(path.read_text(), str(path), "exec"), little.__dict__)
    return little


planes = st.integers(0, 2**25 - 1)


@given(planes, planes, planes, st.integers(1, 15), st.integers(1, 7))
def test_the_compiled_rules_are_the_rules(p0: int, p1: int, p2: int, move: int, colour: int) -> None:
    # Any planes will do: also boards that no game reaches give the same on both.
    p0, p1, p2, *_ = rules.settle(p0, p1, p2)
    assert compiled(rules.play)(p0, p1, p2, move, colour) == rules.play(p0, p1, p2, move, colour)
    assert compiled(rules.distinct_moves)(p0, p1, p2) == rules.distinct_moves(p0, p1, p2)


def test_the_rule_book_itself_is_left_alone() -> None:
    before = dict(vars(rules))
    compiled(search)
    assert vars(rules) == before
    assert all(type(each) is FunctionType for each in reachable(search))  # type: ignore[arg-type]
    assert rules.play in reachable(search)  # type: ignore[arg-type]
    assert rules.count in reachable(search)  # type: ignore[arg-type]


def test_a_kernel_may_call_itself_and_return_a_tuple(tmp_path: Path, own_cache: Path) -> None:
    little = write(tmp_path)
    assert compiled(little.factorial)(10) == (3628800, 10)
    module._compiled.cache_clear()
    assert compiled(little.factorial)(5) == (120, 5)  # from the disk


def test_an_outlined_function_is_compiled_once_for_all_the_constants_it_is_called_with(
    tmp_path: Path, own_cache: Path
) -> None:
    little = write(tmp_path)
    module.outlined(little.callee)
    copies = module._copies(module._numba(), little.constants)
    copies[little.constants].compile("int64(int64)")
    assert copies[little.constants](10) == 2 + 3 + 11
    assert len(copies[little.callee].overloads) == 1


@pytest.mark.parametrize(("step", "operator", "value"), [(2, "+", 40), (1, "-", 10), (1, "*", 20)])
def test_a_change_below_a_kernel_never_leaves_stale_code(
    tmp_path: Path, own_cache: Path, step: int, operator: str, value: int
) -> None:
    assert compiled(write(tmp_path, 1, "+").kernel)(2, 10) == 30
    assert compiled(write(tmp_path, step, operator).kernel)(2, 10) == value


def test_the_digest_follows_code_constants_and_the_rest(tmp_path: Path) -> None:
    first = digest(write(tmp_path).kernel)
    assert digest(write(tmp_path).kernel) == first
    others = [
        digest(write(tmp_path, step=2).kernel),
        digest(write(tmp_path, operator="-").kernel),
        digest(write(tmp_path).kernel, "another processor"),
        digest(write(tmp_path).callee),
    ]
    assert len({first, *others}) == 5


def test_code_for_the_baseline_needs_all_of_its_features() -> None:
    full = dict.fromkeys((*module._OF_BASELINE, "avx512f"), True)
    assert [has_baseline(name, full) for name in ("x86_64", "AMD64", "aarch64")] == [True, True, False]
    wrong = [name for name in module._OF_BASELINE if has_baseline("x86_64", full | {name: False})]
    assert wrong == []
    assert not has_baseline("x86_64", {})


@pytest.mark.parametrize("chosen", [(None, None), ("znver3", None), (None, "+avx")])
def test_who_names_a_processor_gets_code_for_it(
    monkeypatch: pytest.MonkeyPatch, chosen: tuple[str | None, str | None]
) -> None:
    config = importlib.import_module("numba").config
    monkeypatch.setattr(config, "CPU_NAME", chosen[0])
    monkeypatch.setattr(config, "CPU_FEATURES", chosen[1])
    monkeypatch.setattr(module, "has_baseline", lambda machine, features: True)
    module._numba()
    found = config.CPU_NAME, config.CPU_FEATURES
    assert found == (chosen if any(chosen) else (module.BASELINE, ""))


def test_code_is_kept_in_a_folder_of_its_digest(tmp_path: Path, own_cache: Path) -> None:
    compiled(write(tmp_path).kernel)
    (folder,) = own_cache.iterdir()
    assert folder.name.startswith("little.kernel-")
    stored = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}
    assert stored
    module._compiled.cache_clear()
    compiled(write(tmp_path).kernel)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")} == stored


def test_only_a_compilation_is_logged(
    tmp_path: Path, own_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`arena tournament` shows `compiling engines` because of it; other commands print it."""
    for messages in (["compiling little.kernel, once for this code and processor"], []):
        caplog.clear()
        module._compiled.cache_clear()
        assert compiled(write(tmp_path).kernel)(3, 2) == 8
        assert caplog.messages == messages


def test_a_damaged_cache_is_made_again(tmp_path: Path, own_cache: Path) -> None:
    little = write(tmp_path)
    compiled(little.kernel)
    for path in own_cache.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:40])
    module._compiled.cache_clear()
    assert compiled(little.kernel)(2, 10) == 30


def test_threads_may_ask_at_once(tmp_path: Path, own_cache: Path) -> None:
    little = write(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        kernels = list(pool.map(lambda _: compiled(little.kernel), range(8)))
    assert len(set(kernels)) == 1


@pytest.mark.real
@pytest.mark.soak
def test_processes_may_compile_the_same_kernel_at_once(tmp_path: Path) -> None:
    program = (
        "from arena_engines.jit import compiled\n"
        "from arena_protocol.games.insertion.rules import runs\n"
        "print(compiled(runs)(0b100001000010000100001, 0, 0))\n"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    started = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [process.communicate()[0] for process in started] == [f"{0b100001000010000100001}\n"] * 3
    assert [process.returncode for process in started] == [0, 0, 0]
    assert len(list(tmp_path.rglob("*.nbc"))) == 1


def test_what_is_compiled_is_loaded_while_another_process_has_the_lock(
    tmp_path: Path, own_cache: Path
) -> None:
    little = write(tmp_path)
    compiled(little.kernel)
    module._compiled.cache_clear()
    (lock,) = own_cache.glob("*/lock")
    with lock.open("w") as held, ThreadPoolExecutor(1) as pool:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            assert pool.submit(compiled, little.kernel).result(LIMIT_S)(2, 10) == 30
        finally:
            fcntl.flock(held, fcntl.LOCK_UN)


def test_who_waits_says_so_and_loads_what_the_other_process_has_compiled(
    tmp_path: Path, own_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    little = write(tmp_path)
    compiled(little.kernel)
    module._compiled.cache_clear()
    (folder,) = own_cache.iterdir()
    code, elsewhere = folder / module.CODE, tmp_path / "elsewhere"
    code.rename(elsewhere)
    caplog.clear()
    waiting = threading.Event()

    class Waits(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            waiting.set()

    handler = Waits()
    module.logger.addHandler(handler)
    try:
        with (folder / "lock").open("w") as held, ThreadPoolExecutor(1) as pool:
            fcntl.flock(held, fcntl.LOCK_EX)
            asked = pool.submit(compiled, little.kernel)
            try:
                assert waiting.wait(LIMIT_S)
                elsewhere.rename(code)
            finally:
                fcntl.flock(held, fcntl.LOCK_UN)
            assert asked.result(LIMIT_S)(2, 10) == 30
    finally:
        module.logger.removeHandler(handler)
    assert caplog.messages == ["waiting for another process, which compiles little.kernel"]


class TestInstallations:
    """Copies of the checkout in other folders, with one cache."""

    PROGRAM = (
        "import sys, arena_engines.jit as jit\n"
        "from arena_protocol.games.insertion import rules\n"
        "assert jit.__file__.startswith(sys.argv[1]) and rules.__file__.startswith(sys.argv[1])\n"
        "print(jit.compiled(rules.runs)(0b100001000010000100001, 0, 0))\n"
    )

    def copy(self, folder: Path) -> Path:
        for package in (arena_engines, arena_protocol):
            source = Path(package.__file__ or "").parent
            shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    def run(self, folder: Path, cache: Path) -> tuple[str, str]:
        environment = os.environ | {"XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(folder)}
        ended = subprocess.run(
            [sys.executable, "-c", self.PROGRAM, str(folder)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=True,
        )
        return ended.stdout, ended.stderr

    @pytest.mark.real
    @pytest.mark.soak
    def test_the_same_code_is_compiled_once_and_other_code_on_its_own(self, tmp_path: Path) -> None:
        cache = tmp_path / "cache"
        answer = f"{0b100001000010000100001}\n"
        compiling = "compiling rules.runs, once for this code and processor\n"
        assert self.run(self.copy(tmp_path / "one"), cache) == (answer, compiling)
        equal = self.copy(tmp_path / "two")
        rules = equal / "arena_protocol" / "games" / "insertion" / "rules.py"
        rules.write_text("# A comment moves every line.\n" + rules.read_text())
        assert self.run(equal, cache) == (answer, "")
        other = self.copy(tmp_path / "three")
        rules = other / "arena_protocol" / "games" / "insertion" / "rules.py"
        text = rules.read_text()
        rules.write_text(text.replace("def runs(", "def runs_(") + CHANGED)
        (lock,) = cache.glob("*/*/lock")
        with lock.open("w") as held:  # nor does other code wait for the first one
            fcntl.flock(held, fcntl.LOCK_EX)
            assert self.run(other, cache) == ("7\n", compiling)
        assert len(list(cache.glob("*/rules.runs-*"))) == 2


def test_without_a_lock_it_compiles_all_the_same(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on a system that has none
    assert compiled(write(tmp_path).kernel)(2, 10) == 30


def test_without_numba_the_cure_is_named(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(EngineError, match=r"^this engine needs the extra \[engines\]: "):
        compiled(write(tmp_path).kernel)


def test_with_the_compiler_switched_off_the_function_itself_runs(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba

    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    little = write(tmp_path)
    assert compiled(little.kernel) is little.kernel


def test_the_signature_is_read_from_the_annotations(tmp_path: Path) -> None:
    assert signature_of(write(tmp_path).kernel) == "int64(int64, int64)"
    assert signature_of(write(tmp_path).factorial) == "UniTuple(int64, 2)(int64)"


def test_other_annotations_are_refused() -> None:
    def wrong(a: float) -> int:
        return int(a)

    with pytest.raises(TypeError, match="wrong: a kernel takes int and tuples of int; found"):
        signature_of(wrong)  # type: ignore[arg-type]


def folder_now() -> Path:
    cache_folder.cache_clear()
    try:
        return cache_folder()
    finally:
        cache_folder.cache_clear()


def test_the_cache_is_where_the_user_keeps_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert folder_now() == tmp_path / "x" / "insertion-arena"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the XDG specification: to be ignored
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder_now() == tmp_path / ".cache" / "insertion-arena"


def test_a_home_that_cannot_be_written_leads_to_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder can be made in a file, not even by root")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = folder_now()
    assert folder == tmp_path / f"insertion-arena-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_temporary_folder_that_others_can_write_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shared = tmp_path / f"insertion-arena-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    folder = folder_now()
    assert folder != shared
    assert folder.parent == tmp_path


def test_a_user_without_a_home_has_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert folder_now() == tmp_path / f"insertion-arena-{os.getuid()}"
