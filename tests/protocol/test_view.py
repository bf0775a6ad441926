"""GameView against the referee's position, and the lines of a server that it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol import messages as wire
from arena_protocol.errors import ClientError
from arena_protocol.games import GAMES, make_game
from arena_protocol.record import commitment
from arena_protocol.view import GameView

BOARD = "53351/34233/13552/44215/44526"


def offer(game: str = "insertion", *, seat: int = 1, commit: str | None = None, **options: str) -> wire.Game:
    return wire.Game("g1", game, seat, 2, ("me", "rival"), 20000, 50, "6", commit, options=options)


def played(ply: int, move: str = "6", **more: Any) -> wire.Played:
    fields: dict[str, Any] = {"time": 5, "clock": (19000, 18000), "points": 0, "total": (0, 0)} | more
    return wire.Played(ply, (ply - 1) % 2 + 1, move, **fields)


def dealt(visible: str = "61", **options: str) -> GameView:
    view = GameView.of(offer(**dict[str, Any]({"plies": "4", "lookahead": "2"} | options)))
    return view.after(wire.State(BOARD)).after(wire.Next(visible))


OPTIONS = st.fixed_dictionaries(
    {
        "plies": st.integers(1, 30),
        "lookahead": st.integers(1, 12),
        "colours": st.integers(3, 7),
        "seats": st.integers(2, 4),
    }
)


@settings(max_examples=60, deadline=None)
@given(OPTIONS, st.integers(0, 2**32), st.data())
def test_the_view_follows_the_referee(options: dict[str, int], seed: int, data: st.DataObject) -> None:
    """After every ply board, totals, visible pictures and seat to move are those of the referee."""
    game = make_game("insertion", options)
    deal = game.deal(seed)
    truth = game.start(deal)
    names = tuple(f"bot{seat}" for seat in range(1, game.seats + 1))
    view = GameView.of(
        wire.Game("g9", "insertion", 1, game.seats, names, 1000, 0, "6", options=game.options())
    )
    view = view.after(wire.State(deal.board)).after(wire.Next(game.preview(deal) or ""))
    for ply in range(1, options["plies"] + 1):
        move = data.draw(st.sampled_from(game.legal_moves(truth)))
        step = game.play(truth, move)
        seat, truth = game.to_move(truth), step.position
        clocks = (1000,) * game.seats
        view = view.after(
            wire.Played(ply, seat, move, 0, clocks, step.points, game.totals(truth), game.reveal(deal, ply))
        )
        if data.draw(st.booleans()):  # a bot may look at some positions only
            check_view(view, game, truth, deal.sequence, ply, options["lookahead"])
    check_view(view, game, truth, deal.sequence, options["plies"], options["lookahead"])


def check_view(view: GameView, game: Any, truth: Any, sequence: str, ply: int, lookahead: int) -> None:
    assert view.board == game.state_text(truth)
    assert view.visible == sequence[ply : ply + lookahead] == view.position.visible
    assert view.totals == game.totals(truth) == game.totals(view.position)
    assert view.legal_moves == game.legal_moves(truth)
    assert view.to_move == game.to_move(truth)
    assert view.ply == ply + 1


@pytest.mark.parametrize("name", sorted(GAMES))
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_any_registered_game_is_followed(name: str, seed: int, data: st.DataObject) -> None:
    game = make_game(name, {})
    deal = game.deal(seed)
    truth = game.start(deal)
    view = GameView.of(
        wire.Game("g9", name, 1, 2, ("a", "b"), 1000, 0, game.zombie_move, options=game.options())
    )
    view = view.after(wire.State(deal.board))
    assert view.is_dealt == (game.preview(deal) is None)
    if not view.is_dealt:
        view = view.after(wire.Next(game.preview(deal) or ""))
    for ply in range(1, 10):
        if game.end(truth) is not None:
            break
        assert view.legal_moves == game.legal_moves(truth)
        move = data.draw(st.sampled_from(view.legal_moves))
        seat, step = game.to_move(truth), game.play(truth, move)
        truth, points = step.position, step.points
        totals, reveal = game.totals(truth), game.reveal(deal, ply)
        view = view.after(wire.Played(ply, seat, move, 0, (1, 1), points, totals, reveal))
        assert (view.board, view.to_move) == (game.state_text(truth), game.to_move(truth))


def test_what_a_seat_sees_at_the_start() -> None:
    view = dealt()
    assert (view.game_id, view.game, view.seat, view.seats) == ("g1", "insertion", 1, 2)
    assert (view.names, view.increment, view.zombie_move) == (("me", "rival"), 50, "6")
    assert view.options == {"plies": "4", "lookahead": "2"}
    assert (view.clocks, view.my_clock, view.totals) == ((20000, 20000), 20000, (0, 0))
    assert (view.ply, view.my_turn, view.last_move, view.moves) == (1, False, None, ())
    assert (view.board, view.visible, view.started) == (BOARD, "61", False)
    assert view.legal_moves == tuple(str(move) for move in range(1, 16))


def test_a_turn_and_the_ply_after_it() -> None:
    before = dealt().after(wire.Start("g1"))
    asked = before.after(wire.Turn(1, (19999, 20000), 0, 0))
    assert (asked.started, asked.my_turn, asked.my_clock) == (True, True, 19999)
    after = asked.after(played(1, "4", total=(30, 0), points=30, reveal="6"))
    assert (after.my_turn, after.my_clock, after.totals, after.moves) == (False, 19000, (30, 0), ("4",))
    assert after.last_move == after.history[0]
    assert (asked.ply, asked.board) == (1, BOARD), "a view never changes"


def test_an_earlier_view_still_computes_its_own_position() -> None:
    """The memo that views of a game share runs ahead of a view that a thread still holds."""
    early = dealt().after(played(1, "4", reveal="6"))
    late = early.after(played(2, "4", reveal="3"))
    board = late.board
    assert early.board == "5.351/6.423/1.552/44215/44526"
    assert late.board == board != early.board


@pytest.mark.parametrize(("seat", "mine"), [(None, True), (1, True), (2, False)])
def test_only_my_own_zombie_ends_my_turn(seat: int | None, mine: bool) -> None:
    asked = dealt().after(wire.Turn(1, (1, 1), 0, 0))
    view = asked.after(wire.Zombie(1, "timeout", seat))
    assert (view.zombie is not None, view.my_turn) == (mine, not mine)


def test_a_line_that_says_nothing_of_the_game_changes_nothing() -> None:
    view = dealt()
    assert view.after(wire.Ping("x")) is view


def test_a_game_that_is_not_known_here() -> None:
    view = GameView.of(offer("hex", size="11")).after(wire.State("11/11"))
    assert (view.rules, view.position, view.legal_moves, view.to_move) == (None, None, (), None)
    assert (view.board, view.visible, view.is_dealt) == ("11/11", "", True)
    view = view.after(wire.Next("abc")).after(played(1, "c7", reveal="d", total=(1, 0)))
    assert (view.board, view.visible, view.totals, view.moves) == ("11/11", "bcd", (1, 0), ("c7",))


def test_a_game_is_dealt_after_state_and_after_next_if_it_has_one() -> None:
    view = GameView.of(offer())
    assert not view.is_dealt
    assert not view.after(wire.State(BOARD)).is_dealt
    assert view.after(wire.State(BOARD)).after(wire.Next("61")).is_dealt
    assert GameView.of(offer("tictactoe")).after(wire.State(".../.../...")).is_dealt


@pytest.mark.parametrize(
    ("game", "text"),
    [
        (wire.Game("g1", "insertion", 3, 2, ("a", "b"), 1, 0), "seats that do not add up"),
        (wire.Game("g1", "insertion", 0, 2, ("a", "b"), 1, 0), "seats that do not add up"),
        (wire.Game("g1", "insertion", 1, 3, ("a", "b"), 1, 0), "seats that do not add up"),
    ],
)
def test_an_offer_with_wrong_seats(game: wire.Game, text: str) -> None:
    with pytest.raises(ClientError, match=f"^g1: the server sent GAME with {text}$"):
        GameView.of(game)


@all_of(
    ("message", "text"),
    [
        (played(2), "g1: the server sent PLAYED 2 where ply 1 is due"),
        (wire.Turn(7, (1, 1), 0, 0), "g1: the server sent TURN 7 where ply 1 is due"),
        (wire.Turn(1, (1,), 0, 0), "g1: the server sent TURN with values for other than 2 seats"),
        (played(1, total=(1, 2, 3)), "g1: the server sent PLAYED with values for other than 2 seats"),
        (wire.Over("g1", (1,), "complete"), "g1: the server sent OVER with values for other than 2 seats"),
    ],
)
def test_lines_that_do_not_fit_the_game(message: wire.ServerMessage, text: str) -> None:
    with pytest.raises(ClientError, match=f"^{text}$"):
        dealt().after(message)


def test_options_that_are_refused_here() -> None:
    view = GameView.of(offer(colours="99")).after(wire.State(BOARD))
    with pytest.raises(ClientError, match=r"^g1: GAME has options refused here: insertion: colours is"):
        _ = view.board


def test_a_start_that_is_refused_here() -> None:
    view = GameView.of(offer()).after(wire.State("no board"))
    with pytest.raises(ClientError, match=r"^g1: STATE or NEXT are refused here: a board is"):
        _ = view.position


def test_a_move_that_breaks_the_rules_known_here() -> None:
    view = dealt().after(played(1, "16", reveal="3"))
    with pytest.raises(
        ClientError, match=r"^g1 ply 1: the server's PLAYED breaks the rules known here: a move"
    ):
        _ = view.legal_moves


def over(nonce: str | None, sequence: str | None, commit: str | None) -> GameView:
    view = GameView.of(offer(commit=commit, plies="4", lookahead="2")).after(wire.State(BOARD))
    return view.after(wire.Next("61")).after(wire.Over("g1", (60, 5), "complete", nonce, sequence))


@all_of(
    ("view", "fair"),
    [
        (over("ab", "6163", commitment("ab", BOARD, "6163")), True),
        (over("ab", "6164", commitment("ab", BOARD, "6163")), False),
        (over("ab", "1163", commitment("ab", BOARD, "1163")), False),  # not the pictures that were shown
        (over(None, None, commitment("ab", BOARD, "6163")), None),
        (over("ab", "6163", None), None),
    ],
)
def test_the_result_has_the_check_of_the_commit(view: GameView, fair: bool | None) -> None:
    result = view.result
    assert result is not None
    assert (result.totals, result.mine, result.end, result.fair) == ((60, 5), 60, "complete", fair)
    assert view.totals == (60, 5)


def test_no_result_before_the_end() -> None:
    assert dealt().result is None


class TestNote:
    @staticmethod
    def notes() -> tuple[GameView, list[wire.Info]]:
        found: list[wire.Info] = []
        return GameView.of(offer(), found.append), found

    def test_a_note_that_says_nothing_has_game_and_ply(self) -> None:
        view, found = self.notes()
        view.note()
        assert found == [wire.Info("g1", 1)]

    def test_a_view_of_no_connection_takes_notes_too(self) -> None:
        GameView.of(offer()).note(depth=1)

    @given(st.text(), st.lists(st.integers(0, 10**9)))
    def test_any_text_and_any_line_fit(self, text: str, line: list[int]) -> None:
        view, found = self.notes()
        view.note(text, line=line)
        encoded = wire.encode(found[0])
        assert len(encoded) <= 1024
        assert wire.parse_client(encoded.removesuffix(b"\n")) == found[0]

    @pytest.mark.parametrize("value", [-1, 1.5, "nine"])
    def test_a_depth_that_is_no_count(self, value: Any) -> None:
        view, _ = self.notes()
        with pytest.raises(ClientError, match="the bot's note cannot be sent: "):
            view.note(depth=value)

    def test_a_move_with_a_space_in_the_line(self) -> None:
        view, _ = self.notes()
        with pytest.raises(ClientError, match="the bot's note cannot be sent: "):
            view.note(line=["a b"])


def test_the_longest_time_for_a_ply() -> None:
    """The limit of a first move counts until the seat has played."""
    game = offer("hex")
    assert GameView.of(game).move_limit is None
    assert GameView.of(replace(game, move_limit=500)).move_limit == 500
    view = GameView.of(replace(game, move_limit=500, first_move_limit=9000, seat=2))
    assert view.move_limit == 9000
    view = view.after(played(1))
    assert view.move_limit == 9000
    assert view.after(played(2)).move_limit == 500
