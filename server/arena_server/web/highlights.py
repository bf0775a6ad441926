"""The highlights of a contest as the site shows them: `contests/N/highlights.json`.

They are found on a thread of their own, from the records that may be seen by now; each record is read once. A
record that is withheld is asked for again when more results are there.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from threading import Lock
from typing import Any, Final

import msgpack

from arena_server.stats.highlights import Highlights, Ply, SeenGame, played_waves
from arena_server.store.chain import verify_checksum
from arena_server.store.game_reader import GameSummary
from arena_server.web.archive import Archive
from arena_server.web.documents import plain_seconds
from arena_server.web.filling import Filling
from arena_server.web.ratings import RatingDocuments
from arena_server.web.shown_results import NotFoundError, ShownResults

#: Records that are read before the thread sleeps.
PART: Final = 50
#: Contests whose highlights are kept.
KEPT: Final = 100


@dataclass(slots=True)
class _Known:
    """What was found in the games up to the place `last`, without those that are `withheld`."""

    last: int = 0
    #: How often results had been changed.
    changes: int = 0
    found: Highlights = field(default_factory=Highlights)
    withheld: dict[str, GameSummary] = field(default_factory=dict)


class HighlightDocuments:
    """The documents `contests/N/highlights.json`."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[ShownResults, int], _Known] = OrderedDict()
        self._filling = Filling("highlights", self.fill)
        #: Pages read what that thread writes.
        self._lock = Lock()

    async def get(
        self, archive: Archive, number: int, rated: Mapping[str, Any], document: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What is known after WAIT_S at most. Raises NotFoundError and StoreError.

        `rated` are the ratings as `RatingDocuments` has them, `document` is that of the contest.
        """
        whole = await self._filling.wait(archive, number)
        return self.document(archive, number, rated, document, whole=whole)

    def fill(self, archive: ShownResults, number: int, pause: float = 0.0) -> None:
        """Read the records that are new; on any thread, one at a time. Raises as `get` does.

        After each part the thread sleeps for `pause` times what it took.
        """
        last, changes = archive.shown_place(number)
        known = self._kept.setdefault((archive, number), _Known(changes=changes))
        self._kept.move_to_end((archive, number))
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        if (
            known.changes != changes or known.last > last
        ):  # results were changed, or an older database is here
            known = self._kept[archive, number] = _Known(changes=changes)
        asks = True
        while asks:
            began = time.perf_counter()
            self._read_part(archive, number, known, min(last, known.last + PART))
            asks = known.last < last
            if asks and pause:
                time.sleep(pause * (time.perf_counter() - began))

    def _read_part(self, archive: ShownResults, number: int, known: _Known, until: int) -> None:
        """Read the records up to the place `until`, and those that were withheld before."""
        games = archive.past(number, known.last, until)
        asked = {**known.withheld, **{game.game_id: game for game in games}}
        for game_id, record in archive.records(number, [*asked]):
            with suppress(ValueError):  # a damaged one is said on the page of its game
                played, waves = _read(asked[game_id], record)
                with self._lock:
                    known.found.add(played, waves)
            del asked[game_id]
        known.withheld, known.last = asked, until

    def document(
        self,
        archive: Archive,
        number: int,
        rated: Mapping[str, Any],
        document: Mapping[str, Any],
        *,
        whole: bool = True,
    ) -> dict[str, Any]:
        """The document; `whole` is false as long as there are records to be read."""
        known = self._kept.get((archive, number)) or _Known()
        ratings = {row["bot"]: row["rating"] for row in rated.get("ratings", ())}
        with self._lock:
            best = known.found.best(ratings, [row["bot"] for row in document["standings"]])
        return {"whole": whole, "games": known.found.games, "highlights": [asdict(each) for each in best]}

    def find(self, archive: Archive, number: int) -> dict[str, Any]:
        """The whole document, on this thread."""
        self.fill(archive, number)
        try:
            rated = RatingDocuments().find(archive, number)
        except NotFoundError:
            rated = {}
        return self.document(archive, number, rated, archive.contest(number))


def _read(game: GameSummary, record: bytes) -> tuple[SeenGame, Sequence[int]]:
    """The game with its result, and the waves of its plies. Raises ValueError for a damaged record."""
    # A whole decoding takes ten times as long, and checks what `arena verify` checks.
    plain = msgpack.unpackb(verify_checksum(record))
    plies = [Ply(ply[0], ply[1], ply[6], ply[7]) for ply in plain["plies"]]
    ruled = (tuple(plain["totals"]), plain["end"]) != (game.totals, game.end)
    played = SeenGame(
        game.game_id,
        game.names,
        game.totals,
        game.end,
        plain_seconds(game.stored_at),
        game.faults,
        plies,
        ruled,
    )
    return played, played_waves(plain, plies)
