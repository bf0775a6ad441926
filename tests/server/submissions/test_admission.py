"""The stages of an admission, with an engine that is a script."""

from __future__ import annotations

import asyncio
import io
import os
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from arena_server.places.base import LaunchError
from arena_server.places.docker import Docker, NoEngineError
from arena_server.submissions.admission import (
    LINE_CHARACTERS,
    EngineAwayError,
    EngineExaminer,
    RejectedError,
    printable,
    run_step,
    tag_of,
)
from arena_server.submissions.archive import pack
from arena_server.terms.languages import IMAGES, LANGUAGES
from arena_server.terms.submissions import ArchiveLimits, SubmissionRules

from .script import setup_in

pytestmark = pytest.mark.asyncio

#: What the command says before a build with the engine's own builder.
NOTICE = """DEPRECATED: The legacy builder is deprecated and will be removed in a future release.
            BuildKit is currently disabled; enable it by removing the DOCKER_BUILDKIT=0
            environment-variable.
"""
#: The command of the engine: it notes its words, and builds and inspects as the Dockerfile says.
ENGINE = """#!{python}
import os, sys
here = os.path.dirname(os.path.abspath(__file__))
words = sys.argv[1:]
with open(os.path.join(here, "calls"), "a") as file:
    print(*words, file=file)
if words[0] == "build":
    assert os.environ["DOCKER_BUILDKIT"] == "0", "BuildKit ignores the limits"
    print({notice!r}, file=sys.stderr)
    text = open(os.path.join(words[-1], "Dockerfile")).read()
    if "BROKEN" in text:
        print("Step 2/2 : COPY nothing /")
        sys.exit("COPY failed: no source files")
    print("Step 2/2 : RUN make")
    print(" ---> Running in 0123456789ab")
    print(" ---> Running in ba9876543210")
    print("Successfully built")
    open(words[words.index("--iidfile") + 1], "w").write("sha256:abc")
elif words[:2] == ["inspect", "--format"]:
    print("a-contest" if words[3] == "ba9876543210" else "")
elif words[:2] == ["image", "inspect"]:
    print(open(os.path.join(here, "size")).read())
"""


class Home:
    """A folder with a bot, and an engine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bot = folder / "mybot"
        self.bot.mkdir()
        self.dockerfile("FROM python:3.12-slim\nCOPY bot.py /\n")
        (self.bot / "bot.py").write_text("print()")
        program = folder / "docker"
        program.write_text(ENGINE.replace("{python}", sys.executable).replace("{notice!r}", repr(NOTICE)))
        program.chmod(0o755)
        (folder / "size").write_text("1000")
        self.lines: list[str] = []

    def dockerfile(self, text: str) -> None:
        (self.bot / "Dockerfile").write_text(text)

    def examiner(self, rules: SubmissionRules | None = None, *words: str) -> EngineExaminer:
        command = words or (sys.executable, "-c", "print('{image} {bot}')")
        docker = Docker(str(self.folder / "docker"))
        return EngineExaminer(setup_in(self.folder, rules), command, command, docker)

    async def build(self, rules: SubmissionRules | None = None, data: bytes | None = None) -> str:
        archive, place = self.folder / "1.tar.gz", self.folder / "place"
        archive.write_bytes(pack(self.bot, ArchiveLimits()) if data is None else data)
        place.mkdir()
        return await self.examiner(rules).build(archive, place, "tag", self.lines.append)

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def tar_of(*names: str) -> bytes:
    """An archive of empty files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))
    return out.getvalue()


NO_DOCKERFILE = "expected a Dockerfile at the top of the archive, there is none"


@pytest.mark.parametrize(
    ("names", "taken", "why"),
    [
        (["bot.pl"], ["go", "python"], "without it expected one of bot.go, bot.py"),
        (["a/bot.py"], ["python"], "without it expected one of bot.py"),
        (["bot.js"], ["python"], "without it expected one of bot.py, got bot.js"),
        (["bot.js"], [], "without it expected one of no language, got bot.js"),
        (
            ["bot.go", "bot.py"],
            ["go", "python"],
            "expected one file that says the language, got bot.go and bot.py",
        ),
    ],
)
async def test_a_folder_whose_language_is_not_clear(
    names: list[str], taken: list[str], why: str, home: Home
) -> None:
    rules = SubmissionRules(languages=dict.fromkeys(taken, "x"))
    with pytest.raises(RejectedError) as caught:
        await home.build(rules, tar_of(*names))
    assert str(caught.value) == f"{NO_DOCKERFILE}: {why}"


async def test_a_folder_that_is_called_as_a_dockerfile(home: Home) -> None:
    with pytest.raises(RejectedError, match=f"^{NO_DOCKERFILE}$"):
        await home.build(None, tar_of("Dockerfile/x", "bot.py"))


@pytest.mark.real
@pytest.mark.soak
async def test_a_folder_without_a_dockerfile_is_built_by_its_language(home: Home) -> None:
    (home.bot / "Dockerfile").unlink()
    rules = SubmissionRules(images=["python:3.13"], languages={"python": "python:3.13"})
    assert await home.build(rules) == "sha256:abc"
    assert home.lines[0] == "no Dockerfile: bot.py is built as Python on python:3.13"
    written = (home.folder / "place/folder/Dockerfile").read_text()
    assert written == LANGUAGES["python"].dockerfile("python:3.13")


@pytest.mark.real
async def test_a_build_has_no_network_and_its_output_is_told(home: Home) -> None:
    assert await home.build() == "sha256:abc"
    assert home.lines[-1] == "Successfully built"
    assert "--network none" in home.calls[2]
    # The container of the step is bounded; another one, which a step may have printed, is a bot's.
    assert [call for call in home.calls if "update" in call] == ["update --pids-limit 512 0123456789ab"]
    assert "--tag tag" in home.calls[2]
    assert await home.examiner().has("sha256:abc", "ann")


@pytest.mark.real
@pytest.mark.soak
async def test_a_notice_of_the_engine_is_told_neither_as_output_nor_as_the_reason() -> None:
    lines: list[str] = []
    code = f"import sys; print({NOTICE!r}, file=sys.stderr); sys.exit(1)"
    with pytest.raises(RejectedError, match=r"^it ended with status 1$"):
        await run_step([sys.executable, "-c", code], dict(os.environ), 60.0, lines.append)
    assert lines == []
    await run_step([sys.executable, "-c", f"print('RUN'); print({NOTICE!r})"], {}, 60.0, lines.append)
    assert lines == ["RUN", *(line.strip() for line in NOTICE.splitlines())]


@pytest.mark.real
@pytest.mark.soak
async def test_a_build_with_a_network(home: Home) -> None:
    await home.build(SubmissionRules(build_network=True))
    assert "--network" not in home.calls[0]


@pytest.mark.real
@pytest.mark.parametrize(
    ("dockerfile", "why"),
    [
        ("FROM python:3.12-slim\n# BROKEN\n", "COPY failed: no source files"),
        ("FROM debian\n", f"Dockerfile: FROM: expected one of {', '.join(sorted(IMAGES))}, got 'debian'"),
    ],
)
async def test_a_build_that_fails_says_why(dockerfile: str, why: str, home: Home) -> None:
    home.dockerfile(dockerfile)
    with pytest.raises(RejectedError) as caught:
        await home.build()
    assert str(caught.value) == why


async def test_an_archive_that_is_none(home: Home) -> None:
    with pytest.raises(RejectedError, match=r"^the archive is damaged: "):
        await home.build(data=b"no tar")


@pytest.mark.real
@pytest.mark.soak
async def test_an_image_that_is_too_large_is_removed(home: Home) -> None:
    (home.folder / "size").write_text("2000000000")
    with pytest.raises(RejectedError, match=r"^expected an image of at most 1000 MB, got 2000 MB$"):
        await home.build()
    assert home.calls[-1] == "image rm --force tag"


async def test_without_an_engine_or_the_image_of_a_dockerfile(home: Home) -> None:
    class Away(Docker):
        async def call(self, *words: str, seconds: float | None = None) -> str:
            raise NoEngineError("no engine answers")

    class Bare(Docker):
        async def call(self, *words: str, seconds: float | None = None) -> str:
            if words[0] == "version":
                return "20"
            raise LaunchError("pull access denied")

    examiner = replace(home.examiner(), docker=Away())
    archive = home.folder / "1.tar.gz"
    archive.write_bytes(pack(home.bot, ArchiveLimits()))
    (home.folder / "place").mkdir()
    (home.folder / "other").mkdir()
    bare = replace(examiner, docker=Bare())
    assert not await bare.has("sha256:abc", "ann")
    with pytest.raises(EngineAwayError, match=r"^image python:3.12-slim: pull access denied$"):
        await bare.build(archive, home.folder / "other", "tag", home.lines.append)
    for stage in (
        examiner.build(archive, home.folder / "place", "tag", home.lines.append),
        examiner.check("sha256:abc", "ann", home.lines.append),
    ):
        with pytest.raises(EngineAwayError, match=r"^no engine answers$"):
            await stage


@pytest.mark.real
@pytest.mark.soak
async def test_check_and_game_know_image_and_bot(home: Home) -> None:
    examiner = home.examiner()
    await examiner.check("sha256:abc", "ann", home.lines.append)
    await examiner.play("sha256:abc", "ann", home.lines.append)
    assert home.lines == ["sha256:abc ann"] * 2


@pytest.mark.real
@pytest.mark.soak
async def test_the_reason_of_a_check_is_the_failure_that_it_shows(home: Home) -> None:
    code = "import sys; print('ok 1.1/1\\nfailed   3.1/1   a game: expected x\\n1 case'); sys.exit(1)"
    with pytest.raises(RejectedError, match=r"^3\.1/1 a game: expected x$"):
        await home.examiner(None, sys.executable, "-c", code).check("i", "ann", home.lines.append)
    lines = "failed 3.1/1 a game", "3.1/1 failed", "stderr", "Traceback", "no book", "next Start it", "1 case"
    code = f"import sys; print('\\n'.join({lines})); sys.exit(1)"
    with pytest.raises(RejectedError, match=r"^3\.1/1 a game \(no book\)$"):
        await home.examiner(None, sys.executable, "-c", code).check("i", "ann", home.lines.append)
    shown = "failed 1.6/1 a line", "failed 3.1/1  a game", "", "3.1/1 failed (positive)", "stderr", "no book"
    code = f"import sys; print('\\n'.join({shown})); sys.exit(1)"
    with pytest.raises(RejectedError, match=r"^3\.1/1 a game \(no book\)$"):
        await home.examiner(None, sys.executable, "-c", code).check("i", "ann", home.lines.append)
    code = "import sys; sys.exit('no file')"
    with pytest.raises(RejectedError, match=r"^no file$"):
        await home.examiner(None, sys.executable, "-c", code).check("i", "ann", home.lines.append)


class TestStep:
    async def fails(self, code: str, seconds: float = 30.0) -> tuple[str, list[str]]:
        lines: list[str] = []
        with pytest.raises(RejectedError) as caught:
            await run_step([sys.executable, "-c", code], dict(os.environ), seconds, lines.append)
        return str(caught.value), lines

    @pytest.mark.real
    @pytest.mark.soak
    async def test_the_last_line_is_the_reason(self) -> None:
        code = "import sys; print('one\\r\\x1b[2Jtwo\\n\\n'); sys.stdout.flush(); sys.exit('why')"
        assert await self.fails(code) == ("why", ["one", "[2Jtwo", "why"])

    @pytest.mark.real
    @pytest.mark.soak
    async def test_without_a_line_its_status_is(self) -> None:
        assert await self.fails("raise SystemExit(3)") == ("it ended with status 3", [])

    @pytest.mark.real
    async def test_a_step_has_a_limit(self) -> None:
        assert await self.fails("import time; time.sleep(600)", 0.2) == ("it took longer than 0.2 s", [])

    @pytest.mark.real
    @pytest.mark.soak
    async def test_a_step_that_is_broken_off_leaves_no_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("arena_server.submissions.admission.GRACE_S", 0.1)
        code = (
            "import os, signal, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "os.fork()\nos.write(1, b'%d\\n' % os.getpid())\ntime.sleep(600)"
        )
        lines: asyncio.Queue[str] = asyncio.Queue()
        step = run_step([sys.executable, "-c", code], dict(os.environ), 600.0, lines.put_nowait)
        running = asyncio.create_task(step)
        async with asyncio.timeout(60):
            pids = [int(await lines.get()) for _ in range(2)]
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            while any(map(_is_alive, pids)):
                await asyncio.sleep(0.01)

    @pytest.mark.real
    @pytest.mark.soak
    async def test_output_without_an_end_of_line_takes_no_memory(self) -> None:
        code = "import sys\nfor _ in range(200): sys.stdout.write('x' * 100000)\nraise SystemExit(1)"
        why, lines = await self.fails(code)
        assert len(lines) == 1
        assert why == "x" * LINE_CHARACTERS + "..."

    async def test_a_program_that_is_not_there(self) -> None:
        with pytest.raises(RejectedError, match=r"^/no/program: No such file or directory$"):
            await run_step(["/no/program"], {}, 1.0, print)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state != "Z"


async def test_text_of_strangers() -> None:
    assert printable("a\x1b[1;31mb\x1b[0m\tc\x1b[2J\u202e\n") == "ab c [2J"
    assert tag_of("a/b", "c", 1) != tag_of("a", "b/c", 2)
