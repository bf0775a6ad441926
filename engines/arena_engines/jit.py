"""Compile plain functions over integers with numba, callees included, and keep the code on disk.

A kernel is an ordinary Python function, and so is everything that it calls: the rules of insertion
are compiled from the functions that the referee runs. Each function is copied, with globals that lead to the
compiled copies of its callees, so no module is changed.

Every kernel has its own folder under the user's cache folder. Its name is a digest of the code and the
constants of all functions that the kernel can reach, of the compiler's version and of the processor that
the code is for, so a change anywhere below a kernel leads to a new folder and never to stale code.
Installations with the same code share the files, wherever they are; others neither read them nor wait for
each other. Code is for BASELINE wherever the processor has all of it: so it may be compiled when an image is
built, or copied, and is found on nearly every machine. Elsewhere it is for the very processor.

    files there -> load them, without a lock
    else        -> one process locks the folder and compiles, others with the same code wait and load

Importing this module does not import numba; the first `compiled(...)` does.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import logging
import os
import platform
import shutil
import tempfile
import threading
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from arena_engines.engine import EngineError
from arena_protocol.errors import needs_extra

P = ParamSpec("P")
R = TypeVar("R")

#: Compiled code is kept under this name in the user's cache folder.
FOLDER = "insertion-arena"
#: A level of the x86-64 psABI, with AVX2; measured here: as fast as code for the processor itself.
BASELINE = "x86-64-v3"
#: What that level has, in the names of LLVM; its lower levels are in it.
_OF_BASELINE = (
    *("cx8", "cmov", "fxsr", "mmx", "sse", "sse2"),
    *("cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"),
    *("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
)
#: Options of numba.njit; part of the digest. `nogil`: a search runs beside an event loop. `_nrt`, numba's
#: memory management: kernels make no arrays, so no references are counted; counting took a quarter of the
#: time of kernels that pass arrays on.
FLAGS = {"nogil": True, "_nrt": False}
#: Options of what only compiled functions call: it is not made callable from Python or C, which takes a fifth
#: of the time of compiling. The machine code of a kernel is the same, so these are no part of the digest.
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

#: The compiled code of a kernel is below its folder, beside the lock.
CODE = "machine-code"
#: How the messages about a compilation and about a wait begin.
COMPILING = "compiling"
WAITING = "waiting for another process, which compiles"

logger = logging.getLogger("arena_engines")

_one_thread = threading.RLock()
_outlined: set[Callable[..., Any]] = set()


def outlined(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function that kernels call instead of inlining it.

    For a large function with several callers: each inlined copy would be compiled again, and a loop that
    the compiler turns into vector code may be unrolled instead once its bounds are known.
    """
    _outlined.add(function)
    return function


def compiled(kernel: Callable[P, R], signature: str | None = None) -> Callable[P, R]:
    """Return the kernel as machine code, from the disk if this code was compiled here before.

    Args:
        kernel: a plain function that calls plain functions only and uses no mutable global:
            constants are frozen when it is compiled. A function that calls itself must not do so with
            a constant argument: numba compiles that call as another version, whose call of the
            first one is a null pointer once the code is loaded from the disk.
        signature: numba's notation of the types. None reads it from the annotations, where `int` means
            int64 (so no value may exceed 64 bits) and `tuple[int, ...]` of fixed length means a
            tuple of int64.

    Raises:
        EngineError: numba is not installed.

    """
    with _one_thread:
        return cast("Callable[P, R]", _compiled(cast(FunctionType, kernel), signature))


@cache
def _compiled(kernel: FunctionType, signature: str | None) -> Callable[..., Any]:
    numba = _numba()
    if numba.config.DISABLE_JIT:
        return kernel
    types = signature or signature_of(kernel)
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__qualname__}"
    folder = cache_folder() / f"{name}-{digest(kernel, types, _machine())}"
    # A file cut short by a crash or a full disk can raise anything when it is unpickled. The kernel is then
    # compiled again; a failure of the compiler is a real error.
    if _is_kept(folder):
        with contextlib.suppress(Exception):
            return _load_or_compile(numba, kernel, types, folder)
    with _writing(folder, name):
        if _is_kept(folder):  # by the process that had the lock before
            with contextlib.suppress(Exception):
                return _load_or_compile(numba, kernel, types, folder)
            shutil.rmtree(folder / CODE, ignore_errors=True)
        # A warning, because it explains seconds of silence also where nothing configures logging.
        logger.warning("%s %s, once for this code and processor", COMPILING, name)
        return _load_or_compile(numba, kernel, types, folder)


def _is_kept(folder: Path) -> bool:
    """Whether a kernel has been compiled here; numba writes the index (.nbi) before the code (.nbc)."""
    return any((folder / CODE).glob("*.nbc"))


def _numba() -> Any:
    try:
        numba = importlib.import_module("numba")
    except ImportError as error:
        raise EngineError(needs_extra("this engine", "engines")) from error
    # Who sets one of them in the environment has chosen. It has no effect once numba has compiled something.
    if (numba.config.CPU_NAME, numba.config.CPU_FEATURES) == (None, None):
        features = importlib.import_module("llvmlite.binding").get_host_cpu_features()
        if has_baseline(platform.machine(), features):
            numba.config.CPU_NAME, numba.config.CPU_FEATURES = BASELINE, ""
    return numba


def has_baseline(machine: str, features: Mapping[str, bool]) -> bool:
    """Whether code for BASELINE runs on a processor with these features, by their names in LLVM."""
    return machine in ("x86_64", "AMD64") and all(features.get(name) for name in _OF_BASELINE)


def _load_or_compile(numba: Any, kernel: FunctionType, types: str, folder: Path) -> Callable[..., Any]:
    dispatcher = _copies(numba, kernel)[kernel]
    dispatcher._cache = _cache_in(folder / CODE)(dispatcher.py_func)
    dispatcher.compile(types)
    dispatcher.disable_compile()
    return cast("Callable[..., Any]", dispatcher)


def _cache_in(folder: Path) -> type[Any]:
    """Return numba's cache of functions, with its files in `folder`.

    numba's own locators put the path of the source, its line and a digest of the file into the names: then a
    copy of the project, or a comment above the kernel, would compile again what our digest says is equal.
    """
    caching = importlib.import_module("numba.core.caching")

    class Locator:
        @classmethod
        def from_function(cls, function: FunctionType, file: str) -> Locator:
            return cls()

        def ensure_cache_path(self) -> None:
            folder.mkdir(parents=True, exist_ok=True)

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return folder.parent.name

        def get_disambiguator(self) -> str:
            return ""

    implementation = type(
        "Implementation", (caching.CompileResultCacheImpl,), {"_locator_classes": [Locator]}
    )
    return type("Cache", (caching.FunctionCache,), {"_impl_class": implementation})


def _copies(numba: Any, kernel: FunctionType) -> dict[FunctionType, Any]:
    """Return a compiled copy of every function that the kernel reaches, each calling the others' copies."""
    namespaces: dict[FunctionType, dict[str, Any]] = {}
    copies: dict[FunctionType, Any] = {}
    for function in reachable(kernel):
        namespaces[function] = {"__name__": function.__module__, "__builtins__": __builtins__}
        copy = FunctionType(function.__code__, namespaces[function], function.__name__, function.__defaults__)
        copy.__qualname__ = function.__qualname__
        # Inlining everything is worth a quarter of the speed; recursive functions cannot be inlined.
        inline = not (function is kernel or function in _below(function) or function in _outlined)
        own = {} if function is kernel else INNER
        copies[function] = numba.njit(forceinline=inline, **FLAGS, **own)(copy)
        if function in _outlined:
            _for_any_number(numba, copies[function])
    for function, namespace in namespaces.items():
        for name, value in _globals_used(function):
            namespace[name] = copies[value] if isinstance(value, FunctionType) else value
    return copies


def _for_any_number(numba: Any, dispatcher: Any) -> None:
    """Keep numba from compiling a function again for each constant argument."""
    template = dispatcher.get_call_template

    def without_literals(args: Any, kws: Any) -> Any:
        return template([numba.types.unliteral(each) for each in args], kws)

    dispatcher.get_call_template = without_literals


def _globals_used(function: FunctionType) -> Iterator[tuple[str, object]]:
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _below(function: FunctionType) -> tuple[FunctionType, ...]:
    """Return every function that this one can call, directly or not; itself only if it recurses."""
    found: dict[FunctionType, None] = {}
    waiting = [function]
    while waiting:
        for _, value in _globals_used(waiting.pop()):
            if isinstance(value, FunctionType) and value not in found:
                found[value] = None
                waiting.append(value)
    return tuple(found)


def reachable(kernel: FunctionType) -> tuple[FunctionType, ...]:
    """Return the kernel and every plain function that it can call, the kernel first."""
    return (kernel, *(function for function in _below(kernel) if function is not kernel))


def signature_of(kernel: FunctionType) -> str:
    """Return numba's notation of a kernel's annotations: `int64(int64, int64)`.

    Raises TypeError for an annotation other than `int` and a fixed tuple of `int`.
    """
    hints = typing.get_type_hints(kernel)
    result = _type_text(kernel, hints.pop("return", None))
    return f"{result}({', '.join(_type_text(kernel, hint) for hint in hints.values())})"


def _type_text(kernel: FunctionType, hint: object) -> str:
    if hint is int:
        return "int64"
    parts = typing.get_args(hint)
    if typing.get_origin(hint) is tuple and parts and all(part is int for part in parts):
        return f"UniTuple(int64, {len(parts)})"
    raise TypeError(f"{kernel.__name__}: a kernel takes int and tuples of int; found {hint!r}")


def digest(kernel: FunctionType, *more: str) -> str:
    """Return 16 hex digits of the code and constants of all functions that the kernel reaches."""
    total = hashlib.sha256(repr((more, sorted(FLAGS.items()))).encode())
    for function in reachable(kernel):
        facts = (function.__qualname__, function.__defaults__, function in _outlined)
        total.update(repr(facts).encode())
        total.update(_code_text(function.__code__).encode())
        for name, value in _globals_used(function):
            total.update(
                f"{name}={value.__qualname__ if isinstance(value, FunctionType) else value!r};".encode()
            )
    return total.hexdigest()[:16]


def _code_text(code: CodeType) -> str:
    """Return what decides a code object's behaviour, without line numbers and file name."""
    constants = [_code_text(part) if isinstance(part, CodeType) else repr(part) for part in code.co_consts]
    return repr((code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars))


def _machine() -> str:
    """Return compiler, interpreter and processor: machine code is valid for one combination of them."""
    versions = [importlib.import_module(name).__version__ for name in ("numba", "llvmlite")]
    # What numba compiles for, with which it names its files, too.
    codegen = importlib.import_module("numba.core.registry").cpu_target.target_context.codegen()
    return repr((versions, platform.python_version(), platform.machine(), codegen.magic_tuple()))


@cache
def cache_folder() -> Path:
    """Return the cache folder: in `$XDG_CACHE_HOME` or `~/.cache`, else a temporary one."""
    for folder in (_user_folder(), _shared_temporary_folder()):
        if folder is not None and _is_ours(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix=f"{FOLDER}-"))


def _user_folder() -> Path | None:
    given = os.environ.get("XDG_CACHE_HOME", "")
    # The specification of XDG has a relative path ignored.
    if given and Path(given).is_absolute():
        return Path(given) / FOLDER
    with contextlib.suppress(RuntimeError):  # a user without a home
        return Path.home() / ".cache" / FOLDER
    return None


def _shared_temporary_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"{FOLDER}-{_user()}"


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_ours(folder: Path) -> bool:
    """Create the folder if missing. False if it cannot be written, or if another user could write into it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        facts = folder.stat()
    except OSError:
        return False
    # What is loaded from there runs with the rights of this user.
    return not hasattr(os, "getuid") or (facts.st_uid == os.getuid() and not facts.st_mode & 0o022)


@contextlib.contextmanager
def _writing(folder: Path, name: str) -> Iterator[None]:
    """Let one process at a time compile into a folder; the others say so and wait."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as handle:
        # Without a lock (another system, a network disk) two processes may compile the same code;
        # numba replaces files atomically, so either result is complete.
        with contextlib.suppress(ImportError, OSError):
            fcntl = importlib.import_module("fcntl")
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                logger.warning("%s %s", WAITING, name)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
