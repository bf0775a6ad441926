"""The five-minute way in: `run(bot)`, which finds the contest and speaks to people in one line.

It must not know: the wire, games, how the tournament starts programs beyond the environment it gives them.
"""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena_client import asyncio_client
from arena_client.bot import Bot, Choose, as_bot
from arena_client.errors import ClientError
from arena_client.retry import PATIENT, Patience

USAGE = "say where to play: HOST PORT NAME [TOKEN] as arguments, or ARENA_HOST, ARENA_PORT and ARENA_NAME set"


@dataclass(frozen=True, slots=True)
class Invitation:
    """Where a bot is to play, and as whom."""

    host: str
    port: int
    name: str
    token: str | None = None
    tls: ssl.SSLContext | None = None


def invitation(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    host: str | None = None,
    port: int | str | None = None,
    name: str | None = None,
    token: str | None = None,
) -> Invitation:
    """Gather HOST PORT NAME [TOKEN]: from the keywords, else `arguments`, else ARENA_* of `environment`.

    Raises ClientError, in one line, for what is missing, left over or no port.
    """
    if host and port and name:
        arguments = ()  # the command line is the bot's own
    if len(arguments) > 4:
        raise ClientError(f"{len(arguments)} arguments are too many; {USAGE}")
    given = dict(zip(("HOST", "PORT", "NAME", "TOKEN"), arguments, strict=False))

    def pick(key: str, value: str | None) -> str | None:
        return value or given.get(key) or environment.get(f"ARENA_{key}") or None

    found = pick("HOST", host), pick("PORT", None if port is None else str(port)), pick("NAME", name)
    if found[0] is None or found[1] is None or found[2] is None:
        raise ClientError(USAGE)
    return Invitation(found[0], _port(found[1]), found[2], pick("TOKEN", token))


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) < 65536:
        return int(text)
    raise ClientError(f"a port is a number from 1 to 65535, not {text!r}")


def run(
    bot: Bot | type[Bot] | Choose,
    host: str | None = None,
    port: int | None = None,
    *,
    name: str | None = None,
    token: str | None = None,
    patience: Patience = PATIENT,
    tls: ssl.SSLContext | None = None,
) -> str:
    """Play a contest to its end and return the reason of BYE; meant to be a script's last line.

    What is not given here comes from the command line (HOST PORT NAME [TOKEN]), else from the
    environment (ARENA_HOST, ARENA_PORT, ARENA_NAME, ARENA_TOKEN), where a tournament puts
    it. A failure is one line on stderr and exit status 1 (SystemExit); ctrl-C leaves with
    QUIT and status 130. What the bot itself raises passes through, traceback and all.
    """
    try:
        seat = invitation(sys.argv[1:], os.environ, host=host, port=port, name=name, token=token)
        return asyncio_client.run(
            as_bot(bot), seat.host, seat.port, name=seat.name, token=seat.token, patience=patience, tls=tls
        )
    except ClientError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
