"""The writer of a contest that keeps nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena_protocol.record import GameRecord
from arena_server.core.journal import Entry
from arena_server.terms.config import ContestConfig


class UnkeptWriter:
    """`Writer` of a contest whose results are reported and read nowhere later: nothing outlives its server.

    What it is given is reported at once, as if it were durable; `committed` is called within `store`.
    """

    def __init__(self, found: Callable[[None], None], committed: Callable[[int, list[str]], None]) -> None:
        self._found = found
        self._committed = committed
        self._appended = 0

    def start(self) -> None:
        self._found(None)

    def enter(self, config: ContestConfig, done: Callable[[], None] = lambda: None) -> None:
        done()

    def append(self, entries: Sequence[Entry]) -> bool:
        self._appended += 1
        return True

    def store(self, game_id: str, record: GameRecord) -> None:
        self._committed(self._appended, [game_id])

    def end(self, status: str, done: Callable[[], None] = lambda: None, ago: int = 0) -> None:
        done()

    def close(self) -> None:
        pass
