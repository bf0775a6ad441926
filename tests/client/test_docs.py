"""docs/write-a-bot.md: every program on the page is run as it stands, every name on it exists."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from arena_client import GameView
from arena_client.scripted import create
from arena_protocol.games import make_game

from .fake_server import BYE, Connection, FakeServer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "write-a-bot.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
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
    connection.say(
        f"GAME g1 insertion seat=1 seats=2 names=mybot,rival {options} clock=9000 increment=0 zombie=6"
    )
    connection.say(f"STATE {deal.board}", f"NEXT {game.preview(deal)}")
    connection.expect("READY g1")
    connection.say("START g1")
    for ply in range(1, PLIES + 1):
        move = "6"
        if ply % 2:
            connection.say(f"TURN {ply} clock=9000,9000 lag=0 credit=0")
            move = connection.hear().removeprefix("MOVE ")
        seat, step = game.to_move(position), game.play(position, move)
        position = step.position
        total = ",".join(str(points) for points in game.totals(position))
        shown = game.reveal(deal, ply)
        told = f"time=1 clock=9000,9000 points={step.points} total={total}"
        told += "" if shown is None else f" reveal={shown}"
        connection.say(f"PLAYED {ply} seat={seat} move={move} {told}")
    connection.say(f"OVER g1 total={total} end=complete sequence={deal.sequence}", BYE)
    connection.expect_end()


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
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
        timeout=30,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.fullmatch(PRINTS[number], ended.stdout), ended.stdout


PRINTS = ["", r"g1 against rival: \d+ of \d+ points\n", "finished\n", ""]


def test_every_way_has_its_program() -> None:
    assert len(PROGRAMS) == len(PRINTS) == len(SECTIONS) - 1


def test_the_socket_bot_is_the_starter() -> None:
    starter = ROOT / "client" / "starters" / "python" / "bot.py"
    assert PROGRAMS[3] == starter.read_text(encoding="utf-8")


def test_the_table_names_all_that_a_view_tells() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    public = {name for name, _ in inspect.getmembers(GameView) if not name.startswith("_")}
    assert named == public - {"of", "after", "hides"}


def test_the_configuration_on_the_page_is_toml() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert tomllib.loads(block) == {"bot": [{"name": "mine", "command": ["python", "mybot.py"]}]}


def test_the_scripted_bots_on_the_page_exist() -> None:
    sentence = PAGE[PAGE.index("`arena_client.scripted`") :]
    for spec in re.findall(r"`([a-z:=-]+)`", sentence):
        create(spec)
