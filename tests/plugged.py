"""Packages with plug-ins for the tests, in the form that pip installs: modules and a dist-info folder."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena_cli.app import ALL_COMMANDS
from arena_engines import registry
from arena_protocol.games import GAMES
from arena_protocol.plugins import Plugins
from arena_server.places.launchers import LAUNCHERS
from arena_server.stats.tiebreaks import TIE_BREAKS

#: All lists of plug-ins.
LISTS: tuple[Plugins[Any], ...] = (GAMES, registry.OUTSIDE, ALL_COMMANDS, TIE_BREAKS, LAUNCHERS)


def install(folder: Path, project: Path) -> None:
    """Install a package whose modules are in the folder already, by its pyproject.toml."""
    told = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    info = folder / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n"
    )
    lines = []
    for group, entries in told["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in entries.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))


@contextmanager
def plugged(folder: Path) -> Iterator[None]:
    """Search this folder, too, for packages and plug-ins; afterwards all is as before."""
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for each in LISTS:
            each.search()
        yield
    for each in LISTS:
        each.search()
    for name in set(sys.modules) - before:
        del sys.modules[name]
