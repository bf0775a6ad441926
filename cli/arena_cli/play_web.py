"""`arena play --web`: a contest of a game for every seat on this machine, with persons in browsers.

Each person gets a link that works once; an engine plays as a process of its own. The server runs on
after the games, so that their records can be looked at, until Ctrl-C.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import strftime
from typing import Any

import typer

from arena_cli.bot import check
from arena_cli.local_bots import engine_command, local_bot
from arena_cli.options import numbers
from arena_protocol.games.base import Game
from arena_server.places.base import LocalBot
from arena_server.terms.config import ContestConfig
from arena_server.terms.spec import ContestSpec, entrant_of, fresh_seed
from arena_server.terms.terms import LONGEST_MS
from arena_server.web.ports import Invitation, invite

#: Instead of an engine: another person, with a link of their own.
PERSON = "person"
#: How long a person may take to be ready.
READY_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class BrowserGames:
    """A contest with the persons and the engines that play in it, by seat in its first game."""

    spec: ContestSpec
    persons: Sequence[Invitation]
    bots: Sequence[LocalBot]


def browser_games(
    rules: Game[Any], options: Mapping[str, object], opponent: str, clock_ms: int | None, seed: int | None
) -> BrowserGames:
    """Make the contest: every seat is played once by each. No clock is the longest one.

    Raises ConfigError for an engine that does not exist.
    """
    if opponent != PERSON:
        check(opponent, rules.name)
    config = ContestConfig(
        name=f"play-{strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}",
        seed=fresh_seed() if seed is None else seed,
        game=rules.name,
        options=numbers(options),
        games_per_pair=rules.seats,
        ready_ms=READY_MS,
        spectator_delay_ms=0,
        probation=0,
        clock_ms=LONGEST_MS if clock_ms is None else clock_ms,
    )
    persons, bots, entrants = [], [], []
    for seat in range(1, rules.seats + 1):
        player: Invitation | LocalBot
        if seat == 1 or opponent == PERSON:
            persons.append(player := invite(f"person-{seat}", config.name, rules.name))
        else:
            name = f"{opponent.partition(':')[0]}-{seat}"
            bots.append(player := local_bot(name, engine_command(opponent, rules.name)))
        entrants.append(entrant_of(player.name, player.token))
    spec = ContestSpec(config=config, entrants=entrants, new=True, seeded=seed is not None)
    return BrowserGames(spec, persons, bots)


def play_in_browser(games: BrowserGames, database: str) -> None:
    """Serve the games until Ctrl-C. Raises ArenaError with one line."""
    from arena_cli.prepare import open_ports
    from arena_cli.serve import RunOptions, serve
    from arena_cli.serve_options import ServeOptions, WebOptions
    from arena_server.terms.schema import ServerTable

    options = ServeOptions(host="127.0.0.1", port=0, database=database, web=WebOptions(web=True))
    prepared = open_ports([games.spec], ServerTable(), options, games.persons, games.bots)
    typer.echo("open the link in a browser; Ctrl-C ends the server")
    serve(prepared, RunOptions(log_level="warning"))
