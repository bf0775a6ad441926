"""What a stored contest is to play: its format with late entrants, its history, its empty table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from arena_protocol.games import make_game
from arena_server.core.facts import (
    ContestFact,
    Drawn,
    Extended,
    Joined,
    Left,
    Paired,
    Repeat,
    Shortened,
    Walkover,
)
from arena_server.core.formats import find_format, make_format
from arena_server.core.formats.base import Format, Pairing
from arena_server.core.formats.history import History, HistoryFact
from arena_server.core.formats.rounds import Rounds
from arena_server.core.formats.scheduled import Scheduled
from arena_server.core.journal import CONTEST, entry_of, fact_of
from arena_server.core.life import WHOLE
from arena_server.stats.scoring import WINS
from arena_server.stats.standings import Standings
from arena_server.store.schema import ContestRow
from arena_server.terms.formats import Terms, order_of


def format_of_row(contest: ContestRow) -> Format:
    """The games of a stored contest as planned. Raises ValueError or LookupError for a damaged row."""
    config = contest.config
    terms = Terms(
        order_of(config["bots"], int(contest.seed), anonymous=contest.is_anonymous),
        make_game(contest.game, config["options"]).seats,
        contest.games_per_pair,
        paired=config.get("deals") == "paired",
        options=config.get("format_options", {}),
        owners=config.get("owners", {}),
        by_points=contest.scoring == "points",
        secret=int(contest.seed),
        scoring=contest.scoring,
    )
    if find_format(contest.format).DRAWS:
        return make_format(contest.format, terms)  # it is to be given its facts
    return _planned_format(contest.format, json.dumps(asdict(terms)))


@lru_cache(maxsize=8)  # one of many groups takes a second
def _planned_format(name: str, terms: str) -> Format:
    plain = json.loads(terms)
    return make_format(name, Terms(**{**plain, "names": tuple(plain["names"])}))


def grown_format(contest: ContestRow, facts: Sequence[ContestFact]) -> Format:
    """The games of a contest as planned, with its late entrants, extended and shortened."""
    late = [fact for fact in facts if isinstance(fact, Joined | Extended | Shortened)]
    form = format_of_row(contest)
    if not late or not isinstance(form, Scheduled):
        return form
    grown = make_format(form.NAME, form.terms)  # the other one is shared
    assert isinstance(grown, Scheduled)
    for fact in late:
        if isinstance(fact, Joined):
            grown.join(fact.name, first=fact.first)
        else:
            more = fact.games if isinstance(fact, Extended) else -fact.games
            grown.resize(grown.length.now + more, first=fact.first)
    return grown


def planned(contest: ContestRow, facts: Sequence[ContestFact], first: int, end: int) -> list[Pairing]:
    """The games with the numbers `first` to `end - 1` of those that are planned, begun or not.

    Without those of bots that have left, all of which are played or void.
    """
    left = {fact.name: fact.left for fact in facts if isinstance(fact, Left)}
    found = grown_format(contest, facts).planned(first, end)
    return [pairing for pairing in found if not any(left.get(name) for name in pairing.names)]


def history_of(contest: ContestRow) -> History | None:
    """The history of a contest, to be given its facts and results; None: its format draws nothing."""
    if not issubclass(find_format(contest.format), Rounds):
        return None
    form = format_of_row(contest)
    assert isinstance(form, Rounds)
    return History(form)


def without_pairs(facts: Iterable[ContestFact]) -> list[ContestFact]:
    """Those facts that do not say who meets whom."""
    return [fact for fact in facts if not isinstance(fact, Drawn | Paired | Walkover | Repeat)]


def plan_json(contest: ContestRow, facts: Iterable[ContestFact]) -> dict[str, Any] | None:
    """What an export needs to check the rounds of a contest, in the types of JSON; None: nothing is drawn."""
    if (history := history_of(contest)) is None:
        return None
    terms = history.form.terms
    return {
        "format": contest.format,
        "seeds": terms.seeds,
        "seats": terms.seats,
        "games_per_pair": terms.games,
        "paired": terms.paired,
        "by_points": terms.by_points,
        "scoring": terms.scoring,
        "options": {key: value for key, value in terms.options.items() if key != "seeding"},
        "owners": dict(terms.owners),
        "over": contest.status in WHOLE,
        "facts": [entry_of(CONTEST, fact) for fact in facts if isinstance(fact, HistoryFact)],
    }


def history_of_plan(plan: Mapping[str, Any]) -> History:
    """The history of `plan_json`, to be given the results. Raises ValueError, LookupError or TypeError."""
    terms = Terms(
        tuple(plan["seeds"]),
        plan["seats"],
        plan["games_per_pair"],
        plan["paired"],
        plan["options"],
        plan["owners"],
        plan["by_points"],
        scoring=plan.get("scoring", WINS),  # an earlier version had one kind of values
    )
    form = make_format(plan["format"], terms)
    if not isinstance(form, Rounds):
        raise ValueError(f"{form.NAME} draws nothing")
    history = History(form)
    history.extend(fact_of(_tuples(entry)) for entry in plan["facts"])  # type: ignore[misc] # of the contest
    return history


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def table_of(
    contest: ContestRow, names: Sequence[str], scoring: str | None = None, history: History | None = None
) -> Standings:
    """The empty table of a contest and these bots, by `scoring` or else as the contest scores.

    Where the format has scores of its own the table ranks by those of `history`.
    """
    config = contest.config
    return Standings(
        names,
        scoring or contest.scoring,
        config.get("tie_breaks", ()),
        int(contest.seed),
        (lambda: None) if history is None else lambda: history.form.scores(),
        dict if history is None else lambda: history.form.not_played(),
    )
