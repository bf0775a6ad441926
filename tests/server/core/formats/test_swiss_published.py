"""The Swiss against published examples of the Dutch system of FIDE, by what both rule sets ask for.

Both forbid a second meeting, a third time the same colour and a difference of more than two, pair the scores
as closely as possible, then respect wishes for a colour, and decide equal wishes in the same way. They differ
in who meets whom within a score group: FIDE exchanges players in a fixed order, docs/swiss.md takes the least
sum. In the last round FIDE lets players with more than half of the points have a colour a third time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_server.core.formats.swiss_pairing import FIRST, SECOND, Candidate, pair

from .swiss_twin import sums

#: A published test of bbpPairings, which implements the Dutch system: 60 players, 14 rounds, then the pairing
#: of round 15 (repository BieremaBoyzProgramming/bbpPairings, test/tests/issue_7.input and .output.expected;
#: Apache License 2.0). Line n has the games of player n: opponent, colour, result; + and - were not played.
#: The last line has round 15, white first.
*_GAMES, _LAST = (
    (Path(__file__).parent / "published" / "dutch60.txt").read_text(encoding="ascii").splitlines()
)
TABLE = [[(int(game[:-2]), game[-2], game[-1]) for game in line.split()] for line in _GAMES]
LAST = _LAST.split()
ROUNDS = len(TABLE[0]) + 1
HALF_POINTS = {"1": 2, "+": 2, "=": 1, "0": 0, "-": 0}
PLAYED = "1=0"

Pairs = set[tuple[str, str]]


def players(number: int) -> list[Candidate]:
    """The field before round `number`, in its order."""
    field = []
    for name, games in enumerate(TABLE, start=1):
        past = games[: number - 1]
        played = [(str(other), colour) for other, colour, result in past if result in PLAYED]
        seats = tuple(FIRST if colour == "w" else SECOND for _, colour in played)
        score = sum(HALF_POINTS[result] for _, _, result in past)
        field.append(Candidate(str(name), score, frozenset(other for other, _ in played), seats))
    return sorted(field, key=lambda each: (-each.score, int(each.name)))


def published(number: int) -> Pairs:
    """The pairings of round `number`, white first."""
    if number == ROUNDS:
        return set(zip(LAST[::2], LAST[1::2], strict=True))
    games = ((name, *each[number - 1]) for name, each in enumerate(TABLE, start=1))
    return {(str(name), str(other)) for name, other, colour, _ in games if colour == "w"}


def compared(field: list[Candidate], pairs: Pairs) -> tuple[int, ...]:
    """The sums of docs/swiss.md: seats, scores, owner, wishes, order."""
    places = {player.name: place for place, player in enumerate(field)}
    return sums(field, tuple((min(places[a], places[b]), max(places[a], places[b])) for a, b in pairs))


def within_groups(field: list[Candidate], pairs: Pairs) -> int:
    scores = {player.name: player.score for player in field}
    return sum(scores[a] == scores[b] for a, b in pairs)


def ours(field: list[Candidate]) -> Pairs:
    groups = pair(field, salt=1)
    assert groups is not None
    return {(group[0], group[1]) for group in groups}


@pytest.mark.parametrize("number", range(1, ROUNDS))
def test_a_round_of_60_players_is_as_good_as_the_published_one(number: int) -> None:
    field, theirs = players(number), published(number)
    found = ours(field)
    own, other = compared(field, found), compared(field, theirs)
    assert own[:2] == other[:2], "no colour that must not be, and scores as close"
    assert own[3:] <= other[3:], "wishes, then the order"
    assert within_groups(field, found) == within_groups(field, theirs)


@pytest.mark.parametrize("number", range(2, ROUNDS + 1))
def test_who_meets_in_both_has_the_same_colours(number: int) -> None:
    found, theirs = ours(players(number)), published(number)
    same = {frozenset(each) for each in found} & {frozenset(each) for each in theirs}
    assert len(same) >= 12
    assert {each for each in found if frozenset(each) in same} <= theirs


def test_the_first_round_has_the_same_pairs_and_the_other_colours_of_the_lot() -> None:
    """The colour of the first player is drawn; ours always has the first seat."""
    assert ours(players(1)) == {(black, white) for white, black in published(1)}


def test_the_last_round_keeps_the_rule_of_colours_for_all() -> None:
    """FIDE lets one of the first have a colour a third time for closer scores; we do not."""
    field = players(ROUNDS)
    own, other = compared(field, ours(field)), compared(field, published(ROUNDS))
    assert (own[0], other[0]) == (0, 1)
    assert own[1] > other[1]


def test_round_one_of_the_handbook() -> None:
    """FIDE Handbook, C.04.2.C, "Brief examples of pairing": of 40 players 1 v 21, 22 v 2, ..., 40 v 20."""
    groups = pair([Candidate(str(number)) for number in range(1, 41)])
    assert groups is not None
    assert groups[:4] == (("1", "21"), ("22", "2"), ("3", "23"), ("24", "4"))
    assert groups[-1] == ("40", "20")
    assert all(abs(int(one) - int(other)) == 20 for one, other in groups)


def test_the_bye_leaves_a_round_that_can_be_made() -> None:
    """bbpPairings, test/tests/dutch_2025_C5: after two rounds of six players the fourth is absent."""
    field = [
        Candidate("1", 4, frozenset("42"), (FIRST, SECOND)),
        Candidate("3", 4, frozenset("64"), (FIRST, SECOND)),
        Candidate("2", 2, frozenset("51"), (SECOND, FIRST)),
        Candidate("5", 2, frozenset("26"), (FIRST, SECOND)),
        Candidate("6", 0, frozenset("35"), (SECOND, FIRST)),
    ]
    assert pair(field) == (("1", "5"), ("3", "2"), ("6",))


def test_who_has_won_meets_who_has_won() -> None:
    """bbpPairings, test/tests/dutch_2025_C9: five players, of whom the fifth was absent in the first round.

    FIDE gives the bye to the fourth, because the fifth has a game less already; ours goes to the last.
    """
    field = [
        Candidate("1", 2, frozenset("3"), (FIRST,)),
        Candidate("2", 2, frozenset("4"), (SECOND,)),
        Candidate("3", 0, frozenset("1"), (SECOND,)),
        Candidate("4", 0, frozenset("2"), (FIRST,)),
        Candidate("5"),
    ]
    groups = pair(field)
    assert groups is not None
    assert groups[0] == ("2", "1")
    assert groups[-1] == ("5",)
