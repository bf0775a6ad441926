"""Bots that are started as processes: their commands, and compiling engines before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_cli import local_bots
from arena_cli.local_bots import (
    check_command,
    compile_engines,
    is_command,
    local_bot,
    parse_command,
    server_environment,
)
from arena_engines.jit import WAITING
from arena_server.errors import ArenaError, ConfigError


@pytest.mark.parametrize("text", ["python mybot.py", "./new", "bots/old", "sh -c 'exit 3'"])
def test_a_blank_or_a_slash_makes_a_command(text: str) -> None:
    assert is_command(text)


@all_of(
    "text",
    [
        "greedy",
        "champion:depth=5",
        "xo1970:thresholds=3.5/5",
        "weighted:k=3/1/2",
        "xo:library=my games/xo.jsonl",
    ],
)
def test_other_players_are_engines_whatever_their_parameters_hold(text: str) -> None:
    assert not is_command(text)


def test_a_file_here_with_a_dot_in_its_name_is_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not is_command("mybot.py")
    (tmp_path / "mybot.py").touch()
    (tmp_path / "greedy").touch()
    assert is_command("mybot.py")
    assert not is_command("greedy")


def test_arena_is_this_installation() -> None:
    assert parse_command("arena bot greedy", "A") == [
        sys.executable,
        "-P",
        "-m",
        "arena_cli",
        "bot",
        "greedy",
    ]


@pytest.mark.parametrize(
    ("command", "mode", "line"),
    [
        (
            "bot.py",
            0o644,
            "no program 'bot.py' on the path; for the file here: write python bot.py",
        ),
        (
            "bot.py",
            0o755,
            "no program 'bot.py' on the path; for the file here: write python bot.py",
        ),
        (
            "./bot.py",
            0o644,
            "'./bot.py' has no permission to run: write python ./bot.py",
        ),
        (
            "mybot",
            0o755,
            "no program 'mybot' on the path; for the file here: write ./mybot",
        ),
        (
            "mybot",
            0o644,
            "no program 'mybot' on the path; for the file here: "
            "chmod +x mybot, or write its interpreter before it",
        ),
        (
            "./mybot",
            0o644,
            "'./mybot' has no permission to run: chmod +x ./mybot, or write its interpreter before it",
        ),
        ("./folder", None, "expected a program, got the folder './folder'"),
    ],
)
def test_each_reason_why_a_file_does_not_start_has_its_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, mode: int | None, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if mode is None:
        (tmp_path / command).mkdir()
    else:
        (tmp_path / command).touch(mode)
    with pytest.raises(ConfigError) as caught:
        check_command([command, "{port}"], "A")
    assert str(caught.value) == f"A: {line}"


def test_a_command_is_split_like_in_a_shell_and_python_is_this_interpreter() -> None:
    assert parse_command("python 'my bot.py' {port}", "A") == [sys.executable, "my bot.py", "{port}"]
    assert parse_command("sh -c true", "A") == ["sh", "-c", "true"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("./no-such-program x", "A: no program './no-such-program' here or on the path"),
        ("python 'x", 'A: "python \'x": no closing quotation'),
        ("  ", "A: expected a program or an engine, got '  '"),
    ],
)
def test_a_command_that_cannot_be_run(text: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_command(text, "A")
    assert str(caught.value) == line


def test_the_server_gets_digests_and_no_tokens() -> None:
    one, other = local_bot("a", ["x"]), local_bot("b", ["y"])
    assert one.token != other.token
    value = server_environment([one, other])["ARENA_TOKEN_DIGESTS"]
    assert sha256(one.token.encode()).hexdigest() in value
    assert one.token not in value


class TestCompiling:
    """The process that fills the compiler's cache is replaced by a line of Python."""

    def compile(self, monkeypatch: pytest.MonkeyPatch, code: str) -> list[str]:
        shown: list[str] = []

        @contextmanager
        def step(text: str) -> Iterator[None]:
            shown.append(text)
            yield

        monkeypatch.setattr(local_bots, "ARENA", (sys.executable, "-c", code))
        compile_engines("insertion", ["dummy", "champion"], step)
        return shown

    @pytest.mark.real
    def test_it_is_shown_if_a_function_is_compiled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.compile(monkeypatch, "print('compiling little.kernel')") == ["compiling engines ..."]

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_wait_for_another_process_is_shown_as_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        shown = self.compile(monkeypatch, f"print('{WAITING} little.kernel')")
        assert shown == ["waiting for another process, which compiles engines ..."]

    @pytest.mark.real
    @pytest.mark.soak
    def test_it_is_not_shown_if_all_are_in_the_cache(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.compile(monkeypatch, "") == []

    @pytest.mark.parametrize("specs", [[], ["dummy", "greedy", "zero-based"]])
    def test_without_engines_that_compile_no_process_is_started(
        self, monkeypatch: pytest.MonkeyPatch, specs: list[str]
    ) -> None:
        monkeypatch.setattr(local_bots, "ARENA", ("./no-such-program",))
        compile_engines("insertion", specs, lambda _: pytest.fail("nothing is compiled"))

    @pytest.mark.real
    @pytest.mark.parametrize(
        ("code", "why"), [("exit('arena: no numba')", "no numba"), ("exit(3)", "status 3")]
    )
    @pytest.mark.soak
    def test_its_failure_is_quoted(self, monkeypatch: pytest.MonkeyPatch, code: str, why: str) -> None:
        with pytest.raises(ArenaError, match=rf"^the engines cannot be compiled: {why}$"):
            self.compile(monkeypatch, code)
