"""`arena.play`: functions as players, under the referee's rules and clock."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.slices import all_of

from arena import GAMES, Deal, Game, GameError, PlayerResults, make_game, play, tally
from arena_protocol.record import FaultKind
from arena_protocol.record_codec import decode, encode
from arena_protocol.verify import verify

MS = 1_000_000


def first(game: Game[Any], position: Any) -> str:
    return game.legal_moves(position)[0]


def ticking(step_ms: int) -> Any:
    """A clock that is `step_ms` later at each reading."""
    ticks: Iterator[int] = count(0, step_ms * MS)
    return lambda: next(ticks)


@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_played_from_every_seat_and_its_records_are_true(name: str) -> None:
    chance = Random(7)

    def anyhow(game: Game[Any], position: Any) -> str:
        return chance.choice(game.legal_moves(position))

    records = list(play(anyhow, first, game=name, deals=2))
    assert [record.names for record in records] == [("a", "b"), ("b", "a")] * 2
    assert [record.game_id for record in records] == ["g1", "g2", "g3", "g4"]
    assert records[0].board == records[1].board
    for record in records:
        assert decode(encode(record)) == record
        verify(record)
        assert record.faults == ()


def test_a_player_sees_what_a_bot_sees() -> None:
    seen: list[str] = []

    def looks(game: Game[Any], position: Any) -> int:
        seen.append(position.sequence)
        return 1

    options = {"plies": 6, "lookahead": 2}
    list(play(looks, looks, deals=[5], options=options))
    sequence = make_game("insertion", options).deal(5).sequence
    assert seen == [sequence[: ply + 2] for ply in range(6)] * 2


def test_the_clock_runs_while_a_player_is_asked() -> None:
    records = list(play(first, first, options={"plies": 6}, clock=25, now=ticking(10)))
    for record in records:
        assert [ply.time_ms for ply in record.plies[:4]] == [10, 10, 10, 10]
        assert [fault.kind for fault in record.faults] == [FaultKind.TIMEOUT] * 2
        verify(record)


def test_an_illegal_answer_is_a_fault_and_counts() -> None:
    def wrong(game: Game[Any], position: Any) -> str:
        return "\udcffno\n"

    records = list(play(first, wrong, game="tictactoe"))
    assert [[fault.kind for fault in record.faults] for record in records] == [["illegal"], ["illegal"]]
    assert tally(records) == {
        "a": PlayerResults(games=2, wins=2, points=4),
        "b": PlayerResults(games=2, losses=2, faults=2),
    }
    assert (tally(records)["a"].score, PlayerResults().score) == (1.0, 0.0)


def test_deals_are_seeds_or_boards_and_games_have_numbers() -> None:
    game = make_game("tictactoe", {"board": "x../.o./..."})
    (record, _) = play(first, first, game=game, deals=[Deal("xo./xo./...")], first_game=7)
    assert (record.game_id, record.board, record.totals) == ("g7", "xo./xo./...", (2, 0))
    three = list(play(first, first, first, options={"plies": 3}, deals=[9]))
    assert [record.names for record in three] == [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]
    assert {record.seed for record in three} == {9}


@all_of(
    ("arguments", "text"),
    [
        ({"game": "chess"}, "no game 'chess'; this version has: "),
        ({"options": {"size": 3}}, "insertion has no option 'size'; it has: "),
        ({"options": {"seats": 3}}, "insertion has 3 seats here, and 2 players are given"),
        ({"clock": 0}, "clock is None, or milliseconds from 1 to 864000000, not 0"),
        (
            {"game": make_game("xo", {}), "options": {}},
            "options belong to the name of a game; this one has its own",
        ),
    ],
)
def test_what_is_impossible_is_refused_before_the_first_game(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(GameError) as caught:
        play(first, first, **arguments)
    assert str(caught.value).startswith(text)


PAGE = Path(__file__).resolve().parents[2] / "docs" / "rules-in-python.md"


def programs() -> list[str]:
    return [part.partition("```")[0] for part in PAGE.read_text(encoding="utf-8").split("```python\n")[1:]]


def test_the_loop_of_the_page_has_six_lines() -> None:
    assert len([line for line in programs()[0].splitlines() if line]) == 6


@pytest.mark.parametrize("number", range(len(programs())))
def test_the_programs_of_the_page_run(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    if "env" in programs()[number]:
        pytest.importorskip("pettingzoo", reason="needs the extra [learning]")
    exec(compile(programs()[number], f"{PAGE.name}:{number}", "exec"), {})
    assert capsys.readouterr().out
