"""Where an engine becomes a bot: the only file of the engines that knows the client.

It turns what a bot sees of a game into the situation that an engine asks for, and has the
engine's slow preparation done before READY.
"""

from __future__ import annotations

from arena_client.bot import Bot, GameView
from arena_engines.engine import Engine, Situation
from arena_engines.registry import create


class EngineBot(Bot):
    """A bot that plays as an engine does."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.games = (engine.game,)
        self.instant = engine.instant

    def new_game(self, view: GameView) -> None:
        """Compile what is to be compiled: no clock runs before this returns."""
        self.engine.warm_up()

    def choose(self, view: GameView) -> int:
        """Return the engine's move."""
        return self.engine.choose(situation_of(view))


def bot_of(spec: str, game: str = "insertion") -> EngineBot:
    """Return the bot of a specification such as `champion:depth=5`. Raises EngineError as `create` does."""
    return EngineBot(create(spec, game))


def situation_of(view: GameView) -> Situation:
    """Return all that an engine may know of this game at this ply."""
    options = view.options
    return Situation(
        board=view.board,
        visible=view.visible,
        ply=view.ply,
        plies=int(options["plies"]),
        seat=view.seat,
        seats=view.seats,
        colours=int(options["colours"]),
        clock=view.my_clock,
        bank=view.offer.clock,
        start=view.state,
        played=view.shown[: view.ply - 1],
        moves=tuple(int(move) for move in view.moves),
    )
