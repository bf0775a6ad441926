"""The catalogue of the pages' texts: complete in both languages, nothing unused, values in their places."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from arena_protocol.record import FaultKind
from arena_server.core.life import CLOSED, ENDINGS, PLANNED, RunState
from arena_server.core.orders import VERBS
from arena_server.core.overview import (
    AWAY,
    FREE,
    GONE,
    KICKED,
    NEVER_CONNECTED,
    NO_VERSION,
    PLAYING,
    PROBATION,
    VALIDATION,
    WITHDRAWN,
)
from arena_server.web.bundle import STATIC

from .node import Node

SOURCES = {
    str(path): path.read_text(encoding="utf-8")
    for path in STATIC.glob("js/**/*.js")
    if path.name not in ("texts.js", "bulgarian.js")
}
TAG = re.compile(r"(?<![\w$.])t`")


def skip_string(text: str, at: int) -> int:
    """The place behind the string that begins at `at`."""
    quote, at = text[at], at + 1
    while text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at + 1


def read_template(text: str, at: int) -> tuple[str, int]:
    """The template whose text begins at `at`, with {} for each value, and the place behind it."""
    key = ""
    while text[at] != "`":
        if text.startswith("${", at):
            key, at = f"{key}{{}}", skip_value(text, at + 2)
        elif text[at] == "\\":
            key, at = key + text[at + 1], at + 2
        else:
            key, at = key + text[at], at + 1
    return key, at + 1


def skip_value(text: str, at: int) -> int:
    """The place behind the `}` that ends the value which begins at `at`."""
    while text[at] != "}":
        if text[at] in "\"'":
            at = skip_string(text, at)
        elif text[at] == "`":
            at = read_template(text, at + 1)[1]
        elif text[at] == "{":
            at = skip_value(text, at + 1)
        else:
            at += 1
    return at + 1


def texts_of(source: str) -> Iterator[str]:
    for found in TAG.finditer(source):
        yield read_template(source, found.end())[0]


def test_texts_are_read_from_a_source() -> None:
    source = "a(t`one`, t`two ${f({ b: `x${'}'}` })} three ${t`four`}`, at`no`, x.t`no`)"
    assert list(texts_of(source)) == ["one", "two {} three {}", "four"]


def test_every_text_is_translated_and_every_translation_is_used(node: Node) -> None:
    used = {key for source in SOURCES.values() for key in texts_of(source)}
    assert len(used) > 250
    assert node("catalogue")["texts"].keys() == used


def test_a_translation_is_bulgarian_and_has_all_values(node: Node) -> None:
    texts = node("catalogue")["texts"]
    for key, text in texts.items():
        values = [f"<{place}>" for place in range(key.count("{}"))]
        shown = node("translated", parts=key.split("{}"), values=values)
        assert sorted(re.findall(r"<\d>", shown)) == values, key
        assert "{" not in shown
        if re.search(r"[A-Za-z]{3}", key):
            assert re.search("[а-я]", text), key
        # Texts are joined: a blank at an end is a part of them.
        assert (key[:1] == " ", key[-1:] == " ") == (text[:1] == " ", text[-1:] == " "), key


@pytest.mark.parametrize("call", ["plural", "counted"])
def test_every_counted_word_has_four_forms(node: Node, call: str) -> None:
    words = node("catalogue")["counted"]
    found = {word for text in SOURCES.values() for word in re.findall(rf'\b{call}\([^"`]*?, "(\w+)"\)', text)}
    assert found <= words.keys()
    assert all(len(forms) == 4 for forms in words.values())


def test_the_order_of_values_may_differ(node: Node) -> None:
    assert node("translated", parts=["", " of a language that has none ", ""], values=["a", "b"]) == (
        "a of a language that has none b"
    )


def test_words_of_the_api_have_names(node: Node) -> None:
    from arena_server.core.formats import FORMATS
    from arena_server.stats.tiebreaks import TIE_BREAKS
    from arena_server.store import schema

    named = node("catalogue")["named"]
    states = {value for name, value in vars(schema).items() if name.isupper() and isinstance(value, str)}
    assert states & {"running", "finished", "incomplete", "stopped", "aborted"} <= named.keys()
    assert {"complete", "win", "draw", "forfeit", "void"} <= named.keys()
    assert {kind.value for kind in FaultKind} <= named.keys()
    assert {*VERBS, *RunState, *ENDINGS, CLOSED, PLANNED} <= named.keys()
    places = (PLAYING, FREE, AWAY, GONE, PROBATION, KICKED, WITHDRAWN, VALIDATION)
    assert {*places, NEVER_CONNECTED, NO_VERSION} <= named.keys()
    assert TIE_BREAKS.keys() <= named.keys()
    assert FORMATS.keys() <= named.keys()
