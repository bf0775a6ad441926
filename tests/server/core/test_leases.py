"""Games that workers play: whatever the workers do, each game counts once, with the result of its plies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.record import GameRecord, InfoRecord
from arena_server.core.deal import Setting
from arena_server.core.effects import Assign, Journal, Withdraw
from arena_server.core.events import Capacity, NotPlayed, Renewed, Stop, Tick
from arena_server.core.formats.base import Pairing
from arena_server.core.journal import Past
from arena_server.core.log_events import LeaseEnded, ResultRefused, ResultReturned
from arena_server.core.parts.leases import facts_of
from arena_server.terms.config import ContestConfig, Entrant

from .contest_harness import SHORT, ContestHarness
from .harness import MS
from .lease_harness import LEASE_MS, NAMES, Workers, played, resumed


def test_a_game_is_durably_leased_before_a_worker_gets_it() -> None:
    run = Workers("ann", "bob")
    assert run.assigned == []
    effects = run.event(Capacity(1))
    assert [type(effect).__name__ for effect in effects] == ["Journal", "GameStarted", "Assign"]
    assert run.journal[-1] == (1, "lease", 1)
    assert (run.assigned[0].game_id, run.assigned[0].fence) == ("g1", 1)


def test_no_more_games_are_out_than_the_workers_play_at_once() -> None:
    run = Workers(*NAMES)
    run.event(Capacity(2))
    assert len(run.assigned) == 2
    run.give(run.assigned[0])
    assert len(run.assigned) == 3
    run.event(Capacity(4))
    assert len(run.assigned) == 5


def test_a_result_counts_with_worker_and_host() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    true = played(run.assigned[0].setting)
    run.give(run.assigned[0], replace(true, cpu="Xeon", cores="0/1", bench=5, images=("sha256:ab", "-")))
    record = run.records["g1"]
    assert (record.worker, record.host, record.cpu, record.cores) == ("w1", "box", "Xeon", "0/1")
    assert run.of(ResultReturned) == [ResultReturned("g1", record.names, "w1", "box")]
    assert record.images == ("sha256:ab", "-")
    assert replace(record, worker="", host="", cpu="", cores="", bench=0, images=(), game_id="g1") == true
    assert run.contest.status.progress().done == 1


def test_the_late_result_of_a_lease_that_ended_is_refused() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    first = run.assigned[0]
    run.now = LEASE_MS * MS
    run.event(Tick())
    second = run.assigned[1]
    assert (second.game_id, second.fence) == ("g1", 2)
    assert run.of(Withdraw) == [Withdraw("g1", 1)]
    assert run.of(LeaseEnded) == [LeaseEnded("g1", 1, "", "it was silent")]
    run.give(first, worker="slow")
    assert run.records == {}
    assert run.of(ResultRefused) == [ResultRefused("g1", 1, "slow", "its lease has ended")]
    run.give(second)
    run.give(second)
    assert list(run.records) == ["g1"]
    assert len(run.of(ResultRefused)) == 2


def test_a_lease_holds_as_long_as_its_worker_is_heard() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    for step in range(1, 10):
        run.now = step * (LEASE_MS - 1) * MS
        run.event(Tick())
        run.event(Renewed("g1", 1))
    run.event(Renewed("g1", 7))  # of no lease
    assert len(run.assigned) == 1
    run.give(run.assigned[0])
    assert list(run.records) == ["g1"]


def test_a_worker_that_gives_a_game_back_loses_it_at_once() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    run.event(NotPlayed("g1", 1, "w1", "the worker is leaving"))
    assert [(each.game_id, each.fence) for each in run.assigned] == [("g1", 1), ("g1", 2)]
    run.event(NotPlayed("g1", 1, "w1", "the worker is leaving"))
    assert len(run.assigned) == 2


FORGERIES = {
    "another deal": lambda record: replace(record, seed=record.seed + 1),
    "another player": lambda record: replace(record, names=("ann", "eve")),
    "other points": lambda record: replace(record, totals=(9999, 0)),
    "a ply less": lambda record: replace(record, plies=record.plies[:-1]),
    "a free ply": lambda record: replace(
        record, plies=(record.plies[0]._replace(time_ms=0), *record.plies[1:])
    ),
    "a game without end": lambda record: replace(record, end="void"),
    "a longer time": lambda record: replace(
        record,
        plies=(record.plies[0]._replace(arrived_ns=record.plies[1].arrived_ns), *record.plies[1:]),
    ),
}


@all_of("forge", FORGERIES.values())
def test_a_record_that_is_not_true_is_refused_and_another_worker_plays(forge: Any) -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    true = next(record for seed in range(100) if not (record := played(run.assigned[0].setting, seed)).faults)
    run.give(run.assigned[0], forge(true), worker="forger")
    assert run.records == {}
    (refused,) = run.of(ResultRefused)
    assert refused.worker == "forger"
    run.give(run.assigned[1], true)
    assert list(run.records) == ["g1"]
    assert replace(run.records["g1"], worker="", host="") == true


def test_a_game_that_the_organiser_breaks_off_is_withdrawn() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    assert run.command("replay", "g1") is None
    assert run.of(Withdraw) == [Withdraw("g1", 1)]
    run.give(run.assigned[0])
    assert run.records["g1"].end == "void"
    assert run.assigned[1].game_id != "g1"


def test_a_game_that_no_worker_has_can_be_broken_off_too() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    run.event(Capacity(0))
    run.event(NotPlayed("g1", 1, "w1", "leaving"))
    assert run.command("void", "g1") is None
    assert run.of(Withdraw) == []
    assert run.records["g1"].end == "void"


def test_a_game_that_was_handed_back_is_played_also_while_the_contest_drains() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    assert run.command("drain") is None
    run.event(NotPlayed("g1", 1, "w1", "leaving"))
    run.give(run.assigned[1])
    assert (run.finished, list(run.records)) == ("stopped", ["g1"])


def test_stop_breaks_off_what_is_out() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    run.event(Stop())
    assert (run.finished, run.of(Withdraw)) == ("stopped", [Withdraw("g1", 1)])
    run.give(run.assigned[0])
    assert [record.end for record in run.records.values()] == ["void"]


def test_no_bot_logs_in_and_none_is_awaited() -> None:
    run = Workers("ann", "bob", absent_ms=10)
    run.now = 10**12
    run.event(Tick())
    assert run.finished is None
    assert run.contest.status.held()[1] == ()
    assert run.contest.slots == 0
    run.connect("ann")
    run.send("ann", "HELLO 1 ann")
    assert run.last_line("ann") == "ERROR token the bots of this contest are started by its workers"


def test_a_bot_without_a_program_cannot_be_added() -> None:
    run = Workers("ann", "bob")
    entrant = Entrant("eve", "0" * 64)
    problem = run.command("add", "eve", entrant=entrant)
    assert problem == "eve: the workers of this contest have no program of it"
    problem = run.command("invite", "eve", code="0" * 64, until=2_000, at=1_000)
    assert problem == "the workers of this contest have no program of a bot that comes late"


def test_a_bot_that_is_kicked_leaves_its_games_and_a_lifted_one_plays_again() -> None:
    run = Workers(*NAMES)
    run.event(Capacity(1))
    kicked = run.assigned[0].setting.names[0]
    assert run.command("kick", kicked) is None
    assert kicked not in run.assigned[1].setting.names
    assert run.command("lift", kicked) is None
    while run.finished is None:
        run.give(run.assigned[-1])
    assert run.finished == "finished"


def test_spectators_see_a_game_when_it_is_over() -> None:
    run = Workers("ann", "bob")
    run.log_in("eve", " role=spectator")
    run.send("eve", "WATCH *")
    run.event(Capacity(1))
    assert [line.split()[0] for line in run.received("eve")][-2:] == ["STATE", "NEXT"]
    run.give(run.assigned[0])
    record = run.records["g1"]
    moves = [
        line.split()[3].removeprefix("move=")
        for line in run.received("eve")
        if line.startswith("PLAYED") and "g1" in line
    ]
    assert moves == [ply.move for ply in record.plies]


def test_a_server_that_is_started_again_gives_no_fence_twice() -> None:
    run = Workers(*NAMES)
    run.event(Capacity(2))
    run.event(NotPlayed("g1", 1, "w1", "leaving"))
    run.give(run.assigned[1])
    after = resumed(run)
    after.event(Capacity(3))
    known = {(each.game_id, each.fence) for each in run.assigned}
    assert not known & {(each.game_id, each.fence) for each in after.assigned}
    assert {each.game_id: each.fence for each in after.assigned}["g1"] == 3
    after.give(run.assigned[0], worker="of the last server")
    assert after.records == {}


def test_a_game_that_was_begun_here_is_played_by_a_worker_from_its_beginning() -> None:
    here = ContestHarness("ann", "bob")
    for name in ("ann", "bob"):
        here.log_in(name)
    for name in ("ann", "bob"):
        here.send(name, "READY g1")
    journal = [effect for effect in here.effects if isinstance(effect, Journal)]
    entries = tuple(entry for effect in journal for entry in effect.entries)
    assert any(entry[1] == "start" for entry in entries)
    run = Workers("ann", "bob", past=Past((), entries))
    run.event(Capacity(1))
    run.give(run.assigned[0])
    assert list(run.records) == ["g1"]


def test_a_contest_of_workers_goes_on_with_bots_that_log_in() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    here = ContestHarness("ann", "bob", past=Past((), tuple(run.journal)), now=run.now)
    here.event(Tick())
    here.log_in("ann")
    assert here.last_line("ann").startswith(("GAME", "STATE", "NEXT"))


def test_a_game_that_was_broken_off_is_stored_by_the_next_server() -> None:
    run = Workers("ann", "bob")
    run.stores = False
    run.event(Capacity(1))
    run.command("void", "g1")
    run.records.clear()
    after = resumed(run)
    assert after.records["g1"].end == "void"


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), games=st.integers(1, 3))
def test_whatever_workers_do_each_game_counts_once_as_without_them(seed: int, games: int) -> None:
    rng = Random(seed)
    run = Workers(*NAMES, games_per_pair=2 * games)
    out: list[Assign] = []
    records: dict[str, GameRecord] = {}
    offers: dict[str, Setting] = {}
    for _ in range(10_000):
        if run.finished is not None:
            break
        out += [each for each in run.assigned if each not in out]
        offers |= {each.game_id: each.setting for each in run.assigned}
        choice = rng.random()
        if choice < 0.3:
            run.event(Capacity(rng.randrange(4)))
        elif choice < 0.4:
            run.now += rng.randrange(2 * LEASE_MS) * MS
            run.event(Tick())
        elif choice < 0.45 and not run.contest._games.quiet:
            records |= run.records
            run = resumed(run, games_per_pair=2 * games)
        elif out:
            each = rng.choice(out)
            if choice < 0.5:
                run.event(NotPlayed(each.game_id, each.fence, "w", "leaving"))
            elif choice < 0.6:
                run.event(Renewed(each.game_id, each.fence))
            elif choice < 0.65:
                run.give(each, replace(played(each.setting), totals=(1, 1)))
            else:
                run.give(each, worker=f"w{rng.randrange(3)}")
    assert run.finished == "finished"
    records |= run.records
    assert len(records) == 3 * 2 * games
    assert run.contest.status.progress().done == len(records)
    for game_id, record in records.items():
        assert replace(record, worker="", host="") == replace(played(offers[game_id]), game_id=game_id)


@given(seed=st.integers(0, 10**6))
def test_the_facts_of_a_record_lead_to_it(seed: int) -> None:
    config = ContestConfig(name="test", seed=7, options=SHORT)
    setting = Setting.of(config, Workers("ann", "bob").contest._games._game, Pairing(1, ("ann", "bob"), 1))
    record = played(setting, seed)
    facts: Sequence[Any] = facts_of(record, 1)
    assert tuple(fact for fact in facts if type(fact).__name__ == "PlyRecord") == record.plies
    assert tuple(fact for fact in facts if type(fact).__name__ == "FaultRecord") == record.faults


def test_a_bracket_is_drawn_and_played() -> None:
    run = Workers("ann", "bob", "cid", "dan", format="knockout", format_options={"extra_pairs": 0})
    run.event(Capacity(2))
    for each in run.assigned:  # it grows
        run.give(each)
    assert run.finished == "finished"


def test_notes_of_bots_are_kept() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    setting = run.assigned[0].setting
    quiet = next(each for seed in range(100) if not (each := played(setting, seed)).faults)
    noted = replace(quiet, infos=(InfoRecord(1, 1, depth=3), InfoRecord(2, len(quiet.plies), depth=1)))
    run.give(run.assigned[0], noted)
    assert run.records["g1"].infos == noted.infos


def test_who_only_watches_is_not_paired() -> None:
    run = Workers("ann", "bob", Entrant("eve", plays=False))
    run.event(Capacity(9))
    assert {name for each in run.assigned for name in each.setting.names} == {"ann", "bob"}


def test_a_result_that_is_being_stored_stands() -> None:
    run = Workers("ann", "bob")
    run.stores = False
    run.event(Capacity(1))
    run.give(run.assigned[0])
    run.event(Stop())
    assert run.records["g1"].end != "void"
