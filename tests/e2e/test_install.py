"""What the targets of the Makefile install, against what the programs need."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.slices import all_of, rows

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROJECT_NAME = PROJECT["name"]
EXTRAS = PROJECT["optional-dependencies"]
#: Refuses to import the modules and packages that are named in the file beside it.
SITECUSTOMIZE = """
import sys
from pathlib import Path

refused = set(Path(__file__).with_name("refused").read_text().split())

class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in refused:
            raise ModuleNotFoundError(f"{top} is not installed by `make tournament`", name=name)

sys.meta_path.insert(0, Refuse())
"""


def canonical(name: str) -> str:
    return name.lower().replace("_", "-")


def installed_with(*extras: str) -> set[str]:
    """The distributions that pip installs with these extras of the project."""
    found = {PROJECT_NAME}
    open_ = [Requirement(text) for extra in extras for text in EXTRAS[extra]]
    open_ += map(Requirement, PROJECT["dependencies"])
    while open_:
        each = open_.pop()
        name = canonical(each.name)
        if name not in found and (each.marker is None or each.marker.evaluate({"extra": ""})):
            found.add(name)
            open_ += map(Requirement, metadata.requires(name) or [])
    return found


#: A tournament runs its engines as programs, a match runs them itself.
RUNS = (
    ("tournament contest.toml --port 0 --no-web", "finished"),
    ("match champion:depth=1 random --deals 1 --option plies=8", "champion"),
)


@pytest.mark.real
@pytest.mark.parametrize(("arguments", "last"), rows(RUNS, 2))
def test_a_tournament_runs_with_what_its_target_installs(arguments: str, last: str, tmp_path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    target = re.search(r"^\$\(TOURNAMENT\):.*\n\t\$\(call pip,(.*)\)", makefile, re.M)
    assert target
    extras = target[1].replace("$(COMMA)", ",").split(",")
    allowed = installed_with(*extras)
    assert {"numba", "sqlalchemy"} <= allowed
    assert not {"sympy", "matplotlib", "playwright", "pytest", "trio", "pillow"} & allowed
    (tmp_path / "sitecustomize.py").write_text(SITECUSTOMIZE)
    strangers = [
        top
        for top, names in metadata.packages_distributions().items()
        if allowed.isdisjoint(map(canonical, names))
    ]
    assert {"sympy", "playwright"} <= set(strangers)
    (tmp_path / "refused").write_text(" ".join(strangers))
    (tmp_path / "contest.toml").write_text(
        '[contest]\nname = "small"\ngame = "insertion"\ngames_per_pair = 2\n[game]\nplies = 8\n'
        '[[bot]]\nname = "one"\nengine = "random"\n[[bot]]\nname = "two"\nengine = "random"\n'
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    # The processes of a tournament's bots do not get this environment.
    done = subprocess.run(
        [sys.executable, "-m", "arena_cli", *arguments.split()],
        cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert last in done.stdout
    refused = subprocess.run(
        [sys.executable, "-c", "import sympy"], env=env, capture_output=True, text=True, check=False
    )
    assert "sympy is not installed by `make tournament`" in refused.stderr


PINS = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split())


@all_of("extra", EXTRAS)
def test_the_pinned_versions_are_in_the_ranges(extra: str) -> None:
    pins = {canonical(name): version for name, version in PINS.items()}
    for requirement in map(Requirement, EXTRAS[extra]):
        if canonical(requirement.name) in pins:
            assert requirement.specifier.contains(pins[canonical(requirement.name)]), requirement


def test_make_dist_has_a_command_for_each_extra() -> None:
    assert [*runpy.run_path(str(ROOT / "tools" / "dist.py"))["COMMANDS"]] == ["none", *EXTRAS]


def test_a_library_whose_classes_are_subclassed_is_bounded_above() -> None:
    uvicorn = next(each for each in map(Requirement, EXTRAS["server"]) if each.name == "uvicorn")
    assert any(bound.operator == "<" for bound in uvicorn.specifier)


def test_the_metadata_and_the_readme_name_the_same_versions_of_python() -> None:
    versions = [each.rsplit(" ", 1)[1] for each in PROJECT["classifiers"] if "Python :: 3." in each]
    assert PROJECT["requires-python"] == f">={versions[0]}"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Python {', '.join(versions[:-1])} or {versions[-1]}, git and make" in readme
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in versions


def test_an_editable_install_has_plain_folders_in_place_of_a_hook(tmp_path: Path) -> None:
    hook = "__editable___two_1_finder"
    (tmp_path / f"{hook}.py").write_text(
        "MAPPING = {'a': '/x/left/a', 'b': '/x/right/b', 'c': '/x/right/c'}\n"
    )
    (tmp_path / "__editable__.two-1.pth").write_text(f"import {hook}; {hook}.install()")
    (tmp_path / "__editable__.one-1.pth").write_text("/x/one\n")
    write = runpy.run_path(str(ROOT / "tools" / "plain_paths.py"))["write_plain_paths"]
    for _ in range(2):
        write(tmp_path)
        found = {file.name: file.read_text() for file in tmp_path.glob("*.pth")}
        assert found == {
            "__editable__.two-1.pth": "/x/left\n/x/right\n",
            "__editable__.one-1.pth": "/x/one\n",
        }
