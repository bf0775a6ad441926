"""Plug-ins: what packages installed beside this project add to a list of it, by entry points.

    [project.entry-points."arena.games"]        in the pyproject.toml of the package
    connectfour = "arena_connectfour:ConnectFour"

A list (`Plugins`) has what is built in, and behind it what the entry points of its group name. The installed
packages are searched only for a name that is not built in, or for the whole list: a search takes 20 to 60 ms.
A plug-in that cannot be loaded is left out of the list: `problems` has a line for each, and asking for it by
its name raises PluginError with that line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from arena_protocol.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The groups of entry points, each with what a plug-in of it is.
GROUPS: Final[Mapping[str, str]] = {
    "arena.games": "a subclass of arena_protocol.games.base.Game",
    "arena.engines": "a subclass of arena_engines.engine.Engine, or a list of them",
    "arena.formats": "a subclass of arena_server.core.formats.base.Format",
    "arena.tie_breaks": "a function, arena_server.stats.tiebreaks.TieBreak",
    "arena.launchers": "a function that opens a place, arena_server.places.launchers.Opener",
    "arena.commands": "a function with the options of a command of `arena`, or a typer.Typer",
}

T = TypeVar("T")


class PluginError(UserError, ValueError):
    """A plug-in that cannot be used; the text names its package and the cause."""

    exit_code = 2


class Plugins(Mapping[str, T], Generic[T]):
    """What is built in and what is plugged in, by name, the built-in first; each is loaded when it is used.

    `built_in` has objects, or texts "module:attribute". `check(name, object)` returns what the list has for
    an object, and raises TypeError or ValueError, with one line, for what cannot be in it.
    """

    def __init__(
        self, group: str, built_in: Mapping[str, T | str], check: Callable[[str, object], T]
    ) -> None:
        assert group in GROUPS
        self.group = group
        self._built_in = built_in
        self._check = check
        self._loaded: dict[str, T] = {}
        self._found: dict[str, EntryPoint] | None = None
        self._problems: dict[str, str] = {}

    def __getitem__(self, name: str) -> T:
        """Raises KeyError for a name that is not in the list, PluginError for what cannot be loaded."""
        if name in self._loaded:
            return self._loaded[name]
        if name in self._built_in:
            place = self._built_in[name]
            self._loaded[name] = self._check(name, _attribute(place) if isinstance(place, str) else place)
        elif name in self._outside():
            self._loaded[name] = self._load(name, self._outside()[name])
        else:
            raise KeyError(name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._outside()

    def __iter__(self) -> Iterator[str]:
        """The names of all that can be loaded."""
        yield from self._built_in
        for name in sorted(self._outside()):
            try:
                self[name]
            except PluginError:
                continue
            yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def built_in(self) -> Collection[str]:
        """The names of what is built in; no package is searched for them."""
        return self._built_in.keys()

    @property
    def problems(self) -> list[str]:
        """One line for each plug-in that was left out."""
        list(self)
        return [self._problems[name] for name in sorted(self._problems)]

    def search(self) -> None:
        """Search the installed packages again, as after an installation in this process."""
        self._found = None
        self._problems.clear()
        self._loaded = {name: each for name, each in self._loaded.items() if name in self._built_in}

    def _outside(self) -> dict[str, EntryPoint]:
        if self._found is None:
            # Not at the head of the file: the import takes 45 ms.
            from importlib.metadata import entry_points

            self._found = {}
            for point in entry_points(group=self.group):
                if point.name in self._built_in or point.name in self._found:
                    there = "one that is built in"
                    if point.name in self._found:
                        there = f"one of {_package(self._found[point.name])}"
                    what = f"{self.group}: {point.name} of {_package(point)} is left out"
                    self._problems[f"{point.name} {_package(point)}"] = f"{what}: it has the name of {there}"
                else:
                    self._found[point.name] = point
        return self._found

    def _load(self, name: str, point: EntryPoint) -> T:
        if name in self._problems:
            raise PluginError(self._problems[name])
        try:
            return self._check(name, point.load())
        except Exception as error:  # of a foreign module: whatever it raises, the rest goes on
            cause = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
            self._problems[name] = (
                f"{self.group}: {name} = {point.value} of {_package(point)} cannot be used: {cause};"
                f" expected {GROUPS[self.group]}"
            )
            raise PluginError(self._problems[name]) from error


def _attribute(place: str) -> object:
    module, _, name = place.partition(":")
    found: object = getattr(import_module(module), name)
    return found


def _package(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else point.dist.name


def subclass_of(base: type[T]) -> Callable[[str, object], type[T]]:
    """The check of a list of classes whose attribute `name` or `NAME` is their name in the list."""

    def check(name: str, found: object) -> type[T]:
        if not (isinstance(found, type) and issubclass(found, base)):
            raise TypeError(f"{found!r:.80} is no subclass of {base.__name__}")
        own = getattr(found, "NAME", None) or getattr(found, "name", None)
        if own != name:
            raise ValueError(f"{found.__name__} is called {own!r}, and its entry point {name!r}")
        check_complete(found)
        return found

    return check


def check_complete(kind: type, attributes: Iterable[str] = ()) -> None:
    """Raise TypeError for a class that does not define all that it has to: methods, and these attributes."""
    missing = {name for name in attributes if not hasattr(kind, name)}
    missing |= getattr(kind, "__abstractmethods__", frozenset())
    if missing:
        raise TypeError(f"{kind.__name__} does not define: {', '.join(sorted(missing))}")
