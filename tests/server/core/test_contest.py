"""The course of a contest: who plays when, when a result counts, how it all ends."""

from __future__ import annotations

from hashlib import sha256

from arena_protocol.record import decode, encode
from arena_server.core import deal
from arena_server.core.effects import Finished, Journal, Send, Store, TurnMark
from arena_server.core.events import Received, Stored, Tick

from .contest_harness import MS, ContestHarness, seated

ONE = {"plies": 1, "start": "empty"}


TWO = {"plies": 2, "start": "empty"}


def play_on(harness: ContestHarness, **moves: str) -> None:
    """Everybody gets ready and answers every TURN, by 7 or as `moves` says, until nothing more happens."""
    read = dict.fromkeys(harness.conns, 0)
    while any(read[name] < len(harness.received(name)) for name in harness.conns):
        for name in harness.conns:
            lines = harness.received(name)
            fresh, read[name] = lines[read[name] :], len(lines)
            for line in fresh:
                if line.startswith("GAME"):
                    harness.send(name, f"READY {line.split()[1]}")
                elif line.startswith("TURN"):
                    harness.send(name, f"MOVE {moves.get(name, '7')}")


def offers(harness: ContestHarness, name: str) -> list[str]:
    return [line.split()[1] for line in harness.received(name) if line.startswith("GAME")]


def test_a_pair_plays_as_soon_as_both_are_there() -> None:
    harness = ContestHarness("ann", "bob", "eve", "dan")
    harness.log_in("ann")
    assert offers(harness, "ann") == []
    harness.log_in("bob")
    assert offers(harness, "ann") == offers(harness, "bob") != []
    harness.log_in("eve")
    assert offers(harness, "eve") == []
    harness.log_in("dan")
    assert offers(harness, "eve") == offers(harness, "dan") != []
    assert harness.contest.progress().running == 2


def test_a_contest_from_its_first_game_to_its_last() -> None:
    harness = ContestHarness("ann", "bob", "eve", options=ONE)
    for name in ("ann", "bob", "eve"):
        harness.log_in(name)
    play_on(harness)
    assert harness.finished == "finished"
    assert [harness.last_line(name) for name in ("ann", "bob", "eve")] == ["BYE reason=finished"] * 3
    assert all(harness.is_closed(name) for name in ("ann", "bob", "eve"))
    progress = harness.contest.progress()
    assert (progress.done, progress.total, progress.running, progress.plies) == (6, 6, 0, 6)
    assert (progress.connected, progress.ended) == (0, "finished")
    assert [row.games for row in progress.standings] == [4, 4, 4]
    assert sorted(harness.records) == ["g1", "g2", "g3", "g4", "g5", "g6"]


def test_boards_and_sequences_are_paired_with_the_seats_swapped() -> None:
    harness = ContestHarness("ann", "bob", options=ONE, games_per_pair=4)
    harness.log_in("ann")
    harness.log_in("bob")
    play_on(harness)
    records = [harness.records[f"g{number}"] for number in range(1, 5)]
    assert [record.names for record in records] == [("ann", "bob"), ("bob", "ann")] * 2
    assert records[0].seed == records[1].seed != records[2].seed == records[3].seed
    assert len({record.nonce for record in records}) == 4


def test_deals_come_from_the_seed_the_players_and_the_number_of_the_deal() -> None:
    seeds = {deal.deal_seed(*args) for args in [(1, "ab", 1), (2, "ab", 1), (1, "ac", 1), (1, "ab", 2)]}
    assert len(seeds) == 4
    assert deal.deal_seed(1, ["b", "a"], 1) == deal.deal_seed(1, ["a", "b"], 1)
    assert len({deal.nonce(seed, game) for seed in (1, 2) for game in ("g1", "g2")}) == 4


def test_the_commit_opens_after_the_game_and_not_before() -> None:
    harness = seated("ann", "bob")
    game = next(line for line in harness.received("ann") if line.startswith("GAME"))
    commit = game.split("commit=")[1]
    play_on(harness)
    over = dict(
        option.split("=")
        for option in next(line for line in harness.received("ann") if line.startswith("OVER")).split()[2:]
    )
    board = next(line for line in harness.received("ann") if line.startswith("STATE")).split()[1]
    opened = f"{over['nonce']}:{board}:{over['sequence']}"
    assert sha256(opened.encode()).hexdigest() == commit


def test_a_record_survives_its_bytes() -> None:
    harness = seated("zero", "bob")
    harness.send("zero", "MOVE 0")
    play_on(harness)
    assert all(decode(encode(record)) == record for record in harness.records.values())


def test_a_result_is_told_only_when_it_is_durable() -> None:
    harness = seated("ann", "bob", options=ONE)
    harness.stores = False
    harness.send("ann", "MOVE 7")
    assert not any(line.startswith("OVER") for name in ("ann", "bob") for line in harness.received(name))
    progress = harness.contest.progress()
    assert (progress.done, progress.running, progress.plies) == (0, 1, 1)
    assert [row.games for row in progress.standings] == [0, 0]
    harness.stored("g1")
    assert harness.last_line("ann").startswith("NEXT")
    assert harness.contest.progress().done == 1


def test_stored_means_nothing_for_a_game_that_is_not_over_or_unknown() -> None:
    harness = seated("ann", "bob")
    for game_id in ("g1", "g7", "x"):
        assert harness.event(Stored(game_id)) == []
    assert harness.contest.progress().done == 0


def test_what_is_said_between_the_last_ply_and_the_result_is_no_fault() -> None:
    harness = seated("ann", "bob", options=ONE, out_of_turn_limit=0, flood_limit=4)
    harness.stores = False
    harness.send("ann", "MOVE 7", "MOVE 7", "what?", "PING 1", "MOVE 7", "MOVE 7")
    assert harness.is_muted("ann")
    harness.send("bob", "QUIT")
    harness.stored("g1")
    assert harness.records["g1"].faults == ()
    assert not harness.is_muted("ann")
    assert "OVER g1" in harness.transcript("ann")


def test_probation_after_three_faulty_games() -> None:
    harness = ContestHarness("zero", "ann", "bob", games_per_pair=4, options=TWO)
    for name in ("zero", "ann", "bob"):
        harness.log_in(name)
    play_on(harness, zero="0")
    assert [fault.kind for record in harness.records.values() for fault in record.faults] == ["illegal"] * 3
    assert harness.notes("probation") == [{"bot": "zero", "games": 3}]
    assert harness.finished == "finished"
    assert harness.last_line("zero") == "BYE reason=finished"
    progress = harness.contest.progress()
    assert (progress.done, progress.total) == (7, 12)
    assert sum("zero" not in record.names for record in harness.records.values()) == 4


def test_without_probation_a_bad_bot_plays_all_its_games() -> None:
    harness = ContestHarness("zero", "ann", games_per_pair=8, options=TWO, probation=0)
    harness.log_in("zero")
    harness.log_in("ann")
    play_on(harness, zero="0")
    assert harness.contest.progress().done == 8
    faults = {row.name: row.faults for row in harness.contest.progress().standings}
    assert faults == {"zero": {"illegal": 8}, "ann": {}}


def test_a_barred_bot_waits_in_the_lobby_while_the_others_play() -> None:
    harness = ContestHarness("zero", "ann", "bob", options=TWO, probation=1)
    harness.log_in("zero")
    harness.log_in("ann")
    play_on(harness, zero="0")
    assert harness.notes("probation") == [{"bot": "zero", "games": 1}]
    harness.disconnect("zero")
    harness.log_in("zero")
    harness.log_in("bob")
    assert offers(harness, "zero") == []
    assert len(offers(harness, "bob")) == 1


# -- who is not waited for


def test_a_bot_that_never_comes_is_not_waited_for_longer_than_the_limit() -> None:
    harness = ContestHarness("ann", "bob", "ghost", options=ONE, absent_ms=5000)
    harness.log_in("ann")
    harness.log_in("bob")
    play_on(harness)
    assert harness.finished is None
    harness.wait(4999)
    assert harness.finished is None
    harness.wait(1)
    assert harness.finished == "finished"
    assert harness.notes("absent") == [{"bot": "ghost"}]
    assert harness.contest.progress().done == 2


def test_a_late_bot_plays_if_the_contest_still_goes_on() -> None:
    harness = ContestHarness("ann", "bob", "late", options=ONE, absent_ms=5000)
    harness.log_in("ann")
    harness.wait(4000)
    harness.log_in("bob")
    harness.wait(3000)
    harness.log_in("late")
    play_on(harness)
    assert harness.contest.progress().done == 6
    assert harness.notes("absent") == [{"bot": "late"}]


def test_a_late_bot_is_waited_for_again() -> None:
    """Nobody ends the contest between its games because it was once too late."""
    harness = ContestHarness("ann", "bob", "late", options=ONE, absent_ms=5000)
    harness.log_in("ann")
    harness.wait(4000)
    harness.log_in("bob")
    harness.wait(1000)
    assert harness.notes("absent") == [{"bot": "late"}]
    harness.log_in("late")
    harness.disconnect("late")
    play_on(harness)
    assert (harness.contest.progress().done, harness.finished) == (2, None)
    harness.wait(5000)
    assert harness.finished == "finished"


def test_absence_begins_again_with_each_loss() -> None:
    harness = ContestHarness("ann", "bob", options=ONE, absent_ms=5000)
    harness.log_in("ann")
    harness.wait(4000)
    for _ in range(3):
        harness.log_in("bob")
        harness.wait(4000)
        harness.disconnect("bob")
        harness.wait(4000)
    assert harness.notes("absent") == []
    harness.wait(1000)
    assert harness.notes("absent") == [{"bot": "bob"}]


def test_who_quits_is_not_waited_for_at_all_unless_the_contest_waits_for_ever() -> None:
    for absent_ms, finished in ((5000, "finished"), (None, None)):
        harness = seated("ann", "bob", options=ONE, absent_ms=absent_ms, games_per_pair=4)
        harness.send("ann", "MOVE 7", "QUIT")
        harness.send("bob", "READY g2", "MOVE 7")
        assert len(harness.records) == 2
        assert harness.finished == finished


def test_without_a_limit_the_contest_waits() -> None:
    harness = ContestHarness("ann", "bob", options=ONE)
    harness.log_in("ann")
    harness.wait(10**9)
    assert harness.finished is None
    harness.log_in("bob")
    play_on(harness)
    assert harness.finished == "finished"


# -- the end


def test_who_comes_after_the_end_is_told_so() -> None:
    harness = ContestHarness("ann", "bob")
    harness.stop()
    assert harness.finished == "stopped"
    harness.connect("late")
    assert harness.received("late") == ["ARENA 1 insertion-arena/0.1", "BYE reason=stopped"]
    assert harness.is_closed("late")


def test_stop_waits_for_the_records_and_starts_nothing_new() -> None:
    harness = seated("ann", "bob", options=ONE)
    harness.stores = False
    harness.send("ann", "MOVE 7")
    harness.stop()
    harness.stop()
    assert harness.finished is None
    harness.stored("g1")
    assert harness.finished == "stopped"
    assert harness.last_line("ann") == "BYE reason=stopped"
    assert harness.records["g1"].end == "complete"
    assert len(harness.records) == 1
    harness.stop()
    harness.wait(10**6)
    assert harness.finished == "stopped"


def test_stop_before_the_start_of_a_game() -> None:
    harness = seated("ann", "bob", ready=False)
    harness.connect("greeted")
    harness.stop()
    assert harness.records["g1"].end == "void"
    assert harness.records["g1"].plies == ()
    assert [harness.last_line(name) for name in ("ann", "bob", "greeted")] == ["BYE reason=stopped"] * 3


def test_farewells_come_before_the_word_that_the_contest_is_finished() -> None:
    harness = seated("ann", "bob")
    harness.stop()
    assert isinstance(harness.effects[-1], Finished)


# -- more than two seats


def test_four_seats() -> None:
    options: dict[str, object] = {"seats": 4, "plies": 8, "start": "empty", "lookahead": 3}
    harness = ContestHarness("a", "b", "c", "d", options=options, games_per_pair=4)
    for name in "abcd":
        harness.log_in(name)
    play_on(harness)
    assert harness.contest.progress().done == 4
    assert {record.names for record in harness.records.values()} == {
        ("a", "b", "c", "d"), ("b", "c", "d", "a"), ("c", "d", "a", "b"), ("d", "a", "b", "c")
    }  # fmt: skip
    assert "PLAYED 4 seat=4 move=7 time=0 clock=20000,20000,20000,20000" in harness.transcript("a")


# -- effects


def test_a_line_for_many_is_printed_once() -> None:
    harness = seated("ann", "bob")
    effects = harness.contest.handle(Received(harness.conns["ann"], b"MOVE 7", 3 * MS), 3 * MS)
    to_ann, to_bob = (effect.data for effect in effects if isinstance(effect, Send))
    assert to_bob.startswith(to_ann)
    assert to_ann.startswith(b"PLAYED 1 ")


def test_one_write_a_seat_a_turn() -> None:
    harness = seated("ann", "bob")
    effects = harness.contest.handle(Received(harness.conns["ann"], b"MOVE 7", 0), 0)
    assert [type(effect) for effect in effects] == [Journal, Send, Send]
    assert [effect.marker for effect in effects if isinstance(effect, Send)] == [None, TurnMark(1, 2)]


def test_the_record_is_given_away_once() -> None:
    harness = seated("ann", "bob", options=ONE)
    harness.stores = False
    harness.send("ann", "MOVE 7", "MOVE 7", "PING 1")
    harness.wait(10**6)
    harness.event(Tick())
    assert sum(isinstance(effect, Store) for effect in harness.effects) == 1


def test_the_log_has_each_game_on_two_lines() -> None:
    harness = seated("zero", "bob", options=ONE)
    harness.send("zero", "MOVE 0")
    assert harness.notes("game")[0] == {"game": "g1", "names": "zero,bob"}
    assert harness.notes("over") == [
        {"game": "g1", "end": "complete", "totals": "0,0", "faults": "zero:illegal"}
    ]
