"""Build the distributions into dist/, install each extra in an environment of its own, run a command of each.

`python tools/dist.py [EXTRA ...]`; without arguments every extra. Exits with 1 at the first that fails.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PLACE = ROOT / "build" / "dist"
#: No extra: what a bot author installs.
NONE = "none"
#: What shows that an extra is whole: arguments of `arena`, or of `python` behind a leading "python".
COMMANDS = {
    NONE: 'python -c "import arena, arena_client, arena_protocol.games"',
    "trio": 'python -c "from arena_client import trio_client"',
    "engines": "arena bot --help",
    "server": "arena simulate examples/local.toml",
    "ratings": "arena ratings --help",
    "swiss": "arena simulate build/dist/swiss.toml",
    "cluster": 'python -c "import arena_server.places.workers.cluster"',
    "postgres": 'python -c "import psycopg"',
    "symbolic": 'python -c "import sympy"',
    "figures": 'python -c "import matplotlib"',
    "pictures": "arena replay --help",
    "testing": 'python -c "import arena_protocol.testing"',
    "learning": 'python -c "import arena.aec, arena.gym"',
    "parquet": "arena export --help",
    "mcp": 'python -c "from arena_cli import agent_tools"',
    "docs": 'python -c "import furo, myst_parser, sphinx"',
    "all": "arena explain --help",
    "test": 'python -c "import pytest, playwright, hypothesis"',
}
SWISS = '[contest]\nname = "s"\nformat = "swiss"\nrounds = 2\ngames_per_pair = 2\n' + "".join(
    f'[[bot]]\nname = "b{number}"\n' for number in range(6)
)


def run(*command: str | Path) -> None:
    print("$", " ".join(map(str, command)), flush=True)
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nmake dist: the command above ended with {done.returncode}")


def build() -> list[Path]:
    """The wheels of arena and of the plug-ins of museum/, and the archive of arena's sources."""
    shutil.rmtree(DIST, ignore_errors=True)
    # What an earlier build left there would get into the wheel.
    for folder in (PLACE, ROOT / "build" / "lib", ROOT / "museum" / "build"):
        shutil.rmtree(folder, ignore_errors=True)
    PLACE.mkdir(parents=True)
    for source in (ROOT, ROOT / "museum"):
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", DIST, source)
    return sorted(DIST.glob("*.whl"))


def words(command: str, bin_: Path) -> list[str | Path]:
    program, _, rest = command.partition(" ")
    if program == "python":
        option, _, code = rest.partition(" ")
        return [bin_ / "python", option, code.strip('"')]
    return [bin_ / program, *rest.split()]


def check(extra: str, arena: Path, museum: Path) -> None:
    """Install one extra beside nothing else, and run its command."""
    place = PLACE / extra
    venv.create(place, with_pip=True)
    wheels = [arena if extra == NONE else f"{arena}[{extra}]"]
    if extra == "all":  # the plug-ins need nearly all of it
        wheels.append(museum)
    pip = [place / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--constraint", ROOT / "constraints.txt", *wheels)
    run(*words(COMMANDS[extra], place / "bin"))
    shutil.rmtree(place)


def main(wanted: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [NONE, *project["optional-dependencies"]]
    if unknown := [extra for extra in [*wanted, *extras] if extra not in COMMANDS or extra not in extras]:
        sys.exit(
            f"tools/dist.py: no command for the extra {unknown[0]!r}; expected some of {', '.join(extras)}"
        )
    museum, arena = sorted(build(), key=lambda path: path.name.startswith("insertion"))
    (PLACE / "swiss.toml").write_text(SWISS, encoding="utf-8")
    for extra in wanted or extras:
        check(extra, arena, museum)
    print(f"in dist/: {', '.join(path.name for path in sorted(DIST.iterdir()))}; all extras can be used")


if __name__ == "__main__":
    main(sys.argv[1:])
