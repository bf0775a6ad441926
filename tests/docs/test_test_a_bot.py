"""docs/test-a-bot.md: its commands run, with fewer and shorter games."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.server.programs import arena

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "test-a-bot.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
BOT = "from arena_client import run\nrun(lambda view: '6')\n"
SHORTER = {
    "match": ["--option", "plies=12", "--deals", "2"],
    "play": ["--option", "plies=12"],
    "replay": [],
}


@pytest.mark.real
@pytest.mark.parametrize("block", range(len(BLOCKS)))
def test_the_commands_run(tmp_path: Path, block: int) -> None:
    for name in ("mybot", "oldbot"):
        (tmp_path / f"{name}.py").write_text(BOT)
    for line in BLOCKS[block].splitlines():
        program, command, *arguments = shlex.split(line)
        assert program == "arena"
        done = arena(command, *arguments, *SHORTER[command], cwd=tmp_path, typed="quit\n", patience_s=150)
        assert done.code == 0, done.err


def test_the_page_has_the_defaults_of_the_test() -> None:
    from arena_server.stats.elo import Sprt

    test = Sprt()
    for option, value in (
        ("elo0", test.elo0),
        ("elo1", test.elo1),
        ("alpha", test.alpha),
        ("beta", test.beta),
    ):
        assert re.search(rf"`--{option}`[^`]*\({value:g}\)", PAGE), option
