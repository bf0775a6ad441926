"""`arena play --web`: a contest of two games on this machine, with persons in browsers.

Each person gets a link that works once; an engine plays as a process of its own. The server runs on
after the games, so that their records can be looked at, until Ctrl-C.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from time import strftime
from typing import Any

import typer

from arena_cli.bot import check
from arena_protocol.games.base import Game
from arena_server.core.config import LONGEST_MS

#: Instead of an engine: another person, with a link of their own.
PERSON = "person"
#: How long a person may take to be ready.
READY = "1h"
TOKEN_BYTES = 16


def config_text(
    rules: Game[Any], options: Mapping[str, object], opponent: str, clock_ms: int | None, seed: int | None
) -> str:
    """The contest as a file: every seat is played once by each. No clock is the longest one."""
    lines = [
        "[contest]",
        f'name = "play-{strftime("%Y%m%d-%H%M%S")}-{secrets.token_hex(2)}"',
        f'game = "{rules.name}"',
        f"games_per_pair = {rules.seats}",
        f'ready = "{READY}"',
        'spectator_delay = "0s"',
        "probation = 0",
        *([] if seed is None else [f"seed = {seed}"]),
        "[game]",
        f'clock = "{LONGEST_MS if clock_ms is None else clock_ms}ms"',
        # On the command line all options are texts; a file has numbers.
        *(
            f"{key} = {value if str(value).isdecimal() else json.dumps(value)}"
            for key, value in options.items()
        ),
    ]
    for number in range(1, rules.seats + 1):
        is_person = number == 1 or opponent == PERSON
        name = f"person-{number}" if is_person else f"{opponent.partition(':')[0]}-{number}"
        lines += ["[[bot]]", f'name = "{name}"', *(["person = true"] if is_person else [])]
    return "\n".join(lines) + "\n"


def play_in_browser(
    rules: Game[Any],
    options: Mapping[str, object],
    opponent: str,
    clock_ms: int | None,
    seed: int | None,
    database: str,
) -> None:
    """Serve the games until Ctrl-C. Raises ConfigError or ArenaError with one line."""
    from arena_cli.serve import DIGESTS_VARIABLE, RunOptions, ServeOptions, WebOptions, prepare, serve
    from arena_server.config_file import load_contest
    from arena_server.launch.base import inherited
    from arena_server.sockets import address_of

    if opponent != PERSON:
        check(opponent, rules.name)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        config = Path(folder) / "play.toml"
        config.write_text(config_text(rules, options, opponent, clock_ms, seed), encoding="utf-8")
        engines = [bot.name for bot in load_contest(config).bot if not bot.person]
        tokens = {name: secrets.token_hex(TOKEN_BYTES) for name in engines}
        digests = {name: sha256(token.encode("ascii")).hexdigest() for name, token in tokens.items()}
        os.environ[DIGESTS_VARIABLE] = json.dumps(digests)
        serving = ServeOptions(host="127.0.0.1", port=0, database=database, web=WebOptions(web=True))
        prepared = prepare([config], serving)
        for name, token in tokens.items():
            command = [sys.executable, "-m", "arena_cli", "bot", opponent, "--game", rules.name]
            command += ["--name", name, "--connect", address_of(prepared.sock)]
            bot = subprocess.Popen(  # noqa: S603 - our own command with checked names
                command, env=inherited(os.environ) | {"ARENA_TOKEN": token}, stdout=subprocess.DEVNULL
            )
            stack.callback(bot.wait)
            stack.callback(bot.terminate)
        typer.echo("open the link in a browser; Ctrl-C ends the server")
        serve(prepared, RunOptions(log_level="warning"))
