"""docs/bot-author.txt: current and small enough; the bots in it play, and keep the board by the rules."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.programs import PATIENCE_S, arena, inside
from tests.slices import rows

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "bot-author.txt").read_text(encoding="utf-8")
TOOL = runpy.run_path(str(ROOT / "tools" / "bot_author.py"))
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
SMALLEST, BOARD = PROGRAMS[:2]
CONTEST, *_ = re.findall(r"^```toml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_the_file_is_current() -> None:
    assert TOOL["generate"]() == TEXT, "run `python tools/bot_author.py` and commit docs/bot-author.txt"


def test_it_has_fewer_than_20000_tokens() -> None:
    assert max(len(TEXT) / 4, len(TEXT.split()) * 1.35) < 20_000


def test_the_estimate_is_the_greater_of_both() -> None:
    assert TOOL["tokens"]("a" * 400) == 101
    assert TOOL["tokens"]("a " * 100) == 136


def test_check_fails_for_an_old_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    main = TOOL["main"]
    monkeypatch.setattr(sys, "argv", ["bot_author.py", "--check"])
    assert main() == 0
    old = tmp_path / "bot-author.txt"
    old.write_text("old", encoding="utf-8")
    monkeypatch.setitem(main.__globals__, "TARGET", old)
    assert main() == 1
    assert old.read_text(encoding="utf-8") == "old"
    monkeypatch.setattr(sys, "argv", ["bot_author.py"])
    assert main() == 0
    assert old.read_text(encoding="utf-8") == TEXT


def test_a_text_that_is_too_long_is_not_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    main = TOOL["main"]
    monkeypatch.setattr(sys, "argv", ["bot_author.py"])
    monkeypatch.setitem(main.__globals__, "TARGET", tmp_path / "bot-author.txt")
    monkeypatch.setitem(main.__globals__, "TOKEN_LIMIT", 100)
    assert main() == 1
    assert not list(tmp_path.iterdir())


def test_a_section_that_is_gone_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"docs/check.md has no section 'A cat'"):
        TOOL["section"]("docs/check.md", "A cat")
    with pytest.raises(ValueError, match="no section 'A cat'"):
        TOOL["without"]("# Title\n", "A cat")
    with pytest.raises(ValueError, match=r"docs/check.md has no block of cobol"):
        TOOL["block"]("docs/check.md", "cobol")


def test_it_leads_to_no_other_page() -> None:
    assert not re.search(r"\]\([^)]*\)", re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL))


@pytest.mark.real
@pytest.mark.parametrize("number", rows(range(len(PROGRAMS)), 3))
def test_the_programs_play_the_contest_of_the_text(number: int, tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(PROGRAMS[number], encoding="utf-8")
    short = CONTEST.replace('name = "try"', 'name = "try"\ngames_per_pair = 2\n[game]\nplies = 30')
    (tmp_path / "try.toml").write_text(short, encoding="utf-8")
    played = arena("tournament", "try.toml", "--json", "--no-web", cwd=tmp_path)
    assert played.code == 0, played.err
    standings = json.loads(played.out)["standings"]
    assert [(row["games"], row["faults"]) for row in standings] == [(2, {})] * 2
    assert inside("verify", cwd=tmp_path).out == "verified: 2 games\n"


@pytest.mark.real
@pytest.mark.soak
def test_the_bot_that_keeps_the_board_passes_the_checks_of_a_starter(tmp_path: Path) -> None:
    """The sections of a game and of lost connections; `arena check bot` plays the rest."""
    (tmp_path / "mybot.py").write_text(BOARD, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "arena_cli", "check", "bot", "3", "8", "--", sys.executable, "mybot.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " 0 not implemented, 0 failed, 0 not reached" in done.stdout


def the_bot() -> Any:
    module = ModuleType("greedy_bot")
    exec(BOARD, module.__dict__)
    return module


def written(columns: list[list[str]]) -> str:
    rows = ("".join(c[y] if y < len(c) else "." for c in columns) for y in reversed(range(5)))
    return "/".join(rows)


BOT = the_bot()


def test_its_board_is_that_of_the_reference_games() -> None:
    games = (ROOT / "protocol" / "vectors" / "insertion.jsonl").read_text(encoding="utf-8").splitlines()
    for game in map(json.loads, games[:10]):
        columns = BOT.read_board(game["board"])
        for move, colour, points, *_, after in game["plies"]:
            columns, earned = BOT.play(columns, move, str(colour))
            assert (earned, written(columns)) == (points, after)


@given(
    st.lists(st.lists(st.sampled_from("123456"), max_size=5), min_size=5, max_size=5), st.sampled_from("123")
)
def test_it_takes_the_move_that_earns_most(columns: list[list[str]], picture: str) -> None:
    from arena_protocol.games.insertion import parse_board, rules

    gains = {
        move: 10 * rules.play(*parse_board(written(columns)), move, int(picture))[3] for move in range(1, 16)
    }
    assert gains[BOT.choose(columns, picture)] == max(gains.values())
