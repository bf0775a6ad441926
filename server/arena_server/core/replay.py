"""The facts of one game from the journal, or from a worker's record: applied as the match decided them.

A fact that the match would not have decided where it stands is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena_protocol.record import FORFEIT, VOID, FaultKind, FaultRecord, InfoRecord, PlyRecord
from arena_server.core.clock import TimeControl
from arena_server.core.game_facts import Away, Ended, GameFact, Leased, Offered, Ready, Started
from arena_server.core.game_state import Phase
from arena_server.core.journal import JournalError
from arena_server.core.match import Match

NO_OFFER: Final = "a game begins with its offer"
_SEAT_FAULTS: Final = frozenset(FaultKind) - {FaultKind.VOID}


def restore(match: Match, facts: Sequence[GameFact], now: int) -> None:
    """Apply the facts of a journal to a new match; then call `Match.restart`.

    Raises JournalError for a fact that the match would not decide where it stands.
    """
    for number, fact in enumerate(facts):
        problem = None
        if number == 0 or isinstance(fact, Offered):
            if number or not isinstance(fact, Offered):
                problem = NO_OFFER
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
