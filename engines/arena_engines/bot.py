"""Engines as bots of the client; the only module of the engines that imports the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena_client.bot import Bot, GameView, Result
from arena_engines.engine import AnyPosition, Engine, Position
from arena_engines.registry import create, games_of


class EngineBot(Bot):
    """A bot that plays an engine's moves and sends what the engine found for each as a note (INFO)."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.games = (engine.game,)
        self.instant = engine.instant

    def new_game(self, view: GameView) -> None:
        """Compile the engine: READY is sent, and clocks run, after this returns."""
        self.engine.warm_up()

    def choose(self, view: GameView) -> int | str:
        """Return the engine's move."""
        engine = self.engine
        engine.report = None
        move = engine.choose(position_of(view))
        if engine.report is not None:
            view.note(**engine.report._asdict())
        return move

    def game_over(self, view: GameView, result: Result) -> None:
        """Let the engine keep what it has learnt."""
        self.engine.game_over()


class SteadyBot(Bot):
    """Another bot that answers as before where a game is played again on its deal and has gone the same way.

    It knows the games since the deal has changed.
    """

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self.games = bot.games
        self.instant = bot.instant
        self._deal: tuple[str, tuple[str, ...], str] | None = None
        #: By the pictures that are shown and the moves so far.
        self._answers: dict[tuple[str, tuple[str, ...]], int | str] = {}

    def new_game(self, view: GameView) -> None:
        """Prepare the other bot."""
        self._bot.new_game(view)

    def choose(self, view: GameView) -> int | str:
        """Return the known answer, else that of the other bot."""
        deal = view.game, view.names, view.state
        if deal != self._deal:
            self._deal, self._answers = deal, {}
        key = view.shown, view.moves
        if key not in self._answers:
            self._answers[key] = self._bot.choose(view)
        return self._answers[key]

    def game_over(self, view: GameView, result: Result) -> None:
        """Let the other bot know the result."""
        self._bot.game_over(view, result)


class OpeningBot(Bot):
    """Another bot; its games begin with the moves of an opening, as far as the other seats play them, too."""

    def __init__(self, bot: Bot, opening: Sequence[str]) -> None:
        self._bot = bot
        self._opening = tuple(opening)
        self.games = bot.games
        self.instant = bot.instant

    def new_game(self, view: GameView) -> None:
        """Prepare the other bot."""
        self._bot.new_game(view)

    def choose(self, view: GameView) -> int | str:
        """Return the move of the opening, else that of the other bot."""
        played = len(view.moves)
        if played < len(self._opening) and view.moves == self._opening[:played]:
            return self._opening[played]
        return self._bot.choose(view)

    def game_over(self, view: GameView, result: Result) -> None:
        """Let the other bot know the result."""
        self._bot.game_over(view, result)


class SeveralGamesBot(Bot):
    """A bot whose engine exists for several games; GAME selects one."""

    def __init__(self, bots: Mapping[str, EngineBot]) -> None:
        self._bots = dict(bots)
        self.games = tuple(bots)

    def new_game(self, view: GameView) -> None:
        """Prepare the engine of this game."""
        self._bots[view.game].new_game(view)

    def choose(self, view: GameView) -> int | str:
        """Return the move of this game's engine."""
        return self._bots[view.game].choose(view)

    def game_over(self, view: GameView, result: Result) -> None:
        """End the game of its engine."""
        self._bots[view.game].game_over(view, result)


def bot_of(spec: str, game: str | None = None) -> Bot:
    """Return the bot of a specification such as `champion:depth=5`. Raises EngineError as `create` does.

    Without a `game` the bot plays every game that has an engine of this name.
    """
    games = (game,) if game is not None else games_of(spec.partition(":")[0])
    if len(games) > 1:
        return SeveralGamesBot({each: EngineBot(create(spec, each)) for each in games})
    return EngineBot(create(spec, *games))


def position_of(view: GameView) -> AnyPosition:
    """Return what this seat knows at this ply."""
    rules = view.rules
    assert rules is not None, "an engine's game is in the registry of games"
    return Position(
        rules=rules,
        state=view.position,
        start=view.state,
        moves=view.moves,
        names=view.offer.names,
        clock=view.my_clock,
        bank=view.offer.clock,
        increment=view.increment,
        move_limit=view.move_limit,
    )
