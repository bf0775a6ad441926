"""The engines by name: `champion:depth=5` -> an `Engine`.

One table for `arena bot`, `arena match`, `arena analyse` and configuration files; installed packages extend
it by entry points of `arena.engines`, which are searched for a name that is not built in and for lists of
engines. Making an engine imports no compiler; `warm_up` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from arena_engines.engine import Engine, EngineError, Parameter, RandomMover
from arena_engines.insertion.baselines import Dummy, Greedy, Random
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.master.engine import Master
from arena_engines.library import Library, with_library
from arena_engines.search.expectiminimax import Expectiminimax
from arena_engines.search.maxn import MaxN
from arena_engines.slips import with_slips
from arena_engines.small.openlines import OpenLines
from arena_engines.small.solved import Perfect, PerfectMarks
from arena_engines.small.weighted import TERMS, weighted
from arena_engines.xo.gomoku.engine import Gomoku
from arena_protocol.games import GAMES
from arena_protocol.plugins import Plugins, check_complete

#: Parameters of every engine: a file of positions (library.py), and whether to add to it.
LIBRARY_KEYS = ("library", "extend")
#: Of every engine, too: how many moves of a hundred are random ones (slips.py).
SLIP = Parameter("slip", 0, 0, 100)


def _playing(game: str, kind: type[Engine]) -> type[Engine]:
    """Return `kind` as an engine of `game`, for engines that need the game's rules only."""
    return type(
        kind.__name__, (kind,), {"game": game, "__doc__": kind.__doc__, "__module__": kind.__module__}
    )


#: The engines of this package but `random`; those of one game stand with the weakest first.
_BUILT_IN: Final[tuple[type[Engine], ...]] = (
    Dummy,
    Random,
    Greedy,
    MaxN,
    Expectiminimax,
    Champion,
    Master,
    *map(weighted, TERMS),
    OpenLines,
    PerfectMarks,
    *(_playing(game, Perfect) for game in ("disc", "lastcoin")),
    Gomoku,
)


def _plugged_in(_: str, found: object) -> tuple[type[Engine], ...]:
    """The engines of an entry point. Raises TypeError for anything else."""
    kinds = found if isinstance(found, list | tuple) else (found,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Engine)):
            raise TypeError(f"{kind!r:.80} is no subclass of Engine")
        check_complete(kind, ("game", "name"))
    return tuple(kinds)


#: What installed packages add. The name of an entry point says nothing: engines have names of their own.
OUTSIDE: Final[Plugins[tuple[type[Engine], ...]]] = Plugins("arena.engines", {}, _plugged_in)


@cache
def _random(game: str) -> type[Engine]:
    """Every game has a player from the start; that of insertion draws by its own generator."""
    return Random if game == Random.game else _playing(game, RandomMover)


def _built_in(game: str) -> list[type[Engine]]:
    own = [kind for kind in _BUILT_IN if kind.game == game]
    return own if Random in own or game not in GAMES else [_random(game), *own]


def engines_of(game: str) -> dict[str, type[Engine]]:
    """Return the engines of a game by name, the weakest first. Raises EngineError for an unknown game."""
    return _listed(game, [])


def _listed(game: str, problems: list[str]) -> dict[str, type[Engine]]:
    if game not in GAMES:
        raise EngineError(f"no engine plays {game!r}; engines play: {', '.join(sorted(GAMES))}")
    kinds = _built_in(game)
    for kind in (kind for added in OUTSIDE.values() for kind in added if kind.game == game):
        names = [each.name for each in kinds]
        if kind.name in names:
            where = f"{kind.__module__}.{kind.__qualname__}"
            problems.append(
                f"arena.engines: {where} is left out: {game} has another engine named {kind.name}"
            )
        else:
            behind = kind.stronger_than
            kinds.insert(names.index(behind) + 1 if behind in names else len(kinds), kind)
    return {kind.name: kind for kind in kinds}


def problems() -> list[str]:
    """Return a line for each engine of a plug-in that was left out."""
    found = OUTSIDE.problems
    for game in GAMES:
        _listed(game, found)
    return found


def create(spec: str, game: str = "insertion") -> Engine:
    """Return the engine of a specification: `NAME` or `NAME:key=value,key=value`.

    Omitted parameters have their defaults. Raises EngineError, one line naming what is wrong and
    what would be right.
    """
    name, colon, rest = spec.partition(":")
    kind = engine_class(name, game)
    values: dict[str, int | str | None] = {}
    library: dict[str, str] = {}
    for item in rest.split(",") if colon else ():
        key, _, text = item.partition("=")
        if key in values or key in library:
            raise EngineError(f"engine {spec}: {key} is given twice")
        if key in LIBRARY_KEYS:
            library[key] = text
            continue
        parameter = SLIP if key == SLIP.name else _parameter(kind, key)
        try:
            values[key] = parameter.parse(text)
        except EngineError as error:
            raise EngineError(f"engine {name}: {error}") from error
    slip = values.pop(SLIP.name, 0)
    assert isinstance(slip, int)
    found = _with_library(kind, library)
    return (with_slips(found, slip) if slip else found)(values)


def _with_library(kind: type[Engine], given: Mapping[str, str]) -> type[Engine]:
    if not given:
        return kind
    path, extend = given.get("library", ""), given.get("extend", "no")
    if not path or extend not in ("yes", "no"):
        raise EngineError(f"engine {kind.name}: expected library=FILE and extend=yes|no")
    return with_library(kind, Library(Path(path)), extend=extend == "yes")


def games_of(name: str) -> tuple[str, ...]:
    """Return the games that have an engine of this name."""
    return tuple(game for game in GAMES if name in engines_of(game))


def usual_opponent(game: str) -> str:
    """Return the default opponent of a person: `greedy` of insertion, else the last in the list.

    Raises EngineError if no engine plays this game.
    """
    known = engines_of(game)
    return Greedy.name if Greedy.name in known else list(known)[-1]


def usual_analyst(game: str) -> str:
    """Return the default engine of `arena analyse`. Raises EngineError if no engine of the game analyses."""
    if game == Champion.game:
        return Champion.name
    analysts = [name for name, kind in engines_of(game).items() if kind.max_depth]
    if not analysts:
        raise EngineError(f"no engine of {game} has an analysis by depth")
    return analysts[-1]


def engine_class(name: str, game: str = "insertion") -> type[Engine]:
    """Return the class of a name. Raises EngineError listing the right names."""
    for kind in _built_in(game):
        if kind.name == name:
            return kind
    known = engines_of(game)
    if name not in known:
        # A plug-in that cannot be loaded may be where this engine was to come from.
        broken = "".join(f"; {line}" for line in problems())
        raise EngineError(f"no engine {name!r} for {game}; there are: {', '.join(known)}{broken}")
    return known[name]


def _parameter(kind: type[Engine], key: str) -> Parameter:
    for each in kind.parameters:
        if each.name == key:
            return each
    right = describe(kind.parameters)
    takes = f"its parameters are: {right}" if right else "it takes none"
    raise EngineError(f"engine {kind.name} has no parameter {key!r}; {takes}")


def describe(parameters: Iterable[Parameter]) -> str:
    """Return the parameters on one line: `depth=1..20, strategy=cooperative|spoiling`."""
    return ", ".join(f"{each.name}={each.expected}" for each in parameters)
