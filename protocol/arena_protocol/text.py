"""Texts of people and of their programs: UTF-8, perhaps behind a byte order mark, with any ends of lines.

Editors and runtimes of Windows write the mark (EF BB BF) before the first byte; it is no part of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MARK: Final = b"\xef\xbb\xbf"


def unmarked(data: bytes) -> bytes:
    """The bytes without a byte order mark before the first one."""
    return data.removeprefix(MARK)


def text_of(data: bytes) -> str:
    """The text of a file. Raises UnicodeDecodeError for what is not UTF-8."""
    return unmarked(data).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def numbers_text(values: Sequence[int]) -> str:
    """Clocks or points of all seats in a line: what COUNTS and INTEGERS of `codec.py` print."""
    # Two seats are the usual case, and an f-string takes half the time of joining a map.
    return f"{values[0]},{values[1]}" if len(values) == 2 else ",".join(map(str, values))
