"""A knockout: what its levels are called, and what decided a match, in the document of its rounds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.slices import all_of

from arena_cli.rounds import bracket_lines
from arena_server.core.formats.double import DoubleElimination
from arena_server.core.formats.knockout import Knockout
from arena_server.core.formats.rounds_json import rounds_json
from arena_server.stats.results import PastGame
from arena_server.terms.file import parse_contest
from arena_server.terms.formats import FormatError, Terms

from .drawn import Field

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "knockout.md").read_text(encoding="utf-8")


def final(*totals: tuple[int, int], by_points: bool, extra_pairs: int = 0) -> dict[str, Any]:
    """The match of ann and bob, each of whose games ended with these points of ann and bob."""
    names = ("ann", "bob")
    knockout = Knockout(Terms(names, 2, 2, False, {"extra_pairs": extra_pairs}, {}, by_points))
    draw = knockout.draw_due(())
    assert draw is not None
    knockout.drawn(draw.run())
    for name in names:
        knockout.enter(name)
    for ann, bob in totals:
        for name in names:
            knockout.free(name, 1)
        pairing = knockout.next()
        assert pairing is not None
        points = {"ann": ann, "bob": bob}
        knockout.result(
            PastGame(
                pairing.number, pairing.names, 0, tuple(map(points.__getitem__, pairing.names)), "normal", 9
            )
        )
    match: dict[str, Any] = rounds_json(knockout.rounds(), names, "")["rounds"][0]["matches"][0]
    return match


@all_of(
    ("totals", "by_points", "winner", "decided_by"),
    [
        ([(3, 1), (3, 1)], False, "ann", None),
        ([(3, 1), (1, 9)], False, "ann", "seed"),
        ([(3, 1), (1, 9)], True, "bob", "points"),
        ([(3, 1), (1, 3)], True, "ann", "seed"),
        ([(3, 1)], True, None, None),
    ],
)
def test_a_match(
    totals: list[tuple[int, int]], by_points: bool, winner: str | None, decided_by: str | None
) -> None:
    match = final(*totals, by_points=by_points)
    assert (match["winner"], match.get("decided_by")) == (winner, decided_by)


def test_a_tie_that_two_more_games_decide_is_not_over() -> None:
    match = final((3, 1), (1, 3), by_points=False, extra_pairs=1)
    assert (match["winner"], match.get("decided_by"), match["state"]) == (None, None, "open")


def test_the_titles_of_the_levels() -> None:
    field = Field(Knockout, Terms(tuple(f"b{number}" for number in range(16)), 2, 1), Random(1))
    field.finish()
    titles = [each.title for each in field.form.rounds()]
    assert titles == ["last 16", "quarter-finals", "semi-finals", "final"]


def test_who_is_not_beaten_has_games_until_the_final_is_over() -> None:
    """Also while it waits for its opponent in the next level."""
    names = tuple(f"b{number}" for number in range(8))
    field = Field(
        Knockout, Terms(names, 2, 1), Random(1), play=lambda seats, rng: tuple(map(names.index, seats))
    )
    for name in names:
        field.enter(name)
    field.start()
    left = set(names)
    while field.running:
        field.end()
        left.remove(min(field.results[-1].names))
        field.start()
        assert {name for name in names if field.form.has_games(name)} == (left if field.running else set())


@all_of("games", [1, 2])
@all_of("bots", [4, 5, 8, 16])
def test_the_total_keeps_the_matches_of_those_who_left(bots: int, games: int) -> None:
    """Both players of a pairing of any level leave: what they and the winner miss was planned."""
    names = tuple(f"b{number:02}" for number in range(bots))
    for level in range(bots.bit_length() - 1):
        field = Field(Knockout, Terms(names, 2, games, options={"extra_pairs": 0}), Random(level), first_wins)
        planned = field.form.total
        for name in names:
            field.enter(name)
        field.start()
        while len(field.draws) <= level:
            field.end()
            field.start()
        for name in field.form.draws.last[0].names:
            field.leave(name, for_good=True)
        while field.running:
            field.end(void=True)
        field.finish()
        assert field.form.total == planned
        assert sum(count for _, count in field.form.unplayed()) == planned - len(field.results)


def first_wins(names: tuple[str, ...], rng: Random) -> tuple[int, ...]:
    return tuple(int(name == min(names)) for name in names)


def cup(bots: int, options: dict[str, Any], results: dict[frozenset[str], str], games: int = 2) -> Field:
    """A bracket played to its end: the games of a pair end as its text says, `1`: its first name has won."""

    def play(names: tuple[str, ...], rng: Random) -> tuple[int, ...]:
        pair = frozenset(names)
        played = sum(pair == frozenset(each.names) for each in field.results)
        said = results.get(pair, "1" * 9)[played]
        winner = {"1": min(names), "2": max(names)}.get(said)
        return tuple(int(name == winner) for name in names)

    terms = Terms(tuple(f"b{number}" for number in range(bots)), 2, games, options=options, by_points=False)
    field = Field(Knockout, terms, Random(1), play)
    field.finish()
    return field


@all_of(
    ("tie", "games", "winner", "decided_by", "played"),
    [
        ("extra:2,seed", "==12", "b0", "seed", 6),
        ("extra:2,seed", "==1122", "b0", "extra games", 4),
        ("extra,sudden-death:3", "====2", "b1", "sudden death", 5),
        ("sudden-death:3,seed", "=====", "b0", "seed", 5),
        ("sudden-death", "=====2", "b1", "sudden death", 6),
        ("seed", "12", "b0", "seed", 2),
        ("extra:1", "22", "b1", None, 2),
    ],
)
def test_the_steps_of_a_tie(tie: str, games: str, winner: str, decided_by: str | None, played: int) -> None:
    field = cup(2, {"tie": tie}, {frozenset(("b0", "b1")): games + "====="})
    (match,) = field.form.rounds()[-1].matches
    assert (match.winner, match.decided_by, len(match.games)) == (winner, decided_by, played)
    assert field.form.scores() == {"b0": int(winner == "b0"), "b1": int(winner == "b1")}
    seats = [each.names for each in field.results]
    assert all(one == other[::-1] for one, other in pairwise(seats)), "the seats change from game to game"


def test_points_are_a_step_of_a_tie_whatever_the_scoring() -> None:
    for tie, decided_by in (("points,seed", "points"), ("seed", "seed")):
        totals = [(9, 1), (3, 1)]
        terms = Terms(("b0", "b1"), 2, 2, options={"tie": tie}, by_points=False)
        field = Field(Knockout, terms, Random(1), lambda *_, left=totals: left.pop())
        field.finish()
        (match,) = field.form.rounds()[0].matches
        assert (match.winner, match.decided_by) == ("b1" if tie != "seed" else "b0", decided_by)


def test_the_losers_of_the_semi_finals_play_for_the_third_place() -> None:
    field = cup(4, {"third_place": True}, {frozenset(("b2", "b3")): "22"})
    rounds = field.form.rounds()
    assert [(each.title, each.kind) for each in rounds] == [
        ("semi-finals", "level"),
        ("final", "level"),
        ("third place", "round"),
    ]
    assert [match.names for each in rounds[1:] for match in each.matches] == [("b0", "b1"), ("b3", "b2")]
    assert rounds[-1].matches[0].winner == "b3"
    scores = field.form.scores()
    assert scores == {"b0": 2, "b1": 1, "b3": Fraction(1, 2), "b2": 0}
    assert field.form.ranked_by == "levels of the bracket passed, and 1/2 for the third place"
    assert field.form.total == 8


def test_without_two_losers_no_match_is_played_for_the_third_place() -> None:
    """Of three bots the best has a bye in the semi-finals."""
    field = cup(3, {"third_place": True}, {})
    (third,) = field.form.rounds()[-1].matches
    assert (third.names, third.state, field.form.total) == (("b2", None), "bye", 4)
    assert field.form.scores() == {"b0": 2, "b1": 1, "b2": Fraction(1, 2)}


@all_of("third", [False, True])
@all_of("bots", range(2, 10))
def test_the_total_is_known_from_the_beginning_where_no_pairing_is_tied(bots: int, *, third: bool) -> None:
    """All but the winner are beaten once, and the losers of two semi-finals meet."""
    names = tuple(f"b{number}" for number in range(bots))
    options = {"third_place": third, "extra_pairs": 0}
    field = Field(Knockout, Terms(names, 2, 1, options=options), Random(bots), first_wins)
    expected = bots - 1 + (third and bots > 3)
    totals = []
    for _ in step_by_step(field):
        totals.append(field.form.total)
    assert {*totals} == {expected} == {len(field.results)}


def step_by_step(field: Field) -> Iterator[None]:
    """Play it to its end; look at it before the first round, and before and after all that is decided."""
    for name in field.terms.names:
        field.enter(name)
    yield
    while not field.form.exhausted(()):
        if not field.running:
            field.next_round()
            yield
            field.start()
        field.end()
        yield


@pytest.mark.parametrize(("play_all", "played"), [(False, 3), (True, 5)])
def test_all_games_of_a_pairing(*, play_all: bool, played: int) -> None:
    field = cup(2, {"play_all": play_all}, {}, games=5)
    assert len(field.results) == played


@all_of(
    ("options", "paired", "text"),
    [
        (
            {"tie": "coin"},
            False,
            "contest.tie: expected steps such as 'points,extra:3,sudden-death,seed', got 'coin'",
        ),
        ({"tie": 3}, False, "contest.tie: expected steps such as 'points,extra:3,sudden-death,seed', got 3"),
        ({"tie": "extra:0"}, False, "contest.tie: expected steps such as"),
        ({"tie": "seed,extra"}, False, "contest.tie: expected seed as the last step, got 'seed,extra'"),
        (
            {"tie": "extra,points"},
            False,
            "contest.tie: expected points as the first step, got 'extra,points'",
        ),
        ({"tie": "extra:99,extra:2"}, False, "contest.tie: expected a pairing to play on at most 100 times"),
        (
            {"tie": "extra", "extra_pairs": 1},
            False,
            "contest.extra_pairs: expected either it or contest.tie, which also says how many, got both",
        ),
        (
            {"tie": "sudden-death"},
            True,
            'contest.tie: expected no sudden-death with deals = "paired", because a single game leaves',
        ),
        ({"third_place": 1}, False, "contest.third_place: expected true or false, got 1"),
    ],
)
def test_what_is_refused(options: dict[str, Any], text: str, *, paired: bool) -> None:
    with pytest.raises(FormatError) as caught:
        Knockout(Terms(("a", "b"), 2, 2, paired, options))
    assert str(caught.value).startswith(text)


def test_the_example_of_the_page() -> None:
    """The bracket that the page prints is that of the games it tells of."""
    file = parse_contest(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0], "c.toml")
    names = tuple(bot.name for bot in file.bot)
    games = {frozenset(("ann", "bob")): "====2"}

    def play(pair: tuple[str, ...], rng: Random) -> tuple[int, ...]:
        played = sum(set(pair) == set(each.names) for each in field.results)
        said = games.get(frozenset(pair), "1" * 9)[played]
        winner = {"1": min(pair), "2": max(pair)}.get(said)
        return tuple(int(name == winner) for name in pair)

    terms = Terms(names, 2, 2, options=file.contest.format_options, by_points=False)
    field = Field(Knockout, terms, Random(1), play)
    field.finish()
    document = rounds_json(field.form.rounds(), names, "")["rounds"]
    lines = bracket_lines([each for each in document if each["kind"] == "level"])
    assert "\n".join(lines).strip() == re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0].strip()
    assert document[-1]["title"] == "third place"


# -- double elimination


def two_defeats(bots: int, seed: int, options: dict[str, Any] | None = None) -> Field:
    names = tuple(f"b{number:02}" for number in range(bots))
    field = Field(DoubleElimination, Terms(names, 2, 1, options=options or {}, by_points=False), Random(seed))
    field.finish()
    return field


@all_of("bots", [2, 3, 4, 5, 6, 7, 8, 9, 13, 16])
@all_of("resets", [False, True])
def test_all_but_the_winner_are_beaten_twice(bots: int, *, resets: bool) -> None:
    """And who comes into the final without a defeat may be beaten there once."""
    for seed in range(8):
        field = two_defeats(bots, seed, {"reset": resets})
        matches = [match for each in field.form.rounds() for match in each.matches if None not in match.names]
        lost = Counter(name for each in matches for name in each.names if name != each.winner)
        winner = matches[-1].winner
        assert winner is not None
        last = {name for name in matches[-1].names if name != winner}
        for name in set(field.terms.names) - {winner}:
            assert lost[name] == 2 or (not resets and name in last and lost[name] == 1)
        assert lost[winner] <= 1
        assert len(matches) in (2 * (bots - 1), 2 * (bots - 1) + resets)
        scores = field.form.scores()
        assert sorted(scores, key=scores.__getitem__)[-1] == winner
        assert list(scores.values()).count(max(scores.values())) == 1


@pytest.mark.parametrize("kind", [Knockout, DoubleElimination])
@pytest.mark.parametrize("bots", [2, 3, 5, 8])
def test_what_a_bot_has_survived_is_never_less_later(kind: type[Knockout], bots: int) -> None:
    """Also while a round is open, a tied pairing plays on, or the next round is not drawn yet."""
    names = tuple(f"b{number}" for number in range(bots))
    for seed in range(6):
        field = Field(kind, Terms(names, 2, 1, options={"extra_pairs": 2}, by_points=False), Random(seed))
        before: Mapping[str, Fraction] = dict.fromkeys(names, Fraction(0))
        ties = 0
        for _ in step_by_step(field):
            scores, rounds = field.form.scores(), field.form.rounds()
            assert bool(rounds) == bool(field.draws)
            assert all(before[name] <= scores[name] for name in names)
            playing = {name for each in field.form.draws.last if each.winner is None for name in each.names}
            ties += len(playing)
            before = scores
        assert ties > 0


@pytest.mark.parametrize("bots", range(2, 10))
def test_the_total_of_double_elimination_is_the_most_that_there_can_be(bots: int) -> None:
    """It falls by one once the final needs no deciding match, and not while that is open."""
    names = tuple(f"b{number}" for number in range(bots))
    for seed in range(4):
        terms = Terms(names, 2, 3, options={"extra_pairs": 0, "play_all": True}, by_points=False)
        field = Field(DoubleElimination, terms, Random(seed))
        totals = [field.form.total for _ in step_by_step(field)]
        assert totals == sorted(totals, reverse=True)
        assert totals[0] == 3 * (2 * bots - 1)
        assert totals[-1] == len(field.results) in (3 * (2 * bots - 2), 3 * (2 * bots - 1))


def test_the_example_of_double_elimination() -> None:
    """The draws that the page tells."""
    names = ("ann", "bob", "cid", "dan")

    def play(pair: tuple[str, ...], rng: Random) -> tuple[int, ...]:
        is_final = len(field.draws) == 4
        return tuple(int(name == (max(pair) if is_final else min(pair))) for name in pair)

    field = Field(DoubleElimination, Terms(names, 2, 1, by_points=False), Random(1), play)
    field.finish()
    assert [[group for group in drawn.groups if group] for drawn in field.draws] == [
        [("ann", "dan"), ("bob", "cid")],
        [("ann", "bob"), ("dan", "cid")],
        [("cid", "bob")],
        [("ann", "bob")],
        [("ann", "bob")],
    ]
    titles = [each.title for each in field.form.rounds()]
    assert titles == [
        *("winners' semi-finals", "winners' final", "losers' round 1", "losers' round 2"),
        *("grand final", "deciding match"),
    ]
    assert field.form.scores() == {"ann": 5, "bob": 4, "cid": 2, "dan": 1}
