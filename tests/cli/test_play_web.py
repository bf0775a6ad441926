"""`arena play --web`: the contest it makes, and a game with a link and an engine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.server.programs import ARENA, PATIENCE_S, contest, inside

from arena_cli.play_web import config_text
from arena_protocol.games import make_game
from arena_server.config_file import parse_contest
from arena_server.store.reader import Results


@pytest.mark.parametrize("game", ["insertion", "tictactoe", "xo", "disc", "lastcoin"])
@pytest.mark.parametrize("opponent", ["person", "greedy:seed=1"])
@pytest.mark.parametrize("clock", [None, 61_500])
def test_the_contest(game: str, opponent: str, clock: int | None) -> None:
    options: dict[str, object] = {"plies": "8", "seats": "3", "start": "empty"} if game == "insertion" else {}
    rules = make_game(game, options)
    text = config_text(rules, options, opponent, clock, None)
    file = parse_contest(text, "play.toml")
    assert len(file.bot) == file.contest.games_per_pair == rules.seats
    assert [bot.person for bot in file.bot[1:]] == [opponent == "person"] * (rules.seats - 1)
    assert file.bot[0].person
    assert rules.options() == make_game(game, file.game.own_options).options()
    assert file.game.clock == (864_000_000 if clock is None else clock)
    assert file.contest.seed is None
    assert tomllib.loads(config_text(rules, options, opponent, clock, 7))["contest"]["seed"] == 7


def test_an_engine_that_does_not_exist(tmp_path: Path) -> None:
    outcome = inside("play", "insertion", "--against", "missing", "--web", cwd=tmp_path)
    assert outcome.code == 2
    assert "missing" in outcome.line


@pytest.mark.real
def test_a_game_against_an_engine(tmp_path: Path) -> None:
    from tests.server.web.persons import Person, Web

    command = [*ARENA, "play", "tictactoe", "--against", "perfect", "--web"]
    process = subprocess.Popen(
        [*command, "--database", f"sqlite:///{tmp_path}/arena.db"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ARENA_DEBUG": "1"},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "open the link in a browser; Ctrl-C ends the server\n"
        server = Web.__new__(Web)
        server.url = process.stdout.readline().removeprefix("web on ").rstrip()
        name, link = process.stdout.readline().rstrip().split(" plays at ")
        server.links = {name: link}
        person = Person(server, name)
        person.ready()
        person.play(1, "b2")
        person.until(turn=3)
        person.close()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    with Results(tmp_path / "arena.db") as results:
        (contest,) = results.contests()
        assert contest.name.startswith("play-")


@pytest.mark.real
def test_a_tournament_prints_the_link_of_a_person(tmp_path: Path) -> None:
    bots = '[[bot]]\nname = "eva"\nperson = true\n[[bot]]\nname = "greedy"\nengine = "greedy"\n'
    file = tmp_path / "c.toml"
    file.write_text(contest(bots=bots, seed=None))
    command = [*ARENA, "tournament", str(file), "--web-port", "0"]
    process = subprocess.Popen(
        [*command, "--database", f"sqlite:///{tmp_path}/arena.db"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("listening on ")
        url = process.stdout.readline().removeprefix("web on ").rstrip()
        line = process.stdout.readline().rstrip()
        assert re.fullmatch(rf"eva plays at {re.escape(url)}/play\.html#[0-9a-f]{{32}}", line)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
