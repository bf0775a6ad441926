"""What people and their bots call themselves and their contests stands apart on every page.

A text from right to left would else take the digits and points beside it along. An element has it in `bdi`, a
sentence in an isolate of Unicode: t`...` sets its values apart, raw texts have `apart` and `inRow`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from arena_cli.cards import Card, sheet
from arena_cli.publish import page
from arena_cli.tables import Column, ResultTable
from arena_server.store.published import PublishedHead
from arena_server.web.languages import STATIC, read_template, skip_string
from arena_server.web.previews import contest_preview

from .node import Node

SCRIPTS = sorted((STATIC / "js").rglob("*.js"))
ARABIC = "كأس 3:1"
CLOSED = {"(": ")", "[": "]", "{": "}"}
#: An expression whose value is a text of others.
FOREIGN = re.compile(
    r"(?:\w+(?:\[[^\]]*\]|\.|\?\.))*(?:names?|bots?|team|author|owner|reason|organiser|who|by)(?:\[[^\]]+\]|\([^)]*\))?"
)
#: Of these names the values are elements of the page, made in the same function.
ELEMENTS = {
    ("casual.js", "name"),
    ("casual.js", "names"),
    ("guess.js", "this.name"),
    ("page-organiser.js", "owner"),
    ("page-organiser.js", "parts.by"),
    ("page-organiser.js", "parts.reason"),
    ("page-play.js", "name"),
    ("playon.js", "name"),
    ("stages.js", "name"),
}
#: Raw texts that no reader sees: addresses, commands, keys, and what is printed for programs.
UNSEEN = {"page-register.js", "share.js"}


def arguments(text: str, at: int, close: str) -> tuple[list[str], int]:
    """The parts between commas from `at` to `close`, and the place behind that."""
    found, begin = [], at
    while text[at] != close:
        if text[at] in "\"'":
            at = skip_string(text, at)
        elif text[at] == "`":
            at = read_template(text, at + 1)[1]
        elif text.startswith("//", at):
            at = text.index("\n", at)
        elif regex := re.compile(
            r"(?<=[(,=:?&|!] )/(?![/*])(?:\\.|\[[^]]*\]|[^/\\])+/|/\*.*?\*/", re.S
        ).match(text, at):
            at = regex.end()
        elif text[at] in CLOSED:
            at = arguments(text, at + 1, CLOSED[text[at]])[1]
        else:
            if text[at] == ",":
                found.append(text[begin:at].strip())
                begin = at + 1
            at += 1
    return [each for each in [*found, text[begin:at].strip()] if each], at + 1


def bare(script: str, source: str) -> Iterator[str]:
    """The foreign texts of a script that are children of elements without `bdi`, or parts of raw texts."""
    for call in re.finditer(r"(?<!function )\b(?:el|svg)\(", source):
        for argument in arguments(source, call.end(), ")")[0][2:]:
            for value in re.split(r"\s(?:\?|:|\?\?)\s", argument):
                if FOREIGN.fullmatch(value) and (script, value) not in ELEMENTS:
                    yield f"{script}: {value} in an element"
    yield from (
        f"{script}: {each[0]}"
        for each in re.finditer(
            r"\b(?:names|bots|stages|first)(?:\.map\(\(\w+\) => \w+\.bot\))?\.join\(", source
        )
    )
    if script not in UNSEEN:
        for text in re.findall(r"(?<![\w$])(`(?!arena|place|notices|no rules)[^`]*`)", source):
            # A key or an address has no blanks.
            if not re.search("[ :]", re.sub(r"\$\{[^{}]*\}", "", text)):
                continue
            for value in re.findall(r"\$\{([^{}]*)\}", text):
                if FOREIGN.fullmatch(value) and value != "Kind.name":
                    yield f"{script}: {value} in {text}"


def test_every_foreign_text_of_the_scripts_stands_apart() -> None:
    assert not [each for path in SCRIPTS for each in bare(path.name, path.read_text(encoding="utf-8"))]


def test_what_stands_bare_is_found() -> None:
    source = """el("a", { href }, sign(row.bot), row.bot); el("p", {}, won ? names[0] : t`x`, bdi(name));
    document.title = `${name}, ${game}`; names.join(" – "); t`${name} plays`; el("b", {}, f(a, "b"), [x])"""
    assert [*bare("x.js", source)] == [
        "x.js: row.bot in an element",
        "x.js: names[0] in an element",
        "x.js: names.join(",
        "x.js: name in `${name}, ${game}`",
    ]


def test_sentences_set_names_apart(node: Node) -> None:
    assert node("sentence", names=["ann", "Жана"], totals=[3, 1]) == "ann wins 3 : 1"
    assert node("sentence", names=[ARABIC, "ann"], totals=[3, 1]) == f"\u2068{ARABIC}\u2069 wins 3 : 1"
    assert node("sentence", names=["ann", ARABIC], totals=[2, 2]) == "a draw, 2 : 2"
    three = node("sentence", names=["ann", ARABIC, "bob"], totals=[2, 2, 1])
    assert (
        three == f"a draw of \u2068ann and \u2068{ARABIC}\u2069\u2069: ann 2, \u2068{ARABIC}\u2069 2, bob 1"
    )


class Bare(HTMLParser):
    """Collects the texts from right to left that no `bdi` and no direction of their own has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[bool] = []
        self.found: list[str] = []
        self.seen = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "br"):
            self.open.append(tag in ("bdi", "title", "style") or ("dir", "auto") in attrs)

    def handle_endtag(self, _: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.seen += ARABIC in data
        if ARABIC in re.sub("\u2068[^\u2069]*\u2069", "", data) and not any(self.open):
            self.found.append(data)


ABOUT = dict.fromkeys(("title", "text", "date", "place", "organiser"), ARABIC) | {
    "links": {ARABIC: "https://a.org"}
}
DOCUMENT: dict[str, Any] = {
    "id": 1,
    "name": "cup",
    "about": ABOUT,
    "game": "insertion",
    "game_title": "Insertion",
    "format": "swiss",
    "scoring": "points",
    "status": "running",
    "games_played": 1,
    "games": 2,
    "standings": [],
}
HEAD = PublishedHead(1, "cup", "2026-12-24T18:00:00Z", 1, "ab", "2026-12-24T18:00:00Z")


@pytest.mark.parametrize(
    "html",
    [
        page(DOCUMENT, HEAD),
        sheet(ARABIC, [Card(name="cup", author=ARABIC, secret="x")]),
        ResultTable("cup", [Column("bot", is_text=True)], [[ARABIC]], [], ARABIC, [ARABIC]).as_page(),
    ],
    ids=["publish", "cards", "table"],
)
def test_pages_that_python_writes(html: str) -> None:
    shown = Bare(html)
    assert shown.seen > 2
    assert not shown.found


def test_the_title_of_a_link_stands_apart() -> None:
    assert contest_preview(DOCUMENT).title == f"\u2068{ARABIC}\u2069 (cup)"
