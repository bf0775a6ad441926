"""docs/test-a-bot.md: its commands run, with fewer and shorter games."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.server.programs import arena
from typer.testing import CliRunner

from arena_cli.app import app
from arena_server.terms.contest_table import GameTable

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "test-a-bot.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
BOT = "from arena_client import run\nrun(lambda view: '6')\n"
SHORTER = {
    "match": ["--option", "plies=12", "--deals", "2"],
    "play": ["--option", "plies=12"],
    "replay": [],
}


@pytest.mark.real
# The options of the third are those of others, too.
@pytest.mark.parametrize(
    "block", [pytest.param(at, marks=[pytest.mark.soak] * (at == 2)) for at in range(len(BLOCKS))]
)
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


def test_the_options_and_keys_beside_fastchess_exist() -> None:
    (table,) = re.findall(r"\| fastchess, cutechess-cli \| here \|\n(.*?)\n\n", PAGE, re.DOTALL)
    ours = " ".join(line.rsplit(" | ", 1)[1] for line in table.splitlines()[1:])
    known = CliRunner().invoke(app, ["match", "--help"], env={"COLUMNS": "200"}).output
    options = set(re.findall(r"--[a-z0-9-]+", ours)) - {"--hash"}
    assert {"--sprt", "--keep", "--book"} <= options
    assert {option for option in options if option not in known} == set()
    # `[game]` has the clocks, and `[contest]` has not.
    keys = re.findall(r"`([a-z_]+) = \"\d+m?s\"`", ours)
    assert {*keys} == {"increment", "move_limit", "margin"}
    assert {*keys} <= set(GameTable.model_fields)
