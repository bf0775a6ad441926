"""Clock rules, the turn in progress, and lag: measured, forgiven out of a quota, and in the record."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.verify import verify
from arena_server.core.clock import (
    INTERVAL,
    NS_PER_MS,
    SAMPLES,
    LagEstimate,
    TimeControl,
    TurnTimer,
    elapsed_ms,
)
from arena_server.core.effects import PingMark, Send
from arena_server.terms.config import ContestConfig

from .contest_harness import MS, ContestHarness, seated

MOMENT = st.integers(0, 10**15)
MILLIS = st.integers(0, 10**6)
LIMIT = st.one_of(st.just(0), st.integers(1, 10**6))

# -- time control


def test_parts_of_a_millisecond_are_free() -> None:
    assert elapsed_ms(5, 5 + NS_PER_MS - 1) == 0
    assert elapsed_ms(5, 5 + NS_PER_MS) == 1


def test_a_stamp_before_the_turn_costs_nothing() -> None:
    assert elapsed_ms(5 * NS_PER_MS, 0) == 0


def test_the_rules_of_a_config() -> None:
    config = ContestConfig(
        name="c", seed=1, clock_ms=9, increment_ms=8, margin_ms=7, byoyomi_ms=6, move_limit_ms=5
    )
    assert TimeControl.of(config) == TimeControl(9, increment=8, margin=7, byoyomi=6, move_limit=5)


def test_the_margin_never_makes_a_clock_negative() -> None:
    control = TimeControl(bank=100, increment=5, margin=50)
    assert control.allowance(100) == 150
    assert control.after(100, 140) == 5


@given(bank=MILLIS, margin=MILLIS, sent=MOMENT)
def test_the_flag_falls_exactly_when_the_charge_is_too_high(bank: int, margin: int, sent: int) -> None:
    control = TimeControl(bank, margin=margin)
    flag = control.flag_at(bank, sent)
    assert elapsed_ms(sent, flag) == control.allowance(bank) + 1
    assert elapsed_ms(sent, flag - 1) == control.allowance(bank) == bank + margin


@given(bank=MILLIS, increment=MILLIS, thoughts=st.lists(MILLIS, max_size=20))
def test_a_clock_never_rises_by_more_than_the_increment(
    bank: int, increment: int, thoughts: list[int]
) -> None:
    control, clock = TimeControl(bank, increment, margin=10**6), bank
    for thought in thoughts:
        before, clock = clock, control.after(clock, thought)
        assert clock == max(0, before - thought) + increment


@given(bank=MILLIS, byoyomi=MILLIS, limit=LIMIT, margin=MILLIS, credit=MILLIS, sent=MOMENT)
def test_byoyomi_and_move_limit_and_credit_move_the_flag_only(
    bank: int, byoyomi: int, limit: int, margin: int, credit: int, sent: int
) -> None:
    control = TimeControl(bank, 0, margin, byoyomi, limit)
    allowance = (min(bank + byoyomi, limit) if limit else bank + byoyomi) + margin
    assert control.allowance(bank) == allowance
    assert elapsed_ms(sent, control.flag_at(bank, sent, credit)) - credit == allowance + 1
    assert control.after(bank, bank + byoyomi) == 0


def test_byoyomi_is_there_again_for_every_ply() -> None:
    control, clock = TimeControl(bank=10, byoyomi=5), 10
    for charge in (12, 5, 4):
        assert control.flag_at(clock, 0) > charge * NS_PER_MS
        clock = control.after(clock, charge)
        assert clock == 0
    assert control.flag_at(clock, 0) == 6 * NS_PER_MS


# -- the turn in progress


def test_a_turn_from_its_begin_to_its_end() -> None:
    timer = TurnTimer(200)
    assert (timer.seat, timer.deadline, timer.sent) == (0, 200, None)
    timer.begin(2, 50, lag=30, credit=20, deadline=70)
    assert (timer.seat, timer.asked, timer.lag, timer.credit) == (2, 50, 30, 20)
    assert (timer.deadline, timer.sent) == (70, None)
    timer.run(60, flag=90)
    assert (timer.sent, timer.flag, timer.deadline) == (60, 90, 90)
    timer.stop()
    assert (timer.seat, timer.deadline, timer.sent) == (0, None, None)


# -- lag of one connection


def test_an_answer_after_the_game_counts_for_the_next() -> None:
    lag = LagEstimate()
    assert lag.ask(0) == 1
    lag.sent(1, 5 * MS)
    lag.sent(1, 50 * MS)
    assert lag.answered("lag1", 25 * MS)
    assert lag.ms == 20


def test_the_shortest_of_the_last_few_counts() -> None:
    lag, now = LagEstimate(), 0
    for way in [9, *range(20, 20 + SAMPLES - 1)]:
        number = lag.ask(now)
        assert number is not None
        lag.sent(number, now)
        assert lag.answered(f"lag{number}", now + way * MS)
        assert lag.ms == 9
        assert lag.ask(now + INTERVAL - 1) is None
        now += INTERVAL
    number = lag.ask(now)
    assert number is not None
    lag.sent(number, now)
    lag.sent(number - 1, now)
    assert lag.answered(f"lag{number}", now + 30 * MS)
    assert lag.ms == 20


def test_only_the_answer_to_the_ping_that_is_out_counts() -> None:
    lag = LagEstimate()
    number = lag.ask(0)
    assert number is not None
    lag.sent(number, 0)
    assert not lag.answered(f"lag{number - 1}", 2 * MS)
    assert not lag.answered("mine", 2 * MS)
    assert lag.ms == 0
    assert lag.answered(f"lag{number}", 7 * MS)
    assert lag.ms == 7
    assert not lag.answered(f"lag{number}", 9 * MS)


# -- lag in a contest

FOUR: dict[str, object] = {"plies": 4, "start": "empty", "lookahead": 2}


def pong(harness: ContestHarness, name: str, after: int) -> None:
    """Answer the last PING `after` milliseconds after it reached the socket."""
    token = [line for line in harness.received(name) if line.startswith("PING ")][-1].split()[1]
    harness.wait(after)
    harness.send(name, f"PONG {token}")


def lagging(quota: int = 100, clock: int = 1000) -> ContestHarness:
    harness = seated("ann", "bob", ready=False, options=FOUR, lag_quota_ms=quota, clock_ms=clock)
    harness.send("ann", "READY g1")
    pong(harness, "ann", 30)
    harness.send("bob", "READY g1")
    return harness


def test_without_a_quota_no_ping_is_sent() -> None:
    harness = seated("ann", "bob")
    harness.send("ann", "MOVE 7")
    assert not any(line.startswith("PING") for line in harness.received("ann"))


def test_a_ready_bot_is_asked_and_its_lag_is_forgiven_on_its_turn() -> None:
    harness = lagging()
    assert harness.last_line("ann") == "TURN 1 clock=1000,1000 lag=30 credit=30"
    harness.wait(35)
    harness.send("ann", "MOVE 7")
    assert "PLAYED 1 seat=1 move=7 time=5 clock=995,1000" in harness.transcript("ann")


def test_the_quota_is_what_all_plies_together_may_need() -> None:
    harness = lagging(quota=50)
    harness.wait(25)
    harness.send("ann", "MOVE 7")
    harness.send("bob", "MOVE 8")
    assert harness.last_line("ann") == "TURN 3 clock=1000,1000 lag=30 credit=25"
    harness.wait(45)
    harness.send("ann", "MOVE 7")
    assert "time=20 clock=980,1000" in harness.transcript("ann")
    harness.send("bob", "MOVE 8")
    record = harness.records["g1"]
    verify(record)
    assert [(ply.lag_ms, ply.credit_ms) for ply in record.plies] == [(30, 30), (0, 0), (30, 25), (0, 0)]
    assert record.lag_quota_ms == 50


def test_the_flag_falls_later_by_the_credit() -> None:
    harness = lagging(clock=40)
    harness.wait(70)
    assert "PLAYED" not in harness.transcript("bob")
    harness.wait(1)
    assert "PLAYED 1 seat=1 move=6 time=41 clock=0,40" in harness.transcript("bob")
    harness.stop()
    verify(harness.records["g1"])


def test_a_new_connection_has_no_lag_until_it_is_measured() -> None:
    harness = lagging()
    harness.disconnect("ann")
    harness.log_in("ann")
    assert (
        harness.last_line("ann") == "TURN 1 clock=1000,1000 lag=30 credit=30"
    )  # this turn was begun with it
    harness.send("ann", "MOVE 7")
    harness.send("bob", "MOVE 8")
    assert "TURN 3 clock=1000,1000 lag=0 credit=0" in harness.transcript("ann")


def test_the_lag_of_a_connection_goes_with_it_into_the_next_game() -> None:
    harness = lagging()
    for name in ("ann", "bob", "ann", "bob"):
        harness.send(name, "MOVE 7")
    harness.send("ann", "READY g2")
    harness.send("bob", "READY g2", "MOVE 7")
    assert harness.last_line("ann") == "TURN 2 clock=1000,1000 lag=30 credit=30"


def test_no_ping_is_sent_to_the_seat_to_move_or_after_the_end() -> None:
    harness = seated("ann", "bob", options={"plies": 2, "start": "empty"}, lag_quota_ms=100, ready=False)
    harness.send("bob", "READY g1")
    harness.send("ann", "READY g1")
    assert not any(line.startswith("PING") for line in harness.received("ann"))
    harness.wait(600)
    harness.stores = False
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann").startswith("PING")
    harness.wait(600)
    harness.send("bob", "MOVE 7")
    harness.stored("g1")
    assert harness.received("bob").count("PING lag2") == 1


def test_a_pong_of_other_words_or_without_a_ping_measures_nothing() -> None:
    harness = seated("ann", "bob", ready=False, lag_quota_ms=100)
    harness.send("ann", "PONG lag1", "PONG x")
    harness.send("ann", "READY g1")
    harness.wait(30)
    harness.send("ann", "PONG lag2", "PONG lag1", "PONG lag1")
    harness.send("bob", "READY g1")
    assert harness.last_line("ann") == "TURN 1 clock=20000,20000 lag=30 credit=30"


def test_a_ping_has_a_marker_so_that_its_flush_is_reported() -> None:
    harness = seated("ann", "bob", ready=False, lag_quota_ms=100)
    harness.send("ann", "READY g1")
    pings = [effect for effect in harness.effects if isinstance(effect, Send) and b"PING" in effect.data]
    assert [effect.marker for effect in pings] == [PingMark(1)]


def test_game_tells_clocks_and_quota() -> None:
    harness = seated("ann", "bob", lag_quota_ms=100, byoyomi_ms=50, move_limit_ms=700)
    (game,) = [line for line in harness.received("ann") if line.startswith("GAME")]
    assert game.endswith(" move_limit=700 byoyomi=50 lag_quota=100")


def test_a_ply_may_take_its_limit_whatever_is_left() -> None:
    harness = seated("ann", "bob", options=FOUR, move_limit_ms=700)
    harness.wait(700)
    harness.send("ann", "MOVE 7")
    assert "PLAYED 1 seat=1 move=7 time=700 clock=19300,20000" in harness.transcript("ann")
    harness.wait(701)
    assert "PLAYED 2 seat=2 move=6 time=701 clock=19300,0" in harness.transcript("ann")
    harness.send("ann", "MOVE 7")
    verify(harness.records["g1"])


def test_byoyomi_keeps_alive_whose_clock_is_down() -> None:
    harness = seated("ann", "bob", options=FOUR, clock_ms=100, byoyomi_ms=50)
    harness.wait(150)
    harness.send("ann", "MOVE 7")
    harness.send("bob", "MOVE 7")
    assert harness.last_line("ann") == "TURN 3 clock=0,100 lag=0 credit=0"
    harness.wait(50)
    harness.send("ann", "MOVE 7")
    harness.wait(151)
    record = harness.records["g1"]
    assert [ply.time_ms for ply in record.plies] == [150, 0, 50, 151]
    verify(record)


def test_the_first_ply_of_a_seat_has_a_limit_of_its_own() -> None:
    harness = seated("ann", "bob", first_move_limit_ms=50, move_limit_ms=10)
    harness.wait(50)
    harness.send("ann", "MOVE 7")
    harness.wait(51)
    assert "ZOMBIE ply=2 reason=timeout" in harness.received("bob")
    harness.wait(11)
    assert "ZOMBIE ply=3 reason=timeout" in harness.received("ann")


def test_a_first_move_limit_alone() -> None:
    harness = seated("ann", "bob", first_move_limit_ms=50)
    harness.send("ann", "MOVE 7")
    harness.send("bob", "MOVE 7")
    harness.wait(1_000)
    harness.send("ann", "MOVE 7")
    harness.stop()
    record = harness.records["g1"]
    assert (record.first_move_limit_ms, record.faults[0].kind) == (50, "void")
    verify(record)


def test_no_clock_runs_while_the_debugged_bot_thinks() -> None:
    harness = seated("ann", "bob", debug_bot="ann", clock_ms=100, options={"plies": 4, "start": "empty"})
    harness.wait(50_000)
    harness.send("ann", "MOVE 7")
    harness.wait(30)
    harness.send("bob", "MOVE 8")
    harness.wait(7)
    harness.disconnect("ann")
    harness.wait(50_000)
    harness.log_in("ann", " resume=key1", conn="again")
    assert harness.last_line("again") == "TURN 3 clock=100,70 lag=0 credit=0"
    harness.send("again", "MOVE 9")
    harness.wait(71)
    record = harness.records["g1"]
    assert [ply.time_ms for ply in record.plies] == [0, 30, 0, 71]
    assert [(fault.seat, fault.kind) for fault in record.faults] == [(2, "timeout")]
    verify(record)


def test_the_debugged_bot_may_take_any_time_to_get_ready() -> None:
    harness = seated("ann", "bob", ready=False, debug_bot="bob", ready_ms=10)
    harness.send("ann", "READY g1")
    harness.wait(100_000)
    harness.send("bob", "READY g1")
    assert harness.last_line("ann").startswith("TURN 1")
