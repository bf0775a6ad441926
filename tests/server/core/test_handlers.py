"""Lines of clients outside their games, PING and PONG, and rate limits on lines that need no answer."""

from __future__ import annotations

import pytest

from arena_protocol.record import InfoRecord
from arena_server.core.ratelimit import INFO_LINES

from .contest_harness import ContestHarness, seated


def test_ping_and_pong() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", "PING 17", "PONG 4", "")
    assert harness.received("ann")[2:] == ["PONG 17"]


def test_ping_in_a_game() -> None:
    harness = seated("ann", "bob")
    harness.send("ann", "PING now")
    assert harness.last_line("ann") == "PONG now"


def test_in_the_lobby_a_late_line_is_dropped_and_a_bad_one_answered() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", "MOVE 7", "READY g1", "what?")
    harness.send_overlong("ann")
    assert harness.received("ann")[2:] == [
        "ERROR unknown-verb there is no verb 'what?'",
        "ERROR too-long a line may have 1024 bytes at most",
    ]
    assert not harness.is_closed("ann")


def test_a_flood_in_the_lobby() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", *["MOVE 7"] * 99)
    assert not harness.is_closed("ann")
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann") == "ERROR flood too many lines that were not asked for"
    assert harness.is_closed("ann")
    harness.log_in("ann", conn="again")
    assert harness.last_line("again").startswith("WELCOME")


def test_a_game_resets_the_count_of_refused_lines() -> None:
    harness = ContestHarness("ann", "bob", "eve", flood_limit=3, options={"plies": 1, "start": "empty"})
    harness.log_in("ann")
    harness.send("ann", "MOVE 7", "MOVE 7")
    harness.log_in("bob")
    for mover in ("ann", "bob"):
        game_id = [line.split()[1] for line in harness.received("bob") if line.startswith("GAME")][-1]
        for name in ("ann", "bob"):
            harness.send(name, f"READY {game_id}")
        harness.send(mover, "MOVE 7")
    assert harness.last_line("ann").startswith("OVER")
    harness.send("ann", "MOVE 7", "MOVE 7")
    assert not harness.is_closed("ann")
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann") == "ERROR flood too many lines that were not asked for"


def test_quit_in_the_lobby() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", "QUIT")
    assert harness.last_line("ann") == "BYE reason=quit"
    harness.log_in("bob")
    assert not any(line.startswith("GAME") for line in harness.received("bob"))


def test_a_thousand_pings_at_once_are_free_and_one_more_is_a_flood() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", *["PING 1"] * 998, "", "PONG 1")
    assert harness.last_line("ann") == "PONG 1"
    harness.send("ann", "PING 1")
    assert harness.last_line("ann") == "ERROR flood too many lines that were not asked for"
    assert harness.is_closed("ann")


def test_endless_blank_lines_before_the_login() -> None:
    harness = ContestHarness("ann", "bob")
    harness.connect("ann")
    harness.send("ann", *[""] * 1001)
    assert harness.last_line("ann").startswith("ERROR flood ")
    assert harness.is_closed("ann")


def test_endless_pings_in_a_game_are_a_flood() -> None:
    harness = seated("ann", "bob")
    harness.send("ann", *["PING 1"] * 1001)
    assert harness.is_muted("ann")
    assert "ZOMBIE ply=1 reason=flood" in harness.received("ann")
    harness.send("ann", "PING 1")
    harness.stop()
    assert [fault.kind for fault in harness.records["g1"].faults] == ["flood", "void"]


def test_a_move_with_an_unknown_option_is_a_move() -> None:
    """A line that is not canonical is not remembered."""
    harness = seated("ann", "bob")
    harness.send("ann", "MOVE 7 depth=9")
    harness.send("bob", "MOVE 8")
    harness.send("ann", "MOVE 7 depth=11")
    assert "PLAYED 3 seat=1 move=7" in harness.transcript("ann")


# -- INFO


def noted(harness: ContestHarness) -> tuple[InfoRecord, ...]:
    """The notes in the record, after the only ply of the game."""
    harness.send("ann", "MOVE 7")
    return harness.records["g1"].infos


def one_ply() -> ContestHarness:
    return seated("ann", "bob", options={"plies": 1, "start": "empty"})


def test_notes_are_stored_with_their_seat_and_reach_no_player() -> None:
    harness = one_ply()
    before = {name: harness.received(name) for name in ("ann", "bob")}
    harness.send("ann", "INFO game=g1 ply=1 depth=9 eval=-130 nodes=120000 line=7,8 text=far ahead seat=9")
    harness.send("bob", "INFO ply=1 seat=1 game=g1 later=1")
    assert {name: harness.received(name) for name in ("ann", "bob")} == before
    assert noted(harness) == (
        InfoRecord(1, 1, 9, -130, 120000, "7,8", "far ahead seat=9"),
        InfoRecord(2, 1),
    )


@pytest.mark.parametrize(
    "line",
    ["INFO game=g2 ply=1", "INFO game=g1 ply=2", "INFO game=g1 ply=0", "INFO game=g1 ply=999999999999"],
)
def test_a_note_about_another_game_or_ply_is_dropped(line: str) -> None:
    harness = one_ply()
    before = harness.received("ann")
    harness.send("ann", *[line] * 200)
    assert harness.received("ann") == before
    assert noted(harness) == ()


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("INFO", "ERROR syntax INFO: game=, ply= must be given"),
        ("INFO ", "ERROR syntax tokens have one space between them, and none before or after"),
        ("INFO game=g1", "ERROR syntax INFO: ply= must be given"),
        ("INFO game=g1 ply=1 depth=deep", "ERROR syntax INFO: depth= must be a whole number of at most 12"),
    ],
)
def test_a_note_that_cannot_be_parsed_is_answered_and_no_fault(line: str, error: str) -> None:
    harness = one_ply()
    harness.send("ann", line)
    assert harness.last_line("ann").startswith(error)
    harness.send("ann", *[line] * 200)
    assert harness.received("ann").count(harness.last_line("ann")) == INFO_LINES
    assert noted(harness) == ()
    assert harness.records["g1"].faults == ()


def test_a_note_that_is_too_long_is_no_fault() -> None:
    harness = one_ply()
    harness.send_overlong("ann", b"INFO game=g1 ply=1 text=")
    assert harness.last_line("ann") == "ERROR too-long a line may have 1024 bytes at most"
    for _ in range(200):
        harness.send_overlong("ann", b"INFO game=g1 ply=1 text=")
    assert harness.records == {}
    assert noted(harness) == ()
    assert harness.records["g1"].faults == ()


def test_notes_beyond_the_bounds_are_dropped() -> None:
    harness = seated("ann", "bob", options={"plies": 2, "start": "empty"})
    harness.send("ann", *["INFO game=g1 ply=1"] * (INFO_LINES + 9), "MOVE 7")
    harness.send("ann", *["INFO game=g1 ply=1"] * (INFO_LINES + 9))
    harness.send("bob", "MOVE 7")
    assert len(harness.records["g1"].infos) == 2 * INFO_LINES
    assert harness.records["g1"].faults == ()


def test_a_zombie_notes_nothing() -> None:
    harness = seated("ann", "bob", options={"plies": 2, "start": "empty"})
    harness.send("bob", "MOVE 7 7", "INFO game=g1 ply=1")
    before = harness.received("bob")
    harness.send("bob", "INFO no note")
    assert harness.received("bob") == before, "a zombie gets no answer"
    assert noted(harness) == ()


def test_notes_before_start_and_outside_games() -> None:
    harness = seated("ann", "bob", ready=False, options={"plies": 1, "start": "empty"})
    harness.send("ann", "INFO game=g1 ply=1", "READY g1")
    harness.send("bob", "READY g1")
    assert noted(harness) == ()
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", *["INFO game=g1 ply=1"] * 500)
    assert not harness.is_closed("ann")


def test_notes_do_not_touch_the_clock_of_a_turn() -> None:
    harness = one_ply()
    harness.wait(5)
    harness.send("bob", "INFO game=g1 ply=1")
    harness.send("ann", "INFO game=g1 ply=1")
    harness.wait(4)
    noted(harness)
    assert harness.records["g1"].plies[0].time_ms == 9
