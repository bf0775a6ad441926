"""Engines with a library of positions: they play its moves at once, and may extend it.

    xo:time=1000,library=xo.jsonl,extend=yes

Any engine takes the two parameters. In a game of marks the eight rotations and reflections of a position are
one. The format of the file is that of arena_protocol/library.py.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena_engines.engine import Analysis, AnyPosition, Engine, EngineError
from arena_protocol.games.base import Game, GameError
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.mnk import MarksGame
from arena_protocol.library import Entry, format_library, parse_library

#: An engine extends its library by its own moves up to this ply of a game.
LAST_PLY = 20

Key = tuple[str, tuple[tuple[str, str], ...], str, str]


class Library:
    """A library file in memory; `add` keeps the deeper of two entries for one position.

    Raises EngineError for a file that cannot be read or is no library. A file that does not exist is empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: dict[Key, Entry] = {}
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            for entry in parse_library(text):
                self._entries[_key_of(entry)] = entry
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise EngineError(f"cannot read the library {path}: {reason}") from error
        except GameError as error:
            raise EngineError(f"{path}: {error}") from error

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, position: AnyPosition) -> Entry | None:
        """The entry of a position, its move turned to fit; None if it has none, or one without a move."""
        rules = position.rules
        text = rules.state_text(position.state)
        for symmetry in range(8 if isinstance(rules, MarksGame) else 1):
            for sequence in _sequences(position):
                found = self._entries.get((rules.name, _options(rules), turned(text, symmetry), sequence))
                if found is not None and found.move is not None:
                    move = _turned_back(found.move, symmetry, rules)
                    return replace(found, state=text, move=move)
        return None

    def add(self, position: AnyPosition, answer: Analysis, engine: str) -> bool:
        """Add what an engine found. Returns whether it is new or deeper than the entry there was."""
        known = self.find(position)
        if known is not None and known.depth >= answer.depth:
            return False
        rules = position.rules
        entry = Entry(
            game=rules.name,
            options=dict(_options(rules)),
            state=rules.state_text(position.state),
            sequence=_visible(position)[: answer.depth or None],
            move=str(answer.move),
            value=answer.eval[0] if answer.eval else None,
            depth=answer.depth,
            engine=engine,
        )
        if known is not None:
            self._forget(position)
        self._entries[_key_of(entry)] = entry
        return True

    def _forget(self, position: AnyPosition) -> None:
        rules = position.rules
        text = rules.state_text(position.state)
        for symmetry in range(8 if isinstance(rules, MarksGame) else 1):
            for sequence in _sequences(position):
                self._entries.pop((rules.name, _options(rules), turned(text, symmetry), sequence), None)

    def save(self) -> None:
        """Replace the file. Raises EngineError if it cannot be written."""
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        try:
            temporary.write_text(format_library(self._entries.values()), encoding="utf-8")
            temporary.replace(self.path)
        except OSError as error:
            raise EngineError(f"cannot write the library {self.path}: {error.strerror}") from error


def _key_of(entry: Entry) -> Key:
    return entry.game, tuple(sorted(entry.options.items())), entry.state, entry.sequence


def _options(rules: Game[Any]) -> tuple[tuple[str, str], ...]:
    """The options that a position depends on."""
    names = {"xo": ("size",), "tictactoe": ("size", "win"), "disc": ("m",)}.get(rules.name, ())
    return tuple((name, rules.options()[name]) for name in names)


def _visible(position: AnyPosition) -> str:
    return str(position.state.visible) if isinstance(position.rules, Insertion) else ""


def _sequences(position: AnyPosition) -> list[str]:
    """The visible pictures and their prefixes, the longest first."""
    visible = _visible(position)
    return [visible[:length] for length in range(len(visible), 0, -1)] or [""]


def turned(text: str, symmetry: int) -> str:
    """A board of rows joined by `/` after one of the eight symmetries, 0 the identity.

    Bit 2 reflects it at the diagonal, then bit 0 exchanges left and right, bit 1 top and bottom.
    """
    rows = text.split("/")
    if symmetry & 4:
        rows = ["".join(column) for column in zip(*rows, strict=True)]
    if symmetry & 1:
        rows = [row[::-1] for row in rows]
    if symmetry & 2:
        rows = rows[::-1]
    return "/".join(rows)


def _turned_back(move: str, symmetry: int, rules: Game[Any]) -> str:
    """The cell that the symmetry maps to `move`."""
    if symmetry == 0 or not isinstance(rules, MarksGame):
        return move
    size = rules.size
    for name in (f"{chr(ord('a') + column)}{row + 1}" for column in range(size) for row in range(size)):
        if turned(_marked(name, size), symmetry) == _marked(move, size):
            return name
    raise AssertionError("a symmetry maps every cell")


def _marked(name: str, size: int) -> str:
    column, row = ord(name[0]) - ord("a"), int(name[1:]) - 1
    rows = ["." * size for _ in range(size)]
    rows[size - 1 - row] = "." * column + "x" + "." * (size - 1 - column)
    return "/".join(rows)


def with_library(kind: type[Engine], library: Library, *, extend: bool) -> type[Engine]:
    """Return the engine `kind` that looks into a library first; with `extend` it adds what it finds."""
    own_spec = kind.spec

    def spec_of(engine: Engine) -> str:
        return str(own_spec.__get__(engine))

    def choose(self: Engine, position: AnyPosition) -> int | str:
        found = library.find(position)
        if found is not None and found.move is not None:
            return found.move
        move = kind.choose(self, position)
        if extend and len(position.moves) < LAST_PLY:
            library.add(position, Analysis(move, (), 0, 0), spec_of(self))
            library.save()
        return move

    def analyse(self: Engine, position: AnyPosition, depth: int) -> Analysis:
        answer = kind.analyse(self, position, depth)
        if extend and library.add(position, answer, spec_of(self)):
            library.save()
        return answer

    def spec(self: Engine) -> str:
        own = spec_of(self)
        return f"{own}{',' if ':' in own else ':'}library={library.path}" + (",extend=yes" if extend else "")

    changed = {"choose": choose, "analyse": analyse, "spec": property(spec)}
    return type(kind.__name__, (kind,), {**changed, "__doc__": kind.__doc__, "__module__": kind.__module__})
