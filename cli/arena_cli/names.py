"""The names of a class as a CSV file: who is invited, or which bots are added."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena_protocol.kinds import valid_name
from arena_server.errors import ConfigError
from arena_server.terms.config import check_url

#: How many names a file may have: as many as invitations may be open at once.
MOST_NAMES: Final = 1_000
#: The columns, and how long their texts may be.
COLUMNS: Final = {"name": 32, "owner": 32, "author": 60, "language": 60, "url": 200}
#: Problems that are said of one file; the others are counted.
MOST_SAID: Final = 8
NAME_TEXT: Final = "1 to 32 letters and digits of English, '_', '.' or '-', a letter or digit first"


@dataclass(frozen=True, slots=True)
class Invitee:
    """A line of the file: `name` is whom the link is for, or what the bot is called."""

    name: str
    owner: str = ""
    author: str = ""
    language: str = ""
    url: str = ""


def read_names(path: Path) -> list[Invitee]:
    """The persons of a file, in its order. Raises ConfigError that says what is wrong in which lines."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}: line {line}: expected a text in UTF-8, got another encoding") from None
    problems: list[str] = []
    found = _persons(path, text, problems)
    if problems:
        more = f"; and {len(problems) - MOST_SAID} lines more" if len(problems) > MOST_SAID else ""
        raise ConfigError(f"{path}: {'; '.join(problems[:MOST_SAID])}{more}")
    if not 0 < len(found) <= MOST_NAMES:
        raise ConfigError(f"{path}: expected 1 to {MOST_NAMES:,} names, got {len(found):,}")
    return found


def _persons(path: Path, text: str, problems: list[str]) -> list[Invitee]:
    """The lines that are right; what is wrong with the others is added to `problems`."""
    persons: list[Invitee] = []
    lines: dict[str, int] = {}
    columns: Sequence[str] | None = None
    for number, cells in _rows(path, text):
        if columns is None:
            columns = _columns(path, number, cells)
            if columns is not None:
                continue
            columns = ("name",)  # a list of names, without a line of heads
        problem = _problem(columns, cells)
        person = Invitee(**dict(zip(columns, cells, strict=False)))
        if not problem and person.name in lines:
            problem = f"{person.name!r} stands in line {lines[person.name]}, too"
        if problem:
            problems.append(f"line {number}: {problem}")
            continue
        lines[person.name] = number
        persons.append(person)
    return persons


def _rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty, as cells without blanks at their ends, each with its number."""
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)  # spreadsheets write what their language has
    reader = csv.reader(
        text.splitlines(keepends=True), delimiter=delimiter, strict=True, skipinitialspace=True
    )
    begun = 0
    try:
        for row in reader:
            number, begun = begun + 1, reader.line_num
            cells = [cell.strip() for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                yield number, cells
    except csv.Error as error:
        raise ConfigError(f"{path}: line {begun + 1}: expected comma-separated values: {error}") from None


def _columns(path: Path, number: int, cells: Sequence[str]) -> Sequence[str] | None:
    """The columns that a line of heads names; None: it is no such line. Raises ConfigError."""
    heads = [cell.lower() for cell in cells]
    if "name" not in heads:
        return None
    unknown = [cell for cell, head in zip(cells, heads, strict=True) if head not in COLUMNS]
    if unknown or len(set(heads)) < len(heads):
        expected = f"expected columns of {', '.join(COLUMNS)}, each once"
        got = repr(unknown[0]) if unknown else "one twice"
        raise ConfigError(f"{path}: line {number}: {expected}, got {got}")
    return heads


def _problem(columns: Sequence[str], cells: Sequence[str]) -> str:
    """What is wrong with a line; empty: nothing."""
    if len(cells) > len(columns):
        heads = "" if len(columns) > 1 else "; a line of heads such as name,author names others"
        return f"expected {len(columns)} values at most, got {len(cells)}{heads}"
    given = dict(zip(columns, cells, strict=False))
    for column in ("name", "owner"):
        value = given.get(column, "")
        if (value or column == "name") and not valid_name(value):
            return f"{column}: expected {NAME_TEXT}, got {value!r:.40}"
    for column, value in given.items():
        if len(value) > COLUMNS[column] or not value.isprintable():
            return f"{column}: expected at most {COLUMNS[column]} characters in one line, got {value!r:.40}"
    try:
        check_url(given.get("url", ""))
    except ValueError as error:
        return f"{error}, got {given['url']!r:.40}"
    return ""
