"""Lists what is missing in the catalogues of the pages, unknown to them, or wrong: docs/languages.md.

    python tools/missing_texts.py               every language
    python tools/missing_texts.py bg xx.json    these, by code or file
    python tools/missing_texts.py --json        as an object by language
    python tools/missing_texts.py --template    a catalogue with all keys and no text

It ends with 1 if there is anything to list.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from arena_server.errors import ConfigError
from arena_server.web.languages import FOLDER, check, codes, read, template


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="List missing, unknown and wrong texts of the pages.")
    parser.add_argument("language", nargs="*", help="code of a language, or a file")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--template", action="store_true", help="print a catalogue with all keys and no text")
    given = parser.parse_args(arguments)
    if given.template:
        print(json.dumps(template(), ensure_ascii=False, indent=2))
        return 0
    found = {}
    for language in given.language or codes():
        path = Path(language) if language.endswith(".json") else FOLDER / f"{language}.json"
        try:
            found[language] = check(read(path))
        except ConfigError as error:
            print(f"missing_texts: {error}", file=sys.stderr)
            return 2
    if given.json:
        gaps = {language: [asdict(gap) for gap in each] for language, each in found.items()}
        print(json.dumps(gaps, ensure_ascii=False, indent=2))
    else:
        for language, each in found.items():
            for gap in each:
                print(f"{language}: {gap.section}: {json.dumps(gap.key, ensure_ascii=False)}: {gap.problem}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
