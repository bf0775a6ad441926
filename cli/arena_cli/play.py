"""`arena play`: a person plays an engine or a program in the terminal.

Against an engine the game runs in this process, as in `arena match`, with `Person` as the player of one
seat. Against a program the referee runs it in a thread: `PersonBot` connects as a bot does.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import randbelow
from typing import Annotated, Any

import typer

from arena_cli.dialogue import DialogueOptions, dialogue_of
from arena_cli.engine_games import play_game
from arena_cli.local_bots import is_command, local_bot, parse_command
from arena_cli.local_contest import LocalContest, RefereeThread, bot_names
from arena_cli.options import (
    DEFAULT_DATABASE,
    Color,
    Database,
    Environment,
    GameOptions,
    Library,
    duration,
    environment_of,
    game_options,
    interruptible,
    is_terminal,
    refuse,
    start_positions,
    use_color,
)
from arena_cli.person import LeaveGame, Person, introduction, result_text
from arena_cli.play_web import browser_games, play_in_browser
from arena_client import asyncio_client
from arena_client.bot import Bot, GameView, Result
from arena_client.errors import ClientError
from arena_engines.bot import position_of
from arena_engines.engine import Engine, EngineError
from arena_engines.registry import create, engine_class, usual_opponent
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game
from arena_server.errors import ArenaError, ConfigError
from arena_server.host.sockets import parse_address
from arena_server.places.base import LocalBot
from arena_server.places.supervisor import ProgressListener
from arena_server.stats.scores import PlayedGame

#: The clock of a program if none is given, and what each further ply may take: the person is not hurried.
PROGRAM_CLOCK_MS = 20_000
PROGRAM_BYOYOMI_MS = 3_600_000
#: The person's name in the referee's game.
YOU = "you"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    """The options of `arena play`."""

    against: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="The opponent, or a program in quotes; greedy, or the game's best engine, if absent.",
            show_default=False,
        ),
    ] = None
    seat: Annotated[int, typer.Option(min=1, help="Your seat; seat 1 moves first.")] = 1
    clock: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="The time of each seat; no clock if absent, against a program 20s and then 1h a ply.",
        ),
    ] = None
    env: Environment = None
    option: GameOptions = None
    library: Library = None
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of the deal; random if absent.")] = None
    color: Color = True
    games: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where games of XO against xo1970 are stored.")
    ] = Path()
    web: Annotated[
        bool,
        typer.Option(
            "--web", help="Play in a browser instead: prints a link for each person, stores the games."
        ),
    ] = False
    database: Database = DEFAULT_DATABASE

    @property
    def clock_ms(self) -> int | None:
        """The bank of a seat, None without a clock. Raises ConfigError."""
        return None if self.clock is None else duration(self.clock, "--clock")

    @property
    def colored(self) -> bool:
        """Whether boards are coloured."""
        return use_color(self.color, terminal=is_terminal())

    def opponent(self, game: str) -> str:
        """The engine, or the program, to play against. Raises EngineError if no engine plays this game."""
        return usual_opponent(game) if self.against is None else self.against


def command(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game to play.", show_default=False)],
    options: PlayOptions,
) -> None:
    """Play a game against an engine or a program, in the terminal or in a browser.

    Type a move in the game's notation, `hint` for the engine's choice, `moves` for the legal
    moves, `quit` to leave.

    A program, with a blank or a slash in it, is started as in `arena match` and seated by the referee.

    Against xo1970 it is the operator's console of that program: settings change between games, a move is
    confirmed, and games are stored.

    With --web every seat is played once by each, in regular games of a server: recorded, and shown
    to spectators. `--against person` is a game of people: each gets a link that works once.

    Example: arena play insertion --against greedy --option plies=20
    """
    settings = game_options(options.option)
    if options.env and (options.web or options.against is None or not is_command(options.against)):
        raise ConfigError("--env: expected with --against and a program, whose variables they are")
    if not options.web and (kind := _own_way(options.against, game)) is not None:
        _play_dialogue(kind, make_game(game, settings, allow_unknown=False), options)
        return
    refuse(options, "expected with xo --against xo1970, whose console stores games there", "games")
    rules = make_game(game, settings, allow_unknown=False)
    if options.library is not None:
        settings["board"] = start_positions(options.library, rules)
        rules = make_game(game, settings, allow_unknown=False)
    if options.web:
        refuse(options, "expected without --web, where every seat is played once by each", "seat")
        games = browser_games(rules, settings, options.opponent(game), options.clock_ms, options.seed)
        play_in_browser(games, options.database)
        return
    if options.seat > rules.seats:
        raise ConfigError(f"--seat: {game} has {rules.seats} seats, got {options.seat}")
    if options.against is not None and is_command(options.against):
        _play_program(options.against, rules, settings, options)
    else:
        _play_engine(options.opponent(game), rules, options)


def _play_engine(opponent: str, rules: Game[Any], options: PlayOptions) -> None:
    """Play a game in this process, with the engine in all other seats."""
    deal = rules.deal(randbelow(2**63) if options.seed is None else options.seed)
    seat = options.seat
    engines = [_engine(opponent, rules.name) for _ in range(rules.seats)]
    person = Person(engines[seat - 1], opponent, deal, color=options.colored)
    players: list[Engine] = [*engines[: seat - 1], person, *engines[seat:]]
    clock_ms = options.clock_ms
    typer.echo(introduction(rules) + "\n")
    try:
        with interruptible():
            played = play_game(rules, deal, players, clock_ms)
    except LeaveGame:
        typer.echo("you left the game")
        return
    typer.echo(person.picture(rules, played.moves, seat, None))
    typer.echo(result_text(rules, played, seat))


def _own_way(against: str | None, game: str) -> type[Engine] | None:
    """The engine, if a person plays it in its own way."""
    if against is None or is_command(against):
        return None
    try:
        kind = engine_class(against.partition(":")[0], game)
    except EngineError:
        return None  # an unknown game or engine is refused where it is made
    return kind if kind.dialogue else None


def _play_dialogue(kind: type[Engine], rules: Game[Any], options: PlayOptions) -> None:
    if options.seat > rules.seats:
        raise ConfigError(f"--seat: {rules.name} has {rules.seats} seats, got {options.seat}")
    given = DialogueOptions(options.seat, options.seed, options.clock, options.library, options.games)
    with interruptible():
        dialogue_of(kind).play(options.opponent(rules.name), rules, given)


def _play_program(program: str, rules: Game[Any], settings: dict[str, object], options: PlayOptions) -> None:
    """Play a game that the referee runs in a process, with the program in all other seats.

    Raises ConfigError for a program that does not exist, BotError for one that cannot start.
    """
    command = parse_command(program, "--against")
    others = rules.seats - 1
    you, *names = bot_names([YOU] + [program] * others, [None] + [command] * others)
    person = local_bot(you, [])
    variables = environment_of(options.env)
    group = [replace(local_bot(name, command), variables=variables) for name in names]
    group.insert(options.seat - 1, person)
    clock_ms = options.clock_ms
    contest = LocalContest(
        name="play",
        game=rules.name,
        options=settings,
        group=group,
        deals=1,
        clock_ms=clock_ms or PROGRAM_CLOCK_MS,
        byoyomi_ms=0 if clock_ms else PROGRAM_BYOYOMI_MS,
        seed=options.seed,
    )
    adviser = _engine(usual_opponent(rules.name), rules.name)
    typer.echo(introduction(rules) + "\n")
    programs = _Programs()
    with RefereeThread(contest, programs) as referee:
        referee.when_ended(programs.address.cancel)
        try:
            host, port = parse_address(programs.address.result(), "the referee")
        except CancelledError:
            # The thread has the reason for which no address came, and raises it.
            referee.join()
            raise
        bot = PersonBot(adviser, group, color=options.colored)
        try:
            reason = asyncio_client.run(bot, host, port, name=you, token=person.token)
            referee.join()  # a program that cannot start has ended it, and is the better reason
            raise ArenaError(f"the game was ended: {reason}")
        except LeaveGame:
            # The end of the game leaves the same way, and has shown its result.
            if not bot.finished:
                typer.echo("you left the game")
        except ClientError as error:
            raise ArenaError(str(error)) from None
        finally:
            programs.left = True


class _Programs(ProgressListener):
    """Takes the referee's address, and prints messages about the programs until the person leaves."""

    def __init__(self) -> None:
        self.address: Future[str] = Future()
        self.left = False

    def listening(self, address: str) -> None:
        """Let the person connect."""
        self.address.set_result(address)

    def say(self, line: str) -> None:
        """Print a message about a program; the end of the contest is the person's own options."""
        if not self.left:
            typer.echo(line, err=True)


class PersonBot(Bot):
    """The person in the referee's game. `finished` is set at its end, and LeaveGame raised."""

    # In the event loop, so in the main thread: a thread that waits for stdin cannot be ended.
    instant = True

    def __init__(self, adviser: Engine, group: Sequence[LocalBot], *, color: bool) -> None:
        self.finished = False
        self._adviser = adviser
        self._opponent = next(bot.name for bot in group if bot.command)
        self._color = color

    def new_game(self, view: GameView) -> None:
        """Let Ctrl-C interrupt the wait for a move; asyncio would only cancel a task."""
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def choose(self, view: GameView) -> str:
        """Ask for a legal move. Raises LeaveGame."""
        return self._person(view).choose(position_of(view))

    def game_over(self, view: GameView, result: Result) -> None:
        """Show the last position and the result, and leave before the next game."""
        rules = view.rules
        assert rules is not None, "a game of this machine"
        typer.echo(self._person(view).picture(rules, view.moves, view.seat, None))
        faults: list[str | None] = [None] * view.seats
        if view.zombie is not None:
            faults[view.seat - 1] = view.zombie.reason
        typer.echo(result_text(rules, PlayedGame(result.totals, tuple(faults), (), view.moves), view.seat))
        self.finished = True
        raise LeaveGame

    def _person(self, view: GameView) -> Person:
        return Person(self._adviser, self._opponent, Deal(view.state, view.shown), color=self._color)


def _engine(spec: str, game: str) -> Engine:
    try:
        player = create(spec, game)
    except EngineError as error:
        raise ConfigError(f"--against: {error}") from error
    player.warm_up()
    return player
