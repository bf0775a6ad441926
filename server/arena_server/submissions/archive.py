"""The archive of a submitted version: the folder of a bot, as a tar that may be compressed by gzip.

`pack` makes it at the author's home, `unpack` takes it apart on the server: only folders and regular files,
within limits that hold before a byte is written beyond them.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from arena_server.errors import ArenaError
from arena_server.terms.languages import LANGUAGES, Language, find_language
from arena_server.terms.sandbox import MB
from arena_server.terms.submissions import ArchiveLimits

DOCKERFILE: Final = "Dockerfile"
#: The longest path in an archive, in characters, and how deep it may be.
LONGEST_PATH: Final = 200
DEEPEST: Final = 20
#: What is read at once. A header beyond it (an extended one may claim any length) is no header.
READ_BYTES: Final = 64 * 1024
#: What a tar needs beside the files: a header and padding for each, extended headers, the end.
OVERHEAD_BYTES: Final = 4 * 1024


class ArchiveError(ArenaError):
    """An archive that is not taken; the text is one line."""


def check_folder(folder: Path) -> None:
    """Raise ArchiveError for a folder with neither a Dockerfile nor the file of one language."""
    language_of(folder, LANGUAGES, f"expected a folder with a Dockerfile, got {str(folder)!r}")


def language_of(folder: Path, languages: Collection[str], problem: str) -> Language | None:
    """Return None for a folder with a Dockerfile, and else the language in which it is written.

    Raises ArchiveError with `problem` and what would be taken if the language is not clear.
    """
    if (folder / DOCKERFILE).is_file():
        return None
    if not folder.is_dir() or (folder / DOCKERFILE).exists():
        raise ArchiveError(problem)
    try:
        names = [each.name for each in folder.iterdir() if each.is_file()]
        return find_language(names, languages)
    except ValueError as error:
        raise ArchiveError(f"{problem}: {error}") from None


def pack(folder: Path, limits: ArchiveLimits) -> bytes:
    """The archive of a folder; equal folders give equal archives.

    Files named `.git`, `.venv` and `__pycache__` stay out. Raises ArchiveError for what the server would
    not take, such as a link or a folder that nothing says how to build.
    """
    check_folder(folder)
    out = io.BytesIO()
    # No time of packing and no owner: the digest is that of the content.
    with (
        gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        total = 0
        for number, path in enumerate(_walk(folder), start=1):
            name = path.relative_to(folder).as_posix()
            if number > limits.files:
                raise ArchiveError(f"expected at most {limits.files} files and folders, got more")
            problem = problem_of(name)
            if problem is not None:
                raise ArchiveError(problem)
            member = tarfile.TarInfo(name)
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise ArchiveError(f"{shown(name)}: expected files and folders only, got a link or a device")
            if path.is_dir():
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(member)
                continue
            data = path.read_bytes()
            total += len(data)
            if total > limits.unpacked:
                raise ArchiveError(f"expected at most {limits.unpacked // MB} MB of files, got more")
            member.size, member.mode = len(data), 0o755 if os.access(path, os.X_OK) else 0o644
            archive.addfile(member, io.BytesIO(data))
    if len(out.getvalue()) > limits.packed:
        size = len(out.getvalue()) / MB
        raise ArchiveError(f"expected at most {limits.packed // MB} MB packed, got {size:.1f} MB")
    return out.getvalue()


_LEFT_OUT: Final = frozenset({".git", ".venv", "__pycache__"})


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name not in _LEFT_OUT:
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from _walk(path)


def problem_of(name: str) -> str | None:
    """Why a path is not taken; None for one that is."""
    parts = name.split("/")
    if not name.isprintable():
        return f"{shown(name)}: expected a name of printable characters"
    if name.startswith("/") or ".." in parts or "" in parts or "." in parts or "\\" in name:
        return f"{shown(name)}: expected a plain path inside the folder"
    if len(name) > LONGEST_PATH or len(parts) > DEEPEST:
        return f"{shown(name)}: expected at most {LONGEST_PATH} characters and {DEEPEST} levels"
    return None


def shown(name: str) -> str:
    """A name of a stranger's, for a message: one line of ASCII, cut short."""
    text = ascii(name)
    return text if len(text) <= 60 else f"{text[:56]}...'"


def unpack(archive: Path, folder: Path, limits: ArchiveLimits) -> None:
    """Unpack into `folder`, which is empty. Raises ArchiveError; what was written so far stays there.

    Owners, times and special mode bits of the archive do not count. A file of the archive is written
    through no link: none is ever made.
    """
    with archive.open("rb") as source, TemporaryFile(dir=folder.parent) as plain:
        _decompress(source, plain, limits.unpacked + limits.files * OVERHEAD_BYTES)
        plain.seek(0)
        _unpack(plain, folder, limits)


def _decompress(source: IO[bytes], target: IO[bytes], most: int) -> None:
    """Copy `source`, decompressed if it begins like gzip, up to `most` bytes."""
    begin = source.read(2)
    source.seek(0)
    inflate = zlib.decompressobj(31) if begin == b"\x1f\x8b" else None
    written = 0
    while data := source.read(READ_BYTES):
        while data:
            try:
                # In pieces: 64 KiB of zeros that were compressed are 64 MB.
                piece = data if inflate is None else inflate.decompress(data, READ_BYTES)
            except zlib.error as error:
                raise ArchiveError(f"the archive is damaged: {error}") from None
            written += len(piece)
            if written > most:
                raise ArchiveError(f"the archive has more than {most // MB} MB unpacked")
            target.write(piece)
            data = b"" if inflate is None else inflate.unconsumed_tail
    if inflate is not None and not inflate.eof:
        raise ArchiveError("the archive is damaged: it ends too early")


class _Headers(io.RawIOBase):
    """The archive as tarfile reads it: an extended header of any length would be read at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= READ_BYTES:
            raise ArchiveError("the archive has a header that is too long")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def _unpack(plain: IO[bytes], folder: Path, limits: ArchiveLimits) -> None:
    made: dict[str, bool] = {}
    count = total = 0
    try:
        with closing(tarfile.open(fileobj=_Headers(plain), mode="r:")) as members:
            while (member := members.next()) is not None:
                count += 1
                total += member.size
                name = _path_of(member)
                _check(member, name, count, total, limits)
                if member.isdir():
                    _make_folder(folder, name, made)
                elif name in made:
                    raise ArchiveError(f"{shown(name)}: it is there twice")
                else:
                    _make_folder(folder, name.rpartition("/")[0], made)
                    _write(plain, member, folder / name)
                    made[name] = False
    except (tarfile.TarError, ValueError, OverflowError, EOFError, RecursionError) as error:
        # RecursionError: tarfile reads extended headers that follow each other by calling itself.
        raise ArchiveError(f"the archive is damaged: {shown(str(error))}") from None
    except OSError as error:
        raise ArchiveError(f"the archive cannot be unpacked: {error.strerror}") from None


def _path_of(member: tarfile.TarInfo) -> str:
    """The path in the folder; empty for the folder itself. `tar -C FOLDER .` writes `./` and `./bot.py`."""
    if not member.isdir():
        return member.name.removeprefix("./")
    name = member.name.rstrip("/")
    return "" if name == "." else name.removeprefix("./")


def _check(member: tarfile.TarInfo, name: str, count: int, total: int, limits: ArchiveLimits) -> None:
    if count > limits.files:
        raise ArchiveError(f"expected at most {limits.files} files and folders, got more")
    problem = problem_of(name) if name or not member.isdir() else None
    if problem is not None:
        raise ArchiveError(problem)
    # A sparse file of any size takes one header.
    if not (member.isdir() or member.isreg()) or member.issparse():
        raise ArchiveError(f"{shown(member.name)}: expected files and folders only, got a link or a device")
    if member.size < 0 or total > limits.unpacked:
        raise ArchiveError(f"expected at most {limits.unpacked // MB} MB of files, got more")


def _make_folder(folder: Path, name: str, made: dict[str, bool]) -> None:
    """Make a folder and those above it; `made` has what there is, True for a folder."""
    parts = name.split("/") if name else []
    for end in range(1, len(parts) + 1):
        path = "/".join(parts[:end])
        if not made.setdefault(path, True):
            raise ArchiveError(f"{shown(path)}: it is a file and a folder")
        (folder / path).mkdir(mode=0o755, exist_ok=True)


def _write(plain: IO[bytes], member: tarfile.TarInfo, path: Path) -> None:
    mode = 0o755 if member.mode & 0o100 else 0o644
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    back = plain.tell()
    plain.seek(member.offset_data)
    with open(os.open(path, flags, mode), "wb") as out:
        left = member.size
        while left:
            data = plain.read(min(left, READ_BYTES))
            if not data:
                raise ArchiveError("the archive is damaged: it ends too early")
            out.write(data)
            left -= len(data)
    plain.seek(back)
