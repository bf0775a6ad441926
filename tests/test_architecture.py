"""Which package may import which, read from the sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_protocol.session import ServerSession
from arena_server.core.peers import Bot, LineCounts, LiveGame, Peer, SeatCursor, Slot

from . import forked

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {
    "arena_protocol": ROOT / "protocol",
    "arena_client": ROOT / "client",
    "arena_engines": ROOT / "engines",
    "arena_server": ROOT / "server",
    "arena_check": ROOT / "conformance",
    "arena_cli": ROOT / "cli",
    "arena": ROOT / "learning",
    "arena_museum": ROOT / "museum",
}
MAY_IMPORT = {
    "arena_protocol": set(),
    "arena_client": {"arena_protocol"},
    "arena_engines": {"arena_protocol"},
    "arena_server": {"arena_protocol"},
    "arena_check": {"arena_protocol"},
    # Rules and games for programs that learn: no server, no client, no command.
    "arena": {"arena_protocol", "arena_engines", "arena_server"},
    "arena_cli": {"arena_protocol", "arena_client", "arena_check", "arena_engines", "arena_server", "arena"},
    # Plug-ins: nothing imports them.
    "arena_museum": {"arena_protocol", "arena_engines", "arena_server", "arena_cli"},
}
# Where an engine becomes a bot it imports the client.
EXCEPTIONS = {"arena_engines": ("bots.py", "bot.py")}
CLOCKS_AND_CHANCE = {"time", "random", "secrets"}
IO_MODULES = {"asyncio", "socket", "select", "selectors", "threading", "os", "pathlib"} | CLOCKS_AND_CHANCE


def sources(package: str) -> list[Path]:
    return sorted((FOLDERS[package] / package).rglob("*.py"))


@cache
def module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of a source."""
    return list(ast.walk(module(path)))


def imported(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


def is_exception(package: str, path: Path) -> bool:
    inside = path.relative_to(FOLDERS[package] / package)
    return inside.parts[0] in EXCEPTIONS.get(package, ())


@pytest.mark.parametrize("package", sorted(FOLDERS))
def test_a_package_imports_only_what_it_may(package: str) -> None:
    assert sources(package), f"no sources found for {package}"
    strangers = set(FOLDERS) - MAY_IMPORT[package] - {package}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(package)
        if not is_exception(package, path)
        for name in imported(path)
        if name.split(".")[0] in strangers
    ]
    assert wrong == []


def module_name(package: str, path: Path) -> str:
    parts = path.relative_to(FOLDERS[package]).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for type checking and within functions count too."""
    modules = {module_name(package, path): path for package in FOLDERS for path in sources(package)}
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                # `from package import module` needs the module, not what else is in the package.
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & set(modules)
                graph[name] |= inner or {node.module} & set(modules)
            elif isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names} & set(modules)
    assert len(list(TopologicalSorter(graph).static_order())) == len(modules)


#: The folders of the server; each may import those before it, and nothing else of the server.
FLOORS = ["errors", "stats", "terms", "core", "store", "host", "places", "webhooks", "submissions", "web"]


def test_the_arrows_between_the_folders_of_the_server_run_one_way() -> None:
    """Imports for type checking and within functions count too."""
    server = ROOT / "server" / "arena_server"
    found = {
        path.stem for path in server.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert found - {"__init__"} == set(FLOORS), "errors is the only module without a folder"
    up = [
        f"{path.relative_to(server)} imports {name}"
        for path in sources("arena_server")
        for name in imported(path)
        if (home := path.relative_to(server).parts[0].removesuffix(".py")) in FLOORS
        if name.startswith("arena_server.")
        if FLOORS.index(name.split(".")[1]) > FLOORS.index(home)
    ]
    assert up == []


def test_where_bots_run_only_the_composition_knows_the_run_of_a_host() -> None:
    """A host of a worker, of a match and of the supervisor's server is put together in three modules."""
    places = ROOT / "server" / "arena_server" / "places"
    knows = {
        str(path.relative_to(places))
        for path in places.rglob("*.py")
        if {"arena_server.host.host", "arena_server.host.run"} & set(imported(path))
    }
    assert knows == {"local.py", "reporter.py"}


@pytest.mark.parametrize("folder", ["protocol/arena_protocol", "server/arena_server/core"])
def test_the_functional_core_touches_no_socket_clock_disk_or_randomness(folder: str) -> None:
    """`testing.py` has what tests of plug-ins import: it draws examples."""
    paths = [path for path in sorted((ROOT / folder).rglob("*.py")) if path.name != "testing.py"]
    assert paths
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imported(path)
        if name.split(".")[0] in IO_MODULES
    ]
    assert wrong == []


def test_the_server_names_no_game() -> None:
    for path in sources("arena_server"):
        if not is_exception("arena_server", path):
            assert "arena_protocol.games.insertion" not in set(imported(path)), path


#: The records that change while a contest is played, each with the one module that writes it.
WRITERS: dict[type, str] = {
    ServerSession: "session.py",
    Peer: "peers.py",
    Bot: "peers.py",
    Slot: "peers.py",
    LiveGame: "peers.py",
    SeatCursor: "turns.py",
    LineCounts: "seat_lines.py",
}


def test_each_record_of_the_core_has_one_module_that_writes_it() -> None:
    """A record writes itself (`self.x = ...`); what another module writes is known by the field's name."""
    fields: dict[str, set[str]] = {}
    for record, module in WRITERS.items():
        for cls in record.__mro__:
            for name in getattr(cls, "__slots__", ()):
                fields.setdefault(name, set()).add(module)
    written = [
        (path.name, line, name)
        for path in sorted((ROOT / "server" / "arena_server" / "core").rglob("*.py"))
        for line, name in attributes_written(path)
        if name in fields
    ]
    assert {name for _, _, name in written} >= {"line", "turn", "unasked", "muted"}, (
        "it finds what is written"
    )
    assert [each for each in written if each[0] not in fields[each[2]]] == []


def attributes_written(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each attribute of another object that a module assigns, or a part of it."""
    for node in nodes(path):
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                while isinstance(each, ast.Subscript):
                    each = each.value
                if isinstance(each, ast.Attribute) and ast.unparse(each.value) != "self":
                    yield each.lineno, each.attr


#: How many class names stand in two modules: messages and the facts of the same event, the connections of the
#: two clients.
COMMON_NAMES = 7


def test_a_class_name_stands_for_one_thing() -> None:
    """Private names and modules of one package count, too."""
    homes: dict[str, set[Path]] = {}
    for package in FOLDERS:
        for path in sources(package):
            for node in module(path).body:
                if isinstance(node, ast.ClassDef):
                    homes.setdefault(node.name, set()).add(path)
    shared = sorted(name for name, paths in homes.items() if len(paths) > 1)
    assert len(shared) <= COMMON_NAMES, shared


MOST_METHODS = 25


def test_no_class_of_the_core_has_more_than_25_methods() -> None:
    large = {
        node.name: methods
        for path in sorted((ROOT / "server" / "arena_server" / "core").rglob("*.py"))
        for node in module(path).body
        if isinstance(node, ast.ClassDef)
        and (methods := sum(isinstance(each, ast.FunctionDef) for each in node.body)) > MOST_METHODS
    }
    assert large == {}


#: The longest line of the page's sources. A text alone on its line may be longer: it cannot be broken.
LINE = 120
TEXT_ALONE = re.compile(r"""\s*([?:] |return )?t?(["'`])(\\.|(?!\2).)+\2[\])};:,]*""")


@pytest.mark.parametrize("suffix", ["js", "css"])
def test_the_lines_of_the_page_are_short(suffix: str) -> None:
    paths = sorted((ROOT / "server/arena_server/web/static").rglob(f"*.{suffix}"))
    assert paths
    found = [
        f"{path.name}:{number}: {line.strip()[:60]}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LINE and not TEXT_ALONE.fullmatch(line)
    ]
    assert not found, "\n".join(found)


@all_of("module", forked.MODULES)
def test_a_module_that_the_forking_process_loads_is_there(module: str) -> None:
    """Without one of them no test that forks a command runs."""
    assert find_spec(module) is not None
