"""`arena match` as a person types it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena_cli.app import app
from arena_cli.program import user_message

SHORT = ("--deals", "2", "--option", "plies=20", "--clock", "60s")


def arena(*arguments: str) -> tuple[str, str, str | None]:
    done = CliRunner().invoke(app, ["match", *arguments])
    error = done.exception
    message = user_message(error) if isinstance(error, Exception) else None
    return done.stdout, done.stderr, message


def test_two_engines() -> None:
    table, progress, _ = arena("greedy", "dummy", *SHORT)
    assert [line.split()[0] for line in table.splitlines()] == ["engine", "greedy", "dummy", "ratio", "no"]
    assert "in 4 games" in table
    assert "\nno Elo difference before 5 pairs; pairs won " in table
    lines = progress.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["g1", "g2", "g3", "g4"]
    assert [line.partition(" | ")[2][:12] for line in lines] == [
        f"{deals} of 2 deals" for deals in (0, 1, 1, 2)
    ]
    assert re.fullmatch(r"g2: dummy \d+, greedy \d+ \| 1 of 2 deals, points [\d.]+ : [\d.]+", lines[1])


def test_the_elo_difference_is_shown_from_five_pairs_on() -> None:
    table, progress, _ = arena("perfect", "perfect", "--game", "tictactoe", "--deals", "5", "--clock", "60s")
    *before, last = progress.splitlines()
    assert not any("Elo" in line for line in before)
    assert last.endswith("5 of 5 deals, points 1.00 : 1.00, Elo +0 (-90 to +90)")
    assert "\nElo +0 (-90 to +90); pairs won 0, even 5, lost 0" in table


def test_games_of_two_points_have_decimals() -> None:
    game = ("--game", "tictactoe", "--deals", "1", "--clock", "60s")
    _, progress, _ = arena("perfect", "perfect", *game)
    assert "g2: perfect 1, perfect 1 | 1 of 1 deals, points 1.00 : 1.00\n" in progress
    table, _, _ = arena("perfect", "random:seed=1", "random:seed=2", *game)
    cells = [line.split()[-3:] for line in table.splitlines()[1:]]
    assert all(cell == "-" or re.fullmatch(r"[012]\.\d\d", cell) for row in cells for cell in row)


def test_json_with_the_verdict_of_the_sequential_test() -> None:
    answer = json.loads(arena("greedy", "dummy", *SHORT[2:], "--deals", "30", "--sprt", "--json")[0])
    assert answer["verdict"] == "better"
    assert answer["deals"] < 30
    assert answer["points"][0] > answer["points"][1]


def test_without_deals_the_sequential_test_ends_with_a_verdict() -> None:
    table, progress, _ = arena("greedy", "dummy", *SHORT[2:], "--sprt")
    assert "; verdict: better\n" in table
    assert re.search(r" \| \d+ deals, points ", progress.splitlines()[-1])
    table, progress, _ = arena("greedy", "dummy", *SHORT[2:], "--sprt", "--deals", "20")
    assert "; verdict: open\n" in table
    assert progress.startswith(
        "match: --deals 20 leaves no room for the verdict `better`: it takes more pairs"
    )
    assert " | 20 of 20 deals, points " in progress.splitlines()[-1]


def test_the_errors_of_a_test_of_the_lead_are_chosen() -> None:
    options = ("--sprt", "--margin", "0.1", "--alpha", "0.01", "--beta", "0.2", "--json")
    answer = json.loads(arena("greedy", "dummy", *SHORT[2:], *options)[0])
    assert (answer["margin"], answer["alpha"], answer["beta"]) == (0.1, 0.01, 0.2)
    assert answer["bounds"] == [-1.599, 4.382]
    assert answer["verdict"] == "better"


def test_a_league_prints_its_cross_table() -> None:
    table, progress, _ = arena("dummy", "random:seed=1", "greedy", *SHORT)
    head, first, *others = table.splitlines()
    assert head.split()[:4] == ["mean", "points", "a", "game"]
    assert first.startswith("1 greedy")
    assert len(others) == 2
    assert len(progress.splitlines()) == 12


@pytest.mark.parametrize("players", [("greedy", "dummy"), ("greedy", "dummy", "random:seed=1")])
def test_a_line_of_json_for_each_game_and_the_answer_last(players: tuple[str, ...]) -> None:
    lines, progress, _ = arena(*players, *SHORT, "--json-lines")
    *games, answer = map(json.loads, lines.splitlines())
    assert progress == ""
    assert [game["id"] for game in games] == [f"g{at}" for at in range(1, len(games) + 1)]
    assert {name for game in games for name in game["players"]} == set(players)
    assert games[1]["standing"]["deals"] == 1
    whole = json.loads(arena(*players, *SHORT, "--json")[0])
    for each in (answer, whole):
        each.pop("most_ms", None)
    assert answer == whole


@pytest.mark.parametrize(
    ("players", "deals", "status"),
    [(("greedy", "dummy"), "30", 0), (("dummy", "greedy"), "30", 3), (("greedy", "greedy"), "2", 4)],
)
def test_the_verdict_as_an_exit_status(players: tuple[str, str], deals: str, status: int) -> None:
    match = ["match", *players, *SHORT[2:], "--deals", deals, "--sprt"]
    assert CliRunner().invoke(app, [*match, "--status"]).exit_code == status
    assert CliRunner().invoke(app, match).exit_code == 0


def test_three_engines_play_a_game_of_three_seats() -> None:
    table, progress, _ = arena("greedy", "dummy", "greedy", *SHORT, "--option", "seats=3")
    assert [line.split()[0] for line in table.splitlines()] == [
        "engine",
        "greedy",
        "dummy",
        "greedy",
        "ratio",
    ]
    assert re.fullmatch(
        r"g6: greedy \d+, greedy \d+, dummy \d+ \| 2 of 2 deals, points [\d.]+ : [\d.]+ : [\d.]+",
        progress.splitlines()[-1],
    )


def test_four_engines_play_a_league_of_three_seats() -> None:
    engines = ("greedy", "dummy", "random:seed=1", "random:seed=2")
    table, progress, _ = arena(*engines, "--deals", "1", *SHORT[2:], "--option", "seats=3")
    assert table.splitlines()[1].startswith("1 greedy")
    assert len(progress.splitlines()) == 12


def test_a_match_starts_from_the_positions_of_a_library(tmp_path: Path) -> None:
    """X wins with the only move that is left, so that seat 1 wins every game."""
    library = tmp_path / "starts.jsonl"
    library.write_text('{"game": "tictactoe", "state": "xox/oxo/ox."}\n')
    game = ("--game", "tictactoe", "--deals", "3", "--clock", "60s", "--json")
    level, _, _ = arena("random:seed=1", "perfect", *game, "--library", str(library))
    assert json.loads(level)["points"] == [1.0, 1.0]
    empty, _, _ = arena("random:seed=1", "perfect", *game)
    assert json.loads(empty)["points"] != [1.0, 1.0]
    _, _, message = arena("greedy", "dummy", "--library", str(library))
    assert message is not None
    assert "0 are of insertion with these options" in message
    _, _, message = arena("greedy", "dummy", "--book", str(tmp_path / "nowhere"))
    assert message == f"--book: cannot read {tmp_path / 'nowhere'}: No such file or directory"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("greedy",), "match: expected two players or more, got 1"),
        (
            ("greedy", "dummy", "greedy"),
            "match: expected each player of a league once, got greedy more than once",
        ),
        (("greedy", "dummy", "random", "--sprt"), "--sprt: expected 2 players, got 3"),
        (("greedy", "dummy", "--status"), "--status: expected with --sprt, whose verdict it says"),
        (("greedy", "dummy", "--web-port", "0"), "--web-port: expected with --web, whose port it is"),
        (
            ("greedy", "dummy", "random", "--web"),
            "match: expected 2 players for 2 seats with --web, got 3; arena tournament plays a round-robin",
        ),
        (("greedy", "dummy", "--option", "seats=3"), "a game of 3 seats needs 3 engines, got 2"),
        (("greedy", "dummy", "--option", "plies"), "--option: expected KEY=VALUE, got 'plies'"),
        (("greedy", "dummy", "--clock", "0s"), "--clock: expected a duration of at least 1ms"),
        (("greedy", "dummy", "--clock", "soon"), "--clock: expected a duration such as '500ms', '20s'"),
        (("greedy", "dummmy"), "no engine 'dummmy' for insertion"),
        (
            ("greedy", "dummy", "--option", "colour=4"),
            "insertion has no option 'colour'; it has: board, colours",
        ),
        (("greedy", "dummy", "--option", "colours=9"), "colours is a whole number from 3 to 7"),
    ],
)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], line: str) -> None:
    _, _, message = arena(*arguments)
    assert message is not None
    assert line in message
    assert "\n" not in message
