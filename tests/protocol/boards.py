"""Random boards of insertion for property tests: any stacks, runs included."""

from __future__ import annotations

from hypothesis import strategies as st


def board_text(columns: list[list[int]]) -> str:
    """Five stacks, each from the bottom up, as the text of a board."""
    rows = ["".join(str(stack[y]) if y < len(stack) else "." for stack in columns) for y in range(5)]
    return "/".join(reversed(rows))


def boards(colours: int) -> st.SearchStrategy[str]:
    """Boards that obey gravity, whether a game can reach them or not."""
    stack = st.lists(st.integers(1, colours), max_size=5)
    return st.lists(stack, min_size=5, max_size=5).map(board_text)


@st.composite
def plies(draw: st.DrawFn) -> tuple[str, int]:
    """A board and a picture of one set of 3 to 7 colours; few colours make many runs."""
    colours = draw(st.integers(3, 7))
    return draw(boards(colours)), draw(st.integers(1, colours))
