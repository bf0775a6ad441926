"""What may go wrong on the wire: one code a cause, and the two exceptions of both sides.

It must not know: which line, state or game led to an error, nor what the referee does about it.

Why a server says BYE. It must not know: who decides it, or what becomes of a game then.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class ErrorCode(StrEnum):
    """The codes of ERROR; `meaning` is the line that PROTOCOL.md prints for each."""

    meaning: str

    def __new__(cls, code: str, meaning: str) -> Self:
        """Make the code a plain string that carries its meaning."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    VERSION = "version", "the server does not speak the version that HELLO names"
    NAME = "name", "a name has a form that is not allowed"
    TOKEN = "token", "the name, the token or the resume key is wrong; which of them is not told"
    NAME_TAKEN = "name-taken", "this name is connected already"
    GAME = "game", "the games that HELLO lists do not include the contest's game"
    LOGIN = "login", "the first line was not HELLO, or did not come in time"
    SYNTAX = "syntax", "a line cannot be read as a message"
    TOO_LONG = "too-long", "a line is longer than the limit of its direction"
    UNKNOWN_VERB = "unknown-verb", "the first token of a line is no verb of this direction"
    UNEXPECTED = "unexpected", "a message that has no meaning at this moment"
    NOT_YOUR_TURN = "not-your-turn", "a MOVE without a TURN to answer"
    NO_SUCH_GAME = "no-such-game", "a game id that is unknown, or not the one on offer"
    FLOOD = "flood", "too many lines that were not asked for"
    FULL = "full", "the server holds as many connections as it may"
    RATE = "rate", "too many log-ins in a short time; retry_after= says how many milliseconds to wait"


class ProtocolError(Exception):
    """The peer sent what it may not. `code` goes into ERROR, `text` is one clear line of ASCII.

    `retry_after` is how many milliseconds to wait where waiting helps.
    """

    def __init__(self, code: ErrorCode, text: str, retry_after: int | None = None) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text
        self.retry_after = retry_after


class TlsError(Exception):
    """The peer speaks no TLS, or is not whom it should be; the text is one clear line."""


class LocalProtocolError(Exception):
    """Our own side tried to send what it may not: a bug in the caller, never the peer's doing."""


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
