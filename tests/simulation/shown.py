"""The oracle of what may be seen when: its own rule, of nothing that the server decides by (`core/cut.py`).

A ply, the end of a game and a result are seen by others than the organiser when the spectator delay has
passed since they came about, and not from `freeze_at` on, until the contest is over. Of an anonymous contest
no result is seen before that, and no line has the name of a bot but that of its reader.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tests.simulation.network import MS

from arena_server.core.deal import game_id
from arena_server.core.journal import Entry
from arena_server.terms.config import ContestConfig

_WORDS: Final = re.compile(rb"[A-Za-z0-9_.-]+")
#: Statuses after which nothing is frozen any more.
OVER = ("finished", "incomplete", "short", "aborted")


class Cut:
    """What may be seen of a contest; `frozen_at` (ns) is in the time of the simulation."""

    def __init__(self, config: ContestConfig, frozen_at: int | None) -> None:
        self.delay = config.spectator_delay_ms * MS
        self.frozen_at = frozen_at
        self.anonymous = config.anonymous

    def may(self, came: int, now: int, *, over: bool, live: bool = True) -> bool:
        """Whether what came about at `came` may be seen at `now`; `live`: where running games are shown."""
        if over and not live:
            return True
        frozen = self.frozen_at is not None and came > self.frozen_at and not over
        return came + self.delay <= now and not frozen

    def may_result(self, came: int, now: int, *, over: bool, live: bool = True) -> bool:
        """The same of a result, which says who has played whom."""
        return (over or not self.anonymous) and self.may(came, now, over=over, live=live)


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


class HiddenNames:
    """The names of the bots of an anonymous contest, in lines to bots, to spectators and on the page."""

    def __init__(self, names: Iterable[str], require: Callable[[bool, str], None]) -> None:
        self._names = frozenset(name.encode("ascii") for name in names)
        self._require = require
        #: What each connection has called itself, and was welcomed as.
        self._readers: dict[int, bytes] = {}
        #: How many lines that name players were seen.
        self.seen = 0

    def came(self, conn: int, line: bytes) -> None:
        """A line comes on a connection: a refusal may have the name that HELLO has."""
        if line.startswith(b"HELLO 1 "):
            self._readers.setdefault(conn, line.split(b" ", 3)[2])

    def sent(self, conn: int, line: bytes) -> None:
        """A line leaves on a connection."""
        verb, *rest = line.split(b" ", 2)
        if verb == b"WELCOME":
            self._readers[conn] = rest[0]
        self._judge(line, self._readers.get(conn, b""), f"connection {conn}")

    def shown(self, line: bytes, channel: str = "the page") -> None:
        """A channel shows a line, or a document, of a game."""
        self._judge(line, b"", channel)

    def _judge(self, line: bytes, reader: bytes, channel: str) -> None:
        self.seen += line.startswith(b"GAME ")
        if not self._names:
            return
        found = self._names.intersection(_WORDS.findall(line)) - {reader}
        self._require(not found, f"{channel} is shown {sorted(found)} in {line!r}")
