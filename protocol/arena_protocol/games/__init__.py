"""The registry of games: a new game is entered here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena_protocol.games.base import Game, GameError
from arena_protocol.games.disc import Disc
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.lastcoin import LastCoin
from arena_protocol.games.mnk import TicTacToe, Xo

#: The game of a contest whose configuration names none.
FLAGSHIP = Insertion.name
#: Name on the wire -> plug-in.
GAMES: dict[str, type[Game[Any]]] = {game.name: game for game in (Insertion, Xo, TicTacToe, Disc, LastCoin)}


def make_game(name: str, options: Mapping[str, object], *, allow_unknown: bool = True) -> Game[Any]:
    """Build a game by its name. Raises GameError for an unknown name or an impossible option.

    A client builds the game of a GAME line by `make_game(game, {**options, "seats": seats})` and
    ignores options of a newer server. With `allow_unknown=False` an unknown option is refused, for
    options that a person has typed.
    """
    if name not in GAMES:
        raise GameError(f"no game {name!r}; this version has: {', '.join(sorted(GAMES))}")
    known = GAMES[name].OPTIONS
    for unknown in sorted(options.keys() - known):
        if not allow_unknown:
            raise GameError(f"{name} has no option {unknown!r}; it has: {', '.join(sorted(known))}")
    return GAMES[name].from_options(options)
