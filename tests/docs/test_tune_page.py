"""docs/tune.md: its command and its bot run, with fewer games."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.server.programs import arena

from arena_cli.tune import DEALS, GAMES
from arena_cli.tune_search import Param, read_params

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tune.md").read_text(encoding="utf-8")


def test_the_parameters_and_numbers_of_the_page() -> None:
    for text in re.findall(r"`--param (\S+)`", PAGE):
        Param.of(text)
    ((line, _),) = re.findall(r"```sh\n(arena tune (.*))\n```", PAGE)
    words = shlex.split(line)
    assert [param.name for param in read_params([words[words.index("--param") + 1]], words[2])] == ["fear"]
    assert f"`--games {GAMES}`" in PAGE
    assert f"`--deals` deals ({DEALS})" in PAGE


@pytest.mark.real
@pytest.mark.soak
def test_the_command_of_the_page_tunes_its_bot(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "mybot.py").write_text(program)
    (line,) = re.findall(r"```sh\narena (.*)\n```", PAGE)
    done = arena(*shlex.split(line), "--games", "16", cwd=tmp_path, patience_s=150)
    assert done.code == 0, done.err
    assert done.err.splitlines()[-1].startswith("step 2 of 2: fear=")
    assert done.out.splitlines()[-1].startswith("is it better? arena match 'python mybot.py ")
    assert (tmp_path / "fear.svg").read_text().startswith("<svg")
