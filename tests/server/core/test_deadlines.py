"""The heap of deadlines against a dictionary that is searched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.deadlines import DeadlineKind, Deadlines, Key


def drained(deadlines: Deadlines, now: int) -> list[Key]:
    keys = []
    while (key := deadlines.pop(now)) is not None:
        keys.append(key)
    return keys


def test_the_earliest_comes_first_and_those_of_one_moment_in_the_order_of_their_keys() -> None:
    deadlines = Deadlines()
    deadlines.set((DeadlineKind.FEED, 1), 10)
    deadlines.set((DeadlineKind.GAME, 2), 10)
    deadlines.set((DeadlineKind.GAME, 1), 20)
    assert deadlines.next == 10
    assert drained(deadlines, 19) == [(DeadlineKind.GAME, 2), (DeadlineKind.FEED, 1)]
    assert drained(deadlines, 20) == [(DeadlineKind.GAME, 1)]
    assert deadlines.next is None


def test_a_deadline_moves_both_ways_and_goes_away() -> None:
    deadlines = Deadlines()
    key = (DeadlineKind.GAME, 1)
    for at in (10, 30, 20):
        deadlines.set(key, at)
        assert deadlines.next == at
    assert deadlines.pop(19) is None
    deadlines.set(key, None)
    assert deadlines.next is None
    deadlines.set(key, None)
    deadlines.set(key, 5)
    assert drained(deadlines, 5) == [key]


KEYS = st.tuples(st.sampled_from(DeadlineKind), st.integers(0, 3))
STEPS = st.lists(
    st.one_of(
        st.tuples(KEYS, st.one_of(st.none(), st.integers(0, 30))),
        st.integers(0, 30),
    )
)


@given(STEPS)
def test_as_a_searched_dictionary_does(steps: list[tuple[Key, int | None] | int]) -> None:
    deadlines, slow = Deadlines(), dict[Key, int]()
    for step in steps:
        if isinstance(step, int):
            due = sorted((at, key) for key, at in slow.items() if at <= step)
            assert drained(deadlines, step) == [key for _, key in due]
            for _, key in due:
                del slow[key]
        else:
            key, at = step
            deadlines.set(key, at)
            slow.pop(key, None)
            if at is not None:
                slow[key] = at
        earliest = min(slow.values(), default=None)
        assert earliest is None or (deadlines.alarm is not None and deadlines.alarm <= earliest)
        assert deadlines.next == earliest
        assert deadlines.alarm == earliest
