"""`arena tournament` with bots in containers, by docs/containers.md."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.server.launch.test_containers import real_engine
from tests.server.programs import arena, inside

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/containers.md").read_text()
pytestmark = pytest.mark.real


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def write(folder: Path, bot: str) -> None:
    text = f'[contest]\nname = "boxes"\n[[bot]]\nname = "ann"\nengine = "dummy"\n[[bot]]\nname = "b"\n{bot}\n'
    (folder / "c.toml").write_text(text)


@real_engine
def test_the_example_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "boxes.toml").write_text(block("toml") + "\n[game]\nplies = 20\n")
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot/Dockerfile").write_text(block("text"))
    shutil.copy(ROOT / "client/starters/python/bot.py", tmp_path / "mybot/bot.py")
    ended = arena("tournament", "boxes.toml", "--no-web", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert "building the image of mybot from ./mybot ...\n" in ended.err
    assert "4 of 4 games, scored by points, finished" in ended.out
    assert re.search(r"mybot +\d+ +4 +[\d.]+ +-", ended.out)
    left = ["docker", "ps", "--all", "--quiet", "--filter", "label=insertion-arena.contest"]
    assert subprocess.run(left, capture_output=True, text=True, check=True).stdout == ""


@real_engine
def test_an_image_that_cannot_be_built(tmp_path: Path) -> None:
    write(tmp_path, 'build = "b"')
    (tmp_path / "b").mkdir()
    (tmp_path / "b/Dockerfile").write_text("FROM python:3.12-slim\nCOPY nothing /\n")
    ended = arena("tournament", "c.toml", cwd=tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert re.match(r"arena: c.toml: bot 2: build: .*nothing", ended.err.splitlines()[-1])


def test_a_folder_without_a_dockerfile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, 'build = "b"')
    ended = inside("tournament", "c.toml")
    assert (ended.code, ended.line) == (
        2,
        "arena: c.toml: bot 2: build: expected a folder with a Dockerfile, got 'b'",
    )


def test_without_an_engine(tmp_path: Path) -> None:
    write(tmp_path, 'image = "x:1"')
    ended = arena("tournament", "c.toml", cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert (ended.code, ended.line) == (
        2,
        "arena: c.toml: bot 2: image: docker: No such file or directory;"
        " bots in containers need a Docker engine",
    )
