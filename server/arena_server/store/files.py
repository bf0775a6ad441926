"""Files that are replaced as a whole, and locks of one writer."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena_server.errors import StoreError


def replace_file(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file durably; a reader sees it as before or whole, also after a power cut. Raises OSError.

    `mode` is as for `open`: the umask is taken off it.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    # A killed process of the same number may have left it, and O_EXCL would refuse it.
    part.unlink(missing_ok=True)
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    # The name is durable with its folder.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def locked(path: Path, flags: int, busy: str) -> Iterator[None]:
    """Keep other processes out, by a lock of what `path` opens with these flags.

    Raises StoreError with the text `busy` while another one has it, and OSError.
    """
    opened = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(busy) from None
        yield
    finally:
        os.close(opened)
