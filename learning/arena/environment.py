"""What the environments of Gymnasium and PettingZoo share: one game in progress, its spaces and its seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.encoding import PositionEncoder
from arena_protocol.errors import needs_extra
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game, GameError

try:
    import numpy as np
    from gymnasium import spaces
except ImportError as error:
    raise GameError(needs_extra("an environment", "learning")) from error

RENDER_MODES = ("ansi",)


class Episode:
    """The game of an environment, from `deal` on.

    Raises GameError for an unknown game, impossible options, or a mode that is none.
    """

    def __init__(
        self, game: str | Game[Any], options: Mapping[str, object] | None, render_mode: str | None
    ) -> None:
        if isinstance(game, str):
            self.game = make_game(game, options or {}, allow_unknown=False)
        elif options is None:
            self.game = game
        else:
            raise GameError("options belong to the name of a game; this one has its own")
        if render_mode not in (None, *RENDER_MODES):
            raise GameError(f"render_mode is None or 'ansi', not {render_mode!r}")
        self.encoder = PositionEncoder(self.game)
        self.position: Any = None
        self._numbers = self.action_space()

    def deal(self, seed: int, options: Mapping[str, Any] | None) -> None:
        """Begin a game on the deal of a seed, or on the one that the options of `reset` give."""
        given = (options or {}).get("deal")
        self.position = self.game.start(given if isinstance(given, Deal) else self.game.deal(seed))

    @property
    def seat(self) -> int:
        return self.game.to_move(self.position)

    @property
    def over(self) -> bool:
        return self.game.end(self.position) is not None

    def play(self, move: str) -> None:
        """Raises GameError for an illegal move."""
        self.position = self.game.play(self.position, move).position

    def move(self, action: Any) -> str:
        """The move of a number. Raises GameError for what is none."""
        actions = self.encoder.actions
        if not self._numbers.contains(action):
            raise GameError(f"an action is a number from 0 to {len(actions) - 1}, not {action!r}")
        return actions[int(action)]

    def observe(self, seat: int) -> dict[str, Any]:
        """What a seat sees; the mask is zero where it is not to move."""
        mask = self.encoder.mask(self.position)
        moves = not self.over and self.seat == seat
        return {
            "observation": self.encoder.observation(self.position, seat),
            "action_mask": mask if moves else np.zeros_like(mask),
        }

    def observation_space(self) -> Any:
        encoder, limits = self.encoder, np.iinfo(np.int32)
        shape = (encoder.depth, *encoder.shape)
        return spaces.Dict(
            {
                "observation": spaces.Box(limits.min, limits.max, shape, np.int32),
                "action_mask": spaces.Box(0, 1, (len(encoder.actions),), np.int8),
            }
        )

    def action_space(self) -> Any:
        return spaces.Discrete(len(self.encoder.actions))

    def text(self) -> str:
        """The position for `render`."""
        return self.encoder.scene(self.position).describe()


class EpisodeView:
    """What both interfaces show of their game."""

    render_mode: str | None
    _episode: Episode

    @property
    def actions(self) -> tuple[str, ...]:
        """The moves by their numbers."""
        return self._episode.encoder.actions

    @property
    def position(self) -> Any:
        """The position of the rules, with what is hidden."""
        return self._episode.position

    def render(self) -> str | None:
        """The position as text with `render_mode="ansi"`."""
        return self._episode.text() if self.render_mode else None
