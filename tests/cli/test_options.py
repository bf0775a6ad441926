"""Options that are the fields of a dataclass, and the length of command functions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest
import typer
from tests.slices import all_of
from typer.testing import CliRunner

from arena_cli.options import DEFAULT_DATABASE, Database, environment_of, expanded
from arena_server.errors import ConfigError

CLI = Path(__file__).resolve().parents[2] / "cli" / "arena_cli"
MOST_LINES = 50


@dataclass(frozen=True)
class Inner:
    depth: Annotated[int, typer.Option(help="How deep.")] = 3


@dataclass(frozen=True)
class Outer:
    needed: Annotated[str, typer.Option(help="Which one.")]
    inner: Inner = field(default_factory=Inner)
    quick: Annotated[bool, typer.Option("--quick")] = False


def call(*arguments: str) -> tuple[list[object], str]:
    seen: list[object] = []

    def command(word: Annotated[str, typer.Argument()], options: Outer, last: int = 1) -> None:
        """Do it."""
        seen.extend((word, options, last))

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(expanded(command))
    return seen, CliRunner().invoke(app, arguments).output


def test_the_fields_of_a_dataclass_are_options() -> None:
    seen, _ = call("w", "--needed", "x", "--depth", "5", "--quick", "--last", "2")
    assert seen == ["w", Outer("x", Inner(5), quick=True), 2]
    seen, _ = call("w", "--needed", "x")
    assert seen == ["w", Outer("x"), 1]


def test_a_field_without_a_default_is_an_option_that_has_to_be_given() -> None:
    seen, output = call("w")
    assert seen == []
    assert "--needed" in output


def test_help_has_the_options_in_their_order() -> None:
    _, output = call("--help")
    places = [output.index(text) for text in ("Do it.", "--needed", "How deep.", "--quick", "--last")]
    assert places == sorted(places)


def test_the_database_may_stand_in_the_environment() -> None:
    def command(database: Database = DEFAULT_DATABASE) -> None:
        typer.echo(database)

    app = typer.Typer()
    app.command()(command)

    def printed(*arguments: str, **environment: str) -> str:
        return CliRunner().invoke(app, arguments, env=environment).output.strip()

    assert printed() == DEFAULT_DATABASE
    assert printed(ARENA_DATABASE="postgresql://host/name") == "postgresql://host/name"
    assert (
        printed("--database", "sqlite:///x.db", ARENA_DATABASE="postgresql://host/name") == "sqlite:///x.db"
    )


@all_of("path", sorted(CLI.glob("*.py")))
def test_no_function_of_the_commands_is_longer_than_50_lines(path: Path) -> None:
    functions = (
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    lengths = {each.name: (each.end_lineno or 0) - each.lineno + 1 for each in functions}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_variables_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "a b")
    monkeypatch.setenv("EMPTY", "")
    assert environment_of(None) == {}
    assert environment_of(["DEPTH=3", "HERE", "EMPTY", "TEXT=a=b", "NONE="]) == {
        "DEPTH": "3",
        "HERE": "a b",
        "EMPTY": "",
        "TEXT": "a=b",
        "NONE": "",
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("=3", "--env: expected NAME=VALUE or NAME, got '=3'"),
        ("--depth", "--env: expected NAME=VALUE or NAME, got '--depth'"),
        ("ARENA_NAME=me", "--env: ARENA_NAME: the variables ARENA_... are set by the referee"),
        ("NOT_HERE", "--env: NOT_HERE is not set here; write NOT_HERE=VALUE"),
    ],
)
def test_what_is_no_variable(monkeypatch: pytest.MonkeyPatch, text: str, line: str) -> None:
    monkeypatch.delenv("NOT_HERE", raising=False)
    with pytest.raises(ConfigError) as caught:
        environment_of([text])
    assert str(caught.value) == line
