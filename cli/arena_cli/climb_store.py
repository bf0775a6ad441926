"""The database of `arena climb --keep`: each step is a contest, `climb-1`, `climb-2` and so on."""

from __future__ import annotations

from typing import Any

from arena_protocol.record_codec import decode
from arena_server.core.life import FINAL
from arena_server.errors import ConfigError
from arena_server.places.reporter import result_json
from arena_server.store.database import Database
from arena_server.store.preflight import check_writable, config_json, latest_contests
from arena_server.store.reader import Results
from arena_server.terms.spec import ContestSpec


def finished_results(database: Database, spec: ContestSpec) -> list[dict[str, Any]] | None:
    """The results of the contest of this `spec`, in the order of its games; None if it is not over.

    Raises StoreError for a database that cannot be used, and ConfigError if it has another of this name.
    """
    check_writable(database)
    stored = latest_contests(database, [spec.name]).get(spec.name)
    if stored is None:
        return None
    given = config_json(spec.config, [entrant.name for entrant in spec.entrants])
    before = {"seed": stored.seed, **stored.config}
    for key, value in {"seed": str(spec.config.seed), **given}.items():
        if before.get(key, value) != value:
            raise ConfigError(
                f"{database}: has a climb with another bot, ladder or option ({spec.name} has other {key}); "
                "give another file, or remove it"
            )
    if stored.status not in FINAL:
        return None
    with Results(database) as results:
        contest = results.contest(str(stored.number))
        return [result_json(decode(row["record"])) for row in results.games.rows(contest, withheld=True)]
