"""One submitted bot: its versions, what its author may send, and who listens to an admission."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from arena_server.submissions.admission import printable
from arena_server.submissions.board import QueuePlace
from arena_server.submissions.store import VersionStore
from arena_server.submissions.versions import (
    STAGE_NAMES,
    Version,
    VersionFact,
    Versions,
    VersionState,
    fact_json,
)
from arena_server.terms.submissions import SubmissionRules

Key = tuple[str, str]
#: How the reason of a failure begins that is not the author's to mend.
NO_FAULT: Final = "the server could not go on: "
#: What is said of a version while its author listens: JSON types; None: nothing follows.
Listener = Callable[[dict[str, Any] | None], None]


class RefusedError(Exception):
    """What an author asks for cannot be done; the text is one line."""


class SubmittedBot:
    """The versions of one bot, and who listens to their admission."""

    def __init__(self, key: Key, store: VersionStore, rules: SubmissionRules) -> None:
        self.key = key
        self.store = store
        self.rules = rules
        self.uploading = False
        #: Told of each fact, after it is durable.
        self.watchers: list[Callable[[SubmittedBot, VersionFact], None]] = []
        self._listeners: dict[int, list[Listener]] = {}

    @property
    def versions(self) -> Versions:
        return self.store.versions

    def take(self, upload: Path, digest: str, size: int, now: int) -> int:
        """Keep an upload as the next version, and return its number."""
        fact = self.versions.store(digest, size, now)
        self.store.keep(upload, fact.number)
        self.write(fact)
        return fact.number

    def write(self, fact: VersionFact) -> None:
        """Make a fact durable, then report it."""
        self.store.write(fact)
        self._tell(fact.number, fact_json(fact))
        for watcher in self.watchers:
            watcher(self, fact)

    def say(self, number: int, line: str) -> None:
        """A line of output for the author; lines beyond a bound are neither kept nor told."""
        line = printable(line)
        kept = True
        with suppress(OSError):  # a full disk: an author who listens reads it all the same
            kept = self.store.log(number, line)
        if kept:
            self._tell(number, {"fact": "line", "number": number, "text": line})

    def _tell(self, number: int, plain: dict[str, Any] | None) -> None:
        for listener in self._listeners.get(number, ()):
            listener(plain)

    def tell_place(self, number: int, place: QueuePlace) -> None:
        """Where a version stands that waits for its turn; it is not kept."""
        self._tell(number, {"fact": "waits", "number": number, **place_json(place)})

    def check_new(self, digest: str) -> None:
        """Raise RefusedError if these files were sent before, unless the server failed then."""
        for each in self.versions.all():
            if each.digest != digest or each.reason.startswith(NO_FAULT):
                continue
            if each.state is VersionState.FAILED:
                how = f"which is not admitted: {STAGE_NAMES[each.stage]} failed: {each.reason}"
            elif each.state is VersionState.ADMITTED:
                how = f"which is admitted: arena submit --activate {each.number}"
            else:
                how = "whose admission has not ended"
            raise RefusedError(f"these are the files of version {each.number}, {how}")

    def listen(self, number: int, listener: Listener) -> None:
        """Tell `listener` what happens to a version until its admission has ended; None is the last."""
        self._listeners.setdefault(number, []).append(listener)

    def done(self, number: int) -> None:
        """The admission of a version has ended."""
        self._tell(number, None)
        self._listeners.pop(number, None)


def place_json(place: QueuePlace) -> dict[str, Any]:
    """A place as JSON types: for which `stage`, and the seconds to the end of the admission, or null."""
    left = None if place.left_s is None else round(place.left_s)
    return {"stage": str(place.lane), "place": place.place, "of": place.of, "left_s": left}


def version_json(version: Version, active: int | None) -> dict[str, Any]:
    """A version as JSON types; `at` is a moment in UTC."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(version.at // 1000))
    return asdict(version) | {"state": str(version.state), "at": at, "active": version.number == active}
