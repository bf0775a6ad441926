"""The languages of the pages: English, and each file of `static/languages`, which is found by itself.

A catalogue is a JSON object: `name` of the language in itself, `plurals` (its categories by
Intl.PluralRules), and translations by the English text or the word:

    texts       of the pages: t`ply ${ply} of ${all}` is "ply {} of {}"; {1} of {0} has the values the other
                way round
    counted     words behind a number, a form for each category; "game:genitive" is for {0:genitive} in a text
    words       of the protocol and the API, as "knockout"
    sentences   of the server and the boards, as "paused by the organiser"
    written     what Python writes: the page without JavaScript, the cards for a class

`check` compares one with what is asked for; an empty translation counts as missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from arena_server.errors import ConfigError
from arena_server.web.said import SENTENCES, WORDS, WRITTEN

STATIC: Final = Path(__file__).parent / "static"
FOLDER: Final = STATIC / "languages"
ENGLISH: Final = "en"
#: What a page needs of a catalogue.
_OF_PAGES: Final = ("texts", "counted", "words", "sentences")
SECTIONS: Final = (*_OF_PAGES, "written")
_TAG: Final = re.compile(r"(?<![\w$.])t`")
_VALUE: Final = re.compile(r"\{(\d?)(?::(\w+))?\}")


@cache
def codes() -> tuple[str, ...]:
    """The codes of all languages but English."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def all_codes() -> tuple[str, ...]:
    return (ENGLISH, *codes())


@cache
def _of(code: str) -> dict[str, Any]:
    return read(FOLDER / f"{code}.json")


def read(path: Path) -> dict[str, Any]:
    """A catalogue. Raises ConfigError for a file that is none."""
    try:
        catalogue = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: expected a catalogue, a JSON file: {error}") from error
    sections = ("counted", *(name for name in SECTIONS if name != "counted"))
    if not isinstance(catalogue, dict) or not isinstance(catalogue.get("name"), str):
        raise ConfigError(f"{path}: expected an object with the name of the language")
    for section in sections:
        entries = catalogue.setdefault(section, {})
        kind = dict if section == "counted" else str
        if not isinstance(entries, dict) or not all(isinstance(each, kind) for each in entries.values()):
            what = "forms by category" if section == "counted" else "texts"
            raise ConfigError(f"{path}: {section}: expected an object of {what}")
    return catalogue


def name(code: str) -> str:
    """What a language is called in itself."""
    return "English" if code == ENGLISH else str(_of(code)["name"])


def of_pages(code: str, scripts: Iterable[str] | None = None) -> dict[str, Any]:
    """The sections of a catalogue that a page needs; of the texts, those that stand in `scripts`, or all."""
    catalogue = {section: _of(code)[section] for section in _OF_PAGES}
    if scripts is not None:
        used = {key for script in scripts for key in texts_of(script)}
        catalogue["texts"] = {key: text for key, text in catalogue["texts"].items() if key in used}
    return catalogue


def written(code: str, text: str) -> str:
    """A text that Python writes, in a language; English where the catalogue has none."""
    return text if code == ENGLISH else str(_of(code)["written"].get(text) or text)


@dataclass(frozen=True, slots=True)
class Gap:
    """What a catalogue has of `key` in `section`: "missing", "unknown", or what is wrong."""

    section: str
    key: str
    problem: str


def asked() -> dict[str, set[str]]:
    """The keys that a complete catalogue has, by section."""
    scripts = {path: path.read_text(encoding="utf-8") for path in sorted((STATIC / "js").glob("**/*.js"))}
    texts = {key for source in scripts.values() for key in texts_of(source)}
    block = re.search(r"COUNTED = \{(.*?)\};", scripts[STATIC / "js" / "texts.js"], re.DOTALL)
    assert block is not None
    counted = set(re.findall(r"(\w+): \[", block[1]))
    return {
        "texts": texts,
        "counted": counted,
        "words": {*WORDS},
        "sentences": {*SENTENCES},
        "written": {*WRITTEN},
    }


def check(catalogue: Mapping[str, Any]) -> list[Gap]:
    """Everything that is missing in a catalogue, unknown to the pages, or wrong."""
    found: list[Gap] = []
    plurals = catalogue.get("plurals", [])
    if "other" not in plurals:
        found.append(Gap("plurals", "other", "missing"))
    for section, keys in asked().items():
        entries = catalogue[section]
        found += [Gap(section, key, "missing") for key in sorted(keys) if not entries.get(key)]
        for key, entry in entries.items():
            if section == "counted":
                found += _check_forms(key, entry, plurals, key.partition(":")[0] in keys)
            elif key not in keys:
                found.append(Gap(section, key, "unknown"))
            elif entry:
                problem = _check_values(key, entry, catalogue["counted"])
                found += [Gap(section, key, problem)] if problem else []
    return found


def _check_forms(key: str, forms: Mapping[str, str], plurals: list[str], known: bool) -> Iterator[Gap]:
    if not known:
        yield Gap("counted", key, "unknown")
    for category in sorted({*plurals} ^ forms.keys() | {each for each, form in forms.items() if not form}):
        yield Gap("counted", key, f"{category}: {'missing' if category in plurals else 'unknown'}")


def _check_values(key: str, text: str, counted: Mapping[str, Any]) -> str:
    """What is wrong with the values and the ends of a translation, or nothing."""
    places = _VALUE.findall(text)
    numbers = [number or str(place) for place, (number, _) in enumerate(places)]
    if sorted(numbers) != [str(place) for place in range(key.count("{}"))]:
        return f"expected each of {key.count('{}')} values once"
    if "{" in _VALUE.sub("", text):
        return "expected {}, {0} or {0:form} for a value"
    forms = {form for _, form in places if form}
    if lacking := forms - {name.partition(":")[2] for name in counted}:
        return f"expected counted words with the form {', '.join(sorted(lacking))}"
    # Texts are joined: a blank at an end is a part of them.
    if (key[:1] == " ", key[-1:] == " ") != (text[:1] == " ", text[-1:] == " "):
        return "expected blanks at the ends as in the English text"
    return ""


def template() -> dict[str, Any]:
    """A catalogue with all keys and no translation."""
    keys = {section: dict.fromkeys(sorted(names), "") for section, names in asked().items()}
    counted = {word: {"one": "", "other": ""} for word in keys["counted"]}
    return {"name": "", "plurals": ["one", "other"]} | keys | {"counted": counted}


@cache  # each language asks for those of the same scripts, and each site of a process
def texts_of(source: str) -> tuple[str, ...]:
    """The texts of a script, with {} for each value."""
    return tuple(read_template(source, found.end())[0] for found in _TAG.finditer(source))


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
            key, at = f"{key}{{}}", _skip_value(text, at + 2)
        elif text[at] == "\\":
            key, at = key + text[at + 1], at + 2
        else:
            key, at = key + text[at], at + 1
    return key, at + 1


def _skip_value(text: str, at: int) -> int:
    """The place behind the `}` that ends the value which begins at `at`."""
    while text[at] != "}":
        if text[at] in "\"'":
            at = skip_string(text, at)
        elif text[at] == "`":
            at = read_template(text, at + 1)[1]
        elif text[at] == "{":
            at = _skip_value(text, at + 1)
        else:
            at += 1
    return at + 1
