"""What the page says of a whole game, against `arena why` and by the laws of an evaluation."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protocol.records import FORFEIT, RECORD, ZOMBIE, a_record

from arena_cli.why import TOP, examine
from arena_protocol.record import GameRecord, InfoRecord, describe_result
from arena_protocol.record_codec import to_json
from arena_server.core.cut import shown_names
from arena_server.web.documents import record_json

from .node import Node

GAMES = {
    "short": RECORD,
    "long": a_record(options={"plies": 120}),
    "three": a_record(options={"plies": 60, "seats": 3, "colours": 7}),
    "zombie": ZOMBIE,
}


def text_of(record: GameRecord) -> str:
    return json.dumps(to_json(record))


@pytest.mark.parametrize(
    ("names", "anonymous"),
    [(("player-1", "ann"), False), (("ann", "player-2"), False), (("ann", "bob"), True)],
)
def test_a_bot_that_is_called_like_a_hidden_player_is_one(
    node: Node, names: tuple[str, ...], anonymous: bool
) -> None:
    assert node("anonymous", names=shown_names(names, 0, anonymous=anonymous)) == anonymous


@pytest.mark.parametrize("name", GAMES)
def test_decisive_plies_are_those_of_arena_why(node: Node, name: str) -> None:
    record = GAMES[name]
    found = node("decisive", record=text_of(record))
    why = examine(record, 1)
    leads = {each["ply"]: record.names[each["leads"] - 1] for each in found if each["leads"] is not None}
    assert leads == ({} if why.led_from is None else {why.led_from: why.leader})
    largest = sorted(why.scored, key=lambda ply: (-ply.points, -ply.ply))[:TOP]
    wanted = {ply.ply for ply in largest} | leads.keys()
    assert [each["ply"] for each in found] == sorted(wanted)
    for each in found:
        ply = record.plies[each["ply"] - 1]
        assert (each["seat"], each["move"], each["points"]) == (ply.seat, ply.move, ply.points)


@pytest.mark.parametrize("name", GAMES)
def test_better_moves_are_those_of_arena_why(node: Node, name: str) -> None:
    record = GAMES[name]
    why = [examine(record, seat).plies for seat in range(1, len(record.names) + 1)]
    missed = [ply for plies in why for ply in plies if ply.best is not None and not ply.zombie]
    most = sorted(missed, key=lambda ply: (ply.points - ply.best_points, ply.ply))[:TOP]
    assert [
        (each["ply"], each["move"], each["points"], each["best"], each["most"])
        for each in node("missed", record=text_of(record))
    ] == [
        (ply.ply, ply.move, ply.points, ply.best, ply.best_points)
        for ply in sorted(most, key=lambda p: p.ply)
    ]


class TestAGameThatIsOnlyWonOrLost:
    WON = a_record("tictactoe", {}, seed=8)

    def decisive(self, node: Node, record: GameRecord) -> list[tuple[int, str]]:
        found = node("decisive", record=json.dumps(record_json(record)))
        assert all(each["points"] == record.plies[each["ply"] - 1].points for each in found)
        return [(each["ply"], key) for each in found for key in ("wins", "seen", "leads") if each.get(key)]

    def test_its_last_ply_decides(self, node: Node) -> None:
        assert max(self.WON.totals) > min(self.WON.totals)
        assert self.decisive(node, self.WON) == [(len(self.WON.plies), "wins")]

    def test_the_ply_from_which_the_bots_saw_the_winner_ahead(self, node: Node) -> None:
        winner = self.WON.totals.index(max(self.WON.totals)) + 1
        notes = [(1, -5), (3, 7), (4, 9)]
        infos = tuple(InfoRecord(winner, ply, None, value, None, None, None) for ply, value in notes)
        assert self.decisive(node, replace(self.WON, infos=infos)) == [
            *((3, "seen"), (len(self.WON.plies), "wins"))
        ]

    def test_a_forfeit_was_decided_by_no_move(self, node: Node) -> None:
        assert FORFEIT.game == "disc"
        assert self.decisive(node, FORFEIT) == []


@pytest.mark.parametrize("name", GAMES)
def test_the_text_of_a_game_has_its_moves(node: Node, name: str) -> None:
    record = replace(GAMES[name], contest='a "b" \\ c')
    text = node("text", record=text_of(record))
    # A program reads it: it is the same whatever the language of the page.
    spoken = {"texts": dict.fromkeys(("{} wins", "a draw", " by forfeit", "void, it does not count"), "?")}
    assert node("text", record=text_of(record), catalogue=spoken) == text
    tags, _, moves = text.partition("\n\n")
    assert '[Contest "a \\"b\\" \\\\ c"]' in tags
    assert f'[Result "{describe_result(record.names, record.totals, record.end)}"]' in tags
    assert [f'[Seat{i} "{name}"]' in tags for i, name in enumerate(record.names, 1)] == [True] * len(
        record.names
    )
    words = moves.split()
    assert all(len(line) <= 80 for line in moves.splitlines())
    numbers = [word for word in words if word.endswith(".")]
    assert numbers == [f"{number}." for number in range(1, len(numbers) + 1)]
    played = [f"{ply.move}{'{server}' if ply.zombie else ''}" for ply in record.plies]
    assert [word for word in words if not word.endswith(".")] == played


NOTES = st.lists(
    st.tuples(st.integers(1, 2), st.integers(1, 12), st.integers(-(10**9), 10**9) | st.none()), max_size=30
)


def noted(notes: list[tuple[int, int, int | None]]) -> GameRecord:
    infos = [InfoRecord(seat, ply, None, value, None, None, None) for seat, ply, value in notes]
    return replace(RECORD, infos=tuple(infos))


@given(NOTES)
def test_an_evaluation_is_a_share_that_both_seats_see_alike(
    node: Node, notes: list[tuple[int, int, int | None]]
) -> None:
    plies = [0, 1, 6, 12]
    found = node("evaluation", record=text_of(noted(notes)), plies=plies)
    # The same notes from the other side.
    turned = [(3 - seat, ply, value) for seat, ply, value in notes]
    other = node("evaluation", record=text_of(noted(turned)), plies=plies)
    for ply, here, there in zip(plies, found, other, strict=True):
        last = [
            [value for by, at, value in notes if by == seat and at <= ply and value is not None]
            for seat in (1, 2)
        ]
        if not any(last):
            assert here is there is None
            continue
        assert -1 <= here <= 1
        assert here == pytest.approx(-there)
        signs = {(value > 0) - (value < 0) for value in (last[0][-1:] + [-x for x in last[1][-1:]])}
        if len(signs) == 1:
            assert (here > 0) - (here < 0) == signs.pop()


def line_of(first: int, *more: str) -> str:
    """The moves of the long game from ply `first` on, two of them, and `more`."""
    return ",".join([ply.move for ply in GAMES["long"].plies[first - 1 : first + 1]] + [*more])


#: Notes, the ply that is shown, and who expects what from there.
EXPECTED: dict[str, tuple[tuple[InfoRecord, ...], int, tuple[int, int, list[str]] | None]] = {
    "about the ply to come": (
        (InfoRecord(1, 1, line=line_of(1, "9")),),
        0,
        (1, 1, line_of(1, "9").split(",")),
    ),
    "what is left of it": ((InfoRecord(1, 1, line=line_of(1, "9", "8")),), 2, (1, 1, ["9", "8"])),
    "all of it played": ((InfoRecord(1, 1, line=line_of(1)),), 2, None),
    "the game went another way": ((InfoRecord(1, 1, line=f"x,{line_of(2)}"),), 1, None),
    "of a later ply": ((InfoRecord(1, 3, line=line_of(3)),), 1, None),
    "the newer one": (
        (InfoRecord(1, 1, line=line_of(1, "9")), InfoRecord(2, 2, line=line_of(2, "7"))),
        1,
        (2, 2, line_of(2, "7").split(",")),
    ),
    "the newer one is left": (
        (InfoRecord(1, 1, line=line_of(1, "9")), InfoRecord(2, 2, line="x,1")),
        2,
        (1, 1, ["9"]),
    ),
    "without a line": ((InfoRecord(1, 1, eval=3),), 0, None),
    "at the end": ((InfoRecord(1, 119, line=line_of(119, "9")),), 120, None),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_line_is_what_a_bot_expects_as_long_as_the_game_follows_it(node: Node, name: str) -> None:
    notes, ply, expected = EXPECTED[name]
    record = text_of(replace(GAMES["long"], infos=notes))
    wanted = None if expected is None else dict(zip(("seat", "ply", "moves"), expected, strict=True))
    assert node("expected", record=record, plies=[ply]) == [wanted]


#: Notes as (seat, ply, eval), and the first ply about which both see themselves ahead, or both behind.
DISAGREED: dict[str, tuple[list[tuple[int, int, int | None]], tuple[int, list[int]] | None]] = {
    "both ahead": ([(1, 1, 5), (2, 2, 3)], (2, [5, 3])),
    "both behind": ([(1, 1, -5), (2, 2, -3)], (2, [-5, -3])),
    "agreed": ([(1, 1, 5), (2, 2, -3)], None),
    "even": ([(1, 1, 0), (2, 2, 3)], None),
    "the first of several": ([(1, 1, 5), (2, 2, -3), (1, 3, -1), (2, 4, 2), (1, 5, 2)], (3, [-1, -3])),
    "too far apart": ([(1, 1, 5), (2, 4, 3)], None),
    "one alone": ([(1, 1, 5), (1, 3, 5)], None),
    "no number": ([(1, 1, 5), (2, 2, None)], None),
    "the last word about a ply": ([(1, 1, 5), (1, 1, -5), (2, 2, 3)], None),
}


@pytest.mark.parametrize("name", DISAGREED)
def test_two_bots_disagree_where_both_see_themselves_ahead(node: Node, name: str) -> None:
    notes, wanted = DISAGREED[name]
    infos = tuple(InfoRecord(seat, ply, eval=value) for seat, ply, value in notes)
    found = node("disagreement", record=text_of(replace(GAMES["long"], infos=infos)))
    assert found == (None if wanted is None else {"ply": wanted[0], "values": wanted[1]})


def test_a_graph_has_the_last_note_of_a_ply_and_the_second_seat_mirrored(node: Node) -> None:
    infos = (
        InfoRecord(1, 1, eval=5),
        InfoRecord(1, 1, eval=7),
        InfoRecord(2, 2, eval=3),
        InfoRecord(1, 3, text="hm"),
    )
    two, three = GAMES["long"], GAMES["three"]
    assert node("evaluations", record=text_of(replace(two, infos=infos))) == [[[1, 7]], [[2, -3]]]
    assert node("evaluations", record=text_of(replace(three, infos=infos))) == [[[1, 7]], [[2, 3]]]


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_a_list_of_moves_begins_with_a_block_and_has_the_ply(node: Node, ply: int, length: int) -> None:
    ply = min(ply, length)
    first, last = node("window", ply=ply, length=length)
    assert first >= 1
    assert (first - 1) % 12 == 0, "a block is whole rows of two and of three columns"
    assert last <= length
    assert min(300, length) <= last - first + 1 < 300 + 24
    assert ply == 0 or first <= ply <= last
