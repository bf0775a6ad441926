"""`arena bench search`: what a search costs, and the signature of its node counts.

It must not know: how arguments are read and how errors are shown; the command does that.
"""

from __future__ import annotations

import json

from arena_engines.bench import search_bench, text_table


def run(engine: str = "champion", depth: int = 6, as_json: bool = False) -> str:
    """Return what the command prints. Raises EngineError, one clear line, for anything wrong."""
    bench = search_bench(engine, depth)
    return json.dumps(bench) if as_json else text_table(bench)
