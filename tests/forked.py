"""`arena` commands as processes of their own that import nothing: a process that has imported all forks them.

`Arena` is `subprocess.Popen` for these: its process has its own pipes, folder, environment, signals and
status. The start of `arena serve` takes 0.05 s of processor time instead of 0.45 s. What a test has to say
of the start itself is said of `python -m arena_cli`. The commands that such a process starts in turn, as a
tournament its server and engines, are its forks.

This file is also the program that forks. It has one thread, so that no lock is held in a child for ever.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType
from typing import Any

#: What the commands import when they run: a fork that finds it loaded takes half the processor time.
MODULES = (
    "arena_cli.admin_contests",
    "arena_cli.bot",
    "arena_cli.invitations",
    "arena_cli.serve",
    "arena_server.host",
    "arena_server.host.stages",
    "arena_server.store.contest_store",
    "arena_server.places.reporter",
    "arena_server.web.app",
    "arena_server.web.metrics",
    "arena_server.web.thread",
    "arena_server.webhooks.observer",
    "arena_cli.export",
    "arena_cli.match",
    "arena_cli.play",
    "arena_cli.progress",
    "arena_cli.replay",
    "arena_cli.seat_check",
    "arena_cli.standings",
    "arena_cli.tournament",
    "arena_cli.verification",
    "arena_cli.verify",
    "arena_client.scripted",
    "encodings.idna",
    "rich.live",
    "sqlalchemy.dialects.sqlite",
    "uvicorn.protocols.http.h11_impl",
)
#: The size of a process number and of a wait status on the pipe.
WORD = 4
#: No command line and no environment is longer.
LONGEST = 1 << 20


@cache
def _forker() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The process that forks, and the way to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # a ctrl-C in the terminal is for the tests
        )
    return process, ours


def end() -> None:
    """End the process that forks, if there is one. The next one imports from its current folder."""
    if _forker.cache_info().currsize:
        process, ours = _forker()
        ours.close()
        process.wait()
        _forker.cache_clear()


class Arena(subprocess.Popen[str]):
    """`python -m arena_cli ARGUMENTS`. Takes of `Popen`'s options the pipes, `cwd` and `env`."""

    def __init__(self, arguments: Sequence[str], **options: Any) -> None:
        assert options.keys() <= {"stdin", "stdout", "stderr", "cwd", "env"}
        super().__init__(arguments, text=True, **options)

    # Popen forks in this method: its pipes, `communicate` and all else are used as they are.
    def _execute_child(self, args: Sequence[str], *more: Any) -> None:
        cwd, env, pipes = more[4], more[5], more[9:15]
        words = [list(args), os.path.abspath(cwd or os.curdir), dict(os.environ if env is None else env)]
        theirs = [
            number if each == -1 else each for number, each in enumerate((pipes[0], pipes[3], pipes[5]))
        ]
        self._status, status = os.pipe()
        try:
            socket.send_fds(_forker()[1], [json.dumps(words).encode()], [*theirs, status])
        finally:
            os.close(status)
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
        self.pid = self._word()
        self._child_created = True

    def _word(self) -> int:
        data = os.read(self._status, WORD)
        assert data, "the process that forks has ended"
        return int.from_bytes(data, sys.byteorder)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """As `os.waitpid` of a child, which it is not."""
        if wait_flags & os.WNOHANG and not select.select([self._status], [], [], 0)[0]:
            return 0, 0
        status = self._word()
        os.close(self._status)
        return self.pid, status

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def fork_on_request(requests: socket.socket) -> None:
    """Fork for each request and report how each child ended. Returns in a child, to run its command."""
    children: dict[int, int] = {}  # the pipe to which the status of each goes
    awake, wake = socket.socketpair()
    awake.setblocking(False)
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    while True:
        ready, _, _ = select.select([requests, awake], [], [])
        if awake in ready:
            awake.recv(LONGEST)
            report(children)
        if requests in ready:
            data, files, _, _ = socket.recv_fds(requests, LONGEST, 4)
            if not data:
                sys.exit()
            child = os.fork()
            if not child:
                signal.set_wakeup_fd(-1)
                for each in (requests, awake, wake):
                    each.close()
                become(files, *json.loads(data))
                for number in (*files, *children.values()):
                    os.close(number)
                return
            for number in files[:3]:
                os.close(number)
            children[child] = files[3]
            os.write(files[3], child.to_bytes(WORD, sys.byteorder))


def report(children: dict[int, int]) -> None:
    """Write the status of each child that has ended to its pipe."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            pipe = children.pop(ended[0])
            with suppress(BrokenPipeError):  # it is not waited for
                os.write(pipe, ended[1].to_bytes(WORD, sys.byteorder))
            os.close(pipe)


def become(files: Sequence[int], arguments: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
    """Take over what the command would find at its start."""
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    by_line = sys.stdout.isatty() or bool(env.get("PYTHONUNBUFFERED"))
    sys.stdout.reconfigure(line_buffering=by_line)  # type: ignore[union-attr]
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path[0] = cwd
    sys.argv = ["arena", *arguments]


def fork_children() -> None:
    """Fork the `arena` commands that this process will start; each is its child, as if it were executed.

    Only for `arena tournament`: a fork of a server, which has more threads, could wait for a lock for ever.
    """
    from arena_cli.workers import ARENA

    execute = subprocess.Popen._execute_child  # type: ignore[attr-defined]

    def fork_or_execute(process: Any, args: Sequence[str], *more: Any) -> None:
        if tuple(args[: len(ARENA)]) != ARENA:
            execute(process, args, *more)
            return
        cwd, env, pipes, new_session = more[4], more[5], more[9:15], more[20]
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings(action="ignore"):  # of the threads that wait for other children
            process.pid = os.fork()
        if process.pid:
            process._child_created = True
            process._close_pipe_fds(*pipes)
            return
        subprocess.Popen._execute_child = execute  # type: ignore[attr-defined]
        if new_session:
            os.setsid()
        files = [number if each == -1 else each for number, each in enumerate((pipes[0], pipes[3], pipes[5]))]
        become(
            files,
            args[len(ARENA) :],
            os.path.abspath(cwd or os.curdir),
            dict(os.environ if env is None else env),
        )
        run_and_exit()

    subprocess.Popen._execute_child = fork_or_execute  # type: ignore[attr-defined]


def run_and_exit() -> None:
    """Run the command of `sys.argv` in a fork of a process with a loop, of which nothing may go on."""
    from arena_cli import main as arena

    with suppress(OSError):  # its command line is that of the first process
        Path("/proc/self/comm").write_text(" ".join(sys.argv[:2]), encoding="ascii")
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    asyncio._set_running_loop(None)
    status = 1
    try:
        arena()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


#: The bots of the server never come. Engines whose games a database keeps would be two processes more.
CONTEST = '[contest]\nname = "a"\n[server]\n[[bot]]\nname = "a"\n[[bot]]\nname = "b"\n'
WARM_UP = (
    ("tournament", "no such file"),
    ("bot", "no such engine"),
    ("serve", "a.toml", "--port", "0", "--database", "sqlite:///a.db"),
    ("match", "random", "random", "--deals", "1", "--option", "plies=2"),
    ("standings", "--database", "sqlite:///a.db"),
)


class Stopping(io.StringIO):
    """The output of a server that gets a signal once it listens."""

    def write(self, text: str) -> int:
        if text.startswith("listening on"):
            signal.raise_signal(signal.SIGTERM)
        return super().write(text)


def keeping(build: Callable[..., Any]) -> Callable[..., Any]:
    """`build`, which keeps the command of a function: to build it takes a third of the time of a short one.

    That of a group is built each time, from an object of its own.
    """
    once = cache(build)
    return lambda name, what: (once if isinstance(what, FunctionType) else build)(name, what)


def warm_up(arena: Callable[[], None]) -> None:
    """Make once what each process makes at its first use: half of what a short command does.

    These are the options of typer, the fields of pydantic, the texts of SQLAlchemy, the scripts of the pages.
    """
    from tests import statements

    from arena_cli import app
    from arena_server.web.bundle import PAGES, site_files

    app._built = keeping(app._built)
    statements.share(setattr)
    site_files(PAGES, PAGES)
    here = os.getcwd()
    with TemporaryDirectory() as folder, redirect_stdout(Stopping()), redirect_stderr(io.StringIO()):
        os.chdir(folder)
        Path("a.toml").write_text(CONTEST, encoding="utf-8")
        for command in WARM_UP:
            sys.argv = ["arena", *command]
            with suppress(SystemExit):
                arena()
        os.chdir(here)
    assert threading.active_count() == 1, "expected one thread, which may fork"


def main() -> None:
    requests = socket.socket(fileno=int(sys.argv[1]))
    sys.path[0] = os.getcwd()
    for name in MODULES:
        importlib.import_module(name)
    from arena_cli import main as arena

    warm_up(arena)
    gc.freeze()
    fork_on_request(requests)
    if sys.argv[1:2] == ["tournament"]:
        fork_children()
    try:
        arena()
    except SystemExit as end:
        end_now(end)
        raise


def end_now(end: SystemExit) -> None:
    """End as the interpreter would. It would take 0.06 s to free objects that the parent has, too.

    Returns, for the interpreter to do it, if there is more to do than to flush.
    """
    if isinstance(end.code, int) and threading.active_count() == 1:
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code)


if __name__ == "__main__":
    main()
