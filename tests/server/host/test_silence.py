"""A database that does not answer: from when it counts as silent, and what is said of it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.log_events import LogEvent
from arena_server.host.log_events import DatabaseAnswers, DatabaseSilent
from arena_server.host.silence import NS_PER_S, SILENT_S, StoreWatch


class Given:
    """What has been handed over to a database, by its moment."""

    def __init__(self) -> None:
        self.unanswered_since: int | None = None


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9_000)), max_size=12))
def test_it_is_said_once_that_it_is_silent_and_once_that_it_answers(steps: list[tuple[bool, int]]) -> None:
    """A step: whether the database holds something back from then on, and how many ms pass."""
    store, log = Given(), list[LogEvent]()
    watch = StoreWatch(store, log.append)
    now, since = 0, None
    for holds, passed in steps:
        since = (since if since is not None else now) if holds else None
        store.unanswered_since = since
        watch.look(now)
        now += passed * 1_000_000
        watch.look(now)
        waited = 0 if since is None else (now - since) // NS_PER_S
        assert watch.waited_s(now) == waited
        silent = waited >= SILENT_S
        assert watch.problem(now) == (f"the database has not answered for {waited} s" if silent else None)
        assert (bool(log) and isinstance(log[-1], DatabaseSilent)) == silent
    for one, other in pairwise(log):
        assert {type(one), type(other)} == {DatabaseSilent, DatabaseAnswers}


def test_it_holds_a_contest_as_people_read_it() -> None:
    store = Given()
    watch = StoreWatch(store, lambda event: None)
    assert watch.hold() == []
    store.unanswered_since = -(10**18)
    (hold,) = watch.hold()
    assert (hold["hold"], hold["until"]) == ("database", None)
    assert hold["text"].startswith("the database has not answered for ")
