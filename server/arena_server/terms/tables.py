"""The tables of a file about containers, submissions and stages, and what all tables are made of.

Durations are written as `20s`, `500ms`, `2m` or `1h`, and are whole milliseconds once they are read.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from arena_protocol.kinds import valid_name
from arena_server.terms.languages import LANGUAGES
from arena_server.terms.sandbox import (
    DEFAULT_LIMITS,
    LEAST_MEMORY,
    MB,
    ContainerLimits,
    parse_size,
)
from arena_server.terms.submissions import SubmissionRules
from arena_server.terms.timetable import milliseconds

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_DURATION = re.compile(r"(\d{1,9})(?:\.(\d{1,3}))?\s?(ms|s|m|h)", re.ASCII)

EXPECTED = "a duration such as '500ms', '20s', '2m' or '1h'"


def parse_duration(text: str) -> int:
    """Whole milliseconds of `text`.

    Raises ValueError for anything else, and for a fraction that is no whole number of milliseconds.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"expected {EXPECTED}")
    whole, fraction, unit = found[1], found[2] or "", found[3]
    # Integer thousandths of the unit, so that no float rounds a clock.
    thousandths = (int(whole) * 1000 + int(fraction.ljust(3, "0") or 0)) * _UNITS_MS[unit]
    if thousandths % 1000:
        raise ValueError("expected a whole number of milliseconds")
    return thousandths // 1000


def format_duration(milliseconds: int) -> str:
    """The shortest text that `parse_duration` reads back as `milliseconds`."""
    for unit in ("h", "m", "s"):
        if milliseconds and milliseconds % _UNITS_MS[unit] == 0:
            return f"{milliseconds // _UNITS_MS[unit]}{unit}"
    return f"{milliseconds}ms"


def bounded_duration(value: object, low: int, high: int) -> int:
    if not isinstance(value, str):
        raise ValueError(f"expected {EXPECTED}")
    milliseconds = parse_duration(value)
    if milliseconds > high:
        raise ValueError(f"expected a duration of at most {format_duration(high)}")
    if milliseconds < low:
        raise ValueError(f"expected a duration of at least {format_duration(low)}")
    return milliseconds


def check_moment(value: object) -> object:
    if isinstance(value, datetime):
        with suppress(OverflowError):  # the first and the last day may have none in this zone
            return value.astimezone()  # one without an offset is in the zone of this machine
    raise ValueError("expected a date with a time and without quotes, such as 2026-12-24T18:00:00")


def check_name(value: str) -> str:
    if not valid_name(value):
        raise ValueError("expected 1 to 32 letters, digits, '_', '.' or '-', a letter or digit first")
    return value


class FileTable(BaseModel):
    """A table of the file: no unknown key, no conversion of types."""

    # Deferred: only a whole file is validated, so no other validator need be built.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class ContainerTable(FileTable):
    """`[container]`: what each bot in a container may use; a bot's own keys replace these."""

    cpus: float | None = Field(default=None, ge=0.01, le=1024)
    #: Bytes; a text such as "512MB" in the file.
    memory: int | None = None
    pids: int | None = Field(default=None, ge=2, le=1_000_000)
    #: Whether it may think while another seat of its game is to move.
    ponder: Literal["on", "off"] | None = None

    @field_validator("memory", mode="before")
    @classmethod
    def _read_memory(cls, memory: object) -> object:
        if not isinstance(memory, str):
            raise ValueError('expected a size such as "512MB"')
        if (size := parse_size(memory)) < LEAST_MEMORY:
            raise ValueError('expected "6MB" or more')
        return size

    def limits(self, default: ContainerLimits = DEFAULT_LIMITS) -> ContainerLimits:
        """What these keys say, else the default."""
        given = {key: getattr(self, key) for key in ("cpus", "memory", "pids")}
        given["ponder"] = None if self.ponder is None else self.ponder == "on"
        return replace(default, **{key: value for key, value in given.items() if value is not None})


#: Each has a container that waits for its games.
MOST_LATE: Final = 500
_RULES: Final = SubmissionRules()
_IMAGE: Final = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]{0,199}")


class SubmissionsTable(FileTable):
    """`[submissions]`: what the authors of bots with `submit = true` may send (`submissions.rules`)."""

    #: Where versions are kept; None: beside the database.
    folder: str | None = Field(default=None, min_length=1)
    #: The images that a Dockerfile may build on.
    images: list[str] = Field(default_factory=lambda: list(_RULES.images), min_length=1)
    #: By language the image on which a folder without a Dockerfile is built, one of `images`; left out: the
    #: usual one, if it is among them.
    languages: dict[str, str] = Field(default_factory=dict)
    build_network: bool = _RULES.build_network
    build_time: int = int(_RULES.build_s * 1000)
    check_time: int = int(_RULES.check_s * 1000)
    time_per_day: int = _RULES.per_day_ms
    #: Bytes of an archive; a text such as "20MB" in the file.
    size: int = _RULES.limits.packed
    per_hour: int = Field(default=_RULES.per_hour, ge=1, le=1000)
    versions: int = Field(default=_RULES.versions, ge=1, le=10_000)
    #: How many bots that are added or invited during the contest are sent by their authors, too.
    late: int = Field(default=0, ge=0, le=MOST_LATE)
    freeze: datetime | None = None

    _moments = field_validator("freeze", mode="before")(check_moment)

    @field_validator("images")
    @classmethod
    def _check_images(cls, images: list[str]) -> list[str]:
        for image in images:
            if not _IMAGE.fullmatch(image):
                raise ValueError(f'expected names of images such as "python:3.12-slim", got {image!r:.40}')
        return images

    @field_validator("languages")
    @classmethod
    def _check_languages(cls, languages: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for name, image in languages.items():
            if name not in LANGUAGES:
                raise ValueError(f"expected languages among {', '.join(LANGUAGES)}, got {name!r:.40}")
            images = info.data.get("images", [image])
            if image not in images:
                raise ValueError(f"{name}: expected one of images ({', '.join(images)}), got {image!r:.40}")
        return languages

    @field_validator("build_time", "check_time", mode="before")
    @classmethod
    def _read_time(cls, value: object) -> int:
        return bounded_duration(value, 1_000, 3_600_000)

    @field_validator("time_per_day", mode="before")
    @classmethod
    def _read_time_per_day(cls, value: object) -> int:
        return bounded_duration(value, 1_000, 24 * 3_600_000)

    @field_validator("size", mode="before")
    @classmethod
    def _read_size(cls, size: object) -> object:
        if not isinstance(size, str):
            raise ValueError('expected a size such as "20MB"')
        if (found := parse_size(size)) > _RULES.limits.unpacked or not found:
            raise ValueError(f'expected "1MB" to "{_RULES.limits.unpacked // MB}MB"')
        return found

    def rules(self) -> SubmissionRules:
        """What these keys say."""
        return SubmissionRules(
            limits=replace(_RULES.limits, packed=self.size),
            images=tuple(self.images),
            languages={
                name: self.languages.get(name, each.image)
                for name, each in LANGUAGES.items()
                if self.languages.get(name, each.image) in self.images
            },
            build_network=self.build_network,
            build_s=self.build_time / 1000,
            check_s=self.check_time / 1000,
            per_hour=self.per_hour,
            per_day_ms=self.time_per_day,
            versions=self.versions,
            freeze_ms=None if self.freeze is None else milliseconds(self.freeze),
        )


class SourceTable(FileTable):
    """One place of `entrants_from`: see `stats.qualifying.Source`."""

    stage: str | list[str]
    first: int | None = Field(default=None, ge=1, le=10_000)
    after: int = Field(default=0, ge=0, le=10_000)
    by: Literal["table", "ratings"] = "table"

    @field_validator("stage", mode="before")
    @classmethod
    def _check_stage(cls, stage: object) -> object:
        names = [stage] if isinstance(stage, str) else stage
        if not isinstance(names, list) or not names or not all(isinstance(each, str) for each in names):
            raise ValueError("expected the name of a stage, or a list of them")
        if len(set(names)) < len(names):
            raise ValueError("expected each stage once")
        return stage

    @property
    def names(self) -> tuple[str, ...]:
        return (self.stage,) if isinstance(self.stage, str) else tuple(self.stage)


class StageTable(FileTable):
    """What is a stage's own: the rest of its table are keys of `[contest]`."""

    name: str
    bots: list[str] | None = Field(default=None, min_length=1)
    entrants_from: list[SourceTable] | None = Field(default=None, min_length=1)

    _name = field_validator("name")(check_name)

    @field_validator("entrants_from", mode="before")
    @classmethod
    def _make_list(cls, sources: object) -> object:
        return [sources] if isinstance(sources, dict) else sources
