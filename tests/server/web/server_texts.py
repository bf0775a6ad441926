"""The sentences that the server sends to be shown on a page, read from its source, with {} for each value.

Those of errors stay English on the pages, and are not among them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import arena_server
from arena_server.host.waiting import HOLD_TEXTS
from arena_server.places.workers import comparison

ROOT = Path(arena_server.__file__).parent
#: Why a game of visitors ends, and why a contest waits.
SOURCES = ("web/casual.py", "web/casual_game.py", "web/casual_host.py", "host/waiting.py")


def server_texts() -> set[str]:
    found = {*comparison.TIME, *comparison.TIMEOUTS, *comparison.POINTS, *HOLD_TEXTS.values()} - {""}
    return found | {
        text for source in SOURCES for text in texts_in((ROOT / source).read_text(encoding="utf-8"))
    }


def texts_in(source: str) -> Iterator[str]:
    """The sentences of a module; one that is a value alone is another's."""
    tree = ast.parse(source)
    constants = dict(_constants(tree))
    for node in ast.walk(tree):
        for value in _shown(node):
            for each in _parts(value):
                text = _text(constants.get(each.id, each) if isinstance(each, ast.Name) else each)
                if text is not None and text.strip("{}: ;") and " " in text:
                    yield text


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def _shown(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        # Why a casual game ends: at once, and after a time.
        case ast.Call(func=ast.Attribute(attr="end" | "close"), args=[value]):
            yield value
        case ast.Call(func=ast.Attribute(attr="call_later"), args=[_, ast.Attribute(attr="end"), value]):
            yield value
        case ast.FunctionDef(name="_text" | "_hold_text", body=body):
            for inner in ast.walk(ast.Module(body, [])):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    yield inner.value


def _parts(value: ast.expr | None) -> Iterator[ast.expr]:
    """Both sides of a choice."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            yield from _parts(body)
            yield from _parts(orelse)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _parts(each)
        case ast.expr():
            yield value


def _text(value: ast.expr) -> str | None:
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in values)
    return None
