"""Every game through the referee's own machine, the client and the engines: one server, no name of a game.

The world of `test_with_the_referee` carries the lines in memory; no socket, no time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from arena_client import as_bot
from arena_client.scripted import create as scripted
from arena_engines.bot import bot_of
from arena_protocol.games import GAMES
from arena_protocol.record import GameRecord
from arena_protocol.record_codec import decode, encode
from arena_protocol.verify import verify
from arena_server.terms.config import ContestConfig

from ..client.test_with_the_referee import End, Loopback, PlayerEnd

SERVER = Path(__file__).parents[2] / "server" / "arena_server"


def contest(
    game: str, options: Mapping[str, object], bots: Mapping[str, object], games_per_pair: int = 4
) -> list[GameRecord]:
    """The records of a contest of engines (by specification) and other bots, each verified and read back."""
    ends: dict[str, End] = {
        name: PlayerEnd(as_bot(bot) if not isinstance(bot, str) else bot_of(bot, game), name)
        for name, bot in bots.items()
    }
    config = ContestConfig(
        name="test", seed=5, game=game, options=options, games_per_pair=games_per_pair, probation=0
    )
    world = Loopback(config, ends).run()
    assert world.finished == "finished"
    for record in world.records.values():
        verify(record)
        assert decode(encode(record)) == record
    return list(world.records.values())


def points(records: list[GameRecord], name: str) -> list[int]:
    return [record.totals[record.names.index(name)] for record in records if name in record.names]


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("xo", {"size": 10, "opening": 4}),
        ("xo", {"size": 14}),
        ("tictactoe", {}),
        ("tictactoe", {"size": 4, "win": 3}),
        ("disc", {"m": 30}),
        ("lastcoin", {"coins": 20}),
        ("insertion", {"plies": 12}),
    ],
)
def test_a_contest_of_any_game_runs_to_its_end(game: str, options: dict[str, object]) -> None:
    records = contest(game, options, {"a": "random:seed=1", "b": "random:seed=2", "c": "random:seed=3"}, 2)
    assert len(records) == 6
    assert {record.game for record in records} == {game}
    assert all(not record.faults for record in records)


@pytest.mark.parametrize("seats", [3, 4])
def test_insertion_with_more_seats_is_the_same_server(seats: int) -> None:
    bots = {f"bot{number}": f"random:seed={number}" for number in range(seats)}
    records = contest("insertion", {"plies": 12, "seats": seats, "start": "partial"}, bots, seats)
    assert len(records) == seats
    assert {len(record.totals) for record in records} == {seats}


def test_perfect_never_loses_on_the_server() -> None:
    rivals = {"random": "random:seed=4", "lines": "openlines:depth=2", "perfect": "perfect"}
    assert min(points(contest("tictactoe", {}, rivals), "perfect")) >= 1


@pytest.mark.soak
def test_perfect_never_loses_on_the_large_board() -> None:
    rivals = {"perfect": "perfect", "random": "random"}
    assert min(points(contest("tictactoe", {"size": 4}, rivals, 2), "perfect")) >= 1


@pytest.mark.parametrize(("game", "options", "seat"), [("disc", {"m": 13}, 1), ("lastcoin", {"coins": 7}, 2)])
def test_perfect_wins_every_won_game_on_the_server(game: str, options: dict[str, object], seat: int) -> None:
    records = contest(game, options, {"perfect": "perfect", "random": "random:seed=8"}, 8)
    won = [record for record in records if record.names[seat - 1] == "perfect"]
    assert len(won) == 4
    assert all(record.totals[seat - 1] == 2 for record in won)


def test_xo1970_beats_random_on_the_server() -> None:
    assert (
        points(contest("xo", {"opening": 2}, {"old": "xo1970", "random": "random:seed=2"}, 4), "old")
        == [2] * 4
    )


def test_who_misbehaves_forfeits_where_no_move_is_always_legal() -> None:
    for record in contest("xo", {}, {"good": "random:seed=1", "bad": scripted("illegal:ply=3")}, 2):
        bad = record.names.index("bad")
        assert (record.end, record.totals[bad], record.totals[1 - bad]) == ("forfeit", 0, 2)
        assert [fault.kind for fault in record.faults] == ["illegal"]


def test_who_misbehaves_goes_on_as_a_zombie_where_a_move_is_always_legal() -> None:
    for record in contest("lastcoin", {"coins": 9}, {"good": "perfect", "bad": scripted("illegal:ply=1")}, 2):
        bad = record.names.index("bad") + 1
        assert record.end == "win"
        assert {ply.move for ply in record.plies if ply.zombie} == {"1"}
        assert all(ply.zombie for ply in record.plies if ply.seat == bad)


def test_the_server_has_no_name_of_a_game() -> None:
    # The command line may know all; the simulation is no part of the server, and chooses what to play.
    exempt = {"cli", "simulation"}
    sources = [path for path in SERVER.rglob("*.py") if exempt.isdisjoint(path.relative_to(SERVER).parts)]
    assert len(sources) > 10
    names: set[object] = {*GAMES}
    quoted = re.compile("|".join(f"[\"']{name}[\"']" for name in GAMES))
    for path in sources:
        text = path.read_text(encoding="utf-8")
        if not quoted.search(text):
            continue  # to parse all takes a second
        for node in ast.walk(ast.parse(text)):
            assert not (isinstance(node, ast.Constant) and node.value in names), (
                f"{path}:{node.lineno}: {node.value!r}"
            )
