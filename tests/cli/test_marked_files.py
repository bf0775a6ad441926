"""Text files of people behind a byte order mark, as editors of Windows write them: each reader ignores it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.server.programs import Shell

from arena_engines.insertion.master import memory
from arena_engines.library import Library
from arena_server.terms.file import load_contest, webhooks_of

MARK = b"\xef\xbb\xbf"
CONTEST = """[contest]
name = "cup"
game = "tictactoe"
[[bot]]
name = "a"
[[bot]]
name = "b"
"""
RESULTS = "a 2 b 0\nb 2 a 0\nb 1 a 1\na 2 c 0\nc 2 b 0\n"


def write(path: Path, text: str) -> Path:
    path.write_bytes(MARK + text.replace("\n", "\r\n").encode())
    return path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["standings", "ratings"])
def test_a_file_of_results(here: Path, shell: Shell, command: str) -> None:
    if command == "ratings":
        pytest.importorskip("numpy")
    write(here / "marked.txt", RESULTS)
    (here / "plain.txt").write_text(RESULTS)
    marked, plain = (
        json.loads(shell(command, "--file", name, "--json").out) for name in ("marked.txt", "plain.txt")
    )
    for each in (marked, plain):
        each.pop("file", None)
        each.pop("rated", None)
    assert marked == plain


def test_a_contest_and_what_it_names(here: Path, shell: Shell) -> None:
    write(here / "webhook.secret", "a secret of the receiver")
    hook = '[[webhook]]\nurl = "https://example.org/"\nsecret_file = "webhook.secret"\n'
    file = load_contest(write(here / "cup.toml", CONTEST + hook))
    assert [each.secret for each in webhooks_of(file)] == ["a secret of the receiver"]
    assert shell("simulate", "cup.toml", "--runs", "1").out.startswith("cup: tictactoe, ")


def test_positions_and_libraries(here: Path, shell: Shell) -> None:
    write(here / "positions.txt", "...../...../...../...../..... 61\n")
    words = ("analyse", "insertion", "--engine", "greedy", "--depth", "1", "--positions", "positions.txt")
    outcome = shell(*words, "--library", "plain.jsonl")
    assert outcome.code == 0, outcome
    library = write(here / "library.jsonl", (here / "plain.jsonl").read_text())
    Library(library)
    outcome = shell("match", "random", "dummy", "--deals", "1", "--library", "library.jsonl")
    assert outcome.code == 0, outcome


def test_what_an_engine_remembers(here: Path) -> None:
    assert (
        memory.read(write(here / "memory.json", json.dumps({"format": memory.FORMAT, "opponents": {}}))) == {}
    )
