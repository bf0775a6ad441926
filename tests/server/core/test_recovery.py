"""The server dies at every write to its disk, and the contest ends as if it never had."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from arena_protocol.messages import Played, parse_server
from arena_protocol.record import InfoRecord
from arena_server.core.contest import Contest
from arena_server.core.events import Tick
from arena_server.terms.config import ContestConfig, Entrant

from ...slices import rows
from .contest_harness import ContestHarness, restarted, seated
from .crash_harness import Bot, CrashHarness


def config(**more: Any) -> ContestConfig:
    given: dict[str, Any] = {
        "name": "crashes",
        "seed": 5,
        "games_per_pair": 2,
        "spectator_delay_ms": 0,
        "options": {"plies": 6, "lookahead": 3},
        "probation": 0,
    } | more
    return ContestConfig(**given)


def bots() -> list[Bot]:
    return [
        Bot("ann"),
        Bot("bob"),
        Bot("zero", frozenset((f"g{game}", ply) for game in (2, 5) for ply in (3, 4))),
    ]


UNDISTURBED = CrashHarness(config(), bots()).run()
WRITES = range(1, UNDISTURBED.disk.writes + 1)


def check(crashes: CrashHarness) -> None:
    """Every bot received each result once, as recorded, and the end is that of the undisturbed contest."""
    assert crashes.finished == "finished"
    assert crashes.standings == UNDISTURBED.standings
    records = crashes.disk.records
    assert set(records) == set(UNDISTURBED.disk.records)
    for bot in crashes.bots.values():
        for game_id, line in bot.overs.items():
            assert f" total={','.join(map(str, records[game_id].totals))} " in line
        for (game_id, number), line in bot.played.items():
            told, ply = parse_server(line.encode()), records[game_id].plies[number - 1]
            assert isinstance(told, Played)
            assert (told.seat, told.move, told.time, told.total) == (
                ply.seat,
                ply.move,
                ply.time_ms,
                ply.total,
            )


def test_an_undisturbed_contest_is_what_it_is_compared_with() -> None:
    assert UNDISTURBED.lives == 1
    assert [row.games for row in UNDISTURBED.standings] == [4, 4, 4]
    assert sum(sum(row.faults.values()) for row in UNDISTURBED.standings) == 2
    assert len(WRITES) > 50
    check(UNDISTURBED)


@pytest.mark.parametrize("every", rows([4, 2], 2))
@pytest.mark.parametrize("kept", [True, False], ids=["written", "lost"])
def test_a_crash_at_a_write(kept: bool, every: int) -> None:
    """The two kinds share the writes."""
    for write in WRITES[kept * every // 2 :: every]:
        crashes = CrashHarness(config(), bots(), {write: kept}).run()
        assert crashes.lives == 2
        check(crashes)


def test_a_crash_at_every_third_write_again_and_again() -> None:
    for first in range(1, 4):
        fatal = {write: write % 2 == 0 for write in range(first, 400, 9)}
        crashes = CrashHarness(config(), bots(), fatal).run()
        assert crashes.lives > 8
        check(crashes)


@pytest.mark.parametrize("again", rows([2, 1, 3], 3))
def test_a_second_crash_while_the_bots_come_back(again: int) -> None:
    """Each bot comes back with the key of the last WELCOME that reached it, and is never refused."""
    for write in WRITES[::3]:
        check(CrashHarness(config(), bots(), {write: True, write + again: True}).run())


@pytest.mark.parametrize("every", rows([3, 1], 2))
@pytest.mark.parametrize("game", rows(["xo", "tictactoe", "lastcoin"], 2))
def test_games_of_other_kinds_go_on_too(game: str, every: int) -> None:
    """Most end by a forfeit here; whatever they do, they do it again."""
    whole = CrashHarness(config(game=game, options={}), bots()).run()
    for write in range(1, whole.disk.writes + 1, every):
        crashes = CrashHarness(config(game=game, options={}), bots(), {write: True}).run()
        assert crashes.standings == whole.standings


def test_probation_survives() -> None:
    whole = CrashHarness(config(probation=1), bots()).run()
    assert {row.games for row in whole.standings} != {4}
    for write in range(1, whole.disk.writes + 1):
        crashes = CrashHarness(config(probation=1), bots(), {write: True}).run()
        assert crashes.standings == whole.standings


# -- one server dies, the next goes on


def test_a_game_resumes_after_the_last_ply_and_the_downtime_is_not_charged() -> None:
    harness = seated("ann", "bob")
    harness.wait(5)
    harness.send("ann", "MOVE 7")
    harness.wait(300)  # bob thinks, and the server dies
    again = restarted(harness)
    again.log_in("ann", " resume=key1")
    again.wait(20_000)
    again.log_in("bob", " resume=key3")
    assert re.sub(r"commit=\S+|names=\S+ .*? ", "", again.transcript("bob", since="START")) == (
        "S  START g1\n"
        "S  PLAYED 1 seat=1 move=7 time=5 clock=19995,20000 points=0 total=0,0 reveal=5\n"
        "S  TURN 2 clock=19995,20000 lag=0 credit=0"
    )
    again.wait(7)
    again.send("bob", "MOVE 8")
    assert "PLAYED 2 seat=2 move=8 time=7 clock=19995,19993" in again.last_line("bob")


def test_an_absent_seat_has_the_grace_of_ready_then_its_clock_runs() -> None:
    harness = seated("ann", "bob", clock_ms=100, ready_ms=3000)
    again = restarted(harness)
    again.log_in("bob")
    again.wait(3000)
    assert again.last_line("bob").startswith("START")
    again.wait(101)
    assert again.received("bob")[-2].startswith("PLAYED 1 seat=1 move=6 time=101 clock=0,100")
    again.stop()
    assert again.records["g1"].faults[0].kind == "disconnect"


def test_the_next_seat_to_move_has_the_grace_too() -> None:
    harness = seated("ann", "bob", clock_ms=100, ready_ms=3000)
    again = restarted(harness)
    again.log_in("ann")
    again.send("ann", "MOVE 7")
    again.wait(2900)
    again.log_in("bob")
    assert again.last_line("bob").startswith("TURN 2 clock=100,100")


def test_after_the_grace_a_clock_runs_at_once() -> None:
    harness = seated("ann", "bob", clock_ms=100, ready_ms=3000)
    again = restarted(harness)
    again.log_in("ann")
    again.wait(90)
    again.send("ann", "MOVE 7")
    again.wait(2910)  # the grace is over, and bob's clock runs
    again.wait(60)
    again.log_in("bob")
    assert again.last_line("bob").startswith("TURN 2 clock=10,40")
    harness = seated("ann", "bob", clock_ms=5000, ready_ms=3000)
    again = restarted(harness)
    again.log_in("ann")
    again.wait(3500)
    again.send("ann", "MOVE 7")
    again.wait(60)
    again.log_in("bob")
    assert again.last_line("bob").startswith("TURN 2 clock=1500,4940")


def test_a_seat_that_came_back_and_left_again_has_no_grace() -> None:
    harness = seated("ann", "bob", clock_ms=100)
    again = restarted(harness)
    again.log_in("ann")
    again.disconnect("ann")
    again.wait(30)
    again.log_in("ann")
    assert again.last_line("ann").startswith("TURN 1 clock=70,100")


def test_a_clock_that_ran_for_an_absent_seat_runs_again_only_after_its_return() -> None:
    harness = seated("ann", "bob", clock_ms=100)
    harness.disconnect("ann")
    harness.wait(40)
    again = restarted(harness)
    again.log_in("ann")
    assert again.last_line("ann").startswith("TURN 1 clock=100,100")


def test_before_start_every_seat_gets_ready_again() -> None:
    harness = seated("ann", "bob", ready=False)
    harness.send("ann", "READY g1")
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
        again.send(name, "READY g1")
    assert again.last_line("ann").startswith("TURN 1")


def test_a_key_works_until_the_next_one_is_answered_after_the_restart() -> None:
    again = restarted(seated("ann", "bob"))
    again.log_in("ann", " resume=key1")
    assert again.received("ann")[1].startswith("WELCOME ann ")
    again.send("ann", "MOVE 7")
    again.log_in("ann", " resume=key1", conn="thief")
    assert again.last_line("thief").startswith("ERROR token")
    later = restarted(again)
    later.log_in("ann", " resume=key1", conn="thief")
    assert later.last_line("thief").startswith("ERROR token")


def test_a_crash_between_the_journal_and_welcome_leaves_the_key_valid_that_the_bot_has() -> None:
    """Three servers die with a new key in their journal that the bot has never seen; then it sees one."""
    harness = seated("ann", "bob")
    for _ in range(3):
        harness = restarted(harness)
        harness.log_in("ann", " resume=key1")
        assert harness.received("ann")[1].startswith("WELCOME ann ")
    key = harness.received("ann")[1].rpartition("resume=")[2]
    harness = restarted(harness)
    harness.log_in("ann", f" resume={key}")
    assert harness.received("ann")[1].startswith("WELCOME ann ")
    harness.log_in("ann", f" resume={key}", conn="again")
    harness.log_in("ann", " resume=key1", conn="thief")
    assert harness.last_line("thief").startswith("ERROR token"), "the key after it has been used"


def test_a_journal_of_the_version_before_has_no_former_keys() -> None:
    harness = seated("ann", "bob")
    past = harness.durable()
    assert any(entry[1] == "former-keys" for entry in past.entries)
    older = replace(past, entries=tuple(entry for entry in past.entries if entry[1] != "former-keys"))
    again = ContestHarness(*harness.entrants, past=older, now=harness.now)
    again.log_in("ann", " resume=key1")
    assert again.received("ann")[1].startswith("WELCOME ann ")


def test_a_key_that_quit_made_void_stays_void() -> None:
    harness = seated("ann", "bob")
    harness.send("ann", "QUIT")
    again = restarted(harness)
    again.log_in("ann", " resume=key1")
    assert again.last_line("ann").startswith("ERROR token")


def test_keys_are_in_the_journal_as_digests_only() -> None:
    harness = seated("ann", "bob")
    entries = harness.durable().entries
    assert not any("key" in str(value)[:4] for entry in entries for value in entry[2:])
    assert any(entry[1] == "keys" and len(entry[3][0] or "") == 64 for entry in entries)


def test_spectators_see_the_whole_game_after_a_restart() -> None:
    harness = seated("ann", "bob")
    harness.send("ann", "MOVE 7")
    again = restarted(harness)
    again.log_in("eye", " role=spectator")
    again.send("eye", "WATCH g1")
    assert again.last_line("eye").startswith("PLAYED 1 seat=1 move=7")


def test_notes_survive_a_restart() -> None:
    harness = seated("ann", "bob", options={"plies": 1, "start": "empty"})
    harness.send("bob", "INFO game=g1 ply=1 depth=3 text=still here")
    again = restarted(harness)
    again.log_in("ann")
    again.send("ann", "MOVE 7")
    assert again.records["g1"].infos == (InfoRecord(2, 1, depth=3, text="still here"),)


def test_a_game_that_was_over_is_stored_and_announced() -> None:
    """Its last ply was durable, its record was not."""
    harness = seated("ann", "bob", options={"plies": 1, "start": "empty"})
    harness.stores = False
    harness.send("ann", "MOVE 7")
    again = restarted(harness)
    assert list(again.records) == ["g1"]
    assert again.contest.status.progress().done == 1


def test_a_result_that_was_not_stored_yet_does_not_wait_for_absent_bots() -> None:
    """The last ply was durable, the record was not, and neither bot ever comes back."""
    harness = seated("ann", "bob", options={"plies": 1, "start": "empty"}, absent_ms=5000)
    harness.stores = False
    harness.send("ann", "MOVE 7")
    again = restarted(harness)
    assert again.contest.status.progress().done == 1
    again.wait(5000)
    assert again.finished == "incomplete"


def test_all_is_over_when_all_results_are_there() -> None:
    whole = CrashHarness(config(), bots()).run()
    again = Contest(config(), [Entrant(name) for name in whole.bots], str, 0, whole.disk.past)
    assert again.status.progress().done == 6
    assert again.handle(Tick(), 0)[-1].reason == "finished"  # type: ignore[union-attr]


def test_entries_of_a_stored_game_do_not_count() -> None:
    whole = CrashHarness(config(), bots()).run()
    past = replace(whole.disk.past, entries=(*whole.disk.past.entries, (1, "offer", ("ann", "bob"), 1, ())))
    assert (
        Contest(config(), [Entrant(name) for name in whole.bots], str, 0, past).status.progress().running == 0
    )


def test_without_its_plies_a_running_game_is_begun_and_no_more() -> None:
    """The program is restarted with its server: what it remembers of the game is gone with it."""
    harness = seated("ann", "bob", keeps_plies=False)
    harness.send("ann", "MOVE 6")
    assert [entry[1] for entry in harness.entries if entry[0] == 1] == ["offer"]
    again = restarted(harness)
    for name in ("ann", "bob"):
        again.log_in(name)
        again.send(name, "READY g1")
    assert "PLAYED" not in again.transcript("ann")
    assert again.last_line("ann").startswith("TURN 1 ")
