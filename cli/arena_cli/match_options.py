"""The options of `arena match`, and what they say is played."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from arena_cli.match_conditions import MatchConditions
from arena_cli.match_run import MatchPlan
from arena_cli.options import (
    WEB_PORT,
    Json,
    print_json,
    refuse,
)
from arena_protocol.games.base import Game
from arena_server.errors import ArenaError, ConfigError
from arena_server.stats.elo import Sprt
from arena_server.stats.scores import LeadTest

#: How many deals are played if nothing is said; until there is a verdict.
DEALS, UNTIL_DECIDED = 20, 10_000
#: The exit statuses of `--status`; those of errors are 1 and 2.
NO_BETTER, OPEN = 3, 4
STATUSES = {"no better": NO_BETTER, "open": OPEN}
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialTest:
    """The options of the test that stops a match."""

    sprt: Annotated[
        bool, typer.Option("--sprt", help="Stop as soon as it is decided whether A is better than B.")
    ] = False
    elo0: Annotated[float, typer.Option(help="The Elo difference of A that --sprt rejects.")] = 0.0
    elo1: Annotated[float, typer.Option(help="The Elo difference of A that --sprt accepts.")] = 50.0
    alpha: Annotated[
        float, typer.Option(min=0.001, max=0.4, help="The probability of `better` though elo0 is true.")
    ] = 0.05
    beta: Annotated[
        float, typer.Option(min=0.001, max=0.4, help="The probability of `no better` though elo1 is true.")
    ] = 0.05
    margin: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=1.0,
            help="--sprt tests this lead in points, as a share of all points, instead of Elo; "
            f"{LeadTest().margin} with three players and more.",
            show_default=False,
        ),
    ] = None

    def of(self, players: int, seats: int) -> Sprt | LeadTest | None:
        """Return the test for a match of these numbers. Raises ConfigError."""
        if not self.sprt:
            refuse(
                self,
                "expected with --sprt, whose test it describes",
                "elo0",
                "elo1",
                "alpha",
                "beta",
                "margin",
            )
            return None
        if players != seats:
            raise ConfigError(f"--sprt: expected {seats} players, got {players}")
        if seats > 2 or self.margin is not None:
            why = "with --margin" if seats == 2 else f"with {seats} players"
            why = f"{why} --sprt tests a lead in points, not a difference of Elo; leave it out"
            refuse(self, why, "elo0", "elo1")
            margin = LeadTest().margin if self.margin is None else self.margin
            return LeadTest(margin, self.alpha, self.beta)
        if self.elo0 >= self.elo1:
            raise ConfigError(f"--elo0: expected less than --elo1, {self.elo1:g}, got {self.elo0:g}")
        return Sprt(self.elo0, self.elo1, self.alpha, self.beta)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOutput:
    """What a match says, where, and by its exit status."""

    web: Annotated[
        bool,
        typer.Option("--web", help="Show the games on a web page while they are played, as of a contest."),
    ] = False
    web_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help=f"The port of that page, 0 picks one; {WEB_PORT} if nothing is said.",
            show_default=False,
        ),
    ] = None
    status: Annotated[
        bool,
        typer.Option(
            "--status",
            help=f"With --sprt: end with {NO_BETTER} for the verdict `no better`, and {OPEN} for `open`.",
        ),
    ] = False
    json: Json = False
    json_lines: Annotated[
        bool,
        typer.Option(
            "--json-lines",
            help="Print a line of JSON for each game when it is over, and the answer as the last line.",
        ),
    ] = False

    def site(self) -> socket.socket | None:
        """Bind the port of the page, if there is to be one, and print its address. Raises ArenaError."""
        from arena_server.host.sockets import bind, urls_of

        if not self.web:
            return None
        try:
            sock = bind(LOOPBACK, WEB_PORT if self.web_port is None else self.web_port, "--web-port")
        except ArenaError:
            if self.web_port is not None:
                raise
            sock = bind(LOOPBACK, 0, "--web-port")  # the default is taken: any other will do
        typer.echo(f"web on {urls_of(sock)[0]}", err=True)
        return sock

    def show(self, answer: Mapping[str, Any], text: str) -> None:
        """Print the answer as JSON, or the text."""
        if self.json_lines:
            typer.echo(json.dumps(answer))
        elif self.json:
            print_json(answer)
        else:
            typer.echo(text)

    def end(self, verdict: str) -> None:
        """Raise Exit with the status that says the verdict."""
        if self.status and verdict in STATUSES:
            raise typer.Exit(STATUSES[verdict])


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOptions:
    """The options of `arena match`."""

    deals: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=UNTIL_DECIDED,
            help=f"The most deals; each is played from every seat. {DEALS} if nothing is said; with --sprt "
            f"as many as the verdict takes, up to {UNTIL_DECIDED:,}.",
            show_default=False,
        ),
    ] = None
    conditions: MatchConditions
    test: SequentialTest
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="DB",
            help="Keep the records in this SQLite file or database URL, for replay; the same command goes on "
            "with a match that was ended there.",
        ),
    ] = None
    new: Annotated[
        bool, typer.Option("--new", help="Begin a new match, though --keep has one to go on with.")
    ] = False
    logs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the output of every process to a file here.")
    ] = None
    output: MatchOutput

    def plan(self, players: int) -> tuple[Game[Any], MatchPlan]:
        """Return the game, and what this number of players plays. Raises ConfigError or GameError."""
        rules, plan = self.conditions.plan(self.deals or (UNTIL_DECIDED if self.test.sprt else DEALS))
        test = self.test.of(players, rules.seats)
        undecided = self.deals is None and test is not None
        lines = self.output.json_lines
        return rules, replace(plan, test=test, until_decided=undecided, json_lines=lines)

    def database(self) -> str | None:
        """The URL of --keep."""
        return None if self.keep is None else self.keep if "://" in self.keep else f"sqlite:///{self.keep}"
