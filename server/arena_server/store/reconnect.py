"""A store whose connection to PostgreSQL may be lost: it is opened again, and nothing is written twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from arena_server.store.contest_store import ContestStore
from arena_server.store.database import Database, is_lost
from arena_server.store.reopening import ReopenedStore

#: How long a lost database may stay away, and how often it is looked for. A standby takes over in this time.
PATIENCE_S: Final = 60.0
STEP_S: Final = 0.5


class LastingStore:
    """Use it in a `with` statement, on one thread.

    `rejoined(seconds, cause)` is called after a loss; the cause is the error of the driver.
    """

    def __init__(
        self,
        database: Database,
        rejoined: Callable[[float, BaseException], None],
        lost: Callable[[BaseException], bool] = is_lost,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """`wake` is as in `ReopenedStore`."""
        self._database: Final = database
        self._wake: Final = wake
        self._rejoined = rejoined
        self._is_lost = lost
        self._now = now
        self._sleep = sleep
        self.store = ReopenedStore(database, wake)

    def __enter__(self) -> Self:
        self.store.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.__exit__(kind, error, trace)

    def once(self, work: Callable[[ContestStore], None]) -> None:
        """Have `work` done once, which commits no more than one transaction that must not be repeated.

        It is called again where its transaction was lost with the connection. Raises what it raises for other
        reasons, the error of the database after PATIENCE_S, and StoreError as `ContestStore.rejoin`.
        """
        while True:
            self.store.fence.begin()
            try:
                work(self.store)
            except Exception as error:
                if not self._is_lost(error):
                    raise
                if not self._rejoin(error):
                    continue
            return

    def _rejoin(self, cause: Exception) -> bool:
        """Open another store. Return whether the last transaction of the lost one is durable."""
        begun = self._now()
        lost = self.store
        with suppress(Exception):  # its connection is gone, and takes no leave
            lost.__exit__(type(cause), cause, None)
        while True:
            try:
                durable = self._open(lost)
            except Exception as error:
                away = isinstance(error, ConnectionError) or self._is_lost(error)
                if not away or self._now() - begun >= PATIENCE_S:
                    raise
            else:
                self._rejoined(self._now() - begun, getattr(cause, "orig", None) or cause)
                return durable
            self._sleep(STEP_S)

    def _open(self, lost: ContestStore) -> bool:
        store = ReopenedStore(self._database, self._wake)
        store.__enter__()
        try:
            durable = store.rejoin(lost)
        except BaseException as error:
            with suppress(Exception):
                store.__exit__(type(error), error, None)
            raise
        self.store = store
        return durable
