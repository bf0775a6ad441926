"""One target fuzzed by atheris: `python -m tests.fuzz.guided TARGET FOLDER`, for ARENA_FUZZ_SECONDS.

The folder is for its corpus and for what it finds. Exits non-zero on a find.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]  # where it is installed

with atheris.instrument_imports(include=["arena_protocol", "arena_server", "arena_client"]):
    from tests.fuzz.targets import targets


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    target = next(each for each in targets(str(folder / "positions.txt")) if each.name == name)
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(seed)
    seconds = os.environ.get("ARENA_FUZZ_SECONDS", "20")
    flags = [sys.argv[0], f"-max_total_time={seconds}", f"-artifact_prefix={folder}/", str(corpus)]
    atheris.Setup(flags, target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
