"""What is the same in all games of a match: the options of `arena match`, `tune` and `climb` that say it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from arena_cli.match_run import MatchPlan
from arena_cli.options import (
    Environment,
    GameOptions,
    Library,
    duration,
    environment_of,
    game_options,
    start_positions,
)
from arena_cli.workers import WorkerOptions
from arena_protocol.games import make_game
from arena_protocol.games.base import Game
from arena_server.errors import ConfigError
from arena_server.terms.config import MOST_SLOTS, ContestConfig
from arena_server.terms.sandbox import DEFAULT_LIMITS, ContainerLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchConditions:
    """The options that say what is played, on which clock, and where."""

    clock: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="The time of a seat for a game; 20s if nothing is said."),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Play as in this contest: its game, clocks, and limits of containers.",
            show_default=False,
        ),
    ] = None
    concurrency: Annotated[
        int, typer.Option(min=1, max=MOST_SLOTS, help="How many games are played at once, as processes.")
    ] = 1
    affinity: Annotated[
        bool,
        typer.Option(
            help="Bind the programs of a game to one core while each computes in one thread and on its own "
            "clock alone; not with --web, --on or containers."
        ),
    ] = True
    env: Environment = None
    seed: Annotated[int, typer.Option(min=0, help="The seed of the deals.")] = 2006
    game: Annotated[
        str | None, typer.Option(help="The game to play; insertion if nothing is said.", show_default=False)
    ] = None
    option: GameOptions = None
    library: Library = None
    workers: WorkerOptions

    def plan(self, deals: int) -> tuple[Game[Any], MatchPlan]:
        """Return the game, and the plan of a match of `deals` deals. Raises ConfigError or GameError."""
        if self.workers.on is not None and self.concurrency > 1:
            raise ConfigError("--concurrency: expected without --on, which says how many games are played")
        like, limits = self._contest()
        if like is not None:
            name, settings = like.game, dict(like.options)
        else:
            name, settings = self.game or "insertion", game_options(self.option)
        rules = make_game(name, settings, allow_unknown=False)
        if self.library is not None:
            settings["board"] = start_positions(self.library, rules, "--book")
        plan = MatchPlan(
            game=name,
            options=settings,
            deals=deals,
            clock_ms=duration(self.clock or "20s", "--clock") if like is None else like.clock_ms,
            seed=self.seed,
            concurrency=self.concurrency,
            like=like,
            limits=limits,
            workers=self.workers,
            shares_cores=self.affinity,
            variables=environment_of(self.env),
        )
        return rules, plan

    def _contest(self) -> tuple[ContestConfig | None, ContainerLimits]:
        """The contest of --config, and what it lets a container use. Raises ConfigError."""
        from arena_server.terms.file import config_of
        from arena_server.terms.stages import load_whole

        if self.config is None:
            return None, DEFAULT_LIMITS
        given = {
            "--game": self.game,
            "--clock": self.clock,
            "--option": self.option,
            "--book": self.library,
        }
        if twice := [option for option, value in given.items() if value is not None]:
            raise ConfigError(f"{twice[0]}: expected without --config, which decides it")
        file = load_whole(self.config)
        return config_of(file), file.container.limits()
