"""A real `arena serve` in which all starters play each other."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ...forked import Arena

#: Nothing here takes long; a process that hangs ends the test with an error.
LIMIT_S = 120.0
TOKEN = "s3cret"

CONFIG = """
[contest]
name = "starters"
games_per_pair = 2

[game]
plies = {plies}
clock = "20s"
"""
BOT = f"""
[[bot]]
name = "{{name}}"
token_sha256 = "{sha256(TOKEN.encode()).hexdigest()}"
"""


def environment(**variables: str) -> dict[str, str]:
    """The environment of a process, with no variable of the arena's but these."""
    return {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")} | variables


class Contest:
    """A contest on a free port between bots of these names, two games a pair; a context manager."""

    def __init__(self, folder: Path, names: Sequence[str], *, plies: int = 20) -> None:
        config = folder / "contest.toml"
        config.write_text(CONFIG.format(plies=plies) + "".join(BOT.format(name=name) for name in names))
        self._server = Arena(
            ["serve", str(config), "--port", "0", "--database", f"sqlite:///{folder / 'arena.db'}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        assert line.startswith("listening on "), self._server.communicate()[1]
        self.port = int(line.rpartition(":")[2])

    def __enter__(self) -> Contest:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.kill()
        self._server.communicate()


def run(command: list[str], *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a starter to its end."""
    return subprocess.run(
        [*command, *arguments],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
