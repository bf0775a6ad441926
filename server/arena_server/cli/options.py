"""Arguments and options that several commands share, and the helpers to write JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

DEFAULT_DATABASE = "sqlite:///arena.db"

Config = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The contest's TOML file.", show_default=False)
]
Database = Annotated[
    str, typer.Option(metavar="URL", help="Where results are kept: sqlite:///FILE or postgresql://...")
]
ContestChoice = Annotated[
    str | None,
    typer.Option(
        "--contest", metavar="NAME|ID", help="Which contest; the latest by default.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]


def print_json(value: Any) -> None:
    """Print one JSON document on stdout."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
