"""Games played before the command that keeps them (`--keep`) is repeated: of a match, or of a climb."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from arena_protocol.record import VOID
from arena_protocol.record_codec import decode
from arena_server.core.life import FINAL
from arena_server.errors import ConfigError, EmptyDatabaseError, OtherConfigError
from arena_server.places.reporter import result_json
from arena_server.store.database import Database
from arena_server.store.preflight import check_contest, check_writable, config_json, latest_contests
from arena_server.store.reader import Results
from arena_server.terms.spec import ContestSpec


def programs_digest(players: Sequence[str], variables: Mapping[str, str]) -> str:
    """A digest of what plays: names alone do not tell `mybot.py --depth 3` from `mybot.py --depth 4`."""
    return sha256(json.dumps([list(players), sorted(variables.items())]).encode()).hexdigest()


def earlier_results(database: Database, spec: ContestSpec) -> list[tuple[str, dict[str, Any]]] | None:
    """The results that count of the unfinished contest of this `spec`, each with its worker.

    They are in the order of its games; None if there is no such contest. Raises StoreError for a
    database that cannot be used, or whose contest another process plays.
    """
    check_writable(database)
    names = [entrant.name for entrant in spec.entrants]
    try:
        check_contest(database, spec.config, names, new=False, seeded=spec.seeded)
        with Results(database) as results:
            contest = results.latest(spec.name)
            if contest is None or contest.status in FINAL:
                return None
            annulled = results.facts.annulled(contest)
            records = [decode(row["record"]) for row in results.games.rows(contest, withheld=True)]
    except (EmptyDatabaseError, OtherConfigError):
        return None
    return [
        (record.worker, result_json(record))
        for record in records
        if record.end != VOID and record.game_id not in annulled
    ]


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
