"""docs/add-a-game.md, followed to the letter in a copy of the sources."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "add-a-game.md").read_text(encoding="utf-8")
POSITION, PLUG_IN, PLAYER = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ENTRY, LAWS, ROW, SECTION, SEAT, TRANSCRIPT = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)

GAME = "protocol/arena_protocol/games/connectfour.py"
GAMES = "protocol/arena_protocol/games/__init__.py"
RULES = "protocol/RULES.md"
#: The files of the table at the head of the page.
FILES = (GAME, GAMES, RULES)
ENGINE = "engines/arena_engines/small/nosy.py"
REGISTRY = "engines/arena_engines/registry.py"


def copy(folder: Path) -> None:
    """Copy what the page changes, so that it can be followed there."""
    for name in ("protocol/arena_protocol", "engines/arena_engines"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / RULES, folder / RULES)


def follow(folder: Path) -> None:
    """Do steps 2 to 6 in a copy."""
    (folder / GAME).write_text(f"{POSITION}\n\n{PLUG_IN}", encoding="utf-8")
    line, entered = ENTRY.strip().split("\n\n")
    words = entered.partition(" = ")[2]
    first = "from arena_protocol.games.disc import Disc\n"
    edit(folder / GAMES, first, f"{line}\n{first}")
    edit(folder / GAMES, words.replace(", ConnectFour", ""), words)
    row = re.findall(r"^\| `lastcoin` .*\n", (ROOT / RULES).read_text(encoding="utf-8"), re.MULTILINE)[0]
    edit(folder / RULES, row, row + ROW)
    edit(folder / RULES, "## Reference games", f"{SECTION}\n## Reference games")
    (folder / ENGINE).write_text(PLAYER, encoding="utf-8")
    line, entered = SEAT.rstrip().split("\n\n")
    first = "from arena_engines.small.openlines"
    edit(folder / REGISTRY, first, f"{line}\n{first}")
    edit(folder / REGISTRY, entered.partition("\n")[0] + "\n", f"{entered}\n")


def edit(file: Path, old: str, new: str) -> None:
    """Replace the one place of `old`."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, (file, old)
    file.write_text(text.replace(old, new), encoding="utf-8")
