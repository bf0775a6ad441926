"""What people read of a contest beside its name: the keys `title`, `text`, `date`, ... of `[contest]`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any, Final

#: The keys of `[contest]`, with the most characters of each.
WORDS: Final[Mapping[str, int]] = {"title": 80, "text": 1000, "date": 40, "place": 80, "organiser": 80}
LINKS: Final = "links"
KEYS: Final = (*WORDS, LINKS)
#: A URL without user name and fragment; what it may hold as a path is up to its receiver.
URL: Final = re.compile(
    r"https?://(?:[a-zA-Z0-9.-]{1,253}|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?(?:/[!-\"$-~]{0,1900})?"
)


#: Letters that are written from right to left, and what else sets that direction.
_LEFTWARD: Final = re.compile(
    "[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def apart(text: str) -> str:
    """A foreign text as a part of another one: isolated, where it would move digits and points beside it."""
    return f"\u2068{text}\u2069" if _LEFTWARD.search(text) else text


def check_word(key: str, value: object) -> str:
    """One line of text. Raises ValueError for anything else; a date may be one of TOML."""
    if key == "date" and isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    expected = "a date such as 2026-12-24, or a text" if key == "date" else "a text"
    if not isinstance(value, str) or not 0 < len(value) <= WORDS[key] or not value.isprintable():
        raise ValueError(f"expected {expected} of one line with 1 to {WORDS[key]} characters")
    return value


def check_line(text: str | None) -> str | None:
    """Text that a page shows in one line. Raises ValueError for line ends and marks of direction."""
    if text and not text.isprintable():
        raise ValueError(f"expected a text of one line without control characters, got {text!a}")
    return text


def check_links(links: dict[str, str]) -> dict[str, str]:
    """Addresses by the text of their links. Raises ValueError."""
    for text, url in links.items():
        if not 0 < len(text) <= 40 or not URL.fullmatch(url):
            expected = 'expected TEXT = "https://HOST/PATH" with at most 40 characters'
            raise ValueError(f"{expected}, got {text!r}")
    return links


def headline(name: str, about: Mapping[str, Any]) -> str:
    """What a contest is called: its title, if it has one, with its name behind it."""
    return f"{apart(about['title'])} ({name})" if "title" in about else name


def lines_about(about: Mapping[str, Any]) -> Iterator[str]:
    """The other words, a line each, for a terminal."""
    where = [about[key] for key in ("date", "place") if key in about]
    where += [f"organised by {about['organiser']}"] if "organiser" in about else []
    if where:
        yield ", ".join(where)
    if "text" in about:
        yield about["text"]
    for text, url in about.get(LINKS, {}).items():
        yield f"{text}: {url}"
