"""The laws that every game obeys, for the tests of a game, also of one in a package of its own.

    @pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
    def test_the_game_obeys(law: Law) -> None:
        check(law, make_game("connectfour", {"columns": 4}))

It needs hypothesis, which the extra [testing] installs; nothing else imports this module. A law makes the
game again by its name: the game has to be in `arena_protocol.games.GAMES`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from arena_protocol.games import EPOCH, make_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_protocol.games.scene import BoardLayout

#: A law takes a game and hypothesis' data, of which it draws seeds and moves; it fails by AssertionError.
Law = Callable[[Game[Any], st.DataObject], None]

SEEDS = st.integers(0, 2**256)
#: Longer than any game under law may last.
MANY_PLIES = 400
NO_MOVES = st.sampled_from(
    ["", "0", "06", "-1", " 1", "1 ", "1.0", "99", "a99", "zz", "¹", "١", "MOVE"]
) | st.text(max_size=4)
LAWS: list[Law] = []


def check(law: Law, game: Game[Any], examples: int = 12) -> None:
    """Raise AssertionError, with the example, for a game that breaks the law."""

    @settings(max_examples=examples, deadline=None, report_multiple_bugs=False)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        law(game, data)

    holds()


def _law(stated: Law) -> Law:
    LAWS.append(stated)
    return stated


def _some_position(game: Game[Any], data: st.DataObject) -> tuple[Deal, Any]:
    """A deal, and a position somewhere in a game from it, the end included."""
    deal = game.deal(data.draw(SEEDS))
    position = game.start(deal)
    chance = _some_chance(data)
    for _ in range(data.draw(st.integers(0, 40) | st.just(MANY_PLIES))):
        moves = game.legal_moves(position)
        if not moves:
            break
        position = game.play(position, chance.choice(moves)).position
    return deal, position


def _some_chance(data: st.DataObject) -> Random:
    """Moves at random from one drawn number: whole games fit into one example."""
    return Random(data.draw(st.integers(0, 2**32)))  # noqa: S311 - a game, not a secret


def _moves_of(layout: BoardLayout) -> set[str]:
    """The moves that a click on a shape plays."""
    return {cell.move for cell in layout.cells} | {label.move for label in layout.labels}


def _refusal(game: Game[Any], position: Any, move: str) -> str:
    """The text of the error for a move that is not legal."""
    try:
        game.play(position, move)
    except GameError as error:
        return str(error)
    raise AssertionError(f"{move!r} is not legal in {game.state_text(position)}, and play takes it")


@_law
def options_round_trip(game: Game[Any], data: st.DataObject) -> None:
    printed = game.options()
    again = make_game(game.name, {**printed, "seats": str(game.seats)})
    assert again == game, f"made again from its options it is {again!r}, not {game!r}"
    assert again.options() == printed
    assert set(printed) <= game.OPTIONS
    assert EPOCH not in game.OPTIONS  # it is that of the rules
    assert "seats" not in printed  # GAME prints it for every game
    assert all(" " not in text and text.isascii() and text.isprintable() for text in printed.values())


@_law
def unknown_options_are_ignored(game: Game[Any], data: st.DataObject) -> None:
    later = {**game.options(), "seats": game.seats, "of-a-later-version": "1"}
    assert make_game(game.name, later) == game


@_law
def a_seed_fixes_the_deal(game: Game[Any], data: st.DataObject) -> None:
    seed = data.draw(SEEDS)
    twin = make_game(game.name, {**game.options(), "seats": game.seats})
    deal = game.deal(seed)
    assert twin.deal(seed) == deal
    position = game.start(deal)
    assert game.state_text(position) == deal.board
    assert game.totals(position) == (0,) * game.seats
    assert game.end(position) is None


@_law
def the_state_text_is_one_word_and_reads_back(game: Game[Any], data: st.DataObject) -> None:
    deal, position = _some_position(game, data)
    text = game.state_text(position)
    assert text.isascii()
    assert len(text.split()) == 1
    assert game.state_text(game.start(Deal(text, deal.sequence))) == text


@_law
def the_seat_to_move_is_a_seat(game: Game[Any], data: st.DataObject) -> None:
    _, position = _some_position(game, data)
    assert 1 <= game.to_move(position) <= game.seats


@_law
def legal_moves_can_be_played_and_leave_the_position_as_it_was(game: Game[Any], data: st.DataObject) -> None:
    _, position = _some_position(game, data)
    before = (game.state_text(position), game.totals(position), game.to_move(position), hash(position))
    moves = game.legal_moves(position)
    assert len(set(moves)) == len(moves)
    for move in moves:
        assert game.is_legal(position, move)
        assert game.play(position, move) == game.play(position, move)
    assert before == (
        game.state_text(position),
        game.totals(position),
        game.to_move(position),
        hash(position),
    )


@_law
def advance_says_what_follows_from_play(game: Game[Any], data: st.DataObject) -> None:
    _, position = _some_position(game, data)
    for move in game.legal_moves(position):
        after, points = game.play(position, move)
        following = game.to_move(after) if game.end(after) is None else 0
        assert game.advance(position, move) == (after, points, game.totals(after), following)


@_law
def any_other_move_is_refused_in_one_line(game: Game[Any], data: st.DataObject) -> None:
    _, position = _some_position(game, data)
    move = data.draw(NO_MOVES.filter(lambda text: text not in game.legal_moves(position)))
    assert not game.is_legal(position, move)
    text = _refusal(game, position, move)
    assert text.isprintable(), f"the text of an error is one line, not {text!r}"


@_law
def the_game_is_over_just_when_no_move_is_left(game: Game[Any], data: st.DataObject) -> None:
    _, position = _some_position(game, data)
    assert (game.end(position) is None) == bool(game.legal_moves(position))


@_law
def the_points_of_a_ply_are_what_the_total_of_the_mover_grows_by(
    game: Game[Any], data: st.DataObject
) -> None:
    _, position = _some_position(game, data)
    for move in game.legal_moves(position)[:20]:
        seat, step = game.to_move(position), game.play(position, move)
        before, after = game.totals(position), game.totals(step.position)
        assert len(after) == game.seats
        assert after[seat - 1] - before[seat - 1] == step.points


@_law
def every_game_ends(game: Game[Any], data: st.DataObject) -> None:
    chance = _some_chance(data)
    position = game.start(game.deal(data.draw(SEEDS)))
    for _ in range(MANY_PLIES):
        moves = game.legal_moves(position)
        if not moves:
            break
        position = game.play(position, chance.choice(moves)).position
    assert game.end(position) is not None, f"no end after {MANY_PLIES} plies"


@_law
def the_zombie_move_is_always_legal_and_else_a_forfeit_costs_the_forfeiter(
    game: Game[Any], data: st.DataObject
) -> None:
    _, position = _some_position(game, data)
    if game.zombie_move is None:
        seat = data.draw(st.integers(1, game.seats))
        totals = game.forfeit(position, seat)
        assert len(totals) == game.seats
        assert all(totals[seat - 1] < points for other, points in enumerate(totals, 1) if other != seat)
    elif game.end(position) is None:
        assert game.is_legal(position, game.zombie_move)


@_law
def the_brief_is_one_line(game: Game[Any], data: st.DataObject) -> None:
    assert game.brief().isascii()
    assert "\n" not in game.brief()


@_law
def a_scene_has_a_sign_a_cell_and_its_moves_are_those_of_the_game(
    game: Game[Any], data: st.DataObject
) -> None:
    deal, position = _some_position(game, data)
    scene, start = game.scene(position), game.scene(game.start(deal))
    layout = scene.layout
    assert layout == start.layout, (
        "the layout of a scene is the same in every position of a game, its cells, labels and moves:"
        " what changes with the position is the sign of a cell"
    )
    assert len(scene.pieces) == len(layout.cells), "a scene has one sign for each cell of its layout"
    assert all(0 <= place < len(layout.cells) for _, places in scene.marks for place in places)
    assert scene.describe().isascii()
    offered = _moves_of(layout) - {""}
    if offered and (moves := game.legal_moves(position)):
        assert offered.issuperset(moves), f"no shape plays {sorted(set(moves) - offered)}"
    for each in (scene.to_json(), layout.to_json(), layout.to_json(small=True)):
        assert json.loads(json.dumps(each)) == each


@_law
def the_last_move_shows_in_the_scene(game: Game[Any], data: st.DataObject) -> None:
    _, position = _some_position(game, data)
    before = game.scene(position)
    assert before.after(before, None) == before
    if moves := game.legal_moves(position):
        move = _some_chance(data).choice(moves)
        after = game.scene(game.play(position, move).position)
        assert (
            after.after(before, move) != after or move in _moves_of(after.layout) or after.text != before.text
        )


@_law
def a_client_sees_the_same_game_as_the_referee(game: Game[Any], data: st.DataObject) -> None:
    """A client knows STATE and NEXT, then a move and what it reveals, ply by ply."""
    deal = game.deal(data.draw(SEEDS))
    referee = game.start(deal)
    client = game.start(Deal(deal.board, game.preview(deal) or ""))
    shown = game.preview(deal) or ""
    chance = _some_chance(data)
    for ply in range(1, MANY_PLIES):
        moves = game.legal_moves(referee)
        assert game.seen(referee) == client
        assert game.legal_moves(client) == moves
        if not moves:
            break
        move = chance.choice(moves)
        referee, step = game.play(referee, move).position, game.play(client, move)
        revealed = game.reveal(deal, ply)
        client = game.extend(step.position, revealed) if revealed is not None else step.position
        shown += revealed or ""
        assert deal.sequence.startswith(shown)
        assert game.state_text(client) == game.state_text(referee)
        # The referee knows the whole deal, the client what it was shown.
        assert game.scene(client) == game.scene(referee), "the scene shows what a client does not know"
        assert game.totals(client) == game.totals(referee)
    assert shown == deal.sequence
