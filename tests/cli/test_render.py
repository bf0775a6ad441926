"""Games drawn as text: boards as boards, other positions as they are."""

from __future__ import annotations

import re
from dataclasses import replace

from arena_cli.render import Frame, draw, frames
from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Deal
from arena_protocol.games.scene import rows_scene
from arena_protocol.record import FaultKind, FaultRecord, GameRecord, PlyRecord, commitment


def played(name: str, plies: int) -> GameRecord:
    """The first plies of a game of this name, each the first legal move."""
    game = make_game(name, {})
    deal = game.deal(7)
    position = game.start(Deal(deal.board, deal.sequence))
    rows = []
    for _ in range(plies):
        seat, move = game.to_move(position), game.legal_moves(position)[0]
        step = game.play(position, move)
        position = step.position
        rows.append(
            PlyRecord(seat, move, 5, 0, 5_000_000, (995, 990), step.points, game.totals(position), False)
        )
    return GameRecord(
        software="test",
        contest="trial",
        game_id="g1",
        game=name,
        options=game.options(),
        names=("left", "right"),
        seed=7,
        nonce="00",
        commit=commitment("00", deal.board, deal.sequence),
        board=deal.board,
        sequence=deal.sequence,
        clock_ms=1000,
        increment_ms=0,
        margin_ms=0,
        plies=tuple(rows),
        faults=(),
        final=game.state_text(position),
        totals=game.totals(position),
        end="void",
    )


def test_one_board_per_ply_with_the_next_pictures() -> None:
    drawn = list(frames(played("insertion", 2), color=False))
    assert len(drawn) == 3
    start, first, last = (frame.splitlines() for frame in drawn)
    assert start[0] == "trial g1: left - right   ply 0 of 2"
    assert start[1] == "start position"
    assert first[1].startswith("left plays 1: ")
    assert last[1].startswith("right plays 1: ")
    assert start[3] == "    6  7  8  9  10"
    assert [line.split()[0] for line in start[4:9]] == ["5", "4", "3", "2", "1"]
    assert [line.split()[-1] for line in start[4:9]] == ["11", "12", "13", "14", "15"]
    ahead = played("insertion", 2).sequence
    assert start[10] == "next   " + " ".join(ahead[:20])
    assert first[10] == "next   " + " ".join(ahead[1:21])
    assert first[11].split() == ["left", "0", "points", "0.995", "s"]
    assert last[-1] == "The game is over: void, it does not count."


def test_colours_are_painted_and_reset() -> None:
    frame = next(iter(frames(played("insertion", 0), color=True)))
    assert frame.count("\x1b[0m") == frame.count("\x1b[30;4") > 25


def test_painted_pictures_fit_on_a_usual_terminal() -> None:
    frame = next(iter(frames(played("insertion", 0), color=True)))
    assert max(len(re.sub(r"\x1b.*?m", "", line)) for line in frame.splitlines()) < 80


def test_the_cells_of_a_board_have_their_names() -> None:
    lines = next(iter(frames(played("xo", 0), color=True))).splitlines()
    assert lines[3] == "10 . . . . . . . . . ."
    assert lines[12] == " 1 . . . . . . . . . ."
    assert lines[13] == "   a b c d e f g h i j"


def test_a_board_without_names() -> None:
    picture = draw(Frame("title", "deed", rows_scene("123/456/..."), [("ann", 3, None)]), color=False)
    assert picture == f"title\ndeed\n\n  1 2 3\n  4 5 6\n  . . .\n\n{'ann':<32}      3 points\n"


def test_every_game_can_be_drawn() -> None:
    for name in GAMES:
        for frame in frames(played(name, 2), color=False):
            assert frame.startswith("trial g1: left - right")


def test_a_text_that_is_no_board_is_shown_as_it_is() -> None:
    picture = draw(Frame("title", "deed", rows_scene("7/1"), [("ann", 3, None)]), color=True)
    assert picture == f"title\ndeed\n\n7/1\n\n{'ann':<32}      3 points\n"


def test_a_wheel_is_drawn_as_it_is_turned() -> None:
    last = list(frames(played("disc", 1), color=False))[-1].splitlines()
    assert last[3:9] == [
        "        2",
        "  1          3",
        "       2",
        "  6          4",
        "        5",
        "Disc: 2 on top, sum 2, 13 wins.",
    ]


def test_coins_are_drawn_in_rows() -> None:
    last = list(frames(played("lastcoin", 2), color=False))[-1].splitlines()
    assert last[3:5] == [
        "o  o  o  o  o  .  .",
        "5 of 7 coins are left; the last one loses.",
    ]


def test_faults_are_drawn_at_their_ply_or_the_last_one() -> None:
    record = replace(
        played("xo", 2),
        faults=(
            FaultRecord(1, 0, FaultKind.NEVER_READY, b""),
            FaultRecord(2, 3, FaultKind.ILLEGAL, b"MOVE z9"),
            FaultRecord(0, 3, FaultKind.VOID, b""),
        ),
    )
    start, first, last = (frame.splitlines() for frame in frames(record, color=False))
    assert start[-1] == "left did not send READY in time before the first ply; the seat loses the game"
    assert first[-1].startswith("right ")
    assert last[-3:] == [
        'right sent an illegal move "z9" at ply 3; the seat loses the game',
        "the server aborted the game at ply 3",
        "The game is over: void, it does not count.",
    ]
