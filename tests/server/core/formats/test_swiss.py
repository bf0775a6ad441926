"""Tournaments in the Swiss: which rounds are drawn and played, who is absent, late or has a bye."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from tests.slices import rows

from arena_protocol.record import VOID
from arena_server.core.facts import Drawn
from arena_server.core.formats import format_of
from arena_server.core.formats.encounters import Encounter
from arena_server.core.formats.swiss import Swiss, most_rounds
from arena_server.core.formats.swiss_pairing import FIRST, SECOND, Candidate, pair
from arena_server.stats.results import PastGame
from arena_server.stats.tiebreaks import Unplayed
from arena_server.terms import config as config_module
from arena_server.terms.config import ContestConfig, ContestConfigError
from arena_server.terms.formats import FormatError, Terms

from ....slices import all_of
from .drawn import Field
from .swiss_twin import strengths
from .test_rounds import bots


def tournament(seed: int) -> Field:
    """A random tournament, with players of different strength; a third has many rounds for its field."""
    rng = Random(seed)
    strength = strengths(rng.randint(2, 24), rng)
    count = len(strength)
    rounds = rng.randint(1, most_rounds(count)) if rng.random() < 0.3 else 0

    def play(names: tuple[str, ...], rng: Random) -> tuple[int, ...]:
        ahead = strength[names[0]] - strength[names[1]] + rng.gauss(0, 1)
        return (1, 1) if abs(ahead) < 0.3 else (int(ahead > 0), int(ahead < 0))

    terms = Terms(tuple(strength), 2, 1, False, {"rounds": rounds} if rounds else {}, secret=seed)
    return Field(Swiss, terms, rng, play)


def check_tournament(seed: int) -> None:
    field = tournament(seed)
    field.finish()
    form = field.form
    assert isinstance(form, Swiss)
    rounds = [made for made in form.draws.rounds if made]
    count, planned = len(field.terms.names), form.planned_rounds
    few = 2 * planned <= count
    assert len(rounds) == planned
    met: set[frozenset[str]] = set()
    byes: list[str] = []
    seats: dict[str, list[int]] = {name: [] for name in field.terms.names}
    for made in rounds:
        assert len(made) == (count + 1) // 2
        for each in made:
            if isinstance(each, Encounter):
                assert frozenset(each.names) not in met
                met.add(frozenset(each.names))
                for seat, name in enumerate(each.names, start=FIRST):
                    seats[name].append(seat)
            else:
                assert isinstance(each, str)
                byes.append(each)
    assert len(set(byes)) == len(byes) == (len(rounds) if count % 2 else 0)
    if few:
        for had in seats.values():
            assert abs(had.count(FIRST) - had.count(SECOND)) <= 2
            assert all(len(set(had[at : at + 3])) > 1 for at in range(len(had) - 2))
    total = sum(form.scores().values())
    assert total == sum(len(made) for made in rounds)  # a point for each pairing and each bye


@pytest.mark.parametrize("first", rows(range(0, 100, 50), 2))
def test_random_tournaments(first: int) -> None:
    for seed in range(first, first + 50):
        check_tournament(seed)


@pytest.mark.soak
def test_5000_random_tournaments() -> None:
    for seed in range(5000):
        check_tournament(seed)


def test_bots_of_one_owner_meet_late_or_never() -> None:
    owners = {name: "x" if place < 4 else "y" for place, name in enumerate(bots(8))}
    for rule, most in (("late", 12), ("never", 0)):
        terms = Terms(bots(8), 2, 1, False, {"same_owner": rule, "rounds": 5}, owners)
        field = Field(Swiss, terms, Random(1))
        field.finish()
        assert isinstance(field.form, Swiss)
        same = [
            each for each in field.form.draws.encounters if len({owners[name] for name in each.names}) == 1
        ]
        assert len(same) <= most
        # Four rounds are possible between two owners of four bots each; the fifth cannot be made.
        assert len([made for made in field.form.draws.rounds if made]) == (5 if most else 4)


def test_a_round_that_cannot_be_made_ends_the_contest() -> None:
    """Three bots of one owner and one of another: no round without two of one owner."""
    owners = dict.fromkeys(bots(3), "x")
    field = Field(Swiss, Terms(bots(4), 2, 1, options={"same_owner": "never"}, owners=owners), Random(1))
    field.finish()
    assert field.draws == [Drawn(1, 1, 1, ())]
    assert field.form.exhausted(())
    assert field.form.draws.is_short
    assert (field.form.total, field.form.rounds()) == (4, [])
    assert list(field.form.unplayed()) == [((), 4)]
    assert not any(field.form.has_games(name) for name in bots(4))


def test_who_is_absent_is_not_paired_and_scores_nothing() -> None:
    field = Field(Swiss, Terms(bots(5), 2, 1), Random(1))
    field.leave("b0", for_good=True)
    field.finish()
    assert all("b0" not in group for drawn in field.draws for group in drawn.groups)
    assert field.form.scores()["b0"] == 0
    one = Swiss(Terms(bots(2), 2, 1))
    assert one.draw_due({"b0"}) is None


def test_who_has_won_by_walkover_has_no_bye_while_another_can_have_it() -> None:
    """Of six bots one leaves in the first round: its opponent has had its free point."""
    for seed in range(40):
        field = Field(Swiss, Terms(bots(6), 2, 2, options={"rounds": 3}, secret=seed), Random(seed))
        field.start()  # draws, and b2 never comes
        field.leave("b2", for_good=True)
        field.finish()
        (walkover,) = [each for each in field.form.draws.encounters if each.lost_by]
        byes = [name for drawn in field.draws for name in drawn.byes]
        assert len(set(byes)) == len(byes)
        assert walkover.winner not in byes, f"seed {seed}: {walkover.winner} in {byes}"


def test_a_walkover_is_no_reason_to_end_early() -> None:
    """Where each of the others has had a bye the one that has won by walkover has it."""
    three = [
        Candidate("a", 4, had_bye=True),
        Candidate("b", 2, had_walkover=True),
        Candidate("c", had_bye=True),
    ]
    assert pair(three) == (("a", "c"), ("b",))
    assert pair([each._replace(had_bye=True) for each in three]) is None


def test_a_late_entrant_plays_from_the_next_round_on_with_no_points() -> None:
    field = Field(Swiss, Terms(bots(4), 2, 1, options={"rounds": 2}, owners={"b0": "x"}), Random(1))
    for name in bots(4):
        field.enter(name)
    field.start()
    field.join("late", "b0's")
    field.enter("late")
    assert field.form.scores()["late"] == 0
    assert field.form.has_games("late")
    field.end()
    field.end()
    field.start()
    assert "late" in {name for group in field.draws[1].groups for name in group}
    assert field.form.terms.owners == {"b0": "x", "late": "b0's"}
    with pytest.raises(FormatError, match=r"^contest\.format: the last round has been drawn$"):
        field.join("later")
    field.finish()
    field.restart()
    assert field.form.terms.names == (*bots(4), "late")


def test_rounds_are_added() -> None:
    field = Field(Swiss, Terms(bots(5), 2, 1, options={"rounds": 2}), Random(1))
    for wrong in (0, 4):
        with pytest.raises(
            FormatError,
            match=rf"^expected (to extend by at most 3 rounds, .*|a number of rounds above 0), got {wrong}$",
        ):
            field.form.extend(wrong)
    field.form.extend(2)
    with pytest.raises(
        FormatError, match=r"^expected to extend by at most 1 round, as no two bots meet twice"
    ):
        field.form.extend(2)
    field.finish()
    assert len(field.draws) == 4


@all_of(
    ("count", "options", "owners", "most"),
    [
        (4, {}, {}, 3),
        (5, {}, {}, 5),
        (4, {"same_owner": "never"}, {"b0": "x", "b1": "x", "b2": "y", "b3": "y"}, 2),
        (4, {"same_owner": "never"}, dict.fromkeys(("b0", "b1", "b2"), "x"), 0),
        (4, {"same_owner": "never"}, dict.fromkeys(("b0", "b1", "b2", "b3"), "x"), 0),
        (
            40,
            {"same_owner": "never"},
            {"b0": "x", "b1": "x"},
            39,
        ),  # a large field: as many as there are opponents
    ],
)
def test_no_more_rounds_are_added_than_can_be_drawn(
    count: int, options: dict[str, int | str], owners: dict[str, str], most: int
) -> None:
    """What `extend` allows at any moment is drawn to its end if no bot leaves."""
    for before in range(1, max(1, min(most, 5)) + 1):
        terms = Terms(bots(count), 2, 1, options={"rounds": before, **options}, owners=owners)
        field = Field(Swiss, terms, Random(before))
        assert field.form.length.most == most
        if not most or count > 24:
            continue
        for name in bots(count):
            field.enter(name)
        for _ in range(2 * before):
            field.start()
            if field.running:
                field.end()
        bound = field.form.length.most
        assert before <= bound <= most
        if bound > before:
            field.form.extend(bound - before)
        field.finish()
        assert len(field.draws) == bound
        assert not field.form.draws.is_short


def test_more_rounds_than_opponents_are_refused() -> None:
    for count, most in ((4, 3), (5, 5)):
        text = rf"^contest\.rounds: expected at most {most}, as no two of {count} bots meet twice, got 9$"
        with pytest.raises(FormatError, match=text):
            Swiss(Terms(bots(count), 2, 1, options={"rounds": 9}))


def test_a_game_that_is_void_for_good_counts_for_neither() -> None:
    form = Swiss(Terms(bots(2), 2, 1))
    form.drawn(Drawn(1, 1, 1, (bots(2),)))
    (game,) = form.planned(1, 2)
    form.started(game)
    form.void(1)
    assert form.scores() == {"b0": 0.5, "b1": 0.5}
    assert PastGame(1, game.names, 1, (0, 0), VOID, 0).end == VOID


def test_without_its_extra_a_contest_is_refused_and_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_module, "find_spec", lambda name: None)
    config = ContestConfig(name="open", seed=1, format="swiss")
    text = r'^contest\.format = "swiss" needs the extra \[swiss\]: run `make install` or .*$'
    with pytest.raises(ContestConfigError, match=text):
        format_of(config, bots(4), 2)
    assert Swiss(Terms(bots(4), 2, 2)).rounds() == []


@pytest.mark.parametrize(
    ("scoring", "text"),
    [
        ("points", Swiss.RANKED_BY),
        ("wins", Swiss.RANKED_BY),
        (
            "3-1-0",
            "points of the rounds: 3 for a pairing won, 1 and 0 for a tied and a lost one, 3 for a bye",
        ),
        (
            "2-1-0.5,bye=1.5",
            "points of the rounds: 2 for a pairing won, 1 and 0.5 for a tied and a lost one, 1.5 for a bye",
        ),
    ],
)
def test_what_a_table_is_ranked_by_is_said_with_the_values_of_its_scoring(scoring: str, text: str) -> None:
    assert Swiss(Terms(bots(4), 2, 1, scoring=scoring)).ranked_by == text


def test_what_was_not_played_of_each_round() -> None:
    """Five bots, two games a pairing: a bye, a walkover after one game, and rounds without who has left."""
    field = Field(Swiss, Terms(bots(5), 2, 2, False, {"rounds": 3}), Random(3), lambda names, _: (1, 0))
    for name in field.terms.names:
        field.enter(name)
    field.start()
    (bye,) = (each for each in field.form.draws.rounds[0] if isinstance(each, str))
    assert field.form.not_played() == {
        n: [Unplayed(2, 1, limit=Fraction(1, 2))] if n == bye else [] for n in field.terms.names
    }
    lost = next(each for each in field.form.draws.last if isinstance(each, Encounter))
    left, stays = lost.names
    while not lost.played:
        field.end()
    field.leave(left, for_good=True)
    while not field.form.exhausted(field.absent):
        field.start()
        if field.running:
            field.end()
    found = field.form.not_played()
    half = Fraction(3, 2)
    assert found[stays][0] == Unplayed(1, 1, absent=left)
    assert found[left] == [
        Unplayed(1, 0, limit=half, voluntary=True),
        Unplayed(2, 0, limit=half, voluntary=True, departed=True),
        Unplayed(2, 0, limit=half, voluntary=True, departed=True),
    ]


def test_a_bot_that_was_drawn_later_has_not_departed() -> None:
    field = Field(Swiss, Terms(bots(6), 2, 1, options={"rounds": 2}), Random(1))
    for name in bots(6)[1:]:
        field.enter(name)
    field.absent.add("b0")
    field.start()
    field.enter("b0")
    field.finish()
    assert field.form.not_played()["b0"] == [Unplayed(1, 0, limit=Fraction(1), voluntary=True)]


@pytest.mark.parametrize(
    ("owners", "rounds", "doubtful"),
    [
        ("xxyy", 2, False),
        ("xxyy", 3, True),
        ("xxxy", 1, True),
        ("", 3, False),
        ("xyxyz", 5, True),
        ("xyxyz", 3, False),
    ],
)
def test_rounds_that_cannot_be_promised_are_said_before_the_contest(
    owners: str, rounds: int, doubtful: bool
) -> None:
    """As long as rounds can be drawn of those who may meet, all of them are played."""
    names = bots(len(owners) or 4)
    owned = dict(zip(names, owners, strict=False))
    terms = Terms(names, 2, 1, options={"same_owner": "never", "rounds": rounds}, owners=owned)
    text = Swiss.doubt(terms)
    assert text.startswith(f"contest.rounds: {rounds} rounds cannot be promised") is doubtful
    assert bool(text) is doubtful
    late = Terms(names, 2, 1, options={"same_owner": "late", "rounds": rounds}, owners=owned)
    assert Swiss.doubt(late) == ""
    for seed in range(5):
        field = Field(Swiss, terms, Random(seed))
        field.finish()
        assert field.form.draws.is_short is doubtful


def test_of_a_large_field_nothing_is_said() -> None:
    names = bots(26)
    owned = dict.fromkeys(names, "x")
    assert Swiss.doubt(Terms(names, 2, 1, options={"same_owner": "never"}, owners=owned)) == ""
