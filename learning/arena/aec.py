"""Every game as an AEC environment of PettingZoo, the seats as agents: `aec.env("xo")`."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar

from arena.encoding import lead
from arena.environment import RENDER_MODES, Episode, EpisodeView
from arena_protocol.errors import needs_extra
from arena_protocol.games import FLAGSHIP
from arena_protocol.games.base import Game, GameError

try:
    from pettingzoo import AECEnv
except ImportError as error:
    raise GameError(needs_extra("arena.aec", "learning")) from error


class SeatsEnv(EpisodeView, AECEnv):
    """A game whose seats 1, 2, ... are the agents `seat_1`, `seat_2`, ...

    The reward of a ply is by how much the lead of an agent grew: its points, less the mean of the others'.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "arena_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        game: str | Game[Any] = FLAGSHIP,
        options: Mapping[str, object] | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.render_mode = render_mode
        self._episode = Episode(game, options, render_mode)
        seats = range(1, self._episode.game.seats + 1)
        self._seats = {f"seat_{seat}": seat for seat in seats}
        self.possible_agents = list(self._seats)
        self.observation_spaces = {agent: self._episode.observation_space() for agent in self._seats}
        self.action_spaces = {agent: self._episode.action_space() for agent in self._seats}
        self._chance = Random()  # noqa: S311 - a game, not a secret

    def observation_space(self, agent: str) -> Any:
        """The space of `observe`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The numbers of the moves."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game on the deal of `seed`; later games without one follow from it.

        `options={"deal": Deal(...)}` gives the deal itself.
        """
        if seed is not None:
            self._chance.seed(seed)
        self._episode.deal(self._chance.getrandbits(63) if seed is None else seed, options)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self._agent()

    def _agent(self) -> str:
        return self.possible_agents[self._episode.seat - 1]

    def step(self, action: Any) -> None:
        """Play the move of this number; None for an agent whose game is over.

        Raises GameError for an illegal move, and nothing is played then.
        """
        agent, episode = self.agent_selection, self._episode
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        move, before = episode.move(action), episode.game.totals(episode.position)
        episode.play(move)
        after = episode.game.totals(episode.position)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {each: lead(after, seat) - lead(before, seat) for each, seat in self._seats.items()}
        if episode.over:
            self.terminations = dict.fromkeys(self.agents, True)
            # Of a game that is over no seat is to move: the agents leave in the order of the seats.
            self.agent_selection = self.possible_agents[self._seats[agent] % len(self._seats)]
        else:
            self.agent_selection = self._agent()
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        """`observation` and `action_mask`, which is zero for an agent that is not to move."""
        return self._episode.observe(self._seats[agent])

    def close(self) -> None:
        """Nothing is open."""


env = SeatsEnv
