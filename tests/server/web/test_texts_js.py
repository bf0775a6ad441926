"""The catalogues of the pages: each complete, nothing unused, values in their places, counts in words."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

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
from arena_server.errors import ConfigError
from arena_server.web.languages import (
    FOLDER,
    STATIC,
    Gap,
    asked,
    check,
    codes,
    name,
    read,
    template,
    texts_of,
    written,
)
from arena_server.web.said import WORDS

from .node import Node

SOURCES = {str(path): path.read_text(encoding="utf-8") for path in STATIC.glob("js/**/*.js")}
#: A word of the language's own letters, in nearly all texts.
LETTERS = {"bg": "[а-я]", "ru": "[а-яё]"}


def catalogue(code: str) -> dict[str, Any]:
    return read(FOLDER / f"{code}.json")


def test_texts_are_read_from_a_source() -> None:
    source = "a(t`one`, t`two ${f({ b: `x${'}'}` })} three ${t`four`}`, at`no`, x.t`no`, t`a\\`b`)"
    assert list(texts_of(source)) == ["one", "two {} three {}", "four", "a`b"]


def test_every_file_of_the_folder_is_a_language() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{code}.json" for code in codes()}
    assert len(asked()["texts"]) > 250


@pytest.mark.parametrize("code", codes())
def test_a_catalogue_is_complete_and_has_nothing_else(code: str) -> None:
    assert check(catalogue(code)) == []
    for section in ("texts", "sentences", "written"):
        for key, text in catalogue(code)[section].items():
            if re.search(r"[A-Za-z]{3}", key):
                assert re.search(LETTERS.get(code, "[a-zà-ž]"), text), key


@pytest.mark.parametrize("code", codes())
def test_the_categories_are_those_of_the_language(code: str, node: Node) -> None:
    counts = [*range(130), 1000, 10**6]
    categories, found = node("plurals", code=code, counts=counts)
    assert sorted(catalogue(code)["plurals"]) == sorted(categories)
    assert set(found) <= set(categories)


@pytest.mark.parametrize("call", ["plural", "counted"])
def test_every_counted_word_has_forms(call: str) -> None:
    found = {word for text in SOURCES.values() for word in re.findall(rf'\b{call}\([^"`]*?, "(\w+)"\)', text)}
    assert found <= asked()["counted"]


def test_one_object_makes_numbers_and_dates() -> None:
    for path, source in SOURCES.items():
        if not path.endswith("locale.js"):
            assert not re.search(r"\bIntl\.|\.toLocale(?:Date|Time)?String\(", source), path
            # Coordinates have a point in every language: they stand in pairs.
            found = re.sub(r"\.toFixed\(1\)\}[, ]\$\{.*?\.toFixed\(1\)", "", source)
            assert not re.search(r"\.to(?:Fixed|Precision|Exponential)\(", found), path


def test_numbers_lists_and_dates_are_of_the_language(node: Node) -> None:
    asked_for = {"value": 1234567.5, "options": {"maximumFractionDigits": 1}, "names": ["ann", "bob", "cid"]}
    assert node("spoken", code="en", **asked_for) == ["1,234,567.5", "ann, bob and cid", "January 1, 1970"]
    space = "\N{NO-BREAK SPACE}"
    assert node("spoken", code="ru", **asked_for) == [
        f"1{space}234{space}567,5",
        "ann, bob и cid",
        "1 января 1970 г.",
    ]


def test_a_catalogue_that_has_gaps(node: Node) -> None:
    """A missing key is English; a value may ask for another form of what it counts."""
    forms = {"one": "partija", "few": "partijos", "many": "partijos", "other": "partijų"}
    counted = {"game": forms, "game:of": dict.fromkeys(forms, "PARTIJŲ")}
    spoken = partial(node, catalogue={"texts": {}, "counted": counted})
    assert spoken("counted", count=2, word="ply") == "plies"
    assert spoken("counted", count=1, word="game") == "partija"
    # The page itself is in English here, which has no other category.
    assert spoken("counted", count=2, word="game") == "partijų"
    one, two = [1, "game"], [2, "game"]
    assert spoken("placed", text="{1:of} {0}", values=["a", one]) == "1 PARTIJŲ a"
    assert spoken("placed", text="{} {:no}", values=[one, two]) == "1 partija 2 partijų"
    assert spoken("placed", text="{1} of no {0:of}", values=["a", "b"]) == "b of no a"


def complete() -> dict[str, Any]:
    found = catalogue("bg")
    assert check(found) == []
    return found


@pytest.mark.parametrize(
    ("section", "key", "entry", "problem"),
    [
        ("texts", "{} of {}", "", "missing"),
        ("texts", "no such text", "x", "unknown"),
        ("texts", "{} of {}", "{}", "expected each of 2 values once"),
        ("texts", "{} of {}", "{0} {0}", "expected each of 2 values once"),
        ("texts", "{} of {}", "{0} {1} {x", "expected {}, {0} or {0:form} for a value"),
        ("texts", "{} of {}", "{0:of} {1}", "expected counted words with the form of"),
        ("texts", " in {} waves", "x {}", "expected blanks at the ends as in the English text"),
        ("words", "swiss", "", "missing"),
        ("counted", "game", {"one": "x", "other": ""}, "other: missing"),
        ("counted", "game", {"one": "x", "few": "y", "other": "z"}, "few: unknown"),
        ("counted", "nothing", {"one": "x", "other": "y"}, "unknown"),
    ],
)
def test_what_is_wrong_is_found(section: str, key: str, entry: object, problem: str) -> None:
    wrong = complete()
    wrong[section][key] = entry
    assert check(wrong) == [Gap(section, key, problem)]


def test_a_catalogue_says_its_categories() -> None:
    wrong = complete() | {"plurals": []}
    assert check(wrong)[0] == Gap("plurals", "other", "missing")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", "expected a catalogue, a JSON file: "),
        ("[]", "expected an object with the name of the language"),
        ('{"name": "x", "texts": {"a": 1}}', "texts: expected an object of texts"),
        ('{"name": "x", "counted": {"a": "b"}}', "counted: expected an object of forms by category"),
    ],
)
def test_a_file_that_is_no_catalogue(text: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "xx.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(f"{path}: {line}")):
        read(path)


def test_a_template_has_all_keys_and_no_text(tmp_path: Path) -> None:
    path = tmp_path / "xx.json"
    path.write_text(json.dumps(template()), encoding="utf-8")
    found = check(read(path))
    assert {each.problem for each in found} == {"missing", "one: missing", "other: missing"}
    assert {(each.section, each.key) for each in found} >= {
        (section, key) for section, keys in asked().items() for key in keys if section != "counted"
    }


def test_a_language_is_called_by_its_own_name() -> None:
    assert (name("en"), name("bg")) == ("English", "Български")
    assert written("bg", "Server: {}") == "Сървър: {}"
    assert written("en", "Server: {}") == written("bg", "Server: {}").replace("Сървър", "Server")
    assert written("bg", "no such text") == "no such text"


def test_words_of_the_api_have_names() -> None:
    from arena_protocol.games import GAMES
    from arena_server.core.formats import FORMATS
    from arena_server.stats.tiebreaks import TIE_BREAKS
    from arena_server.store import schema

    named = {*WORDS}
    states = {value for name, value in vars(schema).items() if name.isupper() and isinstance(value, str)}
    assert states & {"running", "finished", "incomplete", "stopped", "aborted"} <= named
    assert {"complete", "win", "draw", "forfeit", "void"} <= named
    assert {kind.value for kind in FaultKind} <= named
    assert {*VERBS, *RunState, *ENDINGS, CLOSED, PLANNED} <= named
    places = (PLAYING, FREE, AWAY, GONE, PROBATION, KICKED, WITHDRAWN, VALIDATION)
    assert {*places, NEVER_CONNECTED, NO_VERSION} <= named
    assert TIE_BREAKS.keys() <= named
    assert FORMATS.keys() <= named
    assert {game.title for game in map(GAMES.__getitem__, GAMES)} - {""} <= named
