"""Why a server says BYE. It must not know: who decides it, or what becomes of a game then."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class ByeReason(StrEnum):
    """The words of BYE's `reason=`; `meaning` is the line that PROTOCOL.md prints for each."""

    meaning: str

    def __new__(cls, reason: str, meaning: str) -> Self:
        """Make the reason a plain string that carries its meaning."""
        member = str.__new__(cls, reason)
        member._value_ = reason
        member.meaning = meaning
        return member

    FINISHED = "finished", "every game has been played"
    STOPPED = "stopped", "the organiser has stopped the contest; games that ran are void"
    QUIT = "quit", "the answer to QUIT"
    REPLACED = "replaced", "a newer connection has taken this seat up again"
    KICKED = "kicked", "the organiser has sent this bot away"
    SLOW = "slow", "the client does not read what it is sent"
