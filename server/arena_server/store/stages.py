"""Which stages of a season have begun, and who comes into one that has not.

    begun_stages     by the rows of the contests alone, before a server listens
    late_bots        whom the organiser has added to a stage, or given a token, as the next ones know them
    draw_entrants    by the final tables of the contests before it: the rule of `stats.qualifying`
    check_entrants   the same once more, for `arena verify`

The row of a contest has its entrants, the best seed first, and in `config["origin"]` where they come from. It
is written in one transaction, so a stage has begun with all of that or has not begun.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arena_server.core.facts import Archived, ContestFact, Disqualified, Joined, Left, Order, TokenSet
from arena_server.core.life import ABORTED, FINISHED, INCOMPLETE, SHORT
from arena_server.core.orders import standing
from arena_server.errors import StoreError
from arena_server.stats.qualifying import (
    RATINGS,
    FinalOrder,
    Source,
    contests_of,
    origin_of,
    placed,
    places_by_rating,
    qualified,
    sources_of,
)
from arena_server.store.preflight import StoredContest
from arena_server.terms.schema import BotTable

if TYPE_CHECKING:
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow
    from arena_server.terms.stages import SeasonStage

#: The endings of a contest after which the next stage begins, if a game of it has a result.
LEADS_ON: Final = (FINISHED, SHORT, INCOMPLETE)


@dataclass(frozen=True, slots=True)
class BegunStage:
    """A stage that has begun: the number of its contest, its bots by seed, its `origin` and its status.

    `is_closed`: a later stage has begun with its table, so that nothing more of it is played.
    """

    number: int
    names: tuple[str, ...]
    origin: Mapping[str, Any]
    status: str
    is_closed: bool = False


def begun_stages(stages: Iterable[SeasonStage], latest: Mapping[str, StoredContest]) -> dict[str, BegunStage]:
    """Those of `stages`, which are in their order, that have begun, by the names of their contests.

    `latest` has the latest contest of each name. One whose entrants come from other contests than the latest
    of a stage before it is of an earlier run of the season: in this one it has not begun.
    """
    found: dict[str, BegunStage] = {}
    closed: set[str] = set()
    for stage in stages:
        contest = latest.get(stage.name)
        if contest is None or any(name not in found for name in stage.upstream):
            continue
        origin = contest.config.get("origin", {})
        numbers = {name: found[name].number for name in stage.upstream}
        if (
            {name: number for name, (number, _) in contests_of(origin).items()} != numbers
            if origin
            else numbers
        ):
            continue
        closed.update(numbers)
        names = tuple(contest.config["bots"])
        found[stage.name] = BegunStage(contest.number, names, origin, contest.status)
    return {
        name: BegunStage(each.number, each.names, each.origin, each.status, name in closed)
        for name, each in found.items()
    }


def late_bots(
    results: Results, begun: Iterable[BegunStage], bots: Iterable[BotTable] = ()
) -> dict[str, BotTable]:
    """The late entrants of stages, which are in their order, with the tokens that they had last.

    So are those of the `bots` of the file that have got another token. A late entrant whose token is not
    known is left out.
    """
    found: dict[str, BotTable] = {}
    known = {bot.name: bot for bot in bots}
    # The server itself starts all others, and gives them keys.
    remote = {name: bot for name, bot in known.items() if not (bot.is_local or bot.person)}
    for stage in begun:
        for fact in results.facts.all(results.contest(str(stage.number))):
            match fact:
                case Joined(name, _, concurrency, owner, author, language, url) if name not in known:
                    # The order that added it was checked. One that has got a table since is as it has it.
                    found[name] = BotTable.model_construct(
                        name=name,
                        concurrency=concurrency,
                        owner=owner or None,
                        author=author,
                        language=language,
                        url=url,
                    )
                case TokenSet(name, digest) if (bot := remote.get(name, found.get(name))) is not None:
                    found[name] = bot.model_copy(update={"token_sha256": digest})
    # An earlier version kept no token of a contest that is over; without one its name alone would log in.
    return {name: bot for name, bot in found.items() if bot.token_sha256 is not None}


def obstacle(name: str, ending: str | None, games: int) -> str | None:
    """Why no stage begins with the table of contest `name`; None: one does.

    `ending` is how it has ended, None before; `games` have a result.
    """
    if ending == ABORTED:
        return f"{name} was aborted"
    if ending not in LEADS_ON:
        return f"{name} is not over"
    return None if games else f"no game of {name} has a result"


def draw_entrants(
    results: Results, stage: SeasonStage, numbers: Mapping[str, int], late: Collection[str] = ()
) -> tuple[list[str], dict[str, Any]]:
    """Who comes into a stage, the best seed first, and its origin; `numbers` are those of the contests.

    Those of `late` may come, as those of its pool. Raises StoreError if a contest cannot lead on.
    """
    rows = {name: results.contest(str(numbers[name])) for name in stage.upstream}
    for name, row in rows.items():
        if (problem := obstacle(name, row.status, results.sums.games_played(row))) is not None:
            raise StoreError(f"stage {stage.label} does not begin: {problem}")
    known = {bot.name for bot in stage.pool} | set(late)
    unknown = {bot for row in rows.values() for bot in results.bots(row)} - known
    facts = {name: results.facts.all(row) for name, row in rows.items()}
    contests = {name: (row.id, len(facts[name])) for name, row in rows.items()}
    names = _qualified(results, stage.sources, rows, facts, unknown)
    return names, origin_of(stage.sources, contests, unknown)


def check_entrants(results: Results, contest: ContestRow) -> str | None:
    """What is wrong with the entrants of a stored contest, by those that they come from; None: nothing.

    They stand if a result of one of these was changed since; then they are not checked. Raises StoreError if
    one is not here.
    """
    if not (origin := contest.origin):
        return None
    rows, known = {}, {}
    for name, (number, facts) in contests_of(origin).items():
        rows[name] = results.contest(str(number))
        if rows[name].name != name:
            return (
                f"entrants: contest {number}, from which they come, is called {rows[name].name}, not {name}"
            )
        known[name] = results.facts.all(rows[name])[:facts]
        later = results.facts.all(rows[name])[facts:]
        if not all(isinstance(fact, Order | Archived | TokenSet) for fact in later):
            return None
    expected = _qualified(results, sources_of(origin), rows, known, origin.get("unknown", ()))
    found = list(contest.config["bots"])
    if found == expected:
        return None
    come = f"{', '.join(expected)}, who come from {' and '.join(rows)}"
    return f"entrants: expected {come}, found {', '.join(found)}"


def _qualified(
    results: Results,
    sources: Sequence[Source],
    rows: Mapping[str, ContestRow],
    facts: Mapping[str, Sequence[ContestFact]],
    unknown: Collection[str],
) -> list[str]:
    orders = {}
    for name, by in {(name, source.by) for source in sources for name in source.stages}:
        out = _out(facts[name]) | frozenset(unknown)
        orders[name, by] = FinalOrder(_places(results, rows[name], by), out, int(rows[name].seed))
    return qualified(sources, orders)


def _places(results: Results, contest: ContestRow, by: str) -> tuple[tuple[str, ...], ...]:
    places = placed((row.rank, row.name) for row in results.sums.standings(contest))
    if by != RATINGS:
        return places
    from arena_server.stats.ratings import fit_counted

    by_lot = FinalOrder(places, secret=int(contest.seed)).names
    return places_by_rating(by_lot, fit_counted(results.sums.rated(contest)))


def _out(facts: Iterable[ContestFact]) -> frozenset[str]:
    """Who was removed from a contest, disqualified or kicked, and has not come back."""
    out: dict[tuple[str, str], bool] = {}
    orders = []
    for fact in facts:
        match fact:
            case Left(name, left):
                out["left", name] = left
            case Disqualified(name, treatment):
                out["disqualified", name] = treatment != ""
            case Order():
                orders.append(fact)
    for order in standing(orders):
        if order.verb in ("kick", "lift"):
            out["kicked", order.target] = order.verb == "kick"
    return frozenset(name for (_, name), is_out in out.items() if is_out)
