"""Versions with a real engine: what a build cannot do, and a version from its upload to its games."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from hashlib import sha256
from pathlib import Path

import pytest
from tests.forked import Arena
from tests.server.places.containers import real_engine
from tests.server.programs import Players, Server, arena

from arena_server.submissions.admission import EngineExaminer, RejectedError, tag_of
from arena_server.submissions.archive import pack
from arena_server.terms.submissions import ArchiveLimits, SubmissionRules

from .script import setup_in

pytestmark = [real_engine, pytest.mark.real]

ROOT = Path(__file__).parents[3]
TAG = tag_of("test", str(os.getpid()), 1)


async def build(folder: Path, dockerfile: str, rules: SubmissionRules | None = None) -> list[str]:
    """Build; the output. Raises RejectedError."""
    bot, place, lines = folder / "mybot", folder / "place", list[str]()
    bot.mkdir(exist_ok=True)
    place.mkdir()
    (bot / "Dockerfile").write_text(dockerfile)
    archive = folder / "a.tar.gz"
    archive.write_bytes(pack(bot, ArchiveLimits()))
    examiner = EngineExaminer(setup_in(folder, rules), (), ())
    try:
        image = await examiner.build(archive, place, TAG, lines.append)
        assert image.startswith("sha256:")
    finally:
        subprocess.run(["docker", "image", "rm", "--force", TAG], capture_output=True, timeout=60)
    return lines


@pytest.mark.asyncio
@pytest.mark.slow
async def test_a_step_of_a_build_has_no_network(tmp_path: Path) -> None:
    code = "import os; print('seen:', sorted(os.listdir('/sys/class/net')))"
    lines = await build(tmp_path, f'FROM python:3.12-slim\nRUN python -c "{code}"\n')
    assert "seen: ['lo']" in lines


@pytest.mark.asyncio
@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("RUN python -c 'bytearray(3 << 30)'", "returned a non-zero code: 137"),
        ("COPY nothing /", "nothing"),
    ],
)
@pytest.mark.soak
async def test_a_build_that_is_not_admitted(step: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(RejectedError) as caught:
        await build(tmp_path, f"FROM python:3.12-slim\n{step}\n")
    assert why in str(caught.value)


@pytest.mark.asyncio
@pytest.mark.slow
@pytest.mark.soak
async def test_a_step_of_a_build_has_a_limit_of_processes(tmp_path: Path) -> None:
    code = [
        "import os, time",
        "places = '/sys/fs/cgroup/pids/pids.max', '/sys/fs/cgroup/pids.max'",
        "path = next(filter(os.path.exists, places))",
        "while open(path).read() != '512\\n': time.sleep(0.05)",
        "try: [os.fork() or time.sleep(60) for _ in range(2000)]",
        "except OSError as error: print('refused:', error.strerror)",
    ]
    # The limit comes a moment after the start of the step.
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot" / "probe.py").write_text("\n".join(code))
    lines = await build(tmp_path, "FROM python:3.12-slim\nCOPY probe.py /\nRUN python /probe.py\n")
    assert "refused: Resource temporarily unavailable" in lines


@pytest.mark.asyncio
@pytest.mark.slow
@pytest.mark.soak
async def test_a_build_that_does_not_end(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match=r"^it took longer than 2 s$"):
        await build(tmp_path, "FROM python:3.12-slim\nRUN sleep 600\n", SubmissionRules(build_s=2.0))


TOKEN = "the-author-s-token"
CONTEST = f"""
[contest]
name = "friday"
games_per_pair = 1000
[game]
plies = 10
clock = "60s"
[[bot]]
name = "bob"
[[bot]]
name = "ann"
submit = true
token_sha256 = "{sha256(TOKEN.encode()).hexdigest()}"
"""


class Author:
    """Sends versions of ann."""

    def __init__(self, site: str, folder: Path) -> None:
        self._env = {"ARENA_SITE": site, "ARENA_NAME": "ann", "ARENA_TOKEN": TOKEN}
        self._folder = folder
        # The page is there before the contest has begun.
        while arena("submit", "--list", cwd=folder, env=self._env).code:
            threading.Event().wait(0.2)

    def submit(self, *words: str) -> str:
        ended = arena("submit", *words, cwd=self._folder, env=self._env, patience_s=600.0)
        assert "arena: " not in ended.err, ended.err
        return ended.out

    def active(self) -> tuple[object, object]:
        document = json.loads(self.submit("--list", "--json"))
        return document["active"], document["deployed"]


def site_of(server: Server) -> str:
    """The address of its page."""
    assert server.process.stdout is not None
    return str(server.process.stdout.readline().split()[-1])


def containers() -> str:
    """Those of bots on this machine."""
    listed = ["docker", "ps", "--all", "--quiet", "--filter", "label=insertion-arena.contest"]
    return subprocess.run(listed, capture_output=True, text=True, check=True, timeout=60).stdout


def _played(folder: Path) -> bool:
    """Whether a game has a result."""
    rows = json.loads(arena("standings", "--contest", "friday", "--json", cwd=folder).out)["standings"]
    return any(row["games"] for row in rows)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_version_from_its_upload_to_its_games(tmp_path: Path) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Dockerfile").write_text(
            'FROM python:3.12-slim\nCOPY bot.py /bot.py\nCMD ["python", "-u", "/bot.py"]\n'
        )
    shutil.copy(ROOT / "client/starters/python/bot.py", tmp_path / "good/bot.py")
    (tmp_path / "bad/bot.py").write_text("raise SystemExit('no such book')\n")
    done = threading.Event()
    with Server(CONTEST, tmp_path, "--web-port", "0") as server:
        author = Author(site_of(server), tmp_path)
        assert "version 1 plays from the next game on" in author.submit("good")
        refused = author.submit("bad").splitlines()[-1]
        assert refused.startswith("version 2 is not admitted: check failed: ")
        Players(server.port, [("bob", "first-legal")])
        while author.active() != (1, 1):
            done.wait(0.2)
        while not _played(tmp_path):
            done.wait(0.2)
        server.end(signal.SIGKILL)
    while containers():
        done.wait(0.5)
    with Server(CONTEST, tmp_path, "--web-port", "0") as server:
        author = Author(site_of(server), tmp_path)
        assert author.active() == (1, 1)
    ratings = arena("ratings", "--contest", "friday", "--versions", "--json", cwd=tmp_path)
    assert "v1" in ratings.out


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_tournament_takes_a_version(tmp_path: Path) -> None:
    """It waits for it, beside a bot that it starts itself, and leaves no container."""
    folder = tmp_path / "good"
    folder.mkdir()
    (folder / "Dockerfile").write_text(
        'FROM python:3.12-slim\nCOPY bot.py /bot.py\nCMD ["python", "-u", "/bot.py"]\n'
    )
    shutil.copy(ROOT / "client/starters/python/bot.py", folder / "bot.py")
    text = CONTEST.replace("= 1000", "= 2").replace('name = "bob"', 'name = "bob"\nengine = "first-legal"')
    (tmp_path / "c.toml").write_text(text)
    tournament = Arena(
        ["tournament", "c.toml", "--web-port", "0"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert tournament.stdout is not None
    while "web on" not in (line := tournament.stdout.readline()):
        assert line, "it has ended"
    author = Author(line.split()[-1], tmp_path)
    assert "version 1 plays from the next game on" in author.submit("good")
    out, err = tournament.communicate(timeout=300)
    assert tournament.returncode == 0, err
    assert "2 of 2 games" in out
    while containers():  # they end by themselves
        threading.Event().wait(0.5)
