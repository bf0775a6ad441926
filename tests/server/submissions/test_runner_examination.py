"""What a worker does of an admission: a scripted engine, no process."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.slices import all_of

from arena_server.places.base import LaunchError
from arena_server.places.docker_launcher import RELAY_IMAGE
from arena_server.places.workers.process import HANDED_BACK
from arena_server.places.workers.runner_tasks import give_part
from arena_server.submissions import runner_examination
from arena_server.submissions.admission import EngineAwayError, RejectedError
from arena_server.submissions.runner_examination import CONFIG, Examination, carry_out, examine, sweep
from arena_server.submissions.store import LOG_BYTES
from arena_server.submissions.versions import VersionState
from arena_server.terms.submissions import SubmissionSetup

from .leaping import leap
from .script import setup_in
from .test_on_runners import BYTES, IMAGE, inline, saved


@dataclass
class Engine:
    """An examiner whose engine saves these bytes, or raises."""

    setup: SubmissionSetup
    check_command: Sequence[str]
    play_command: Sequence[str]
    file = BYTES
    error: Exception | None = None
    discarded = ""

    @property
    def docker(self) -> Engine:
        return self

    async def call(self, *words: str, seconds: float) -> str:
        assert (words[:2], words[3]) == (("save", "--output"), IMAGE)
        Path(words[2]).write_bytes(type(self).file)
        return ""

    async def build(self, archive: Path, place: Path, tag: str, say: Any) -> str:
        assert archive.read_bytes() == b"an archive"
        assert list(place.iterdir()) == []
        self._end(say)
        return IMAGE

    async def check(self, image: str, bot: str, say: Any) -> None:
        self._examined(self.check_command, "check", image, bot, say)

    async def play(self, image: str, bot: str, say: Any) -> None:
        self._examined(self.play_command, "play", image, bot, say)

    def _examined(self, command: Sequence[str], word: str, image: str, bot: str, say: Any) -> None:
        assert (command[1], image, bot) == (word, IMAGE, "ann")
        assert Path(command[2]).read_text() == "the file"
        self._end(say)

    def _end(self, say: Any) -> None:
        say("a line")
        if (error := type(self).error) is not None:
            raise error

    async def discard(self, tag: str) -> None:
        type(self).discarded = tag


def examination(stage: VersionState, folder: Path) -> Examination:
    return Examination(
        stage=stage,
        bot="ann",
        setup=setup_in(folder),
        file="the file",
        commands=[["check", CONFIG], ["play", CONFIG]],
        renew_s=0.01,
        archive=b"an archive",
        tag="tag",
        image=IMAGE,
    )


B, C, P = VersionState.BUILDING, VersionState.CHECKING, VersionState.PLAYING
OTHER = "its engine keeps images by another digest than that of their configuration"
ENDS: dict[str, tuple[VersionState, Exception | None, bytes, str, list[object]]] = {
    "built": (B, None, BYTES, "", ["built", IMAGE, len(BYTES)]),
    "checked": (C, None, BYTES, "", ["passed"]),
    "played": (P, None, BYTES, "", ["passed"]),
    "containerd": (B, None, saved(b"2")[1], "", ["away", OTHER]),
    "no build": (B, RejectedError("no file"), BYTES, "", ["rejected", "no file"]),
    "no engine": (B, EngineAwayError("no engine"), BYTES, "", ["away", "no engine"]),
    "not saved": (B, LaunchError("no room"), BYTES, "", ["away", "no room"]),
    "a full disk": (C, OSError("full"), BYTES, "", ["away", "full"]),
    "no image": (C, None, BYTES, "not here", ["away", "not here"]),
}


@all_of("case", ENDS)
def test_what_is_answered(case: str) -> None:
    stage, error, file, lacks, answer = ENDS[case]
    wanted: list[Sequence[str]] = []

    async def have(images: Sequence[str]) -> str:
        wanted.append(images)
        return lacks

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner_examination, "EngineExaminer", Engine)
        patch.setattr(asyncio, "to_thread", inline)
        for name, value in (("file", file), ("error", error), ("discarded", "")):
            patch.setattr(Engine, name, value)
        lines: list[str] = []

        async def run() -> None:
            assert await carry_out(examination(stage, Path()), "k", lines.append, have) == answer
            assert give_part("k", 0) == (BYTES if answer[0] == "built" else b"")

        leap(run())
        assert wanted == ([] if stage is B else [[RELAY_IMAGE, IMAGE]])
        assert Engine.discarded == ("tag" if stage is B else "")
        assert lines == ([] if lacks else ["a line"])


class Dask(SimpleNamespace):
    """A worker of Dask that has this one task."""

    def __init__(self) -> None:
        super().__init__(name="r1", address="tcp://1", events=[], ticks=0)
        self.state = SimpleNamespace(tasks={"k": SimpleNamespace(state="executing")})

    def log_event(self, _topic: str, event: dict[str, object]) -> None:
        self.events.append(event)


@pytest.mark.asyncio
@pytest.mark.parametrize("wanted", [True, False])
async def test_a_worker_says_that_it_goes_on_and_ends_what_is_not_wanted(
    wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    dask, ended = Dask(), []

    async def carry(_: Examination, key: str, say: Any, have: Any) -> list[object]:
        try:
            say("x" * LOG_BYTES)
            say("beyond the bound")
            while len(dask.events) < 4 or not wanted:
                await asyncio.sleep(0)
                if not wanted:
                    dask.state.tasks.clear()
            return ["passed", await have(["i"])]
        finally:
            ended.append(key)

    class Images:
        async def have(self, images: Sequence[str], source: str, ask: Any) -> str:
            ask(images[0])
            return source

    monkeypatch.setattr(runner_examination, "carry_out", carry)
    monkeypatch.setattr(runner_examination, "runner_images", Images())
    monkeypatch.setattr(distributed, "get_worker", lambda: dask)
    answer = await examine(pickle.dumps(examination(C, Path())), "cup", "k")
    assert answer == (["passed", "cup"] if wanted else ["away", HANDED_BACK])
    assert ended == ["k"]
    assert {"key": "k", "said": "x" * LOG_BYTES} in dask.events
    assert {"key": "k"} in dask.events
    if wanted:
        assert {"lacks": "i", "address": "tcp://1", "name": "r1"} in dask.events
    assert not any(event.get("said") == "beyond the bound" for event in dask.events)


def test_what_killed_workers_have_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(pid: int, number: int) -> None:
        assert number == 0
        if pid < 3:
            raise (ProcessLookupError if pid == 1 else PermissionError)

    monkeypatch.setattr("os.kill", kill)
    names = [f"arena-examination-{name}" for name in ("1-file", "1-folder", "2-file", "3-file", "x-file")]
    for name in names:
        path = tmp_path / name
        path.mkdir() if name.endswith("folder") else path.touch()
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == names[2:]
