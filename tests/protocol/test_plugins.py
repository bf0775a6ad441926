"""Lists of plug-ins: what is built in, what packages add, and what cannot be loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_protocol.plugins import PluginError, Plugins, subclass_of


class Shape:
    name = ""


class Square(Shape):
    name = "square"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def install(folder: Path, package: str, source: str, *entries: str, group: str = "arena.games") -> None:
    """A distribution with one module and these entry points."""
    (folder / f"{package}.py").write_text(source)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *entries, ""]))


def shapes(**built_in: type[Shape] | str) -> Plugins[type[Shape]]:
    return Plugins("arena.games", {"square": Square, **built_in}, subclass_of(Shape))


ROUND = f"from {__name__} import Shape\nclass Round(Shape):\n    name = 'round'\n"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules of the plug-ins import this one by its name."""
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Shape.__module__])


def test_without_a_package_the_list_is_what_is_built_in(folder: Path) -> None:
    found = shapes()
    assert (list(found), len(found), found["square"], found.problems) == (["square"], 1, Square, [])
    assert "round" not in found
    with pytest.raises(KeyError, match="round"):
        found["round"]


def test_what_is_built_in_may_be_named_by_its_place(folder: Path) -> None:
    (folder / "lazy_round.py").write_text(ROUND)
    found = shapes(round="lazy_round:Round")
    assert "round" in found
    assert "lazy_round" not in sys.modules, "it is loaded when it is used"
    assert found["round"].name == "round"
    assert found["round"] is found["round"]


def test_a_package_adds_to_the_list(folder: Path) -> None:
    install(folder, "roundpack", ROUND, "round = roundpack:Round")
    found = shapes()
    assert "roundpack" not in sys.modules
    assert (list(found), list(found.built_in)) == (["square", "round"], ["square"])
    assert issubclass(found["round"], Shape)


def test_an_installation_in_this_process_is_seen_after_a_search(folder: Path) -> None:
    found = shapes()
    assert list(found) == ["square"]
    install(folder, "roundpack", ROUND, "round = roundpack:Round")
    assert list(found) == ["square"]
    found.search()
    assert list(found) == ["square", "round"]


@pytest.mark.parametrize(
    ("source", "entry", "cause"),
    [
        (
            "import no_such_module\n",
            "round = badpack:Round",
            "ModuleNotFoundError: No module named 'no_such_",
        ),
        ("raise SystemError('two\\nlines')\n", "round = badpack:Round", "SystemError: two lines;"),
        ("Round = 3\n", "round = badpack:Round", "TypeError: 3 is no subclass of Shape;"),
        (
            ROUND,
            "circle = badpack:Round",
            "ValueError: Round is called 'round', and its entry point 'circle';",
        ),
        (ROUND, "round = badpack:Sphere", "AttributeError: "),
    ],
)
def test_a_broken_plug_in_is_one_line_and_the_rest_loads(
    folder: Path, source: str, entry: str, cause: str
) -> None:
    install(folder, "badpack", source, entry)
    install(folder, "goodpack", ROUND.replace("round", "oval"), "oval = goodpack:Round")
    found = shapes()
    assert list(found) == ["square", "oval"]
    (line,) = found.problems
    assert line.startswith(f"arena.games: {entry} of badpack cannot be used: {cause}")
    assert line.endswith("; expected a subclass of arena_protocol.games.base.Game")
    assert "\n" not in line
    for _ in range(2):
        with pytest.raises(PluginError) as raised:
            found[entry.partition(" ")[0]]
        assert str(raised.value) == line


def test_a_name_belongs_to_what_is_built_in_then_to_the_first_package(folder: Path) -> None:
    source = ROUND.replace("round", "square")
    install(folder, "first", source + ROUND, "square = first:Round", "round = first:Round")
    install(folder, "second", ROUND, "round = second:Round")
    found = shapes()
    assert found["square"] is Square
    taken = found.problems
    assert taken[-1] == "arena.games: square of first is left out: it has the name of one that is built in"
    assert len([line for line in taken if "arena.games: round of" in line]) == 1
