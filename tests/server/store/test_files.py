"""A file is replaced as a whole, or stays as it was."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from arena_server.store.files import replace_file

STEPS = ("open", "fsync", "replace")


def test_none_but_the_owner_reads_it_unless_the_caller_says_so(tmp_path: Path) -> None:
    private, public = tmp_path / "private", tmp_path / "public"
    replace_file(private, b"one")
    replace_file(public, b"two", mode=0o644)
    modes = [stat.S_IMODE(each.stat().st_mode) & 0o077 for each in (private, public)]
    assert (modes[0], modes[1] & ~0o044) == (0, 0)


def test_what_a_killed_process_of_the_same_number_left_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / f".file.{os.getpid()}").write_bytes(b"half of a long text")
    replace_file(tmp_path / "file", b"whole")
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"file": b"whole"}


@pytest.mark.parametrize("before", [None, b"before"])
@pytest.mark.parametrize("step", STEPS)
def test_a_failure_leaves_the_file_as_it_was(
    step: str, before: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(f"pathlib.Path.{step}" if step == "replace" else f"os.{step}", full)
        with pytest.raises(OSError, match=r"No space left"):
            replace_file(path, b"after")
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == (
        {} if before is None else {"file": before}
    )
    replace_file(path, b"after")
    assert path.read_bytes() == b"after"
