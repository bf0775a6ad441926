"""The environments: the tests of PettingZoo and Gymnasium themselves, and what the arrays say."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.slices import all_of

pytest.importorskip("pettingzoo", reason="needs the extra [learning]")

import gymnasium
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test

from arena import GAMES, Deal, Game, GameError, make_game
from arena.aec import SeatsEnv
from arena.encoding import PositionEncoder, lead
from arena.gym import SeatEnv
from arena_protocol.games.mnk import TicTacToe
from arena_protocol.games.scene import NO_BOARD, Scene

#: Short games: the tests of the libraries play many.
OPTIONS: dict[str, dict[str, object]] = {
    "insertion": {"plies": 9, "lookahead": 4, "seats": 3},
    "xo": {"opening": 8},
    "lastcoin": {"coins": 5},
}


def first(game: Game[Any], position: Any) -> str:
    return game.legal_moves(position)[0]


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo_accepts_every_game(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        # It would have a Box as the whole observation, without a mask.
        warnings.simplefilter("ignore", UserWarning)
        api_test(SeatsEnv(name, OPTIONS.get(name)), num_cycles=25)
    assert "Passed API test" in capsys.readouterr().out


@all_of("name", GAMES)
@all_of("seat", [1, 2])
def test_gymnasium_accepts_every_game(name: str, seat: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check_env(SeatEnv(name, OPTIONS.get(name), seat=seat))


@pytest.mark.parametrize("name", GAMES)
def test_the_mask_and_the_rewards_are_those_of_the_rules(name: str) -> None:
    game = make_game(name, OPTIONS.get(name, {}))
    env, chance = SeatsEnv(game), Random(3)
    env.reset(seed=11)
    position = game.start(game.deal(11))
    earned = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        seen, reward, over, _, _ = env.last()
        earned[agent] += reward
        if over:
            assert not seen["action_mask"].any()
            env.step(None)
            continue
        seat = game.to_move(position)
        assert agent == f"seat_{seat}"
        legal = np.flatnonzero(seen["action_mask"])
        assert {env.actions[number] for number in legal} == set(game.legal_moves(position))
        others = [each for each in env.possible_agents if each != agent]
        assert not any(env.observe(each)["action_mask"].any() for each in others)
        action = chance.choice(list(legal))
        env.step(action)
        position = game.play(position, env.actions[action]).position
        assert env.position == position
    totals = game.totals(position)
    assert earned == {f"seat_{seat}": lead(totals, seat) for seat in range(1, game.seats + 1)}


def test_the_shapes_are_those_of_the_page() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "rules-in-python.md").read_text(encoding="utf-8")
    _, _, line = page.partition("\nShapes with the default options: ")
    named = re.findall(r"`\((\d+), (\d+), (\d+)\)`, (\d+)", line.partition("\n\n")[0])
    found = []
    for name in ("insertion", "xo", "tictactoe", "disc", "lastcoin"):
        encoder = PositionEncoder(make_game(name, {}))
        found.append((encoder.depth, *encoder.shape, len(encoder.actions)))
    assert [tuple(map(int, each)) for each in named] == found


def test_what_the_planes_of_insertion_show() -> None:
    env = SeatsEnv("insertion", {"lookahead": 3, "plies": 5})
    assert (env.observation_space("seat_1")["observation"].shape, env.actions[9]) == ((16, 5, 5), "10")
    env.reset(options={"deal": Deal("...../...../...../...../11..6", "12345")})
    env.step(np.int64(7))
    seen = env.observe("seat_2")["observation"]
    assert seen.dtype == np.int32
    assert (seen[:7].sum(axis=(1, 2)) == [0, 0, 0, 0, 0, 1, 0]).all(), "only the 6 is left"
    assert seen[5, 4, 4] == 1
    assert seen[7:, 0, 0].tolist() == [0, 0, 0, 2, 0, 30, 2, 3, 4]
    assert env.observe("seat_1")["observation"][10:13, 0, 0].tolist() == [1, 30, 0]


def test_what_the_planes_of_the_disc_show() -> None:
    encoder = PositionEncoder(make_game("disc", {}))
    seen = encoder.observation(encoder.game.start(Deal("7/3/2")), 2)
    assert (encoder.signs, encoder.shape, seen.shape) == ("", (1, 6), (6, 1, 6))
    assert seen[0, 0].tolist() == list(map(ord, "123456"))
    assert seen[1, 0].tolist() == [0, 0, 1, 0, 0, 0]
    assert seen[2:, 0, 0].tolist() == [7, 2, 0, 0]


def test_a_seed_fixes_the_games_of_both() -> None:
    game = make_game("xo", {"opening": 8})
    for env in (SeatsEnv(game), SeatEnv(game)):
        starts = []
        for _ in range(2):
            env.reset(seed=5)
            starts.append([env.position])
            env.reset()
            starts[-1].append(env.position)
        assert starts[0] == starts[1]
        assert starts[0][0] == game.start(game.deal(5)) != starts[0][1]


def test_one_seat_against_a_function() -> None:
    env = gymnasium.make("arena/Seat-v0", game="tictactoe", seat=2, opponent=first, render_mode="ansi")
    seen, _ = env.reset(seed=1)
    assert seen["action_mask"].tolist() == [0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert env.render() == ".../.../x.."
    results = [env.step(env.unwrapped.actions.index(move)) for move in ("a2", "b2")]
    assert [result[1:3] for result in results] == [(0.0, False), (-2.0, True)], "the other has b1 and c1"


def test_an_illegal_action_ends_the_game_of_a_seat_and_is_refused_by_the_seats() -> None:
    one = SeatEnv("tictactoe", opponent=first, seat=2)
    one.reset(seed=1)
    _, reward, over, cut, info = one.step(0)
    assert (reward, over, cut, info) == (-1.0, True, False, {"illegal": "a1"})
    seats = SeatsEnv("tictactoe")
    seats.reset(seed=1)
    seats.step(0)
    with pytest.raises(GameError, match=r"^a1 is taken$"):
        seats.step(0)
    with pytest.raises(GameError, match=r"^no game is in progress: call reset$"):
        one.step(1)
    one.reset()
    for env in (one, seats):
        with pytest.raises(GameError, match=r"^an action is a number from 0 to 8, not 9$"):
            env.step(9)


class WithoutBoard(TicTacToe):
    def scene(self, position: Any) -> Scene:
        return Scene(NO_BOARD, text=self.state_text(position))


def test_what_is_refused() -> None:
    with pytest.raises(GameError, match=r"^no game is in progress: call reset$"):
        SeatEnv("xo").step(0)
    with pytest.raises(GameError, match=r"^seat is a number from 1 to 2, not 3$"):
        SeatEnv("xo", seat=3)
    with pytest.raises(GameError, match=r"^render_mode is None or 'ansi', not 'human'$"):
        SeatEnv("xo", render_mode="human")
    with pytest.raises(GameError, match=r"^options belong to the name of a game; this one has its own$"):
        SeatsEnv(make_game("xo", {}), {"size": 12})
    with pytest.raises(GameError, match=r"^xo has no option 'side'; it has: "):
        SeatsEnv("xo", {"side": 12})
    with pytest.raises(GameError, match=r"^the game is over before seat 2 is to move$"):
        SeatEnv("insertion", {"plies": 1}, seat=2).reset()
    with pytest.raises(GameError, match=r"^tictactoe has no board of cells whose moves are known, and so no"):
        PositionEncoder(WithoutBoard())
    with pytest.raises(GameError, match=r"^xo has no move 'z9'$"):
        PositionEncoder(make_game("xo", {})).number("z9")
