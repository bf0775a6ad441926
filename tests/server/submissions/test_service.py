"""Uploads and admissions of a server: what authors read, and what is left after it was killed."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.slices import rows

from arena_server.submissions import service as service_module
from arena_server.submissions.admission import EngineAwayError, tag_of
from arena_server.submissions.bot import RefusedError
from arena_server.submissions.service import SubmissionService
from arena_server.submissions.store import VersionStore
from arena_server.submissions.versions import STAGE_NAMES, VersionState
from arena_server.terms.submissions import UPLOADS, SubmissionRules

from .script import KEY, Script, setup_in

pytestmark = pytest.mark.asyncio


class Disk:
    """Counts operations; those of `full` find no room."""

    def __init__(self, full: range) -> None:
        self.full = full
        self.used = 0

    def failing(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self.used += 1
            if self.used - 1 in self.full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return operation(*args)

        return call


class Clock:
    """Seconds since 1970."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def serving(
    folder: Path,
    script: Script,
    rules: SubmissionRules | None = None,
    *names: str,
    clock: Clock | None = None,
) -> AsyncIterator[SubmissionService]:
    """A service that admits; at the end it is killed."""
    setup = setup_in(folder, rules, *names)
    service = SubmissionService([setup], {KEY[0]: script}, clock or Clock())
    admitting = asyncio.create_task(service.admit_all())
    try:
        yield service
    finally:
        admitting.cancel()
        with suppress(asyncio.CancelledError):
            await admitting
        service.close()


def send(
    service: SubmissionService, key: tuple[str, str] = KEY, data: bytes | None = None
) -> asyncio.Queue[dict[str, Any] | None]:
    """Send a version, with files that no other has; the queue has what happens to it."""
    data = f"data {len(service.bots[key].versions.all())}".encode() if data is None else data
    told: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    upload = service.begin_upload(key)
    upload.write_bytes(data)
    assert service.end_upload(key, upload, sha256(data).hexdigest(), len(data), told.put_nowait) is not None
    return told


async def all_of(told: asyncio.Queue[dict[str, Any] | None]) -> list[dict[str, Any]]:
    found = []
    async with asyncio.timeout(20):
        while (event := await told.get()) is not None:
            found.append(event)
    return found


async def until(stage: str, script: Script, told: asyncio.Queue[dict[str, Any] | None]) -> None:
    async with asyncio.timeout(20):
        while stage not in script.done:
            await told.get()


def refusal(service: SubmissionService, key: tuple[str, str] = KEY) -> str:
    with pytest.raises(RefusedError) as caught:
        service.check_upload(key)
    return str(caught.value)


async def test_a_version_is_built_checked_played_and_active(tmp_path: Path) -> None:
    script = Script()
    async with serving(tmp_path, script) as service:
        told = await all_of(send(service))
        assert [event["fact"] for event in told] == [
            *("stage", "line", "built", "stage", "line", "stage", "line", "admitted", "activated")
        ]
        assert told[-1] == {"fact": "activated", "number": 1, "why": "admission", "at": 1_000_000_000}
        document = service.document(KEY)
        (version,) = document["versions"]
        assert (document["active"], document["deployed"], version["state"]) == (1, None, "admitted")
        assert version["at"] == "1970-01-12T13:46:40Z"
        assert service.log(KEY, 1) == [f"{stage} says  this" for stage in ("build", "check", "play")]
        assert sorted(path.suffix for path in (tmp_path / "friday/ann").iterdir()) == [
            ".gz",
            ".jsonl",
            ".log",
        ]


@pytest.mark.parametrize(
    ("stage", "state"), [("build", "building"), ("check", "checking"), ("play", "playing")]
)
async def test_a_failure_has_its_reason_and_the_version_before_plays_on(
    stage: str, state: str, tmp_path: Path
) -> None:
    script = Script()
    async with serving(tmp_path, script) as service:
        await all_of(send(service))
        script.fails[stage] = "no such file: bot.py"
        told = await all_of(send(service))
        failed = {"fact": "failed", "number": 2, "stage": state, "reason": "no such file: bot.py"}
        assert told[-1] == failed
        assert service.log(KEY, 2)[-1] == f"{STAGE_NAMES[state]} failed: no such file: bot.py"
        assert script.discarded == ([] if stage == "build" else [tag_of(*KEY, 2)])
        assert service.document(KEY)["active"] == 1
        service.check_upload(KEY)  # the next one may be sent


@pytest.mark.parametrize(
    ("stage", "forgets", "built"),
    [("build", False, 1), ("check", False, 0), ("play", False, 0), ("check", True, 1)],
)
async def test_an_admission_goes_on_after_the_server_was_killed(
    stage: str, forgets: bool, built: int, tmp_path: Path
) -> None:
    """An image that is still there is not built again."""
    script = Script(waits={stage: asyncio.Event()})
    async with serving(tmp_path, script) as service:
        told = send(service)
        await until(stage, script, told)
    again = Script(forgets=forgets)
    async with serving(tmp_path, again) as service:
        bot = service.bots[KEY]
        told = asyncio.Queue()
        bot.listen(1, told.put_nowait)
        await all_of(told)
        assert again.done == [*["build"] * built, "check", "play"]
        assert bot.versions.active == 1


async def test_one_upload_at_a_time_and_a_few_of_all(tmp_path: Path) -> None:
    names = [f"bot-{number}" for number in range(UPLOADS + 1)]
    async with serving(tmp_path, Script(), None, *names) as service:
        keys = [(KEY[0], name) for name in names]
        uploads = {key: service.begin_upload(key) for key in keys[:UPLOADS]}
        assert refusal(service, keys[0]) == "a version of this bot is being sent already"
        assert refusal(service, keys[-1]).startswith(f"{UPLOADS} versions are being sent to this server")
        uploads[keys[0]].write_bytes(b"half")
        assert service.end_upload(keys[0], uploads[keys[0]], None, 4, lambda _: None) is None
        assert not uploads[keys[0]].exists()
        service.check_upload(keys[-1])
        assert service.document(keys[0])["versions"] == []


async def test_limits_by_hour_and_while_one_is_admitted(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    async with serving(tmp_path, script, SubmissionRules(per_hour=2), clock=clock) as service:
        await all_of(send(service))
        script.waits["build"] = asyncio.Event()
        told = send(service)
        assert refusal(service) == "version 2 is still in admission (stored); wait for it"
        script.waits["build"].set()
        await all_of(told)
        assert refusal(service) == "a bot may send 2 versions an hour; the next one in 60 min"
        clock.now += 3601
        service.check_upload(KEY)


async def test_the_time_of_a_day_counts_what_the_server_did_and_outlives_it(tmp_path: Path) -> None:
    clock, rules = Clock(), SubmissionRules(per_day_ms=60_000)
    for lane in ("build", "check"):
        script = Script()
        async with serving(tmp_path, script, rules, clock=clock) as service:
            script.waits[lane] = asyncio.Event()
            told = send(service)
            await until(lane, script, told)
            clock.now += 31
            script.waits[lane].set()
            await all_of(told)
    async with serving(tmp_path, script, rules, clock=clock) as service:
        assert service.document(KEY)["time"] == {"day_s": 60, "took_s": 62}
        assert refusal(service) == (
            "the admissions of a bot may take 1 min a day; those of this one took 1; the next one in 1440 min"
        )
        clock.now += 24 * 3600
        service.check_upload(KEY)
        assert service.document(KEY)["time"]["took_s"] == 0


async def test_entries_freeze(tmp_path: Path) -> None:
    clock = Clock()
    script = Script(waits={"play": asyncio.Event()})
    rules = SubmissionRules(freeze_ms=int((clock.now + 60) * 1000))
    async with serving(tmp_path, Script(), rules, clock=clock) as service:
        for _ in range(2):
            await all_of(send(service))
    async with serving(tmp_path, script, rules, clock=clock) as service:
        told = send(service)
        await until("play", script, told)
        clock.now += 60
        script.waits["play"].set()
        assert (await all_of(told))[-1]["fact"] == "admitted", "it came too late to play"
        text = "the entries are frozen since 1970-01-12 13:47 UTC: versions stay as they are"
        assert refusal(service) == text
        for number in (None, 1):
            with pytest.raises(RefusedError, match=rf"^{text}$"):
                service.activate(KEY, number)
        assert service.document(KEY)["active"] == 2


async def test_an_author_chooses_what_plays(tmp_path: Path) -> None:
    async with serving(tmp_path, Script()) as service:
        for _ in range(3):
            await all_of(send(service))
        assert service.activate(KEY, 1) == 1
        assert service.activate(KEY, None) == 3
        assert service.bots[KEY].versions.active == 3
        with pytest.raises(RefusedError, match=r"^version 3 is active already$"):
            service.activate(KEY, 3)
        with pytest.raises(RefusedError, match=r"^there is no version 9; there are 1 to 3$"):
            service.log(KEY, 9)


async def test_a_disk_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(tmp_path, Script()) as service:
        upload = service.begin_upload(KEY)
        upload.write_bytes(b"data")

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr("os.fsync", full)
            with pytest.raises(RefusedError, match=r"^the server cannot keep the version: No space left"):
                service.end_upload(KEY, upload, "digest", 4, lambda _: None)
        assert service.bots[KEY].versions.all() == []
        await all_of(send(service))
        assert service.bots[KEY].versions.active == 1


async def test_an_admission_that_the_disk_does_not_take_fails(tmp_path: Path) -> None:
    class Full(Script):
        async def check(self, image: str, bot: str, say: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    async with serving(tmp_path, Full()) as service:
        told = await all_of(send(service))
        assert told[-1]["reason"] == "the server could not go on: No space left on device"
        assert service.bots[KEY].versions.find(1).state is VersionState.FAILED


async def test_an_admission_without_an_engine_waits_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away(Script):
        async def build(self, archive: Path, place: Path, tag: str, say: Any) -> str:
            if not self.done:
                self.done.append("away")
                raise EngineAwayError("docker: no such program")
            return await super().build(archive, place, tag, say)

    monkeypatch.setattr(service_module, "AGAIN_S", 0.0)
    script = Away()
    async with serving(tmp_path, script) as service:
        told = await all_of(send(service))
        assert service.bots[KEY].versions.active == 1
    assert script.done == ["away", "build", "check", "play"]
    said = [each["text"] for each in told if each["fact"] == "line"]
    assert said[0] == "the server waits: docker: no such program; it tries again in 0 s"


@pytest.mark.parametrize("in_a_row", rows([1, 2, 5], 2))
@pytest.mark.parametrize("script", [Script(), Script({"check": "it is silent"})], ids=["good", "bad"])
async def test_a_full_disk_at_any_moment_ends_no_admission(
    in_a_row: int, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each operation of the disk fails in turn, and the next ones with it; then there is room again."""
    monkeypatch.setattr(service_module, "AGAIN_S", 0.0)
    for first in range(30):
        disk = Disk(range(first, first + in_a_row))
        with monkeypatch.context() as patched:
            for operation in ("write", "log", "workplace"):
                patched.setattr(VersionStore, operation, disk.failing(getattr(VersionStore, operation)))
            async with serving(tmp_path / f"{first}", script) as service:
                versions = service.bots[KEY].versions
                disk.used = -1  # the upload is stored: its failure has a test of its own
                told = await all_of(send(service))
                assert versions.pending is None
                assert disk.used < 30, "every operation has failed once"
                disk.full = range(0)
                bad = bool(script.fails) or told[-1]["fact"] == "failed"
                assert versions.find(1).state is (VersionState.FAILED if bad else VersionState.ADMITTED)
                assert versions.active == (None if bad else 1)
                await all_of(send(service))
                assert versions.active == (None if script.fails else 2)
        again = SubmissionService([setup_in(tmp_path / f"{first}")], {KEY[0]: script})
        assert again.bots[KEY].versions.all() == versions.all()
        again.close()


async def test_an_order_that_the_disk_does_not_take_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path, Script()) as service:
        for _ in range(2):
            await all_of(send(service))
        with monkeypatch.context() as patched:
            patched.setattr(VersionStore, "write", Disk(range(1)).failing(VersionStore.write))
            with pytest.raises(RefusedError, match=r"^the server cannot write: No space left on device; try"):
                service.activate(KEY, None)
        assert service.bots[KEY].versions.active == 2


async def test_an_admission_that_was_killed_before_it_was_active_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path, Script()) as service:
        await all_of(send(service))
    facts = tmp_path / KEY[0] / KEY[1] / "versions.jsonl"
    lines = facts.read_text().splitlines(keepends=True)
    assert '"activated"' in lines[-1]
    facts.write_text("".join(lines[:-1]))
    async with serving(tmp_path, Script()) as service, asyncio.timeout(20):
        while service.bots[KEY].versions.active is None:
            await asyncio.sleep(0)
        assert service.bots[KEY].versions.pending is None


async def test_who_waits_knows_his_place_and_a_check_holds_up_no_build(tmp_path: Path) -> None:
    held = asyncio.Event()
    script = Script(waits={"check": held})
    keys = [("friday", name) for name in ("ann", "bob", "cid")]
    async with serving(tmp_path, script, None, *(name for _, name in keys)) as service:
        first = send(service, keys[0])
        await until("check", script, first)
        others = [send(service, key) for key in keys[1:]]
        for told in others:
            while (event := await told.get()) is not None and event.get("stage") != "check":
                pass
            assert event is not None
            assert event.pop("place") in (1, 2)
            assert event.pop("of") in (1, 2)
            assert event == {"fact": "waits", "number": 1, "stage": "check", "left_s": None}
        shown = [service.document(key)["versions"][0]["waits"] for key in keys]
        assert shown[0] is None, "it does not wait, it is checked"
        assert sorted(each["place"] for each in shown[1:]) == [1, 2]
        assert {stage: number for stage, (number, _) in service.waiting().items()} == {"build": 0, "check": 2}
        held.set()
        for told in (first, *others):
            assert (await all_of(told))[-1]["fact"] == "activated"


async def test_the_same_files_are_refused_unless_the_server_had_failed(tmp_path: Path) -> None:
    script = Script()
    async with serving(tmp_path, script, SubmissionRules(per_hour=20)) as service:
        await all_of(send(service, data=b"one"))
        script.fails["check"] = "3.1/1 failed"
        await all_of(send(service, data=b"two"))
        for data, text in (
            (b"one", "these are the files of version 1, which is admitted: arena submit --activate 1"),
            (b"two", "these are the files of version 2, which is not admitted: check failed: 3.1/1 failed"),
        ):
            with pytest.raises(RefusedError) as caught:
                send(service, data=data)
            assert str(caught.value) == text
        held = script.waits["build"] = asyncio.Event()
        told = send(service, data=b"three")
        with pytest.raises(RefusedError, match=r"^these are the files of version 3, whose admission has not"):
            service.bots[KEY].check_new(sha256(b"three").hexdigest())
        held.set()
        await all_of(told)
        assert not list((tmp_path / "friday/ann").glob("*upload*"))
