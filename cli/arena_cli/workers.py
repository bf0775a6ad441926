"""`--on`: where the games of a match or a tournament are played."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Final

import typer

from arena_cli.options import duration, refuse
from arena_protocol.errors import needs_extra
from arena_server.errors import ConfigError
from arena_server.places.base import RUN_MODULE, LocalBot
from arena_server.places.workers.base import WorkerPool, Workers

#: The command of this installation: neither `arena` nor its interpreter needs to be on the path.
ARENA: Final = (sys.executable, *RUN_MODULE, "arena_cli")
#: The process that plays games; on another machine with the interpreter there.
WORKER: Final = (*RUN_MODULE, "arena_cli.worker")
MOST_LOCAL: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """The options that say where games are played."""

    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Play each game away from the server: local:N, N processes of this machine; "
            "dask://HOST:PORT, the workers of a Dask scheduler.",
            show_default=False,
        ),
    ] = None
    lease: Annotated[
        str,
        typer.Option(
            metavar="DURATION", help="With --on: a worker that is silent for so long loses its game."
        ),
    ] = "30s"

    def workers(self, bots: Sequence[LocalBot], engines: Mapping[str, str] | None = None) -> Workers | None:
        """Return the workers, which have a program of each bot or the `engines` of all; None without --on.

        Raises ConfigError.
        """
        if self.on is None:
            refuse(self, "expected with --on, whose workers it is for", "lease")
            return None
        return Workers(
            pool=_pool(self.on),
            bots={bot.name: bot for bot in bots},
            engines=engines or {},
            lease_ms=duration(self.lease, "--lease"),
        )


def _pool(where: str) -> WorkerPool:
    """Raises ConfigError for a place that does not exist."""
    kind, _, rest = where.partition(":")
    if kind == "local" and re.fullmatch("[0-9]{1,4}", rest) and 1 <= int(rest) <= MOST_LOCAL:
        from arena_server.places.workers.local import LocalPool

        return LocalPool(int(rest), [sys.executable, *WORKER])
    if kind == "dask" and (found := re.fullmatch(r"//([^/\s]+:[0-9]{1,5})", rest)):
        if find_spec("distributed") is None:
            raise ConfigError(needs_extra("--on dask://", "cluster"))
        from arena_server.places.workers.cluster import DaskPool

        return DaskPool(found[1], WORKER)
    raise ConfigError(
        f"--on: expected local:N with N from 1 to {MOST_LOCAL}, or dask://HOST:PORT, got {where!r}"
    )
