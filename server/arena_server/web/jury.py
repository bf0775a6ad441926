"""The stored games that an order of the jury is about: the contest itself keeps no results."""

from __future__ import annotations

from arena_server.core.rulings import OF_A_GAME
from arena_server.errors import EmptyDatabaseError
from arena_server.stats.results import PastGame
from arena_server.store.database import Database


def games_about(database: Database, contest: str, verb: str, target: str) -> tuple[PastGame, ...]:
    """The games of an order to the contest of this name; none for any other order. It blocks.

    Raises StoreError.
    """
    if verb not in (*OF_A_GAME, "disqualify"):
        return ()
    from arena_server.store.reader import Results

    try:
        opened = Results(database)
    except EmptyDatabaseError:
        return ()
    with opened as results:
        found = results.latest(contest)
        if found is None:
            return ()
        about = target.partition(" ")[0]
        if verb == "disqualify":
            return tuple(game for game in results.games.past(found, bot=about) if about in game.names)
        return tuple(results.games.past(found, game_id=about))
