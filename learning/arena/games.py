"""Games between functions of this process, under the rules and the clock of the referee."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arena_protocol.games import FLAGSHIP, make_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_protocol.record import GameRecord, commitment, winning_seats
from arena_server.core.deal import Setting, game_id, nonce
from arena_server.core.match import Match
from arena_server.host.inprocess import Chooser, play_in_process
from arena_server.terms.terms import LONGEST_MS, GameTerms

#: Returns a move, given the game and the position as the seat to move may see it.
Choose = Callable[[Game[Any], Any], str | int]

#: How the players are called in the records, in the order of the arguments.
NAMES = "abcd"


def play(
    *players: Choose,
    deals: int | Iterable[int | Deal] = 1,
    game: str | Game[Any] = FLAGSHIP,
    options: Mapping[str, object] | None = None,
    clock: int | None = None,
    first_game: int = 1,
    now: Callable[[], int] = time.monotonic_ns,
) -> Iterator[GameRecord]:
    """Play each deal from every seat, and yield the record of each game when it is over.

    Args:
        players: one for each seat; in the records they are called a, b, c, d.
        deals: how many, of the seeds 0, 1, ...; else the seeds, or deals.
        game: the name of a game, or a game.
        options: of the game, where `game` is a name.
        clock: milliseconds of each seat for a game, which run while its player is asked; None is no clock.
        first_game: the number of the first game; the records are g1, g2, ... from there.
        now: the nanoseconds of a monotonic clock.

    Raises:
        GameError: for an unknown game, an impossible option or clock, or another number of players.

    """
    rules = _rules(game, options, len(players))
    if clock is not None and not 1 <= clock <= LONGEST_MS:
        raise GameError(f"clock is None, or milliseconds from 1 to {LONGEST_MS}, not {clock!r}")
    terms = GameTerms(game=rules.name, options=rules.options(), clock_ms=clock or LONGEST_MS)
    return _games(players, _seeded(rules, deals), rules, terms, first_game, now)


def _rules(game: str | Game[Any], options: Mapping[str, object] | None, players: int) -> Game[Any]:
    if isinstance(game, str):
        rules = make_game(game, {"seats": players, **(options or {})}, allow_unknown=False)
    elif options is None:
        rules = game
    else:
        raise GameError("options belong to the name of a game; this one has its own")
    if rules.seats != players:
        raise GameError(f"{rules.name} has {rules.seats} seats here, and {players} players are given")
    return rules


def _seeded(rules: Game[Any], deals: int | Iterable[int | Deal]) -> Iterator[tuple[int, Deal]]:
    for number, each in enumerate(range(deals) if isinstance(deals, int) else deals):
        yield (number, each) if isinstance(each, Deal) else (each, rules.deal(each))


def _games(
    players: tuple[Choose, ...],
    deals: Iterable[tuple[int, Deal]],
    rules: Game[Any],
    terms: GameTerms,
    number: int,
    now: Callable[[], int],
) -> Iterator[GameRecord]:
    choosers = [_asked(player, rules) for player in players]
    for deal_number, (seed, deal) in enumerate(deals, start=1):
        for turn in range(len(players)):
            seats = [*range(turn, len(players)), *range(turn)]
            name, names = game_id(number), tuple(NAMES[player] for player in seats)
            salt = nonce(seed, name)
            commit = commitment(salt, deal.board, deal.sequence)
            numbers = number, name, names, seed, deal_number
            setting = Setting(terms, "local", seed, rules, *numbers, deal, salt, commit)
            yield play_in_process(setting, [choosers[player] for player in seats], now)
            number += 1


def _asked(choose: Choose, rules: Game[Any]) -> Chooser:
    seen = rules.seen

    def move_in(match: Match) -> str:
        move = choose(rules, seen(match.position))
        return move if type(move) is str else str(move)

    return move_in


@dataclass(frozen=True, slots=True)
class PlayerResults:
    """The results of one player: how many games it has won, drawn and lost, its points and its faults."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: int = 0
    faults: int = 0

    @property
    def score(self) -> float:
        """A win is 1, a draw 1/2: the mean; 0 without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.0


def tally(records: Iterable[GameRecord]) -> dict[str, PlayerResults]:
    """Count the results of every player by its name."""
    counted: dict[str, PlayerResults] = {}
    for record in records:
        winners = winning_seats(record.totals, record.end)
        at_fault = {fault.seat for fault in record.faults}
        for seat, (name, points) in enumerate(zip(record.names, record.totals, strict=True), start=1):
            before = counted.get(name, PlayerResults())
            counted[name] = PlayerResults(
                games=before.games + 1,
                wins=before.wins + (winners == [seat]),
                draws=before.draws + (len(winners) > 1 and seat in winners),
                losses=before.losses + (seat not in winners),
                points=before.points + points,
                faults=before.faults + (seat in at_fault),
            )
    return counted
