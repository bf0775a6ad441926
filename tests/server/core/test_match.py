"""A match alone: a pure function of its calls."""

from __future__ import annotations

from arena_server.core.diary import redo
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.games import make_game
from arena_protocol.record import FaultKind
from arena_protocol.verify import verify
from arena_server.core.config import ContestPlan
from arena_server.core.deal import Setting
from arena_server.core.journal import Entry
from arena_server.core.match import Match, Phase
from arena_server.core.schedule import Pairing

from .stage import MS


def a_match(game: str = "insertion", now: int = 0, **plan: object) -> Match:
    given: dict[str, object] = {"name": "m", "seed": 1, "clock_ms": 100, "ready_ms": 200} | plan
    a_plan = ContestPlan(**given)  # type: ignore[arg-type]
    options = {"plies": 6} if game == "insertion" else {}
    return Match(Setting.of(a_plan, make_game(game, options), Pairing(1, ("ann", "bob"), 1)), now)


def started(**plan: object) -> Match:
    match = a_match(**plan)  # type: ignore[arg-type]
    match.ready(1, 0, 0)
    match.ready(2, 0, 0)
    return match


def lines(match: Match, seat: int) -> list[str]:
    said, turn = match.seat(seat).take(10**6)
    return [line.decode().split()[0] for _, line in said] + (["TURN"] if turn else [])


def test_each_line_is_given_once_a_connection() -> None:
    match = started()
    assert lines(match, 1) == ["GAME", "STATE", "NEXT", "START", "TURN"]
    assert lines(match, 1) == []
    match.leave(1, 0)
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
    match.void("stopped", 0)
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


VERBS = ["ready", "handed", "move", "late", "illegal", "fault", "leave", "back", "expire", "lag", "restart"]
STEPS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(1, 2), st.integers(0, 60)), max_size=60)


class Runner:
    """Makes calls as a contest may: only the present speak, and deadlines come when they are due."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.now = 0
        self.away: set[int] = set()
        self.told: list[str] = []
        self.entries: list[Entry] = []

    def step(self, verb: str, seat: int, wait: int) -> None:
        self.now += wait * MS
        if verb in ("fault", "leave", "back", "expire", "restart") or seat not in self.away:
            getattr(self, verb)(seat, wait)
        self.entries += self.match.diary.take()
        for place in (1, 2):
            self.told.append(repr(self.match.seat(place).take(10**6)))

    def ready(self, seat: int, _: int) -> None:
        self.match.ready(seat, self.now, self.now)

    def handed(self, seat: int, _: int) -> None:
        self.match.handed(seat, self.match.ply, self.now)

    def move(self, seat: int, _: int) -> None:
        self.match.move(seat, "7", b"MOVE 7", self.now, self.now)

    def late(self, seat: int, wait: int) -> None:
        """Handle a line that arrived before."""
        self.match.move(seat, "7", b"MOVE 7", self.now - wait * MS, self.now)

    def illegal(self, seat: int, _: int) -> None:
        self.match.move(seat, "0", b"MOVE 0", self.now, self.now)

    def fault(self, seat: int, _: int) -> None:
        self.match.fault(seat, FaultKind.FLOOD, b"x", self.now)

    def leave(self, seat: int, _: int) -> None:
        self.away.add(seat)
        self.match.leave(seat, self.now)

    def lag(self, seat: int, wait: int) -> None:
        self.match.lag(seat, wait // 3, self.now)

    def restart(self, _seat: int, _wait: int) -> None:
        self.match.restart(self.now)
        self.away = {1, 2}

    def back(self, seat: int, _: int) -> None:
        if seat in self.away:
            self.away.discard(seat)
            self.match.back(seat, self.now)

    def expire(self, _seat: int, wait: int) -> None:
        deadline = self.match.deadline
        if deadline is not None and deadline <= self.now and (slow := self.match.expire(self.now)):
            self.leave(slow, wait)


CLOCKS: dict[str, int] = {
    "increment_ms": 7, "margin_ms": 3, "handover_ms": 300, "lag_quota_ms": 25, "byoyomi_ms": 9,
    "move_limit_ms": 80,
}  # fmt: skip


def run(match: Match, steps: list[tuple[str, int, int]]) -> list[str]:
    runner = Runner(match)
    for step in steps:
        runner.step(*step)
    return runner.told


@given(STEPS, st.sampled_from(["insertion", "tictactoe"]))
def test_the_same_calls_give_the_same_lines_and_a_true_record(
    steps: list[tuple[str, int, int]], game: str
) -> None:
    matches = [a_match(game, **CLOCKS) for _ in range(2)]
    assert run(matches[0], steps) == run(matches[1], steps)
    for match in matches:
        if match.phase is not Phase.OVER:
            match.void("stopped", 0)
        verify(match.record())
    assert matches[0].record() == matches[1].record()


@given(STEPS, st.sampled_from(["insertion", "tictactoe"]))
def test_a_match_comes_back_from_its_entries_at_another_time(
    steps: list[tuple[str, int, int]], game: str
) -> None:
    """All that it says from its beginning on, and its record, are the same."""
    match = a_match(game, **CLOCKS)
    runner = Runner(match)
    for step in steps:
        runner.step(*step)
    if match.phase is not Phase.OVER:
        match.void("stopped", runner.now)
    again = a_match(game, now=10**15, **CLOCKS)
    redo(again, runner.entries + match.diary.take())
    assert again.diary.take() == []
    assert again.record() == match.record()
    for seat in (1, 2):
        for each in (match, again):
            each.back(seat, 0)
        assert match.seat(seat).take(10**6) == again.seat(seat).take(10**6)


def test_a_hand_over_alone_need_not_be_durable() -> None:
    match = started()
    match.diary.take()
    match.handed(1, 1, 5 * MS)
    match.lag(1, 3, 5 * MS)
    assert match.diary.take() == []
    match.move(1, "7", b"MOVE 7", 9 * MS, 10 * MS)
    assert match.diary.take() == [
        (1, "handed", 5 * MS),
        (1, "lag", 1, 3, 5 * MS),
        (1, "move", 1, "7", 9 * MS, 10 * MS),
    ]


def test_a_seat_that_is_asked_after_the_grace_has_its_clock_run_at_once() -> None:
    match = started(clock_ms=1000, ready_ms=200)
    match.restart(0)
    match.back(1, 10 * MS)
    match.handed(1, 1, 10 * MS)
    match.move(1, "7", b"MOVE 7", 300 * MS, 300 * MS)
    assert match.deadline == 1301 * MS
    match.diary.take()
    assert match.expire(1301 * MS) == 0
    assert [entry[1] for entry in match.diary.take()] == ["flag"]
