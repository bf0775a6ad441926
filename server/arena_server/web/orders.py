"""Orders of the organiser over HTTP: as they come, the games they are about, and as they are read later."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from arena_server.core.facts import Order
from arena_server.core.rulings import OF_A_GAME
from arena_server.errors import EmptyDatabaseError
from arena_server.stats.results import PastGame
from arena_server.store.database import Database

#: The longest body of an order in bytes; real ones have about 50.
ORDER_BYTES = 4096
#: The texts of an order, and how many characters each may have.
ORDER_KEYS = {
    "contest": 100,
    "verb": 100,
    "target": 3000,  # a round of pairs
    "by": 60,
    "reason": 300,
    "owner": 60,
    "author": 60,
    "language": 60,
    "url": 200,
    "confirmed": 3,
    "renew": 3,
    "approval": 3,
}
#: The value of `confirmed`, `renew` and `approval`.
YES = "yes"
ORDER_FORM = '{"verb": "...", "target": "...", "by": "...", "reason": "..."}, texts of one line'


#: The texts that come with a contest that is added, beside its own.
FILE_KEYS = {"contest": 100, "file": 300, "by": 60}


def parse_file(body: bytes) -> dict[str, str] | None:
    """The texts of a contest that is added, `file` and `text` among them; None if it is none."""
    try:
        found = json.loads(body)
        text = found.pop("text")
    except (ValueError, RecursionError, LookupError, AttributeError, TypeError):
        return None
    given = parse_texts(json.dumps(found).encode(), FILE_KEYS)
    return (
        None if given is None or "file" not in given or not isinstance(text, str) else given | {"text": text}
    )


def parse_order(body: bytes) -> dict[str, str] | None:
    """The texts of an order by their keys, `verb` among them; None if it is no order."""
    order = parse_texts(body, ORDER_KEYS)
    return None if order is None or "verb" not in order else order


def parse_texts(body: bytes, keys: Mapping[str, int]) -> dict[str, str] | None:
    """The texts of a JSON object by their keys; None if it has others, or longer ones than `keys` has."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    given = {key: value for key, value in found.items() if value is not None}
    known = all(key in keys and _is_text(value, keys[key]) for key, value in given.items())
    return given if known else None


def _is_text(value: object, most: int) -> bool:
    return isinstance(value, str) and len(value) <= most and value.isprintable()


def order_json(order: Order) -> dict[str, Any]:
    """An order in the types of JSON; `at` is a moment in UTC."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(order.at // 1000))
    return {**order._asdict(), "at": at}


def games_about(database: Database, contest: str, verb: str, target: str) -> tuple[PastGame, ...]:
    """The games of an order to the contest of this name, which keeps no results; none for any other order.

    It blocks. Raises StoreError.
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
