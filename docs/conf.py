"""Configuration of Sphinx for `make docs`: the source folder is the repository, so that links work in both.

Sphinx reads docs/*.md, PROTOCOL.md and RULES.md where they lie; a link between them is a plain
relative Markdown link and leads to the same page on the site, in a checkout and on a code host.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

ROOT = Path(__file__).resolve().parent.parent
STATIC = ROOT / "server" / "arena_server" / "web" / "static"
sys.path[:0] = [str(ROOT / "protocol"), str(ROOT / "client")]

project = "insertion-arena"
author = "the authors of insertion-arena"
root_doc = "docs/index"
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
include_patterns = [
    "docs/*.md",
    "protocol/*.md",
    "client/starters/*/README.md",
    "benchmarks/seed_claims.md",
    "benchmarks/match_speed/results.md",
    "benchmarks/rivals/results.md",
    "benchmarks/referee/*.md",
]
exclude_patterns = [
    ".*",
    "build",
    "tests",
    "conformance",
    "engines",
    "server",
    "cli",
    "learning",
    "tools",
    "examples",
    "**/*.egg-info",
]
suppress_warnings = [
    "myst.header",  # the page of faults has headings of level 3 below its title
    "toc.no_title",  # benchmarks/rivals/results.md is a bare table
]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

default_role = "code"  # docstrings write code in single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": True}
python_use_unqualified_type_names = True

#: What of the theme has which colour of the pages, whose style sheet is the one home of colours.
COLOURS = {
    "color-background-primary": "bg",
    "color-background-secondary": "panel",
    "color-background-hover": "cell",
    "color-background-border": "line",
    "color-foreground-primary": "ink",
    "color-foreground-secondary": "soft",
    "color-foreground-muted": "soft",
    "color-foreground-border": "frame",
    "color-brand-primary": "accent",
    "color-brand-content": "accent",
    "color-brand-visited": "s4",
    "color-inline-code-background": "cell",
}


def page_colours(place: int) -> dict[str, str]:
    """The variables of a theme from the style sheet of the pages; `place`: 0 light, 1 dark."""
    sheet = (STATIC / "site.css").read_text(encoding="utf-8")
    found = dict(re.findall(r"--([\w-]+): light-dark\(([^)]+)\);", sheet))
    return {name: found[colour].split(", ")[place] for name, colour in COLOURS.items()} | {
        "font-stack": "system-ui, sans-serif"
    }


html_theme = "furo"
html_theme_options = {
    "light_css_variables": page_colours(0),
    "dark_css_variables": page_colours(1),
}
html_favicon = str(STATIC / "icon.svg")
html_title = "insertion-arena"
html_copy_source = False
html_show_copyright = False
templates_path = ["_templates"]
html_additional_pages = {"index": "start.html"}  # the first page is docs/index.html
html_use_index = True


def indented_is_literal(lines: list[str]) -> list[str]:
    """Mark the indented blocks of a docstring as literal; reStructuredText would take them for quotations."""
    marked: list[str] = []
    inside = False
    for line in lines:
        indented = line.startswith("    ")
        if line.strip() and indented != inside:
            inside = indented
            if indented and not (marked and marked[-1]):
                marked += ["::", ""]
        marked.append(line)
    return marked


#: The languages of the project's own blocks, which have no colours.
PLAIN = ("kinds", "lines", "transcript")


def setup(app: Any) -> None:
    """Extend Sphinx; it calls this function when it starts."""

    def process(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
        lines[:] = indented_is_literal(lines)

    for name in PLAIN:
        app.add_lexer(name, TextLexer)
    app.connect("autodoc-process-docstring", process)
