"""The oracle of what may be seen when: its own rule, of nothing that the server decides by (`core/cut.py`).

A ply, the end of a game and a result are seen by others than the organiser when the spectator delay has
passed since they came about, and not from `freeze_at` on, until the contest is over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from tests.simulation.network import MS

from arena_server.core.deal import game_id
from arena_server.core.journal import Entry
from arena_server.terms.config import ContestConfig

#: Statuses after which nothing is frozen any more.
OVER = ("finished", "incomplete", "short", "aborted")


class Cut:
    """What may be seen of a contest; `frozen_at` (ns) is in the time of the simulation."""

    def __init__(self, config: ContestConfig, frozen_at: int | None) -> None:
        self.delay = config.spectator_delay_ms * MS
        self.frozen_at = frozen_at

    def may(self, came: int, now: int, *, over: bool, live: bool = True) -> bool:
        """Whether what came about at `came` may be seen at `now`; `live`: where running games are shown."""
        if over and not live:
            return True
        frozen = self.frozen_at is not None and came > self.frozen_at and not over
        return came + self.delay <= now and not frozen


class ShownLines:
    """The lines of games that spectators get, each against the moment at which it came about."""

    def __init__(self, require: Callable[[bool, str], None]) -> None:
        self.cut: Cut | None = None
        self._require = require
        #: When each game was offered, each of its plies was played, and it ended.
        self._offered: dict[str, int] = {}
        self._plies: defaultdict[str, list[int]] = defaultdict(list)
        self._ended: dict[str, int] = {}

    def came_about(self, entries: Sequence[Entry], now: int) -> None:
        """The core has decided these facts."""
        for number, word, *_ in entries:
            match word:
                case "offer":
                    self._offered.setdefault(game_id(number), now)
                case "ply":
                    self._plies[game_id(number)].append(now)
                case "end":
                    self._ended[game_id(number)] = now

    def restarted(self, entries: Sequence[Entry], results: set[str]) -> None:
        """The server was killed, and goes on from these entries: what is not among them has not been."""
        for name in [name for name in self._plies if name not in results]:
            del self._plies[name][sum(game_id(entry[0]) == name and entry[1] == "ply" for entry in entries) :]

    def seen(self, line: bytes, game: str, now: int) -> None:
        """A spectator is sent a line about a game, or the page shows it."""
        match line.split(b" ", 2):
            case [b"GAME", *_]:
                came = self._offered.get(game)
            case [b"PLAYED", ply, *_]:
                came = self._plies[game][int(ply) - 1]
            case [b"OVER", *_]:
                came = self._ended.get(game)
            case _:
                return
        if came is not None and self.cut is not None:
            word = line.decode("ascii").partition(" game=")[0]
            may = self.cut.may(came, now, over=False)
            self._require(may, f"{game}: {word!r} of {came / 1e9:.6f} s is shown before its time")
