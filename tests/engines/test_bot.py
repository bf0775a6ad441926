"""An engine as a bot: the view of the client becomes the position of the engine, ply for ply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.slices import all_of

from arena_client.bot import Bot, Result
from arena_engines.bot import EngineBot, OpeningBot, SteadyBot, bot_of, position_of
from arena_engines.engine import AnyPosition, Engine, EngineError, Report
from arena_protocol import messages as wire
from arena_protocol.games.insertion import Insertion
from arena_protocol.view import GameView

PLIES, LOOKAHEAD, BANK = 30, 4, 20_000


class Recorder(Engine):
    """An engine that notes what it is asked."""

    game = "insertion"
    name = "recorder"

    def __init__(self) -> None:
        super().__init__()
        self.warm = False
        self.seen: list[AnyPosition] = []

    def warm_up(self) -> None:
        self.warm = True

    def choose(self, position: AnyPosition) -> int:
        self.seen.append(position)
        return 7


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
def test_the_engine_sees_the_game_as_it_is(seats: int, seat: int) -> None:
    engine = Recorder()
    bot = EngineBot(engine)
    game = Insertion.from_options({"plies": PLIES, "seats": seats})
    deal = game.deal(9)
    for view in views(seats, seat):
        assert bot.choose(view) == 7
    for asked in engine.seen:
        ply = asked.state.played + 1
        assert (asked.seat, asked.rules.seats, asked.rules.plies) == (seat, seats, PLIES)
        assert (ply - seat) % seats == 0
        assert asked.state.sequence == deal.sequence[: ply - 1 + LOOKAHEAD]
        assert asked.moves == tuple(str(1 + before % 15) for before in range(1, ply))
        assert (asked.clock, asked.bank, asked.increment, asked.rules.colours) == (BANK - 5, BANK, 0, 6)
        position = game.start(deal)
        assert asked.start == position.board
        for move in asked.moves:
            position = game.play(position, move).position
        assert asked.state.board == position.board
    assert len(engine.seen) == PLIES // seats + (seat <= PLIES % seats)


def test_the_engine_is_told_the_limit_of_its_move() -> None:
    engine = Recorder()
    for view in views(2, 2):
        timed = replace(view, offer=replace(view.offer, move_limit=500, first_move_limit=9_000))
        EngineBot(engine).choose(timed)
    assert [asked.move_limit for asked in engine.seen] == [9_000] + [500] * (PLIES // 2 - 1)


@all_of("spec", ["dummy", "random:seed=1", "greedy", "minimax:depth=2", "champion:depth=3"])
@all_of("start", ["full", "empty"])
def test_engines_play_a_whole_game_of_legal_moves(spec: str, start: str) -> None:
    bot = bot_of(spec)
    for view in views(3, 2, start):
        assert str(bot.choose(view)) in view.legal_moves


@pytest.mark.parametrize(
    "spec", ["minimax:depth=2", "champion:depth=3", "maxn:depth=1", "expectiminimax:depth=1"]
)
def test_every_search_is_reported_as_a_note(spec: str) -> None:
    bot = bot_of(spec)
    depth = int(spec[-1])
    for view in views(2, 1):
        notes: list[wire.Info] = []
        move = str(bot.choose(replace(view, _sink=notes.append)))
        (note,) = notes
        assert (note.game, note.ply, note.depth) == ("g1", view.ply, min(depth, PLIES - view.ply + 1))
        assert note.line is not None
        assert note.line.split(",")[0] == move
        assert note.eval is not None
        assert note.eval % 30 == 0
        assert note.nodes is not None
        assert note.nodes > 0


def test_an_engine_without_a_search_sends_no_note() -> None:
    notes: list[wire.Info] = []
    bot_of("greedy").choose(replace(next(views(2, 1)), _sink=notes.append))
    assert notes == []


def test_the_report_of_the_last_move_is_not_sent_again() -> None:
    class Once(Recorder):
        def choose(self, position: AnyPosition) -> int:
            if not self.seen:
                self.report = Report(depth=1)
            return super().choose(position)

    bot = EngineBot(Once())
    notes: list[wire.Info] = []
    for view in views(2, 1):
        bot.choose(replace(view, _sink=notes.append))
    assert [note.ply for note in notes] == [1]


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
    with pytest.raises(EngineError, match="no engine 'unknown'"):
        bot_of("unknown")


def test_the_position_of_the_first_ply() -> None:
    position = position_of(next(views(2, 1)))
    assert (position.state.played, position.moves) == (0, ())
    assert position.state.board == position.start


class Counting(Bot):
    """Answers by the number of the question."""

    games = ("insertion",)

    def __init__(self) -> None:
        self.asked = 0
        self.told: list[str] = []

    def new_game(self, view: GameView) -> None:
        self.told.append("new")

    def choose(self, view: GameView) -> int:
        self.asked += 1
        return self.asked

    def game_over(self, view: GameView, result: Result) -> None:
        self.told.append(result.end)


def test_an_opening_is_played_as_far_as_the_others_play_it() -> None:
    game = list(views(2, 1))
    moves = [view.moves for view in game]
    bot = OpeningBot(counting := Counting(), [*moves[2], "5", *"66666"])
    assert bot.games == ("insertion",)
    last = len(moves[2])
    assert [bot.choose(view) for view in game[:3]] == [*(moves[2][len(each)] for each in moves[:2]), "5"]
    assert last == len(moves[2])
    assert bot.choose(game[3]) == 1, "this seat has not played 5"
    bot.new_game(game[0])
    bot.game_over(game[0], Result((1, 0), 1, "complete", None))
    assert counting.told == ["new", "complete"]


def test_a_steady_bot_answers_as_before_where_a_game_goes_the_same_way() -> None:
    bot = SteadyBot(counting := Counting())
    assert bot.games == ("insertion",)
    game = list(views(2, 1))
    assert [bot.choose(view) for view in game] == list(range(1, len(game) + 1))
    again = [bot.choose(replace(view, offer=replace(view.offer, game_id="g2"))) for view in game[:3]]
    assert again == [1, 2, 3], "another game on the deal"
    first = game[2].history[0]
    departed = replace(game[2], history=(replace(first, move="9"), *game[2].history[1:]))
    assert bot.choose(departed) == len(game) + 1
    assert counting.asked == len(game) + 1
    other = replace(game[0], state="22222/22222/22222/22222/22222")
    assert (bot.choose(other), bot.choose(game[0])) == (len(game) + 2, len(game) + 3), "another deal"
    bot.new_game(game[0])
    bot.game_over(game[0], Result((1, 0), 1, "complete", None))
    assert counting.told == ["new", "complete"]
