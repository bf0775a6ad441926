"""docs/porting.md: its two programs play a game, and its words of the protocol exist."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from tests.server.programs import inside

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "porting.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.real
@pytest.mark.soak
def test_the_programs_of_the_page_play_without_a_fault(tmp_path: Path) -> None:
    loop, agent = PROGRAMS
    (tmp_path / "loop.py").write_text(loop)
    (tmp_path / "agent.py").write_text(agent)
    python = shlex.quote(sys.executable)
    players = (f"arena bridge -- {python} loop.py", f"{python} agent.py")
    outcome = inside("match", *players, "--deals", "1", "--option", "plies=10", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    assert [line.split()[-1] for line in outcome.out.splitlines()[1:3]] == ["0", "0"]


def test_each_word_of_the_table_is_one_of_the_protocol() -> None:
    protocol = (ROOT / "protocol" / "PROTOCOL.md").read_text(encoding="utf-8")
    table = [line.split(" | ", 1)[1] for line in PAGE.splitlines() if line.startswith("| `")]
    words = {word for cell in table for word in re.findall(r"\b[A-Z]{3,}\b|\b[a-z_]+=", cell)}
    assert {"HELLO", "TURN", "increment=", "move_limit="} <= words
    assert {word for word in words if word not in protocol} <= {"NAME", "TOKEN", "VERSION"}
