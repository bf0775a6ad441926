"""The program around the commands: help, wrong command lines, Ctrl-C, bugs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import pytest
from tests.plugged import install, plugged
from tests.server.programs import ARENA, Shell

import arena_cli
from arena_cli import main
from arena_cli.app import numbers_as_arguments
from arena_cli.program import user_message
from arena_cli.streams import open_streams, outlive_readers
from arena_protocol.messages import VERSION


class TestProgram:
    def test_version(self, shell: Shell) -> None:
        outcome = shell("--version")
        assert outcome.code == 0
        assert re.fullmatch(rf"arena \d+\.\d+\.\d+, protocol {VERSION}\n", outcome.out)

    def test_every_command_has_help_with_an_example(self) -> None:
        from typer.main import get_command

        from arena_cli.app import app

        def leaves(command: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
            if not hasattr(command, "list_commands"):
                return [(path, command)]
            inner = {name: command.get_command(None, name) for name in command.list_commands(None)}
            return [leaf for name, each in inner.items() for leaf in leaves(each, (*path, name))]

        root: Any = get_command(app)
        groups = [(), ("bench",), ("explain",)]
        for path in groups:
            group = root.get_command(None, path[0]) if path else root
            assert f"Example: arena {' '.join(path)}" in group.help, path
        shown = [(path, each) for path, each in leaves(root, ()) if not each.hidden]
        assert len(shown) >= 10
        for path, command in shown:
            assert f"Example: arena {' '.join(path)}" in command.help, path

    def test_an_unknown_command(self, shell: Shell) -> None:
        outcome = shell("sreve")
        assert (outcome.code, outcome.line) == (2, "arena: no such command 'sreve' (see arena -h)")

    @pytest.mark.parametrize(
        ("command", "line"),
        [
            (("serve",), "missing argument 'FILE...' (see arena serve -h)"),
            (("bench", "nope"), "no such command 'nope' (see arena bench -h)"),
            (("standings", "--nope"), "no such option: --nope (see arena standings -h)"),
            (("replay", "g1", "--ply", "-1"), "invalid value for '--ply': "),
            (("serve", "c.toml", "--port", "70000"), "invalid value for '--port': "),
            (("admin", "penalty", "bob", "-x"), "no such option: -x (see arena admin -h)"),
            (("standings", "-1"), "got unexpected extra argument"),
            (("admin",), "missing argument 'COMMAND'. Choose from: status, orders, "),
        ],
    )
    def test_a_wrong_command_line_is_one_line(
        self, shell: Shell, command: tuple[str, ...], line: str
    ) -> None:
        outcome = shell(*command)
        assert outcome.code == 2
        assert outcome.line.startswith(f"arena: {line}")
        assert outcome.line.endswith(" -h)")

    @pytest.mark.parametrize(
        ("words", "parsed"),
        [
            ("penalty bob 1 --reason x", "penalty bob 1 --reason x"),
            ("--reason -1 penalty bob 1", "--reason -1 penalty bob 1"),
            ("penalty bob -1 --reason x", "--reason x -- penalty bob -1"),
            ("penalty --reason -2 bob -0.5 --json", "--reason -2 --json -- penalty bob -0.5"),
            ("penalty --reason=x bob -1 - -z", "--reason=x -z -- penalty bob -1 -"),
            ("penalty bob -- -1 --reason", "-- penalty bob -1 --reason"),
            ("penalty bob -1 --reason", "--reason -- penalty bob -1"),
        ],
    )
    def test_a_negative_number_is_an_argument(self, words: str, parsed: str) -> None:
        assert numbers_as_arguments(words.split(), {"--reason"}) == parsed.split()

    @pytest.mark.parametrize(
        ("order", "expected"),
        [
            (("extend", "-1"), {"verb": "extend", "target": "-1"}),
            (("shorten", "-2"), {"verb": "shorten", "target": "-2"}),
            (("registration", "-1", "ann"), {"verb": "registration", "target": "-1 ann"}),
            (("correct", "g1", "-1"), {"verb": "correct", "target": "g1 -1"}),
            (("penalty", "bob", "-1", "--reason", "late"), {"verb": "penalty", "target": "bob -1"}),
        ],
    )
    def test_an_order_with_a_negative_number_reaches_the_server(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, order: tuple[str, ...], expected: dict[str, str]
    ) -> None:
        given: list[dict[str, str]] = []

        def take(_: object, verb: str, target: str, contest: str | None, **texts: str) -> dict[str, str]:
            given.append({"verb": verb, "target": target})
            return {}

        monkeypatch.setattr("arena_cli.admin._access", lambda _: None)
        monkeypatch.setattr("arena_server.web.client.order", take)
        shell("admin", *order)
        assert given == [expected]

    @pytest.mark.parametrize("command", [(), ("bench",), ("explain",)])
    def test_without_a_command_help_is_printed(self, shell: Shell, command: tuple[str, ...]) -> None:
        outcome = shell(*command)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(f"Usage: {' '.join(('arena', *command))} ")
        assert "Example: arena " in outcome.err

    @pytest.mark.real
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
    def test_a_full_disk_is_one_line(self, here: Path) -> None:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [*ARENA, "standings"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert done.stderr == "arena: the output cannot be written: No space left on device\n"

    @pytest.mark.parametrize(
        ("ended", "code"),
        [(KeyboardInterrupt(), 130), (BaseExceptionGroup("trio", [KeyboardInterrupt()]), 130)],
    )
    def test_an_interrupted_command_prints_nothing(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, ended: BaseException, code: int
    ) -> None:
        def command(*_: object, **__: object) -> None:
            raise ended

        monkeypatch.setattr("arena_cli.standings.open_results", command)
        outcome = shell("standings")
        assert (outcome.code, outcome.out, outcome.err) == (code, "", "")

    def test_a_group_with_a_bug_in_it_is_raised(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        def command(*_: object, **__: object) -> None:
            raise BaseExceptionGroup("trio", [KeyboardInterrupt(), ZeroDivisionError()])

        monkeypatch.setattr("arena_cli.standings.open_results", command)
        monkeypatch.setattr(sys, "argv", ["arena", "standings"])
        with pytest.raises(BaseExceptionGroup, match="trio"):
            main()

    @pytest.mark.parametrize(
        ("library", "extra"),
        [("typer", "server"), ("numba", "engines"), ("trio", "trio"), ("sqlalchemy", "server")],
    )
    def test_a_missing_extra_is_one_line(self, library: str, extra: str) -> None:
        assert user_message(ModuleNotFoundError("...", name=f"{library}.inner")) == (
            f'this command needs the extra [{extra}]: run `make install` or `pip install ".[{extra}]"` in a'
            f' checkout, elsewhere `pip install "WHEEL[{extra}]"`'
        )

    def test_a_missing_extra_is_found_in_a_wrapped_error(self) -> None:
        outer = ImportError("our own words")
        outer.__cause__ = ModuleNotFoundError("...", name="trio")
        message = user_message(outer)
        assert message is not None
        assert message.startswith("this command needs the extra [trio]: ")

    @pytest.mark.real
    def test_without_its_libraries_the_program_names_the_extra(self, tmp_path: Path) -> None:
        (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('no typer', name='typer')")
        program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from arena_cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", program, "standings"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert done.stderr.startswith("arena: this command needs the extra [server]: ")
        assert len(done.stderr.splitlines()) == 1

    def test_a_path_that_no_system_takes_is_one_line(self, shell: Shell) -> None:
        outcome = shell("match", "dummy", "dummy", "--keep", "a" * 300)
        assert outcome.code == 1
        assert re.fullmatch(r"arena: \S+: File name too long\n", outcome.err)

    @pytest.mark.parametrize("words", ["watch --connect {}:1", "standings --database postgresql://{}/x"])
    def test_a_host_that_no_system_looks_up_is_one_line(self, shell: Shell, words: str) -> None:
        outcome = shell(*words.format("a" * 70).split())
        assert outcome.code == 2
        assert re.fullmatch(r"arena: no host has such a name: label .*too long\n", outcome.err)

    def test_a_bug_is_raised(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        def fault(*_: object, **__: object) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr("arena_cli.app.app", fault)
        monkeypatch.setattr(sys, "argv", ["arena"])
        with pytest.raises(RuntimeError, match="a bug"):
            arena_cli.main()

    def test_ctrl_c_ends_it_with_130(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("arena_cli.app.app", interrupted)
        outcome = shell()
        assert (outcome.code, outcome.err) == (130, "")

    def test_ctrl_c_while_a_class_is_made_prints_nothing(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Interrupts:
            def __set_name__(self, *_: object) -> None:
                raise KeyboardInterrupt

        def interrupted(*_: object, **__: object) -> None:
            type("Terms", (), {"key": Interrupts()})

        monkeypatch.setattr("arena_cli.app.app", interrupted)
        outcome = shell()
        assert (outcome.code, outcome.err) == (130, "")

    def test_ctrl_c_while_it_is_imported_prints_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Interrupts:
            def find_spec(self, name: str, *_: object) -> None:
                if name.startswith("arena_") and name != "arena_cli":
                    raise KeyboardInterrupt

        for name in [each for each in sys.modules if each.startswith("arena_")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [Interrupts(), *sys.meta_path])
        with pytest.raises(SystemExit) as ended:
            import_module("arena_cli").main()
        assert ended.value.code == 130

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_closed_stdout_is_no_error_message(self, here: Path) -> None:
        reading = subprocess.Popen(
            [*ARENA, "replay", "g1"], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert reading.stdout is not None
        reading.stdout.close()
        assert reading.stderr is not None
        with reading.stderr:
            assert reading.stderr.read() == ""
        reading.wait()


PACKAGE = """
import typer

def greet(name: str) -> None:
    \'\'\'Greet someone.

    Example: arena greet ann
    \'\'\'
    typer.echo(f"hello {name}")

tools = typer.Typer(help="Tools.")

@tools.command()
def first() -> None:
    typer.echo("the first")

@tools.command()
def second() -> None:
    typer.echo("the second")

number = 3
"""


class TestCommandsOfPackages:
    @pytest.fixture(autouse=True)
    def installed(self, tmp_path: Path) -> Iterator[None]:
        (tmp_path / "greetpack.py").write_text(PACKAGE)
        (tmp_path / "pyproject.toml").write_text(
            '[project]\nname = "greet-pack"\nversion = "1"\n[project.entry-points."arena.commands"]\n'
            'greet = "greetpack:greet"\ntools = "greetpack:tools"\nnumber = "greetpack:number"\n'
            'serve = "greetpack:greet"\n'
        )
        install(tmp_path, tmp_path / "pyproject.toml")
        with plugged(tmp_path):
            yield

    def test_they_stand_in_a_group_of_their_own_and_what_cannot_be_used_is_a_line(self, shell: Shell) -> None:
        outcome = shell("--help")
        assert outcome.code == 0
        own, added = outcome.out.split("\nPlug-ins:\n")
        assert "\nOrganisers:\n  tournament " in own
        rows = [line.split(maxsplit=1) for line in added.splitlines()]
        assert ["greet", "Greet someone."] in rows
        assert ["tools", "Tools."] in rows
        assert outcome.err.splitlines() == [
            "arena: arena.commands: number = greetpack:number of greet-pack cannot be used: TypeError: 3 is"
            " neither a function nor a typer.Typer; expected a function with the options of a command of"
            " `arena`, or a typer.Typer",
            "arena: arena.commands: serve of greet-pack is left out: it has the name of one that is built in",
        ]

    def test_they_are_called_by_their_names(self, shell: Shell) -> None:
        assert shell("greet", "ann").out == "hello ann\n"
        assert shell("tools", "second").out == "the second\n"
        outcome = shell("number")
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.line.startswith(
            "arena: arena.commands: number = greetpack:number of greet-pack cannot"
        )

    def test_other_commands_search_no_packages(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(metadata, "entry_points", None)
        assert shell("serve", "--help").code == 0
        assert shell("simulate", "--bots", "2", "--deals", "0").line.startswith("arena: ")


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_a_stream_that_is_closed_leads_nowhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, name, None)
    open_streams()
    with getattr(sys, name) as stream:
        assert not stream.isatty()
        assert stream.read() == "" if name == "stdin" else stream.write("lost")


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_lines_without_a_reader_are_lost_and_end_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with open(writing, "w", encoding="utf-8") as stream:
        for each in ("stdout", "stderr"):  # both are put back
            monkeypatch.setattr(sys, each, stream if each == name else getattr(sys, each))
        outlive_readers()
        print("listening", file=getattr(sys, name), flush=True)
        assert os.read(reading, 100) == b"listening\n"
        os.close(reading)
        for line in ("web", "x" * 100_000, "over"):
            print(line, file=getattr(sys, name), flush=True)
        assert not getattr(sys, name).isatty()
