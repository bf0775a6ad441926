"""The file of `arena tune --keep`: what was measured, so that the same command goes on after its end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from arena_server.errors import ConfigError, StoreError
from arena_server.store.files import locked, replace_file

#: The layout of the file.
FORMAT = 1
#: The file is replaced after each step, so what is locked is another one beside it.
LOCK_SUFFIX = "-lock"


@dataclass(frozen=True, slots=True)
class TuneStep:
    """What a step has compared, by parameter, and by how much the first point was better."""

    plus: Mapping[str, float]
    minus: Mapping[str, float]
    lead: float
    games: int
    faults: int = 0


@dataclass(slots=True)
class TuneFile:
    """`same` is what makes it the same tuning: command, parameters, conditions."""

    path: Path | None
    same: Mapping[str, Any]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second `arena tune` out. Raises StoreError if one writes this file."""
        if self.path is None:
            yield
            return
        path = self.path.with_name(self.path.name + LOCK_SUFFIX)
        busy = f"{self.path}: another arena tune writes it; give another file"
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(path, os.O_RDWR | os.O_CREAT, busy))
            except OSError as error:
                raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
            yield

    def read(self) -> list[TuneStep]:
        """The steps so far. Raises StoreError, and ConfigError for a file of another tuning."""
        if self.path is None:
            return []
        try:
            kept = json.loads(self.path.read_bytes())
            if kept["format"] != FORMAT:
                raise ValueError(f"format {kept['format']}")
            steps = [TuneStep(**{**each, "lead": float(each["lead"])}) for each in kept["steps"]]
            before = dict(kept["same"])
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {error.strerror}") from None
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            text = f"{type(error).__name__}: {error}"
            raise StoreError(f"{self.path}: expected what arena tune has kept ({text})") from None
        for key, value in json.loads(json.dumps(self.same)).items():
            if before.get(key) != value:
                where, one, two = _first_difference(key, before.get(key), value)
                raise ConfigError(
                    f"{self.path}: has a tuning with {where} {_text(one)}, not {_text(two)}; "
                    "give another file, or remove it"
                )
        return steps

    def write(self, steps: list[TuneStep]) -> None:
        """Replace the file by one with these steps, at once. Raises StoreError."""
        if self.path is None:
            return
        text = json.dumps({"format": FORMAT, "same": self.same, "steps": [asdict(each) for each in steps]})
        try:
            replace_file(self.path, f"{text}\n".encode(), mode=0o666)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from None


def _first_difference(where: str, one: Any, two: Any) -> tuple[str, Any, Any]:
    """The first part of two values that differs, and where it is."""
    if isinstance(one, dict) and isinstance(two, dict):
        key = next(key for key in one | two if one.get(key) != two.get(key))
        return _first_difference(f"{where} {key}", one.get(key), two.get(key))
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        at = next(at for at, pair in enumerate(zip(one, two, strict=True)) if pair[0] != pair[1])
        return _first_difference(f"{where} {at + 1}", one[at], two[at])
    return where, one, two


def _text(value: object) -> str:
    return f"{json.dumps(value):.60}"
