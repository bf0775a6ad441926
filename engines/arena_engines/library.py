"""Engines with a library of positions: they play its moves at once, and may extend it.

    xo:time=1000,library=xo.jsonl,extend=yes

Any engine takes the two parameters. In a game of marks the eight rotations and reflections of a position are
one. Several processes may extend one file: each writes under a lock, and keeps what the others have added.
The format of the file is that of arena_protocol/library.py.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena_engines.engine import Analysis, AnyPosition, Engine, EngineError, Report
from arena_protocol.games import GAMES
from arena_protocol.games.base import Game, GameError
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.mnk import MarksGame
from arena_protocol.library import Entry, format_library, parse_library, position_options
from arena_protocol.text import text_of

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
        self._read()

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, position: AnyPosition) -> Entry | None:
        """The deepest entry of a position with its move turned to fit; None without an entry with a move."""
        rules = position.rules
        text = rules.state_text(position.state)
        keys = _keys(rules.name, _options(rules), text, _visible(position))
        known = [(symmetry, self._entries[key]) for symmetry, key in keys if key in self._entries]
        known = [(symmetry, entry) for symmetry, entry in known if entry.move is not None]
        if not known:
            return None
        symmetry, found = max(known, key=lambda each: each[1].depth)
        assert found.move is not None, "selected above"
        move = _turned_back(found.move, symmetry, text) if symmetry else found.move
        return replace(found, state=text, move=move)

    def add(self, position: AnyPosition, answer: Analysis, engine: str) -> bool:
        """Add what an engine found. Returns whether it is new or deeper than the entry there was."""
        rules = position.rules
        return self._keep(
            Entry(
                game=rules.name,
                options=position_options(rules),
                state=rules.state_text(position.state),
                sequence=_visible(position)[: answer.depth or None],
                move=str(answer.move),
                value=answer.eval[0] if answer.eval else None,
                depth=answer.depth,
                engine=engine,
            )
        )

    def _keep(self, entry: Entry) -> bool:
        """Take an entry in, unless there is one as deep of this position."""
        own = _key_of(entry)
        name, options, state, _ = own
        # An entry of insertion for fewer pictures stays: it serves more continuations.
        keys = [own] if entry.sequence else [key for _, key in _keys(name, options, state, "")]
        for key in keys:
            known = self._entries.get(key)
            if known is not None:
                if entry.move is None or (known.move is not None and known.depth >= entry.depth):
                    return False
                del self._entries[key]
        self._entries[own] = entry
        return True

    def save(self) -> None:
        """Write the file, with what other processes have added to it. Raises EngineError if it cannot."""
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        try:
            with locked(self.path.parent):
                self._read()
                temporary.write_text(format_library(self._entries.values()), encoding="utf-8")
                temporary.replace(self.path)  # atomic: a reader sees the old file or the new one
        except OSError as error:
            raise EngineError(f"cannot write the library {self.path}: {error.strerror}") from error

    def _read(self) -> None:
        try:
            text = text_of(self.path.read_bytes()) if self.path.exists() else ""
            for entry in parse_library(text):
                self._keep(entry)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise EngineError(f"cannot read the library {self.path}: {reason}") from error
        except GameError as error:
            raise EngineError(f"{self.path}: {error}") from error


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder; without locks (another system, a network disk) the last writer wins."""
    handle = None
    with contextlib.suppress(ImportError, OSError):
        fcntl = importlib.import_module("fcntl")
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _key_of(entry: Entry) -> Key:
    return entry.game, tuple(sorted(entry.options.items())), entry.state, entry.sequence


def _options(rules: Game[Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(position_options(rules).items()))


def _visible(position: AnyPosition) -> str:
    return str(position.state.visible) if isinstance(position.rules, Insertion) else ""


def _keys(
    name: str, options: tuple[tuple[str, str], ...], state: str, visible: str
) -> Iterator[tuple[int, Key]]:
    """Yield the keys under which a position may stand, each with its symmetry.

    Insertion: its visible pictures and their prefixes, the longest first. Games of marks: all symmetries.
    """
    if name == Insertion.name:
        for length in range(len(visible), -1, -1):
            yield 0, (name, options, state, visible[:length])
    else:
        for symmetry in range(8 if issubclass(GAMES[name], MarksGame) else 1):
            yield symmetry, (name, options, turned(state, symmetry), visible)


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


def _turned_back(move: str, symmetry: int, text: str) -> str:
    """The cell of the board `text` that the symmetry maps to `move`."""
    size = len(text.split("/"))
    names = [f"{chr(ord('a') + column)}{row + 1}" for column in range(size) for row in range(size)]
    return next(name for name in names if turned(_marked(name, size), symmetry) == _marked(move, size))


def _marked(name: str, size: int) -> str:
    column, row = ord(name[0]) - ord("a"), int(name[1:]) - 1
    rows = ["." * size for _ in range(size)]
    rows[size - 1 - row] = "." * column + "x" + "." * (size - 1 - column)
    return "/".join(rows)


def _answer_of(engine: Engine, move: int | str) -> Analysis:
    """What `choose` reported as an analysis; in insertion a report has the lead, an entry the own points."""
    report = engine.report
    if report is None:
        return Analysis(move, (), 0, 0)
    value = None if engine.game == Insertion.name else report.eval
    return Analysis(move, () if value is None else (value,), 0, report.depth or 0)


def with_library(kind: type[Engine], library: Library, *, extend: bool) -> type[Engine]:
    """Return the engine `kind` that looks into a library first; with `extend` it adds what it finds."""
    own_spec = kind.spec

    def spec_of(engine: Engine) -> str:
        return str(own_spec.__get__(engine))

    def choose(self: Engine, position: AnyPosition) -> int | str:
        found = library.find(position)
        if found is not None and found.move is not None:
            self.report = Report(found.depth or None, found.value, None, (found.move,))
            return found.move
        self.report = None
        move = kind.choose(self, position)
        if extend and len(position.moves) < LAST_PLY:
            library.add(position, _answer_of(self, move), spec_of(self))
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
