"""`run(bot)`, the last line of a bot's script: find the contest, play it, report errors in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena_client import asyncio_client
from arena_client.bot import BotLike, as_bot
from arena_client.errors import ClientError
from arena_client.retry import DEFAULT, RetryPolicy
from arena_client.transport import TlsLike

USAGE = "say where to play: HOST PORT NAME [TOKEN] as arguments, or ARENA_HOST, ARENA_PORT and ARENA_NAME set"


@dataclass(frozen=True, slots=True)
class ConnectArgs:
    """A server, and the name and credentials of a bot there."""

    host: str
    port: int
    name: str
    token: str | None = None
    tls: TlsLike = None
    slot: int | None = None
    contest: str | None = None


def connect_args(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    host: str | None = None,
    port: int | str | None = None,
    name: str | None = None,
    token: str | None = None,
    tls: TlsLike = None,
    slot: int | None = None,
    contest: str | None = None,
) -> ConnectArgs:
    """Take each value from the keywords, else from `arguments` (HOST PORT NAME [TOKEN]), else from ARENA_*.

    If ARENA_HOST is set, or host, port and name are given as keywords, `arguments` belong to the bot.
    ARENA_TLS is 1 to trust the authorities of the system, or the path of a PEM file to trust. Raises
    ClientError for a missing value, too many arguments, an option for HOST, or a bad port or slot.
    """
    if environment.get("ARENA_HOST") or (host and port and name):
        arguments = ()
    if arguments and arguments[0].startswith("-"):
        raise ClientError(f"{arguments[0]!r:.40} is no HOST; {USAGE}")
    if len(arguments) > 4:
        raise ClientError(f"{len(arguments)} arguments are too many; {USAGE}")
    given = dict(zip(("HOST", "PORT", "NAME", "TOKEN"), arguments, strict=False))

    def pick(key: str, value: str | None) -> str | None:
        return value or given.get(key) or environment.get(f"ARENA_{key}") or None

    found = pick("HOST", host), pick("PORT", None if port is None else str(port)), pick("NAME", name)
    if found[0] is None or found[1] is None or found[2] is None:
        raise ClientError(USAGE)
    if tls is None:
        setting = environment.get("ARENA_TLS", "0")
        tls = {"": False, "0": False, "1": True}.get(setting, setting)
    slot = slot_of(environment) if slot is None else slot
    return ConnectArgs(
        found[0], _port(found[1]), found[2], pick("TOKEN", token), tls, slot, pick("CONTEST", contest)
    )


def slot_of(environment: Mapping[str, str]) -> int | None:
    """The slot in ARENA_SLOT; None without one. Raises ClientError."""
    text = environment.get("ARENA_SLOT", "")
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 6 and int(text) > 0:
        return int(text)
    raise ClientError(f"ARENA_SLOT is a number from 1 up, not {text!r:.40}")


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) < 65536:
        return int(text)
    raise ClientError(f"a port is a number from 1 to 65535, not {text!r}")


def run(
    bot: BotLike,
    host: str | None = None,
    port: int | None = None,
    *,
    name: str | None = None,
    token: str | None = None,
    slot: int | None = None,
    contest: str | None = None,
    tls: TlsLike = None,
    policy: RetryPolicy = DEFAULT,
) -> str:
    """Play a contest to its end and return the reason of BYE.

    What is not given here comes from the environment (ARENA_HOST, ARENA_PORT, ARENA_NAME, ARENA_TOKEN,
    ARENA_SLOT, ARENA_CONTEST, ARENA_TLS), which a tournament sets for its bots; where ARENA_HOST is not
    set, from the command line (HOST PORT NAME [TOKEN]) first. ARENA_DEBUG=1 prints all lines on stderr.

    A ClientError becomes one line on stderr and exit status 1 (SystemExit). An exception of the bot
    passes through: Python prints its traceback and exits with status 1. Ctrl-C exits with status
    130. In all these cases the connection is closed without QUIT, so that a restarted bot resumes.
    """
    try:
        args = connect_args(
            sys.argv[1:],
            os.environ,
            host=host,
            port=port,
            name=name,
            token=token,
            tls=tls,
            slot=slot,
            contest=contest,
        )
        return asyncio_client.run(
            as_bot(bot),
            args.host,
            args.port,
            name=args.name,
            token=args.token,
            slot=args.slot,
            contest=args.contest,
            tls=args.tls,
            policy=policy,
        )
    except ClientError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
