"""Positions as shapes for the pages: of every game whose rules are not in their script.

The pages animate and check the games that have a file in `static/js/games`; of the others they draw what
stands here, in the events of a running game and beside a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from arena_protocol.games import GAMES, printed_game
from arena_protocol.games.base import Deal, DecidedGame, Game, GameError
from arena_protocol.games.scene import Scene
from arena_protocol.plugins import PluginError
from arena_protocol.record import GameRecord
from arena_server.web.bundle import STATIC

#: The games whose rules the pages have.
IN_PAGES: Final = frozenset(path.stem for path in (STATIC / "js" / "games").glob("*.js"))


def is_decided(game: str) -> bool:
    """Whether this game is only won, drawn or lost: its points say no more, and no page shows them.

    False for a game that is not known here.
    """
    try:
        return issubclass(GAMES[game], DecidedGame)
    except (KeyError, PluginError):
        return False


class SceneWriter:
    """The scenes of one game in the types of JSON, position after position from `start` on."""

    def __init__(self, rules: Game[Any]) -> None:
        self._rules = rules
        self._last: Scene | None = None

    def start(self, position: Any) -> dict[str, Any]:
        """The layout of the game, the scene of its first position and the seat to move; None if it is over.

        `decided` is `is_decided`. Empty for a game whose rules the pages have.
        """
        if self._rules.name in IN_PAGES:
            return {}
        self._last = self._rules.scene(position)
        return {"layout": self._last.layout.to_json(), **self._decided(), **self._plain(position)}

    def after(self, position: Any, move: str) -> dict[str, Any]:
        """The scene of the position after `move`, and the seat to move."""
        if self._last is None:
            return {}
        self._last = self._rules.scene(position).after(self._last, move)
        return self._plain(position)

    def small(self) -> dict[str, Any]:
        """The last scene with a layout that is only looked at."""
        if self._last is None:
            return {}
        layout = self._last.layout.to_json(small=True)
        return {"layout": layout, **self._decided(), "scene": self._last.to_json()}

    def _decided(self) -> dict[str, bool]:
        return {"decided": is_decided(self._rules.name)}

    def _plain(self, position: Any) -> dict[str, Any]:
        assert self._last is not None
        over = self._rules.end(position) is not None
        return {"scene": self._last.to_json(), "to_move": None if over else self._rules.to_move(position)}


def record_scenes(record: GameRecord) -> dict[str, Any] | None:
    """The scenes of a record: those of `SceneWriter.start`, and one a ply in `after`, up to an illegal move.

    None for a game whose rules the pages have, and for one or a start that is not known here.
    """
    try:
        rules = printed_game(record.game, record.options, len(record.names))
        position = rules.start(Deal(record.board, record.sequence))
    except GameError:
        return None
    writer = SceneWriter(rules)
    start = writer.start(position)
    return {**start, "after": list(_after(rules, writer, position, record))} if start else None


def _after(
    rules: Game[Any], writer: SceneWriter, position: Any, record: GameRecord
) -> Iterator[dict[str, Any]]:
    with suppress(GameError):
        for ply in record.plies:
            position = rules.play(position, ply.move).position
            yield writer.after(position, ply.move)
