"""The wheel: its top-level packages, its files, its command."""

from __future__ import annotations

import email
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("protocol", "client", "conformance", "engines", "server", "cli", "learning")
PACKAGES = {
    "arena_protocol",
    "arena_client",
    "arena_check",
    "arena_engines",
    "arena_server",
    "arena_cli",
    "arena",
}

#: All are `real`, although one starts a process, so that the same worker runs them and builds the wheel once.
pytestmark = [pytest.mark.slow, pytest.mark.real]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources: a build writes into its folder."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "*.so")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=ignored)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source / name)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (built,) = target.iterdir()
    return built


def files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.soak
def test_it_installs_the_packages_of_the_project_and_nothing_else(wheel: Path) -> None:
    top = {name.split("/")[0] for name in files(wheel)}
    assert {name for name in top if not name.endswith(".dist-info")} == PACKAGES


@pytest.mark.soak
def test_it_has_every_module(wheel: Path) -> None:
    sources = {
        path.relative_to(ROOT / folder).as_posix()
        for folder in FOLDERS
        for package in PACKAGES
        for path in (ROOT / folder / package).rglob("*.py")
    }
    assert sources
    assert sources - files(wheel) == set()


@pytest.mark.soak
def test_every_package_is_typed(wheel: Path) -> None:
    assert {f"{package}/py.typed" for package in PACKAGES} <= files(wheel)


@pytest.mark.soak
def test_an_index_can_file_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    assert "board games" in metadata["Keywords"].split(",")
    filed = metadata.get_all("Classifier", [])
    assert {"Topic :: Games/Entertainment :: Board Games", "Typing :: Typed"} <= set(filed)


@pytest.mark.soak
def test_the_command_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(wheel, tmp_path / "site", "zip")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); from arena_cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--version"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("arena ")
