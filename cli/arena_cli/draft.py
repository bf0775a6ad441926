"""The file of a new contest as a value: who plays, and what is written of it."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

from arena_cli.local_bots import TOKEN_BYTES, check_command
from arena_cli.names import NAME_TEXT
from arena_engines.registry import engines_of
from arena_protocol.errors import UserError
from arena_protocol.games import GAMES
from arena_protocol.kinds import valid_name
from arena_server.errors import ConfigError
from arena_server.terms.tables import format_duration

#: A port for bots from elsewhere: that of the examples.
PORT: Final = 2006


@dataclass(frozen=True, slots=True)
class DraftBot:
    """A bot: an `engine` of ours, a `command`, or one that logs in from elsewhere with a token."""

    name: str
    engine: str = ""
    command: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        return bool(self.engine or self.command)


@dataclass(frozen=True, slots=True)
class Draft:
    """What was decided. `tokens` are those of players that log in, of which the file has digests alone."""

    name: str
    players: Sequence[DraftBot]
    game: str
    remote: bool
    format: str = "round-robin"
    games_per_pair: int = 2
    clock_ms: int = 10_000
    #: After how many games a contest without an end of its own is over.
    games: int = 0
    tokens: Mapping[str, str] = field(default_factory=dict)

    def toml(self, notes: Sequence[str] = ()) -> str:
        """The text of the file; `notes` are lines of its head."""
        lines = [*(f"# {note}" for note in notes), "[contest]", f"name = {_text(self.name)}"]
        lines += [f"game = {_text(self.game)}", f"format = {_text(self.format)}"]
        if self.games:
            lines.append(_line(f"games = {self.games}", "it is over after them; 0: by arena admin drain"))
        else:
            lines.append(_line(f"games_per_pair = {self.games_per_pair}", "games of each two that meet"))
        if self.remote:
            lines.append(_line(f"quorum = {len(self.players)}", "it begins once as many bots are there"))
        clock = f"clock = {_text(format_duration(self.clock_ms))}"
        lines += ["", "[game]", _line(clock, "of a bot for a game")]
        if self.remote:
            host = _line('host = "0.0.0.0"', "others reach this machine")
            lines += ["", "[server]", f"port = {PORT}", host]
        for player in self.players:
            lines += ["", "[[bot]]", f"name = {_text(player.name)}"]
            if player.engine:
                lines.append(f"engine = {_text(player.engine)}")
            elif player.command:
                lines.append(f"command = [{', '.join(map(_text, player.command))}]")
            elif player.name in self.tokens:
                digest = sha256(self.tokens[player.name].encode("ascii")).hexdigest()
                lines.append(f"token_sha256 = {_text(digest)}")
        return "\n".join(lines) + "\n"

    def commands(self, file: Path) -> list[str]:
        """What to run next, the organiser's first; tokens stand as $TOKEN."""
        local = all(player.is_local for player in self.players)
        mixed = any(player.is_local for player in self.players)
        first = f"arena {'tournament' if mixed else 'serve'} {shlex.quote(str(file))}"
        if local:
            return [first]
        return [first, *(f"python mybot.py HOST {PORT} {name} $TOKEN" for name in self.tokens)]


def _line(text: str, comment: str) -> str:
    return f"{text:<20} # {comment}"


def _text(value: str) -> str:
    """A text as TOML has it: JSON without what TOML would read otherwise."""
    return json.dumps(value, ensure_ascii=False)


def new_tokens(players: Sequence[DraftBot]) -> dict[str, str]:
    """A token for each player that logs in from elsewhere."""
    return {player.name: secrets.token_hex(TOKEN_BYTES) for player in players if not player.is_local}


def parse_players(text: str) -> list[DraftBot]:
    """The players of an answer: NAME, FILE, ENGINE, NAME=COMMAND or NAME=ENGINE, with commas between.

    Files are relative to the current folder, in which the bots are started. Raises ConfigError.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    players = [_player(part) for part in parts]
    names = [player.name for player in players]
    for name in names:
        if not valid_name(name):
            raise ConfigError(
                f"a bot is called {NAME_TEXT}, not {name!r:.40}; NAME=COMMAND gives another name"
            )
        if names.count(name) > 1:
            raise ConfigError(f"{name!r} is there twice: NAME=COMMAND gives another name")
    if len(players) < 2:
        raise ConfigError(f"expected two bots or more with commas between them, got {len(players)}")
    return players


def _player(part: str) -> DraftBot:
    name, equals, what = (each.strip() for each in part.partition("="))
    engine = name.partition(":")[0]
    if not equals or ":" in name:  # parameters of an engine have an equals sign, too
        name, what = "", part
    elif not what:
        raise ConfigError(f"{part!r:.40}: expected a command or an engine behind =")
    if Path(what).is_file():
        return DraftBot(name or _stem(what), command=_program(what))
    if (what if name else engine).partition(":")[0] in _engines():
        return DraftBot(name or engine, engine=what)
    if not name and not re.search(r"[\s/]|\.py$", part):
        return DraftBot(part)
    try:
        words = shlex.split(what)
        check_command(words, repr(what))
    except ValueError as error:
        raise ConfigError(f"{what!r:.60}: {error}") from None
    script = words[1] if len(words) > 1 and words[0] in ("python", "python3") else ""
    if script.endswith(".py") and not Path(script).is_file():
        raise ConfigError(f"{what!r:.60}: no file {script!r:.40} here")
    return DraftBot(name or _stem(words[-1]), command=tuple(words))


def _program(what: str) -> tuple[str, ...]:
    """How a file is started. Raises ConfigError for one that is no program."""
    if what.endswith(".py"):
        return "python", what
    if not os.access(what, os.X_OK):
        raise ConfigError(f"{what!r:.60} has no permission to run: chmod +x {what:.60}")
    return (what if "/" in what else f"./{what}",)


def _stem(path: str) -> str:
    return Path(path).name.partition(".")[0]


def _engines() -> set[str]:
    return {name for game in GAMES for name in engines_of(game)}


def check_game(game: str, players: Sequence[DraftBot]) -> str:
    """The game, if there is such a one and all engines play it. Raises ConfigError."""
    from arena_cli.bot import check

    if game not in GAMES:
        raise ConfigError(f"expected one of {', '.join(sorted(GAMES))}, got {game!r:.40}")
    for player in players:
        if player.engine:
            try:
                check(player.engine, game)
            except UserError as error:
                raise ConfigError(f"{player.name}: {error}") from None
    return game


def check_place(players: Sequence[DraftBot], *, remote: bool) -> None:
    """Raise ConfigError for players without a program in a contest on this machine, or the reverse."""
    away = [player.name for player in players if not player.is_local]
    if away and not remote:
        raise ConfigError(
            f"{', '.join(away)}: expected a program of each bot here: NAME=COMMAND, NAME=ENGINE or a file; "
            "or let them come from elsewhere"
        )
    if remote and not away:
        raise ConfigError("every bot has a program, so none comes from elsewhere: name one without a program")
