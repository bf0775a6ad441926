"""The versions of a bot: what may follow what, in memory and on the disk."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.errors import ArenaError
from arena_server.submissions.store import LOG_BYTES, VersionStore
from arena_server.submissions.versions import (
    DAY_MS,
    HOUR_MS,
    ImageBuilt,
    StageBegun,
    StageTook,
    VersionActivated,
    VersionAdmitted,
    VersionDeployed,
    VersionError,
    VersionFact,
    VersionFailed,
    Versions,
    VersionState,
    VersionStored,
    describe,
    fact_json,
    parse_fact,
)

STORED = VersionStored(1, "d", 10, 0)


def admitted(number: int, at: int = 0) -> list[VersionFact]:
    return [
        VersionStored(number, f"d{number}", 10, at),
        StageBegun(number, "building"),
        ImageBuilt(number, f"sha256:{number}"),
        StageBegun(number, "checking"),
        StageBegun(number, "playing"),
        VersionAdmitted(number),
    ]


def active_facts(*numbers: int) -> list[VersionFact]:
    """All versions are admitted, long ago, and these were activated one after the other."""
    facts = [fact for number in range(1, max(numbers) + 1) for fact in admitted(number, -DAY_MS)]
    return [*facts, *(VersionActivated(number, "author", 0) for number in numbers)]


def active(*numbers: int) -> Versions:
    return Versions(active_facts(*numbers))


numbers = st.integers(1, 4)
facts = st.one_of(
    st.builds(VersionStored, numbers, st.text(max_size=3), st.integers(0, 9), st.integers(0, 9)),
    st.builds(StageBegun, numbers, st.sampled_from(["building", "checking", "playing", "stored", "x"])),
    st.builds(ImageBuilt, numbers, st.just("sha256:1")),
    st.builds(StageTook, numbers, st.integers(0, 9), st.integers(0, 9)),
    st.builds(VersionFailed, numbers, st.just("building"), st.text(max_size=3)),
    st.builds(VersionAdmitted, numbers),
    st.builds(VersionActivated, numbers, st.sampled_from(["author", "admission", "roll-back"]), st.just(0)),
    st.builds(VersionDeployed, numbers),
)


@given(facts)
def test_a_fact_is_read_as_it_was_written(fact: VersionFact) -> None:
    assert parse_fact(json.loads(json.dumps(fact_json(fact)))) == fact


@all_of(
    "plain",
    [
        None,
        [],
        {},
        {"fact": "x"},
        {"fact": "admitted"},
        {"fact": "admitted", "number": "1"},
        {"fact": "admitted", "number": True},
        {"fact": "admitted", "number": 1, "more": 1},
    ],
)
def test_what_is_no_fact(plain: object) -> None:
    with pytest.raises(VersionError, match=r"^no fact of a version: "):
        parse_fact(plain)


@settings(max_examples=300)
@given(st.lists(facts, max_size=25))
def test_whatever_is_applied_the_laws_hold(given_facts: list[VersionFact]) -> None:
    versions = Versions()
    taken: list[VersionFact] = []
    for fact in given_facts:
        before = [fact_json(each) for each in taken], versions.active, versions.deployed
        try:
            versions.apply(fact)
        except VersionError:
            assert before == ([fact_json(each) for each in taken], versions.active, versions.deployed)
            continue
        taken.append(fact)
        found = versions.all()
        assert [each.number for each in found] == list(range(1, len(found) + 1))
        for each in found:
            assert (each.state is VersionState.FAILED) == bool(each.stage)
            assert each.image or each.state is not VersionState.ADMITTED
        for playing in (versions.active, versions.deployed):
            assert playing is None or versions.find(playing).state is VersionState.ADMITTED
    again = Versions(taken)
    assert (again.all(), again.active, again.deployed) == (versions.all(), versions.active, versions.deployed)


def test_an_admission_begins_again_after_the_server_was_killed() -> None:
    versions = Versions([*admitted(1)[:5], *admitted(1)[1:4]])
    assert versions.pending is not None
    assert versions.pending.state is VersionState.CHECKING


class TestRoom:
    def test_one_version_at_a_time(self) -> None:
        with pytest.raises(VersionError, match=r"^version 1 is still in admission \(stored\); wait for it$"):
            Versions([STORED]).check_room(HOUR_MS, 6, 100, DAY_MS)

    def test_so_many_an_hour(self) -> None:
        versions = Versions(
            [*admitted(1, at=1000), *admitted(2, at=HOUR_MS // 2), VersionActivated(2, "admission", 0)]
        )
        versions.check_room(HOUR_MS, 3, 100, DAY_MS)
        with pytest.raises(VersionError, match=r"^a bot may send 2 versions an hour; the next one in 1 min$"):
            versions.check_room(HOUR_MS, 2, 100, DAY_MS)
        versions.check_room(HOUR_MS + 1000, 2, 100, DAY_MS)

    def test_so_many_in_all(self) -> None:
        with pytest.raises(VersionError, match=r"^a bot may have 2 versions; this one has them$"):
            active(2).check_room(9 * HOUR_MS, 6, 2, DAY_MS)


class TestActivation:
    def test_only_an_admitted_version_plays(self) -> None:
        versions = Versions([*admitted(1), *admitted(2)[:2], VersionFailed(2, "building", "no such file")])
        assert versions.activate(1, "author", 7) == VersionActivated(1, "author", 7)
        for number, why in (
            (2, "version 2 may not play: build failed: no such file"),
            (3, "there is no version 3; there are 1 to 2"),
        ):
            with pytest.raises(VersionError, match=rf"^{why}$"):
                versions.activate(number, "author", 7)
        with pytest.raises(VersionError, match=r"none yet$"):
            Versions().activate(1, "author", 0)

    def test_the_active_one_is_not_activated_again(self) -> None:
        with pytest.raises(VersionError, match=r"^version 2 is active already$"):
            active(2).activate(2, "author", 0)

    def test_rolling_back_goes_through_the_history(self) -> None:
        versions = active(1, 3, 2)
        for number in (3, 1):
            fact = versions.roll_back(9)
            assert fact == VersionActivated(number, "roll-back", 9)
            versions.apply(fact)
            assert versions.active == number
        with pytest.raises(VersionError, match=r"^no version was active before this one$"):
            versions.roll_back(9)

    @all_of(
        ("activated", "number"),
        [((1, 3, 2), 1), ((1, 3, 2), 2), ((3, 2), 1), ((2,), 2), ((2,), 1)],
    )
    def test_a_roll_back_to_another_version_than_the_one_before_does_not_follow(
        self, activated: tuple[int, ...], number: int
    ) -> None:
        """Of a file of facts that was changed: all these versions were admitted."""
        versions = active(*activated)
        forged = VersionActivated(number, "roll-back", 9)
        with pytest.raises(VersionError, match=rf"^VersionActivated\(number={number}, .* does not follow: "):
            versions.apply(forged)
        assert versions.active == activated[-1]

    def test_its_state_in_words(self) -> None:
        assert describe(Versions([STORED]).find(1)) == "it is stored"
        assert active(1).find(1).name == "v1"


class TestStore:
    def test_what_was_written_is_there_after_a_kill(self, tmp_path: Path) -> None:
        store = VersionStore(tmp_path / "bot")
        for fact in [*admitted(1), VersionActivated(1, "admission", 5), VersionDeployed(1)]:
            store.write(fact)
        again = VersionStore(tmp_path / "bot")  # the first one was never closed
        assert again.versions.all() == store.versions.all()
        assert (again.versions.active, again.versions.deployed) == (1, 1)
        store.close()
        again.close()

    @given(st.data())
    @settings(deadline=None, max_examples=50)
    def test_a_fact_that_was_being_written_is_forgotten(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
    ) -> None:
        folder = tmp_path_factory.mktemp("bot")
        store = VersionStore(folder)
        for fact in admitted(1):
            store.write(fact)
        store.close()
        path = folder / "versions.jsonl"
        whole = path.read_bytes()
        cut = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:cut])
        again = VersionStore(folder)
        kept = whole[:cut].count(b"\n")
        assert again.versions.all() == Versions(admitted(1)[:kept]).all()
        for fact in admitted(1)[kept:]:
            again.write(fact)
        again.close()
        assert path.read_bytes() == whole

    @pytest.mark.parametrize("line", [b"x\n", b'{"fact": "admitted", "number": 1}\n', b"\xff\n", b"[1]\n"])
    def test_damage_is_named(self, line: bytes, tmp_path: Path) -> None:
        (tmp_path / "versions.jsonl").write_bytes(line)
        with pytest.raises(ArenaError, match=r"^submissions: .*versions\.jsonl: damaged: "):
            VersionStore(tmp_path)

    def test_a_folder_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "bot").write_text("")
        with pytest.raises(ArenaError, match=r"^submissions: .*bot: cannot be used: "):
            VersionStore(tmp_path / "bot")

    def test_a_fact_that_does_not_follow_leaves_no_trace(self, tmp_path: Path) -> None:
        store = VersionStore(tmp_path)
        store.write(STORED)
        before = (tmp_path / "versions.jsonl").read_bytes()
        with pytest.raises(VersionError, match=r"does not follow: it is stored$"):
            store.write(VersionAdmitted(1))
        assert (tmp_path / "versions.jsonl").read_bytes() == before
        store.close()

    def test_a_full_disk_leaves_no_half_fact(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        store = VersionStore(tmp_path)

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr("os.fsync", full)
            with pytest.raises(OSError, match=r"No space"):
                store.write(STORED)
        assert store.versions.all() == []
        store.write(STORED)
        store.close()
        again = VersionStore(tmp_path)
        assert again.versions.all() == store.versions.all()
        again.close()

    def test_an_upload_that_was_broken_off_is_removed_at_the_next_start(self, tmp_path: Path) -> None:
        store = VersionStore(tmp_path)
        store.upload("upload").write_bytes(b"half")
        (store.workplace(1) / "x").write_text("x")
        store.close()
        again = VersionStore(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["versions.jsonl"]
        again.forget(again.upload("upload"))
        again.close()

    def test_an_upload_becomes_an_archive(self, tmp_path: Path) -> None:
        store = VersionStore(tmp_path)
        upload = store.upload("upload")
        upload.write_bytes(b"data")
        store.keep(upload, 1)
        assert store.archive(1).read_bytes() == b"data"
        assert not upload.exists()
        store.close()

    def test_the_log_of_a_version_is_bounded(self, tmp_path: Path) -> None:
        store = VersionStore(tmp_path)
        assert store.read_log(1) == []
        line, kept = "x" * 999, 0
        while store.log(1, line):
            kept += 1
        assert LOG_BYTES // 1000 <= kept <= LOG_BYTES // 1000 + 1
        assert store.read_log(1) == [line] * kept
        store.close()

    @given(
        st.lists(st.tuples(st.integers(1, 600_000), st.integers(0, 2 * DAY_MS)), max_size=12),
        st.integers(0, 2 * DAY_MS),
        st.integers(1_000, 900_000),
    )
    def test_the_time_of_a_day(self, took: list[tuple[int, int]], wait: int, per_day: int) -> None:
        took.sort(key=lambda each: each[1])
        versions = Versions([*active_facts(1), *(StageTook(1, ms, at) for ms, at in took)])
        now = max((at for _, at in took), default=0) + wait

        def used(moment: int) -> int:
            return sum(ms for ms, at in took if moment - DAY_MS < at)

        assert versions.took_ms(now) == used(now)
        if used(now) < per_day:
            versions.check_room(now, 6, 100, per_day)
            return
        with pytest.raises(VersionError) as caught:
            versions.check_room(now, 6, 100, per_day)
        text = str(caught.value)
        assert text.startswith(
            f"the admissions of a bot may take {per_day // 60_000} min a day; those of this"
        )
        minutes = int(text.rpartition(" the next one in ")[2].removesuffix(" min"))
        # It is the first full minute at which there is room.
        assert used(now + minutes * 60_000) < per_day <= used(now + (minutes - 1) * 60_000)
