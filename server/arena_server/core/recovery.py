"""An interrupted contest: from what is durable back to where it stood.

Stored results stand. An unfinished game goes on after its last durable fact: `Match.apply` writes
the journal's facts as it wrote them before the crash, and no client was sent more than those. A
fact that the match would not have decided where it stands is refused: the journal is damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from arena_protocol.record import FORFEIT, VOID, FaultKind, FaultRecord, InfoRecord, PlyRecord
from arena_server.core.clock import TimeControl
from arena_server.core.commands import Commands, RunState
from arena_server.core.deal import REFEREE, game_id
from arena_server.core.facts import (
    Away,
    Ended,
    Excluded,
    FormerKeys,
    GameFact,
    Leased,
    Offered,
    Order,
    Ready,
    ResumeKeys,
    RunStateSet,
    Started,
)
from arena_server.core.fixtures import FixtureFact
from arena_server.core.formats.base import Pairing
from arena_server.core.games import GameManager, own_slot
from arena_server.core.journal import CONTEST, JournalError, Live, Past, fact_of
from arena_server.core.login import is_digest
from arena_server.core.match import Match, Phase
from arena_server.core.parts.part import bot_of_fact
from arena_server.core.parts.parts import Parts
from arena_server.core.peers import Bot, Slot

_NO_OFFER: Final = "a game begins with its offer"
_SEAT_FAULTS: Final = frozenset(FaultKind) - {FaultKind.VOID}


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
    facts_of_fixtures = _recover_contest(live, commands, parts, games, bots)
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
        raise JournalError(f"{game_id(number)}, ply 1: {type(fact).__name__} cannot be there: {_NO_OFFER}")
    return fact


def _recover_contest(
    live: Live,
    commands: Commands,
    parts: Parts,
    games: GameManager,
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
            case Excluded(worker):
                games.exclude(worker, restored=True)
            case Order() as order:
                commands.restore_order(order)
            case RunStateSet(_, state):
                if state not in set(RunState):
                    raise JournalError(f"expected one of {', '.join(RunState)}, found {state!r:.40}")
                # A contest was drained to stop the server; now the server runs again.
                commands.restore(RunState.OPEN if state == RunState.DRAINING else RunState(state))
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


# -- games


def restore(match: Match, facts: Sequence[GameFact], now: int) -> None:
    """Apply the facts of a journal to a new match; then call `Match.restart`.

    Raises JournalError for a fact that the match would not decide where it stands.
    """
    for number, fact in enumerate(facts):
        problem = None
        if number == 0 or isinstance(fact, Offered):
            if number or not isinstance(fact, Offered):
                problem = _NO_OFFER
        else:
            problem = _problem(match, fact)
        if problem is not None:
            place = f"{match.setting.game_id}, ply {match.ply}"
            raise JournalError(f"{place}: {type(fact).__name__} cannot be there: {problem}")
        match.apply(fact, now)
        match.timer.stop()


def _problem(
    match: Match, fact: Leased | Ready | Away | Started | PlyRecord | FaultRecord | InfoRecord | Ended
) -> str | None:
    """Why `match` would not decide `fact` where it stands; None if it could."""
    offered = match.phase is Phase.OFFERED
    if match.over or not _may_follow_fault(match, fact):
        return "the game is over"
    match fact:
        case Ended():
            return _end_problem(match, fact)
        case Leased():
            return None if offered and not any(match.ready) else "the game has begun here"
        case Started():
            return None if offered and not any(map(match.awaits, _seats(match))) else "the game cannot start"
        case FaultRecord(0, ply, FaultKind.VOID):
            return None if ply == match.ply else "it is not a fault of this ply"
    if fact.seat not in _seats(match):
        return "there is no such seat"
    match fact:
        case PlyRecord():
            return _ply_problem(match, fact)
        case InfoRecord(_, ply):
            playing = match.phase is Phase.PLAYING
            return None if playing and 1 <= ply <= match.ply else "it is not a note about this game"
        case FaultRecord(seat, ply, kind):
            if kind not in _SEAT_FAULTS or ply != match.ply:
                return "it is not a fault of this ply"
            return "the seat is at fault already" if match.zombies[seat - 1] else None
        case Ready(seat):
            return None if offered and match.awaits(seat) else "the seat need not be ready"
        case Away(seat):
            return None if offered and match.ready[seat - 1] else "the seat was not ready"


def _seats(match: Match) -> range:
    return range(1, match.setting.game.seats + 1)


def _may_follow_fault(match: Match, fact: GameFact) -> bool:
    """After a void only the end may follow, after a forfeit other forfeits too."""
    if not match.faults or isinstance(fact, Ended):
        return True
    forfeited = match.setting.game.zombie_move is None
    # Seats that were late for READY together forfeit one after the other.
    return match.faults[-1].seat != 0 and (not forfeited or isinstance(fact, FaultRecord))


def _ply_problem(match: Match, ply: PlyRecord) -> str | None:
    game, index = match.setting.game, ply.seat - 1
    if match.phase is not Phase.PLAYING or game.end(match.position) is not None:
        return "no ply is to be played"
    if ply.seat != game.to_move(match.position) or not game.is_legal(match.position, ply.move):
        return "it is not a legal move of the seat to move"
    if ply.zombie != match.zombies[index] or (ply.zombie and ply.move != game.zombie_move):
        return "a seat at fault, and no other, plays the zombie move"
    step = game.play(match.position, ply.move)
    if (ply.points, ply.total) != (step.points, game.totals(step.position)):
        return "the rules give other points"
    before = match.clocks[index]
    left = TimeControl.of(match.setting.terms).after(before, ply.time_ms)
    if ply.zombie:  # it is charged only for the ply on which its flag fell, which leaves it nothing
        left = 0 if ply.time_ms else before
    if ply.clock != (*match.clocks[:index], left, *match.clocks[ply.seat :]):
        return "the charge leaves other clocks"
    return None


def _end_problem(match: Match, ended: Ended) -> str | None:
    game = match.setting.game
    end, totals = game.end(match.position), game.totals(match.position)
    # A fault of the platform ends a game whatever the position is.
    if match.faults and match.faults[-1].seat == 0:
        end = VOID
    elif match.faults and game.zombie_move is None:
        end, totals = FORFEIT, match.forfeited()
    if end is None:
        return "the game goes on"
    return None if (ended.end, ended.totals) == (end, totals) else f"the end is {end}, of other totals"
