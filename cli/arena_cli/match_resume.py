"""Games played before the command that keeps them (`--keep`) is repeated: of a match, or of a climb."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from arena_protocol.record import VOID
from arena_protocol.record_codec import decode
from arena_server.core.life import FINAL, FINISHED
from arena_server.errors import ConfigError, EmptyDatabaseError, OtherConfigError
from arena_server.places.reporter import result_json
from arena_server.store.database import Database
from arena_server.store.preflight import (
    StoredContest,
    check_contest,
    check_writable,
    config_json,
    latest_contests,
)
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
    if (key := _other_key(stored, spec)) is not None:
        raise ConfigError(
            f"{database}: has a climb with another bot, ladder or option ({spec.name} has other {key}); "
            "give another file, or remove it"
        )
    if stored.status not in FINAL:
        return None
    with Results(database) as results:
        return _results_of(results, stored)


def league_results(database: Database, specs: Sequence[ContestSpec]) -> dict[str, list[dict[str, Any]]]:
    """The results of the matches that are over of a league that is not, by name; `specs` are in its order.

    Raises StoreError for a database that cannot be used.
    """
    check_writable(database)
    found = latest_contests(database, [spec.name for spec in specs])
    over: list[StoredContest] = []
    for spec in specs:
        stored = found.get(spec.name)
        if stored is None or stored.status != FINISHED or _other_key(stored, spec) is not None:
            break
        # One that began before the match before it is of an earlier league.
        if over and stored.number < over[-1].number:
            break
        over.append(stored)
    if not over or len(over) == len(specs):
        return {}
    with Results(database) as results:
        return {stored.name: _results_of(results, stored) for stored in over}


def _other_key(stored: StoredContest, spec: ContestSpec) -> str | None:
    """A key in which a contest differs from this `spec`."""
    given = config_json(spec.config, [entrant.name for entrant in spec.entrants])
    before = {"seed": stored.seed, **stored.config}
    return next(
        (
            key
            for key, value in {"seed": str(spec.config.seed), **given}.items()
            if before.get(key, value) != value
        ),
        None,
    )


def _results_of(results: Results, stored: StoredContest) -> list[dict[str, Any]]:
    contest = results.contest(str(stored.number))
    return [result_json(decode(row["record"])) for row in results.games.rows(contest, withheld=True)]
