"""docs/write-a-bot.md: every program on the page is executed, and every name on it exists."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.server.programs import arena
from tests.slices import rows

from arena_client import GameView
from arena_client.scripted import create
from arena_protocol.games import make_game

from .fake_server import BYE, Connection, FakeServer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "write-a-bot.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(CONTEST,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
SECTIONS = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)

PLIES = 8
OPTIONS = {"plies": str(PLIES), "colours": "6", "lookahead": "3"}


def referee(connection: Connection) -> None:
    """Log the bot in and play a whole game against it, by the rules, from seat 2."""
    game = make_game("insertion", OPTIONS)
    deal = game.deal(2006)
    position = game.start(deal)
    options = " ".join(f"{key}={value}" for key, value in OPTIONS.items())
    connection.log_in("mybot")
    connection.send_lines(
        f"GAME g1 insertion seat=1 seats=2 names=mybot,rival {options} clock=9000 increment=0 zombie=6"
    )
    connection.send_lines(f"STATE {deal.board}", f"NEXT {game.preview(deal)}")
    connection.expect("READY g1")
    connection.send_lines("START g1")
    for ply in range(1, PLIES + 1):
        move = "6"
        if ply % 2:
            connection.send_lines(f"TURN {ply} clock=9000,9000 lag=0 credit=0")
            while (line := connection.read_line()).startswith("INFO game=g1 "):
                pass
            move = line.removeprefix("MOVE ")
        seat, step = game.to_move(position), game.play(position, move)
        position = step.position
        total = ",".join(str(points) for points in game.totals(position))
        shown = game.reveal(deal, ply)
        fields = f"time=1 clock=9000,9000 points={step.points} total={total}"
        fields += "" if shown is None else f" reveal={shown}"
        connection.send_lines(f"PLAYED {ply} seat={seat} move={move} {fields}")
    connection.send_lines(f"OVER g1 total={total} end=complete sequence={deal.sequence}", BYE)
    connection.expect_end()


@pytest.mark.real
@pytest.mark.parametrize("number", rows(range(len(PROGRAMS)), 2))
def test_the_programs_of_the_page_play_a_game(server: FakeServer, tmp_path: Path, number: int) -> None:
    program = tmp_path / "mybot.py"
    program.write_text(PROGRAMS[number], encoding="utf-8")
    server.follow(referee)
    where = {"ARENA_HOST": "127.0.0.1", "ARENA_PORT": str(server.port), "ARENA_NAME": "mybot"}
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        env={**os.environ, **where},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.fullmatch(PRINTS[number], ended.stdout), ended.stdout


PRINTS = ["", r"g1 against rival: \d+ of \d+ points\n", r"g1: \(\d+, \d+\)\n", "finished\n", "", ""]


@pytest.mark.real
@pytest.mark.soak
def test_the_programs_of_the_page_pass_a_strict_type_checker(tmp_path: Path) -> None:
    files = [tmp_path / f"program{number}.py" for number in range(len(PROGRAMS))]
    for file, program in zip(files, PROGRAMS, strict=True):
        file.write_text(program, encoding="utf-8")
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent"),
            *("--cache-dir", str(tmp_path / "cache"), *map(str, files)),
        ],
        env={**os.environ, "MYPYPATH": f"{ROOT / 'protocol'}:{ROOT / 'client'}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout


def test_every_way_has_its_program() -> None:
    assert len(PROGRAMS) == len(PRINTS) == SECTIONS.index("How a bot ends")


def test_the_first_game_takes_at_most_20_lines_and_3_commands() -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.split("\n## ")[1], re.DOTALL | re.MULTILINE)
    (program, contest, commands) = [(kind, body.splitlines()) for kind, body in blocks[:3]]
    assert (program[0], contest[0], commands[0]) == ("python", "toml", "")
    assert len(program[1]) + len(contest[1]) <= 20
    assert len(commands[1]) <= 3


@pytest.mark.real
def test_the_first_contest_of_the_page_is_played(tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(PROGRAMS[0], encoding="utf-8")
    (tmp_path / "try.toml").write_text(CONTEST, encoding="utf-8")
    bin_folder = Path(sys.executable).parent
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    ended = arena("tournament", "try.toml", cwd=tmp_path, env={"PATH": path})
    assert ended.code == 0, ended.err
    assert re.search(r"\bmine\b.* -\s*$", ended.out, re.MULTILINE), ended.out


def test_the_socket_bot_is_the_starter() -> None:
    starter = ROOT / "client" / "starters" / "python" / "bot.py"
    assert PROGRAMS[5] == starter.read_text(encoding="utf-8")


def test_the_table_names_every_property_of_a_view() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    public = {name for name, _ in inspect.getmembers(GameView) if not name.startswith("_")}
    assert named == public - {"of", "after"}


def test_the_configuration_on_the_page_is_toml() -> None:
    mine = {"name": "mine", "command": ["python", "mybot.py"]}
    assert tomllib.loads(CONTEST)["bot"] == [mine, {"name": "greedy", "engine": "greedy"}]


def test_the_scripted_bots_on_the_page_exist() -> None:
    sentence = PAGE[PAGE.index("`arena_client.scripted`") :]
    for spec in re.findall(r"`([a-z:=-]+)`", sentence):
        create(spec)
