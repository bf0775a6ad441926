"""Archives of strangers: what is taken comes out as it was packed, and nothing else is ever written."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.submissions.archive import (
    DEEPEST,
    LONGEST_PATH,
    READ_BYTES,
    ArchiveError,
    pack,
    problem_of,
    shown,
    unpack,
)
from arena_server.terms.sandbox import MB
from arena_server.terms.submissions import ArchiveLimits

LIMITS = ArchiveLimits(packed=MB, unpacked=MB, files=50)
DOCKERFILE = b"FROM python:3.12-slim\n"

Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, mode: int = 0o644) -> Member:
    found = tarfile.TarInfo(name)
    found.type, found.size, found.mode = kind, len(data), mode
    return found, data


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> Member:
    info, _ = member(name, b"", kind)
    info.linkname = target
    return info, b""


def tar(*members: Member, packed: bool = True, docker: bool = True) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, data in (*([member("Dockerfile", DOCKERFILE)] if docker else []), *members):
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(out.getvalue(), 1) if packed else out.getvalue()


def sealed(header: bytes) -> bytes:
    """A header with its right sum."""
    block = bytearray(header)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def unpacked(data: bytes, limits: ArchiveLimits = LIMITS) -> dict[str, bytes | None]:
    """What `unpack` has written: the content of each file, None for a folder."""
    with TemporaryDirectory() as name:
        place = Path(name)
        (place / "a.tar.gz").write_bytes(data)
        folder = place / "folder"
        folder.mkdir()
        try:
            unpack(place / "a.tar.gz", folder, limits)
        finally:
            assert sorted(os.listdir(place)) == ["a.tar.gz", "folder"], "nothing beside the folder"
            written = [path for path in folder.rglob("*") if path.is_file()]
            assert sum(path.stat().st_size for path in written) <= limits.unpacked
            assert len(written) <= limits.files
            for path in folder.rglob("*"):
                assert not path.is_symlink()
                assert path.is_dir() or path.stat().st_mode & 0o7777 in (0o644, 0o755)
        return tree(folder)


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }


def refusal(data: bytes, limits: ArchiveLimits = LIMITS) -> str:
    with pytest.raises(ArchiveError) as caught:
        unpacked(data, limits)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 200
    return text


names = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1, max_size=12)
plain = st.lists(names, min_size=1, max_size=4).map("/".join).filter(lambda name: problem_of(name) is None)
files = st.dictionaries(plain, st.binary(max_size=300), max_size=8)
LEFT_OUT = (".git", ".venv", "__pycache__", "Dockerfile")


def can_be_made(found: dict[str, bytes]) -> bool:
    return not any(name.startswith(f"{other}/") for name in found for other in found)


@settings(deadline=None)
@given(files.filter(can_be_made), st.booleans())
def test_what_is_packed_comes_out(found: dict[str, bytes], empty: bool) -> None:
    found = {name: data for name, data in found.items() if name.partition("/")[0] not in LEFT_OUT}
    with TemporaryDirectory() as name:
        home = Path(name)
        for path, data in {"Dockerfile": DOCKERFILE, **found}.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(data)
        if empty:
            (home / "no-file-in-it").mkdir(exist_ok=True)
        packed = pack(home, LIMITS)
        assert packed == pack(home, LIMITS), "equal folders give equal archives"
        there = tree(home)
    assert unpacked(packed) == there


def test_a_program_stays_one_and_is_nothing_more(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(tar(member("run", b"#!", mode=0o6777), member("text", b"x", mode=0o600)))
    (tmp_path / "f").mkdir()
    unpack(tmp_path / "a", tmp_path / "f", LIMITS)
    modes = {path.name: path.stat().st_mode & 0o7777 for path in (tmp_path / "f").iterdir()}
    assert modes == {"Dockerfile": 0o644, "run": 0o755, "text": 0o644}


def test_what_tar_makes_of_the_folder_itself(tmp_path: Path) -> None:
    """`tar -C mybot .`"""
    home, archive = tmp_path / "mybot", tmp_path / "a.tar.gz"
    (home / "engine").mkdir(parents=True)
    for name in ("Dockerfile", "engine/main.py"):
        (home / name).write_bytes(DOCKERFILE)
    with tarfile.open(archive, "w:gz") as made:
        made.add(home, arcname=".")
    assert unpacked(archive.read_bytes()) == tree(home)


NOT_PLAIN = "expected a plain path inside the folder"
ONLY = "expected files and folders only, got a link or a device"


@all_of(
    ("hostile", "why"),
    [
        (member("/etc/cron.d/x", b"x"), f"'/etc/cron.d/x': {NOT_PLAIN}"),
        (member("../x", b"x"), f"'../x': {NOT_PLAIN}"),
        (member("a/../../x", b"x"), f"'a/../../x': {NOT_PLAIN}"),
        (member("a/./x", b"x"), f"'a/./x': {NOT_PLAIN}"),
        (member("a//x", b"x"), f"'a//x': {NOT_PLAIN}"),
        (member("./../x", b"x"), f"'../x': {NOT_PLAIN}"),
        (member(".//etc/x", b"x"), f"'/etc/x': {NOT_PLAIN}"),
        (member("././x", b"x"), f"'./x': {NOT_PLAIN}"),
        (member(".", b"x"), f"'.': {NOT_PLAIN}"),
        (member("./", b"x"), f"'': {NOT_PLAIN}"),
        (member("a\\x", b"x"), f"'a\\\\x': {NOT_PLAIN}"),
        (member("a\nb", b"x"), "'a\\nb': expected a name of printable characters"),
        (member("a\x1b[2J", b"x"), "'a\\x1b[2J': expected a name of printable characters"),
        (member("x" * (LONGEST_PATH + 1), b"x"), "expected at most 200 characters and 20 levels"),
        (member("/".join("x" * (DEEPEST + 1)), b"x"), "expected at most 200 characters and 20 levels"),
        (link("a", "/etc/passwd"), f"'a': {ONLY}"),
        (link("a", "Dockerfile", tarfile.LNKTYPE), f"'a': {ONLY}"),
        (member("a", kind=tarfile.FIFOTYPE), f"'a': {ONLY}"),
        (member("a", kind=tarfile.CHRTYPE), f"'a': {ONLY}"),
        (member("a", kind=tarfile.BLKTYPE), f"'a': {ONLY}"),
        (member("Dockerfile", b"FROM other"), "'Dockerfile': it is there twice"),
        (member("./Dockerfile", b"FROM other"), "'Dockerfile': it is there twice"),
        (member("Dockerfile/x", b"x"), "'Dockerfile': it is a file and a folder"),
    ],
)
def test_a_hostile_member_is_refused(hostile: Member, why: str) -> None:
    assert why in refusal(tar(hostile))


def test_a_name_that_is_no_text() -> None:
    header = tar(member("QQ", b""), packed=False, docker=False)[:512].replace(b"QQ", b"\x80\xff", 1)
    text = refusal(tar(packed=False)[:1024] + sealed(header) + bytes(1024))
    assert text == "'\\udc80\\udcff': expected a name of printable characters"


def test_a_link_is_followed_by_nothing(tmp_path: Path) -> None:
    """The classic attack: a link to a folder elsewhere, and a file behind it."""
    target = tmp_path / "target"
    target.mkdir()
    refusal(tar(link("out", str(target)), member("out/x", b"x")))
    assert list(target.iterdir()) == []


class TestBombs:
    def test_zeros_that_compress_a_thousand_times(self) -> None:
        data = gzip.compress(bytes(20 * MB), 9)
        assert len(data) < LIMITS.packed
        assert refusal(data) == "the archive has more than 1 MB unpacked"

    def test_files_that_are_too_large_in_sum(self) -> None:
        data = tar(member("a", bytes(520_000)), member("b", bytes(520_000)))
        assert refusal(data) == "expected at most 1 MB of files, got more"

    @pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.DIRTYPE])
    def test_too_many_members(self, kind: bytes) -> None:
        data = tar(*(member(f"f{number}", kind=kind) for number in range(50)))
        assert refusal(data) == "expected at most 50 files and folders, got more"

    def test_a_header_that_claims_a_size(self) -> None:
        info, _ = member("a")
        info.size = 8 * 1024**4
        data = tar(packed=False)[:1024] + info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)
        assert refusal(data) == "expected at most 1 MB of files, got more"

    def test_a_file_that_is_shorter_than_its_header_says(self) -> None:
        info, _ = member("a")
        info.size = 10_000
        data = tar(packed=False)[:1024] + info.tobuf() + bytes(100)
        assert refusal(data) == "the archive is damaged: it ends too early"

    def test_a_sparse_file(self) -> None:
        info, _ = member("a", b"0\n".ljust(512, b"\0"))
        info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9" * 12}
        assert "expected" in refusal(tar((info, b"0\n".ljust(512, b"\0"))))

    def test_an_extended_header_of_any_length(self) -> None:
        info, _ = member("a")
        info.pax_headers = {"comment": "x" * (READ_BYTES + 1)}
        assert refusal(tar((info, b""))) == "the archive has a header that is too long"

    def test_extended_headers_without_end(self) -> None:
        info, _ = member("././@PaxHeader")
        info.type, info.size = tarfile.XHDTYPE, 9
        block = info.tobuf() + b"9 a=bcd\n\n".ljust(512, b"\0")
        assert refusal(block * 900).startswith("the archive is damaged: ")


# The bytes name the tests, and every process of a run has to find the same names: no time in the header.
@pytest.mark.parametrize(
    "data", [b"", b"x" * 3000, b"\x1f\x8b" + b"x" * 100, gzip.compress(b"x" * 3000, mtime=0)]
)
def test_what_is_no_archive(data: bytes) -> None:
    assert refusal(data).startswith("the archive is damaged: ")


def test_an_archive_that_was_cut_off() -> None:
    data = tar(member("a", os.urandom(5000)))
    assert refusal(data[:-200]) == "the archive is damaged: it ends too early"


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_damaged_archive_is_refused_or_taken_and_nothing_worse(data: st.DataObject) -> None:
    good = bytearray(tar(member("a/b", b"x" * 700), member("c", b"y", mode=0o755), packed=False))
    for _ in range(data.draw(st.integers(1, 8))):
        good[data.draw(st.integers(0, 3071))] = data.draw(st.integers(0, 255))
    for start in range(0, 3072, 512):
        # The sum of a header is right again, or most damage would be seen by that alone.
        if data.draw(st.booleans()):
            good[start : start + 512] = sealed(bytes(good[start : start + 512]))
    with suppress(ArchiveError):
        unpacked(bytes(good))


class TestPack:
    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        (tmp_path / "Dockerfile").write_bytes(DOCKERFILE)
        return tmp_path

    def test_what_belongs_to_the_author_alone_stays_out(self, home: Path) -> None:
        for name in (".git/config", ".venv/x", "a/__pycache__/x.pyc", "a/bot.py"):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("x")
        assert sorted(unpacked(pack(home, LIMITS))) == ["Dockerfile", "a", "a/bot.py"]

    @pytest.mark.parametrize(
        ("spoil", "why"),
        [
            (lambda home: (home / "a").symlink_to("Dockerfile"), f"'a': {ONLY}"),
            (lambda home: os.mkfifo(home / "a"), f"'a': {ONLY}"),
            (lambda home: (home / "a\nb").write_text(""), "'a\\nb': expected a name of printable"),
            (
                lambda home: (home / "a").write_bytes(bytes(2 * MB)),
                "expected at most 1 MB of files, got more",
            ),
            (lambda home: (home / "Dockerfile").unlink(), "expected a folder with a Dockerfile, got"),
            (
                lambda home: [(home / str(number)).touch() for number in range(60)],
                "expected at most 50 files and folders, got more",
            ),
        ],
    )
    def test_what_the_server_would_not_take(
        self, home: Path, spoil: Callable[[Path], object], why: str
    ) -> None:
        spoil(home)
        with pytest.raises(ArchiveError) as caught:
            pack(home, LIMITS)
        assert why in str(caught.value)

    def test_what_does_not_compress(self, home: Path) -> None:
        (home / "a").write_bytes(os.urandom(1_900_000))
        with pytest.raises(ArchiveError, match=r"^expected at most 1 MB packed, got 1\.9 MB$"):
            pack(home, ArchiveLimits(packed=MB, unpacked=2 * MB, files=50))


def test_a_name_is_shown_in_one_short_line() -> None:
    assert shown("a\nb") == "'a\\nb'"
    assert len(shown("x" * 1000)) == 60
