"""The versions of one bot as facts: what has been sent, how far its admission is, and which one plays.

    VersionStored -> StageBegun building, checking, playing -> VersionAdmitted
                     any of these -> VersionFailed, with the reason
    VersionActivated: it plays from the next game on         VersionDeployed: its container is started

A decider: the methods that decide return facts and change nothing, `apply` is the only writer, live and
when the log is read again (`store.py`). No I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS


class VersionState(StrEnum):
    """How far a version is. `STORED` waits for its turn; the next three are the stages of admission."""

    STORED = "stored"
    BUILDING = "building"
    CHECKING = "checking"
    PLAYING = "playing"
    ADMITTED = "admitted"
    FAILED = "failed"


#: What people read of the stages.
STAGE_NAMES: Final[Mapping[str, str]] = {
    VersionState.BUILDING: "build",
    VersionState.CHECKING: "check",
    VersionState.PLAYING: "game",
}
STAGES: Final = (VersionState.BUILDING, VersionState.CHECKING, VersionState.PLAYING)


@dataclass(frozen=True, slots=True)
class VersionStored:
    """An archive of `size` bytes is on the disk; `at` is in ms since 1970 (UTC)."""

    number: int
    digest: str
    size: int
    at: int


@dataclass(frozen=True, slots=True)
class StageBegun:
    """A stage of the admission begins; the first one begins again after the server was killed."""

    number: int
    stage: str


@dataclass(frozen=True, slots=True)
class ImageBuilt:
    """The image of a version, by its digest."""

    number: int
    image: str


@dataclass(frozen=True, slots=True)
class VersionFailed:
    """A version is not admitted; `reason` is one line for its author."""

    number: int
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class VersionAdmitted:
    """A version has passed all stages."""

    number: int


@dataclass(frozen=True, slots=True)
class StageTook:
    """A stage or more of the admission of a version took `ms` of the server until `at`."""

    number: int
    ms: int
    at: int


@dataclass(frozen=True, slots=True)
class VersionActivated:
    """A version plays from the next game on; `why` is `admission`, `author` or `roll-back`."""

    number: int
    why: str
    at: int


@dataclass(frozen=True, slots=True)
class VersionDeployed:
    """The bot's games are played by this version from now on."""

    number: int


VersionFact = (
    VersionStored
    | StageBegun
    | ImageBuilt
    | StageTook
    | VersionFailed
    | VersionAdmitted
    | VersionActivated
    | VersionDeployed
)
_KINDS: Final[Mapping[str, type[VersionFact]]] = {
    "stored": VersionStored,
    "stage": StageBegun,
    "built": ImageBuilt,
    "took": StageTook,
    "failed": VersionFailed,
    "admitted": VersionAdmitted,
    "activated": VersionActivated,
    "deployed": VersionDeployed,
}
_WORDS: Final = {kind: word for word, kind in _KINDS.items()}


def fact_json(fact: VersionFact) -> dict[str, Any]:
    return {"fact": _WORDS[type(fact)], **asdict(fact)}


def parse_fact(plain: object) -> VersionFact:
    """The fact of `fact_json`. Raises VersionError."""
    if isinstance(plain, dict) and (kind := _KINDS.get(plain.get("fact", ""))) is not None:
        values = {key: value for key, value in plain.items() if key != "fact"}
        types = {name: int if name in ("number", "size", "at", "ms") else str for name in kind.__slots__}
        if values.keys() == types.keys() and all(type(values[key]) is types[key] for key in types):
            return kind(**values)
    raise VersionError(f"no fact of a version: {plain!s:.80}")


class VersionError(ValueError):
    """What cannot be done with a version, or a fact that does not follow; the text is one line."""


@dataclass(slots=True)
class Version:
    """One version; `image` once it is built, `stage` and `reason` if it failed."""

    number: int
    digest: str
    size: int
    at: int
    state: VersionState = VersionState.STORED
    image: str = ""
    stage: str = ""
    reason: str = ""

    @property
    def name(self) -> str:
        """What ratings and records call it."""
        return f"v{self.number}"


class Versions:
    """The versions of one bot."""

    def __init__(self, facts: Iterable[VersionFact] = ()) -> None:
        """Raises VersionError for facts that do not follow each other."""
        self._versions: dict[int, Version] = {}
        #: The versions that were active, the last one last, without those that were rolled back.
        self._history: list[int] = []
        #: The highest number of a version that was ever active.
        self._newest_active = 0
        #: What plays its games now: it lags behind `active` until a game is over.
        self.deployed: int | None = None
        self._took: list[StageTook] = []
        for fact in facts:
            self.apply(fact)

    # -- what there is

    def all(self) -> list[Version]:
        """All versions, the oldest first."""
        return list(self._versions.values())

    def find(self, number: int) -> Version:
        """Raises VersionError for a number that no version has."""
        if number not in self._versions:
            known = f"1 to {len(self._versions)}" if self._versions else "none yet"
            raise VersionError(f"there is no version {number}; there are {known}")
        return self._versions[number]

    @property
    def active(self) -> int | None:
        """The version that plays from the next game on."""
        return self._history[-1] if self._history else None

    @property
    def pending(self) -> Version | None:
        """The version whose admission has not ended: a failure or the first activation ends it."""
        open_states = (VersionState.STORED, *STAGES)
        return next(
            (
                each
                for each in self.all()
                if each.state in open_states
                or (each.state is VersionState.ADMITTED and each.number > self._newest_active)
            ),
            None,
        )

    # -- what may be done

    def took_ms(self, now: int) -> int:
        """What admissions took of the server in the last 24 hours."""
        return sum(each.ms for each in self._took if each.at > now - DAY_MS)

    def check_room(self, now: int, per_hour: int, most: int, per_day_ms: int) -> None:
        """Raise VersionError unless one more version may be sent at `now` (ms since 1970)."""
        if (pending := self.pending) is not None:
            raise VersionError(
                f"version {pending.number} is still in admission ({pending.state}); wait for it"
            )
        if len(self._versions) >= most:
            raise VersionError(f"a bot may have {most} versions; this one has them")
        recent = [each.at for each in self.all() if each.at > now - HOUR_MS]
        if len(recent) >= per_hour:
            minutes = -(-(recent[-per_hour] + HOUR_MS - now) // 60_000)
            raise VersionError(f"a bot may send {per_hour} versions an hour; the next one in {minutes} min")

        if (took := self.took_ms(now)) >= per_day_ms:
            free = next(
                each.at + DAY_MS for each in self._took if self.took_ms(each.at + DAY_MS) < per_day_ms
            )
            raise VersionError(
                f"the admissions of a bot may take {per_day_ms // 60_000} min a day; those of this one took"
                f" {took // 60_000}; the next one in {-(-(free - now) // 60_000)} min"
            )

    def store(self, digest: str, size: int, now: int) -> VersionStored:
        """The next version."""
        return VersionStored(len(self._versions) + 1, digest, size, now)

    def activate(self, number: int, why: str, now: int) -> VersionActivated:
        """Raises VersionError for a version that may not play."""
        version = self.find(number)
        if version.state is not VersionState.ADMITTED:
            raise VersionError(f"version {number} may not play: {describe(version)}")
        if number == self.active:
            raise VersionError(f"version {number} is active already")
        return VersionActivated(number, why, now)

    def roll_back(self, now: int) -> VersionActivated:
        """The version that was active before the present one. Raises VersionError."""
        if len(self._history) < 2:
            raise VersionError("no version was active before this one")
        return VersionActivated(self._history[-2], "roll-back", now)

    # -- the only writer

    def apply(self, fact: VersionFact) -> None:
        """Raises VersionError for a fact that does not follow those before it."""
        if isinstance(fact, VersionStored):
            if fact.number != len(self._versions) + 1:
                raise VersionError(f"version {fact.number} follows version {len(self._versions)}")
            self._versions[fact.number] = Version(fact.number, fact.digest, fact.size, fact.at)
            return
        version = self.find(fact.number)
        match fact:
            case StageBegun(_, stage):
                self._require(
                    version, version.state in (VersionState.STORED, *STAGES) and stage in STAGES, fact
                )
                version.state = VersionState(stage)
            case ImageBuilt(_, image):
                self._require(version, version.state is not VersionState.FAILED, fact)
                version.image = image
            case StageTook():
                self._took.append(fact)
            case VersionFailed(_, stage, reason):
                self._require(version, version.state in (VersionState.STORED, *STAGES), fact)
                version.state, version.stage, version.reason = VersionState.FAILED, stage, reason
            case VersionAdmitted():
                self._require(version, version.state in STAGES and bool(version.image), fact)
                version.state = VersionState.ADMITTED
            case VersionActivated(number, why):
                self._require(version, version.state is VersionState.ADMITTED, fact)
                if why == "roll-back":
                    self._require(version, self._history[-2:-1] == [number], fact)
                    del self._history[-1]
                else:
                    self._history.append(number)
                self._newest_active = max(self._newest_active, number)
            case VersionDeployed(number):
                self._require(version, version.state is VersionState.ADMITTED, fact)
                self.deployed = number

    @staticmethod
    def _require(version: Version, holds: bool, fact: VersionFact) -> None:
        if not holds:
            raise VersionError(f"{fact} does not follow: {describe(version)}")


def describe(version: Version) -> str:
    """The state in words, with the reason of a failure."""
    if version.state is VersionState.FAILED:
        return f"{STAGE_NAMES.get(version.stage, version.stage)} failed: {version.reason}"
    return f"it is {version.state}"
