"""Error codes of the wire, reasons of BYE, and the exceptions of both sides."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class ErrorCode(StrEnum):
    """Codes of ERROR; `meaning` is the sentence that PROTOCOL.md prints for each."""

    meaning: str

    def __new__(cls, code: str, meaning: str) -> Self:
        """Make a plain string with the attribute `meaning`."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    VERSION = "version", "the server does not support the version in HELLO"
    NAME = "name", "a name has a form that is not allowed"
    TOKEN = "token", "the name, the token or the resume key is wrong; the answer does not tell which"
    NAME_TAKEN = "name-taken", "a connection with this name exists already"
    SLOT = "slot", "the bot has no slot of this number"
    CONTEST = "contest", "HELLO names no contest of this server, or has to name one: the text lists them"
    GAME = "game", "the games in HELLO do not include the game of the contest"
    LOGIN = "login", "the first line was not HELLO, or HELLO did not arrive in time"
    SYNTAX = "syntax", "a line cannot be parsed"
    TOO_LONG = "too-long", "a line is longer than the limit of its direction"
    UNKNOWN_VERB = "unknown-verb", "the first token of a line is not a verb of this direction"
    UNEXPECTED = "unexpected", "the message is not allowed in this state"
    NOT_YOUR_TURN = "not-your-turn", "a MOVE without an open TURN"
    NO_SUCH_GAME = "no-such-game", "the game id is unknown, or is not that of the offered game"
    FLOOD = "flood", "too many unasked lines"
    VALIDATION = "validation", "the bot's validation game had a fault, and it is not paired yet"
    FULL = "full", "the server has as many connections, spectators or clients before their HELLO as it may"
    RATE = "rate", "too many failed log-ins; retry_after= is the wait in milliseconds"


class UserError(Exception):
    """An error that the user can correct; its text is one line.

    `exit_code` is the exit status of a command that ends with it: 1 if the same command may
    succeed later or the answer is negative, 2 if its input has to change first.
    """

    exit_code = 1


def needs_extra(what: str, extra: str, *, in_all: bool = True) -> str:
    """Return the line that says how to install what `what` needs; no package index has the project.

    `in_all`: `make install` installs the extra.
    """
    run = "`make install` or " if in_all else ""
    return (
        f'{what} needs the extra [{extra}]: run {run}`pip install ".[{extra}]"` in a checkout,'
        f' elsewhere `pip install "WHEEL[{extra}]"`'
    )


class ProtocolError(Exception):
    """The peer broke the protocol. `code` goes into ERROR; `text` is one line of ASCII.

    `retry_after` is the wait in milliseconds where waiting helps, else None.
    """

    def __init__(self, code: ErrorCode, text: str, retry_after: int | None = None) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text
        self.retry_after = retry_after


class ClientError(UserError):
    """The client cannot go on and another try would not help; the text is one line with the reason.

    `code` is the code of the server's ERROR if that is the reason, else None.
    """

    def __init__(self, text: str, *, code: str | None = None) -> None:
        super().__init__(text)
        self.code = code


class TlsError(Exception):
    """The peer does not speak TLS, or its certificate is not accepted; the text is one line."""


class LocalProtocolError(Exception):
    """The local side tried to send what the protocol does not allow: a bug of the caller."""


class ByeReason(StrEnum):
    """Values of BYE's `reason=`; `meaning` is the sentence that PROTOCOL.md prints for each."""

    meaning: str

    def __new__(cls, reason: str, meaning: str) -> Self:
        """Make a plain string with the attribute `meaning`."""
        member = str.__new__(cls, reason)
        member._value_ = reason
        member.meaning = meaning
        return member

    FINISHED = "finished", "every game has been played"
    INCOMPLETE = "incomplete", "the contest is over, and games of it are missing"
    SHORT = "short", "the contest is over, as no further round can be drawn"
    ABORTED = "aborted", "the organiser ended the contest for good; running games are void"
    STOPPED = (
        "stopped",
        "the organiser drained the contest, or ended the server together with this bot, which it had started",
    )
    QUIT = "quit", "the answer to QUIT"
    REPLACED = "replaced", "a newer connection has taken over this seat"
    KICKED = "kicked", "the organiser removed this bot"
    SLOW = "slow", "the client did not read what it was sent"
    LOG = "log", "the whole log has been sent"
