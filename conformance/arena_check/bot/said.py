"""Lines of a bot: read by the protocol's parser, shown to people; and that none came."""

from __future__ import annotations

from arena_check.cases import Finding, failed
from arena_protocol import messages
from arena_protocol.errors import ProtocolError

_NOTHING, _OTHERS = "nothing for", "only lines that answer nothing, for"


def parsed(line: bytes) -> messages.ClientMessage:
    """Read a line of the bot's. Raises Finding (failed) if the protocol does not know such a line."""
    try:
        message = messages.parse_client(line)
    except ProtocolError as problem:
        raise failed("a line of PROTOCOL.md", f"{shown(line)} ({problem.code}: {problem.text})") from problem
    assert message is not None, "blank lines are passed over before"
    return message


def is_note(line: bytes) -> bool:
    """Whether it is an INFO, which is never a fault, whatever is in it."""
    return line.split(b" ")[0].rstrip(b"\r") == b"INFO"


def only_others(patience: float) -> str:
    """What a bot has sent that has not answered in time, but was not silent."""
    return f"{_OTHERS} {patience:g} s"


def nothing(patience: float) -> str:
    """What came of a bot that was silent."""
    return f"{_NOTHING} {patience:g} s"


def unanswered(finding: Finding) -> bool:
    """Whether a bot has not answered in time, and has done nothing wrong otherwise."""
    return finding.actual.startswith((_NOTHING, _OTHERS))


def shown(line: bytes) -> str:
    """A line of the peer's for people: its first 80 bytes, with escapes for what is not printable."""
    return repr(line[:80])[2:-1] + ("..." if len(line) > 80 else "")
