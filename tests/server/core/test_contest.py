"""The course of a contest: pairings, results that count once they are durable, stalls, and the end."""

from __future__ import annotations

from typing import Any

import pytest
from tests.slices import all_of

from arena_protocol.record_codec import decode, encode
from arena_server.core.effects import Finished, Journal, Send, Store, TurnMark
from arena_server.core.events import Received, Stalled, Stored, Tick
from arena_server.core.log_events import BotOnProbation, GameOver, GameStarted, LoopStalled
from arena_server.terms.config import ContestConfigError, Entrant

from .contest_harness import (
    MS,
    ONE_PLY,
    ContestHarness,
    check_sums,
    offers,
    play_on,
    play_rematches,
    restarted,
    seated,
)

TWO_PLIES = {"plies": 2, "start": "empty"}


def test_a_pair_plays_as_soon_as_both_are_connected() -> None:
    harness = ContestHarness("ann", "bob", "eve", "dan")
    harness.log_in("ann")
    assert offers(harness, "ann") == []
    harness.log_in("bob")
    assert offers(harness, "ann") == offers(harness, "bob") != []
    harness.log_in("eve")
    assert offers(harness, "eve") == []
    harness.log_in("dan")
    assert offers(harness, "eve") == offers(harness, "dan") != []
    assert harness.contest.status.progress().running == 2


def test_a_contest_from_its_first_game_to_its_last() -> None:
    harness = ContestHarness("ann", "bob", "eve", options=ONE_PLY)
    for name in ("ann", "bob", "eve"):
        harness.log_in(name)
    play_on(harness)
    assert harness.finished == "finished"
    assert [harness.last_line(name) for name in ("ann", "bob", "eve")] == ["BYE reason=finished"] * 3
    assert all(harness.is_closed(name) for name in ("ann", "bob", "eve"))
    progress = harness.contest.status.progress()
    assert (progress.done, progress.total, progress.running, progress.plies) == (6, 6, 0, 6)
    assert (progress.connected, progress.ended) == (0, "finished")
    assert [row.games for row in progress.standings] == [4, 4, 4]
    assert sorted(harness.records) == ["g1", "g2", "g3", "g4", "g5", "g6"]


def test_a_record_survives_its_bytes() -> None:
    harness = seated("zero", "bob")
    harness.send("zero", "MOVE 0")
    play_on(harness)
    assert all(decode(encode(record)) == record for record in harness.records.values())


def test_a_result_is_sent_only_when_it_is_durable() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    harness.stores = False
    harness.send("ann", "MOVE 7")
    assert not any(line.startswith("OVER") for name in ("ann", "bob") for line in harness.received(name))
    progress = harness.contest.status.progress()
    assert (progress.done, progress.running, progress.plies) == (0, 1, 1)
    assert [row.games for row in progress.standings] == [0, 0]
    harness.stored("g1")
    assert harness.last_line("ann").startswith("NEXT")
    assert harness.contest.status.progress().done == 1


def test_stored_has_no_effect_for_a_game_that_is_not_over_or_unknown() -> None:
    harness = seated("ann", "bob")
    for game_id in ("g1", "g7", "x"):
        assert harness.event(Stored(game_id)) == []
    assert harness.contest.status.progress().done == 0


def test_lines_between_the_last_ply_and_the_result_are_no_fault() -> None:
    harness = seated("ann", "bob", options=ONE_PLY, out_of_turn_limit=0, flood_limit=4)
    harness.stores = False
    harness.send("ann", "MOVE 7", "MOVE 7", "what?", "PING 1", "MOVE 7", "MOVE 7")
    assert harness.is_muted("ann")
    harness.send("bob", "QUIT")
    harness.stored("g1")
    assert harness.records["g1"].faults == ()
    assert not harness.is_muted("ann")
    assert "OVER g1" in harness.transcript("ann")


def test_probation_after_three_faulty_games() -> None:
    harness = ContestHarness("zero", "ann", "bob", games_per_pair=4, options=TWO_PLIES)
    for name in ("zero", "ann", "bob"):
        harness.log_in(name)
    play_on(harness, zero="0")
    assert [fault.kind for record in harness.records.values() for fault in record.faults] == ["illegal"] * 3
    assert harness.logged(BotOnProbation) == [BotOnProbation("zero", 3)]
    assert harness.finished == "incomplete"
    assert harness.last_line("zero") == "BYE reason=incomplete"
    progress = harness.contest.status.progress()
    assert (progress.done, progress.total) == (7, 12)
    assert sum("zero" not in record.names for record in harness.records.values()) == 4


def test_without_probation_a_bad_bot_plays_all_its_games() -> None:
    harness = ContestHarness("zero", "ann", games_per_pair=8, options=TWO_PLIES, probation=0)
    harness.log_in("zero")
    harness.log_in("ann")
    play_on(harness, zero="0")
    assert harness.contest.status.progress().done == 8
    faults = {row.name: row.faults for row in harness.contest.status.progress().standings}
    assert faults == {"zero": {"illegal": 8}, "ann": {}}


def test_a_bot_on_probation_waits_in_the_lobby_while_the_others_play() -> None:
    harness = ContestHarness("zero", "ann", "bob", options=TWO_PLIES, probation=1)
    harness.log_in("zero")
    harness.log_in("ann")
    play_on(harness, zero="0")
    assert harness.logged(BotOnProbation) == [BotOnProbation("zero", 1)]
    harness.disconnect("zero")
    harness.log_in("zero")
    harness.log_in("bob")
    assert offers(harness, "zero") == []
    assert len(offers(harness, "bob")) == 1


# -- stalls


def test_a_short_stall_is_logged_and_voids_no_game() -> None:
    harness = seated("ann", "bob", stall_ms=500)
    harness.wait(2000)
    harness.event(Stalled(harness.now - 500 * MS, harness.now))
    assert harness.logged(LoopStalled) == [LoopStalled(500)]
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann").startswith("PLAYED 1 seat=1 move=7")


def test_beyond_the_stall_limit_games_whose_clock_ran_are_void_and_played_again() -> None:
    harness = seated("ann", "bob", "cid", "dan", stall_ms=500, options=ONE_PLY, ready=False)
    for name in ("ann", "bob"):  # the others are still warming up: no clock runs
        harness.send(name, f"READY {offers(harness, name)[-1]}")
    harness.wait(10)
    harness.event(Stalled(harness.now, harness.now + 501 * MS))
    (record,) = harness.records.values()
    assert record.names == ("ann", "bob")
    assert record.end == "void"
    assert record.faults[0].line == b"stalled 501 ms"
    assert "total=0,0 end=void" in harness.transcript("ann")
    check_sums(harness)
    assert harness.contest.status.progress().void == 1


def test_a_turn_that_was_sent_after_the_stall_is_not_void() -> None:
    harness = seated("ann", "bob", stall_ms=500)
    harness.event(Stalled(harness.now - 2000 * MS, harness.now))
    assert harness.records == {}


# -- what makes no contest


@all_of(
    ("config", "text"),
    [
        ({"game": "chess"}, "no game 'chess'"),
        ({"options": {"plies": 0}}, "insertion: plies is a whole number from 1 to "),
        ({"games_per_pair": 0}, "games_per_pair"),
        ({"format": "cup"}, "contest.format: expected one of round-robin, "),
        ({"format": "knockout", "stop": "top:1"}, "contest.stop: expected a format whose games are planned "),
        ({"stop": "top:2"}, "contest.stop: expected top:1 to top:1 of 2 bots, got top:2"),
    ],
)
def test_a_configuration_of_which_no_contest_is_made(config: dict[str, Any], text: str) -> None:
    with pytest.raises(ContestConfigError) as caught:
        ContestHarness("ann", "bob", **config)
    assert str(caught.value).startswith(text)


@all_of("digest", ["", "0" * 63, "0" * 65, "g" * 64, "٣" * 64])
def test_the_digest_of_a_token_is_64_hexadecimal_digits(digest: str) -> None:
    ContestHarness(Entrant("ann", "aB" * 32), "bob")
    with pytest.raises(ContestConfigError) as caught:
        ContestHarness(Entrant("ann", digest), "bob")
    assert str(caught.value) == "token_sha256 of ann must be 64 hexadecimal digits"


# -- the end


def test_a_connection_after_the_end_gets_bye() -> None:
    harness = ContestHarness("ann", "bob")
    harness.stop()
    assert harness.finished == "stopped"
    harness.connect("late")
    assert harness.received("late") == ["ARENA 1 insertion-arena/0.1", "BYE reason=stopped"]
    assert harness.is_closed("late")


def test_stop_waits_for_the_records_and_starts_nothing_new() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
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


def test_every_bye_comes_before_finished() -> None:
    harness = seated("ann", "bob")
    harness.stop()
    assert isinstance(harness.effects[-1], Finished)


def test_stopped_games_are_played_again_when_the_contest_is_resumed() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    harness.stop()
    assert harness.finished == "stopped"
    again = restarted(harness)
    play_rematches(again)
    assert [row.games for row in again.contest.status.progress().standings] == [2, 2]
    assert isinstance(again.effects[-1], Finished)
    again.event(Tick())


# -- more than two seats


def test_four_seats() -> None:
    options: dict[str, object] = {"seats": 4, "plies": 8, "start": "empty", "lookahead": 3}
    harness = ContestHarness("a", "b", "c", "d", options=options, games_per_pair=4)
    for name in "abcd":
        harness.log_in(name)
    play_on(harness)
    assert harness.contest.status.progress().done == 4
    assert {record.names for record in harness.records.values()} == {
        ("a", "b", "c", "d"), ("b", "c", "d", "a"), ("c", "d", "a", "b"), ("d", "a", "b", "c")
    }  # fmt: skip
    assert "PLAYED 4 seat=4 move=7 time=0 clock=20000,20000,20000,20000" in harness.transcript("a")


# -- effects


def test_both_seats_get_the_same_bytes_of_a_ply() -> None:
    harness = seated("ann", "bob")
    effects = harness.contest.handle(Received(harness.conns["ann"], b"MOVE 7", 3 * MS), 3 * MS)
    to_ann, to_bob = (effect.data for effect in effects if isinstance(effect, Send))
    assert to_bob.startswith(to_ann)
    assert to_ann.startswith(b"PLAYED 1 ")


def test_one_send_a_seat_and_ply() -> None:
    harness = seated("ann", "bob")
    effects = harness.contest.handle(Received(harness.conns["ann"], b"MOVE 7", 0), 0)
    assert [type(effect) for effect in effects] == [Journal, Send, Send]
    assert [effect.marker for effect in effects if isinstance(effect, Send)] == [None, TurnMark(1, 2)]


def test_a_record_is_stored_once() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    harness.stores = False
    harness.send("ann", "MOVE 7", "MOVE 7", "PING 1")
    harness.wait(10**6)
    harness.event(Tick())
    assert sum(isinstance(effect, Store) for effect in harness.effects) == 1


def test_the_log_has_each_game_on_two_lines() -> None:
    harness = seated("zero", "bob", options=ONE_PLY)
    harness.send("zero", "MOVE 0")
    assert harness.logged(GameStarted)[0] == GameStarted("g1", ("zero", "bob"))
    assert harness.logged(GameOver) == [GameOver("g1", "complete", (0, 0), (("zero", "illegal"),))]
