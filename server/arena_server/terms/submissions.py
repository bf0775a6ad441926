"""What authors may send in a contest, and where it is kept; the one home of the defaults and bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from arena_server.terms.languages import IMAGES, LANGUAGES
from arena_server.terms.sandbox import DEFAULT_LIMITS, MB, ContainerLimits

#: Seconds for an upload, and for each part of it: who sends less has lost the connection, or holds a place.
UPLOAD_S: Final = 120.0
CHUNK_S: Final = 10.0
#: Uploads at once, of all bots.
UPLOADS: Final = 4
#: Of the file of an image.
IMAGE_ENDING: Final = ".image.tar"


def image_file(image: str) -> str:
    """What the file of an image is called in the folder of its bot."""
    return f"{image.removeprefix('sha256:')[:32]}{IMAGE_ENDING}"


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """`packed` bytes may be sent; `unpacked` bytes in all, in at most `files` files and folders."""

    packed: int = 20 * MB
    unpacked: int = 100 * MB
    files: int = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionRules:
    """`images` are those that a Dockerfile may build on; without `build_network` a build reaches nothing.

    `languages` has by name the image on which a folder without a Dockerfile is built.
    A build may take `build_s` seconds and make `image_bytes`, check and validation game may take `check_s`
    each. A bot may send `per_hour` versions an hour and `versions` in all, whose admissions may take
    `per_day_ms` in 24 hours; from `freeze_ms` (since 1970, UTC)
    on none is sent and none activated.
    """

    limits: ArchiveLimits = field(default_factory=ArchiveLimits)
    images: Sequence[str] = IMAGES
    languages: Mapping[str, str] = field(
        default_factory=lambda: {each.name: each.image for each in LANGUAGES.values()}
    )
    build_network: bool = False
    build_s: float = 300.0
    check_s: float = 600.0
    image_bytes: int = 1_000_000_000
    per_hour: int = 6
    per_day_ms: int = 4 * 3_600_000
    versions: int = 100
    freeze_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SubmittedSeat:
    """How a bot runs: in a container for each of its slots, each with these limits."""

    slots: int = 1
    limits: ContainerLimits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionSetup:
    """The bots of one contest whose authors send them; a later one runs in the seat `late`.

    `folder` is where their versions are kept, `config` the file of the contest, which plays `game` with so
    many `seats`.
    """

    contest: str
    bots: Mapping[str, SubmittedSeat]
    late: SubmittedSeat = SubmittedSeat()
    rules: SubmissionRules
    folder: Path
    config: Path
    game: str
    seats: int

    def seat(self, bot: str) -> SubmittedSeat:
        """How a bot runs."""
        return self.bots.get(bot, self.late)

    def saved(self, bot: str, image: str) -> str:
        """The file of a version's image; empty if there is none."""
        path = self.folder / self.contest / bot / image_file(image)
        return str(path) if path.exists() else ""
