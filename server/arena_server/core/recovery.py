"""An interrupted contest: from what is durable back to where it stood.

Stored results stand. An unfinished game goes on after its last durable fact: `Match.apply` writes
the journal's facts as it wrote them before the crash, and no client was sent more than those. A
fact that the match would not have decided where it stands is refused: the journal is damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from arena_server.core.commands import Commands
from arena_server.core.deal import REFEREE, game_id
from arena_server.core.facts import (
    Archived,
    Begun,
    Disqualified,
    FormerKeys,
    Order,
    Penalised,
    ResumeKeys,
    RunStateSet,
)
from arena_server.core.formats.base import Pairing
from arena_server.core.game_facts import GameFact, Offered
from arena_server.core.games import GameManager, own_slot
from arena_server.core.journal import CONTEST, JournalError, Live, Past, fact_of
from arena_server.core.login import is_digest
from arena_server.core.parts.part import bot_of_fact
from arena_server.core.parts.parts import Parts
from arena_server.core.peers import Bot, Slot
from arena_server.core.recall import FixtureFact
from arena_server.core.replay import NO_OFFER, restore


def recover(
    past: Past,
    games: GameManager,
    commands: Commands,
    parts: Parts,
    bots: Mapping[str, Bot],
    now: int,
) -> None:
    """Bring back games, run state and bots. Raises JournalError for a past that no contest has had."""
    # All are checked first: an impossible entry is found before anything is changed.
    for entry in past.entries:
        fact_of(entry)
    live = Live()
    live.add(past.entries)
    stored = {game.number for game in past.results}
    # In the order of their numbers, so that two servers with one journal do the same.
    unfinished: dict[int, list[GameFact]] = {
        number: [fact_of(entry) for entry in live.games[number]]  # type: ignore[misc] # by their number
        for number in sorted(live.games.keys() - stored)
    }
    offers = {number: _offer(number, facts[0]) for number, facts in unfinished.items()}
    pairings = {number: Pairing(number, offer.names, offer.deal) for number, offer in offers.items()}
    facts_of_fixtures = _recover_contest(live, commands, parts, bots)
    rated = [pairing for number, pairing in pairings.items() if number > CONTEST]
    games.fixtures.recall(past.results, facts_of_fixtures, rated, now)
    for number, facts in unfinished.items():
        seated = _seated(pairings[number], offers[number].slots, bots)
        game = games.open(pairings[number], seated, now)
        restore(game.match, facts, now)
        games.resume(game, facts, now)


def _offer(number: int, fact: GameFact) -> Offered:
    """The first fact of an unfinished game."""
    if not isinstance(fact, Offered):
        raise JournalError(f"{game_id(number)}, ply 1: {type(fact).__name__} cannot be there: {NO_OFFER}")
    return fact


def _recover_contest(
    live: Live,
    commands: Commands,
    parts: Parts,
    bots: Mapping[str, Bot],
) -> list[FixtureFact]:
    """Apply the facts of the contest; returns those that are for its fixtures."""
    facts: list[FixtureFact] = []
    for entry in live.contest:
        fact = fact_of(entry)
        assert not isinstance(fact, GameFact)
        if isinstance(fact, FixtureFact):
            facts.append(fact)
        match fact:
            case ResumeKeys() | FormerKeys() as keys:
                for slot, digest in _keys(bot_of_fact(bots, keys.name), keys.digests):
                    slot.restore_key(digest) if isinstance(keys, ResumeKeys) else slot.restore_former(digest)
            case Penalised() | Disqualified() as decision:
                bot_of_fact(bots, decision.name)
                commands.restore_decision(decision)
            case Order() as order:
                commands.restore_order(order)
            case Begun() | RunStateSet() | Archived() as fact_of_life:
                commands.restore(fact_of_life)
        parts.restore(fact)
    return facts


def _keys(bot: Bot, digests: Sequence[str | None]) -> Iterator[tuple[Slot, str | None]]:
    """Each slot with its digest; the organiser may have changed the number of slots meanwhile."""
    if not all(digest is None or is_digest(digest) for digest in digests):
        raise JournalError(f"the resume key of {bot.name!r:.40} is not a SHA-256 digest")
    return zip(bot.slots, digests, strict=False)


def _seated(pairing: Pairing, numbers: Sequence[int], bots: Mapping[str, Bot]) -> tuple[Slot, ...]:
    """The slots that play an unfinished game. Raises JournalError if they cannot play it."""
    game, numbers = pairing.number, numbers or (1,) * len(pairing.names)
    if len(numbers) != len(pairing.names):
        raise JournalError(f"g{game} has {len(pairing.names)} seats, and {len(numbers)} slots")
    seated = []
    for name, number in zip(pairing.names, numbers, strict=True):
        if name == REFEREE:
            seated.append(own_slot())
            continue
        bot = bot_of_fact(bots, name)
        # The organiser has lowered `concurrency` while the server was down.
        if not 1 <= number <= len(bot.slots):
            slots_text = f"a concurrency of {len(bot.slots)}"
            raise JournalError(f"{name} plays g{game} in slot {number}, and has {slots_text}")
        slot = bot.slots[number - 1]
        if slot.game is not None:
            raise JournalError(f"{name} plays {slot.game.game_id} and g{game} at once in slot {number}")
        seated.append(slot)
    return tuple(seated)
