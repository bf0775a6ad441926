"""Tell when an engine has become another one: a digest of the sources that it is made of.

Comments and docstrings do not count. It must not know: what is measured.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
from functools import cache

from arena_engines.registry import engine_class

#: Of these packages an engine's version is made,
OURS = ("arena_engines.", "arena_protocol.games.")
#: but of this only where speed counts: it changes no move of an engine that keeps to its depth.
COMPILER = "arena_engines.jit"
#: These engines think as long as they have time.
TIMED = ("master",)


@cache
def version(spec: str, timed: bool = False) -> str:
    """Return 12 hex digits that change with any source that the engine of a specification is made of.

    `timed`: its speed counts, so how it is compiled does too.
    """
    name = spec.partition(":")[0]
    module = inspect.getmodule(engine_class(name))
    assert module is not None, "a class has a module"
    total = hashlib.sha256()
    for source, tree in sorted(_sources(module.__name__).items()):
        if source != COMPILER or timed or name in TIMED:
            total.update(f"{source} {ast.dump(tree)}".encode())
    return total.hexdigest()[:12]


def _sources(first: str) -> dict[str, ast.Module]:
    """Return the bare sources of a module and of all of ours that it comes to import."""
    found: dict[str, ast.Module] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _bare(inspect.getsource(importlib.import_module(name)))
            nodes = ast.walk(found[name])
            imported = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
            waiting += [each for each in imported if each.startswith(OURS)]
    return found


def _bare(source: str) -> ast.Module:
    """Return a module without its docstrings; comments are gone anyhow."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:]
    return tree
