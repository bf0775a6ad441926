"""The signals that stop a run: Ctrl-C, a terminal or session that closes, and who stops a service."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_BESIDES_CTRL_C = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

Handler = Callable[[int, FrameType | None], object]


def stop_signals(*, ctrl_c: bool = True) -> list[signal.Signals]:
    """The signals that stop this process: without SIGHUP where it is ignored, as under nohup."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    numbers = [number for number in _BESIDES_CTRL_C if number != signal.SIGHUP or not ignored]
    return [signal.SIGINT, *numbers] if ctrl_c else numbers


@contextmanager
def handled(
    handler: Handler | signal.Handlers, numbers: Sequence[signal.Signals] | None = None
) -> Iterator[None]:
    """Let `handler` take the stop signals, or only these `numbers`, inside the `with` statement."""
    before = [(number, signal.signal(number, handler)) for number in numbers or stop_signals()]
    try:
        yield
    finally:
        for number, old in before:
            signal.signal(number, old)


def interrupt(_number: int, _frame: object) -> NoReturn:
    """Raise KeyboardInterrupt, as Ctrl-C does."""
    raise KeyboardInterrupt
