"""From a checked configuration to the plan that the core plays. It must not know: files, sockets."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from arena_server.config.schema import ContestFile
from arena_server.core.plan import ContestPlan, Entrant

#: A seed that nobody chose is one that nobody can guess.
SEED_BITS = 128


def plan_of(file: ContestFile, absent_ms: int | None = None) -> ContestPlan:
    """The plan of the contest; without `seed` in the file a random one is drawn.

    `absent_ms`, if given, takes the place of `contest.absent`.
    """
    contest, game = file.contest, file.game
    return ContestPlan(
        name=contest.name,
        seed=secrets.randbits(SEED_BITS) if contest.seed is None else contest.seed,
        game=contest.game,
        options=game.own_options,
        format=contest.format,
        games_per_pair=contest.games_per_pair,
        scoring=contest.scoring,
        clock_ms=game.clock,
        increment_ms=game.increment,
        margin_ms=game.margin,
        move_limit_ms=game.move_limit or 0,
        byoyomi_ms=game.byoyomi,
        lag_quota_ms=game.lag_quota,
        stall_ms=contest.stall_limit,
        ready_ms=contest.ready,
        login_ms=contest.login,
        handover_ms=contest.handover,
        absent_ms=contest.absent if absent_ms is None else absent_ms,
        probation=contest.probation,
        announce_zombies=contest.announce_zombies,
        out_of_turn_limit=contest.out_of_turn_limit,
        flood_limit=contest.flood_limit,
        spectator_delay_ms=contest.spectator_delay,
        guests=contest.guests,
    )


def entrants_of(file: ContestFile, hashes: Mapping[str, str] | None = None) -> list[Entrant]:
    """The bots that may log in; `hashes` has token digests for names without one in the file."""
    given = hashes or {}
    return [Entrant(bot.name, bot.token_sha256 or given.get(bot.name)) for bot in file.bot]
