"""The rounds of a contest in a terminal: a bracket as a tree, all else as tables.

    quarter-finals      semi-finals       final             winner

    1 ann     2  ┐
                 ├  1 ann     2  ┐
    8 hal     0  ┘               │
                                 ├  1 ann     1  ┐
    ...

What is drawn is the document of `arena_server.core.formats.rounds_json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import typer

from arena_cli.results import headed
from arena_cli.tables import PLAIN_WIDTH, Cell, Column, OutputFormat, ResultTable

if TYPE_CHECKING:
    from arena_server.store.schema import ContestRow

LEVEL: Final = "level"
#: What stands in the place of a score, by the state of a match.
STATES: Final = {"walkover": "w/o", "bye": "bye"}
#: What stands behind the score of a winner, by what decided a tied match.
TIES: Final = {"seed": "by seed", "extra games": "in extra games", "sudden death": "in sudden death"}


def print_rounds(
    title: str, rounds: Sequence[dict[str, Any]], form: OutputFormat, of: ContestRow | None = None
) -> None:
    """Print all rounds `of` a contest on stdout; JSON is up to the caller."""
    if form is not OutputFormat.TABLE:
        table = rounds_table(title, rounds)
        (table if of is None else headed(table, of)).print(form)
        return
    from rich.console import Console

    width = Console().width if Console().is_terminal else PLAIN_WIDTH
    typer.echo(title)
    for found in _trees(rounds):
        tree = bracket_lines(found) if found[0]["kind"] == LEVEL else []
        if tree and max(map(len, tree)) <= width:
            typer.echo("\n" + "\n".join(tree))
            continue
        for round_ in found:
            typer.echo()
            ranking = ", ".join(round_.get("ranking", ()))
            notes = [f"order: {ranking}"] if ranking else []
            notes += [f"paired by hand: {round_['by_hand']}"] if "by_hand" in round_ else []
            rounds_table(round_["title"], [round_], notes=notes).print()


def _trees(rounds: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rounds that are printed together: levels as long as each has half of the matches before it.

    The second of two grand finals has as many as the first.
    """
    found: list[list[dict[str, Any]]] = []
    for each in rounds:
        last = found[-1][-1] if found else each
        is_next = len(last["matches"]) == 2 * len(each["matches"])
        if last["kind"] == each["kind"] == LEVEL and is_next:
            found[-1].append(each)
        else:
            found.append([each])
    return found


def rounds_table(title: str, rounds: Sequence[dict[str, Any]], *, notes: Sequence[str] = ()) -> ResultTable:
    """A row for each match; `round` is a column if there are several, `decided by` if there were ties."""
    several = len(rounds) > 1
    decided = any(match.get("decided_by") for round_ in rounds for match in round_["matches"])
    heads = [Column("round", is_text=True)] if several else []
    heads += [Column("match"), Column("seed 1"), Column("bot 1", is_text=True), Column("score 1")]
    heads += [Column("score 2"), Column("bot 2", is_text=True), Column("seed 2")]
    heads += [Column("winner", is_text=True), Column("state", is_text=True), Column("games", is_text=True)]
    heads += [Column("decided by", is_text=True)] if decided else []
    cells: list[list[Cell]] = []
    for round_ in rounds:
        for number, match in enumerate(round_["matches"], start=1):
            (one, other), (seed, others_seed) = match["names"], match["seeds"]
            score, others = (_number(each) if match["games"] else None for each in match["scores"])
            games = " ".join(f"g{game}" for game in match["games"]) or None
            start: list[Cell] = [round_["title"]] if several else []
            ends: list[Cell] = [match["winner"], match["state"], games]
            ends += [match.get("decided_by")] if decided else []
            cells.append([*start, number, seed, one, score, others, other, others_seed, *ends])
    return ResultTable(title, heads, cells, notes)


def bracket_lines(levels: Sequence[dict[str, Any]]) -> list[str]:
    """The tree of a bracket, whose levels each have half as many matches as the one before."""
    columns = [_column(level) for level in levels]
    final = levels[-1]["matches"][-1]
    if len(levels[-1]["matches"]) == 1:
        columns.append(("winner", [final["winner"] or "?"]))
    lines = [""] * (2 * len(columns[0][1]) - 1)
    heads = ""
    for depth, (title, slots) in enumerate(columns):
        width = max(map(len, [title, *slots]))
        left = max(map(len, lines)) if depth else 0
        heads = f"{heads:<{left}}{title}"
        rows = [(2 * place + 1) * 2**depth - 1 for place in range(len(slots))]
        for row, slot in zip(rows, slots, strict=True):
            lines[row] = f"{lines[row]:<{left}}{slot:<{width}}"
        if depth < len(columns) - 1:
            for row, sign in _connectors(rows):
                lines[row] = f"{lines[row]:<{left + width}}  {sign}  "
    return [heads.rstrip(), "", *(line.rstrip() for line in lines)]


def _connectors(rows: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Between the rows of two players the way to the row in their middle."""
    for top, bottom in zip(rows[::2], rows[1::2], strict=True):
        middle = (top + bottom) // 2
        for row in range(top, bottom + 1):
            yield row, {top: "┐", middle: "├", bottom: "┘"}.get(row, "│")


def _column(level: dict[str, Any]) -> tuple[str, list[str]]:
    """The title of a level, and its players from top to bottom, of the same width: seed, name, score."""
    players = [
        (match["seeds"][seat], name, _result(match, seat))
        for match in level["matches"]
        for seat, name in enumerate(match["names"])
    ]
    seeds = max(len(str(seed or "")) for seed, _, _ in players)
    names = max(len(_name(name, result)) for _, name, result in players)
    results = max(len(result) for _, _, result in players)
    return level["title"], [
        f"{seed or '':>{seeds}} {_name(name, result):<{names}}  {result:>{results}}"
        for seed, name, result in players
    ]


def _name(name: str | None, result: str) -> str:
    return name or ("" if result == "-" else "?")


def _result(match: dict[str, Any], seat: int) -> str:
    """The score of a seat; of one without an opponent, or without a game, why; `-` for an empty place."""
    name, state = match["names"][seat], match["state"]
    if state in ("bye", "vacant"):
        return "-" if name is None else STATES["bye"]
    if state == "walkover" and (not match["games"] or name == match["winner"]):
        return STATES["walkover"] if name == match["winner"] else ""
    if not match["games"]:
        return ""
    score, decided_by = _number(match["scores"][seat]), match.get("decided_by")
    if decided_by == "points":
        return f"{score} ({match['points'][seat]:,})"
    return f"{score} {TIES[decided_by]}" if decided_by in TIES and name == match["winner"] else score


def _number(score: float) -> str:
    """`2` and `2.5`."""
    return f"{score:g}"
