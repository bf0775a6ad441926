"""Analyse a file of positions with one engine: what `arena analyse` prints.

A file holds a line `<board> <visible sequence>` a position; blank lines and lines that begin with `#`
are passed over. It must not know: any particular engine, the command line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena_engines.engine import Analysis, EngineError
from arena_engines.registry import create_engine


def analyse_file(engine: str, depth: int, path: str | Path, game: str = "insertion") -> dict[str, Any]:
    """Return the analysis of every position of a file, ready for JSON.

    The answer: `game`, `engine`, `depth`, `positions` (each `move`, `eval` as [mine, deleted, theirs] and
    `nodes`) and `seconds`, the time of the searches alone. The depth of a position ends with its
    visible pictures. Raises EngineError, one clear line, for a wrong engine or depth, for a file that
    cannot be read or holds no position, and for a bad line, named `file:line`.
    """
    player = create_engine(engine, game)
    if not 1 <= depth <= player.max_depth:
        raise EngineError(f"depth={depth}: expected 1..{player.max_depth}")
    positions = list(_read(Path(path)))
    if not positions:
        raise EngineError(f"{path}: no positions; expected a line `<board> <visible sequence>` for each")
    player.warm_up()
    answers = []
    for number, board, visible in positions:
        try:
            answers.append(player.analyse(board, visible, depth))
        except EngineError as error:
            raise EngineError(f"{path}:{number}: {error}") from error
    return {
        "game": game,
        "engine": engine,
        "depth": depth,
        "positions": [_printed(answer) for answer in answers],
        "seconds": round(sum(answer.seconds for answer in answers), 9),
    }


def text_table(analysis: dict[str, Any]) -> str:
    """Return the analysis as a table for a person."""
    rows = [f"{'position':>8}  {'move':>4}  {'mine':>5}  {'deleted':>7}  {'theirs':>6}  {'nodes':>12}"]
    for number, answer in enumerate(analysis["positions"], start=1):
        mine, deleted, theirs = answer["eval"]
        rows.append(
            f"{number:>8}  {answer['move']:>4}  {mine:>5}  {deleted:>7}  {theirs:>6}  {answer['nodes']:>12,}"
        )
    nodes = sum(answer["nodes"] for answer in analysis["positions"])
    rows.append(f"{nodes:,} nodes in {analysis['seconds']:.3f} s of search by {analysis['engine']}")
    return "\n".join(rows)


def _printed(answer: Analysis) -> dict[str, Any]:
    return {"move": answer.move, "eval": list(answer.eval), "nodes": answer.nodes}


def _read(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield number, board and sequence of every position."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise EngineError(f"cannot read the positions in {path}: {reason}") from error
    for number, line in enumerate(lines, start=1):
        parts = line.split()
        if not parts or line.startswith("#"):
            continue
        if len(parts) != 2:
            raise EngineError(
                f"{path}:{number}: expected `<board> <visible sequence>`, found {len(parts)} words"
            )
        yield number, parts[0], parts[1]
