"""Libraries of positions: one text a position, read back as it was, and the starts of a game."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.framing import SERVER_LINE_LIMIT
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_protocol.library import Entry, format_library, parse_library, position_options, start_boards

GAMES: list[tuple[str, dict[str, object]]] = [
    ("insertion", {}),
    ("insertion", {"seats": 3, "plies": 60}),
    ("xo", {}),
    ("xo", {"size": 14}),
    ("tictactoe", {}),
    ("tictactoe", {"size": 4, "win": 3}),
    ("disc", {"m": 40}),
    ("lastcoin", {}),
]


def entry_of(game: Game[object], seed: int, plies: int) -> Entry:
    """A position of a random game with a legal move; the last but one if the game ends before."""
    chance = random.Random(seed)
    deal = game.deal(seed)
    position = game.start(deal)
    for _ in range(plies):
        after = game.play(position, chance.choice(game.legal_moves(position))).position
        if game.end(after) is not None:
            break
        position = after
    played = getattr(position, "played", 0)
    return Entry(
        game=game.name,
        options=position_options(game),
        state=game.state_text(position),
        sequence=(deal.sequence or "")[played : played + 3],
        move=chance.choice([*game.legal_moves(position), None]),
        value=chance.choice([None, 0, -7]),
        depth=chance.choice([0, 3]),
        engine=chance.choice(["", "champion"]),
    )


@given(st.lists(st.tuples(st.sampled_from(GAMES), st.integers(0, 2**32), st.integers(0, 12)), max_size=6))
def test_what_is_written_is_read_back(drawn: list[tuple[tuple[str, dict[str, object]], int, int]]) -> None:
    entries = [entry_of(make_game(name, options), seed, plies) for (name, options), seed, plies in drawn]
    assert parse_library(format_library(entries)) == entries


def test_blank_lines_and_comments_are_skipped_and_options_are_completed() -> None:
    (entry,) = parse_library('# openings\n\n{"game": "tictactoe", "state": ".../.x./..."}\n')
    assert entry.options == {"size": "3", "win": "3"}


@all_of(
    ("line", "text"),
    [
        ("x", "expected a JSON object"),
        ("[1]", "expected a JSON object"),
        ("{}", "expected the keys game and state"),
        ('{"game": "xo"}', "expected the keys game and state"),
        ('{"game": "xo", "board": ""}', "unknown key 'board'; there are: game, state, options"),
        ('{"game": "xo", "state": 1}', "state is a text, not 1"),
        ('{"game": "chess", "state": "x"}', "chess"),
        ('{"game": "lastcoin", "state": "7/1", "depth": true}', "depth is a whole number, not True"),
        (
            '{"game": "lastcoin", "state": "7/1", "options": {"coins": 9}}',
            "options are texts, not {'coins': 9}",
        ),
        ('{"game": "lastcoin", "state": "7/1", "move": "3"}', "'3' is not a legal move of '7/1'"),
        (
            '{"game": "tictactoe", "state": "xxx/.../..."}',
            "x has as many marks as o or one more, not 3 and 0",
        ),
        ("[" * 100_000, "expected a JSON object"),
    ],
)
def test_a_wrong_line_is_named(line: str, text: str) -> None:
    with pytest.raises(GameError) as refused:
        parse_library(f"# first\n{line}\n")
    message = str(refused.value)
    assert message.startswith("line 2 of the library: ")
    assert text in message
    assert "\n" not in message


@pytest.mark.parametrize(("name", "options"), GAMES[:6])
def test_games_start_from_the_positions_of_a_library(name: str, options: dict[str, object]) -> None:
    game = make_game(name, options)
    entries = [entry_of(game, seed, 4) for seed in range(5)]
    entries += [entry_of(make_game(*other), 1, 3) for other in GAMES if other[0] != name]
    board = start_boards(entries, game)
    assert board.split("|") == list(dict.fromkeys(entry.state for entry in entries[:5]))
    begun = make_game(name, {**options, "board": board})
    assert make_game(name, {"seats": begun.seats, **begun.options()}) == begun
    drawn = Counter(begun.deal(seed).board for seed in range(200))
    assert set(drawn) == set(board.split("|"))
    assert all(begun.state_text(begun.start(begun.deal(seed))) in drawn for seed in range(9))


STARTS = {
    "tictactoe": ("x../.../...", ".x./.../...", "..x/.../..."),
    "xo": tuple("/".join([row, *["." * 10] * 9]) for row in ("x.........", ".x........", "..x.......")),
    "insertion": tuple(f"...../...../...../...../{row}" for row in ("1....", ".1...", "..1..")),
}


@pytest.mark.parametrize("name", STARTS)
def test_the_board_of_a_seed_is_the_one_of_the_rules(name: str) -> None:
    """RULES.md: the index is the first byte of SHA-256 of "<name>-board:<seed>:0" below 255, modulo 3."""
    boards = STARTS[name]
    game = make_game(name, {"board": "|".join(boards)})
    for seed in (0, 1, 2006, 2**64):
        digest = hashlib.sha256(f"{name}-board:{seed}:0".encode()).digest()
        byte = next(byte for byte in digest if byte < 255)
        assert game.deal(seed).board == boards[byte % 3]


def test_positions_that_are_over_or_of_another_size_are_no_starts() -> None:
    over = Entry(game="tictactoe", state="xxx/oo./...", options={"size": "3", "win": "3"})
    small = Entry(game="xo", state="/".join(["." * 10] * 10), options={"size": "10"})
    cases: list[tuple[list[Entry], Game[object]]] = [
        ([over], make_game("tictactoe", {})),
        ([small], make_game("xo", {"size": 11})),
        ([], make_game("xo", {})),
    ]
    for entries, game in cases:
        with pytest.raises(GameError, match=f"from 1 to 256 positions of a library; 0 are of {game.name}"):
            start_boards(entries, game)


def test_the_largest_option_fits_in_a_line() -> None:
    cells = [(row, column) for row in range(14) for column in range(14)]
    entries: list[Entry] = []
    for row, column in [*cells, *cells][:257]:
        rows = [["."] * 14 for _ in range(14)]
        rows[row][column] = "x"
        if len(entries) >= len(cells):
            rows[(row + 1) % 14][column] = "o"
        state = "/".join("".join(each) for each in rows)
        entries.append(Entry(game="xo", state=state, options={"size": "14"}))
    game = make_game("xo", {"size": 14})
    assert len(start_boards(entries[:256], game)) < SERVER_LINE_LIMIT - 1024
    with pytest.raises(GameError, match="257 are of xo with these options"):
        start_boards(entries, game)


def test_a_start_is_the_position_and_not_its_moves() -> None:
    game = make_game("tictactoe", {"board": "xo./.../..."})
    position = game.start(game.deal(0))
    assert game.to_move(position) == 1
    assert position == make_game("tictactoe", {}).start(Deal("xo./.../..."))
