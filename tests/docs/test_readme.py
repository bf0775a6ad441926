"""README.md and docs/commands.md: commands and targets exist, the contest and the bot play."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ports import quiet_port
from tests.server.programs import inside
from tests.slices import all_of

from arena_cli.app import GROUPS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
ARENA = str(Path(sys.executable).with_name("arena"))


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no block of {language}"
    return found[1]


def commands() -> list[str]:
    return sorted(set(re.findall(r"`arena ((?:bench )?[a-z]+)", README + COMMANDS)))


@all_of("command", commands())
def test_every_command_that_is_named_has_help_with_an_example(command: str) -> None:
    done = inside(*command.split(), "--help")
    assert done.code == 0, done.err
    assert "Example: arena" in done.out


def test_the_page_has_every_command_in_the_group_of_the_help() -> None:
    sections = dict(re.findall(r"^## (.*)\n([^#]*)", COMMANDS, re.MULTILINE))
    for title, names in GROUPS.items():
        missing = {name for name in names if not re.search(rf"\barena {name}\b", sections[title])}
        assert missing == set(), title


def test_every_target_of_make_that_the_readme_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake ([a-z]+)", README))
    assert {"tournament", "test", "install", "help"} <= named
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in named)


def test_the_bot_of_the_readme_takes_the_most_points() -> None:
    from arena_protocol.games import make_game
    from arena_protocol.games.base import Deal

    class View:
        position = make_game("insertion", {}).start(Deal("21124/33456/42251/25221/66326", "535"))
        legal_moves = tuple(str(move) for move in range(1, 16))

    space: dict[str, object] = {"__name__": "mybot"}
    exec(block("python"), space)
    choose = space["choose"]
    assert callable(choose)
    assert View.position.gain(choose(View)) == max(map(View.position.gain, View.legal_moves))


@pytest.mark.real
def test_the_contest_of_the_readme_is_played_without_an_activated_environment(tmp_path: Path) -> None:
    """The two commands of the README, with a free port and shorter games."""
    port = str(quiet_port())
    (tmp_path / "mybot.py").write_text(block("python"), encoding="utf-8")
    text = block("toml").replace("games_per_pair = 8", "games_per_pair = 2").replace("2006", port)
    (tmp_path / "friday.toml").write_text(text.replace("plies = 200", "plies = 20"), encoding="utf-8")
    commands = re.findall(r"^(?:(\w+)=(\S+) )?\.venv/bin/arena (.*)$", README, re.MULTILINE)
    (_, _, tournament), (variable, value, bot) = commands
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    with subprocess.Popen(
        [ARENA, *tournament.split(), "--json"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        try:
            assert running.stderr is not None
            lines = iter(running.stderr)
            assert next(line for line in lines if line.startswith("listening")) == (
                f"listening on 127.0.0.1:{port}\n"
            )
            assert next(line for line in lines if "waiting for" in line)
            guest = subprocess.run(
                [ARENA, *bot.replace("2006", port).split()], cwd=tmp_path, capture_output=True, text=True,
                env={**environment, variable: value}, check=False,
            )  # fmt: skip
            assert (guest.returncode, guest.stdout) == (0, "guest leaves: finished\n"), guest.stderr
            out, err = running.communicate()
        finally:
            running.kill()
    assert running.returncode == 0, err
    standings = json.loads(out)["standings"]
    assert [(row["games"], row["faults"]) for row in standings] == [(4, {})] * 3
    assert inside("verify", cwd=tmp_path).out == "verified: 6 games\n"
    for command in re.findall(r"`arena ((?:why|replay|standings)\b[^`]*)`", README + COMMANDS):
        if "FILE" not in command and "g3" not in command:
            done = inside(*command.split(), cwd=tmp_path)
            assert done.code == 0, f"arena {command}: {done.err}"
