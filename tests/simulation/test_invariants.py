"""The checker reports every violation: each thing that must hold is broken once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.server.core.contest_harness import seated
from tests.simulation.invariants import Counts, InvariantChecker, Violation

from arena_protocol.messages import Game, Over, Played, Turn, encode
from arena_protocol.record import FaultRecord, GameRecord
from arena_server.core.effects import CloseConnection, Effect, Finished, Mute, Send, Store
from arena_server.core.events import Lost, Opened, Stored, Tick
from arena_server.core.journal import Past
from arena_server.core.log_events import GameStarted
from arena_server.core.overview import Progress
from arena_server.stats.results import PastGame
from arena_server.terms.config import ContestConfig

CONFIG = ContestConfig(name="test", seed=7, clock_ms=1000, increment_ms=10)
GAME = Game("g1", "insertion", 1, 2, ("ann", "bob"), 1000, 10, commit="c")
PLY = Played(1, 1, "7", 5, (1005, 1000), 0, (0, 0))
BEGIN = GameStarted("g1", ("ann", "bob"))


class Case:
    """A checker with connections 1 and 2 open and g1 begun and offered to 1."""

    def __init__(self) -> None:
        self.progress = Progress(0, 1, 0, 1, 0, 2, None, ())
        self.deadline: int | None = None
        may = {"ann": frozenset({"timeout"}), "bob": frozenset()}
        self.checker = InvariantChecker(
            CONFIG, may, lambda: self.progress, self.counts, lambda: self.deadline
        )
        for conn in (1, 2):
            self.checker.handled(Opened(conn, "x"), [], 0)
        self.do(BEGIN, self.send(GAME))

    def counts(self) -> Counts:
        return Counts(self.progress.done, self.progress.void, self.progress.running)

    def send(self, message: object, conn: int = 1) -> Send:
        return Send(conn, encode(message))  # type: ignore[arg-type]

    def do(self, *effects: Effect) -> None:
        self.checker.handled(Stored("g0"), list(effects), 2_000_000)
        for effect in effects:
            self.checker.carried_out(effect, 2_000_000)

    def reports(self, text: str, *effects: Effect) -> None:
        with pytest.raises(Violation) as violation:
            self.do(*effects)
        assert str(violation.value) == f"at 0.002000 s: {text}"


def record() -> GameRecord:
    """A true record of a game in which ann lost on time."""
    harness = seated("ann", "bob", clock_ms=100, games_per_pair=2)
    harness.wait(101)
    while "g1" not in harness.records:
        harness.send("bob", "MOVE 6")
    return harness.records["g1"]


def test_what_holds_passes() -> None:
    case = Case()
    case.do(case.send(Turn(1, (1000, 1000), 0, 0)), case.send(PLY))
    case.do(case.send(GAME, 2), case.send(PLY, 2))
    assert case.checker.records == {}


def test_a_connection_that_is_gone() -> None:
    case = Case()
    case.reports("an effect for connection 3, which is gone", Mute(3))
    case.do(CloseConnection(2))
    case.reports("an effect for connection 2, which is gone", Send(2, b"BYE\n"))
    case.checker.handled(Lost(1, "gone"), [], 0)
    case.reports("an effect for connection 1, which is gone", CloseConnection(1))


def test_half_a_line() -> None:
    Case().reports("half a line was sent", Send(1, b"BYE"))


def test_a_deadline_left_behind() -> None:
    case = Case()
    case.deadline = 5
    with pytest.raises(Violation, match=r"^at 0\.000000 s: a tick left a deadline behind$"):
        case.checker.handled(Tick(), [], 5)


def test_a_game_twice() -> None:
    Case().reports("g1 began twice", BEGIN)


def test_a_second_result() -> None:
    case = Case()
    case.do(Store("g1", record()))
    case.reports("g1 has a second result", Store("g1", record()))


def test_a_record_that_is_not_true() -> None:
    false = replace(record(), totals=(5, 0))
    with pytest.raises(Violation, match=r"a record that is not true: "):
        Case().do(Store("g1", false))


def test_blame() -> None:
    true = record()
    assert [fault.kind for fault in true.faults] == ["timeout"]
    turned = replace(true, names=("bob", "ann"))
    Case().reports("bob was blamed for timeout in g1, ply 1", Store("g1", turned))
    both = replace(true, faults=(*true.faults, FaultRecord(2, 1, "quit", b"")))
    with pytest.raises(Violation):
        Case().do(Store("g1", both))


def test_a_ply_sent_and_not_recorded() -> None:
    case = Case()
    for ply in range(1, 6):
        case.do(case.send(replace(PLY, ply=ply, clock=(1000, 1000))))
    case.reports("g1: more plies were sent than are recorded", Store("g1", record()))


def test_games_that_are_lost() -> None:
    case = Case()
    case.progress = replace(case.progress, running=0)
    case.reports("1 games were started, 0 are known", CloseConnection(2))


def test_counts_that_the_page_tells_otherwise() -> None:
    case = Case()
    case.counts = lambda: Counts(0, 0, 1)  # type: ignore[method-assign]
    case.checker._counts = case.counts
    case.progress = replace(case.progress, void=1)
    for _ in range(6):
        case.do()
    case.reports("Counts(done=0, void=0, running=1) is shown as Counts(done=0, void=1, running=1)")


def test_results_that_count_too_early() -> None:
    case = Case()
    case.checker.durable.clear()
    case.progress = replace(case.progress, running=0, done=1)
    with pytest.raises(Violation, match=r"1 results count, 0 are durable"):
        case.checker.handled(Opened(3, "x"), [CloseConnection(2)], 0)


def test_a_result_that_is_not_durable() -> None:
    case = Case()
    over = Over("g1", (0, 0), "complete", "n", "s")
    case.reports("the result of g1 was sent before it was durable", case.send(over))
    case.checker.durable.add("g1")
    case.do(case.send(over))


def test_a_ply_in_two_forms() -> None:
    case = Case()
    case.do(case.send(PLY), case.send(GAME, 2))
    case.reports("g1, ply 1 was sent in two forms", case.send(replace(PLY, move="8"), 2))
    case.reports("g1: ply 3 was sent after 1", case.send(replace(PLY, ply=3), 2))


@pytest.mark.parametrize(
    ("clock", "text"),
    [
        ((1011, 1000), "g1, ply 1: the clock of seat 1 rose from 1000 to 1011"),
        ((1010, 1001), "g1, ply 1: the clock of seat 2 rose from 1000 to 1001"),
        ((1010, 999), "g1, ply 1: the clock of seat 2 rose from 1000 to 999, and it was not its ply"),
    ],
)
def test_clocks(clock: tuple[int, int], text: str) -> None:
    case = Case()
    case.reports(text, case.send(replace(PLY, clock=clock)))


def test_a_turn_with_more_than_is_left() -> None:
    case = Case()
    case.reports("TURN 1 of g1 shows clocks that rose", case.send(Turn(1, (1001, 1000), 0, 0)))


class TestAfterACrash:
    def case(self) -> Case:
        """One ply of g1 has been sent."""
        case = Case()
        case.do(case.send(PLY))
        return case

    def restart(self, case: Case, *entries: tuple[object, ...], power: bool = False, done: int = 0) -> None:
        results = (PastGame(done, ("ann", "bob"), done, (0, 0), "complete", 4),) if done else ()
        case.checker.restarted(Past(results, entries), power, 2_000_000)

    def test_what_was_sent_is_durable(self) -> None:
        case = self.case()
        case.checker.durable.clear()
        self.restart(case, (1, "offer", ("a", "b"), 1, ()))
        case.checker.handled(Opened(1, "x"), [], 0)
        case.do(case.send(GAME), case.send(PLY))
        case.reports("g1, ply 1 was sent in two forms", case.send(replace(PLY, move="8")))

    def test_plies_that_are_lost(self) -> None:
        case = self.case()
        case.checker.durable.clear()
        with pytest.raises(Violation, match=r"^at 0\.002000 s: 1 plies of g1 were sent, and are lost$"):
            self.restart(case)

    def test_a_power_cut_may_take_back_plies(self) -> None:
        case = self.case()
        case.checker.durable.clear()
        self.restart(case, (1, "offer", ("a", "b"), 1, ()), power=True)
        case.checker.handled(Opened(1, "x"), [], 0)
        case.do(case.send(GAME), case.send(replace(PLY, move="8")))

    def test_no_crash_takes_back_a_result(self) -> None:
        case = self.case()
        case.checker.durable = {"g1", "g2"}
        for power in (False, True):
            with pytest.raises(
                Violation, match=r"^at 0\.002000 s: the results of g2 were sent, and are lost$"
            ):
                self.restart(case, power=power, done=1)

    def test_a_stored_game_is_not_traced_any_more(self) -> None:
        case = self.case()
        case.checker.durable.clear()
        self.restart(case, done=1)
        assert case.checker.durable == {"g1"}


def test_an_end_comes_once() -> None:
    case = Case()
    case.do(Finished("stopped"))
    case.reports("the contest finished twice", Finished("stopped"))


@pytest.mark.parametrize(
    ("done", "right", "wrong"), [(0, "incomplete", "finished"), (1, "finished", "incomplete")]
)
def test_a_contest_is_finished_only_with_all_results(done: int, right: str, wrong: str) -> None:
    for reason in (right, "stopped"):
        case = Case()
        case.progress = replace(case.progress, done=done, running=1 - done)
        case.do(Finished(reason))
    case = Case()
    case.progress = replace(case.progress, done=done, running=1 - done)
    case.checker.durable.add("g0")
    case.reports(f"the contest ended as {wrong} with {done} of 1 results", Finished(wrong))


def test_a_bot_plays_no_more_games_at_once_than_it_has_slots() -> None:
    second = GameStarted("g2", ("bob", "ann"))
    Case().reports("bob plays 2 games at once, not 1", second)


def test_a_bot_never_plays_itself() -> None:
    Case().reports("g2: eve plays itself", GameStarted("g2", ("eve", "eve")))


def test_a_resume_key_that_is_refused() -> None:
    case = Case()
    case.checker.key_refused("ann")  # a bot that commits faults may have sent QUIT
    with pytest.raises(Violation, match=r"the resume key of bob was refused$"):
        case.checker.key_refused("bob")
    case.checker.durable.clear()
    case.checker.restarted(Past(), True, 0)
    case.checker.key_refused("bob")  # the power cut may have taken back the entry of the key


class TestDeals:
    """`over` knows which deals were still to be played when something of them left."""

    def over(self, deals: str, *words: bytes, at: int = 0, finished: str = "finished") -> None:
        case = Case()
        case.checker._config = replace(CONFIG, deals=deals)
        case.do(Store("g1", record()))
        for word in words:
            case.checker.leaks.left("the page", b'{"x": "%s"}' % word, at)
        case.checker.finished = finished
        case.checker.over(3_000_000)

    @pytest.mark.parametrize("what", ["nonce", "seed"])
    def test_a_secret_that_is_shown_before_the_end_of_its_game(self, what: str) -> None:
        secret = str(getattr(record(), what)).encode()
        with pytest.raises(Violation) as violation:
            self.over("fresh", secret)
        assert str(violation.value) == (
            f"at 0.003000 s: the page has the {what} at 0.000000 s of a deal played in g1 to 0.002000 s"
        )
        self.over("fresh", secret, at=2_000_000)

    def test_a_secret_of_a_deal_that_may_be_played_again(self) -> None:
        secret = record().nonce.encode()
        with pytest.raises(Violation, match=r"of a deal played in g1 and is not over$"):
            self.over("paired", secret, at=2_000_000, finished="stopped")
        self.over("paired", secret, at=2_000_000)

    def test_what_is_no_secret(self) -> None:
        self.over("fresh", record().commit.encode(), b"0123456789" * 3, record().nonce[:19].encode())

    def test_an_end_that_never_comes(self) -> None:
        with pytest.raises(Violation, match=r"nothing happens any more$"):
            Case().checker.over(0)
