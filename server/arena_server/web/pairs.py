"""Which games of a contest were played on the same deal, as the pages get it."""

from __future__ import annotations

from arena_server.web.archive import CHUNK
from arena_server.web.documents import encoded
from arena_server.web.shown_results import ShownResults


def pairs(archive: ShownResults, number: int, chunk: int) -> bytes:
    """Of the games of chunk `chunk` of `Archive.games`, as JSON. Raises NotFoundError.

    A row is [game id, the ids of the other games on its deal]; a game whose record may not be shown has none.
    It is read each time: a game that is over adds to the row of an earlier one.
    """
    return encoded([*archive.same_deals(number, chunk * CHUNK, CHUNK).items()])
