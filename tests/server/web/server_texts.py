"""The texts that the server sends to be shown on a page, read from its source: English, {} for each value."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import arena_server
from arena_server.core.orders import ORDERS, REFUSED
from arena_server.host.waiting import HOLD_TEXTS
from arena_server.places.workers import comparison

ROOT = Path(arena_server.__file__).parent
#: Their errors reach a page. `submit.py` and `client.py` speak to programs.
SOURCES = (
    *(
        f"web/{name}.py"
        for name in ("adding", "api", "archive", "bridge", "casual", "feeds", "person", "play", "played_on")
    ),
    *(f"web/{name}.py" for name in ("ratings", "register", "security", "site")),
    *(f"core/{name}.py" for name in ("commands", "fixtures", "jury", "rulings")),
    *(f"core/{path.name}" for path in ROOT.glob("core/entrants.py")),
    *(f"core/{path.name}" for path in ROOT.glob("core/invites.py")),
    *(f"core/parts/{path.name}" for path in ROOT.glob("core/parts/*.py")),
    "host/waiting.py",
)
#: Functions of formats that an order calls while a contest runs; all else is said of a configuration.
ORDERED = (
    "parse_groups",
    "check_names",
    "check_by_hand",
    "join",
    "length",
    "longer",
    "shorter",
    "check_step",
    "late_groups",
    "check_places",
    "rule",
)
#: What is raised with a text for people, and the place of the text among the arguments.
RAISED = {
    **dict.fromkeys(
        ("NotFoundError", "SeatError", "UnavailableError", "NewcomerError", "FeedError", "NotAddedError"), 0
    ),
    **dict.fromkeys(("UnknownContestError", "CommandError", "RulingError", "_refusal"), 0),
    "HTTPException": 1,
}


def server_texts() -> set[str]:
    found = {*comparison.TIME, *comparison.TIMEOUTS, *comparison.POINTS}
    found |= {*REFUSED.values(), *HOLD_TEXTS.values(), *(kind.refused for kind in ORDERS.values())} - {""}
    found |= {text for source in SOURCES for text in texts_in((ROOT / source).read_text(encoding="utf-8"))}
    for path in (
        *ROOT.glob("core/formats/*.py"),
        ROOT / "core" / "fixtures.py",
        ROOT / "core" / "admission.py",
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name in ORDERED:
                found |= set(texts_in(ast.unparse(node), ("FormatError", "ValueError")))
    return found


def texts_in(source: str, more: Sequence[str] = ()) -> Iterator[str]:
    """The texts of a module; one that is a value alone is that of another error, and no text of its own.

    `more` are names of errors beside RAISED.
    """
    raised = RAISED | dict.fromkeys(more, 0)
    tree = ast.parse(source)
    constants = dict(_constants(tree))
    for node in ast.walk(tree):
        for value in _shown(node, raised):
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


def _shown(node: ast.AST, raised: Mapping[str, int]) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id=name), args=args) if name in raised and len(args) > raised[name]:
            yield args[raised[name]]
        # Why a casual game ends: at once, and after a time.
        case ast.Call(func=ast.Attribute(attr="end" | "close"), args=[value]):
            yield value
        case ast.Call(func=ast.Attribute(attr="call_later"), args=[_, ast.Attribute(attr="end"), value]):
            yield value
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "error":
                    yield value
        case ast.Assign(targets=[ast.Attribute(attr="_problem")], value=value):
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
