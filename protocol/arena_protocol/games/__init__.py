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
#: Which option says the epoch of the rules (`Game.EPOCH`); where it is not there, that is 1.
EPOCH: Final = "epoch"


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

    Options of a newer server are ignored; `printed_game` builds the game of a GAME line. With
    `allow_unknown=False` an unknown option is refused, for options that a person has typed.
    """
    kind = _kind(name)
    for unknown in sorted(options.keys() - kind.OPTIONS):
        if not allow_unknown:
            raise GameError(f"{name} has no option {unknown!r}; it has: {', '.join(sorted(kind.OPTIONS))}")
    return kind.from_options(options)


def printed_options(game: Game[Any]) -> dict[str, str]:
    """The options of a game as GAME, records and contests have them: its own, then the epoch of its rules.

    The first epoch is not printed.
    """
    own = game.options()
    return own if game.EPOCH == 1 else {**own, EPOCH: str(game.EPOCH)}


def printed_game(name: str, options: Mapping[str, str], seats: int) -> Game[Any]:
    """Build the game of a GAME line or a record. Raises GameError as `make_game`, and for another epoch."""
    kind, epoch = _kind(name), options.get(EPOCH, "1")
    if epoch != str(kind.EPOCH):
        raise GameError(
            f"{name}: its rules are of epoch {epoch:.20}, and this version has epoch {kind.EPOCH}"
        )
    return make_game(name, {**options, "seats": seats})


def _kind(name: str) -> type[Game[Any]]:
    if name not in GAMES:
        raise GameError(f"no game {name!r}; this version has: {', '.join(sorted(GAMES))}")
    try:
        return GAMES[name]
    except PluginError as error:
        raise GameError(str(error)) from error
