"""Every game as an environment of Gymnasium: one seat learns, functions play the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from arena.encoding import lead
from arena.environment import RENDER_MODES, Episode, EpisodeView
from arena.games import Choose
from arena_protocol.errors import needs_extra
from arena_protocol.games import FLAGSHIP
from arena_protocol.games.base import Game, GameError

try:
    import gymnasium
except ImportError as error:
    raise GameError(needs_extra("arena.gym", "learning")) from error

#: The reward of an illegal action, which ends the game.
ILLEGAL = -1.0


class SeatEnv(EpisodeView, gymnasium.Env):
    """A game in which `seat` is learning; `opponent` plays the other seats, None is any legal move.

    The reward of a step is by how much the lead of the seat has grown until it is to move again: its points,
    less the mean of the others'. An illegal action ends the game with a reward of -1.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 1}

    def __init__(
        self,
        game: str | Game[Any] = FLAGSHIP,
        options: Mapping[str, object] | None = None,
        seat: int = 1,
        opponent: Choose | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = render_mode
        self._episode = Episode(game, options, render_mode)
        if not 1 <= seat <= self._episode.game.seats:
            raise GameError(f"seat is a number from 1 to {self._episode.game.seats}, not {seat!r}")
        self._seat = seat
        self._at_fault = False
        self._opponent = opponent or self._anyhow
        self.observation_space = self._episode.observation_space()
        self.action_space = self._episode.action_space()

    def _anyhow(self, game: Game[Any], position: Any) -> str:
        moves = game.legal_moves(position)
        return moves[int(self.np_random.integers(len(moves)))]

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a game on the deal of `seed`; later games without one follow from it.

        `options={"deal": Deal(...)}` gives the deal itself. Raises GameError if the game ends before the
        seat is to move.
        """
        super().reset(seed=seed)
        self._at_fault = False
        self._episode.deal(int(self.np_random.integers(2**63)) if seed is None else seed, options)
        self._play_others()
        if self._episode.over:
            raise GameError(f"the game is over before seat {self._seat} is to move")
        return self._episode.observe(self._seat), {}

    def _play_others(self) -> None:
        episode = self._episode
        while not episode.over and episode.seat != self._seat:
            episode.play(str(self._opponent(episode.game, episode.game.seen(episode.position))))

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play the move of this number, and those of the others until the seat is to move again.

        Raises GameError for what is no number of a move, and after the end of the game.
        """
        episode = self._episode
        if episode.position is None or episode.over or self._at_fault:
            raise GameError("no game is in progress: call reset")
        move, before = episode.move(action), episode.game.totals(episode.position)
        if not episode.game.is_legal(episode.position, move):
            self._at_fault = True
            return episode.observe(self._seat), ILLEGAL, True, False, {"illegal": move}
        episode.play(move)
        self._play_others()
        reward = lead(episode.game.totals(episode.position), self._seat) - lead(before, self._seat)
        return episode.observe(self._seat), reward, episode.over, False, {}


gymnasium.register(id="arena/Seat-v0", entry_point="arena.gym:SeatEnv")
