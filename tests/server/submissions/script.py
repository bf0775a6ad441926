"""A scripted examiner, and a bot's versions without an engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from arena_server.submissions.admission import RejectedError, Say
from arena_server.terms.submissions import SubmissionRules, SubmissionSetup, SubmittedSeat

KEY = ("friday", "ann")


@dataclass
class Script:
    """Examines by a script: `fails` has a reason for each stage that fails; `waits` holds one back.

    One that `forgets` has none of its images after a kill.
    """

    fails: dict[str, str] = field(default_factory=dict)
    waits: dict[str, asyncio.Event] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    discarded: list[str] = field(default_factory=list)
    forgets: bool = False

    async def _stage(self, stage: str, say: Say) -> None:
        self.done.append(stage)
        say(f"{stage} says\x07 this")
        if stage in self.waits:
            await self.waits[stage].wait()
        if stage in self.fails:
            raise RejectedError(self.fails[stage])

    async def build(self, archive: Path, place: Path, tag: str, say: Say) -> str:
        assert archive.exists()
        assert list(place.iterdir()) == []
        await self._stage("build", say)
        return f"sha256:{tag}"

    async def has(self, image: str, bot: str) -> bool:
        return not self.forgets

    async def check(self, image: str, bot: str, say: Say) -> None:
        assert image.startswith("sha256:insertion-arena-bot:")
        await self._stage("check", say)

    async def discard(self, tag: str) -> None:
        self.discarded.append(tag)

    async def play(self, image: str, bot: str, say: Say) -> None:
        await self._stage("play", say)


def setup_in(folder: Path, rules: SubmissionRules | None = None, *names: str) -> SubmissionSetup:
    return SubmissionSetup(
        contest=KEY[0],
        bots=dict.fromkeys(names or (KEY[1],), SubmittedSeat()),
        rules=rules or SubmissionRules(),
        folder=folder,
        config=folder / "c.toml",
        game="tictactoe",
        seats=2,
    )
