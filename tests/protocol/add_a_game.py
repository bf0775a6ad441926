"""docs/add-a-game.md, followed to the letter: the package that it describes, installed in a folder."""

from __future__ import annotations

import re
from pathlib import Path

from ..plugged import install

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "add-a-game.md").read_text(encoding="utf-8")
POSITION, PLUG_IN, TESTS, PLAYER = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
PROJECT, CONTEST = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
WORDS, TRANSCRIPT = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)

#: The files of the table at the head of the page.
FILES = {
    "pyproject.toml": PROJECT,
    "arena_connectfour/__init__.py": "",
    "arena_connectfour/game.py": f"{POSITION}\n\n{PLUG_IN}",
    "tests/test_game.py": TESTS,
    "README.md": WORDS,
    "arena_connectfour/nosy.py": PLAYER,
}


def write(folder: Path) -> None:
    """Write the files of the package."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, encoding="utf-8")


def follow(folder: Path) -> None:
    """Write the package into a folder, and install it there: the folder is one of `sys.path`."""
    write(folder)
    install(folder, folder / "pyproject.toml")
