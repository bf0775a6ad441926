"""The versions of a bot on the disk. A fact is durable before anything follows from it.

FOLDER/CONTEST/BOT/versions.jsonl    the facts, a JSON object a line, synced
FOLDER/CONTEST/BOT/3.tar.gz          the archive of version 3, there before its fact
FOLDER/CONTEST/BOT/3.log             what its admission printed, for its author
FOLDER/CONTEST/BOT/5a3c....image.tar the image of a version that workers play, by its digest
FOLDER/CONTEST/BOT~1/                what a bot of the same name had in an earlier contest
FOLDER/CONTEST/BOT/*.part            an upload; removed at the next start
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Final

from arena_server.errors import ArenaError
from arena_server.submissions.versions import VersionError, VersionFact, Versions, fact_json, parse_fact
from arena_server.terms.submissions import IMAGE_ENDING, image_file

_FACTS: Final = "versions.jsonl"
#: What is kept of the output of an admission.
LOG_BYTES: Final = 256 * 1024


def set_aside(folder: Path) -> None:
    """Give a folder of versions another name, `NAME~1` and so on, if it is there. Raises ArenaError."""
    try:
        if folder.exists():
            names = (folder.with_name(f"{folder.name}~{number}") for number in count(1))
            folder.rename(next(name for name in names if not name.exists()))
    except OSError as error:
        raise ArenaError(f"submissions: {folder}: cannot be renamed: {error.strerror}") from None


class VersionStore:
    """The versions of one bot in `folder`, which is made."""

    def __init__(self, folder: Path) -> None:
        """Read what is there; a fact that was being written when the server was killed was never told.

        Raises ArenaError for a folder that cannot be used, and for damage.
        """
        self._folder = folder
        self._path = folder / _FACTS
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for left in folder.glob("*.part"):
                rmtree(left) if left.is_dir() else left.unlink()
            data = self._path.read_bytes() if self._path.exists() else b""
            whole = data.rfind(b"\n") + 1
            self._file = open(self._path, "ab", buffering=0, opener=_open_private)  # noqa: SIM115
            self._file.truncate(whole)
        except OSError as error:
            raise ArenaError(f"submissions: {folder}: cannot be used: {error.strerror}") from None
        try:
            self.versions = Versions(parse_fact(json.loads(line)) for line in data[:whole].splitlines())
        except ValueError as error:
            self._file.close()
            raise ArenaError(f"submissions: {self._path}: damaged: {error}") from None

    def close(self) -> None:
        self._file.close()

    def write(self, fact: VersionFact) -> None:
        """Make a fact durable, and let it count. Raises VersionError if it does not follow."""
        before = self._file.tell()
        try:
            self._file.write(json.dumps(fact_json(fact)).encode() + b"\n")
            os.fsync(self._file.fileno())
            self.versions.apply(fact)
        except (OSError, VersionError):
            # What stays must be what counts: a full disk may have taken half of the line.
            self._file.truncate(before)
            raise

    # -- files

    def upload(self, name: str) -> Path:
        return self._folder / f"{name}.part"

    def keep(self, upload: Path, number: int) -> None:
        """Make an upload the archive of a version, durably; its fact has to follow."""
        with upload.open("rb") as file:
            os.fsync(file.fileno())
        upload.replace(self.archive(number))
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def archive(self, number: int) -> Path:
        return self._folder / f"{number}.tar.gz"

    def workplace(self, number: int) -> Path:
        """An empty folder to unpack a version in; it is gone after the next start."""
        self.forget_workplace(number)
        place = self._workplace(number)
        place.mkdir(mode=0o700)
        return place

    def _workplace(self, number: int) -> Path:
        return self._folder / f"{number}.part"

    def forget_workplace(self, number: int) -> None:
        rmtree(self._workplace(number), ignore_errors=True)

    def image(self, image: str) -> Path:
        """The place of the file of an image."""
        return self._folder / image_file(image)

    def keep_images(self, images: Collection[str]) -> None:
        """Remove the files of all other images; what cannot be removed stays."""
        kept = {image_file(image) for image in images}
        for path in self._folder.glob(f"*{IMAGE_ENDING}"):
            if path.name not in kept:
                self.forget(path)

    def forget(self, upload: Path) -> None:
        """Remove a file; an upload that cannot be removed now goes at the next start."""
        with suppress(OSError):
            upload.unlink()

    def log(self, number: int, line: str) -> bool:
        """Note a line for the author. Returns whether it was kept: of LOG_BYTES the rest is not."""
        path = self._folder / f"{number}.log"
        with open(path, "ab", opener=_open_private) as file:
            kept = file.tell() < LOG_BYTES
            if kept:
                file.write(line.encode("utf-8", "replace") + b"\n")
        return kept

    def read_log(self, number: int) -> list[str]:
        """What was noted of a version."""
        try:
            return (self._folder / f"{number}.log").read_text("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return []


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
