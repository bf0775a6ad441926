"""Games of functions in this process: the same records as by one command for each answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from tests.slices import all_of

from arena_protocol.games import GAMES, make_game
from arena_protocol.record import GameRecord, commitment
from arena_server.core.deal import Setting
from arena_server.core.match import Match, PlayMove, SayReady
from arena_server.host.inprocess import Chooser, play_in_process
from arena_server.terms.terms import GameTerms

MS = 1_000_000

CLOCKS = (
    GameTerms(clock_ms=60_000),
    GameTerms(clock_ms=300, increment_ms=4),
    GameTerms(clock_ms=200, byoyomi_ms=20, move_limit_ms=25, margin_ms=3),
    GameTerms(clock_ms=200, first_move_limit_ms=5, move_limit_ms=12),
    GameTerms(clock_ms=200, debug_bot="b"),
    GameTerms(clock_ms=200, lag_quota_ms=40),
)


def one_by_one(
    setting: Setting,
    players: Sequence[Chooser],
    now: Callable[[], int],
    lag: int = 0,
    judge: Callable[[Match, PlayMove, int], object] = Match.execute,
) -> GameRecord:
    """The oracle: `execute` judges every answer. The connection of the last seat has this lag."""
    began = now()
    match = Match(setting, began)
    match.set_lag(len(players), lag)
    for seat in range(1, len(players) + 1):
        match.execute(SayReady(seat, began), began)
    while not match.over:
        seat = match.timer.seat
        match.run(now())
        move = players[seat - 1](match)
        arrived = now()
        line = f"MOVE {move}".encode("utf-8", "replace")
        # Of another seat it is no answer.
        judge(match, PlayMove(seat % len(players) + 1, move, line, arrived), arrived)
        judge(match, PlayMove(seat, move, line, arrived), arrived)
    return match.record()


def answer(match: Match, command: PlayMove, now: int) -> object:
    """As a line of a bot is judged."""
    return match.answer(*command, now)


def setting_of(name: str, terms: GameTerms, seed: int, own: frozenset[int]) -> Setting:
    game = make_game(name, {})
    deal = game.deal(seed)
    names = tuple("abcd"[: game.seats])
    commit = commitment("00" * 16, deal.board, deal.sequence)
    numbers = 1, "g1", names, seed, 1, deal, "00" * 16, commit
    return Setting(terms, "local", seed, game, *numbers, own_seats=own)


def played(play: Callable[..., GameRecord], setting: Setting, seed: int) -> tuple[GameRecord, list[object]]:
    """The record of a game of random players, and all that they could see."""
    chance, at = Random(seed), [0]
    seen: list[object] = []

    def choose(match: Match) -> str:
        timer = match.timer
        seen.append((match.position, match.clocks, timer.seat, timer.sent, timer.deadline, match.ply))
        if seed % 4 == 1 and chance.random() < 0.05:
            return "nowhere"
        return chance.choice(setting.game.legal_moves(match.position))

    def now() -> int:
        # A clock may run backwards between two processors.
        at[0] += chance.choice((0, 1, 900_000, 2 * MS, 7 * MS, -1000))
        return at[0]

    return play(setting, [choose] * setting.game.seats, now), seen


@all_of("name", GAMES)
@all_of("terms", CLOCKS)
def test_a_game_in_one_frame_has_the_record_of_its_commands(name: str, terms: GameTerms) -> None:
    kinds: set[str] = set()
    for seed in range(12):
        own = frozenset({1}) if seed % 3 == 2 else frozenset[int]()
        setting = setting_of(name, terms, seed, own)
        one, other = played(one_by_one, setting, seed), played(play_in_process, setting, seed)
        assert one == other
        for lag in (0, 3):
            judged = [partial(one_by_one, lag=lag, judge=judge) for judge in (Match.execute, answer)]
            assert played(judged[0], setting, seed) == played(judged[1], setting, seed)
        kinds |= {fault.kind for fault in one[0].faults}
    assert "illegal" in kinds
