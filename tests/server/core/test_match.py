"""A match alone: a pure function of its calls."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.games import make_game
from arena_protocol.record import FaultKind, verify
from arena_server.core.match import Match, Phase
from arena_server.core.plan import ContestPlan
from arena_server.core.schedule import Pairing
from arena_server.core.setting import Setting

from .stage import MS


def a_match(game: str = "insertion", **plan: object) -> Match:
    given: dict[str, object] = {"name": "m", "seed": 1, "clock_ms": 100, "ready_ms": 200} | plan
    a_plan = ContestPlan(**given)  # type: ignore[arg-type]
    options = {"plies": 6} if game == "insertion" else {}
    return Match(Setting.of(a_plan, make_game(game, options), Pairing(1, ("ann", "bob"), 1)), 0)


def started(**plan: object) -> Match:
    match = a_match(**plan)  # type: ignore[arg-type]
    match.ready(1, 0, 0)
    match.ready(2, 0, 0)
    return match


def lines(match: Match, seat: int) -> list[str]:
    said, turn = match.take(seat)
    return [line.decode().split()[0] for _, line in said] + (["TURN"] if turn else [])


def test_each_line_is_given_once_a_connection() -> None:
    match = started()
    assert lines(match, 1) == ["GAME", "STATE", "NEXT", "START", "TURN"]
    assert lines(match, 1) == []
    match.leave(1)
    assert lines(match, 1) == []
    match.back(1, 0)
    assert lines(match, 1) == ["GAME", "STATE", "NEXT", "START", "TURN"]


def test_calls_that_mean_nothing_change_nothing() -> None:
    match = started()
    assert not match.ready(1, 0, 0)
    match.move(1, "7", b"", 0, 0)  # TURN is not in its hands
    match.handed(1, 1, 0)
    match.handed(1, 1, 50 * MS)  # its clock runs already
    match.move(2, "7", b"", 0, 0)  # not its turn
    assert match.plies == []
    assert match.deadline == 101 * MS
    match.void()
    match.fault(1, FaultKind.QUIT, b"", 0)
    match.move(1, "7", b"", 0, 0)
    assert [fault.kind for fault in match.faults] == ["void"]
    assert match.deadline is None


def test_the_phases() -> None:
    match = a_match()
    assert (match.phase, match.deadline) == (Phase.OFFERED, 200 * MS)
    match.ready(1, 0, 0)
    match.ready(2, 0, 0)
    assert (match.phase, match.deadline) == (Phase.PLAYING, 10_000 * MS)
    match.fault(1, FaultKind.QUIT, b"", 0)
    match.fault(2, FaultKind.QUIT, b"", 0)
    assert (match.phase, match.deadline, match.end) == (Phase.OVER, None, "complete")


STEPS = st.lists(
    st.tuples(
        st.sampled_from("ready handed move late illegal fault leave back expire".split()),
        st.integers(1, 2),
        st.integers(0, 60),
    ),
    max_size=60,
)


def run(match: Match, steps: list[tuple[str, int, int]]) -> list[bytes]:
    """Make the calls as a contest may: only the present speak, and deadlines come when they are due."""
    now, away, told = 0, set[int](), list[bytes]()

    def expire() -> None:
        if match.deadline is not None and match.deadline <= now and (seat := match.expire(now)):
            away.add(seat)
            match.leave(seat)

    def leave() -> None:
        away.add(seat)
        match.leave(seat)

    def back() -> None:
        if seat in away:
            away.discard(seat)
            match.back(seat, now)

    calls: dict[str, Callable[[], object]] = {
        "ready": lambda: seat in away or match.ready(seat, now, now),
        "handed": lambda: seat in away or match.handed(seat, match.ply, now),
        "move": lambda: seat in away or match.move(seat, "7", b"MOVE 7", now, now),
        "late": lambda: seat in away or match.move(seat, "7", b"MOVE 7", now - wait * MS, now),
        "illegal": lambda: seat in away or match.move(seat, "0", b"MOVE 0", now, now),
        "fault": lambda: match.fault(seat, FaultKind.FLOOD, b"x", now),
        "leave": leave,
        "back": back,
        "expire": expire,
    }
    for step, seat, wait in steps:
        now += wait * MS
        calls[step]()
        for place in (1, 2):
            said, turn = match.take(place)
            told += [line for _, line in said] + [repr(turn).encode()]
    return told


@given(STEPS, st.sampled_from(["insertion", "tictactoe"]))
def test_the_same_calls_give_the_same_lines_and_a_true_record(
    steps: list[tuple[str, int, int]], game: str
) -> None:
    matches = [a_match(game, increment_ms=7, margin_ms=3, handover_ms=300) for _ in range(2)]
    assert run(matches[0], steps) == run(matches[1], steps)
    for match in matches:
        if match.phase is not Phase.OVER:
            match.void()
        verify(match.record())
    assert matches[0].record() == matches[1].record()
