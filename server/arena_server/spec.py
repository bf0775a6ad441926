"""A contest as a value. A TOML file is one way to make it (`config_file.spec_of`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena_server.core.config import ContestConfig, Entrant


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestSpec:
    """What is played, and who may log in.

    An unfinished contest of the same name in the database goes on, unless a `new` one is wanted; `seeded`
    tells that its seed has to be that of the config. `bot_logs` is the folder of private logs of
    bots, None without. A contest that is not `listed` has to be named in HELLO, no ERROR,
    page or report names it, and its host neither waits for it nor ends with it.
    """

    config: ContestConfig
    entrants: Sequence[Entrant]
    new: bool = False
    seeded: bool = True
    bot_logs: Path | None = None
    listed: bool = True

    @property
    def name(self) -> str:
        return self.config.name
