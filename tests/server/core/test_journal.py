"""Facts and their entries, and which entries still matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.record import FaultRecord, InfoRecord, PlyRecord
from arena_server.core.facts import (
    Applied,
    Conduct,
    ContestFact,
    Drawn,
    Extended,
    Invited,
    Joined,
    Left,
    Order,
    Redeemed,
    RegistrationSet,
    Repeat,
    ResumeKeys,
    RunStateSet,
    Sent,
    Separated,
    Shortened,
    TokenSet,
    TotalSet,
    TrialSet,
    Walkover,
)
from arena_server.core.game_facts import Away, Ended, GameFact, Offered, Ready, Started
from arena_server.core.journal import CONTEST, Entry, JournalError, Live, entry_of, fact_of
from arena_server.store.journal import pack, unpack

INTEGERS = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.lists(INTEGERS, max_size=4).map(tuple)
TEXTS = st.text(max_size=8)
NAMES = st.lists(TEXTS, max_size=4).map(tuple)
PLIES = st.builds(
    PlyRecord, INTEGERS, TEXTS, INTEGERS, INTEGERS, INTEGERS, NUMBERS, INTEGERS, NUMBERS, st.booleans(),
    INTEGERS, INTEGERS,
)  # fmt: skip
GAME_FACTS = st.one_of(
    st.builds(Offered, NAMES, INTEGERS, NUMBERS),
    st.builds(Ready, INTEGERS),
    st.builds(Away, INTEGERS),
    st.builds(Started),
    PLIES,
    st.builds(FaultRecord, INTEGERS, INTEGERS, TEXTS, st.binary(max_size=8)),
    st.builds(
        InfoRecord, INTEGERS, INTEGERS, *(st.none() | INTEGERS,) * 3, st.none() | TEXTS, st.none() | TEXTS
    ),
    st.builds(Ended, NUMBERS, TEXTS),
)
CONTEST_FACTS = st.one_of(
    st.builds(ResumeKeys, TEXTS, st.lists(st.none() | TEXTS).map(tuple)),
    st.builds(Conduct, TEXTS, INTEGERS, st.booleans()),
    st.builds(Repeat, INTEGERS, INTEGERS, INTEGERS),
    st.builds(Drawn, INTEGERS, INTEGERS, INTEGERS, st.lists(NAMES, max_size=3).map(tuple)),
    st.builds(Walkover, INTEGERS, NAMES, INTEGERS),
    st.builds(RunStateSet, TEXTS, TEXTS),
    st.builds(Joined, TEXTS, INTEGERS, INTEGERS, TEXTS, TEXTS, TEXTS, TEXTS),
    st.builds(Left, TEXTS, st.booleans()),
    st.builds(Extended, INTEGERS, INTEGERS, INTEGERS),
    st.builds(Shortened, INTEGERS, INTEGERS, INTEGERS),
    st.builds(TrialSet, TEXTS, st.booleans()),
    st.builds(TotalSet, TEXTS, INTEGERS),
    st.builds(Separated, INTEGERS, NAMES),
    st.builds(Invited, INTEGERS, TEXTS, TEXTS, INTEGERS),
    st.builds(Redeemed, INTEGERS, TEXTS),
    st.builds(RegistrationSet, TEXTS, TEXTS, INTEGERS, INTEGERS, st.booleans()),
    st.builds(Applied, TEXTS, st.booleans(), *(TEXTS,) * 5, st.booleans(), st.booleans()),
    st.builds(TokenSet, TEXTS, TEXTS),
    st.builds(Sent, TEXTS, st.booleans()),
    st.builds(Order, INTEGERS, TEXTS, TEXTS, TEXTS, INTEGERS, TEXTS),
)


@given(GAME_FACTS, st.integers(1, 10**9))
def test_a_fact_of_a_game_survives_its_entry_and_its_bytes(fact: GameFact, number: int) -> None:
    entry = entry_of(number, fact)
    (read,) = unpack(pack([entry]))
    assert (read[0], fact_of(read), type(fact_of(read))) == (number, fact, type(fact))


@given(CONTEST_FACTS)
def test_a_fact_of_the_contest_survives_its_entry_and_its_bytes(fact: ContestFact) -> None:
    (read,) = unpack(pack([entry_of(CONTEST, fact)]))
    assert (read[0], fact_of(read), type(fact_of(read))) == (CONTEST, fact, type(fact))


def test_a_walkover_of_an_earlier_version_says_nothing_of_what_was_stored() -> None:
    assert fact_of((CONTEST, "walkover", 2, ("bob",))) == Walkover(2, ("bob",), 0)


@all_of(
    ("entry", "text"),
    [
        ((), "expected a fact of the journal, found ()"),
        ((1,), "expected a fact of the journal, found (1,)"),
        ((1, "dance", 0), "expected a fact of the journal, found (1, 'dance', 0)"),
        ((1, 7), "expected a fact of the journal, found (1, 7)"),
        ((0, "offer"), "expected the number of a game, found (0, 'offer')"),
        ((-1, "repeat", 3, 1, 3), "expected the number of no game, found (-1, 'repeat', 3, 1, 3)"),
        (("1", "offer"), "expected the number of a game, found ('1', 'offer')"),
        ((True, "offer"), "expected the number of a game, found (True, 'offer')"),
        ((1, "repeat", 3, 1, 3), "expected the number of no game, found (1, 'repeat', 3, 1, 3)"),
        ((False, "repeat", 3, 1, 3), "expected the number of no game, found (False, 'repeat', 3, 1, 3)"),
        ((1, "offer", 0), "expected the values of a 'offer' fact, found (1, 'offer', 0)"),
        (
            (1, "offer", ("ann", 2), 1, ()),
            "expected the values of a 'offer' fact, found (1, 'offer', ('ann', 2), 1, ())",
        ),
        ((1, "ready", True), "expected the values of a 'ready' fact, found (1, 'ready', True)"),
        ((1, "end", (1, "2"), "x"), "expected the values of a 'end' fact, found (1, 'end', (1, '2'), 'x')"),
        ((1, "end", 12, "x"), "expected the values of a 'end' fact, found (1, 'end', 12, 'x')"),
        ((0, "keys", "ann", 5), "expected the values of a 'keys' fact, found (0, 'keys', 'ann', 5)"),
    ],
)
def test_an_entry_that_no_contest_wrote_is_refused_in_one_line(entry: Entry, text: str) -> None:
    with pytest.raises(JournalError) as caught:
        fact_of(entry)
    assert str(caught.value) == text


def test_a_long_entry_is_cut_in_the_message() -> None:
    with pytest.raises(JournalError) as caught:
        fact_of((1, "x" * 1000))
    assert len(str(caught.value)) < 130


NAMES = st.sampled_from(["ann", "bob"])
FEW = st.integers(1, 3)
ENTRIES = st.lists(
    st.one_of(
        st.builds(
            entry_of,
            FEW,
            st.builds(Offered, NAMES, INTEGERS, NUMBERS)
            | st.builds(Ready, FEW)
            | st.builds(Ended, NUMBERS, TEXTS),
        ),
        st.builds(
            entry_of,
            st.just(CONTEST),
            st.builds(ResumeKeys, NAMES, st.tuples(TEXTS)) | st.builds(Repeat, FEW, FEW, FEW),
        ),
        FEW,  # the record of this game is stored
    ),
    max_size=30,
)


def slowly(steps: list[Entry | int]) -> list[Entry]:
    """The entries that still matter, found by looking at all that follow each."""
    kept = []
    for index, step in enumerate(steps):
        later = steps[index + 1 :]
        if isinstance(step, int):
            continue
        if step[0] == CONTEST:
            replaced = any(isinstance(each, tuple) and each[:3] == step[:3] for each in later)
        else:
            replaced = step[0] in later or any(
                isinstance(each, tuple) and each[:2] == (step[0], "offer") for each in later
            )
        if not replaced:
            kept.append(step)
    return kept


@given(ENTRIES)
def test_what_still_matters_is_the_last_fact_about_each_thing_and_every_unfinished_game(
    steps: list[Entry | int],
) -> None:
    live = Live()
    for step in steps:
        if isinstance(step, int):
            live.forget(step)
        else:
            live.add([step])
    assert sorted(live, key=repr) == sorted(slowly(steps), key=repr)
    assert len(live) == len(list(live))
    assert sorted(live.contest, key=repr) == sorted((each for each in live if each[0] == CONTEST), key=repr)
    assert [entry for entries in live.games.values() for entry in entries] == [
        entry for entry in live if entry[0] != CONTEST
    ]


@given(ENTRIES)
def test_a_compacted_journal_is_equivalent(steps: list[Entry | int]) -> None:
    """A journal that is compacted begins with all that matters; a crash may leave it behind the old one.

    A game's entries begin with its offer: those of a second copy replace the first.
    """
    live, twice = Live(), Live()
    for step in steps:
        if isinstance(step, int):
            live.forget(step)
        elif step[0] == CONTEST or step[1] == "offer" or step[0] in live.games:
            live.add([step])
    for _ in range(2):
        twice.add(live)
    assert list(twice) == list(live)
    assert len(twice) == len(live)
