"""Find words that the project does not use: `python tools/wordlist.py [PATH ...]`; part of `make lint`.

Plain technical English only: a subject, a verb and the mechanism. Prints `file:line: word` for each
find and exits with status 1 if there is any. Without paths all files that git tracks are checked.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

WORDS = (
    r"who(so)?ever",
    r"(no|some|every|any)body",
    r"in vain",
    r"anew",
    r"so many",
    r"lest",
    r"fore(tell|tells|told|telling)",
    r"farewells?",
    r"reckon(s|ed|ing)?",
    r"(is|are|was|were|be|been|being|it|them|him|us) told",
    r"tells? (it|them|him|us) (of|that)",
    r"minds?",
    r"hearsay|hears|heard",
)
PATTERN = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)
SUFFIXES = (".py", ".md", ".toml", ".yml", ".html", ".js", ".css")
#: This list itself, and the games' golden data.
EXEMPT = ("tools/wordlist.py", "protocol/vectors/")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in listed.splitlines() if not name.startswith(EXEMPT)]


def files(arguments: list[str]) -> list[Path]:
    """The files to check; a folder stands for all files below it."""
    if not arguments:
        return tracked()
    found: list[Path] = []
    for path in map(Path, arguments):
        found += sorted(path.rglob("*")) if path.is_dir() else [path]
    return found


def main() -> int:
    """Check the files and return the exit status."""
    finds = 0
    for path in files(sys.argv[1:]):
        if path.suffix not in SUFFIXES and path.name not in ("Makefile", "Dockerfile"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for match in PATTERN.finditer(line):
                finds += 1
                print(f"{path}:{number}: {match.group()!r} is not plain English: {line.strip()[:80]}")
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
