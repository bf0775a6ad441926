"""`arena new contest`: five questions, a proposal by simulation, and the commented file of a contest."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from arena_cli.options import Json, duration, print_json

if TYPE_CHECKING:
    from arena_cli.draft import Draft, DraftBot
    from arena_cli.proposal import Proposal

Answer = TypeVar("Answer")

WHO: Final = (
    "Who plays? Names with commas between them: NAME for a bot from elsewhere, the file of a program, an "
    "engine (arena engines), NAME=COMMAND or NAME=ENGINE"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers that are given on the command line; what is left out is asked."""

    who: Annotated[
        str | None,
        typer.Option(
            metavar="BOTS", help="Who plays: NAME, FILE, ENGINE, NAME=COMMAND, ...", show_default=False
        ),
    ] = None
    game: Annotated[str | None, typer.Option(help="Which game.", show_default=False)] = None
    length: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="How long it may take, such as 30m.", show_default=False),
    ] = None
    remote: Annotated[
        bool | None,
        typer.Option("--remote/--here", help="Do bots come from elsewhere, or do all run here?"),
    ] = None
    format: Annotated[str | None, typer.Option("--format", help="Which format.", show_default=False)] = None
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Take what is proposed where no answer is given; only --who has none."),
    ] = False
    replace: Annotated[bool, typer.Option("--replace", help="Write over a file that is there.")] = False


def group() -> typer.Typer:
    """Return the commands of `arena new`."""
    from arena_cli.new_bot import bot
    from arena_cli.options import expanded

    about = (
        "Write the file of a contest, or the folder of a bot.\n\nExample: arena new bot mybot --language go"
    )
    app = typer.Typer(help=about, no_args_is_help=True, rich_markup_mode=None)
    app.command("contest")(expanded(contest))
    app.command("bot")(expanded(bot))
    return app


def contest(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path("contest.toml"),
    answers: Answers = Answers(),
    as_json: Json = False,
) -> None:
    """Ask who plays which game, how long, where and in which format, and write the file.

    Format, clock and games are proposed by the simulation of `arena simulate`, such that nine of ten
    contests are over in the time. A wrong answer is asked again; an option answers without a question.
    Bots from elsewhere get tokens, which are printed once: the file has digests. Programs are started in the
    current folder. The contest is called as the file is.

    Example: arena new contest friday.toml --who ann.py,bob.py,greedy --length 10m --here --yes
    """
    from arena_cli.draft import new_tokens
    from arena_protocol.kinds import valid_name
    from arena_server.errors import ConfigError

    if not valid_name(file.stem):
        raise ConfigError(f"{file}: expected the name of a contest before .toml, got {file.stem!r:.40}")
    is_new = not file.exists()
    if not (is_new or answers.replace or (not answers.yes and _agrees(f"{file} exists: write over it?"))):
        raise ConfigError(f"{file} exists and stays as it is: --replace writes over it")
    draft, length_ms = _asked(file.stem, answers)
    found = _format(draft, length_ms, answers)
    made = replace(found.draft, tokens=new_tokens(draft.players))
    _write(file, made, found, length_ms, is_new=is_new)
    _show(file, made, found, as_json=as_json)


# -- questions


def _asked(name: str, answers: Answers) -> tuple[Draft, int]:
    """The first four answers, and how long it may take (ms). Raises ConfigError for a wrong option."""
    from arena_cli.draft import Draft, check_game, check_place, parse_players
    from arena_protocol.games import FLAGSHIP, GAMES

    players = _ask("--who", WHO, answers.who, "", parse_players, answers)

    def read_place(text: str) -> bool:
        words: Mapping[str, bool] = {"here": False, "remote": True}
        if text not in words:
            from arena_server.errors import ConfigError

            raise ConfigError(f"expected here or remote, got {text!r:.40}")
        check_place(players, remote=words[text])
        return words[text]

    game = _ask(
        "--game",
        f"Which game? {', '.join(sorted(GAMES))}",
        answers.game,
        _usual_game(players, FLAGSHIP),
        lambda text: check_game(text, players),
        answers,
    )
    length_ms = _ask(
        "--length",
        "How long may it take? Such as 10m, 2h",
        answers.length,
        "10m",
        lambda text: duration(text, "the length"),
        answers,
    )
    usual = "here" if all(player.is_local for player in players) else "remote"
    given = None if answers.remote is None else "remote" if answers.remote else "here"
    where = "--here" if given == "here" else "--remote"
    remote = _ask(
        where,
        "Do all bots run here, or do some come from elsewhere? here, remote",
        given,
        usual,
        read_place,
        answers,
    )
    return Draft(name, players, game, remote), length_ms


def _usual_game(players: list[DraftBot], usual: str) -> str:
    """A game that all engines play, the usual one if they do."""
    from arena_cli.draft import check_game
    from arena_protocol.games import GAMES
    from arena_server.errors import ConfigError

    for game in (usual, *sorted(GAMES)):
        try:
            return check_game(game, players)
        except ConfigError:
            continue
    return usual


def _format(draft: Draft, length_ms: int, answers: Answers) -> Proposal:
    from arena_cli.proposal import propose, propose_format
    from arena_server.core.formats import FORMATS
    from arena_server.errors import ConfigError

    proposed = propose_format(draft, length_ms) if answers.format is None else None
    if answers.format is None and proposed is None:
        raise ConfigError(f"no format is possible with {len(draft.players)} bots of {draft.game}")

    def read(text: str) -> Proposal:
        if text not in FORMATS:
            raise ConfigError(f"expected one of {', '.join(FORMATS)}, got {text!r:.40}")
        if proposed is not None and proposed.draft.format == text:
            return proposed
        found = propose(draft, length_ms, text)
        if found is None:
            raise ConfigError(f"{text} is not possible with {len(draft.players)} bots of {draft.game}")
        return found

    said = "" if proposed is None else f" Proposed: {summary(proposed)}"
    question = f"Which format? {', '.join(FORMATS)}.{said}"
    usual = "" if proposed is None else proposed.draft.format
    return _ask("--format", question, answers.format, usual, read, answers)


def _ask(
    option: str,
    question: str,
    given: str | None,
    usual: str,
    read: Callable[[str], Answer],
    answers: Answers,
) -> Answer:
    """The answer of the option; else the usual one with --yes; else asked until it can be read.

    Raises ConfigError for a wrong option, or at the end of the input.
    """
    from arena_server.errors import ConfigError

    if given is None and answers.yes:
        if not usual:
            raise ConfigError(f"{option}: expected an answer, because --yes knows none")
        given = usual
    if given is not None:
        try:
            return read(given)
        except ConfigError as error:
            raise ConfigError(f"{option}: {error}") from None
    while True:
        try:
            return read(_line(question, usual) or usual)
        except ConfigError as error:
            typer.echo(f"  {error}")


def _line(question: str, usual: str) -> str:
    """A line of the person. Raises ArenaError at the end of the input."""
    from arena_server.errors import ArenaError

    print(f"{question}{f' [{usual}]' if usual else ''}\n> ", end="", flush=True)  # noqa: T201 - a prompt
    line = sys.stdin.readline()
    if not line:
        typer.echo()
        raise ArenaError("the answers ended before the last question: nothing was written")
    return line.strip()


def _agrees(question: str) -> bool:
    return _line(f"{question} y, n", "n").lower() in ("y", "yes")


# -- what was decided


def summary(found: Proposal) -> str:
    """The format with its numbers, and how long it takes."""
    from arena_cli.options import span
    from arena_server.terms.tables import format_duration

    draft, forecast = found.draft, found.forecast
    games = "" if draft.games else f", {draft.games_per_pair} games a pair"
    over = f"{forecast.games.p50:,} games in about {span(forecast.duration.p50)}"
    late = "" if found.fits else ", which is longer than you said: take fewer bots or another format"
    return f"{draft.format}{games}, a clock of {format_duration(draft.clock_ms)}: {over}{late}"


def _write(file: Path, draft: Draft, found: Proposal, length_ms: int, *, is_new: bool) -> None:
    """Write the file, if it is a contest. Raises ConfigError, and StoreError if it is there meanwhile."""
    from arena_server.errors import StoreError
    from arena_server.terms.file import parse_contest
    from arena_server.terms.tables import format_duration

    notes = [
        f"Written by `arena new contest` for {format_duration(length_ms)}: {summary(found)}.",
        "docs/configuration.md has all keys, and arena simulate the plan of this file.",
    ]
    text = draft.toml(notes)
    parse_contest(text, str(file))
    try:
        with file.open("x" if is_new else "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise StoreError(f"{file}: cannot be written: {error.strerror}") from None


def _show(file: Path, draft: Draft, found: Proposal, *, as_json: bool) -> None:
    """Print the plan and what comes next; the tokens this once."""
    commands = draft.commands(file)
    if as_json:
        plan = {"format": draft.format, "clock_ms": draft.clock_ms, "games_per_pair": draft.games_per_pair}
        expected = {"games": found.forecast.games.p50, "ms": found.forecast.duration.p50, "fits": found.fits}
        tokens = {"tokens": dict(draft.tokens)} if draft.tokens else {}
        print_json({"file": str(file), **plan, "forecast": expected, "next": commands[0], **tokens})
        return
    typer.echo(f"written: {file}: {summary(found)}")
    if draft.tokens:
        typer.echo("tokens, which are shown only now; send each author its own, and this machine's address:")
        for name, token in draft.tokens.items():
            typer.echo(f"  {name}: {token}")
        typer.echo(f"each starts its bot, for example: {commands[1]}")
    typer.echo(f"next: {commands[0]}")
