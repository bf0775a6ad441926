"""An engine as a bot: the view of the client becomes the situation of the engine, ply for ply."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena_client.view import GameView
from arena_engines.bots import EngineBot, bot_of, situation_of
from arena_engines.engine import Analysis, Engine, EngineError, Situation
from arena_protocol import messages as wire
from arena_protocol.games.insertion import Insertion

PLIES, LOOKAHEAD, BANK = 30, 4, 20_000


class Recorder(Engine):
    """An engine that notes what it is asked."""

    name = "recorder"

    def __init__(self) -> None:
        super().__init__()
        self.warm = False
        self.seen: list[Situation] = []

    def warm_up(self) -> None:
        self.warm = True

    def choose(self, situation: Situation) -> int:
        self.seen.append(situation)
        return 7

    def analyse(self, board: str, visible: str, depth: int) -> Analysis:
        raise AssertionError("a bot does not analyse")


def views(seats: int, seat: int, start: str = "full") -> Iterator[GameView]:
    """Every turn of one seat in a game in which each ply's move is its number modulo 15."""
    game = Insertion.from_options({"plies": PLIES, "lookahead": LOOKAHEAD, "seats": seats, "start": start})
    deal = game.deal(9)
    names = tuple(f"bot{number}" for number in range(1, seats + 1))
    offer = wire.Game("g1", "insertion", seat, seats, names, BANK, 0, zombie="6", options=game.options())
    view = GameView(offer)
    for message in (wire.State(deal.board), wire.Next(game.preview(deal)), wire.Start("g1")):
        view = view.after(message)
    position = game.start(deal)
    clocks = (BANK - 5,) * seats
    for ply in range(1, PLIES + 1):
        if position.seat == seat:
            yield view.after(wire.Turn(ply, clocks, 0, 0))
        mover, move = position.seat, str(1 + ply % 15)
        step = game.play(position, move)
        position = step.position
        view = view.after(
            wire.Played(ply, mover, move, 5, clocks, step.points, position.totals, game.reveal(deal, ply))
        )


@pytest.mark.parametrize(("seats", "seat"), [(2, 1), (2, 2), (3, 2), (4, 4)])
def test_the_engine_is_told_the_game_as_it_is(seats: int, seat: int) -> None:
    engine = Recorder()
    bot = EngineBot(engine)
    game = Insertion.from_options({"plies": PLIES, "seats": seats})
    deal = game.deal(9)
    for view in views(seats, seat):
        assert bot.choose(view) == 7
    for situation in engine.seen:
        assert (situation.seat, situation.seats, situation.plies) == (seat, seats, PLIES)
        assert (situation.ply - seat) % seats == 0
        assert situation.plies_left == PLIES - situation.ply + 1
        assert situation.visible == deal.sequence[situation.ply - 1 : situation.ply - 1 + LOOKAHEAD]
        assert situation.played == deal.sequence[: situation.ply - 1]
        assert situation.moves == tuple(1 + ply % 15 for ply in range(1, situation.ply))
        assert (situation.clock, situation.bank, situation.colours) == (BANK - 5, BANK, 6)
        position = game.start(deal)
        assert situation.start == position.board
        for move in situation.moves:
            position = game.play(position, str(move)).position
        assert situation.board == position.board
    assert len(engine.seen) == PLIES // seats + (seat <= PLIES % seats)


@pytest.mark.parametrize("spec", ["dummy", "random:seed=1", "greedy", "minimax:depth=2", "champion:depth=3"])
@pytest.mark.parametrize("start", ["full", "empty"])
def test_engines_play_a_whole_game_of_legal_moves(spec: str, start: str) -> None:
    bot = bot_of(spec)
    for view in views(3, 2, start):
        assert str(bot.choose(view)) in view.legal_moves


def test_preparation_is_done_before_ready() -> None:
    engine = Recorder()
    bot = EngineBot(engine)
    assert not engine.warm
    bot.new_game(next(views(2, 1)))
    assert engine.warm
    assert not engine.seen


def test_a_bot_says_its_game_and_whether_it_needs_a_thread() -> None:
    assert bot_of("champion").games == ("insertion",)
    assert not bot_of("champion").instant
    assert bot_of("dummy").instant


def test_a_wrong_specification_is_refused() -> None:
    with pytest.raises(EngineError, match="no engine 'nobody'"):
        bot_of("nobody")


def test_the_situation_of_the_first_ply() -> None:
    situation = situation_of(next(views(2, 1)))
    assert (situation.ply, situation.moves, situation.played) == (1, (), "")
    assert situation.board == situation.start
