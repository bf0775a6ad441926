"""`arena texts`: what the catalogues of the pages' languages lack, have too much, or have wrong."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import Json, print_json
from arena_server.errors import ConfigError

if TYPE_CHECKING:
    from arena_server.web.languages import Gap


def command(
    languages: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LANG|FILE",
            help="Codes of languages, as bg, or files of catalogues; all languages by default.",
            show_default=False,
        ),
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a catalogue with all keys and no text instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the texts that a language of the pages lacks, has too much, or has wrong.

    A catalogue is one JSON file: docs/languages.md. A text that is missing is shown in English. The exit
    status is 1 if there is anything to list.

    Example: arena texts bg lt
    """
    from arena_server.web.languages import template as empty

    if template:
        if languages:
            raise ConfigError("--template: it is the same for every language; leave out LANG")
        # A catalogue is UTF-8, whatever the terminal has.
        typer.echo(json.dumps(empty(), ensure_ascii=False, indent=2).encode())
        return
    found = _found(languages)
    if as_json:
        print_json({language: [asdict(gap) for gap in gaps] for language, gaps in found.items()})
    else:
        for language, gaps in found.items():
            _print(language, gaps)
    if any(found.values()):
        raise typer.Exit(1)


def _found(languages: list[str] | None) -> dict[str, list[Gap]]:
    """What is to be said of each. Raises ConfigError for an unknown language and for a file that is none."""
    from arena_server.web.languages import FOLDER, check, codes, read

    found = {}
    for language in languages or codes():
        if language.endswith(".json"):
            path = Path(language)
        elif language in codes():
            path = FOLDER / f"{language}.json"
        else:
            known = ", ".join(codes())
            raise ConfigError(f"{language}: no such language; expected some of {known}, or a FILE.json")
        found[language] = check(read(path))
    return found


def _print(language: str, gaps: list[Gap]) -> None:
    for gap in gaps:
        typer.echo(f"{language}: {gap.section}: {json.dumps(gap.key, ensure_ascii=False)}: {gap.problem}")
    # "few: missing" is a form that is missing.
    last = (gap.problem.rpartition(" ")[2] for gap in gaps)
    kinds = Counter(word if word in ("missing", "unknown") else "wrong" for word in last)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    typer.echo(f"{language}: {counts or 'complete'}")
