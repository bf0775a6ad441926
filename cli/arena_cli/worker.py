"""A process that plays games for `--on`: python -m arena_cli.worker (`places/workers/process.py`)."""

from __future__ import annotations

from functools import cache
from typing import Any

from arena_cli.engine_games import play
from arena_engines.engine import Engine
from arena_engines.registry import create
from arena_protocol.games import make_game
from arena_protocol.games.base import Game
from arena_protocol.record import GameRecord
from arena_server.core.deal import Setting
from arena_server.core.formats.base import Pairing
from arena_server.places.base import RUN_MODULE
from arena_server.places.forks import Forks
from arena_server.places.workers.base import GameJob
from arena_server.places.workers.process import JobRun, serve
from arena_server.places.workers.seated import Tables
from arena_server.terms.terms import GameTerms

#: What bots import, by the beginning of their commands: engines of ours, and programs with the client.
_forks = Forks(
    {
        (*RUN_MODULE, "arena_cli"): (
            "arena_cli.app",
            "arena_cli.bot",
            "arena_client.run",
            "arena_engines.bot",
        ),
        (): ("arena_client",),
    }
)
_tables = Tables(_forks)


def play_job(job: GameJob, run: JobRun) -> GameRecord | None:
    """Play the game of a job: engines in this process, programs beside a host that stays."""
    if not job.engines:
        return _tables.play(job, run)
    names = tuple(bot.name for bot in job.bots)
    setting = Setting.of(job.config, _rules(job.config), Pairing(1, names, 1))
    return play(
        setting, [_engine(name, spec, job.config.game) for name, spec in zip(names, job.engines, strict=True)]
    )


def _rules(terms: GameTerms) -> Game[Any]:
    return make_game(terms.game, terms.options)


@cache
def _engine(_name: str, spec: str, game: str) -> Engine:
    """An engine, which stays for the next game of the bot of this name. Raises EngineError."""
    engine = create(spec, game)
    engine.warm_up()
    return engine


if __name__ == "__main__":
    try:
        serve(play_job)
    finally:
        _tables.close()
