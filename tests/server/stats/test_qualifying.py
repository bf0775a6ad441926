"""Who comes from a stage into the next: the rule against a slow twin, and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.stats.qualifying import (
    RATINGS,
    TABLE,
    FinalOrder,
    Source,
    describe,
    placed,
    places_by_rating,
    qualified,
)
from arena_server.stats.rated_games import RatedGame
from arena_server.stats.ratings import fit

NAMES = [f"b{number}" for number in range(9)]


@st.composite
def final_orders(draw: st.DrawFn) -> FinalOrder:
    names = draw(st.permutations(draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=9))))
    ranks = sorted(draw(st.lists(st.integers(1, 5), min_size=len(names), max_size=len(names))))
    out = draw(st.frozensets(st.sampled_from(NAMES), max_size=3))
    return FinalOrder(placed(zip(ranks, names, strict=True)), out, draw(st.integers(0, 3)))


SOURCES = st.lists(
    st.builds(
        Source,
        st.lists(st.sampled_from("abc"), unique=True, min_size=1).map(tuple),
        st.none() | st.integers(1, 5),
        st.integers(0, 4),
        st.sampled_from([TABLE, RATINGS]),
    ),
    min_size=1,
    max_size=3,
)
ORDERS = st.fixed_dictionaries({(stage, by): final_orders() for stage in "abc" for by in (TABLE, RATINGS)})


def slow_twin(sources: Sequence[Source], orders: Mapping[tuple[str, str], FinalOrder]) -> list[str]:
    """The whole field is looked through again for every place that is given away."""
    entrants: list[str] = []
    for source in sources:
        used: dict[str, list[str]] = {stage: [] for stage in source.stages}
        done: set[str] = set()
        for _ in range(source.first or 1000):
            for stage in source.stages:
                order = orders[stage, source.by]
                left = [name for place in order.places for name in place if name not in order.out]
                ranks = {name: rank for rank, place in enumerate(order.places) for name in place}
                left.sort(key=lambda name: (ranks[name], order.names.index(name)))
                found = [name for name in left[source.after :] if name not in (*entrants, *used[stage])]
                if stage in done or not found:
                    done.add(stage)
                    continue
                used[stage].append(found[0])
                entrants.append(found[0])
    return entrants


@given(SOURCES, ORDERS)
def test_the_rule_is_that_of_the_slow_twin(
    sources: list[Source], orders: dict[tuple[str, str], FinalOrder]
) -> None:
    found = qualified(sources, orders)
    assert found == slow_twin(sources, orders)
    assert len(set(found)) == len(found)


@given(final_orders(), final_orders(), st.integers(0, 6))
def test_each_bot_is_in_one_of_two_divisions(upper: FinalOrder, lower: FinalOrder, stay: int) -> None:
    """Promotion and relegation are the same rule twice."""
    lower = FinalOrder(
        tuple(tuple(f"l{name}" for name in place) for place in lower.places), frozenset(), lower.secret
    )
    orders = {("one", TABLE): upper, ("two", TABLE): lower}
    ups = [Source(("one",), stay), Source(("two",), 2)] if stay else [Source(("two",), 2)]
    above = qualified(ups, orders)
    below = qualified([Source(("one",), after=stay), Source(("two",), after=2)], orders)
    assert sorted(above + below) == sorted(upper.names + lower.names)


TABLES = {
    ("a", TABLE): FinalOrder((("ann",), ("bob",), ("cid",))),
    ("b", TABLE): FinalOrder((("dan",), ("eve",), ("fay",)), frozenset({"eve"})),
}


@all_of(
    ("sources", "expected"),
    [
        ([Source(("a",), 2)], "ann bob"),
        ([Source(("a",))], "ann bob cid"),
        ([Source(("a",), after=1)], "bob cid"),
        ([Source(("a",), 1, 1)], "bob"),
        # The second of b was removed: the third moves up.
        ([Source(("a", "b"), 2)], "ann dan bob fay"),
        ([Source(("b", "a"), 1)], "dan ann"),
        ([Source(("a",), 1), Source(("b",), 1)], "ann dan"),
        # A bot that has come already is passed over.
        ([Source(("a",), 1), Source(("a",), 1)], "ann bob"),
        ([Source(("b",), 9)], "dan fay"),
    ],
)
def test_who_comes(sources: list[Source], expected: str) -> None:
    assert qualified(sources, TABLES) == expected.split()


@pytest.mark.parametrize(
    ("sources", "text"),
    [
        ([Source(("a",), 2)], "the first 2 of a"),
        ([Source(("a",)), Source(("b",), after=2)], "all of a, then all of b behind the first 2"),
        ([Source(("a", "b"), 3, 1, RATINGS)], "3 of each of a and b behind the first 1 by ratings"),
    ],
)
def test_in_words(sources: list[Source], text: str) -> None:
    assert describe(sources) == text


def test_a_lot_decides_between_bots_of_one_place() -> None:
    """It follows from the secret alone, and over the secrets each of them is first as often."""
    tied = [FinalOrder((("ann", "bob", "cid"), ("dan",)), secret=secret).names for secret in range(300)]
    assert all(names[3] == "dan" for names in tied)
    firsts = [names[0] for names in tied]
    assert all(70 < firsts.count(name) < 130 for name in ("ann", "bob", "cid"))
    assert tied[7] == FinalOrder((("cid", "bob", "ann"), ("dan",)), secret=7).names


def test_places_by_rating() -> None:
    """Unbeaten, rated, without a win, and at last who has met none of them."""
    results = [
        *[("ann", "bob")] * 2,
        *[("bob", "cid")] * 3,
        *[("cid", "bob")] * 1,
        *[("cid", "dan")] * 2,
    ]
    games = [RatedGame(names, (1, 0), deal) for deal, names in enumerate(results)]
    table = ["eve", "dan", "cid", "bob", "ann"]
    assert places_by_rating(table, fit(games)) == (("ann",), ("bob",), ("cid",), ("dan",), ("eve",))
