"""What a database says of one bot: what its author says of it, its contests and its newest games."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from sqlalchemy import Text, cast, null, select
from sqlalchemy.orm import Session

from arena_protocol.record import VOID
from arena_server.core.facts import ContestFact, Joined
from arena_server.store.preflight import ADDED
from arena_server.store.schema import BotRow, ContestRow, GameRow

#: The games among which those of a bot are looked for: a bot that has left long ago has none there.
NEWEST: Final = 50_000
#: What a page may make a link of; an author may have sent any text.
_LINK: Final = re.compile(r"https?://[!-~]+")


class BotGame(NamedTuple):
    """A game of a bot in `seat`; `agent` is what it called its program there."""

    game_id: str
    seat: int
    agent: str | None


def details(contest: ContestRow, facts: Iterable[ContestFact], name: str) -> dict[str, str]:
    """What the author of a bot says of it: `author`, `language`, `url`; empty ones are left out.

    A late entrant has it from a fact, the others from the configuration that the contest began with.
    """
    said = contest.config.get("details", {}).get(name, ())
    for fact in facts:
        if isinstance(fact, Joined) and fact.name == name:
            said = fact.author, fact.language, fact.url
    found = dict(zip(("author", "language", "url"), said, strict=False))
    if not _LINK.fullmatch(found.get("url", "")):
        found.pop("url", None)
    return {key: text for key, text in found.items() if text}


def contests_of(session: Session, name: str) -> list[int]:
    """The numbers of the contests that a bot of this name is in, the newest first."""
    query = select(BotRow.contest_id).where(BotRow.name == name).order_by(BotRow.contest_id.desc())
    return list(session.scalars(query))


def newest_games(
    session: Session, contest: ContestRow, layout: int, name: str, last: int, limit: int
) -> list[BotGame]:
    """The newest games with a result, at most `limit`, of those up to the place `last`."""
    agents: Any = GameRow.agents if layout >= ADDED["games.agents"] else cast(null(), GameRow.agents.type)
    mine = GameRow.contest_id == contest.id
    seated = cast(GameRow.names, Text).contains(f'"{name}"', autoescape=True)
    shown = GameRow.end != VOID, GameRow.place <= last, GameRow.place > last - NEWEST, seated
    query = select(GameRow.game_id, GameRow.names, agents.label("agents")).where(mine, *shown)
    return [
        BotGame(row.game_id, row.names.index(name) + 1, (row.agents or [None] * 99)[row.names.index(name)])
        for row in session.execute(query.order_by(GameRow.place.desc()).limit(limit))
    ]
