"""The course of a contest: who plays when, when a result counts, how it all ends."""

from __future__ import annotations

from hashlib import sha256

from arena_protocol.record import decode, encode
from arena_server.core import deal
from arena_server.core.effects import Finished, Journal, Send, Store, TurnMark
from arena_server.core.events import Received, Stored, Tick

from .stage import MS, Stage, seated

ONE = {"plies": 1, "start": "empty"}


TWO = {"plies": 2, "start": "empty"}


def play_on(stage: Stage, **moves: str) -> None:
    """Everybody gets ready and answers every TURN, by 7 or as `moves` says, until nothing more happens."""
    read = dict.fromkeys(stage.conns, 0)
    while any(read[name] < len(stage.heard(name)) for name in stage.conns):
        for name in stage.conns:
            lines = stage.heard(name)
            fresh, read[name] = lines[read[name] :], len(lines)
            for line in fresh:
                if line.startswith("GAME"):
                    stage.say(name, f"READY {line.split()[1]}")
                elif line.startswith("TURN"):
                    stage.say(name, f"MOVE {moves.get(name, '7')}")


def offers(stage: Stage, name: str) -> list[str]:
    return [line.split()[1] for line in stage.heard(name) if line.startswith("GAME")]


def test_a_pair_plays_as_soon_as_both_are_there() -> None:
    stage = Stage("ann", "bob", "eve", "dan")
    stage.log_in("ann")
    assert offers(stage, "ann") == []
    stage.log_in("bob")
    assert offers(stage, "ann") == offers(stage, "bob") != []
    stage.log_in("eve")
    assert offers(stage, "eve") == []
    stage.log_in("dan")
    assert offers(stage, "eve") == offers(stage, "dan") != []
    assert stage.contest.progress().running == 2


def test_a_contest_from_its_first_game_to_its_last() -> None:
    stage = Stage("ann", "bob", "eve", options=ONE)
    for name in ("ann", "bob", "eve"):
        stage.log_in(name)
    play_on(stage)
    assert stage.finished == "finished"
    assert [stage.last(name) for name in ("ann", "bob", "eve")] == ["BYE reason=finished"] * 3
    assert all(stage.closed(name) for name in ("ann", "bob", "eve"))
    progress = stage.contest.progress()
    assert (progress.done, progress.total, progress.running, progress.plies) == (6, 6, 0, 6)
    assert (progress.connected, progress.ended) == (0, "finished")
    assert [row.games for row in progress.standings] == [4, 4, 4]
    assert sorted(stage.records) == ["g1", "g2", "g3", "g4", "g5", "g6"]


def test_boards_and_sequences_are_paired_with_the_seats_swapped() -> None:
    stage = Stage("ann", "bob", options=ONE, games_per_pair=4, deals="paired")
    stage.log_in("ann")
    stage.log_in("bob")
    play_on(stage)
    overs = [line for line in stage.heard("ann") if line.startswith("OVER")]
    assert ["sequence=" in line for line in overs] == [False, True, False, True], "opened when it is closed"
    records = [stage.records[f"g{number}"] for number in range(1, 5)]
    assert [record.names for record in records] == [("ann", "bob"), ("bob", "ann")] * 2
    assert records[0].seed == records[1].seed != records[2].seed == records[3].seed
    assert len({record.nonce for record in records}) == 4


def test_every_game_has_its_own_deal_by_default() -> None:
    stage = Stage("ann", "bob", options=ONE, games_per_pair=4)
    stage.log_in("ann")
    stage.log_in("bob")
    play_on(stage)
    records = [stage.records[f"g{number}"] for number in range(1, 5)]
    assert [record.names for record in records] == [("ann", "bob"), ("bob", "ann")] * 2
    assert len({record.seed for record in records}) == 4
    assert all("sequence=" in line for line in stage.heard("ann") if line.startswith("OVER"))


def test_deals_come_from_the_seed_the_players_and_the_number_of_the_deal() -> None:
    seeds = {deal.deal_seed(*args) for args in [(1, "ab", 1), (2, "ab", 1), (1, "ac", 1), (1, "ab", 2)]}
    assert len(seeds) == 4
    assert deal.deal_seed(1, ["b", "a"], 1) == deal.deal_seed(1, ["a", "b"], 1)
    assert len({deal.nonce(seed, game) for seed in (1, 2) for game in ("g1", "g2")}) == 4


def test_the_commit_opens_after_the_game_and_not_before() -> None:
    stage = seated("ann", "bob")
    game = next(line for line in stage.heard("ann") if line.startswith("GAME"))
    commit = game.split("commit=")[1]
    play_on(stage)
    over = dict(
        option.split("=")
        for option in next(line for line in stage.heard("ann") if line.startswith("OVER")).split()[2:]
    )
    board = next(line for line in stage.heard("ann") if line.startswith("STATE")).split()[1]
    opened = f"{over['nonce']}:{board}:{over['sequence']}"
    assert sha256(opened.encode()).hexdigest() == commit


def test_a_record_survives_its_bytes() -> None:
    stage = seated("zero", "bob")
    stage.say("zero", "MOVE 0")
    play_on(stage)
    assert all(decode(encode(record)) == record for record in stage.records.values())


def test_a_result_is_told_only_when_it_is_durable() -> None:
    stage = seated("ann", "bob", options=ONE)
    stage.stores = False
    stage.say("ann", "MOVE 7")
    assert not any(line.startswith("OVER") for name in ("ann", "bob") for line in stage.heard(name))
    progress = stage.contest.progress()
    assert (progress.done, progress.running, progress.plies) == (0, 1, 1)
    assert [row.games for row in progress.standings] == [0, 0]
    stage.stored("g1")
    assert stage.last("ann").startswith("NEXT")
    assert stage.contest.progress().done == 1


def test_stored_means_nothing_for_a_game_that_is_not_over_or_unknown() -> None:
    stage = seated("ann", "bob")
    for game_id in ("g1", "g7", "x"):
        assert stage.event(Stored(game_id)) == []
    assert stage.contest.progress().done == 0


def test_what_is_said_between_the_last_ply_and_the_result_is_no_fault() -> None:
    stage = seated("ann", "bob", options=ONE, out_of_turn_limit=0, flood_limit=4)
    stage.stores = False
    stage.say("ann", "MOVE 7", "MOVE 7", "what?", "PING 1", "MOVE 7", "MOVE 7")
    assert stage.muted("ann")
    stage.say("bob", "QUIT")
    stage.stored("g1")
    assert stage.records["g1"].faults == ()
    assert not stage.muted("ann")
    assert "OVER g1" in stage.transcript("ann")


def test_probation_after_three_faulty_games() -> None:
    stage = Stage("zero", "ann", "bob", games_per_pair=4, options=TWO)
    for name in ("zero", "ann", "bob"):
        stage.log_in(name)
    play_on(stage, zero="0")
    assert [fault.kind for record in stage.records.values() for fault in record.faults] == ["illegal"] * 3
    assert stage.notes("probation") == [{"bot": "zero", "games": 3}]
    assert stage.finished == "incomplete"
    assert stage.last("zero") == "BYE reason=finished"
    progress = stage.contest.progress()
    assert (progress.done, progress.total) == (7, 12)
    assert sum("zero" not in record.names for record in stage.records.values()) == 4


def test_without_probation_a_bad_bot_plays_all_its_games() -> None:
    stage = Stage("zero", "ann", games_per_pair=8, options=TWO, probation=0)
    stage.log_in("zero")
    stage.log_in("ann")
    play_on(stage, zero="0")
    assert stage.contest.progress().done == 8
    faults = {row.name: row.faults for row in stage.contest.progress().standings}
    assert faults == {"zero": {"illegal": 8}, "ann": {}}


def test_a_barred_bot_waits_in_the_lobby_while_the_others_play() -> None:
    stage = Stage("zero", "ann", "bob", options=TWO, probation=1)
    stage.log_in("zero")
    stage.log_in("ann")
    play_on(stage, zero="0")
    assert stage.notes("probation") == [{"bot": "zero", "games": 1}]
    stage.hang_up("zero")
    stage.log_in("zero")
    stage.log_in("bob")
    assert offers(stage, "zero") == []
    assert len(offers(stage, "bob")) == 1


# -- who is not waited for


def test_a_bot_that_never_comes_is_not_waited_for_longer_than_the_limit() -> None:
    stage = Stage("ann", "bob", "ghost", options=ONE, absent_ms=5000)
    stage.log_in("ann")
    stage.log_in("bob")
    play_on(stage)
    assert stage.finished is None
    stage.wait(4999)
    assert stage.finished is None
    stage.wait(1)
    assert stage.finished == "incomplete"
    assert stage.notes("absent") == [{"bot": "ghost"}]
    assert stage.contest.progress().done == 2


def test_a_late_bot_plays_if_the_contest_still_goes_on() -> None:
    stage = Stage("ann", "bob", "late", options=ONE, absent_ms=5000)
    stage.log_in("ann")
    stage.wait(4000)
    stage.log_in("bob")
    stage.wait(3000)
    stage.log_in("late")
    play_on(stage)
    assert stage.contest.progress().done == 6
    assert stage.notes("absent") == [{"bot": "late"}]


def test_a_late_bot_is_waited_for_again() -> None:
    """Nobody ends the contest between its games because it was once too late."""
    stage = Stage("ann", "bob", "late", options=ONE, absent_ms=5000)
    stage.log_in("ann")
    stage.wait(4000)
    stage.log_in("bob")
    stage.wait(1000)
    assert stage.notes("absent") == [{"bot": "late"}]
    stage.log_in("late")
    stage.hang_up("late")
    play_on(stage)
    assert (stage.contest.progress().done, stage.finished) == (2, None)
    stage.wait(5000)
    assert stage.finished == "incomplete"


def test_absence_begins_again_with_each_loss() -> None:
    stage = Stage("ann", "bob", options=ONE, absent_ms=5000)
    stage.log_in("ann")
    stage.wait(4000)
    for _ in range(3):
        stage.log_in("bob")
        stage.wait(4000)
        stage.hang_up("bob")
        stage.wait(4000)
    assert stage.notes("absent") == []
    stage.wait(1000)
    assert stage.notes("absent") == [{"bot": "bob"}]


def test_who_quits_is_not_waited_for_at_all_unless_the_contest_waits_for_ever() -> None:
    for absent_ms, finished in ((5000, "incomplete"), (None, None)):
        stage = seated("ann", "bob", options=ONE, absent_ms=absent_ms, games_per_pair=4)
        stage.say("ann", "MOVE 7", "QUIT")
        stage.say("bob", "READY g2", "MOVE 7")
        assert len(stage.records) == 2
        assert stage.finished == finished


def test_without_a_limit_the_contest_waits() -> None:
    stage = Stage("ann", "bob", options=ONE)
    stage.log_in("ann")
    stage.wait(10**9)
    assert stage.finished is None
    stage.log_in("bob")
    play_on(stage)
    assert stage.finished == "finished"


# -- the end


def test_who_comes_after_the_end_is_told_so() -> None:
    stage = Stage("ann", "bob")
    stage.stop()
    assert stage.finished == "stopped"
    stage.open("late")
    assert stage.heard("late") == ["ARENA 1 insertion-arena/0.1", "BYE reason=stopped"]
    assert stage.closed("late")


def test_stop_waits_for_the_records_and_starts_nothing_new() -> None:
    stage = seated("ann", "bob", options=ONE)
    stage.stores = False
    stage.say("ann", "MOVE 7")
    stage.stop()
    stage.stop()
    assert stage.finished is None
    stage.stored("g1")
    assert stage.finished == "stopped"
    assert stage.last("ann") == "BYE reason=stopped"
    assert stage.records["g1"].end == "complete"
    assert len(stage.records) == 1
    stage.stop()
    stage.wait(10**6)
    assert stage.finished == "stopped"


def test_stop_before_the_start_of_a_game() -> None:
    stage = seated("ann", "bob", ready=False)
    stage.open("greeted")
    stage.stop()
    assert stage.records["g1"].end == "void"
    assert stage.records["g1"].plies == ()
    assert [stage.last(name) for name in ("ann", "bob", "greeted")] == ["BYE reason=stopped"] * 3


def test_farewells_come_before_the_word_that_the_contest_is_finished() -> None:
    stage = seated("ann", "bob")
    stage.stop()
    assert isinstance(stage.effects[-1], Finished)


# -- more than two seats


def test_four_seats() -> None:
    options: dict[str, object] = {"seats": 4, "plies": 8, "start": "empty", "lookahead": 3}
    stage = Stage("a", "b", "c", "d", options=options, games_per_pair=4)
    for name in "abcd":
        stage.log_in(name)
    play_on(stage)
    assert stage.contest.progress().done == 4
    assert {record.names for record in stage.records.values()} == {
        ("a", "b", "c", "d"), ("b", "c", "d", "a"), ("c", "d", "a", "b"), ("d", "a", "b", "c")
    }  # fmt: skip
    assert "PLAYED 4 seat=4 move=7 time=0 clock=20000,20000,20000,20000" in stage.transcript("a")


# -- effects


def test_a_line_for_many_is_printed_once() -> None:
    stage = seated("ann", "bob")
    effects = stage.contest.handle(Received(stage.conns["ann"], b"MOVE 7", 3 * MS), 3 * MS)
    to_ann, to_bob = (effect.data for effect in effects if isinstance(effect, Send))
    assert to_bob.startswith(to_ann)
    assert to_ann.startswith(b"PLAYED 1 ")


def test_one_write_a_seat_a_turn() -> None:
    stage = seated("ann", "bob")
    effects = stage.contest.handle(Received(stage.conns["ann"], b"MOVE 7", 0), 0)
    assert [type(effect) for effect in effects] == [Journal, Send, Send]
    assert [effect.marker for effect in effects if isinstance(effect, Send)] == [None, TurnMark(1, 2)]


def test_the_record_is_given_away_once() -> None:
    stage = seated("ann", "bob", options=ONE)
    stage.stores = False
    stage.say("ann", "MOVE 7", "MOVE 7", "PING 1")
    stage.wait(10**6)
    stage.event(Tick())
    assert sum(isinstance(effect, Store) for effect in stage.effects) == 1


def test_the_log_has_each_game_on_two_lines() -> None:
    stage = seated("zero", "bob", options=ONE)
    stage.say("zero", "MOVE 0")
    assert stage.notes("game")[0] == {"game": "g1", "names": "zero,bob"}
    assert stage.notes("over") == [
        {"game": "g1", "end": "complete", "totals": "0,0", "faults": "zero:illegal"}
    ]
