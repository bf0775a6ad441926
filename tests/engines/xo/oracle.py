"""XO worked out the slow and obvious way, to hold the fast code against: no tables, no increments."""

from __future__ import annotations

from functools import cache

from arena_protocol.games.mnk import Marks, board_of, has_line

Cells = frozenset[int]
STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))
SHAPES_BEFORE = (0, 0, 1, 1, 2, 3, 4, 5, 6)


def five(size: int, cells: Cells) -> bool:
    """Whether the rules of the game see five in a row."""
    bits = list(board_of(size).cells.values())
    return has_line(sum(bits[cell] for cell in cells), size, 5)


def line_of(size: int, cell: int, step: tuple[int, int], mine: Cells, theirs: Cells) -> str:
    """Nine signs around a cell along a line: the mark `m`, a foe's or none at all `#`, empty `.`."""
    signs = ""
    for offset in range(-4, 5):
        column, row = cell % size + step[0] * offset, cell // size + step[1] * offset
        other = size * row + column
        if not (0 <= column < size and 0 <= row < size) or other in theirs:
            signs += "#"
        else:
            signs += "m" if other in mine or offset == 0 else "."
    return signs


@cache
def shape(line: str) -> int:
    """The shape of nine signs whose middle one is a mark, as patterns.py has them, from the definition."""
    left = line[:4].split("#")[-1].split(".")[-1] if "#" in line[:4] or "." in line[:4] else line[:4]
    right = line[5:].split("#")[0].split(".")[0]
    if len(left) + len(right) + 1 >= 5:
        return 8
    after = [shape(line[:at] + "m" + line[at + 1 :]) for at in range(9) if line[at] == "."]
    if after.count(8) >= 2:
        return 7
    return SHAPES_BEFORE[max(after, default=0)]


def shapes(size: int, cell: int, mine: Cells, theirs: Cells) -> list[int]:
    """The four shapes of an empty cell."""
    return [shape(line_of(size, cell, step, mine, theirs)) for step in STEPS]


def empty(size: int, mine: Cells, theirs: Cells) -> list[int]:
    """The cells without a mark."""
    return [cell for cell in range(size * size) if cell not in mine | theirs]


def fives(size: int, mine: Cells, theirs: Cells) -> list[int]:
    """The cells on which a mark makes five."""
    return [cell for cell in empty(size, mine, theirs) if 8 in shapes(size, cell, mine, theirs)]


def wins_by_fours(size: int, mine: Cells, theirs: Cells, depth: int) -> bool:
    """Whether the side to move wins when each of its moves must threaten five, `depth` times before the last.

    Every answer that is not on the cell of five loses at once, so only that one is looked at.
    """
    if fives(size, mine, theirs):
        return True
    threats = fives(size, theirs, mine)
    if len(threats) > 1:
        return False
    for cell in threats or empty(size, mine, theirs):
        after = mine | {cell}
        answers = fives(size, after, theirs)
        if len(answers) > 1:
            return True
        if answers and depth > 0 and wins_by_fours(size, after, theirs | set(answers), depth - 1):
            return True
    return False


def marks_of(size: int, mine: Cells, theirs: Cells) -> Marks:
    """The position of the game with X on `mine`."""
    bits = list(board_of(size).cells.values())
    return Marks(sum(bits[cell] for cell in mine), sum(bits[cell] for cell in theirs))


# ---- a complete threat search over windows of five cells: the definitions, every answer tried


@cache
def windows(size: int) -> list[Cells]:
    """Every five cells in a row."""
    found = []
    for cell in range(size * size):
        for across, up in STEPS:
            cells = [(cell % size + across * step, cell // size + up * step) for step in range(5)]
            if all(0 <= column < size and 0 <= row < size for column, row in cells):
                found.append(frozenset(size * row + column for column, row in cells))
    return found


def holes(size: int, mine: Cells, theirs: Cells) -> set[int]:
    """The cells on which a mark makes five."""
    open_windows = (window - mine for window in windows(size) if not window & theirs)
    return {cell for rest in open_windows if len(rest) == 1 for cell in rest}


def double_fours(size: int, mine: Cells, theirs: Cells, *, one_line: bool = False) -> set[int]:
    """The cells on which a mark threatens five on two cells; `one_line`: on one line, an open four."""
    partners: dict[tuple[int, tuple[int, int]], set[int]] = {}
    for window in windows(size):
        rest = window - mine
        if len(rest) == 2 and not window & theirs:
            first, second = sorted(window)[:2]
            line = (second % size - first % size, second // size - first // size) if one_line else (0, 0)
            for cell in rest:
                partners.setdefault((cell, line), set()).update(rest - {cell})
    return {cell for (cell, _), others in partners.items() if len(others) > 1}


def wins_by_threats(size: int, mine: Cells, theirs: Cells, depth: int) -> bool:
    """Whether the side to move wins after at most `depth` threats of five or of an open four."""
    if holes(size, mine, theirs):
        return True
    stops = holes(size, theirs, mine)
    if len(stops) > 1:
        return False
    winning = double_fours(size, mine, theirs)
    if winning & stops if stops else winning:
        return True
    if depth == 0:
        return False
    return any(threat_wins(size, mine | {cell}, theirs, depth) for cell in stops or empty(size, mine, theirs))


def threat_wins(size: int, mine: Cells, theirs: Cells, depth: int) -> bool:
    """Whether the threat just made by `mine` wins against every answer."""
    threatens = holes(size, mine, theirs) or double_fours(size, mine, theirs, one_line=True)
    if not threatens or holes(size, theirs, mine):
        return False
    answers = sorted(empty(size, mine, theirs), key=lambda cell: cell not in threatens)
    return all(wins_by_threats(size, mine, theirs | {cell}, depth - 1) for cell in answers)
