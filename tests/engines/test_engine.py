"""Engines of the games that show everything: made by name, seated as bots, legal to the end."""

from __future__ import annotations

from typing import Any

import pytest
from tests.slices import all_of

from arena_engines.analysis import analyse_file
from arena_engines.bot import bot_of, position_of
from arena_engines.engine import Engine, EngineError, Position
from arena_engines.registry import create, engines_of, games_of
from arena_protocol import messages as wire
from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Game, GameError
from arena_protocol.view import GameView

OTHERS = [kind for game in GAMES if game != "insertion" for kind in engines_of(game).values()]
BANK = 60_000
#: Milliseconds; so little that an engine which uses its clock plays whole games at once.
BLITZ = 300
#: Small games of each kind, so that every engine can play whole ones here.
RULES = [
    make_game("xo", {"opening": 4}),
    make_game("tictactoe", {}),
    make_game("tictactoe", {"size": 4}),
    make_game("disc", {}),
    make_game("lastcoin", {}),
]


def seated(game: Game[Any], seat: int, moves: list[str], clock: int = BANK) -> GameView:
    """What the bot in `seat` has seen after these moves, its own turn."""
    deal = game.deal(3)
    offer = wire.Game("g1", game.name, seat, 2, ("a", "b"), BANK, 0, game.zombie_move, options=game.options())
    view = GameView(offer).after(wire.State(deal.board)).after(wire.Start("g1"))
    position = game.start(deal)
    for ply, move in enumerate(moves, start=1):
        mover, step = game.to_move(position), game.play(position, move)
        position = step.position
        totals = game.totals(position)
        view = view.after(wire.Played(ply, mover, move, 0, (clock, clock), step.points, totals, None))
    return view.after(wire.Turn(len(moves) + 1, (clock, clock), 0, 0))


def play_out(game: Game[Any], first: Engine, second: Engine) -> tuple[int, ...]:
    position = game.start(game.deal(11))
    moves: list[str] = []
    while game.end(position) is None:
        engine = (first, second)[game.to_move(position) - 1]
        at = Position(rules=game, state=position, moves=tuple(moves), clock=BLITZ, bank=BLITZ)
        move = str(engine.choose(at))
        assert game.is_legal(position, move)
        moves.append(move)
        position = game.play(position, move).position
    return game.totals(position)


def test_every_game_has_engines_by_their_names() -> None:
    for game in GAMES:
        assert [(kind.game, kind.name) for kind in engines_of(game).values()] == [
            (game, name) for name in engines_of(game)
        ]


@all_of("kind", OTHERS)
def test_an_engine_is_made_from_its_name_and_its_spec(kind: type[Engine]) -> None:
    engine = create(kind.name, kind.game)
    assert type(engine) is kind
    assert create(engine.spec, kind.game).spec == engine.spec


def test_an_engine_of_another_game_has_no_analysis_by_depth() -> None:
    with pytest.raises(EngineError) as refused:
        analyse_file("random", 1, "none.txt", "disc")
    assert str(refused.value) == (
        "engine random of disc has no analysis by depth; those of insertion, openlines, weighted and xo have"
    )
    rules = make_game("disc", {})
    with pytest.raises(EngineError, match="engine random of disc has no analysis by depth"):
        create("random", "disc").analyse(Position.at(rules, "7/2/2"), 1)


def test_a_name_without_a_game_plays_every_game_that_has_it() -> None:
    assert set(bot_of("random").games) == set(GAMES) == set(games_of("random"))
    assert bot_of("random", "disc").games == ("disc",)
    assert bot_of("xo1970").games == ("xo",)


@all_of("game", RULES)
def test_a_bot_of_several_games_plays_the_one_of_the_offer(game: Game[Any]) -> None:
    bot = bot_of("random")
    view = seated(game, 1 if game.to_move(game.start(game.deal(3))) == 1 else 2, [])
    bot.new_game(view)
    assert bot.choose(view) in view.legal_moves


def test_the_view_becomes_the_position_of_the_engine() -> None:
    game = make_game("lastcoin", {})
    at = position_of(seated(game, 1, ["2", "1"], clock=777))
    assert (at.rules, at.state, at.moves) == (
        game,
        game.start(game.deal(0)).__class__(4, 1),
        ("2", "1"),
    )
    assert (at.clock, at.bank, at.increment, at.seat) == (777, BANK, 0, 1)


def test_a_position_is_made_from_a_state_text() -> None:
    at: Position[Any, Any] = Position.at(make_game("disc", {}), "7/2/2", clock=5)
    assert (at.seat, at.clock, at.rules.legal_moves(at.state)) == (2, 5, ("3", "1"))
    with pytest.raises(GameError, match="a position of disc is SUM/TOP/SEAT"):
        Position.at(make_game("disc", {}), "7")


def test_random_is_the_same_for_the_same_seed() -> None:
    at: Position[Any, Any] = Position.at(make_game("xo", {}), "/".join(["." * 10] * 10))
    one, same, other = (create(f"random:seed={seed}", "xo") for seed in (5, 5, 6))
    moves = [[engine.choose(at) for _ in range(20)] for engine in (one, same, other)]
    assert moves[0] == moves[1] != moves[2]


@pytest.mark.parametrize("kind", OTHERS, ids=lambda kind: f"{kind.game}-{kind.name}")
def test_every_engine_plays_whole_games_of_legal_moves_in_either_seat(kind: type[Engine]) -> None:
    rival = create("random:seed=1", kind.game)
    for game in RULES:
        # To solve the large board takes 2 s: `test_games_end_to_end` does it once, in the soak run.
        if game.name == kind.game and (kind.name, game.options().get("size")) != ("perfect", "4"):
            engine = create(kind.name, kind.game)
            assert sum(play_out(game, engine, rival)) == 2
            assert sum(play_out(game, rival, engine)) == 2
