"""A Python interpreter that has imported modules, and forks: each fork runs one program and ends.

    python -P -m arena_server.places.fork_server FD MODULE ...        started by `forks.ForkServer`

Requests and answers are messages of JSON on the Unix socket FD. A request comes with the descriptors of its
stdout and stderr:

    {"number": 1, "command": [FILE or [-P] -m MODULE, ...], "environment": {...}, "cores": [...]}
    {"number": 1, "pid": ...}               it runs, in a process group of its own
    {"number": 1, "status": ...}            it has ended; a negative status is the signal that killed it

The fork server itself runs nothing of a program, so a fork has nothing of the ones before it. At the end of
the socket it kills all that is left of its forks.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType, TracebackType
from typing import Any, Final

#: The longest request: what a socket holds of one message.
REQUEST_BYTES: Final = 100_000
#: prctl(2): the signal that this process gets at the end of its parent.
_PR_SET_PDEATHSIG: Final = 1


@dataclass
class _ForkServer:
    """Forks for each request. `serve` returns the request in a fork, and None at the end of the socket."""

    sock: socket.socket
    #: The number of the request of each fork, by its process.
    forks: dict[int, int] = field(default_factory=dict)

    def serve(self) -> dict[str, Any] | None:
        woken, wake = socket.socketpair()
        for end in (woken, wake):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno())
        with selectors.DefaultSelector() as selector:
            selector.register(self.sock, selectors.EVENT_READ)
            selector.register(woken, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is woken:
                        woken.recv(1024)
                        self._reap()
                        continue
                    data, descriptors = self._receive()
                    if not data:
                        self._kill()
                        return None
                    request: dict[str, Any] = json.loads(data)
                    if not self._fork(request["number"], descriptors):
                        signal.set_wakeup_fd(-1)
                        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                        for each in (woken, wake, self.sock):
                            each.close()
                        return request

    def _receive(self) -> tuple[bytes, list[int]]:
        """The next request with its descriptors; nothing at the end."""
        with suppress(ConnectionResetError):  # who closed the socket had not read all answers
            data, descriptors, _, _ = socket.recv_fds(self.sock, REQUEST_BYTES, 2)
            return data, descriptors
        return b"", []

    def _fork(self, number: int, descriptors: list[int]) -> int:
        """Return the process of the fork; 0 in the fork, with its output in its place."""
        if not (pid := os.fork()):
            os.setpgid(0, 0)
            for descriptor, place in zip(descriptors, (1, 2), strict=True):
                os.dup2(descriptor, place)
                os.close(descriptor)
            return 0
        with suppress(OSError):  # also here: who gets the answer may kill the group at once
            os.setpgid(pid, pid)
        for descriptor in descriptors:
            os.close(descriptor)
        self.forks[pid] = number
        self._answer(number, "pid", pid)
        return pid

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                self._answer(self.forks.pop(found[0]), "status", os.waitstatus_to_exitcode(found[1]))

    def _kill(self) -> None:
        for pid in self.forks:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def _answer(self, number: int, key: str, value: int) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            self.sock.send(json.dumps({"number": number, key: value}).encode())


def become(request: dict[str, Any]) -> None:
    """Run the program of a request as a new interpreter would."""
    os.environ.clear()
    os.environ.update(request["environment"])
    if request["cores"]:
        os.sched_setaffinity(0, request["cores"])
    sys.excepthook = _print_exception
    program, *arguments = request["command"]
    safe = program == "-P"
    if safe:
        program, *arguments = arguments
    if program == "-m":
        module, *arguments = arguments
        if not safe:
            sys.path.insert(0, os.getcwd())
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return
    sys.argv = [program, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.realpath(program)))
    main = ModuleType("__main__")
    main.__file__ = program
    main.__dict__["__builtins__"] = builtins  # else it is a dictionary
    sys.modules["__main__"] = main
    with open(program, "rb") as file:
        code = compile(file.read(), program, "exec", dont_inherit=True)
    exec(code, main.__dict__)  # noqa: S102 - the program of a bot


def _print_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback that begins in the program."""
    ours = (__file__, runpy.__file__, "<frozen runpy>")
    while trace is not None and trace.tb_frame.f_code.co_filename in ours:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


def outlive_no_parent() -> None:
    """Let this process go on when its parent ends: one that someone has stopped would not see that end.

    Who calls it ends at the end of a pipe or a socket. Not SIGKILL: it ends what it has started itself.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def main() -> None:
    outlive_no_parent()
    for name in sys.argv[2:]:
        import_module(name)
    # What is imported is never garbage: a collection in a fork would copy its pages.
    gc.collect()
    gc.freeze()
    request = _ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
    if request is not None:
        become(request)


if __name__ == "__main__":
    main()
