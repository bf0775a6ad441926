"""`arena play --web`: the contest it makes, and a game with a link and an engine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.forked import Arena
from tests.server.programs import PATIENCE_S, contest, inside
from tests.slices import all_of

from arena_cli.play_web import browser_games, play_in_browser
from arena_protocol.games import make_game
from arena_server.places.base import BotError
from arena_server.store.reader import Results
from arena_server.terms.config import check_numbers


@all_of("game", ["insertion", "tictactoe", "xo", "disc", "lastcoin"])
@all_of("opponent", ["person", "random:seed=1"])
@all_of("clock", [None, 61_500])
def test_the_contest(game: str, opponent: str, clock: int | None) -> None:
    options: dict[str, object] = {"plies": "8", "seats": "3", "start": "empty"} if game == "insertion" else {}
    rules = make_game(game, options)
    games = browser_games(rules, options, opponent, clock, None)
    config = games.spec.config
    check_numbers(config)
    assert len(games.spec.entrants) == config.games_per_pair == rules.seats
    assert [entrant.name for entrant in games.spec.entrants[:1]] == ["person-1"]
    assert len(games.persons) == (rules.seats if opponent == "person" else 1)
    players = {person.name for person in games.persons} | {bot.name for bot in games.bots}
    assert {entrant.name for entrant in games.spec.entrants} == players
    assert all(entrant.token_sha256 for entrant in games.spec.entrants)
    assert rules.options() == make_game(game, dict(config.options)).options()
    assert config.clock_ms == (864_000_000 if clock is None else clock)
    assert not games.spec.seeded
    seeded = browser_games(rules, options, opponent, clock, 7).spec
    assert (seeded.seeded, seeded.config.seed) == (True, 7)


def test_an_engine_that_does_not_exist(tmp_path: Path) -> None:
    outcome = inside("play", "insertion", "--against", "missing", "--web", cwd=tmp_path)
    assert outcome.code == 2
    assert "missing" in outcome.line


@pytest.mark.real
@pytest.mark.soak
def test_an_engine_that_cannot_start_ends_the_command(tmp_path: Path) -> None:
    games = browser_games(make_game("tictactoe", {}), {}, "perfect", None, None)
    crash = [sys.executable, "-c", "import sys; sys.exit('no numpy here')"]
    games = replace(games, bots=[replace(bot, command=crash) for bot in games.bots])
    with pytest.raises(BotError, match=r"^bot perfect-2 cannot start: no numpy here$"):
        play_in_browser(games, f"sqlite:///{tmp_path}/arena.db")


@pytest.mark.real
def test_a_game_against_an_engine(tmp_path: Path) -> None:
    from tests.server.web.persons import Person, Web

    command = ["play", "tictactoe", "--against", "perfect", "--web"]
    process = Arena(
        [*command, "--database", f"sqlite:///{tmp_path}/arena.db"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
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
@pytest.mark.soak
def test_a_tournament_prints_the_link_of_a_person(tmp_path: Path) -> None:
    bots = '[[bot]]\nname = "eva"\nperson = true\n[[bot]]\nname = "greedy"\nengine = "greedy"\n'
    file = tmp_path / "c.toml"
    file.write_text(contest(bots=bots, seed=None))
    command = ["tournament", str(file), "--web-port", "0"]
    process = Arena(
        [*command, "--database", f"sqlite:///{tmp_path}/arena.db"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
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
