"""A contest on this machine whose bots are all started or seated here, for `arena match` and `arena play`.

    players on the command line -> `seat`: named bots -> `tournament`: configuration, database, server, bots

One group of bots (`contest.format = "matches"`) plays paired deals, up to `concurrency` games at once; each
bot has a process for each of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from arena_cli.local_bots import ARENA, engine_command, local_bot, parse_command, server_environment
from arena_protocol.games import GAMES
from arena_protocol.record import describe_fault
from arena_server.launch.base import LocalBot
from arena_server.tournament.supervisor import Tournament

#: The games of a bot that stays away longer are not played.
ABSENT = "30s"
#: The length of a bot's name without the letter of an equal one.
NAME_SIZE = 24
_INTERPRETER = re.compile(r"(python|pypy|perl|ruby|node|lua|bash|sh|java|Rscript)[0-9.]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalContest:
    """What is played: the bots of `group` play `deals` deals, each from every seat.

    A bot with an empty command is not started. Durations are milliseconds.
    """

    name: str
    game: str
    options: Mapping[str, object]
    group: Sequence[LocalBot]
    deals: int
    clock_ms: int
    concurrency: int = 1
    byoyomi_ms: int = 0
    seed: int | None = None

    def configuration(self) -> str:
        """Return the configuration of the server (TOML)."""
        seats = len(self.group)
        contest = {
            "name": self.name,
            "game": self.game,
            "format": "matches",
            "games_per_pair": self.deals * seats,
            "deals": "paired",
            "probation": 0,
            "absent": ABSENT,
            "guests": False,
        }
        if self.seed is not None:
            contest["seed"] = self.seed
        game = {"clock": f"{self.clock_ms}ms", "byoyomi": f"{self.byoyomi_ms}ms", **self.options}
        tables = [{"name": bot.name, "concurrency": self.concurrency} for bot in self.group]
        bots = "".join(f"[[bot]]\n{_table(table)}" for table in tables)
        return f"[contest]\n{_table(contest)}[game]\n{_table(game)}{bots}"

    def processes(self) -> list[LocalBot]:
        """Return the bots to start, each once for every game that it may play at the same time."""
        slots = range(1, self.concurrency + 1)
        return [replace(bot, slot=slot) for slot in slots for bot in self.group if bot.command]


def _table(values: Mapping[str, object]) -> str:
    """Return the lines of a TOML table; a text of digits is written as a number."""
    lines = []
    for key, value in values.items():
        number = isinstance(value, str) and value.isascii() and value.isdigit()
        lines.append(f"{key} = {value if number else json.dumps(value)}\n")
    return "".join(lines)


@contextmanager
def tournament(contest: LocalContest, database: str | None, logs: Path | None) -> Iterator[Tournament]:
    """Return what `supervisor.run` needs. Without a `database` (a URL) results are deleted at the end."""
    with TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "contest.toml"
        file.write_text(contest.configuration(), encoding="utf-8")
        url = database or f"sqlite:///{folder}/arena.db"
        server = [*ARENA, "serve", str(file), "--host", "127.0.0.1", "--port", "0", "--database", url]
        server += ["--new", "--no-web", "--until-finished", "--supervised", "--log-level", "error"]
        yield Tournament(server, server_environment(contest.group), contest.processes(), logs)


def bot_names(players: Sequence[str], commands: Sequence[Sequence[str] | None]) -> list[str]:
    """Return names for the bots of these players: of the program, or of the engine with its parameters.

    `commands` has None for an engine. Equal names get a letter behind them.
    """
    names: list[str] = []
    for player, command in zip(players, commands, strict=True):
        base = re.sub("[^A-Za-z0-9_-]+", "-", player if command is None else _program(command))
        base = base.strip("-_")[:NAME_SIZE] or "bot"
        letters = (f"{base}-{letter}" for letter in "bcdefghijklmnopqrstuvwxyz")
        names.append(base if base not in names else next(name for name in letters if name not in names))
    return names


def _program(command: Sequence[str]) -> str:
    """Return the name of a program, of the file that its interpreter runs, or of what `arena` runs."""
    if tuple(command[: len(ARENA)]) == ARENA:
        return _arena_program(command[len(ARENA) :])
    name = PurePath(command[0]).name
    if name == "arena":
        return _arena_program(command[1:])
    if _INTERPRETER.fullmatch(name):
        files = [word for word in command[1:] if not word.startswith("-")]
        if files and " " not in files[0]:
            name = PurePath(files[0]).name
    return name.partition(".")[0] or name


def _arena_program(words: Sequence[str]) -> str:
    """Return the name of the bot in `bot greedy --game insertion` or `bridge -- ./brain`."""
    if "--" in words and words[-1] != "--":
        return _program(words[words.index("--") + 1 :])
    named = [word for word in words[1:] if not word.startswith("-")] if words[:1] == ["bot"] else []
    return [*named, "arena"][0]


def seat(players: Sequence[str], game: str) -> list[LocalBot]:
    """Return a bot for each player. Raises ConfigError for an engine or a program that does not exist."""
    from arena_cli.bot import check
    from arena_cli.local_bots import is_command

    commands = [parse_command(player, "match") if is_command(player) else None for player in players]
    for player, command in zip(players, commands, strict=True):
        if command is None:
            check(player, game)
    names = bot_names(players, commands)
    return [
        local_bot(name, command or engine_command(player, game))
        for name, player, command in zip(names, players, commands, strict=True)
    ]


def fault_lines(result: Mapping[str, object], game: str) -> list[str]:
    """Return a sentence for each fault in a `result` of `reporter.plain_result`."""
    names, faults = result["names"], result["faults"]
    assert isinstance(names, list)
    assert isinstance(faults, list)
    return [
        describe_fault(
            names[fault["seat"] - 1],
            fault["kind"],
            fault["ply"],
            bytes.fromhex(fault["line"]),
            zombie_move=GAMES[game].zombie_move,
        )
        for fault in faults
    ]
