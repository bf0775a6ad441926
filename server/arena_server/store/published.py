"""The head of a contest's chain as it was published: later states of a database have to continue it.

    head.json   {"contest": 3, "name": "friday", "started_at": "...", "games": 20, "head": HEX,
                 "written_at": "..."}

The head at the place `games` of the chain (`chain.py`) fixes all records up to it. An older `head.json`
tells a database that goes on from it from one that was set back to an earlier state, by a
restored folder or by its organiser.

A contest is known by its number, name and beginning: they stay over restarts and copies, and another
one of its name (`arena serve --new`, another database) has others.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from arena_protocol.kinds import NAME
from arena_server.errors import StoreError
from arena_server.store.reader import Results
from arena_server.store.schema import ContestRow, plain_time

#: The name of the file in a published folder.
HEAD_JSON: Final = "head.json"
#: A longer file is none of ours.
MOST_BYTES: Final = 4096
_HEAD: Final = "[0-9a-f]{64}"
_TIME: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"


@dataclass(frozen=True, slots=True)
class PublishedHead:
    """The head after the first `games` records of a contest, void games included; times as `plain_time`."""

    contest: int
    name: str
    started_at: str
    games: int
    head: str
    written_at: str

    @classmethod
    def read(cls, path: Path) -> Self:
        """That of a file, or of a folder of `arena publish`. Raises StoreError with one line."""
        file = path / HEAD_JSON if path.is_dir() else path
        try:
            with file.open("rb") as opened:
                data = opened.read(MOST_BYTES + 1)
            if len(data) > MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES} bytes")
            return cls.of(json.loads(data))
        except OSError as error:
            raise StoreError(f"{file}: cannot be read: {error.strerror}") from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise StoreError(
                f"{file}: expected the {HEAD_JSON} of arena publish ({reason:.100}); fetch it again, or "
                "remove it and publish again"
            ) from None

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Self:
        """Raises ValueError, LookupError or TypeError for what no `arena publish` has written."""
        numbers = [plain[key] for key in ("contest", "games")]
        if not all(type(number) is int and 0 <= number < 1 << 53 for number in numbers):
            raise ValueError("contest and games are whole numbers")
        forms = {"name": NAME.pattern, "started_at": _TIME, "head": _HEAD, "written_at": _TIME}
        for key, form in forms.items():
            if not re.fullmatch(form, plain[key]):
                raise ValueError(f"{key} has not its form")
        return cls(**{key: plain[key] for key in cls.__dataclass_fields__})

    def __str__(self) -> str:
        games = "1 game" if self.games == 1 else f"{self.games} games"
        return f"{games} of contest {self.contest} {self.name} were published at {self.written_at}"

    def is_of(self, contest: ContestRow) -> bool:
        """Whether it is a head of this contest."""
        identity = contest.id, contest.name, plain_time(contest.started_at)
        return identity == (self.contest, self.name, self.started_at)

    def check(self, results: Results) -> tuple[ContestRow, int]:
        """The contest, and how many records were stored since.

        Raises StoreError with one line if its chain does not go on from this head. The values of the chain
        are taken as they are stored: `arena verify` compares them with the records.
        """
        if not any(self.is_of(each) for each in results.contests()):
            raise StoreError(
                f"{self}, and the database has no such contest: it is another one, or was set back; "
                "restore the newest copy"
            )
        contest = results.contest(str(self.contest))
        stored = results.games.games_stored(contest)
        if stored < self.games:
            raise StoreError(
                f"{self}, and the database has {stored}: it was set back; restore the newest copy"
            )
        if results.games.head(contest, self.games).hex() != self.head:
            raise StoreError(
                f"{self}, and others stand in their place: records were changed, or the database was set "
                "back and the contest played on; restore the newest copy"
            )
        return contest, stored - self.games
