"""One running game: from a spectator's lines to the events of browsers, by a clock of the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_server.web import gamestream
from arena_server.web.gamestream import LineStream, game_of
from arena_server.web.streams import Channel

from .spectating import GAME, INFO, OFFER, OVER, PLAYED, START, STATE, ZOMBIE, join


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def a_game(*lines: bytes, clock: Callable[[], float] | None = None) -> LineStream:
    game = LineStream("g7", "e", Channel(), clock or Clock())
    for line in lines:
        game.add(line)
    return game


def test_a_viewer_gets_a_snapshot_and_then_each_event() -> None:
    clock = Clock()
    game = a_game(*OFFER, START, PLAYED[0], clock=clock)
    clock.now = 1.5
    viewer = join(game)
    ((number, kind, data),) = viewer.events()
    assert (number, kind) == ("e-2", "snapshot")
    assert data["game"]["names"] == ["ann", "bob"]
    assert (data["game"]["board"], data["game"]["sequence"]) == ("...../...../...../...../.....", "12")
    assert (data["started"], data["over"], data["since_ms"]) == (True, None, 1500)
    assert data["state"] == "...../...../...../...../1...."
    assert [ply["move"] for ply in data["plies"]] == ["6"]
    for line in (PLAYED[1], ZOMBIE, OVER):
        game.add(line)
    played, zombie, over = viewer.events()
    assert played[:2] == ("e-3", "played")
    assert played[2] == {
        "ply": 2,
        "seat": 2,
        "move": "7",
        "time_ms": 4,
        "clock": [997, 996],
        "points": 0,
        "total": [0, 0],
        "reveal": "4",
        "zombie": False,
        "state": "...../...../...../...../12...",
    }
    assert zombie == ("e-4", "zombie", {"seat": 1, "ply": 3, "kind": "illegal", "line": "4d"})
    assert over[1:] == ("over", {"end": "complete", "totals": [0, 0], "nonce": "00", "sequence": "1234"})


@all_of(
    "last",
    [
        "e-9",
        f"e-{'9' * 5000}",
        "e-10000000000",
        "e-\u0663",
        "e-²",
        "e--1",
        "e-x",
        "e-",
        "-",
        "x",
        "",
        "other-1",
    ],
)
def test_a_last_event_that_was_never_sent_gives_a_snapshot(last: str) -> None:
    viewer = join(a_game(*OFFER, START, *PLAYED), last)
    assert [kind for _, kind, _ in viewer.events()] == ["snapshot"]


def test_a_browser_that_comes_back_gets_what_it_missed() -> None:
    clock = Clock()
    game = a_game(*OFFER, START, *PLAYED, clock=clock)
    clock.now = 2
    missed = join(game, "e-1").events()
    assert [(number, kind) for number, kind, _ in missed] == [
        ("e-2", "played"),
        ("e-3", "played"),
        (None, "sync"),
    ]
    assert missed[-1][2] == {"since_ms": 2000, "plies": 2}
    assert [kind for _, kind, _ in join(game, "e-3").events()] == ["sync"]


def test_a_browser_that_missed_a_lot_gets_a_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamestream, "MISSED", 1)
    game = a_game(*OFFER, START, *PLAYED)
    assert [kind for _, kind, _ in join(game, "e-1").events()] == ["snapshot"]
    assert [kind for _, kind, _ in join(game, "e-2").events()] == ["played", "sync"]


def test_a_note_is_an_event_with_what_it_says() -> None:
    game = a_game(*OFFER, START)
    viewer = join(game)
    viewer.events()
    said = {"seat": 1, "ply": 1, "depth": 2, "eval": -30, "nodes": 9, "line": "6,7"}
    game.add(INFO)
    game.add(b"INFO game=g7 ply=1 seat=2 eval=0")
    assert viewer.events() == [
        ("e-2", "info", said | {"text": "hello game=g2"}),
        ("e-3", "info", {"seat": 2, "ply": 1, "eval": 0}),
    ]
    game.add(b"INFO game=g7 ply=1 eval=5")  # of no seat
    assert viewer.events() == []
    assert [info["seat"] for info in game.snapshot()["infos"]] == [1, 2]


def test_only_a_turn_starts_the_clock() -> None:
    """`since_ms`, by which pages show the clock that runs."""
    clock = Clock()
    game = a_game(*OFFER, clock=clock)
    clock.now = 2.0
    game.add(START)
    for now, line, since in (
        (2.5, INFO, 500),
        (3.0, PLAYED[0], 0),
        (4.5, INFO, 1500),
        (5.0, ZOMBIE, 2000),
    ):
        clock.now = now
        game.add(line)
        assert game.snapshot()["since_ms"] == since


def test_lines_are_parsed_only_when_someone_looks() -> None:
    game = a_game(*OFFER, START, *PLAYED)
    assert game._info == {}
    assert game.summary()["ply"] == 2
    assert game._info["game"] == "insertion"


@given(
    st.lists(
        st.sampled_from(
            [*OFFER, START, *PLAYED, INFO, ZOMBIE, OVER, b"", b"PLAYED x game=g7", b"\xff game=g7"]
        )
    )
)
def test_any_lines_leave_a_snapshot(lines: list[bytes]) -> None:
    game = a_game()
    viewer = join(game)
    for line in lines:
        game.add(line)
    assert json.dumps(game.snapshot())
    assert json.dumps(game.summary())
    assert viewer.events()[0][1] == "snapshot"


@given(st.integers(0, 2**64), st.randoms(use_true_random=False))
def test_the_states_are_those_of_the_rules(seed: int, chance: Any) -> None:
    rules = make_game("insertion", {"plies": "30", "lookahead": "5"})
    deal = rules.deal(seed)
    position = rules.start(deal)
    head = GAME.replace(b"plies=4", b"plies=30").replace(b"lookahead=2", b"lookahead=5")
    game = a_game(
        head,
        f"STATE {deal.board} game=g7".encode(),
        f"NEXT {rules.preview(deal)} game=g7".encode(),
        START,
    )
    viewer = join(game)
    viewer.events()
    for ply in range(1, 31):
        seat, move = rules.to_move(position), chance.choice(rules.legal_moves(position))
        step = rules.play(position, move)
        position = step.position
        reveal = rules.reveal(deal, ply)
        total = ",".join(map(str, rules.totals(position)))
        line = f"PLAYED {ply} seat={seat} move={move} time=1 clock=1,1 points={step.points} total={total}"
        game.add((line + (f" reveal={reveal}" if reveal else "") + " game=g7").encode())
        ((_, kind, data),) = viewer.events()
        assert (kind, data["state"]) == ("played", rules.state_text(position))
    fresh = rules.start(Deal(deal.board, deal.sequence))
    for ply in game.snapshot()["plies"]:
        fresh = rules.play(fresh, ply["move"]).position
    assert game.snapshot()["state"] == rules.state_text(fresh)


@all_of(
    ("line", "game"),
    [
        (GAME, "g7"),
        (STATE, "g7"),
        (START, "g7"),
        (PLAYED[0], "g7"),
        (OVER, "g7"),
        (b"PLAYED 1 game=g8 later=1", "g8"),
        (INFO, "g7"),  # a bot chooses the text
        (b"INFO ply=1", None),
        (b"PLAYED 1 game=", None),
        (b"ERROR no-such-game watch game=g8", None),
        (b"ARENA 1 x", None),
        (b"WELCOME web session=1 resume=2", None),
        (b"PING x", None),
        (b"", None),
        (b"GAME", None),
    ],
)
def test_the_game_of_a_line(line: bytes, game: str | None) -> None:
    assert game_of(line) == game
