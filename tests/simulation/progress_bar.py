"""A progress bar on stderr for `make simulate`; a plain line now and then where stderr is no terminal."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

#: Seconds between two plain lines.
LINE_S = 5.0


class ProgressBar:
    """Counts to `total`; use it in a `with` statement."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            TextColumn(what),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(what, total=total)
        self._next_line = time.monotonic() + LINE_S

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, count: int) -> None:
        """Show that `count` of `total` are done."""
        self._bar.update(self._task, completed=min(count, self._total))
        if not self._console.is_terminal and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINE_S
            self._console.print(f"{count:,} of {self._total:,} {self._what}", markup=False)
