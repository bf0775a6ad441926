"""The games by name: those of this package, and behind them what installed packages add as `arena.games`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from arena_protocol.games.base import Game, GameError
from arena_protocol.games.disc import Disc
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.lastcoin import LastCoin
from arena_protocol.games.mnk import TicTacToe, Xo
from arena_protocol.plugins import PluginError, Plugins, check_complete, subclass_of

#: The game of a contest whose configuration names none.
FLAGSHIP = Insertion.name


def _playable(name: str, found: object) -> type[Game[Any]]:
    kind = subclass_of(Game)(name, found)  # type: ignore[type-abstract]  # no object is made of it
    check_complete(kind, ("OPTIONS", "zombie_move"))
    return kind


#: Name on the wire -> class of the game. The installed packages are searched for an unknown name and for the
#: whole list only.
GAMES: Final[Plugins[type[Game[Any]]]] = Plugins(
    "arena.games",
    {game.name: game for game in (Insertion, Xo, TicTacToe, Disc, LastCoin)},
    _playable,
)


def title_of(name: str) -> str:
    """What people call a game; its name where it has no title, or is not known here."""
    return (GAMES[name].title if name in GAMES else "") or name


def make_game(name: str, options: Mapping[str, object], *, allow_unknown: bool = True) -> Game[Any]:
    """Build a game by its name.

    Raises GameError for an unknown name, a plug-in that cannot be loaded, or an impossible option.

    A client builds the game of a GAME line by `make_game(game, {**options, "seats": seats})` and
    ignores options of a newer server. With `allow_unknown=False` an unknown option is refused, for
    options that a person has typed.
    """
    if name not in GAMES:
        raise GameError(f"no game {name!r}; this version has: {', '.join(sorted(GAMES))}")
    try:
        kind = GAMES[name]
    except PluginError as error:
        raise GameError(str(error)) from error
    for unknown in sorted(options.keys() - kind.OPTIONS):
        if not allow_unknown:
            raise GameError(f"{name} has no option {unknown!r}; it has: {', '.join(sorted(kind.OPTIONS))}")
    return kind.from_options(options)
