"""What a game is worth: texts and tables, the worked example, and tables that never contradict each other."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.programs import inside
from tests.slices import all_of

from arena_cli.standings import cross_table
from arena_server.core.facts import Walkover
from arena_server.core.formats.swiss import Swiss
from arena_server.stats.rated_games import RatedGame
from arena_server.stats.ratings import fit
from arena_server.stats.results import GameResult, PastGame
from arena_server.stats.scoring import Scoring, scoring_of, text_of
from arena_server.stats.standings import Standings
from arena_server.terms.file import parse_contest
from arena_server.terms.formats import Terms

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "scoring.md").read_text(encoding="utf-8")
NAMES = "abcd"
TEXTS = ["wins", "3-1-0", "2-1-0,bye=1", "1-0-0", "3-2-1", "1-0.5-0", "10-1.5-0.5,bye=0"]


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({"win": 3, "draw": 1, "loss": 0}, "3-1-0"),
        ({"win": 3, "draw": 1, "loss": 0, "bye": 3}, "3-1-0"),
        ({"win": 2, "draw": 1.5, "loss": 0.5, "bye": 1}, "2-1.5-0.5,bye=1"),
    ],
)
def test_the_values_of_a_file(table: dict[str, object], text: str) -> None:
    assert text_of(table) == text
    scoring = scoring_of(text)
    assert [scoring.win, scoring.draw, scoring.loss] == [table[key] for key in ("win", "draw", "loss")]
    assert scoring.bye == table.get("bye", scoring.win)


@all_of(
    ("table", "error"),
    [
        ({"win": 3, "draw": 1}, "expected win, draw and loss, and bye if it is worth another, got no loss"),
        ({"win": 3, "draw": 1, "loss": 0, "tie": 1}, "and bye if it is worth another, got tie"),
        ({"win": 3, "draw": 1, "loss": -1}, "loss: expected a whole number or a half from 0 to 10, got -1"),
        ({"win": "3", "draw": 1, "loss": 0}, "win: expected a whole number or a half from 0 to 10, got '3'"),
        ({"win": True, "draw": 1, "loss": 0}, "got True"),
        ({"win": 3, "draw": 0.3, "loss": 0}, "draw: expected a whole number or a half from 0 to 10, got 0.3"),
        ({"win": 3, "draw": 4, "loss": 0}, "a win above a loss, and a draw between them, got 3, 4 and 0"),
        ({"win": 1, "draw": 1, "loss": 1}, "a win above a loss, and a draw between them, got 1, 1 and 1"),
    ],
)
def test_wrong_values_of_a_file(table: dict[str, object], error: str) -> None:
    with pytest.raises(ValueError, match=f"{error}$"):
        text_of(table)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("goals", "expected points, wins or values such as 3-1-0, got 'goals'"),
        ("1-2-0", "expected a win above a loss, and a draw between them, got 1, 2 and 0"),
        ("11-1-0", "expected values up to 10, got '11-1-0'"),
    ],
)
def test_wrong_texts(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        scoring_of(text)


Game = tuple[tuple[str, str], tuple[int, int]]
GAMES = st.lists(
    st.tuples(st.sampled_from(list(combinations(NAMES, 2))), st.tuples(*[st.integers(0, 2)] * 2)),
    min_size=1,
    max_size=30,
)


def worth(scoring: Scoring, own: int, others: int) -> Fraction:
    return scoring.win if own > others else scoring.draw if own == others else scoring.loss


def number(cell: object) -> float:
    return 0.0 if cell in (None, "*") else float(str(cell).partition("/")[0])


@given(GAMES, st.sampled_from(TEXTS))
def test_table_cross_table_tie_breaks_and_ratings_never_contradict_each_other(
    games: list[Game], text: str
) -> None:
    """All of them against a twin that looks at each game."""
    scoring, breaks = scoring_of(text), ["head-to-head", "sonneborn-berger", "buchholz", "wins"]
    table = Standings(NAMES, text, breaks)
    own: Counter[str] = Counter()
    cells: dict[tuple[str, str], Fraction] = {}
    for names, totals in games:
        table.add(GameResult(names, totals))
        for one, other in ((0, 1), (1, 0)):
            own[names[one]] += 1
            key = names[one], names[other]
            cells[key] = cells.get(key, Fraction(0)) + worth(scoring, totals[one], totals[other])
    sums = {
        name: sum((value for (one, _), value in cells.items() if one == name), Fraction(0)) for name in NAMES
    }
    by_mean = len({own[name] for name in NAMES}) > 1
    score = {name: sums[name] / max(1, own[name]) if by_mean else sums[name] for name in NAMES}
    rows = {row.name: row for row in table.rows()}
    assert [score[name] for name in rows] == sorted(score.values(), reverse=True)
    drawn = cross_table("", table)
    for row, line in zip(rows.values(), drawn.rows, strict=True):
        assert row.score == score[row.name] if scoring.has_values else row.score in (None, score[row.name])
        assert number(line[-1]) == sums[row.name]
        for rival, cell in zip(rows, line[2:-1], strict=True):
            assert number(cell) == cells.get((row.name, rival), 0)
        tied = [name for name in NAMES if score[name] == score[row.name] and name != row.name]
        among = sum((cells.get((row.name, name), Fraction(0)) for name in tied), Fraction(0))
        assert row.tie_breaks["head-to-head"] in (0, among)
        met = [(other, value) for (one, other), value in cells.items() if one == row.name]
        played = Counter(name for names, _ in games if row.name in names for name in names)
        scale = max(1, own[row.name]) if by_mean else 1
        assert row.tie_breaks["sonneborn-berger"] == Fraction(sum(v * score[o] for o, v in met)) / scale
        assert row.tie_breaks["buchholz"] == Fraction(sum(played[o] * score[o] for o, _ in met)) / scale
    halves = scoring_of("wins")
    for rating in fit(RatedGame(*game, at) for at, game in enumerate(games)).rows:
        mine = [(names.index(rating.name), totals) for names, totals in games if rating.name in names]
        share = sum(worth(halves, totals[seat], totals[1 - seat]) for seat, totals in mine)
        if rating.games == own[rating.name]:  # all of its opponents are rated
            assert rating.score == pytest.approx(float(share / len(mine)))


@given(st.integers(0, 10**6), st.sampled_from(TEXTS))
def test_the_scores_of_a_swiss_are_those_of_its_games_byes_and_walkovers(seed: int, text: str) -> None:
    """With one game a pairing, of which some are lost by walkover; late rounds miss some of the bots."""
    rng, scoring = Random(seed), scoring_of(text)
    names = tuple(f"b{place}" for place in range(rng.randrange(4, 8)))
    form = Swiss(Terms(names, 2, 1, options={"rounds": 3}, scoring=text))
    table = Standings(names, text, ranked_by=form.scores, unplayed=form.not_played)
    extra = dict.fromkeys(names, Fraction(0))
    for count in range(1, 4):
        absent = rng.sample(names, rng.randrange(2) if count > 1 else 0)
        if (draw := form.draw_due(absent)) is None:
            break
        drawn = draw.run()
        form.drawn(drawn)
        for group in drawn.groups:
            if len(group) == 1:
                extra[group[0]] += scoring.bye
        if drawn.groups and rng.random() < 0.5:
            left = rng.choice([group for group in drawn.groups if len(group) == 2])
            form.walk_over(Walkover(count, (left[0],)))
            extra[left[1]] += scoring.win
        for pairing in list(form.planned(1, form.next_number)):
            form.started(pairing)
            totals = rng.randrange(3), rng.randrange(3)
            form.result(PastGame(pairing.number, pairing.names, 1, totals, "complete", 1))
            table.add(GameResult(pairing.names, totals))
    rows = table.rows()
    for row in rows:
        sums = table.players[row.name]
        assert row.score == scoring.of(sums.games, sums.wins, sums.draws) + extra[row.name]
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)  # type: ignore[type-var]


def test_a_swiss_says_what_its_rounds_are_worth() -> None:
    terms = Terms(tuple(NAMES), 2, 1)
    assert Swiss(terms).ranked_by == Swiss.RANKED_BY
    assert Swiss(Terms(tuple(NAMES), 2, 1, scoring="3-1-0,bye=2")).ranked_by == (
        "points of the rounds: 3 for a pairing won, 1 and 0 for a tied and a lost one, 2 for a bye"
    )


def test_the_example_of_the_page(tmp_path: Path) -> None:
    """The file is a contest, and the commands print the tables below them."""
    assert parse_contest(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0], "c.toml").contest.scoring == (
        "3-1-0,bye=2"
    )
    (tmp_path / "games.txt").write_text(re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0])
    found = re.findall(r"```console\n\$ arena (.*?)\n```\n\n(.*?)(?=\n\n```|\Z)", PAGE, re.DOTALL)
    assert len(found) == 3
    for command, printed in found:
        assert inside(*command.split(), cwd=tmp_path).out.strip() == printed.strip()


def test_a_wrong_scoring_of_the_command(tmp_path: Path) -> None:
    outcome = inside("standings", "--scoring", "goals", cwd=tmp_path)
    assert (outcome.code, outcome.line) == (
        2,
        "arena: --scoring: expected points, wins or values such as 3-1-0, got 'goals'",
    )
