"""Tie-breaks: a worked example, a twin that looks at every game, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.stats.results import GameResult
from arena_server.stats.standings import Standings
from arena_server.stats.tiebreaks import (
    TIE_BREAKS,
    Field,
    HeadToHead,
    PlayerSums,
    Unplayed,
    check,
    values,
)

from ...plugged import install, plugged

Game = tuple[str, int, str, int]

#: A beats B, draws with C and loses to D; B beats C and D; C beats D. Scores: A 1.5, B 2, C 1.5, D 1.
EXAMPLE: list[Game] = [
    ("A", 9, "B", 4),
    ("A", 5, "C", 5),
    ("D", 7, "A", 2),
    ("B", 8, "C", 1),
    ("D", 3, "B", 6),
    ("C", 4, "D", 0),
]


def entrants_of(games: Sequence[Game], names: str = "ABCD") -> dict[str, PlayerSums]:
    entrants = {name: PlayerSums() for name in names}
    for one, own, other, others in games:
        for name, points, opponent, against in ((one, own, other, others), (other, others, one, own)):
            entrants[name].points += points
            entrants[name].wins += points > against
            entrants[name].meet(opponent, points, against)
    return entrants


def of(tie_break: str, games: Sequence[Game] = EXAMPLE, secret: int = 5) -> dict[str, float]:
    entrants = entrants_of(games)
    scores = {name: entrant.score for name, entrant in entrants.items()}
    return {name: float(value) for name, (value,) in values([tie_break], entrants, scores, secret).items()}


@all_of(
    ("tie_break", "expected"),
    [
        ("points", {"A": 16, "B": 18, "C": 10, "D": 10}),
        ("wins", {"A": 1, "B": 2, "C": 1, "D": 1}),
        ("match-points", {"A": 3, "B": 4, "C": 3, "D": 2}),
        # Only A and C have the same score, and they drew.
        ("head-to-head", {"A": 0.5, "B": 0, "C": 0.5, "D": 0}),
        ("direct-match", {"A": 1, "B": 0, "C": 1, "D": 0}),
        ("won-plies", dict.fromkeys("ABCD", 0)),
        ("sonneborn-berger", {"A": 2.75, "B": 2.5, "C": 1.75, "D": 1.5}),
        ("buchholz", {"A": 4.5, "B": 4, "C": 4.5, "D": 5}),
        ("buchholz-cut-1", {"A": 3.5, "B": 3, "C": 3.5, "D": 3.5}),
        ("median-buchholz", {"A": 1.5, "B": 1.5, "C": 1.5, "D": 1.5}),
        ("fewest-faults", {"A": 0, "B": 0, "C": 0, "D": 0}),
        ("time-used", {"A": 0, "B": 0, "C": 0, "D": 0}),
    ],
)
def test_a_worked_example(tie_break: str, expected: dict[str, float]) -> None:
    assert of(tie_break) == expected


def test_the_fewest_faults_are_the_greatest_value() -> None:
    entrants = entrants_of(EXAMPLE)
    entrants["B"].faults["timeout"] = 2
    found = values(["fewest-faults"], entrants, dict.fromkeys(entrants, Fraction(1)), 0)
    assert found["A"] > found["B"] == (Fraction(-2),)


def test_the_least_time_is_the_greatest_value() -> None:
    """A uses 1.2 s and 0.3 s, B 2 s and D 0.5 s; C has a walkover, a game without a clock."""
    table = Standings("ABCD", "wins", ["time-used"])
    table.add(GameResult(("A", "B"), (1, 0), (), (1200, 2000)))
    table.add(GameResult(("D", "A"), (1, 0), (), (500, 300)))
    table.add(GameResult(("C", "B"), (1, 0)))
    # As many games for each: else the values are means.
    table.add(GameResult(("C", "D"), (1, 1)))
    rows = {row.name: (row.rank, row.tie_breaks["time-used"]) for row in table.rows()}
    assert rows == {
        "C": (1, Fraction(0)),
        "D": (2, Fraction("-0.5")),
        "A": (3, Fraction("-1.5")),
        "B": (4, Fraction(-2)),
    }


def test_the_lot_follows_from_the_secret_alone() -> None:
    lots = of("lot")
    assert lots == of("lot", EXAMPLE[::-1])
    assert len(set(lots.values())) == 4
    assert lots != of("lot", secret=6)


def test_head_to_head_counts_only_where_all_have_met_equally_often() -> None:
    circle = [("A", 1, "B", 0), ("B", 1, "C", 0), ("C", 1, "A", 0)]
    assert of("head-to-head", circle) == {"A": 1, "B": 1, "C": 1, "D": 0}
    assert of("head-to-head", [*circle, ("A", 1, "B", 1), ("C", 2, "D", 2), ("C", 0, "D", 1)])["A"] == 0


def test_head_to_head_looks_at_those_that_are_left_together() -> None:
    """A, B and C beat each other in a circle; by points A and B are together, and A has beaten B."""
    games = [("A", 5, "B", 3), ("B", 5, "C", 1), ("C", 4, "A", 3)]
    entrants = entrants_of(games)
    scores = {name: entrant.score for name, entrant in entrants.items()}
    found = values(["points", "head-to-head"], entrants, scores, 0)
    plain = {name: tuple(map(int, pair)) for name, pair in found.items()}
    assert plain == {"A": (8, 1), "B": (8, 0), "C": (5, 0), "D": (0, 0)}


@given(
    st.lists(
        st.tuples(st.sampled_from(list(combinations("ABCD", 2))), st.integers(0, 2), st.integers(0, 2)),
        max_size=30,
    )
)
def test_they_are_what_a_look_at_every_game_gives(drawn: list[tuple[tuple[str, str], int, int]]) -> None:
    games = [(one, own, other, others) for (one, other), own, others in drawn]
    halves = dict.fromkeys("ABCD", 0)
    for one, own, other, others in games:
        halves[one] += 2 * (own > others) + (own == others)
        halves[other] += 2 * (others > own) + (own == others)
    assert {name: 2 * sums.score for name, sums in entrants_of(games).items()} == halves
    sonneborn, buchholz = dict.fromkeys("ABCD", 0), dict.fromkeys("ABCD", 0)
    met: dict[str, dict[str, int]] = {name: {} for name in "ABCD"}
    for one, own, other, others in games:
        for name, opponent, points, against in ((one, other, own, others), (other, one, others, own)):
            sonneborn[name] += (2 * (points > against) + (points == against)) * halves[opponent]
            buchholz[name] += halves[opponent]
            met[name][opponent] = met[name].get(opponent, 0) + 1
    assert of("sonneborn-berger", games) == {name: value / 4 for name, value in sonneborn.items()}
    assert of("buchholz", games) == {name: value / 2 for name, value in buchholz.items()}
    median = {}
    for name, opponents in met.items():
        ordered = sorted((halves[other], count) for other, count in opponents.items())
        median[name] = sum(each * count for each, count in ordered[1:-1]) / 2
    assert of("median-buchholz", games) == median


def field_of(
    opponents: Mapping[str, Sequence[str]], own: str = "0", unplayed: Sequence[Unplayed] = (), games: int = 1
) -> Field:
    """Players of one score who have drawn `games` with each of some opponents, whose scores are given."""
    entrants: dict[str, PlayerSums] = {}
    scores: dict[str, Fraction] = {}
    for name, of_them in opponents.items():
        numbered = {f"{name}{number}": Fraction(score) for number, score in enumerate(of_them)}
        entrants[name] = PlayerSums(against={each: HeadToHead(games, games) for each in numbered})
        scores |= {name: Fraction(own)} | numbered
    return Field(entrants, scores, 0, tuple(opponents), unplayed=dict.fromkeys(opponents, unplayed))


def test_the_median_leaves_out_an_opponent_with_all_of_its_games() -> None:
    """Two games a pairing: of the scores 5, 3, 3, 1.5, 0 are left 7.5, twice; of 3, 3, 3, 2, 0.5 8, twice."""
    field = field_of({"a": ("5", "3", "3", "3/2", "0"), "b": ("3", "3", "3", "2", "1/2")}, games=2)
    assert [TIE_BREAKS["median-buchholz"](name, field) for name in "ab"] == [15, 16]
    few = field_of({"a": ("5", "3")}, games=2)
    assert TIE_BREAKS["median-buchholz"]("a", few) == 0


@all_of(
    ("tie_break", "unplayed", "expected"),
    [
        ("buchholz", (), 9.5),
        ("sonneborn-berger", (), 4.75),
        ("median-buchholz", (), 3.5),
        # A bye: a virtual opponent of 3 points, against whom the round was won.
        ("buchholz", (Unplayed(1, 1),), 12.5),
        ("sonneborn-berger", (Unplayed(1, 1),), 7.75),
        ("median-buchholz", (Unplayed(1, 1),), 6.5),
        # A bye, and a round without the player, which was lost.
        ("buchholz", (Unplayed(1, 1), Unplayed(1, 0)), 15.5),
        ("sonneborn-berger", (Unplayed(1, 1), Unplayed(1, 0)), 7.75),
        ("median-buchholz", (Unplayed(1, 1), Unplayed(1, 0)), 9.5),
        # Two games of a pairing were not played.
        ("buchholz", (Unplayed(2, 1),), 15.5),
        ("wins", (Unplayed(1, 1),), 0),
        ("match-points", (Unplayed(1, 1),), 3),
    ],
)
def test_a_round_without_play_is_one_against_a_virtual_opponent(
    tie_break: str, unplayed: Sequence[Unplayed], expected: float
) -> None:
    """FIDE C.07: it has the player's own score, 3, beside opponents of 4, 3.5 and 2."""
    field = field_of({"a": ("4", "7/2", "2")}, "3", unplayed)
    assert TIE_BREAKS[tie_break]("a", field) == expected


def test_the_limits_of_a_virtual_opponent() -> None:
    """Half of the rounds; of a walkover the points of the absent bot, with a half for each round since."""
    gone = [Unplayed(1, 0, departed=True)]
    field = field_of(
        {"a": ("4", "1")}, "3", [Unplayed(1, 1, limit=Fraction(5, 2)), Unplayed(1, 1, absent="a1")]
    )
    assert TIE_BREAKS["buchholz"]("a", field) == 4 + 1 + Fraction(5, 2) + 1
    left = Field(field.entrants, field.scores, 0, field.tied, unplayed={**field.unplayed, "a1": gone})
    assert TIE_BREAKS["buchholz"]("a", left) == 4 + Fraction(3, 2) + Fraction(5, 2) + Fraction(3, 2)


#: M. Held, Exercises in Tie-Breaking, section 2.1: for each player and round the opponent and the result; `b`
#: is a bye, `f` a walkover, `-` a round without the player.
HELD = """
+9 =13 =2 +15 =4 | +10 +7 =1 +16 =3 | =11 +6 +8 =4 =2 | +12 =b +13 =3 =1
-13 -15 +11 =7 +10 | -14 -3 +b +10 +8 | +15 -2 -16 =5 -11 | =16 +14 -3 +13 -6
-1 -10 =b -f11 +b | -2 +9 -15 -6 -5 | =3 -16 -5 +f9 +7 | -4 +b +f14 - -
+5 =1 -4 -8 -14 | +6 -8 -f12 - +13 | -7 +5 +10 -1 -16 | =8 +11 +7 -2 +15
"""
#: Buchholz, Buchholz cut 1 and Sonneborn-Berger by the rules of 2026, of those for which they are published.
HELD_VALUES = {
    "buchholz": {1: 12.5, 3: 15.5, 4: 14, 5: 8.5, 8: 13.5, 11: 12.5, 16: 12.5},
    "buchholz-cut-1": {5: 7.5, 8: 12, 11: 11},
    "median-buchholz": {2: 8.5, 4: 8, 12: 6},
    "sonneborn-berger": {
        1: 8, 2: 9.5, 3: 10.5, 4: 9.25, 5: 4.25, 6: 6, 7: 3.25, 8: 5.25,
        9: 2.25, 10: 1.5, 11: 4.75, 12: 4, 13: 4.25, 14: 4.5, 15: 3.5, 16: 7.25,
    },
}  # fmt: skip


def held() -> Field:
    entrants: dict[str, PlayerSums] = {}
    unplayed: dict[str, list[Unplayed]] = {}
    for number, line in enumerate(HELD.replace("\n", " | ").strip(" |").split("|"), start=1):
        name, codes = str(number), line.split()
        sums, missed = entrants.setdefault(name, PlayerSums()), unplayed.setdefault(name, [])
        for place, code in enumerate(codes):
            half, other = Fraction({"+": 2, "=": 1, "-": 0}[code[0]], 2), code[1:]
            if other.isdigit():
                sums.meet(other, int(2 * half), 1)
                continue
            absent = other[1:] if half == 1 else ""
            gone = all(each == "-" for each in codes[place:])
            voluntary = half < 1  # a bye that was asked for, a walkover that was lost, or not there
            missed.append(Unplayed(1, half, absent, Fraction(5, 2), voluntary, gone))
    scores = {
        name: sums.score + sum(Fraction(each.score) for each in unplayed[name])
        for name, sums in entrants.items()
    }
    return Field(entrants, scores, 0, (), unplayed=unplayed)


@pytest.mark.parametrize("tie_break", HELD_VALUES)
def test_the_exercise_of_fides_arbiters(tie_break: str) -> None:
    field = held()
    expected = HELD_VALUES[tie_break]
    assert {number: TIE_BREAKS[tie_break](str(number), field) for number in expected} == expected


@all_of("tie_break", sorted({*TIE_BREAKS} - {"lot"}))
def test_where_the_score_is_a_mean_more_games_of_the_same_kind_break_no_tie(tie_break: str) -> None:
    """A gauntlet: a, b and c play eight games, the others six; the first seat wins, the other has a fault."""
    table = Standings("abcwxyz", "points", [tie_break])
    for challenger in "abc":
        for other in "wxyz":
            for names in ((challenger, other), (other, challenger)):
                table.add(GameResult(names, (1, 0), ((names[1], "timeout"),), (300, 300)))
    assert table.by_mean
    assert {row.rank for row in table.rows()} == {1}


def test_what_a_configuration_may_name() -> None:
    assert check(["wins", "lot"]) == ("wins", "lot")
    with pytest.raises(ValueError, match=r"^a tie-break is one of points, .*, lot, not 'elo'$"):
        check(["elo"])
    with pytest.raises(ValueError, match=r"^the tie-break lot is there twice$"):
        check(["lot", "wins", "lot"])
    assert set(TIE_BREAKS) >= {"points", "wins", "head-to-head", "buchholz", "lot"}


PACKAGE = """
def mean(name, field):
    return field.entrants[name].points / 4

number = 3
"""


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[None]:
    """A package with tie-breaks, of which one cannot be used."""
    (tmp_path / "breakpack.py").write_text(PACKAGE)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "break-pack"\nversion = "1"\n[project.entry-points."arena.tie_breaks"]\n'
        'mean = "breakpack:mean"\nnumber = "breakpack:number"\n'
    )
    install(tmp_path, tmp_path / "pyproject.toml")
    with plugged(tmp_path):
        yield


@pytest.mark.usefixtures("installed")
def test_a_package_adds_a_tie_break() -> None:
    assert check(["wins", "mean"]) == ("wins", "mean")
    assert of("mean") == {"A": 4, "B": 4.5, "C": 2.5, "D": 2.5}
    table = Standings(["A", "B"], "wins", ["mean"])
    assert table.rows()[0].tie_breaks == {"mean": Fraction(0)}


@pytest.mark.usefixtures("installed")
def test_a_tie_break_that_is_no_function_is_refused_in_one_line() -> None:
    with pytest.raises(
        ValueError, match=r"^arena.tie_breaks: number = breakpack:number .*: 3 is no function; "
    ):
        check(["wins", "number"])


def engines() -> Standings:
    """The contest of the page: four deals from both seats."""
    table = Standings(("ann", "bob", "cid", "dan"), "wins", ["pairs-won", "won-plies", "direct-match"])
    plies = {"ann": [30, 40, 50, 60], "bob": [20, 30, 40, 50]}
    for deal in range(1, 5):
        for seat in (0, 1):
            for name, other, won in (("ann", "cid", deal < 3), ("bob", "dan", seat == 0)):
                names = (name, other) if seat == 0 else (other, name)
                totals = (int(won), int(not won)) if seat == 0 else (int(not won), int(won))
                length = plies[name].pop() if won else 99
                table.add(GameResult(names, totals, plies=length, deal=deal))
    return table


def test_the_example_of_engine_contests() -> None:
    """docs/configuration.md tells it."""
    rows = {row.name: row.tie_breaks for row in engines().rows()}
    shown = [f"`pairs-won` is {rows['ann']['pairs-won']} and {rows['bob']['pairs-won']}"]
    shown.append(f"`won-plies` is {rows['ann']['won-plies']} and {rows['bob']['won-plies']}")
    for name in ("direct-match", "head-to-head"):
        met = Standings(("ann", "bob"), "points", [name])
        for number, won in enumerate((True, True, False)):
            met.add(GameResult(("ann", "bob"), (2, 1) if won else (0, 2), deal=number))
        found = {row.name: row.tie_breaks[name] for row in met.rows()}
        shown.append(f"`{name}` is {found['ann']} and {found['bob']}")
    text = " ".join((Path(__file__).resolve().parents[3] / "docs" / "configuration.md").read_text().split())
    for each in shown:
        assert each in text


def test_a_game_that_is_taken_back_ends_its_pair() -> None:
    table = Standings(("a", "b"), "wins", ["pairs-won"])
    games = [GameResult(("a", "b"), (1, 0), deal=1), GameResult(("b", "a"), (0, 1), deal=1)]
    values = []
    for result, sign in ((games[0], 1), (games[1], 1), (games[1], -1), (games[1], 1)):
        table.add(result, sign)
        values.append(table.players["a"].pairs)
    assert values == [0, 1, 0, 1]
    table.add(GameResult(("a", "b"), (1, 1), deal=2))
    table.add(GameResult(("b", "a"), (1, 1), deal=2))
    assert table.players["a"].pairs == 1, "a draw wins no pair"


def test_without_a_game_won_there_are_no_plies_of_one() -> None:
    table = Standings(("a", "b"), "wins", ["won-plies", "direct-match"])
    table.add(GameResult(("a", "b"), (1, 1), plies=7))
    assert [row.tie_breaks["won-plies"] for row in table.rows()] == [-1_000_000] * 2
    assert [row.tie_breaks["direct-match"] for row in table.rows()] == [1, 1]
    unmet = Standings(("a", "b", "c"), "wins", ["direct-match"])
    unmet.add(GameResult(("a", "b"), (1, 1)))
    assert {row.tie_breaks["direct-match"] for row in unmet.rows()} == {0, 1}
