"""The kit of laws finds games that break them, and says what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from arena_protocol import testing
from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Game, GameError, Step
from arena_protocol.games.lastcoin import LastCoin
from arena_protocol.games.scene import Scene
from arena_protocol.plugins import PluginError
from arena_server.web.scenes import is_decided

from ..plugged import install, plugged


@dataclass(frozen=True)
class Coins(LastCoin):
    """A game that a package adds."""

    name = "coins"


class Growing(Coins):
    """A layout with a cell for each coin that is left."""

    def scene(self, position: Any) -> Scene:
        scene = super().scene(position)
        times = 1 + position.coins
        layout = replace(scene.layout, cells=scene.layout.cells * times)
        return replace(scene, layout=layout, pieces=scene.pieces * times)


class Lenient(Coins):
    """A move that is not legal passes."""

    def play(self, position: Any, move: str) -> Step[Any]:
        try:
            return super().play(position, move)
        except GameError:
            return Step(position, 0)


class Wordy(Coins):
    """An error of two lines."""

    def play(self, position: Any, move: str) -> Step[Any]:
        try:
            return super().play(position, move)
        except GameError as error:
            raise GameError(f"{error}\nand so on") from error


class Endless(Coins):
    def play(self, position: Any, move: str) -> Step[Any]:
        return Step(position, 0)


@pytest.mark.parametrize(
    ("kind", "law", "text"),
    [
        (
            Growing,
            "a_scene_has_a_sign_a_cell_and_its_moves_are_those_of_the_game",
            "the layout of a scene is the same in every position of a game",
        ),
        (Lenient, "any_other_move_is_refused_in_one_line", "is not legal in .*, and play takes it"),
        (Wordy, "any_other_move_is_refused_in_one_line", "the text of an error is one line, not "),
        (Endless, "every_game_ends", "no end after 400 plies"),
    ],
)
def test_a_game_that_breaks_a_law(
    kind: type[Game[Any]], law: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Any example will do: none is made smaller or explained, which takes seconds.
    monkeypatch.setattr(testing, "settings", partial(settings, phases=[Phase.generate]))
    (broken,) = (each for each in testing.LAWS if each.__name__ == law)
    testing.check(broken, LastCoin(9), 1)
    with pytest.raises(AssertionError, match=text):
        testing.check(broken, kind.from_options({"coins": 9}), 20)


def test_a_game_without_an_end_is_a_fault_of_one_law_and_the_others_come_to_theirs() -> None:
    """A law that plays a game to its end gives up after as many plies, and says nothing of it."""
    endless = Endless.from_options({"coins": 9})
    (other,) = (law for law in testing.LAWS if law.__name__.startswith("a_client_sees_the_same_game"))
    testing.check(other, endless, 1)


COINS = """
from arena_protocol.games.base import Game
from arena_protocol.games.lastcoin import LastCoin

class Coins(LastCoin):
    name = "coins"

class Bare(Game):
    name = "bare"
    for method in ("from_options options deal start state_text to_move legal_moves play totals end".split()):
        locals()[method] = None
"""


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[None]:
    """A package with a game, and one that is not finished."""
    (tmp_path / "coinspack.py").write_text(COINS)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "coins"\nversion = "1"\n[project.entry-points."arena.games"]\n'
        'coins = "coinspack:Coins"\nbare = "coinspack:Bare"\n'
    )
    install(tmp_path, tmp_path / "pyproject.toml")
    with plugged(tmp_path):
        yield


@pytest.mark.usefixtures("installed")
def test_a_game_of_a_package_is_one_of_the_games() -> None:
    assert list(GAMES)[-1] == "coins"
    assert make_game("coins", {"coins": 7}).options() == {"coins": "7"}
    assert is_decided("coins")


@pytest.mark.usefixtures("installed")
def test_a_game_that_is_not_finished_is_refused_in_one_line() -> None:
    cause = (
        "arena.games: bare = coinspack:Bare of coins cannot be used: TypeError: Bare does not define:"
        " OPTIONS, zombie_move; expected a subclass of arena_protocol.games.base.Game"
    )
    assert GAMES.problems == [cause]
    with pytest.raises(GameError) as refused:
        make_game("bare", {})
    assert str(refused.value) == cause
    assert not is_decided("bare")
    with pytest.raises(PluginError):  # a ValueError: a row of the database with this game is refused
        GAMES.get("bare")
