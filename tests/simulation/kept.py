"""The oracle of what bots store: a model of its own, made of the lines that came and the results that count.

STORE without a game is kept at once; with the game that is played, when the result of that game is durable,
and never if the game is void. WELCOME has what is kept: also after a restart, which takes back at most what
has not been sent. All stored words are unlike each other, so a word says which version is kept.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from tests.simulation.leaks import Leaks

from arena_protocol.record import VOID, GameRecord
from arena_server.core.deal import game_id
from arena_server.core.facts import Kept, Staged
from arena_server.core.journal import KIND_OF, Entry, Past, fact_of

_STORE: Final = re.compile(rb"STORE 16 data=([0-9a-f]{32})(?: game=(g\d+))?")
_STORED: Final = b" stored="
_WORDS: Final = (KIND_OF[Kept], KIND_OF[Staged])


class Waiting(NamedTuple):
    """Bytes of the bot `name` that wait for the result of `game`."""

    name: str
    game: str
    data: bytes


class KeptBytes:
    """`require` raises Violation unless something holds; `leaks` learns each word that is stored."""

    def __init__(self, require: Callable[[bool, str], None], leaks: Leaks) -> None:
        #: How many STOREs were kept at once, with their game, and not, because it was void or over before.
        self.counted: Counter[str] = Counter()
        self._require = require
        self._leaks = leaks
        #: The bot and slot of each connection, and the game that it plays by the lines that it was sent.
        self._seats: dict[int, tuple[str, int]] = {}
        self._games: dict[int, str] = {}
        #: All versions of the bytes of each bot.
        self._versions: defaultdict[str, list[bytes]] = defaultdict(lambda: [b""])
        #: What each slot stores with its game, and the slot that has sent a word.
        self._waiting: dict[tuple[str, int], Waiting] = {}
        self._sent_by: dict[bytes, tuple[str, int]] = {}
        self._results: set[str] = set()
        #: The games whose records are being written; what comes with one of them is synced by none.
        self._recorded: set[str] = set()
        self._unsynced: set[bytes] = set()
        #: What was kept with each game, and what was last sent of a bot by WELCOME, or by OVER.
        self._with: defaultdict[str, list[Waiting]] = defaultdict(list)
        self._welcomed: dict[str, bytes] = {}
        self._over: dict[str, bytes] = {}

    # -- what comes to the contest

    def logged_in(self, conn: int, name: str, slot: int) -> None:
        self._seats[conn] = name, slot

    def came(self, conn: int, line: bytes) -> None:
        """A line of a connection that is open."""
        found = _STORE.fullmatch(line)
        if found is None or conn not in self._seats:
            return
        word, game = found.groups()
        seat, data = self._seats[conn], bytes.fromhex(word.decode("ascii"))
        self._leaks.hide(word, f"stored bytes of {seat[0]}")
        self._sent_by[data] = seat
        if game is not None and game.decode("ascii") in self._recorded:
            self._unsynced.add(data)
        if game is None:
            self._versions[seat[0]].append(data)
            self.counted["at once"] += 1
        elif (played := self._games.get(conn)) in self._results and played == game.decode("ascii"):
            self._versions[seat[0]].append(data)  # it reads slowly, and has no OVER yet
        elif played == game.decode("ascii"):
            self._waiting[seat] = Waiting(seat[0], game.decode("ascii"), data)
        else:
            self.counted["late"] += 1

    def recorded(self, game: str) -> None:
        """The record of a game is given to the disk."""
        self._recorded.add(game)

    def ended(self, game: str, records: Mapping[str, GameRecord]) -> None:
        """The record of a game is durable, and the contest gets Stored."""
        is_void = game not in records or records[game].end == VOID
        if not is_void:
            self._results.add(game)
        for seat, waiting in list(self._waiting.items()):
            if waiting.game == game:
                del self._waiting[seat]
                self.counted["void" if is_void else "with a game"] += 1
                if not is_void:
                    self._keep(waiting)

    def _keep(self, waiting: Waiting) -> None:
        self._versions[waiting.name].append(waiting.data)
        self._with[waiting.game].append(waiting)

    # -- what the contest decides

    def decided(self, entries: Iterable[Entry]) -> None:
        """These entries are about to be written: nothing is kept that the model has not."""
        for fact in _facts(entries):
            if isinstance(fact, Kept):
                known = fact.data in self._versions[fact.name]
                self._require(known, f"{fact.data.hex()} of {fact.name} is kept, and may not be")

    def answered(self, conn: int, data: bytes) -> None:
        """These lines will be sent, as all is now."""
        for line in data.splitlines():
            verb, *rest = line.split(b" ", 2)
            if verb == b"GAME" and b" seat=0 " not in line:
                self._games[conn] = rest[0].decode("ascii")
            elif verb == b"OVER":
                self._games.pop(conn, None)
            elif verb == b"WELCOME" and _STORED in line:
                name, stored = rest[0].decode("ascii"), line.partition(_STORED)[2]
                kept = self._versions[name][-1].hex()
                same = stored.decode("ascii") == kept
                self._require(same, f"{name} has stored {kept!r}, and gets {stored!r}")

    # -- what leaves

    def public(self, data: bytes) -> bytes:
        """These lines leave now; returns them without what only the receiver may know."""
        if b"OVER " not in data and _STORED not in data:
            return data
        for line in data.splitlines():
            verb, *rest = line.split(b" ", 2)
            if verb == b"OVER":
                for name, _, kept in self._with.pop(rest[0].decode("ascii"), ()):
                    self._over[name] = max(self._over.get(name, b""), kept, key=self._versions[name].index)
            elif verb == b"WELCOME" and _STORED in line:
                self._welcomed[rest[0].decode("ascii")] = bytes.fromhex(line.partition(_STORED)[2].decode())
        return b"\n".join(line.partition(_STORED)[0] for line in data.splitlines())

    # -- a restart

    def restarted(self, past: Past, power: bool) -> None:
        """The server was dead, and goes on from these facts: none may be older than what was sent."""
        self._seats.clear()
        self._games.clear()
        self._recorded.clear()
        if power:
            self._welcomed.clear()
            self._over = {name: data for name, data in self._over.items() if data not in self._unsynced}
        ends = {game.number: game.end for game in past.results}
        durable: dict[str, bytes] = {}
        staged: dict[int, Staged] = {}
        for fact in _facts(past.entries):
            if isinstance(fact, Kept):
                durable[fact.name] = fact.data
            elif fact.game:
                staged[fact.slot] = fact
            else:
                staged.pop(fact.slot, None)
        self._waiting.clear()
        late: list[Waiting] = []
        for fact in sorted(staged.values(), key=lambda each: each.game):
            waiting = Waiting(fact.name, game_id(fact.game), fact.data)
            if fact.game not in ends:
                self._waiting[self._sent_by[fact.data]] = waiting
            elif ends[fact.game] != VOID:
                late.append(waiting)  # it was killed between the result and what is kept with it
        for name in self._versions:
            self._set_back(name, durable.get(name, b""))
        for waiting in late:
            if waiting.data not in self._versions[waiting.name]:
                self._keep(waiting)
            else:
                self._set_back(waiting.name, waiting.data)
        for sent in (self._welcomed, self._over):
            for name, data in sent.items():
                self._require(data in self._versions[name], f"{data.hex()} of {name} was sent, and is lost")

    def _set_back(self, name: str, data: bytes) -> None:
        versions = self._versions[name]
        self._require(data in versions, f"{data.hex()} of {name} is durable, and was never kept")
        del versions[versions.index(data) + 1 :]


def _facts(entries: Iterable[Entry]) -> Iterable[Kept | Staged]:
    for entry in entries:
        if entry[1] in _WORDS:
            fact = fact_of(entry)
            assert isinstance(fact, Kept | Staged)
            yield fact
