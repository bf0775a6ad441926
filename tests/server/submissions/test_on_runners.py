"""Admissions by runners, in virtual time: which of them builds and checks, and what is left of a bad one."""

from __future__ import annotations

import asyncio
import io
import json
import pickle
import tarfile
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.slices import all_of

from arena_server.places.workers.runner_tasks import NoRunnerError, RunnerLostError, RunnerTask
from arena_server.submissions.admission import EngineAwayError, Say
from arena_server.submissions.bot import NO_FAULT
from arena_server.submissions.on_runners import MOST_LOST, RunnerExaminer
from arena_server.submissions.service import AGAIN_S, SubmissionService
from arena_server.submissions.told_file import told_file
from arena_server.submissions.versions import VersionState
from arena_server.terms.stages import load_whole

from .leaping import leap
from .script import KEY, Script, setup_in
from .test_service import send

FILE = """
[contest]
name = "friday"
game = "tictactoe"
seed = 99887766
stall_limit = "5s"
anonymous = true
[game]
clock = "7s"
[container]
cpus = 0.5
[[bot]]
name = "ann"
submit = true
memory = "128MB"
ponder = "off"
token_sha256 = "{digest}"
[[bot]]
name = "bob"
token_sha256 = "{digest}"
""".format(digest="d" * 64)


def saved(config: bytes = b"{}", name: str = "") -> tuple[str, bytes]:
    """The digest of an image, and its file."""
    digest, out = sha256(config).hexdigest(), io.BytesIO()
    manifest = json.dumps([{"Config": name or f"{digest}.json", "Layers": []}]).encode()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member, data in ((f"{digest}.json", config), ("manifest.json", manifest)):
            info = tarfile.TarInfo(member)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return f"sha256:{digest}", out.getvalue()


IMAGE, BYTES = saved()
#: What a runner answers by stage, unless its script says something else.
GOOD: Mapping[str, object] = {
    "building": ("built", IMAGE, len(BYTES)),
    "checking": ["passed"],
    "playing": ["passed"],
}


@dataclass
class Runners:
    """Runners by name: what each answers to a stage, or how it is lost; `joins` has when one is there."""

    scripts: dict[str, dict[str, object]]
    joins: dict[str, float] = field(default_factory=dict)
    file: bytes = BYTES
    done: list[tuple[str, str]] = field(default_factory=list)
    noted: list[tuple[str, str]] = field(default_factory=list)
    images: list[str] = field(default_factory=list)

    async def run(
        self, task: RunnerTask, avoid: Collection[str], say: Callable[[str], None]
    ) -> tuple[str, object]:
        now = asyncio.get_running_loop().time()
        there = [name for name in self.scripts if self.joins.get(name, 0.0) <= now]
        if not (free := [name for name in there if name not in avoid]):
            raise NoRunnerError("no other worker" if there else "no worker")
        stage = pickle.loads(task.payload).stage
        self.done.append((free[0], str(stage)))
        self.images += [Path(each.saved).read_bytes().decode("latin-1") for each in task.images]
        say(f"{stage} says this")
        await asyncio.sleep(5.0)
        answer = self.scripts[free[0]].get(stage, GOOD[stage])
        if isinstance(answer, RunnerLostError):
            raise answer
        return free[0], answer

    async def fetch(self, runner: str, key: str, path: Path, size: int) -> None:
        path.write_bytes(self.file)
        if "fetch" in self.scripts[runner]:
            raise RunnerLostError(runner, "it is gone")

    def note(self, runner: str, line: str) -> None:
        self.noted.append((runner, line))


class Away(Script):
    """A server without an engine."""

    async def build(self, archive: Path, place: Path, tag: str, say: Say) -> str:
        raise EngineAwayError("no engine answers")


async def inline(function: Callable[..., Any], *arguments: Any) -> Any:
    """In place of a thread, whose time is not virtual."""
    return function(*arguments)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(asyncio, "to_thread", inline)
    (tmp_path / "c.toml").write_text(FILE)
    return tmp_path


def admit(folder: Path, runners: Runners, own: Script, versions: int = 1) -> SubmissionService:
    """Have versions examined, one after the other."""

    async def run() -> SubmissionService:
        setup = setup_in(folder)
        examiner = RunnerExaminer(setup, own, runners, [["check", "{config}"], ["play", "{config}"]])
        service = SubmissionService([setup], {KEY[0]: examiner}, asyncio.get_running_loop().time)
        admitting = asyncio.create_task(service.admit_all())
        for _ in range(versions):
            told = send(service)
            while await told.get() is not None:
                pass
        admitting.cancel()
        with suppress(asyncio.CancelledError):
            await admitting
        service.close()
        return service

    return leap(run())


def lost(problem: str = "it is gone") -> RunnerLostError:
    return RunnerLostError("r1", problem)


@dataclass(frozen=True)
class Row:
    """What runners do, who does what then, and what the organiser reads."""

    scripts: dict[str, dict[str, object]]
    done: Sequence[str]
    noted: Sequence[str] = ()
    joins: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    file: bytes = BYTES


ELSEWHERE = "r1: the {} of a version of ann is tried elsewhere: {}"
NO_MORE = "r1: it examines no version any more: {}"
BUILT = ("r2 building", "r2 checking", "r2 playing")
#: Without another one a version would wait for ever.
ENOUGH: dict[str, dict[str, object]] = {"r2": {"building": ["rejected", "enough"]}}
TABLE = {
    "one runner": Row({"r1": {}}, ["r1 building", "r1 checking", "r1 playing"]),
    "two runners": Row({"r2": {}, "r1": {}}, BUILT),
    "killed in the build": Row(
        {"r1": {"building": lost()}, "r2": {}},
        ["r1 building", *BUILT[:1], "r1 checking", "r1 playing"],
        [ELSEWHERE.format("build", "it is gone")],
    ),
    "killed before its file was here": Row(
        {"r1": {"fetch": True}, "r2": {}},
        ["r1 building", *BUILT[:1], "r1 checking", "r1 playing"],
        [ELSEWHERE.format("build", "it is gone")],
    ),
    "killed in the check": Row(
        {"r1": {"checking": lost("it was silent for 30 s")}, "r2": {}},
        ["r1 building", "r1 checking", "r2 checking", "r1 playing"],
        [ELSEWHERE.format("check", "it was silent for 30 s")],
    ),
    "killed in the game": Row(
        {"r1": {"playing": lost()}, "r2": {}},
        ["r1 building", "r1 checking", "r1 playing", "r2 playing"],
        [ELSEWHERE.format("game", "it is gone")],
    ),
    "no engine anywhere, later one": Row({"r2": {}}, BUILT, joins={"r2": 100.0}),
    "one cannot tell, and the other comes later": Row(
        {"r1": {"building": ["away", "image x: denied"]}, "r2": {}},
        ["r1 building"] * 3 + ["r2 building", "r1 checking", "r1 playing"],
        [ELSEWHERE.format("build", "image x: denied")],
        joins={"r2": 2.5 * AGAIN_S},
    ),
    "built once, and checked when another one comes": Row(
        {"r1": {"checking": lost()}, "r2": {}},
        ["r1 building", *["r1 checking"] * 4, "r2 checking", "r1 playing"],
        [ELSEWHERE.format("check", "it is gone")],
        joins={"r2": 3 * AGAIN_S},
    ),
    "a version that is rejected": Row(
        {"r1": {"checking": ["rejected", "3.1/1 a\x07 game"]}, "r2": {}},
        ["r1 building", "r1 checking"],
        reason="3.1/1 a  game",
    ),
    "a version that ends all runners": Row(
        {f"r{number}": {"building": RunnerLostError(f"r{number}", "it is gone")} for number in range(12)},
        [f"r{number} building" for number in range(MOST_LOST)],
        [
            f"r{number}: the build of a version of ann is tried elsewhere: it is gone"
            for number in range(MOST_LOST - 1)
        ],
        reason=f"{NO_FAULT}{MOST_LOST} times a runner was lost: it is gone",
    ),
    "a file of another image": Row(
        {"r1": {}} | ENOUGH,
        ["r1 building", "r2 building"],
        [NO_MORE.format(f"expected a file with image {IMAGE}, got one with {saved(b'2')[0]}")],
        file=saved(b"2")[1],
        reason="enough",
    ),
    "a file that only says that it has the image": Row(
        {"r1": {}} | ENOUGH,
        ["r1 building", "r2 building"],
        [NO_MORE.format(f"expected a file with image {IMAGE}, whose configuration is another one")],
        file=saved(b"2", IMAGE.partition(":")[2] + ".json")[1],
        reason="enough",
    ),
    "a file of anything": Row(
        {"r1": {}} | ENOUGH,
        ["r1 building", "r2 building"],
        [NO_MORE.format("expected a file of `docker save` with one image, got ")],
        file=b"x",
        reason="enough",
    ),
}
LIES = [None, "passed", ["passed"], ["built", "sha256:0", 5], ["built", IMAGE, 10**12], ["built", IMAGE, 0]]
for place, lie in enumerate(LIES):
    TABLE[f"a lie {place}"] = Row(
        {"r1": {"building": lie}, "r2": {}},
        ["r1 building", *BUILT],
        [NO_MORE.format("expected an image of at most 1100000000 bytes, got ")],
    )
TABLE["a lie of a check"] = Row(
    {"r1": {"checking": ["built", IMAGE, 5]}, "r2": {}},
    ["r1 building", "r1 checking", "r2 checking", "r2 playing"],
    [NO_MORE.format("expected the end of a stage, got ")],
)


@all_of("name", TABLE)
def test_admissions_by_runners(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    row, folder = TABLE[name], tmp_path_factory.mktemp("row")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "to_thread", inline)
        (folder / "c.toml").write_text(FILE)
        runners = Runners(row.scripts, row.joins, row.file)
        service = admit(folder, runners, Away())
    version = service.bots[KEY].versions.find(1)
    assert [f"{runner} {stage}" for runner, stage in runners.done] == [*row.done]
    for (runner, line), expected in zip(runners.noted, row.noted, strict=True):
        assert f"{runner}: {line}".startswith(expected)
    state = VersionState.FAILED if row.reason else VersionState.ADMITTED
    assert (version.state, version.reason) == (state, row.reason)
    assert runners.images == [BYTES.decode("latin-1")] * sum("build" not in each for each in row.done)
    left = {path.name for path in (folder / "friday/ann").iterdir()}
    images = set() if row.reason else {f"{IMAGE.partition(':')[2][:32]}.image.tar"}
    assert left == {"versions.jsonl", "1.log", "1.tar.gz"} | images


def test_the_engine_of_the_server_comes_first(folder: Path) -> None:
    runners, own = Runners({"r1": {}}), Script()
    service = admit(folder, runners, own)
    assert service.bots[KEY].versions.active == 1
    assert own.done == ["build", "check", "play"]
    assert runners.done == []


def test_an_image_is_here_as_a_whole_file_or_in_the_engine_of_the_server(folder: Path) -> None:
    setup, own = setup_in(folder), Script()
    examiner = RunnerExaminer(setup, own, Runners({}), [[], []])

    async def has() -> bool:
        return await examiner.has(IMAGE, KEY[1])

    assert leap(has())
    own.forgets = True
    assert not leap(has())
    path = folder / KEY[0] / KEY[1] / f"{IMAGE.partition(':')[2][:32]}.image.tar"
    path.parent.mkdir(parents=True)
    for data, there in ((BYTES, True), (BYTES[:700], False), (b"", False), (saved(b"2")[1], False)):
        path.write_bytes(data)
        assert leap(has()) is there


def test_an_image_that_two_versions_have_stays_when_one_is_rejected(folder: Path) -> None:
    answers = iter([["passed"], ["rejected", "why"]])

    class Changing(dict[str, object]):
        def get(self, stage: str, usual: object = None) -> object:
            return next(answers) if stage == "checking" else usual

    service = admit(folder, Runners({"r1": Changing()}), Away(), versions=2)
    versions = service.bots[KEY].versions
    assert [each.state for each in versions.all()] == [VersionState.ADMITTED, VersionState.FAILED]
    assert service.bots[KEY].store.image(IMAGE).exists()


def test_a_runner_learns_game_and_limits_and_no_secret(tmp_path: Path) -> None:
    path, told = tmp_path / "c.toml", tmp_path / "told.toml"
    path.write_text(FILE)
    told.write_text(text := told_file(path, "ann", 2))
    assert "99887766" not in text
    assert "dddd" not in text
    whole, part = load_whole(path), load_whole(told)
    assert part.game == whole.game
    assert part.contest.stall_limit == whole.contest.stall_limit
    assert part.contest.anonymous
    limits = [file.bot[0].limits(file.container.limits()) for file in (whole, part)]
    assert limits[0] == limits[1]
    late = tomllib.loads(told_file(path, "late", 2))
    assert late["bot"] == [{"name": "late", "image": "late"}, {"name": "other-1"}]
