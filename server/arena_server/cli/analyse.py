"""`arena analyse`: the moves, EVALs and nodes of an engine on a file of positions.

It must not know: how arguments are read and how errors are shown; the command does that.
"""

from __future__ import annotations

import json
from pathlib import Path

from arena_engines.analyse import analyse_file, text_table


def run(game: str, engine: str, depth: int, positions: Path, as_json: bool) -> str:
    """Return what the command prints. Raises EngineError, one clear line, for anything wrong."""
    analysis = analyse_file(engine, depth, positions, game)
    return json.dumps(analysis) if as_json else text_table(analysis)
