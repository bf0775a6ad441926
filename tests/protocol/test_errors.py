"""The line on a library that is not installed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from arena_cli.program import _EXTRAS
from arena_protocol.errors import needs_extra
from arena_server.core.formats import FORMATS

ROOT = Path(__file__).resolve().parents[2]


def test_it_says_how_to_install_from_a_checkout() -> None:
    assert needs_extra("--gif", "pictures") == (
        '--gif needs the extra [pictures]: run `make install` or `pip install ".[pictures]"` in a checkout,'
        ' elsewhere `pip install "WHEEL[pictures]"`'
    )
    assert needs_extra("it", "parquet", in_all=False) == (
        'it needs the extra [parquet]: run `pip install ".[parquet]"` in a checkout,'
        ' elsewhere `pip install "WHEEL[parquet]"`'
    )


def test_every_extra_that_is_named_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folders = (
        ROOT / name
        for name in ("client", "conformance", "engines", "server", "cli", "learning", "museum", "benchmarks")
    )
    sources = [path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")]
    named = {extra for text in sources for extra in re.findall(r'needs_extra\(.*, "(\w+)"\)', text)}
    assert {"engines", "figures", "pictures", "postgres", "symbolic", "trio"} <= named
    named |= set(_EXTRAS.values()) | {each.EXTRA[0] for each in FORMATS.values() if each.EXTRA is not None}
    extras = project["optional-dependencies"]
    assert {"cluster", "ratings", "server", "swiss"} <= named <= set(extras)
    # `make install`, which the line names first, installs `all`.
    whole = set(extras["all"][0].partition("[")[2].rstrip("]").split(","))
    assert named <= whole
    apart = {
        extra for text in sources for extra in re.findall(r'needs_extra\(.*, "(\w+)", in_all=False\)', text)
    }
    assert apart == {"mcp", "parquet"}
    assert apart <= set(extras) - whole
