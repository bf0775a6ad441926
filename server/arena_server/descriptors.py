"""How many connections the process may hold, and where the system draws the line.

It must not know: sockets, contests. Only systems with `resource` (not Windows) have a limit to raise.
"""

from __future__ import annotations

from contextlib import suppress

#: Descriptors kept for everything but connections: the listener, the database, the loop,
#: standard streams, refused connections still being told so.
RESERVE = 64


def raise_descriptor_limit() -> int | None:
    """Raise the soft limit to the hard one. Returns the soft limit then, None where there is none."""
    try:
        import resource
    except ImportError:  # pragma: no cover - not on this system
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        # Some systems name a hard limit that they refuse to give (macOS: infinity).
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def connection_cap(wanted: int, descriptors: int | None) -> int:
    """The connections to hold: what the contest wants, below what the system gives, at least one."""
    if descriptors is None:
        return wanted
    return max(1, min(wanted, descriptors - RESERVE))
