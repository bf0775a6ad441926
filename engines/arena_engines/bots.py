"""Where an engine becomes a bot: the only file of the engines that knows the client.

It turns what a bot sees of a game into the situation that an engine asks for, and has the
engine's slow preparation done before READY.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_client.bot import Bot, GameView
from arena_engines.engine import Engine, Player, Situation
from arena_engines.registry import create, games_of
from arena_engines.table import Table, TableEngine


class EngineBot(Bot):
    """A bot that plays as an engine does."""

    def __init__(self, engine: Player) -> None:
        self.engine = engine
        self.games = (engine.game,)
        self.instant = engine.instant

    def new_game(self, view: GameView) -> None:
        """Compile what is to be compiled: no clock runs before this returns."""
        self.engine.warm_up()

    def choose(self, view: GameView) -> int | str:
        """Return the engine's move."""
        if isinstance(self.engine, TableEngine):
            return self.engine.choose(table_of(view))
        assert isinstance(self.engine, Engine), "a player is one or the other"
        return self.engine.choose(situation_of(view))


class SeveralGamesBot(Bot):
    """A bot whose engine exists for several games; which one it plays the server says in GAME."""

    def __init__(self, bots: Mapping[str, EngineBot]) -> None:
        self._bots = dict(bots)
        self.games = tuple(bots)

    def new_game(self, view: GameView) -> None:
        """Prepare the engine of this game."""
        self._bots[view.game].new_game(view)

    def choose(self, view: GameView) -> int | str:
        """Return the move of this game's engine."""
        return self._bots[view.game].choose(view)


def bot_of(spec: str, game: str | None = None) -> Bot:
    """Return the bot of a specification such as `champion:depth=5`. Raises EngineError as `create` does.

    Without a `game` the bot plays every game that has an engine of this name.
    """
    games = (game,) if game is not None else games_of(spec.partition(":")[0])
    if len(games) > 1:
        return SeveralGamesBot({each: EngineBot(create(spec, each)) for each in games})
    return EngineBot(create(spec, *games))


def table_of(view: GameView) -> Table:
    """Return all that an engine of a game without hidden cards may know at this ply."""
    rules = view.rules
    assert rules is not None, "an engine's game is in the registry of games"
    return Table(
        rules=rules,
        position=view.position,
        moves=view.moves,
        clock=view.my_clock,
        bank=view.offer.clock,
        increment=view.increment,
    )


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
