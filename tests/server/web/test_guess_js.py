"""Guesses about the moves of a running game: what they score, and what the browser keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena_protocol.games.insertion import Insertion
from arena_server.store.database import ContestHeader
from arena_server.store.reader import Results
from arena_server.terms.config import ContestConfig
from arena_server.web.documents import contest_json

from ..records import Kept
from .node import Node

MOVES = ("6", "7", "6", "15", "1", "3")


def record(game: Insertion, moves: tuple[str, ...]) -> dict[str, Any]:
    deal = game.deal(5)
    position, plies = game.start(deal), []
    for number, move in enumerate(moves):
        step = game.play(position, move)
        position = step.position
        plies.append(
            {"seat": number % 2 + 1, "move": move, "points": step.points, "total": [*position.totals]}
        )
    about = {"game": "insertion", "options": game.options(), "names": ["a", "b"], "clock_ms": 1}
    return {
        **about,
        "board": deal.board,
        "sequence": deal.sequence,
        "plies": plies,
        "faults": [],
        "infos": [],
        "end": None,
        "totals": None,
    }


def test_a_guess_counts_what_it_would_have_scored(node: Node) -> None:
    game = Insertion(plies=20)
    guesses = {
        "ann": {"1": "6", "2": "3", "6": "3", "7": "1"},
        "Боби": {"3": "9"},
        "late": {"7": "5"},
        "odd": {"1": "99"},
    }
    deal = game.deal(5)
    positions = [game.start(deal)]
    for move in MOVES:
        positions.append(game.play(positions[-1], move).position)

    def points(ply: str, move: str) -> int:
        return game.play(positions[int(ply) - 1], move).points

    shown = node("guesses", record=record(game, MOVES), guesses=guesses)
    rows = {row["name"]: row for row in shown}
    assert rows.keys() == {"ann", "Боби", "odd"}, "a guess about a ply to come is not in the table"
    for name, row in rows.items():
        own = {ply: move for ply, move in guesses[name].items() if int(ply) <= len(MOVES)}
        assert row["guesses"] == len(own)
        assert row["hits"] == sum(MOVES[int(ply) - 1] == move for ply, move in own.items())
        assert row["points"] == sum(points(ply, move) for ply, move in own.items() if move != "99")
        assert row["played"] == sum(points(ply, MOVES[int(ply) - 1]) for ply in own)
    assert [(row["points"], row["hits"]) for row in shown] == sorted(
        ((row["points"], row["hits"]) for row in shown), reverse=True
    )


def test_a_browser_keeps_the_games_of_late(node: Node) -> None:
    first = [["g0", "ann", 1, "6"], ["g0", "ann", 2, "7"], ["g0", "bob", 2, "8"], ["g0", "ann", 2, "9"]]
    kept = node("guessBook", stored=None, games=first)
    assert kept == {"g0": {"ann": {"1": "6", "2": "9"}, "bob": {"2": "8"}}}
    many = [[f"g{number}", "ann", 1, "6"] for number in range(1, 55)]
    kept = node("guessBook", stored=json.dumps(kept), games=[*many, ["g54", "ann", 2, "7"]])
    assert len(kept) == 50
    assert kept["g54"] == {"ann": {"1": "6", "2": "7"}}
    assert "g0" not in kept
    assert node("guessBook", stored="damaged", games=first[:1]) == {"g0": {"ann": {"1": "6"}}}


@pytest.mark.parametrize("guesses", [True, False])
def test_the_document_of_a_contest_says_that_it_forbids_them(path: Path, guesses: bool) -> None:
    config = ContestConfig(name="trial", seed=1, guesses=guesses)
    kept = Kept(path, ContestHeader(config, {}, ("a", "b"), games=1, new=True))
    kept.start()
    kept.close("finished")
    with Results(path) as results:
        document = contest_json(results.contest())
    assert document.get("guesses") == (None if guesses else False)
