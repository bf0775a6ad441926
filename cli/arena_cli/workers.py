"""`--on`: where the games of a match or a tournament are played."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Annotated, Final

import typer

from arena_cli.options import duration, refuse
from arena_protocol.errors import needs_extra
from arena_server.errors import ConfigError
from arena_server.places.base import RUN_MODULE, LocalBot
from arena_server.places.workers.base import AuditTerms, WorkerPool, Workers, word

#: The command of this installation: neither `arena` nor its interpreter needs to be on the path.
ARENA: Final = (sys.executable, *RUN_MODULE, "arena_cli")
#: The process that plays games; on another machine with the interpreter there.
WORKER: Final = (*RUN_MODULE, "arena_cli.worker")
MOST_LOCAL: Final = 256
LEAST_LEASE_MS: Final = 1_000
#: The share of games that are played twice where machines may be those of others.
AUDIT: Final = 0.05
_DASK: Final = re.compile(r"(?:dask|tls)://[^/\s]+:[0-9]{1,5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """The options that say where games are played."""

    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Play each game away from the server: local:N, N processes of this machine; "
            "dask://HOST:PORT or tls://HOST:PORT, the workers of a Dask scheduler. A bot "
            "may start again with any game.",
            show_default=False,
        ),
    ] = None
    lease: Annotated[
        str,
        typer.Option(
            metavar="DURATION", help="With --on: a worker that is silent for so long loses its game."
        ),
    ] = "30s"
    audit: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="With --on: the share of games that this machine plays a second time, to find workers whose "
            "results differ; 0.05 with dask:// and tls://, 0 with local:N.",
            show_default=False,
        ),
    ] = None
    share: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="With --on dask:// or tls://: the share of the cluster's threads that this contest has "
            "while others need theirs; all of them by default.",
            show_default=False,
        ),
    ] = None
    trust: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="With --on dask:// or tls://: workers of these names are yours. They play the games of "
            "--audit in the place of this machine, and they alone build and check versions of authors where "
            "it has no container engine.",
            show_default=False,
        ),
    ] = None

    def arguments(self) -> dict[str, str | None]:
        """The options of a command that is to play where this one would; None: as it is by default."""
        given = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {f"--{name}": None if value == usual else str(value) for name, (value, usual) in given.items()}

    def workers(self, bots: Sequence[LocalBot], engines: Mapping[str, str] | None = None) -> Workers | None:
        """Return the workers, which have a program of each bot or the `engines` of all; None without --on.

        Raises ConfigError.
        """
        if self.on is None:
            refuse(self, "expected with --on, whose workers it is for", "lease", "audit", "share", "trust")
            return None
        if self.audit is not None and not 0 <= self.audit <= 1:
            raise ConfigError(f"--audit: expected a share from 0 to 1, got {self.audit:g}")
        if self.share is not None and not 0 < self.share <= 1:
            raise ConfigError(f"--share: expected more than 0 and at most 1, got {self.share:g}")
        far = _DASK.fullmatch(self.on) is not None
        if self.share is not None and not far:
            raise ConfigError("--share: expected with --on dask:// or tls://, whose workers several may use")
        if self.trust is not None and not far:
            raise ConfigError("--trust: expected with --on dask:// or tls://, whose workers have names")
        pool, trusted = _pool(self.on, self.share or 1), _names(self.trust)
        return Workers(
            pool=pool,
            bots={bot.name: bot for bot in bots},
            engines=engines or {},
            lease_ms=_lease(self.lease),
            audit=_audit(self.on, self.audit, pool, trusted),
            far=far,
            trusted=trusted,
        )


def _lease(text: str) -> int:
    """Raises ConfigError."""
    milliseconds = duration(text, "--lease")
    # A busy machine is silent for less without a fault, and the bots of the lost games would be removed.
    if milliseconds < LEAST_LEASE_MS:
        raise ConfigError(f"--lease: expected a duration of at least 1s, got {text!r}")
    return milliseconds


def _names(text: str | None) -> frozenset[str]:
    """The names of workers in an option. Raises ConfigError."""
    names = frozenset() if text is None else frozenset(each.strip() for each in text.split(","))
    if odd := [name for name in names if name != word(name)]:
        raise ConfigError(f"--trust: expected names of workers with commas between, got {odd[0]!r:.40}")
    return names


def _audit(where: str, share: float | None, pool: WorkerPool, trusted: Collection[str]) -> AuditTerms | None:
    """The games of processes of this machine need none by another one."""
    if share is None:
        share = AUDIT if _DASK.fullmatch(where) else 0
    if not share:
        return None
    if trusted:
        from arena_server.places.workers.cluster import DaskPool
        from arena_server.places.workers.trusted import TrustedWorkers

        assert isinstance(pool, DaskPool), "its workers have names"
        return AuditTerms(share=share, pool=TrustedWorkers(pool.tasks, trusted, WORKER), trusted=trusted)
    from arena_server.places.workers.local import LocalPool

    return AuditTerms(share=share, pool=LocalPool(1, [sys.executable, *WORKER]))


def _pool(where: str, share: float) -> WorkerPool:
    """Raises ConfigError for a place that does not exist."""
    kind, _, rest = where.partition(":")
    if kind == "local" and re.fullmatch("[0-9]{1,4}", rest) and 1 <= int(rest) <= MOST_LOCAL:
        from arena_server.places.workers.local import LocalPool

        return LocalPool(int(rest), [sys.executable, *WORKER])
    if _DASK.fullmatch(where):
        if find_spec("distributed") is None:
            raise ConfigError(needs_extra(f"--on {kind}://", "cluster"))
        from arena_server.places.workers.cluster import DaskPool

        return DaskPool(where, WORKER, share)
    raise ConfigError(
        f"--on: expected local:N with N from 1 to {MOST_LOCAL}, dask://HOST:PORT or tls://HOST:PORT, "
        f"got {where!r}"
    )
