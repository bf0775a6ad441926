"""`arena new bot`: a folder from the starter of a language, which plays the checker as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.client.starters.toolchains import LANGUAGES as STARTERS
from tests.client.starters.toolchains import starter
from tests.server.places.containers import real_engine
from tests.server.programs import inside
from tests.server.submissions.script import setup_in

from arena_cli.new_bot import contents
from arena_server.submissions.admission import EngineExaminer
from arena_server.submissions.archive import pack
from arena_server.terms.languages import LANGUAGES
from arena_server.terms.submissions import ArchiveLimits

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_folder_in_each_language(language: str, tmp_path: Path) -> None:
    ended = inside("new", "bot", "mybot", "--language", language, "--json", cwd=tmp_path)
    made = json.loads(ended.out)
    assert (ended.code, made["next"]) == (0, "cd mybot && make check")
    found = {
        path.relative_to(tmp_path / "mybot").as_posix(): path.read_text(encoding="utf-8")
        for path in (tmp_path / "mybot").rglob("*")
        if path.is_file()
    }
    assert sorted(found) == sorted(made["files"])
    assert found == contents("mybot", LANGUAGES[language])
    file = LANGUAGES[language].file
    path = ROOT / "client/starters" / language / file.replace("bot", "starter").replace("Bot", "Starter")
    source = path.read_text(encoding="utf-8")
    assert found[file] == (source.replace("Starter", "Bot") if language == "java" else source)
    assert [task["label"] for task in json.loads(found[".vscode/tasks.json"])["tasks"]] == [
        "build",
        "check",
        "match",
        "image",
    ]
    goals = {line.partition(":")[0] for line in found["Makefile"].splitlines()}
    assert goals >= {"build", "check", "match", "image", "submit", "clean"}


def test_the_languages_are_those_of_the_starters() -> None:
    ended = inside("new", "bot", "--list")
    assert [line.split()[0] for line in ended.out.splitlines()] == [*LANGUAGES] == [*STARTERS]
    rows = json.loads(inside("new", "bot", "--list", "--json").out)
    assert {row["language"]: row["file"] for row in rows} == {
        name: each.file for name, each in LANGUAGES.items()
    }


def test_what_comes_next_is_printed(tmp_path: Path) -> None:
    out = inside("new", "bot", "deep/ann", cwd=tmp_path).out.splitlines()
    assert out[0].startswith("written: deep/ann: bot.py, README.md, ")
    assert out[1:] == ["next: cd deep/ann && make check"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["there"], "there exists and stays as it is: choose another name"),
        (["link"], "link exists and stays as it is: choose another name"),
        (
            ["x", "--language", "perl"],
            "--language: expected one of bash, c, cpp, go, java, javascript, python, rust, got 'perl'",
        ),
        (
            ["a b"],
            "expected the name of a bot, 1 to 32 letters, digits, `_`, `.` or `-`, got 'a b'",
        ),
        (["referee"], "a bot cannot be called referee: the server itself plays by this name"),
        ([], "say how the bot is called: arena new bot NAME --language LANGUAGE"),
    ],
)
def test_what_is_refused(words: list[str], why: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("nothing")
    ended = inside("new", "bot", *words, cwd=tmp_path)
    assert (ended.code, ended.out, ended.line) == (2, "", f"arena: {why}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]


def test_a_place_that_takes_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = inside("new", "bot", "file/ann", cwd=tmp_path)
    assert (ended.code, ended.line) == (1, "arena: file/ann: cannot be written: Not a directory")


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_fresh_folder_passes_every_case(language: str, tmp_path: Path) -> None:
    if (missing := starter(language).missing) is not None:
        pytest.skip(f"{language}: {missing} is not installed")
    inside("new", "bot", "mybot", "--language", language, cwd=tmp_path)
    last = run(["make", "check"], tmp_path / "mybot").splitlines()[-1]
    cases, ok = last.split(" cases: ")[0], last.split(" cases: ")[1].split(" ok")[0]
    assert (cases == ok, int(cases) >= 80) == (True, True), last


def run(words: list[str], folder: Path) -> str:
    """The output of a command that finds the `arena` of these tests."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ended = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=1000, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def _has_image(image: str) -> bool:
    words = ["docker", "image", "inspect", image]
    return subprocess.run(words, capture_output=True, timeout=60, check=False).returncode == 0


@real_engine
@pytest.mark.real
@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.asyncio
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_folder_without_a_dockerfile_is_built_by_the_server(language: str, tmp_path: Path) -> None:
    """The engine has to have the image of the language: none is fetched."""
    if not _has_image(LANGUAGES[language].image):
        pytest.skip(f"{LANGUAGES[language].image} is not on this machine")
    inside("new", "bot", "mybot", "--language", language, cwd=tmp_path)
    (tmp_path / "mybot/Dockerfile").unlink()
    (tmp_path / "a.tar.gz").write_bytes(pack(tmp_path / "mybot", ArchiveLimits()))
    (tmp_path / "place").mkdir()
    lines: list[str] = []
    words = (sys.executable, "-m", "arena_cli", "check", "bot", "8.1", "--", "image:{image}")
    examiner = EngineExaminer(setup_in(tmp_path, None), words, ())
    tag = f"insertion-arena-test:{language}"
    try:
        image = await examiner.build(tmp_path / "a.tar.gz", tmp_path / "place", tag, lines.append)
        await examiner.check(image, "mybot", lines.append)
    finally:
        await examiner.discard(tag)
    assert lines[0].startswith(f"no Dockerfile: {LANGUAGES[language].file} is built as ")
    assert "0 failed, 0 not reached" in lines[-1]
