"""`void-worker`: nothing that a worker has played counts, and its games are played again."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from arena_protocol.record import GameRecord
from arena_server.core.deal import Setting
from arena_server.core.effects import Assign
from arena_server.core.events import Capacity, PlayedBy
from arena_server.core.journal import Live, Past
from arena_server.core.log_events import ResultRefused, WorkerVoided
from arena_server.stats.results import GameResult
from arena_server.stats.standings import standings

from .contest_harness import ContestHarness
from .harness import past_game
from .lease_harness import NAMES, Workers, played, resumed


def table(run: Workers) -> dict[str, tuple[int, int, int]]:
    return {row.name: (row.points, row.games, row.wins) for row in run.contest.status.progress().standings}


def counted(run: Workers, worker: str) -> dict[str, tuple[int, int, int]]:
    """The table of the results that are not of this worker, counted again."""
    results = [
        GameResult(each.names, each.totals)
        for each in run.records.values()
        if each.worker != worker and each.end != "void"
    ]
    return {row.name: (row.points, row.games, row.wins) for row in standings(NAMES, results)}


def test_all_games_of_a_worker_are_void_and_played_again() -> None:
    run = Workers(*NAMES, games_per_pair=4)
    run.event(Capacity(1))
    for number in range(8):
        run.give(run.assigned[-1], worker=f"w{number % 2}")
    assert run.command("void-worker", "w1", who="olga", reason="slow") is None
    assert run.last_entries == [(0, "excluded", "w1")]
    assert [order[1:3] for order in run.last_orders] == [("void-worker", "w1")]
    assert run.excluded == ["w1"]
    run.find_games("w1")
    assert run.of(WorkerVoided) == [WorkerVoided("w1", 4, 0)]
    assert table(run) == counted(run, "w1")
    progress = run.contest.status.progress()
    assert (progress.done, progress.void, progress.total) == (4, 4, 12)
    run.find_games("w1")
    assert run.of(WorkerVoided)[1:] == [WorkerVoided("w1", 0, 0)]
    while run.finished is None:
        run.give(run.assigned[-1], worker="w0")
    assert len(run.records) == 16
    assert (run.finished, run.contest.status.progress().done) == ("finished", 12)
    assert table(run) == counted(run, "w1")


def test_the_deal_of_a_void_game_is_hidden_until_it_was_played_again() -> None:
    run = Workers("ann", "bob", games_per_pair=6, deals="paired")
    run.event(Capacity(1))
    for number in range(4):
        run.give(run.assigned[-1], worker=f"w{number}")
    games = [past_game(record, run.journal) for record in run.records.values()]
    assert [game.deal for game in games] == [1, 1, 2, 2]
    may_show_deal = run.contest._games.fixtures.may_show_deal
    assert all(map(may_show_deal, games))
    assert run.command("void-worker", "w0") is None
    run.find_games("w0")
    assert list(map(may_show_deal, games)) == [False, False, True, True]
    while run.finished is None:
        run.give(run.assigned[-1], worker="w1")
    assert all(map(may_show_deal, games))


def test_a_result_of_an_excluded_worker_is_refused() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    assert run.command("void-worker", "w1") is None
    run.give(run.assigned[0], worker="w1")
    assert run.of(ResultRefused) == [ResultRefused("g1", 1, "w1", "nothing of this worker counts")]
    run.give(run.assigned[1], worker="w2")
    assert list(run.records) == ["g1"]


def test_a_result_that_was_accepted_before_and_is_stored_after_the_order_is_void() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    run.stores = False
    run.give(run.assigned[0], worker="w1")
    assert run.command("void-worker", "w1") is None
    run.event(PlayedBy("w1", []))
    run.stored("g1")
    assert run.of(WorkerVoided) == [WorkerVoided("w1", 0, 0), WorkerVoided("w1", 1, 0)]
    assert (run.contest.status.progress().done, run.contest.status.progress().void) == (0, 1)
    assert run.assigned[-1].game_id != "g1"


def test_the_next_server_asks_again_for_the_games_of_an_excluded_worker() -> None:
    run = Workers(*NAMES)
    run.event(Capacity(1))
    run.give(run.assigned[0], worker="w1")
    run.give(run.assigned[1], worker="w2")
    run.command("void-worker", "w1")
    after = resumed(run)
    assert after.excluded == ["w1"]
    assert after.contest.status.progress().done == 2
    after.find_games("w1", run.records)
    assert (after.contest.status.progress().done, after.contest.status.progress().void) == (1, 1)
    later = resumed(after)
    assert (later.contest.status.progress().done, later.contest.status.progress().void) == (1, 1)
    assert table(later) == table(after)
    later.event(Capacity(1))
    later.give(later.assigned[0], worker="w1")
    assert later.of(ResultRefused) != []


def test_a_fault_of_a_void_game_does_not_count_against_its_bot() -> None:
    run = Workers("ann", "bob", games_per_pair=8, probation=1)
    run.event(Capacity(1))
    faulty = next(each for seed in range(100) if (each := played(run.assigned[0].setting, seed)).faults)
    run.give(run.assigned[0], faulty, worker="w1")
    blamed = {faulty.names[fault.seat - 1] for fault in faulty.faults}
    assert [bot.name for bot in run.contest.status.overview().bots if bot.faulty_games] == sorted(blamed)
    run.command("void-worker", "w1")
    run.find_games("w1")
    assert not any(bot.faulty_games or bot.where == "probation" for bot in run.contest.status.overview().bots)
    assert all(not row.faults for row in run.contest.status.progress().standings)


def faulty_free(setting: Setting) -> GameRecord:
    return next(each for seed in range(1000) if not (each := played(setting, seed)).faults)


def test_the_bot_of_a_void_game_is_paired_again() -> None:
    run = Workers("ann", "bob", games_per_pair=4, probation=1, probation_for_ms=60_000)
    run.event(Capacity(1))
    faulty = next(each for seed in range(100) if (each := played(run.assigned[0].setting, seed)).faults)
    run.give(run.assigned[0], faulty, worker="w1")
    run.give(run.assigned[1], faulty_free(run.assigned[1].setting), worker="w2")
    assert len(run.assigned) == 2
    run.command("void-worker", "w1")
    run.find_games("w1")
    assert len(run.assigned) == 3, "its fault does not count, and the game is played again"


def test_what_was_forgiven_of_a_void_game_is_not_forgiven_to_another() -> None:
    config: dict[str, Any] = {"games_per_pair": 8, "probation": 1}
    run = Workers("ann", "bob", **config)
    run.event(Capacity(1))

    def fail(worker: str) -> set[str]:
        setting = run.assigned[-1].setting
        record = next(each for seed in range(100) if (each := played(setting, seed)).faults)
        run.give(run.assigned[-1], record, worker=worker)
        return {record.names[fault.seat - 1] for fault in record.faults}

    for name in fail("w1"):
        run.command("lift", name)
    run.command("void-worker", "w1")
    run.find_games("w1")
    blamed = fail("w2")
    for each in (run, resumed(run, **config)):
        where = {bot.name for bot in each.contest.status.overview().bots if bot.where == "probation"}
        assert where == blamed


def test_results_that_a_later_round_follows_from_stand() -> None:
    run = Workers("ann", "bob", "cid", "dan", format="knockout", format_options={"extra_pairs": 0})
    run.event(Capacity(1))
    while not any(entry[1:3] == ("drawn", 2) for entry in run.journal):
        run.give(run.assigned[-1], worker="w1")
    final = run.assigned[-1]
    assert run.command("void-worker", "w1") is None
    run.find_games("w1")
    (voided,) = run.of(WorkerVoided)
    assert (voided.void, voided.kept) == (0, len(run.records))
    run.give(final, worker="w2")
    while run.finished is None:
        run.give(run.assigned[-1], worker="w2")
    assert run.finished == "finished"


def test_games_of_the_present_round_are_played_again() -> None:
    config: dict[str, Any] = {"format": "swiss", "format_options": {"rounds": 2}}
    run = Workers("ann", "bob", "cid", "dan", **config)
    run.event(Capacity(1))
    run.give(run.assigned[0], worker="w1")
    run.give(run.assigned[1], worker="w2")
    assert run.command("void-worker", "w1") is None
    run.find_games("w1")
    assert run.of(WorkerVoided) == [WorkerVoided("w1", 1, 0)]
    after = resumed(run, **config)
    assert after.contest.status.progress().standings == run.contest.status.progress().standings
    while run.finished is None:
        run.give(run.assigned[-1], worker="w2")
    assert (run.finished, run.contest.status.progress().unplayed) == ("finished", {})


def test_the_games_of_an_open_contest_are_played_again() -> None:
    run = Workers(*NAMES, format="ladder")
    run.event(Capacity(1))
    for worker in ("w1", "w2", "w1"):
        run.give(run.assigned[-1], worker=worker)
    run.command("void-worker", "w1")
    run.find_games("w1")
    assert run.of(WorkerVoided) == [WorkerVoided("w1", 2, 0)]
    assert table(run) == counted(run, "w1")


def test_where_results_decide_the_end_none_is_taken_back() -> None:
    run = Workers(*NAMES, games_per_pair=100, stop="top:1")
    run.event(Capacity(1))
    run.give(run.assigned[0], worker="w1")
    assert run.command("void-worker", "w1") is None
    run.find_games("w1")
    assert run.of(WorkerVoided) == [WorkerVoided("w1", 0, 1)]


def test_nothing_ends_before_the_games_of_an_excluded_worker_were_found() -> None:
    run = Workers("ann", "bob", games_per_pair=2)
    run.event(Capacity(1))
    run.give(run.assigned[0], worker="w1")
    run.command("void-worker", "w1")
    run.give(run.assigned[1], worker="w2")
    assert run.finished is None
    after = resumed(run, games_per_pair=2)
    assert (after.finished, len(after.assigned)) == (None, 0)
    for each in (run, after):
        each.find_games("w1", run.records)
        each.event(Capacity(1))
        each.give(each.assigned[-1], worker="w2")
        assert (each.finished, each.contest.status.progress().done) == ("finished", 2)


def test_no_round_is_drawn_before_the_games_of_an_excluded_worker_were_found() -> None:
    run = Workers("ann", "bob", "cid", "dan", format="swiss", format_options={"rounds": 2})
    run.event(Capacity(1))
    run.give(run.assigned[0], worker="w1")
    run.command("void-worker", "w1")
    run.give(run.assigned[1], worker="w2")
    assert not any(entry[1:3] == ("drawn", 2) for entry in run.journal)
    run.find_games("w1")
    assert run.of(WorkerVoided) == [WorkerVoided("w1", 1, 0)]
    while run.finished is None:
        run.give(run.assigned[-1], worker="w2")
    assert run.contest.status.progress().unplayed == {}


def test_a_contest_without_workers_has_none_to_exclude() -> None:
    run = ContestHarness("ann", "bob")
    assert run.command("void-worker", "w1") == "no worker plays games of this contest: it has no --on"
    after = ContestHarness("ann", "bob", past=Past((), ((0, "excluded", "w1"),)))
    assert after.contest.status.progress().done == 0


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), paired=st.booleans())
def test_whatever_is_killed_nothing_of_an_excluded_worker_counts(seed: int, paired: bool) -> None:
    rng = Random(seed)
    config: dict[str, Any] = {"games_per_pair": 4, "deals": "paired" if paired else "fresh"}
    run = Workers(*NAMES, **config)
    records: dict[str, GameRecord] = {}
    out: list[Assign] = []
    for _ in range(10_000):
        if run.finished is not None:
            break
        records |= run.records
        out += [each for each in run.assigned if each not in out]
        choice = rng.random()
        if choice < 0.3:
            run.event(Capacity(rng.randrange(1, 4)))
        elif choice < 0.32 and len(records) > 3:
            assert run.command("void-worker", "w1") is None
        elif choice < 0.5 and run.excluded:
            run.find_games("w1", records)
        elif choice < 0.52 and not run.contest._games.quiet:
            run = resumed_from(run, records, **config)
        elif out:  # of the last ones: most of the others are late
            run.give(rng.choice(out[-4:]), worker=f"w{rng.randrange(3)}")
    assert run.finished == "finished"
    void = {entry[2] for entry in run.journal if entry[1] == "annulled"}
    counts = [
        GameResult(each.names, each.totals)
        for game, each in (records | run.records).items()
        if int(game[1:]) not in void
    ]
    assert len(counts) == run.contest.status.progress().done == 12
    expected = {row.name: (row.points, row.games, row.wins) for row in standings(NAMES, counts)}
    assert table(run) == expected
    assert all(records[f"g{number}"].worker == "w1" for number in void)


def resumed_from(run: Workers, records: dict[str, GameRecord], **config: Any) -> Workers:
    live = Live()
    live.add(run.journal)
    for game in records.values():
        live.forget(int(game.game_id[1:]))
    results = tuple(past_game(record, run.journal) for record in records.values())
    after = Workers(*NAMES, past=Past(results, tuple(live)), now=run.now, **config)
    after.journal = [*run.journal]
    return after
