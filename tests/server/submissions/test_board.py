"""The order of admissions: all are examined, the cheap before the dear, and what is said of a wait holds."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from arena_server.submissions.board import AdmissionBoard, Lane, QueuePlace, Ticket

ANN, BOB, CID = ("cup", "ann"), ("cup", "bob"), ("cup", "cid")


def known(*took: tuple[tuple[str, str], float, float]) -> AdmissionBoard:
    """A board on which each of these bots was built and checked in this time (s)."""
    board = AdmissionBoard()
    for key, build, check in took:
        for lane, seconds in ((Lane.BUILD, build), (Lane.EXAMINE, check)):
            board.enter(Ticket(key, 1, lane, 0))
            assert board.take(lane, 0) is not None
            board.leave(lane, seconds, whole=True)
    return board


def test_nothing_is_known_before_the_first_is_through() -> None:
    board = AdmissionBoard()
    board.enter(Ticket(ANN, 1, Lane.BUILD, 0))
    assert [place for _, place in board.places(5)] == [QueuePlace(Lane.BUILD, 1, 1, None)]


def test_the_cheap_is_first_and_each_knows_how_long() -> None:
    board = known((ANN, 60, 30), (BOB, 2, 5))
    for key in (ANN, CID, BOB):
        board.enter(Ticket(key, 2, Lane.BUILD, 100))
    # CID is unknown: half of what the two others took.
    assert [(ticket.key, place) for ticket, place in board.places(100)] == [
        (BOB, QueuePlace(Lane.BUILD, 1, 3, 2 + 5)),
        (CID, QueuePlace(Lane.BUILD, 2, 3, 2 + 31 + 17.5)),
        (ANN, QueuePlace(Lane.BUILD, 3, 3, 2 + 31 + 60 + 30)),
    ]
    taken = board.take(Lane.BUILD, 100)
    assert taken is not None
    assert taken.key == BOB
    assert board.take(Lane.BUILD, 101) is None, "one is in work"
    assert [place.left_s for _, place in board.places(101)] == [1 + 31 + 17.5, 1 + 31 + 60 + 30]
    assert [place.left_s for _, place in board.places(150)] == [31 + 17.5, 31 + 60 + 30], "it takes longer"


def test_a_build_does_not_wait_for_a_check_of_another() -> None:
    board = known((ANN, 1, 600))
    board.enter(Ticket(ANN, 2, Lane.EXAMINE, 0))
    assert board.take(Lane.EXAMINE, 0) is not None
    board.enter(Ticket(BOB, 1, Lane.BUILD, 1))
    assert board.take(Lane.BUILD, 1) == Ticket(BOB, 1, Lane.BUILD, 1)


def test_who_waits_long_enough_is_before_the_cheap() -> None:
    board = known((ANN, 100, 1), (BOB, 1, 1))
    board.enter(Ticket(ANN, 2, Lane.BUILD, 0))
    board.enter(Ticket(BOB, 2, Lane.BUILD, 100))
    taken = board.take(Lane.BUILD, 100)
    assert taken is not None
    assert taken.key == ANN


def test_a_build_that_fails_says_nothing_of_how_long_one_takes() -> None:
    board = known((ANN, 60, 30))
    board.enter(Ticket(ANN, 2, Lane.BUILD, 0))
    board.take(Lane.BUILD, 0)
    board.leave(Lane.BUILD, 1, whole=False)
    board.enter(Ticket(ANN, 3, Lane.BUILD, 2))
    assert [place.left_s for _, place in board.places(2)] == [90]


@given(st.integers(0, 1 << 32), st.integers(1, 6), st.integers(1, 12))
def test_everybody_is_examined_once_however_they_come(seed: int, bots: int, versions: int) -> None:
    rng, board, now = Random(seed), AdmissionBoard(), 0.0
    cost = {(lane, bot): rng.uniform(1, 300) for lane in Lane for bot in range(bots)}
    to_come = [(("cup", str(rng.randrange(bots))), number) for number in range(versions)]
    built: list[tuple[tuple[str, str], int]] = []
    done: list[tuple[tuple[str, str], int]] = []
    while to_come or any(True for _ in board.places(now)):
        if to_come and (rng.random() < 0.5 or not any(True for _ in board.places(now))):
            board.enter(Ticket(*to_come.pop(), Lane.BUILD, now))
        lane = rng.choice([*Lane])
        if (ticket := board.take(lane, now)) is not None:
            now += cost[lane, int(ticket.key[1])]
            board.leave(lane, now, whole=rng.random() < 0.8)
            (built if lane is Lane.BUILD else done).append((ticket.key, ticket.number))
            if lane is Lane.BUILD:
                board.enter(Ticket(ticket.key, ticket.number, Lane.EXAMINE, now))
        for _, place in board.places(now):
            assert 1 <= place.place <= place.of
            assert place.left_s is None or place.left_s >= 0
        waiting = [(ticket.lane, ticket.since) for ticket, _ in board.places(now)]
        assert board.backlog() == {
            lane: (len(since), min(since) if since else None)
            for lane in Lane
            for since in [[each for its, each in waiting if its is lane]]
        }
    assert sorted(done) == sorted(built)
    assert len(done) == len(set(done)) == versions
