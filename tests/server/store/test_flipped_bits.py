"""A flipped bit in a file of a killed server changes no answer without a line that says so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.slices import rows

from .killed import COMMANDS, FILES, killed_files

killed = killed_files()


def answers(folder: Path) -> Iterator[object]:
    """What each command says of a copy of these files: its answer, or the error."""
    for command in COMMANDS:
        copy = folder.with_name("copy")
        shutil.copytree(folder, copy)
        try:
            yield command(copy / "arena.db")
        except Exception as error:
            yield error
        finally:
            shutil.rmtree(copy)


def flipped(killed: Path, folder: Path, name: str, step: int) -> list[tuple[int, str, object, object]]:
    """Flip a bit of every `step`th byte in turn; returns every answer that changed without an error."""
    folder = Path(shutil.copytree(killed, folder / "files"))
    whole = list(answers(folder))
    assert not any(isinstance(each, Exception) for each in whole)
    data = (folder / name).read_bytes()
    silent = []
    for at in range(0, len(data), step):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        (folder / name).write_bytes(damaged)
        for command, answer, expected in zip(COMMANDS, answers(folder), whole, strict=True):
            if answer != expected and not isinstance(answer, Exception):
                silent.append((at, command.__name__, expected, answer))
    return silent


@pytest.mark.parametrize(("name", "step"), rows([(FILES[0], 7993), (FILES[1], 19997), (FILES[2], 197)], 2))
def test_no_flipped_bit_changes_an_answer(killed: Path, tmp_path: Path, name: str, step: int) -> None:
    assert flipped(killed, tmp_path, name, step) == []


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", FILES)
def test_no_flipped_bit_of_every_97th_byte_changes_an_answer(killed: Path, tmp_path: Path, name: str) -> None:
    assert flipped(killed, tmp_path, name, 97) == []


# -- what is reported
