"""Contests, games and records in the types of JSON, as the pages get them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from arena_protocol.games import title_of
from arena_protocol.record import GameRecord
from arena_protocol.record_codec import decode, to_json
from arena_server.core.life import reason_of
from arena_server.store.game_reader import GameSummary
from arena_server.store.schema import ContestRow, plain_time
from arena_server.terms.formats import format_title
from arena_server.web.scenes import is_decided, record_scenes


def contest_json(contest: ContestRow) -> dict[str, Any]:
    """What the site shows of a contest, in the types of JSON; the seed stays secret."""
    return {
        "id": contest.id,
        "name": contest.name,
        "about": contest.about,
        **({} if contest.is_rated else {"rated": False}),
        **({} if contest.lets_guess else {"guesses": False}),
        **({"called": called} if (called := contest.called) else {}),
        **({"paired": True} if contest.is_paired else {}),
        **({"entrants_from": contest.origin["from"]} if contest.origin else {}),
        "game": contest.game,
        "game_title": title_of(contest.game),
        "options": dict(contest.options),
        "format": contest.format,
        "format_title": format_title(contest.format),
        "games_per_pair": contest.games_per_pair,
        "games": contest.total,
        "scoring": contest.scoring,
        "decided": is_decided(contest.game),
        "clock_ms": contest.clock_ms,
        "increment_ms": contest.increment_ms,
        "status": contest.status,
        "reason": reason_of(contest.status) or None,
        "started_at": plain_time(contest.started_at),
        "ended_at": plain_time(contest.ended_at),
        "head": None if contest.head is None else contest.head.hex(),
        "frozen_at": None,
    }


def stored_record_json(data: bytes) -> dict[str, Any]:
    """A record as JSON, as `arena replay --json` prints it; the seed is a decimal text."""
    record = decode(data)
    return record_json(record) | {"seed": str(record.seed)}


def record_json(record: GameRecord) -> dict[str, Any]:
    """A record in the types of JSON, with `scenes` if the pages need them."""
    scenes = record_scenes(record)
    return to_json(record) | ({} if scenes is None else {"scenes": scenes})


def game_json(game: GameSummary, places: Mapping[str, int]) -> list[Any]:
    """A row of a list of games, as `Archive.games` describes it; `places` are those of the bots."""
    return [
        game.game_id,
        [places[name] for name in game.names],
        list(game.totals),
        game.end,
        game.plies,
        plain_seconds(game.stored_at),
        [list(fault) for fault in game.faults],
        list(game.used_ms),
    ]


def plain_seconds(moment: datetime) -> int:
    """A moment of the tables in seconds since 1970."""
    return int(moment.replace(tzinfo=UTC).timestamp())


def encoded(rows: object) -> bytes:
    return json.dumps(rows, separators=(",", ":")).encode()
